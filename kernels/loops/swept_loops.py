"""A kernel that reduces its innermost loop: several sweeps over every row.

A sweep is a function of its own (kernels/loops/tile_loop.py), called for a row, or for a block of a row if it reduces.
What it computes and reduces stays in registers where a chunk of its loop is all chains (kernels/loops/chunk_folds.py),
or lies in memory, a block of float32, as a tensor's elements do; a fold function makes one number of that
(kernels/loops/row_folds.py). The numbers of the blocks are folded pairwise as they come (ops/families/reduction.py has
the order).

Bound: the bytes of the tensors once, as long as a row stays in a cache between sweeps; a chain of `combine` for each of
32 lanes; where a block lies in memory, a store and two loads in the first cache for each element that is computed. A
number of a row is loaded as it was stored: what loads more waits for the rows' stores, as if no two rows overlapped.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.llvm.kernel_function import KernelFunction, NestedCall
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, VOID, type_of
from ttnn_jit.kernels.llvm.values import Value, i64
from ttnn_jit.nest.buffers import LEVELS, Buffer, BufferKind
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.ops.families.reduction import BLOCK
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class FoldCall:
    """A reduction of a sweep.

    Attributes:
        function: Symbol of the fold function; see kernels/loops/row_folds.py.
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
        module: Gets the declarations.
        is_internal: Whether its module alone sees it.
    """

    name: str
    streams: tuple[Stream, ...]
    rank: int
    sweeps: Sequence[SweepCall]
    buffers: Sequence[Buffer]
    module: ModuleText
    is_internal: bool = False

    def text(self) -> str:
        """The definition."""
        elements = [type_of(stream.dtype.traits.llvm) for stream in self.streams]
        f = KernelFunction(self.name, self.module, elements, self.rank, is_internal=self.is_internal)
        row = _Row(self, f)
        with f.outer_loops(f.streams()) as at:
            row.sweep([*at, *row.buffers])
        return f.ended()


class _Row:
    """What a kernel does with a row."""

    def __init__(self, kernel: SweptLoops, f: KernelFunction) -> None:
        self.kernel = kernel
        self.f = f
        self.elements = [*f.elements, *(type_of(buffer.dtype.traits.llvm) for buffer in kernel.buffers)]
        count = len(kernel.streams)
        self.buffers = [
            f.alloca(self.elements[k], buffer.kind.count, 64, f"at1_{k}")
            for k, buffer in enumerate(kernel.buffers, count)
        ]
        self.n = f.extent(0, "n")
        self.is_block = f.compare("sle", self.n, BLOCK, "is.block")
        self.strides = [f.stride(k, 0, f"stride_{k}") for k in range(count)]
        self.calls = [self._call(number, sweep) for number, sweep in enumerate(kernel.sweeps)]
        self.levels = [[f.alloca(FLOAT, LEVELS, hint="levels") for _ in sweep.folds] for sweep in kernel.sweeps]
        self.at: Sequence[Value] = ()

    def _call(self, number: int, sweep: SweepCall) -> NestedCall:
        """A sweep's call, with the params that are the same for every row."""
        params = [self.n if sweep.whole_row else i64(1)]
        params += [self.strides[k] if k < len(self.strides) else i64(1) for k in sweep.operands]
        return NestedCall(self.f, sweep.function, len(sweep.operands), params, hint=str(number))

    def sweep(self, at: Sequence[Value]) -> None:
        """All sweeps, over the row that is there."""
        self.at = at
        for number, sweep in enumerate(self.kernel.sweeps):
            if sweep.folds:
                self._in_blocks(number, sweep)
            else:
                self._run(number, sweep, None)

    def _in_blocks(self, number: int, sweep: SweepCall) -> None:
        """A sweep that reduces: block by block, at least one, whose result is that of a row without others."""
        f, name = self.f, f"block{number}"
        folded = f.new_block(f"folded{number}", *((FLOAT, "result") for _ in sweep.folds))
        with f.loop(f"blocks{number}", (name, i64(0))) as blocks:
            (block,) = blocks.values
            at = f.mul(block, BLOCK, f"{name}.at")
            left = f.sub(self.n, at, f"{name}.left")
            last = f.compare("sle", left, BLOCK, f"{name}.last")
            count = f.select(last, left, BLOCK, f"{name}.count")
            self.calls[number].set_param(0, count)
            self._run(number, sweep, at)
            sums = [self._sum(fold, at, count) for fold in sweep.folds]
            pushed = f.new_block(f"pushed{number}")
            f.branch_if(self.is_block, folded, pushed, sums)
            f.begin(pushed)
            for fold, levels, own in zip(sweep.folds, self.levels[number], sums, strict=True):
                f.call(VOID, f"{fold.function}.push", levels, block, own)
            following = f.add(block, 1, f"{name}.next")
            blocks.again_unless(last, following)
        each = zip(sweep.folds, self.levels[number], strict=True)
        f.branch(folded, *(f.call(FLOAT, f"{fold.function}.finish", levels, following) for fold, levels in each))
        for fold, result in zip(sweep.folds, f.begin(folded), strict=True):
            f.store(result, self.at[fold.result])

    def _sum(self, fold: FoldCall, at: Value, count: Value) -> Value:
        """What a block is reduced to."""
        terms = self._address(fold.terms, at)
        return self.f.load(FLOAT, terms) if fold.is_folded else self.f.call(FLOAT, fold.function, terms, count)

    def _run(self, number: int, sweep: SweepCall, at: Value | None) -> None:
        if sweep.function:
            self.calls[number].run(*(self._address(k, at) for k in sweep.operands))

    def _address(self, k: int, at: Value | None) -> Value:
        """Where element `at` of the row lies in a stream or buffer; None is the first one."""
        count = len(self.strides)
        if at is not None and k < count and self.kernel.streams[k].access is not InnerAccess.SCALAR:
            return self.f.element(self.at[k], self.elements[k], self.f.mul(at, self.strides[k]))
        if at is not None and k >= count and self.kernel.buffers[k - count].kind is BufferKind.ROW:
            return self.f.element(self.at[k], self.elements[k], at)
        return self.at[k]
