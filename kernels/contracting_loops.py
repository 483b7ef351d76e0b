"""LLVM IR text of a kernel that contracts a dimension of two tensors: blocks of a matrix product in registers.

A block of `ROWS` by `COLUMNS` results is made at a time. `DEPTH` steps of both operands are packed, whatever their
strides: the first tensor's in tiles of a few rows, the second's in panels of two vectors, both with zeros beyond their
ends. The microkernel keeps a tile of results in registers over these steps, and in the block between them, so that the
chain of a result is never split; a step is one fused multiply-add, or a pair of them for bfloat16 (ops/contraction.py).
The epilogue, a loop of kernels/tile_loop.py, takes the finished block in float32 to where results lie.

Bound: a fused multiply-add for every vector of products; packing loads and stores each element of a block of the first
tensor once for `COLUMNS` results, and of the second once for `ROWS`. After Goto and van de Geijn, "Anatomy of
High-Performance Matrix Multiplication", 2008.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.contracting_packing import Packing
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_module import ModuleText
from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.kernels.staged_loops import StageCall
from ttnn_jit.kernels.tile_loop import Stream
from ttnn_jit.process.dataclass import dataclass

ROWS = 512
"""Of a block: with `DEPTH` steps, 64 KB of the first tensor."""
COLUMNS = 256
"""Of a block: 128 KB of the second tensor, and 128 KB of results; all three fit a thread's stack and second cache."""
DEPTH = 128
"""Steps of a chain between which a tile of results leaves the registers."""
_VECTORS = 2
_MIN_TILE_ROWS = 4
"""Rows from which on a tile that is not whole is computed as one that is; fewer are computed one by one."""


def tile_rows(isa: HostIsa) -> int:
    """Rows of a tile of results, which with two vectors of the second tensor and a splat fits the registers."""
    return 8 if isa.registers == 32 else 4


@dataclass(frozen=True)
class Contraction:
    """The function ``void @name(ptr pointers, ptr params)``; the words are those of kernels/outer_loops.py.

    Loop 0 walks columns, loop 1 is contracted, loop 2 walks rows, and those around it repeat all.

    Attributes:
        name: Its symbol.
        streams: The kernel's.
        rank: Loops around the innermost one, at least 2.
        left: The number of the stream with rows.
        right: The number of the stream with columns.
        in_pairs: Whether both are bfloat16, whose products are added up in pairs.
        epilogue: A loop of rank 1 over rows; the number after the streams' stands for the block of results.
        isa: Decides the shape of a tile.
        module: Gets the declarations.
    """

    name: str
    streams: tuple[Stream, ...]
    rank: int
    left: int
    right: int
    in_pairs: bool
    epilogue: StageCall
    isa: HostIsa
    module: ModuleText

    def definitions(self) -> list[str]:
        """The function and those that it calls, but for the epilogue."""
        packing = (self._packing("left", self.left, self._tile), self._packing("right", self.right, self._panel))
        loops = ("\n".join(part) for part in (self._kernel(), self._tiles()))
        return [*loops, *(each.definition() for each in packing)]

    def _packing(self, name: str, k: int, width: int) -> Packing:
        symbol = f"ttnn_jit.pack_{name}"
        return Packing(symbol, self._element(k), width, self.isa.lanes, self.in_pairs, DEPTH * width)

    @property
    def _tile(self) -> int:
        return tile_rows(self.isa)

    @property
    def _panel(self) -> int:
        return _VECTORS * self.isa.lanes

    @property
    def _terms(self) -> int:
        """Elements along the contracted loop that are a step."""
        return 2 if self.in_pairs else 1

    def _element(self, k: int) -> str:
        return self.streams[k].dtype.traits.llvm

    # The loops over blocks

    def _kernel(self) -> Iterator[str]:
        outer = OuterLoops(tuple(map(self._element, range(len(self.streams)))), self.rank, innermost=3)
        yield f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield from self._entry(outer)
        yield from outer.open()
        yield from self._blocks()
        yield from outer.close()
        yield "  ret void"
        yield "}"

    def _entry(self, outer: OuterLoops) -> Iterator[str]:
        yield "entry:"
        for name, extent in (("left", ROWS), ("right", COLUMNS)):
            yield f"  %packed.{name} = alloca [{extent * DEPTH} x i32], align 64"
        yield f"  %block = alloca [{ROWS * COLUMNS} x float], align 64"
        for name, loop in (("columns", 0), ("depth", 1), ("rows", 2)):
            yield from word(f"%{name}", loop)
        for k, _ in enumerate(self.streams):
            for name, loop in (("across", 0), ("along", 1), ("down", 2)):
                yield from word(f"%{name}_{k}", outer.stride_index(k, loop))
            yield f"  %pointer.at_{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at_{k}"
        operands = self.epilogue.operands
        yield f"  %operands = alloca [{len(operands)} x ptr]"
        yield f"  %words = alloca [{2 + 2 * len(operands)} x i64]"
        for place, k in enumerate(operands):
            strides = (f"%across_{k}", f"%down_{k}") if k < len(self.streams) else ("1", f"{COLUMNS}")
            for loop, stride in enumerate(strides):
                yield f"  %word{place}.{loop} = getelementptr i64, ptr %words, i64 {2 + 2 * place + loop}"
                yield f"  store i64 {stride}, ptr %word{place}.{loop}"
        yield "  %word.rows = getelementptr i64, ptr %words, i64 1"
        yield f"  br label %{outer.first}"

    def _blocks(self) -> Iterator[str]:
        left, right = self.left, self.right
        yield "row:"
        yield "  br label %rows.loop"
        yield "rows.loop:"
        yield "  %first.row = phi i64 [0, %row], [%first.row.next, %columns.end]"
        yield from _part("height", "rows", "first.row", ROWS)
        yield "  br label %columns.loop"
        yield "columns.loop:"
        yield "  %column = phi i64 [0, %rows.loop], [%column.next, %block.end]"
        yield from _part("width", "columns", "column", COLUMNS)
        yield f"  %first.row.at = mul i64 %first.row, %down_{left}"
        yield f"  %left.row = getelementptr {self._element(left)}, ptr %at3_{left}, i64 %first.row.at"
        yield f"  %column.at = mul i64 %column, %across_{right}"
        yield f"  %right.column = getelementptr {self._element(right)}, ptr %at3_{right}, i64 %column.at"
        yield "  br label %depth.loop"
        yield "depth.loop:"
        yield "  %term = phi i64 [0, %columns.loop], [%term.next, %depth.loop]"
        yield from _part("terms", "depth", "term", DEPTH * self._terms)
        for name, k, start, extent, across in (
            ("left", left, "row", "height", "down"),
            ("right", right, "column", "width", "across"),
        ):
            yield f"  %{name}.term = mul i64 %term, %along_{k}"
            yield f"  %{name}.at = getelementptr {self._element(k)}, ptr %{name}.{start}, i64 %{name}.term"
            arguments = f"ptr %{name}.at, i64 %{extent}, i64 %terms, i64 %{across}_{k}, i64 %along_{k}"
            yield f"  call void @ttnn_jit.pack_{name}(ptr %packed.{name}, {arguments})"
        yield f"  %last.term = add i64 %terms, {self._terms - 1}"
        yield f"  %steps = lshr i64 %last.term, {self._terms - 1}"
        yield "  %is.first = icmp eq i64 %term, 0"
        packed = "ptr %packed.left, ptr %packed.right, ptr %block, i1 %is.first"
        yield f"  call void @ttnn_jit.tiles({packed}, i64 %height, i64 %width, i64 %steps)"
        yield f"  %term.next = add i64 %term, {DEPTH * self._terms}"
        yield "  %more.terms = icmp slt i64 %term.next, %depth"
        yield "  br i1 %more.terms, label %depth.loop, label %block.done"
        yield "block.done:"
        yield from self._finish()
        yield "  br label %block.end"
        yield "block.end:"
        yield from _next("column", "columns", COLUMNS, "columns.loop", "columns.end")
        yield "columns.end:"
        yield from _next("first.row", "rows", ROWS, "rows.loop", "close2")
        yield "close2:"
        yield "  br label %close3"

    def _finish(self) -> Iterator[str]:
        yield "  store i64 %width, ptr %words"
        yield "  store i64 %height, ptr %word.rows"
        for place, k in enumerate(self.epilogue.operands):
            at = "%block"
            if k < len(self.streams):
                at = f"%operand{place}"
                yield f"  {at}.row = mul i64 %first.row, %down_{k}"
                yield f"  {at}.column = mul i64 %column, %across_{k}"
                yield f"  {at}.both = add i64 {at}.row, {at}.column"
                yield f"  {at} = getelementptr {self._element(k)}, ptr %at3_{k}, i64 {at}.both"
            yield f"  %operand{place}.at = getelementptr ptr, ptr %operands, i64 {place}"
            yield f"  store ptr {at}, ptr %operand{place}.at"
        yield f"  call void @{self.epilogue.function}(ptr %operands, ptr %words)"

    # The microkernel

    def _tiles(self) -> Iterator[str]:
        parameters = "ptr noalias readonly %left, ptr noalias readonly %right, ptr noalias %block, i1 %is.first"
        yield f"define internal void @ttnn_jit.tiles({parameters}, i64 %height, i64 %width, i64 %steps) nounwind {{"
        yield "entry:"
        yield "  br label %panel"
        yield "panel:"
        yield "  %column = phi i64 [0, %entry], [%column.next, %panel.end]"
        yield "  %panel.at = phi ptr [%right, %entry], [%panel.next, %panel.end]"
        yield "  %results = getelementptr float, ptr %block, i64 %column"
        yield "  br label %tile"
        yield "tile:"
        yield "  %row = phi i64 [0, %panel], [%row.next, %tile.end]"
        yield "  %tile.at = phi ptr [%left, %panel], [%tile.next, %tile.end]"
        yield f"  %row.moved = mul i64 %row, {COLUMNS}"
        yield "  %tile.results = getelementptr float, ptr %results, i64 %row.moved"
        yield "  %rest = sub i64 %height, %row"
        yield f"  %is.few = icmp slt i64 %rest, {_MIN_TILE_ROWS}"
        yield "  br i1 %is.few, label %single, label %whole"
        yield from self._microkernel("whole", self._tile, "%tile.at", "%tile.results")
        yield "whole.end:"
        yield "  br label %tile.end"
        yield "single:"
        yield "  %lane = phi i64 [0, %tile], [%lane.next, %one.end]"
        yield "  %lane.at = getelementptr i32, ptr %tile.at, i64 %lane"
        yield f"  %lane.moved = mul i64 %lane, {COLUMNS}"
        yield "  %lane.results = getelementptr float, ptr %tile.results, i64 %lane.moved"
        yield "  br label %one"
        yield from self._microkernel("one", 1, "%lane.at", "%lane.results")
        yield "one.end:"
        yield "  %lane.next = add i64 %lane, 1"
        yield "  %more.lanes = icmp slt i64 %lane.next, %rest"
        yield "  br i1 %more.lanes, label %single, label %tile.end"
        yield "tile.end:"
        yield f"  %tile.next = getelementptr i32, ptr %tile.at, i64 {DEPTH * self._tile}"
        yield from _next("row", "height", self._tile, "tile", "panel.end")
        yield "panel.end:"
        yield f"  %panel.next = getelementptr i32, ptr %panel.at, i64 {DEPTH * self._panel}"
        yield from _next("column", "width", self._panel, "panel", "done")
        yield "done:"
        yield "  ret void"
        yield "}"

    def _microkernel(self, name: str, rows: int, left: str, results: str) -> Iterator[str]:
        """From the block `name` to ``<name>.end``: `rows` by two vectors of results over all steps."""
        lanes = self.isa.lanes
        kind, words = f"<{lanes} x float>", f"<{lanes} x {'i32' if self.in_pairs else 'float'}>"
        one = "i32" if self.in_pairs else "float"
        places = [(row, vector) for row in range(rows) for vector in range(_VECTORS)]
        yield f"{name}:"
        for row, vector in places:
            at = f"%{name}.at{row}.{vector}"
            yield f"  {at} = getelementptr float, ptr {results}, i64 {row * COLUMNS + vector * lanes}"
            yield f"  {at}.before = load {kind}, ptr {at}, align 4"
            start = f"select i1 %is.first, {kind} zeroinitializer, {kind} {at}.before"
            yield f"  %{name}.start{row}.{vector} = {start}"
        yield f"  br label %{name}.loop"
        yield f"{name}.loop:"
        for row, vector in places:
            start, total = f"%{name}.start{row}.{vector}", f"%{name}.total{row}.{vector}"
            yield f"  {total} = phi {kind} [{start}, %{name}], [{total}.next, %{name}.loop]"
        for side, pointer in (("left", left), ("right", "%panel.at")):
            yield f"  %{name}.{side} = phi ptr [{pointer}, %{name}], [%{name}.{side}.next, %{name}.loop]"
        yield f"  %{name}.step = phi i64 [0, %{name}], [%{name}.step.next, %{name}.loop]"
        for vector in range(_VECTORS):
            at = f"%{name}.right.at{vector}"
            yield f"  {at} = getelementptr i32, ptr %{name}.right, i64 {vector * lanes}"
            yield f"  %{name}.right{vector} = load {words}, ptr {at}, align 4"
        builder = LlvmVector(self.isa, self.module, prefix=f"{name}.v", block=f"{name}.loop")
        for row in range(rows):
            at = f"%{name}.left.at{row}"
            yield f"  {at} = getelementptr i32, ptr %{name}.left, i64 {row}"
            yield f"  {at}.one = load {one}, ptr {at}"
            yield f"  {at}.first = insertelement {words} poison, {one} {at}.one, i64 0"
            mask = f"<{lanes} x i32> zeroinitializer"
            yield f"  %{name}.left{row} = shufflevector {words} {at}.first, {words} poison, {mask}"
        for row, vector in places:
            total, factors = f"%{name}.total{row}.{vector}", (f"%{name}.left{row}", f"%{name}.right{vector}")
            added = builder.add_products(total, *factors) if self.in_pairs else builder.fma(*factors, total)
            yield from builder.lines
            builder.code.clear()
            yield f"  {total}.next = bitcast {kind} {added} to {kind}"
        yield f"  %{name}.left.next = getelementptr i32, ptr %{name}.left, i64 {self._tile}"
        yield f"  %{name}.right.next = getelementptr i32, ptr %{name}.right, i64 {self._panel}"
        yield f"  %{name}.step.next = add i64 %{name}.step, 1"
        yield f"  %{name}.more = icmp slt i64 %{name}.step.next, %steps"
        yield f"  br i1 %{name}.more, label %{name}.loop, label %{name}.done"
        yield f"{name}.done:"
        for row, vector in places:
            yield f"  store {kind} %{name}.total{row}.{vector}.next, ptr %{name}.at{row}.{vector}, align 4"
        yield f"  br label %{name}.end"


def _part(name: str, extent: str, start: str, most: int) -> Iterator[str]:
    """``%<name>``: what is left of an extent from a start, at most `most`."""
    yield f"  %{name}.left = sub i64 %{extent}, %{start}"
    yield f"  %{name}.is.last = icmp sle i64 %{name}.left, {most}"
    yield f"  %{name} = select i1 %{name}.is.last, i64 %{name}.left, i64 {most}"


def _next(name: str, extent: str, step: int, again: str, after: str) -> Iterator[str]:
    """``%<name>.next``, and the branch to `again` as long as it is below the extent."""
    yield f"  %{name}.next = add i64 %{name}, {step}"
    yield f"  %{name}.more = icmp slt i64 %{name}.next, %{extent}"
    yield f"  br i1 %{name}.more, label %{again}, label %{after}"
