"""A kernel that reduces the loop around its innermost one, in sweeps over blocks of columns.

Adjacent elements belong to different results, so whole rows are combined: row i of a block is combined into row i mod
32 of the accumulators, by a loop of kernels/loops/tile_loop.py of rank 2. It visits the rows of one row of accumulators
after the other, so that these stay in the L1 cache: all 32 rows of them exceed it. The accumulators are folded by
halving, and blocks of rows pairwise, as in kernels/loops/swept_loops.py, `COLUMNS` results at a time. If the order does
not affect the result, all rows of a block are combined into one row of accumulators, in the order of the memory.

Bound: the bytes of the tensors; for every element a load and a store of an accumulator in the L1 cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction, NestedCall
from ttnn_jit.kernels.llvm.llvm_module import Functions, ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I64, PTR, VOID, type_of
from ttnn_jit.kernels.llvm.values import Value, i64
from ttnn_jit.kernels.loops.pairwise_folds import finish, push
from ttnn_jit.kernels.loops.swept_loops import SweepCall
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.nest.buffers import COLUMNS, LEVELS, Buffer, BufferKind
from ttnn_jit.nest.streams import Stream
from ttnn_jit.ops.families.reduction import BLOCK, CHAINS
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class SweptColumns:
    """The function ``void @name(ptr pointers, ptr params)`` that runs sweeps over every block of columns.

    Attributes:
        name: Symbol of the function.
        streams: The kernel's streams.
        rank: Loops around the innermost one; the first of them is reduced.
        sweeps: The sweeps in execution order; those over whole columns are loops of rank 2.
        buffers: The buffers, numbered after the streams.
        module: Receives the declarations.
    """

    name: str
    streams: tuple[Stream, ...]
    rank: int
    sweeps: Sequence[SweepCall]
    buffers: Sequence[Buffer]
    module: ModuleText

    def text(self) -> str:
        """The text of the function."""
        elements = [type_of(stream.dtype.traits.llvm) for stream in self.streams]
        f = KernelFunction(self.name, self.module, elements, self.rank)
        columns = _Columns(self, f)
        with f.outer_loops(f.streams(), innermost=2) as addresses:
            columns.sweep(addresses)
        return f.build()


Walk = tuple[Value, Callable[[int], Value]]
"""A loop of a call: its extent, and a function from a stream or buffer to its stride."""


class _Columns:
    """The body of the kernel: the reduction of all columns of a matrix."""

    def __init__(self, kernel: SweptColumns, f: KernelFunction) -> None:
        self.kernel = kernel
        self.f = f
        self.buffers = []
        for buffer in kernel.buffers:
            count = COLUMNS * (CHAINS if buffer.kind is BufferKind.TERMS else 1)
            self.buffers.append(f.alloca(type_of(buffer.dtype.traits.llvm), count, 64, "buffer"))
        self.n, self.rows = f.extent(0, "n"), f.extent(1, "rows")
        streams = range(len(kernel.streams))
        self.across = [f.stride(k, 0, f"across_{k}") for k in streams]
        self.down = [f.stride(k, 1, f"down_{k}") for k in streams]
        self.group = [f.mul(down, CHAINS, "group") for down in self.down]
        self.calls = [
            NestedCall(f, sweep.function, len(sweep.operands), 3 * (1 + len(sweep.operands)), hint=str(number))
            for number, sweep in enumerate(kernel.sweeps)
        ]
        count = LEVELS * COLUMNS
        self.levels = [[f.alloca(FLOAT, count, 64, "levels") for _ in sweep.folds] for sweep in kernel.sweeps]
        self.addresses: Sequence[Value] = ()  # address of the block's columns in every stream and buffer

    def sweep(self, addresses: Sequence[Value]) -> None:
        """Emit all sweeps for each block of columns."""
        f = self.f
        with f.loop("columns", ("first", i64(0))) as blocks:
            (first,) = blocks.values
            left = f.sub(self.n, first, "left")
            last = f.compare("sle", left, COLUMNS, "last")
            self.count = f.select(last, left, COLUMNS, "count")
            moved = [f.element(each, f.elements[k], f.mul(first, self.across[k])) for k, each in enumerate(addresses)]
            self.addresses = [*moved, *self.buffers]
            for number, sweep in enumerate(self.kernel.sweeps):
                self._sweep(number, sweep)
            blocks.again_unless(last, f.add(first, COLUMNS, "first.next"))

    def _sweep(self, number: int, sweep: SweepCall) -> None:
        f, columns = self.f, (self.count, self._across)
        if not sweep.whole_row:
            self._run(number, sweep, [columns], None)
        elif sweep.folds:
            self._in_blocks(number, sweep)
        else:
            with f.when(f.compare("sgt", self.rows, 0, "some"), f"whole{number}"):
                self._run(number, sweep, [columns, (self.rows, self._down), (i64(1), lambda _: i64(0))], i64(0))

    def _in_blocks(self, number: int, sweep: SweepCall) -> None:
        """Emit a reducing sweep, block by block of rows, at least one."""
        f, name = self.f, f"block{number}"
        with f.loop(f"blocks{number}", (name, i64(0))) as blocks:
            (block,) = blocks.values
            at = f.mul(block, BLOCK, f"{name}.at")
            left = f.sub(self.rows, at, f"{name}.left")
            last = f.compare("sle", left, BLOCK, f"{name}.last")
            self._block(number, sweep, at, f.select(last, left, BLOCK, f"{name}.count"))
            for fold, levels in zip(sweep.folds, self.levels[number], strict=True):
                f.call(VOID, f"{fold.function}.halve", self.addresses[fold.terms])
                f.call(VOID, f"{fold.function}.push", levels, block, self.addresses[fold.terms])
            following = f.add(block, 1, f"{name}.next")
            blocks.again_unless(last, following)
        for fold, levels in zip(sweep.folds, self.levels[number], strict=True):
            f.call(VOID, f"{fold.function}.finish", levels, following, self.addresses[fold.result])

    def _block(self, number: int, sweep: SweepCall, at: Value, count: Value) -> None:
        """Combine the rows of a block into accumulators: groups of `CHAINS` rows, then the remaining rows."""
        f = self.f
        groups = f.signed_div(count, CHAINS, "groups")
        rest = f.signed_rem(count, CHAINS, "rest")
        rest_at = f.add(at, f.mul(groups, CHAINS), "rest.at")
        for fold in sweep.folds:
            f.call(VOID, f"{fold.function}.fill", self.addresses[fold.terms])
        by_rows = all(fold.in_any_order for fold in sweep.folds)
        for some, extent, rounds, row in ((groups, i64(CHAINS), groups, at), (rest, rest, i64(1), rest_at)):
            with f.when(f.compare("sgt", some, 0), "group"):
                walks = [(rounds, self._group), (extent, self._down)]
                self._run(number, sweep, [(self.count, self._across), *(reversed(walks) if by_rows else walks)], row)

    def _across(self, k: int) -> Value:
        return self.across[k] if k < len(self.across) else i64(1)

    def _down(self, k: int) -> Value:
        if k < len(self.down):
            return self.down[k]
        if any(fold.terms == k and fold.in_any_order for sweep in self.kernel.sweeps for fold in sweep.folds):
            return i64(0)
        is_terms = self.kernel.buffers[k - len(self.down)].kind is BufferKind.TERMS
        return i64(COLUMNS if is_terms else 0)

    def _group(self, k: int) -> Value:
        return self.group[k] if k < len(self.group) else i64(0)

    def _run(self, number: int, sweep: SweepCall, loops: Sequence[Walk], row: Value | None) -> None:
        """Emit a call over `loops`; streams start at `row`, if it is given."""
        f, call = self.f, self.calls[number]
        params = [extent for extent, _ in loops]
        params += [stride(k) for k in sweep.operands for _, stride in loops]
        for index, param in enumerate(params):
            call.set_param(index, param)
        operands = []
        for k in sweep.operands:
            address = self.addresses[k]
            if row is not None and k < len(self.down):
                address = f.element(address, f.elements[k], f.mul(row, self.down[k]))
            operands.append(address)
        call.run(*operands)


@lru_cache(maxsize=64)
def column_functions(
    name: str, combine: Callable[..., Value], identity: float, in_any_order: bool, isa: HostIsa
) -> Functions:
    """The functions of a reduction: ``fill`` and ``halve`` accumulators, ``push`` a block's result, ``finish``.

    Args:
        name: Prefix of their symbols, before a dot.
        combine: ``combine(b, x, y)`` over ops/language/emit.py.
        identity: The initial value of accumulators.
        in_any_order: Whether there is one row of accumulators instead of `CHAINS`.
        isa: The instruction set, which determines the lanes of a vector.
    """
    chains, rows, target = 1 if in_any_order else CHAINS, _Rows(name), Parameter("result", PTR)
    module = ModuleText()

    def copied(f: FunctionBuilder, lowest: Value) -> Value:
        f.copy_bytes(f.parameters[2], lowest, i64(FLOAT.nbytes * COLUMNS))
        return f.parameters[2]

    definitions = (
        _combine(name, combine, isa, module),
        _fill(name, identity, chains, isa, module),
        _halve(name, chains, module),
        push(name, rows, module),
        finish(name, rows, module, copied, target),
    )
    return Functions(definitions, module)


@dataclass(frozen=True)
class _Rows:
    """The results of blocks of rows: rows of floats in memory.

    Attributes:
        name: Prefix of the symbol of ``combine``.
    """

    name: str
    type = PTR
    floats = COLUMNS

    def combined(self, f: FunctionBuilder, own: Value, level: Value) -> Value:
        f.call(VOID, f"{self.name}.combine", own, level, i64(COLUMNS))
        return own

    def keep(self, f: FunctionBuilder, own: Value, level: Value) -> None:
        f.copy_bytes(level, own, i64(FLOAT.nbytes * COLUMNS))


def _combine(name: str, combine: Callable[..., Value], isa: HostIsa, module: ModuleText) -> str:
    """The function ``combine(ptr into, ptr from, i64 count)``, which combines floats into other floats."""
    parameters = Parameter("into", PTR), Parameter("from", PTR), Parameter("count", I64)
    f = FunctionBuilder(f"{name}.combine", module, parameters, is_internal=True)
    into, source, count = f.parameters
    vector = FLOAT.times(isa.lanes)
    with f.count("at", count, step=isa.lanes) as chunk:
        to = f.element(into, FLOAT, chunk.index, "to")
        x = f.load(vector, to, FLOAT.nbytes, "x")
        y = f.load(vector, f.element(source, FLOAT, chunk.index), FLOAT.nbytes, "y")
        f.store(combine(LlvmVector(isa, module, f.body), x, y), to, FLOAT.nbytes)
    return f.build()


def _fill(name: str, identity: float, chains: int, isa: HostIsa, module: ModuleText) -> str:
    """The function ``fill(ptr into)``, which initializes accumulators."""
    f = FunctionBuilder(f"{name}.fill", module, [Parameter("into", PTR)], is_internal=True)
    start = LlvmVector(isa, module, f.body).const(identity)
    with f.count("at", chains * COLUMNS, step=isa.lanes) as chunk:
        f.store(start, f.element(f.parameters[0], FLOAT, chunk.index), FLOAT.nbytes)
    return f.build()


def _halve(name: str, chains: int, module: ModuleText) -> str:
    """The function ``halve(ptr chains)``, which folds rows of accumulators into the first."""
    f = FunctionBuilder(f"{name}.halve", module, [Parameter("chains", PTR)], is_internal=True)
    (first,) = f.parameters
    for level in range(1, chains.bit_length()):
        count = i64((chains >> level) * COLUMNS)
        f.call(VOID, f"{name}.combine", first, f.element(first, FLOAT, count), count)
    return f.build()
