"""What kernels that contract a dimension of two tensors have in common, as LLVM IR text.

The right operand may come in *panels* (runtime/panels.py): packed whole, before the call. Its strides along columns and
along the contracted loop are then those from panel to panel and from step to step, and its stride along rows, along
which it does not move, is 1 in place of 0.

A block of results is made at a time, in float32. Its chains go on in it from one part of the contracted loop to the
next, and its microkernel (kernels/contracting_tiles.py) keeps tiles of it in registers, so that no chain is ever split;
a step is one fused multiply-add, or a pair of them for bfloat16 (ops/contraction.py). The epilogue, a loop of
kernels/tile_loop.py, takes the finished block to where results lie.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.contracting_packing import Packing
from ttnn_jit.kernels.contracting_tiles import Microkernel
from ttnn_jit.kernels.contracting_unpacking import DECLARATIONS, Unpacking, unit
from ttnn_jit.kernels.cut_factors import FactorCut, factor_cut
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_module import ModuleText
from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.kernels.staged_loops import StageCall
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.product_precision import Multiplication
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

PANEL_VECTORS = 2
"""Of a panel: columns of the right operand that lie side by side once it is packed."""


@dataclass(frozen=True)
class ContractingLoops:
    """The function ``void @name(ptr pointers, ptr params)``; the words are those of kernels/outer_loops.py.

    Loop 0 walks columns, those around it are contracted, those around these walk rows, and those around them repeat
    all. Steps never cross the ends of the innermost contracted loop.

    Attributes:
        name: Its symbol.
        streams: The kernel's.
        rank: Loops around the innermost one, at least 2.
        contracted: How many loops are contracted.
        row_loops: How many walk rows; the right stream does not move along them.
        left: The number of the stream with rows; block floats have whole tiles of rows, and terms along their columns.
        right: The number of the stream with columns; block floats have its loops 0 and 1 walk a matrix of tiles.
        in_pairs: Whether both are bfloat16, or become that, whose products are added up in pairs.
        multiplication: How a chip multiplies; None: exactly.
        epilogue: A loop of rank 1 over rows; the number after the streams' stands for the block of results.
        isa: Decides the shape of a tile.
        module: Gets the declarations.
    """

    name: str
    streams: tuple[Stream, ...]
    rank: int
    contracted: int
    row_loops: int
    left: int
    right: int
    in_pairs: bool
    multiplication: Multiplication | None
    epilogue: StageCall
    isa: HostIsa
    module: ModuleText

    @abstractmethod
    def definitions(self) -> list[str]:
        """The function and those that it calls, but for the epilogue."""

    @property
    @abstractmethod
    def _pitch(self) -> int:
        """Results from one row of the block to the next."""

    @property
    @abstractmethod
    def _memory(self) -> Sequence[tuple[str, int]]:
        """Names of arrays on the stack, ``%block`` among them, and their words."""

    @property
    @abstractmethod
    def _rows_kept(self) -> int:
        """Rows of the left operand that are packed together."""

    @abstractmethod
    def _blocks(self) -> Iterator[str]:
        """From the block ``row`` to a branch to ``product.end``: all blocks of one product."""

    @property
    def _terms(self) -> int:
        """Elements along the contracted loop that are a step."""
        return 2 if self.in_pairs else 1

    @property
    def panels(self) -> tuple[int, int] | None:
        """Columns of a panel, and terms of a word, where the right operand may come in panels; else None.

        Those hold the bits of its elements.
        """
        is_whole = self._element(self.right) == ("i16" if self.in_pairs else "float") and self._cut("right") is None
        return (self._panel_width, self._terms) if self.contracted == 1 and is_whole else None

    @property
    def _panel_width(self) -> int:
        return PANEL_VECTORS * self.isa.lanes

    def _element(self, k: int) -> str:
        dtype = self.streams[k].dtype
        return unit(dtype) if dtype.is_block_float else dtype.traits.llvm

    def _packing(self, name: str, k: int, width: int, steps: int) -> Packing | Unpacking:
        symbol, listed, stream, cut = f"ttnn_jit.pack_{name}", name == "left", self.streams[k], self._cut(name)
        if stream.dtype.is_block_float:
            self.module.declarations.update(dict.fromkeys(DECLARATIONS))
            turned = stream.access is not InnerAccess.CONTIGUOUS
            kept = min(self._rows_kept, TILE_HEIGHT) if listed else TILE_WIDTH
            return Unpacking(symbol, stream.dtype, width, self.in_pairs, steps * width, turned, listed, kept, cut)
        return Packing(symbol, self._element(k), width, self.isa.lanes, self.in_pairs, steps * width, listed, cut)

    def _cut(self, name: str) -> FactorCut | None:
        """What a chip leaves of the words of the factor `name`."""
        if self.multiplication is None:
            return None
        side = ("left", "right").index(name)
        k, kept = (self.left, self.right)[side], self.multiplication.kept[side]
        return factor_cut(kept, self._element(k), in_pairs=self.in_pairs)

    @property
    def _rounds_tiles(self) -> bool:
        """Whether sums are rounded after every tile of terms."""
        return self.multiplication is not None and self.multiplication.rounds_tiles

    def _microkernel_of(
        self, rows: int, vectors: int, pitch: int, in_place: str = "", kind: type[Microkernel] = Microkernel
    ) -> Microkernel:
        """Of so many rows and vectors."""
        own = self.multiplication or Multiplication((0, 0), None, rounds_tiles=False)
        cut = self._cut("right") if in_place else None
        rounds = TILE_WIDTH // self._terms if own.rounds_tiles else 0
        own_part = self.in_pairs, self.isa, self.module, in_place, rounds, own.dropped, cut
        return kind(rows, vectors, self._left_width, pitch, *own_part)

    @property
    @abstractmethod
    def _left_width(self) -> int:
        """Words of the packed left operand from one step to the next."""

    @property
    def _outside(self) -> int:
        """The number of the innermost loop that repeats all."""
        return 1 + self.contracted + self.row_loops

    def _kernel(self) -> Iterator[str]:
        outer = OuterLoops(tuple(map(self._element, range(len(self.streams)))), self.rank, innermost=self._outside)
        yield f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield from self._entry(outer)
        yield from outer.open()
        yield from self._blocks()
        yield "product.end:"
        yield f"  br label %close{self._outside}"
        yield from outer.close()
        yield "  ret void"
        yield "}"

    def _entry(self, outer: OuterLoops) -> Iterator[str]:
        yield "entry:"
        for name, words in self._memory:
            yield f"  {name} = alloca [{words} x i32], align 64"
        yield from word("%columns", 0)
        groups = {"depth": range(1, 1 + self.contracted), "rows": range(1 + self.contracted, self._outside)}
        for name, loops in groups.items():
            for number, loop in enumerate(loops):
                yield from word(f"%{name}{number}", loop)
            yield from _product(name, len(loops))
        for k, _ in enumerate(self.streams):
            yield from word(f"%across_{k}", outer.stride_index(k, 0))
            for name, loops in (("along", groups["depth"]), ("down", groups["rows"])):
                for number, loop in enumerate(loops):
                    yield from word(f"%{name}{number}_{k}", outer.stride_index(k, loop))
            yield f"  %pointer.at_{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at_{k}"
        if self.panels:
            yield f"  %in.panels = icmp ne i64 %down0_{self.right}, 0"
        yield from self._epilogue_words()
        yield f"  br label %{outer.first}"

    def _epilogue_words(self) -> Iterator[str]:
        operands = self.epilogue.operands
        yield f"  %operands = alloca [{len(operands)} x ptr]"
        yield f"  %words = alloca [{2 + 2 * len(operands)} x i64]"
        for place, k in enumerate(operands):
            strides = (f"%across_{k}", f"%down0_{k}") if k < len(self.streams) else ("1", f"{self._pitch}")
            for loop, stride in enumerate(strides):
                yield f"  %word{place}.{loop} = getelementptr i64, ptr %words, i64 {2 + 2 * place + loop}"
                yield f"  store i64 {stride}, ptr %word{place}.{loop}"
        yield "  %word.rows = getelementptr i64, ptr %words, i64 1"

    # Addresses

    def _rows_listed(self, before: str, after: str) -> Iterator[str]:
        """From block `before` to `after`: ``%offsets`` says where the left operand has the rows of a block."""
        yield "  br label %list"
        yield "list:"
        yield f"  %listed = phi i64 [0, %{before}], [%listed.next, %list]"
        yield "  %listed.row = add i64 %first.row, %listed"
        yield from self._index("listed.index", "listed.row", "rows", self.row_loops)
        yield from self._offset("listed.offset", "listed.index", "down", self.row_loops, self.left)
        yield "  %listed.at = getelementptr i64, ptr %offsets, i64 %listed"
        yield "  store i64 %listed.offset, ptr %listed.at"
        yield from following("listed", "height", 1, "list", after)

    def _right_column(self) -> Iterator[str]:
        """``%right.column``: where the right operand has the columns from ``%column`` on."""
        right = self.right
        yield f"  %column.at = mul i64 %column, %across_{right}"
        start = f"ptr %at{self._outside}_{right}"
        yield f"  %right.column = getelementptr {self._element(right)}, {start}, i64 %column.at"

    def _terms_of_both(self, term: str, most: str) -> Iterator[str]:
        """``%left.at`` and ``%right.at``: where both have terms from `term` on; ``%run``: how many, up to `most`."""
        yield from self._index("term.index", term, "depth", self.contracted)
        yield "  %run.own = sub i64 %depth0, %term.index0"
        yield f"  %run.is.own = icmp sle i64 %run.own, {most}"
        yield f"  %run = select i1 %run.is.own, i64 %run.own, i64 {most}"
        for name, k, start in (
            ("left", self.left, f"%at{self._outside}_{self.left}"),
            ("right", self.right, "%right.column"),
        ):
            yield from self._offset(f"{name}.term", "term.index", "along", self.contracted, k)
            yield f"  %{name}.at = getelementptr {self._element(k)}, ptr {start}, i64 %{name}.term"

    def _index(self, name: str, flat: str, extents: str, count: int) -> Iterator[str]:
        """``%<name><i>``: the index of each of `count` loops, the innermost first, where all have made `flat` steps."""
        rest = f"%{flat}"
        for number in range(count - 1):
            yield f"  %{name}{number}.rest = udiv i64 {rest}, %{extents}{number}"
            yield f"  %{name}{number}.whole = mul i64 %{name}{number}.rest, %{extents}{number}"
            yield f"  %{name}{number} = sub i64 {rest}, %{name}{number}.whole"
            rest = f"%{name}{number}.rest"
        yield f"  %{name}{count - 1} = add i64 {rest}, 0"

    def _offset(self, name: str, index: str, strides: str, count: int, k: int) -> Iterator[str]:
        """``%<name>``: the elements that a stream has moved by where loops have these indices."""
        total = "0"
        for number in range(count):
            yield f"  %{name}.moved{number} = mul i64 %{index}{number}, %{strides}{number}_{k}"
            sum_ = f"%{name}" if number == count - 1 else f"%{name}.sum{number}"
            yield f"  {sum_} = add i64 {total}, %{name}.moved{number}"
            total = sum_

    # The epilogue

    def _finish(self, before: str, after: str) -> Iterator[str]:
        """From block `before` to `after`: the epilogue of the block's rows, as many at a time as have one stride."""
        yield "  br label %segment"
        yield "segment:"
        yield f"  %segment.row = phi i64 [0, %{before}], [%segment.row.next, %segment]"
        yield "  %segment.first = add i64 %first.row, %segment.row"
        yield from self._index("segment.index", "segment.first", "rows", self.row_loops)
        yield "  %segment.own = sub i64 %rows0, %segment.index0"
        yield "  %segment.left = sub i64 %height, %segment.row"
        yield "  %segment.is.own = icmp sle i64 %segment.own, %segment.left"
        yield "  %segment.rows = select i1 %segment.is.own, i64 %segment.own, i64 %segment.left"
        yield "  store i64 %width, ptr %words"
        yield "  store i64 %segment.rows, ptr %word.rows"
        for place, k in enumerate(self.epilogue.operands):
            at = f"%operand{place}"
            if k < len(self.streams):
                yield from self._offset(f"operand{place}.row", "segment.index", "down", self.row_loops, k)
                yield f"  {at}.column = mul i64 %column, %across_{k}"
                yield f"  {at}.both = add i64 {at}.row, {at}.column"
                yield f"  {at} = getelementptr {self._element(k)}, ptr %at{self._outside}_{k}, i64 {at}.both"
            else:
                yield f"  {at}.row = mul i64 %segment.row, {self._pitch}"
                yield f"  {at} = getelementptr float, ptr %block, i64 {at}.row"
            yield f"  {at}.at = getelementptr ptr, ptr %operands, i64 {place}"
            yield f"  store ptr {at}, ptr {at}.at"
        yield f"  call void @{self.epilogue.function}(ptr %operands, ptr %words)"
        yield "  %segment.row.next = add i64 %segment.row, %segment.rows"
        yield "  %segment.more = icmp slt i64 %segment.row.next, %height"
        yield f"  br i1 %segment.more, label %segment, label %{after}"


def _product(name: str, count: int) -> Iterator[str]:
    """``%<name>``: the product of ``%<name><i>``."""
    total = "1"
    for number in range(count):
        product = f"%{name}" if number == count - 1 else f"%{name}.product{number}"
        yield f"  {product} = mul i64 {total}, %{name}{number}"
        total = product


def part(name: str, extent: str, start: str, most: int) -> Iterator[str]:
    """``%<name>``: what is left of an extent from a start, at most `most`."""
    yield f"  %{name}.left = sub i64 %{extent}, %{start}"
    yield f"  %{name}.is.last = icmp sle i64 %{name}.left, {most}"
    yield f"  %{name} = select i1 %{name}.is.last, i64 %{name}.left, i64 {most}"


def following(name: str, extent: str, step: int, again: str, after: str) -> Iterator[str]:
    """``%<name>.next``, and the branch to `again` as long as it is below the extent."""
    yield f"  %{name}.next = add i64 %{name}, {step}"
    yield f"  %{name}.more = icmp slt i64 %{name}.next, %{extent}"
    yield f"  br i1 %{name}.more, label %{again}, label %{after}"
