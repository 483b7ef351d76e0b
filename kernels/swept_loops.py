"""LLVM IR text of a kernel that reduces its innermost loop: several sweeps over every row.

A sweep is a function of its own (kernels/tile_loop.py), called for a row, or for a block of a row if it reduces. What
it computes and reduces stays in registers where a chunk of its loop is all chains (kernels/chunk_folds.py), or lies in
memory, a block of float32, as a tensor's elements do; a fold function makes one number of that (kernels/row_folds.py).
The numbers of the blocks are folded pairwise as they come (ops/reduction.py has the order).

Bound: the bytes of the tensors once, as long as a row stays in a cache between sweeps; a chain of `combine` for each of
32 lanes; where a block lies in memory, a store and two loads in the first cache for each element that is computed. A
number of a row is loaded as it was stored: what loads more waits for the rows' stores, as if no two rows overlapped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.nest.buffers import LEVELS, Buffer, BufferKind
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.ops.reduction import BLOCK
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class FoldCall:
    """A reduction of a sweep.

    Attributes:
        function: Symbol of the fold function; see kernels/row_folds.py.
        terms: Number of the stream or buffer that is reduced, or of the buffer with what the sweep has reduced a block
            to.
        result: Number of the buffer that gets the result.
        is_folded: Whether the sweep has.
        in_any_order: Whether the order makes no difference.
    """

    function: str
    terms: int
    result: int
    is_folded: bool = False
    in_any_order: bool = False


@dataclass(frozen=True)
class SweepCall:
    """A sweep, as the kernel calls it.

    Attributes:
        function: Its symbol, of a loop of rank 0; empty where nothing is computed before the folds.
        operands: For each of its streams, the number of the kernel's stream, or, above those, of a buffer.
        whole_row: Whether it runs over the row; else over one element.
        folds: What it reduces.
    """

    function: str
    operands: tuple[int, ...]
    whole_row: bool
    folds: tuple[FoldCall, ...]


@dataclass(frozen=True)
class SweptLoops:
    """The function ``void @name(ptr pointers, ptr params)`` that runs sweeps over every row.

    Attributes:
        name: Its symbol.
        streams: The kernel's.
        rank: Loops around the innermost one.
        sweeps: In execution order.
        buffers: Numbered after the streams.
        is_internal: Whether its module alone sees it.
    """

    name: str
    streams: tuple[Stream, ...]
    rank: int
    sweeps: Sequence[SweepCall]
    buffers: Sequence[Buffer]
    is_internal: bool = False

    def text(self) -> str:
        """The definition."""
        outer = OuterLoops(tuple(stream.dtype.traits.llvm for stream in self.streams), self.rank)
        parts = (self._entry(outer), outer.open(), self._row(), outer.close(), ["  ret void", "}"])
        head = "define internal void" if self.is_internal else "define void"
        head = f"{head} @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        return "\n".join([head, *(line for part in parts for line in part)])

    def _entry(self, outer: OuterLoops) -> Iterator[str]:
        yield "entry:"
        for k, buffer in enumerate(self.buffers, len(self.streams)):
            yield f"  %at1_{k} = alloca [{buffer.kind.count} x {buffer.dtype.traits.llvm}], align 64"
        yield "  %n = load i64, ptr %params"
        yield f"  %is.block = icmp sle i64 %n, {BLOCK}"
        for k, _ in enumerate(self.streams):
            yield from word(f"%stride_{k}", outer.stride_index(k, 0))
            yield f"  %pointer.at_{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at_{k}"
        for number, sweep in enumerate(self.sweeps):
            yield from self._prepare(number, sweep)
        yield f"  br label %{outer.first}"

    def _prepare(self, number: int, sweep: SweepCall) -> Iterator[str]:
        """The memory of a call's arguments, and its words that are the same for every row."""
        yield f"  %operands{number} = alloca [{len(sweep.operands)} x ptr]"
        yield f"  %words{number} = alloca [{1 + len(sweep.operands)} x i64]"
        for fold, _ in enumerate(sweep.folds):
            yield f"  %levels{number}.{fold} = alloca [{LEVELS} x float]"
        words = ["%n" if sweep.whole_row else "1"]
        words += [f"%stride_{k}" if k < len(self.streams) else "1" for k in sweep.operands]
        for place, value in enumerate(words):
            yield f"  %word{number}.{place} = getelementptr i64, ptr %words{number}, i64 {place}"
            yield f"  store i64 {value}, ptr %word{number}.{place}"

    def _row(self) -> Iterator[str]:
        yield "row:"
        block = "row"
        for number, sweep in enumerate(self.sweeps):
            if sweep.folds:
                yield from self._in_blocks(number, sweep, block)
                block = f"folded{number}"
            else:
                yield from self._call(number, sweep, None)
        yield "  br label %close1"

    def _in_blocks(self, number: int, sweep: SweepCall, before: str) -> Iterator[str]:
        """A sweep that reduces: block by block, at least one, whose result is that of a row without others."""
        name = f"%block{number}"
        sums = [f"%terms{number}.{fold}.sum" for fold, _ in enumerate(sweep.folds)]
        yield f"  br label %blocks{number}"
        yield f"blocks{number}:"
        yield f"  {name} = phi i64 [0, %{before}], [{name}.next, %pushed{number}]"
        yield f"  {name}.at = mul i64 {name}, {BLOCK}"
        yield f"  {name}.left = sub i64 %n, {name}.at"
        yield f"  {name}.last = icmp sle i64 {name}.left, {BLOCK}"
        yield f"  {name}.count = select i1 {name}.last, i64 {name}.left, i64 {BLOCK}"
        yield f"  store i64 {name}.count, ptr %word{number}.0"
        yield from self._call(number, sweep, f"{name}.at")
        for fold, each in enumerate(sweep.folds):
            terms = f"%terms{number}.{fold}"
            yield from self._place(terms, each.terms, f"{name}.at")
            value = "load float, ptr" if each.is_folded else f"call float @{each.function}(ptr"
            yield f"  {sums[fold]} = {value} {terms}{'' if each.is_folded else f', i64 {name}.count)'}"
        yield f"  br i1 %is.block, label %folded{number}, label %pushed{number}"
        yield f"pushed{number}:"
        for fold, each in enumerate(sweep.folds):
            pushed = f"ptr %levels{number}.{fold}, i64 {name}, float {sums[fold]}"
            yield f"  call void @{each.function}.push({pushed})"
        yield f"  {name}.next = add i64 {name}, 1"
        yield f"  br i1 {name}.last, label %finished{number}, label %blocks{number}"
        yield f"finished{number}:"
        for fold, each in enumerate(sweep.folds):
            levels = f"ptr %levels{number}.{fold}, i64 {name}.next"
            yield f"  %finished{number}.{fold} = call float @{each.function}.finish({levels})"
        yield f"  br label %folded{number}"
        yield f"folded{number}:"
        for fold, value in enumerate(sums):
            ways = f"[{value}, %blocks{number}], [%finished{number}.{fold}, %finished{number}]"
            yield f"  %result{number}.{fold} = phi float {ways}"
        for fold, each in enumerate(sweep.folds):
            yield f"  store float %result{number}.{fold}, ptr %at1_{each.result}"

    def _call(self, number: int, sweep: SweepCall, at: str | None) -> Iterator[str]:
        if not sweep.function:
            return
        for place, k in enumerate(sweep.operands):
            name = f"%operand{number}.{place}"
            yield from self._place(name, k, at)
            yield f"  {name}.at = getelementptr ptr, ptr %operands{number}, i64 {place}"
            yield f"  store ptr {name}, ptr {name}.at"
        yield f"  call void @{sweep.function}(ptr %operands{number}, ptr %words{number})"

    def _place(self, name: str, k: int, at: str | None) -> Iterator[str]:
        """``%name``: where element `at` of the row lies in a stream or buffer; None is the first one."""
        is_stream = k < len(self.streams)
        buffer = None if is_stream else self.buffers[k - len(self.streams)]
        element = (self.streams[k] if buffer is None else buffer).dtype.traits.llvm
        index = "0"
        if at is not None and buffer is None and self.streams[k].access is not InnerAccess.SCALAR:
            yield f"  {name}.elements = mul i64 {at}, %stride_{k}"
            index = f"{name}.elements"
        elif at is not None and buffer is not None and buffer.kind is BufferKind.ROW:
            index = at
        yield f"  {name} = getelementptr {element}, ptr %at1_{k}, i64 {index}"


DECLARATIONS = (
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n",
    "declare i64 @llvm.cttz.i64(i64, i1)\n",
)
"""What a module with fold functions needs once."""
