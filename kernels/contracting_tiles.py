"""The microkernel of a contraction: a tile of results in registers, while both operands go by.

Bound: a fused multiply-add for every vector of products, and for each step a load for every vector of the right operand
and for every row of the left one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.cut_factors import FactorCut, added_without, cut_lines, uncut
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_module import ModuleText
from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.kernels.tile_loop import PREFETCH_DECLARATION
from ttnn_jit.nest.limits import LINE
from ttnn_jit.ops.emit import Value
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import Numerics

_AHEAD = 512
"""Bytes in a row from what is multiplied to what is prefetched, where elements are 16 bits (benchmarks/matmul.py)."""


@dataclass(frozen=True)
class Microkernel:
    """Continues the chains of a tile of results over some steps, at least one.

    Words of the left operand lie packed, those of a step side by side (kernels/contracting_packing.py). The right
    operand is packed so too, or it is read where it lies, its columns contiguous.

    Attributes:
        rows: Of the tile.
        vectors: Of a row.
        left_width: Words of the left operand from one step to the next.
        pitch: Results from one row to the next.
        in_pairs: Whether a step adds two bfloat16 products.
        rounds: Steps after which the tile is rounded to bfloat16, and where the steps end; 0: it is not.
        dropped: Where it is given, the product of what lies below these many bits of both factors is left out.
        cut: What is left of a word that is read in place.
        in_place: LLVM type of the right operand's elements where they are read where they lie; "" if they are packed.
        isa: Decides the vectors.
        module: Gets the declarations.
    """

    rows: int
    vectors: int
    left_width: int
    pitch: int
    in_pairs: bool
    isa: HostIsa
    module: ModuleText
    in_place: str = ""
    rounds: int = 0
    dropped: tuple[int, int] | None = None
    cut: FactorCut | None = None

    def lines(self, name: str, left: str, right: str, results: str) -> Iterator[str]:
        """From the block `name` to a branch to ``<name>.end``.

        Args:
            name: Unique in the function.
            left: Pointer to the first step's words.
            right: The same of the right operand; in place, ``%along`` elements lie from one term to the next.
            results: Pointer to the tile. It is loaded unless ``%is.first``; ``%steps`` says how many steps there are.
        """
        lanes = self.isa.lanes
        kind = f"<{lanes} x float>"
        places = self._places
        builder = LlvmVector(self.isa, self.module, prefix=f"{name}.v", block=f"{name}.loop")
        yield f"{name}:"
        for row, vector in places:
            at = f"%{name}.at{row}.{vector}"
            yield f"  {at} = getelementptr float, ptr {results}, i64 {row * self.pitch + vector * lanes}"
            yield f"  {at}.before = load {kind}, ptr {at}, align 4"
            start = f"select i1 %is.first, {kind} zeroinitializer, {kind} {at}.before"
            yield f"  %{name}.start{row}.{vector} = {start}"
        before, behind = (f"{name}.tile", f"{name}.tile.end") if self.rounds else (name, f"{name}.done")
        starts = {f"%{name}.total{row}.{vector}": f"%{name}.start{row}.{vector}" for row, vector in places}
        ends = {total: f"{total}{'.rounded' if self.rounds else '.next'}" for total in starts}
        walked = {f"%{name}.left": ("ptr", left), f"%{name}.right": ("ptr", right), f"%{name}.step": ("i64", "0")}
        if self.rounds:
            yield f"  br label %{before}"
            yield f"{before}:"
            for total, start in starts.items():
                yield f"  {total}.kept = phi {kind} [{start}, %{name}], [{ends[total]}, %{behind}]"
            for each, (type_, start) in walked.items():
                yield f"  {each}.kept = phi {type_} [{start}, %{name}], [{each}.next, %{behind}]"
            yield f"  %{name}.whole = add i64 %{name}.step.kept, {self.rounds}"
            yield f"  %{name}.limit = call i64 @llvm.smin.i64(i64 %{name}.whole, i64 %steps)"
            self.module.declarations["declare i64 @llvm.smin.i64(i64, i64)"] = None
        yield f"  br label %{name}.loop"
        yield f"{name}.loop:"
        for total, start in starts.items():
            first = f"{total}.kept" if self.rounds else start
            yield f"  {total} = phi {kind} [{first}, %{before}], [{total}.next, %{name}.loop]"
        for each, (type_, start) in walked.items():
            first = f"{each}.kept" if self.rounds else start
            yield f"  {each} = phi {type_} [{first}, %{before}], [{each}.next, %{name}.loop]"
        yield from self._right(name) if self.in_place else self._packed_right(name)
        yield from self._left(name)
        yield from self._products(name, builder)
        yield f"  %{name}.left.next = getelementptr i32, ptr %{name}.left, i64 {self.left_width}"
        yield f"  %{name}.step.next = add i64 %{name}.step, 1"
        limit = f"%{name}.limit" if self.rounds else "%steps"
        yield f"  %{name}.more = icmp slt i64 %{name}.step.next, {limit}"
        yield f"  br i1 %{name}.more, label %{name}.loop, label %{behind}"
        if self.rounds:
            yield f"{behind}:"
            for total, end in ends.items():
                rounded = builder.round_bfloat16(f"{total}.next", Numerics.IEEE)
                yield from builder.lines
                builder.code.clear()
                yield f"  {end} = bitcast {kind} {rounded} to {kind}"
            yield f"  %{name}.more.tiles = icmp slt i64 %{name}.step.next, %steps"
            yield f"  br i1 %{name}.more.tiles, label %{before}, label %{name}.done"
        yield f"{name}.done:"
        for row, vector in places:
            yield f"  store {kind} {ends[f'%{name}.total{row}.{vector}']}, ptr %{name}.at{row}.{vector}, align 4"
        yield f"  br label %{name}.end"

    def _products(self, name: str, builder: LlvmVector) -> Iterator[str]:
        """``%<name>.total<row>.<vector>.next``: a step of every chain."""
        kind = f"<{self.isa.lanes} x float>"
        for row, vector in self._places:
            total = f"%{name}.total{row}.{vector}"
            added = self._added(builder, total, self._factors(name, row, vector))
            yield from builder.lines
            builder.code.clear()
            yield f"  {total}.next = bitcast {kind} {added} to {kind}"

    def _factors(self, name: str, row: int, vector: int) -> tuple[str, str]:
        return f"%{name}.left{row}", f"%{name}.right{vector}"

    def _added(self, builder: LlvmVector, total: str, factors: tuple[str, str]) -> Value:
        if self.in_pairs:
            return builder.add_products(total, *factors)
        if self.dropped is not None:
            return added_without(builder, total, factors, self.dropped)
        return builder.fma(*factors, total)

    @property
    def _places(self) -> list[tuple[int, int]]:
        return [(row, vector) for row in range(self.rows) for vector in range(self.vectors)]

    def _prefetched(self, right: str) -> Iterator[str]:
        """Asks for what the next tiles read of the rows of a step, a line or two each time: too few for hardware."""
        self.module.declarations[PREFETCH_DECLARATION] = None
        nbytes = self.vectors * self.isa.lanes * 2
        for row in (right, f"{right}.odd") if self.in_pairs else (right,):
            for line in range(0, nbytes, LINE):
                yield f"  {row}.ahead{line} = getelementptr i8, ptr {row}, i64 {_AHEAD + line}"
                yield f"  call void @llvm.prefetch.p0(ptr {row}.ahead{line}, i32 0, i32 3, i32 1)"

    @property
    def _words(self) -> str:
        return f"<{self.isa.lanes} x {'i32' if self.in_pairs else 'float'}>"

    def _left(self, name: str) -> Iterator[str]:
        """``%<name>.left<row>``: a row's word in all lanes."""
        one = "i32" if self.in_pairs else "float"
        for row in range(self.rows):
            at = f"%{name}.left.at{row}"
            yield f"  {at} = getelementptr i32, ptr %{name}.left, i64 {row}"
            yield f"  {at}.one = load {one}, ptr {at}"
            yield from self._splat(f"%{name}.left{row}", at, one)

    def _splat(self, name: str, at: str, one: str) -> Iterator[str]:
        """``<name>``: the word ``<at>.one`` in all lanes."""
        yield f"  {at}.first = insertelement {self._words} poison, {one} {at}.one, i64 0"
        order = f"<{self.isa.lanes} x i32> zeroinitializer"
        yield f"  {name} = shufflevector {self._words} {at}.first, {self._words} poison, {order}"

    def _packed_right(self, name: str) -> Iterator[str]:
        """``%<name>.right<vector>``: the words of a vector of columns."""
        for vector in range(self.vectors):
            at = f"%{name}.right.at{vector}"
            yield f"  {at} = getelementptr i32, ptr %{name}.right, i64 {vector * self.isa.lanes}"
            yield f"  %{name}.right{vector} = load {self._words}, ptr {at}, align 4"
        width = self.vectors * self.isa.lanes
        yield f"  %{name}.right.next = getelementptr i32, ptr %{name}.right, i64 {width}"

    def _right(self, name: str) -> Iterator[str]:
        element, lanes = self.in_place, self.isa.lanes
        halves, right = f"<{lanes} x i16>", f"%{name}.right"
        if self.in_pairs:
            yield f"  {right}.odd = getelementptr {element}, ptr {right}, i64 %along"
        for vector in range(self.vectors):
            offset, at, word = vector * lanes, f"{right}.at{vector}", uncut(self.cut, f"{right}{vector}")
            yield f"  {at} = getelementptr {element}, ptr {right}, i64 {offset}"
            if element == "float":
                yield f"  {word} = load {self._words}, ptr {at}, align 4"
                continue
            yield f"  {at}.even = load {halves}, ptr {at}, align 2"
            if not self.in_pairs:
                yield f"  {at}.low = zext {halves} {at}.even to <{lanes} x i32>"
                yield f"  {at}.bits = shl <{lanes} x i32> {at}.low, splat (i32 16)"
                yield f"  {word} = bitcast <{lanes} x i32> {at}.bits to {self._words}"
                continue
            yield f"  {at}.other = getelementptr {element}, ptr {right}.odd, i64 {offset}"
            yield f"  {at}.odd = load {halves}, ptr {at}.other, align 2"
            order = ", ".join(f"i32 {k // 2 + lanes * (k % 2)}" for k in range(2 * lanes))
            mixed = f"shufflevector {halves} {at}.even, {halves} {at}.odd, <{2 * lanes} x i32> <{order}>"
            yield f"  {at}.mixed = {mixed}"
            yield f"  {word} = bitcast <{2 * lanes} x i16> {at}.mixed to {self._words}"
        for vector in range(self.vectors):
            yield from cut_lines(self.cut, f"{right}{vector}", self._words, lanes)
        if element != "float":
            yield from self._prefetched(right)
        last = f"{right}.odd" if self.in_pairs else right
        yield f"  {right}.next = getelementptr {element}, ptr {last}, i64 %along"
