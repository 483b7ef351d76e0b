"""What kernels that contract a dimension of two tensors have in common, as LLVM IR text.

A block of results is made at a time, in float32. Its chains go on in it from one part of the contracted loop to the
next, and its microkernel (kernels/contracting_tiles.py) keeps tiles of it in registers, so that no chain is ever split;
a step is one fused multiply-add, or a pair of them for bfloat16 (ops/contraction.py). The epilogue, a loop of
kernels/tile_loop.py, takes the finished block to where results lie.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.contracting_packing import Packing
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_module import ModuleText
from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.kernels.staged_loops import StageCall
from ttnn_jit.kernels.tile_loop import Stream
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class ContractingLoops:
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

    @abstractmethod
    def _blocks(self) -> Iterator[str]:
        """From the block ``row`` to ``close2``: all blocks of one product."""

    @property
    def _terms(self) -> int:
        """Elements along the contracted loop that are a step."""
        return 2 if self.in_pairs else 1

    def _element(self, k: int) -> str:
        return self.streams[k].dtype.traits.llvm

    def _packing(self, name: str, k: int, width: int, steps: int) -> Packing:
        symbol = f"ttnn_jit.pack_{name}"
        return Packing(symbol, self._element(k), width, self.isa.lanes, self.in_pairs, steps * width)

    def _kernel(self) -> Iterator[str]:
        outer = OuterLoops(tuple(map(self._element, range(len(self.streams)))), self.rank, innermost=3)
        yield f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield from self._entry(outer)
        yield from outer.open()
        yield from self._blocks()
        yield "close2:"
        yield "  br label %close3"
        yield from outer.close()
        yield "  ret void"
        yield "}"

    def _entry(self, outer: OuterLoops) -> Iterator[str]:
        yield "entry:"
        for name, words in self._memory:
            yield f"  {name} = alloca [{words} x i32], align 64"
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
            strides = (f"%across_{k}", f"%down_{k}") if k < len(self.streams) else ("1", f"{self._pitch}")
            for loop, stride in enumerate(strides):
                yield f"  %word{place}.{loop} = getelementptr i64, ptr %words, i64 {2 + 2 * place + loop}"
                yield f"  store i64 {stride}, ptr %word{place}.{loop}"
        yield "  %word.rows = getelementptr i64, ptr %words, i64 1"
        yield f"  br label %{outer.first}"

    def _operands(self) -> Iterator[str]:
        """``%left.row`` and ``%right.column``: where the block from ``%first.row`` and ``%column`` begins."""
        left, right = self.left, self.right
        yield f"  %first.row.at = mul i64 %first.row, %down_{left}"
        yield f"  %left.row = getelementptr {self._element(left)}, ptr %at3_{left}, i64 %first.row.at"
        yield f"  %column.at = mul i64 %column, %across_{right}"
        yield f"  %right.column = getelementptr {self._element(right)}, ptr %at3_{right}, i64 %column.at"

    def _terms_of_both(self) -> Iterator[str]:
        """``%left.at`` and ``%right.at``: where the block begins at ``%term``."""
        for name, k, start in (("left", self.left, "row"), ("right", self.right, "column")):
            yield f"  %{name}.term = mul i64 %term, %along_{k}"
            yield f"  %{name}.at = getelementptr {self._element(k)}, ptr %{name}.{start}, i64 %{name}.term"

    def _finish(self) -> Iterator[str]:
        """The epilogue of the block."""
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
