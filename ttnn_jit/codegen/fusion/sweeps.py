"""Sweeps: the successive loops over a row in a kernel that reduces a loop.

A reduction's result is complete when its loop ends, so that steps that depend on it run in a later sweep over the same
row, which the caches still hold. Steps on a row's results, such as a mean, are a sweep over one element. Values that
are live across sweeps are kept in a row buffer; elements of a tensor are loaded again instead.

If the loop around the innermost one is reduced, sweeps run over columns. A sweep processes a block of adjacent columns
at a time, and values that are live across sweeps are computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ttnn_jit.codegen.bodies.steps import Accumulate, Apply, Cast, KernelBody, Load, Reduced, Step, Store, operands_of
from ttnn_jit.codegen.schedules.stages import StageWriter
from ttnn_jit.codegen.schedules.sweep import Fold, Sweep
from ttnn_jit.nest.buffers import LEVEL_BYTES, LEVELS, MAX_STACK_BYTES, Buffer, BufferKind
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.specs.dtypes import COMPUTE_TYPE


def fits_stack(body: KernelBody, reduced: Reduced) -> bool:
    """Whether the buffers of a reducing body fit a thread's stack."""
    sweeps, buffers = split_into_sweeps(body)
    in_rows = reduced.loop == 0
    if any(buffer.kind is BufferKind.ROW for buffer in buffers) and not (in_rows and reduced.is_short):
        return False
    folds = sum(len(sweep.folds) for sweep in sweeps)
    held = sum(buffer.row_bytes if in_rows else buffer.column_bytes for buffer in buffers)
    return held + folds * (4 * LEVELS if in_rows else LEVEL_BYTES) <= MAX_STACK_BYTES


def split_into_sweeps(
    body: KernelBody, *, reads_bf16: bool = True, in_registers: bool = False
) -> tuple[tuple[Sweep, ...], tuple[Buffer, ...]]:
    """The sweeps of a reducing body in execution order, and the buffers, numbered behind the body's streams.

    Args:
        body: The kernel's body.
        reads_bf16: Whether reductions read bfloat16 tensors directly.
        in_registers: Whether a sweep over a row reduces the values it computes within its loop.
    """
    assert body.reduced is not None, "it reduces a loop"
    order, in_rows = _Order(body), body.reduced.loop == 0
    kept = _SweepBuffers(body, order, reads_bf16=reads_bf16, in_registers=in_registers and in_rows)
    sweeps = []
    for number in sorted(set(order.sweep.values())):
        whole_row = number % 2 == 0
        group = [index for index, own in order.sweep.items() if own == number and index not in kept.dead_casts]
        streams = _streams(body, kept.buffers, whole_row=whole_row)
        rank = 2 if whole_row and not in_rows else 0
        stage = StageWriter(body, streams, kept.crossing, kept.stored, kept.folded, not in_rows, rank).stage(group)
        sweeps.append(Sweep(stage, whole_row, kept.folds(group)))
    return tuple(sweeps), tuple(kept.buffers)


class _SweepBuffers:
    """The buffers between sweeps, and the reductions of each sweep.

    Attributes:
        buffers: The buffers, numbered behind the body's streams.
        crossing: The buffer of each step whose tile a later sweep reads.
        stored: The buffer of each reduction whose operand its own sweep stores.
        folded: The reductions among those that the sweep's loop reduces.
        dead_casts: Casts of bfloat16 that is reduced as it is read; they have no other reader.
    """

    def __init__(self, body: KernelBody, order: _Order, *, reads_bf16: bool, in_registers: bool) -> None:
        self._body = body
        self._order = order
        self._reads_bf16 = reads_bf16
        self._in_registers = in_registers
        self.buffers: list[Buffer] = []
        self.crossing = {
            index: self._buffer(BufferKind.ROW if order.wide[index] else BufferKind.ELEMENT, index)
            for index in order.crossing
        }
        self.stored: dict[int, int] = {}
        self.folded: set[int] = set()
        self.dead_casts: set[int] = set()
        steps = enumerate(body.steps)
        self._terms = {index: self._source_of(index, step) for index, step in steps if isinstance(step, Accumulate)}
        self.dead_casts -= {
            operand
            for index, step in enumerate(body.steps)
            for operand in operands_of(step)
            if not isinstance(step, Accumulate) or index in self.stored
        }

    def folds(self, group: Sequence[int]) -> tuple[Fold, ...]:
        """The reductions of a group of steps."""
        reductions = [(index, step) for index in group if isinstance(step := self._body.steps[index], Accumulate)]
        return tuple(
            Fold(step.tile_name, self._terms[index], self.crossing[index], index in self.folded)
            for index, step in reductions
        )

    def _buffer(self, kind: BufferKind, index: int) -> int:
        is_term = kind in {BufferKind.TERMS, BufferKind.FOLDED}
        self.buffers.append(Buffer(kind, COMPUTE_TYPE if is_term else self._body.dtype_of(index)))
        return len(self._body.streams) + len(self.buffers) - 1

    def _source_of(self, index: int, step: Accumulate) -> int:
        """The number of the stream or buffer that a reduction reads."""
        body, sweep, operand = self._body, self._order.sweep, step.operand
        in_rows = body.reduced is not None and body.reduced.loop == 0
        words = _held_in_bf16(body, operand) if in_rows else None
        if self._in_registers and words is None and sweep.get(operand) == sweep[index]:
            self.folded.add(index)
            self.stored[index] = self._buffer(BufferKind.FOLDED, index)
            return self.stored[index]
        held = _held(body, operand, self._order, self.crossing) if in_rows else None
        if held is not None:
            return held
        if self._reads_bf16 and words is not None:
            self.dead_casts.add(operand)
            return words
        self.stored[index] = self._buffer(BufferKind.TERMS, index)
        return self.stored[index]


def _held(body: KernelBody, operand: int, order: _Order, crossing: Mapping[int, int]) -> int | None:
    """The number of the contiguous stream or row buffer that holds the reduced operand in float32, if there is one."""
    step = body.steps[operand]
    if not body.dtype_of(operand).is_compute_type:
        return None
    if not isinstance(step, Load):
        return crossing.get(operand) if order.wide[operand] else None
    return step.stream if body.streams[step.stream].access is InnerAccess.CONTIGUOUS else None


def _held_in_bf16(body: KernelBody, operand: int) -> int | None:
    """The number of the contiguous stream that holds the reduced operand in bfloat16, if there is one."""
    step = body.steps[operand]
    if not isinstance(step, Cast) or not step.dtype.is_compute_type:
        return None
    source = body.steps[step.operand]
    if not isinstance(source, Load):
        return None
    stream = body.streams[source.stream]
    return source.stream if stream.access is InnerAccess.CONTIGUOUS and stream.dtype.is_upper_half else None


def _streams(body: KernelBody, buffers: Iterable[Buffer], *, whole_row: bool) -> list[Stream]:
    """The kernel's streams and buffers with the accesses of a sweep."""
    in_columns = body.reduced is not None and body.reduced.loop == 1
    if not in_columns and not whole_row:
        every: list[Stream | Buffer] = [*body.streams, *buffers]
        return [Stream(each.dtype, InnerAccess.SCALAR) for each in every]
    in_rows = {BufferKind.ELEMENT: InnerAccess.SCALAR, BufferKind.FOLDED: InnerAccess.FOLDED}
    of_buffers = {} if in_columns else in_rows
    return [*body.streams, *(Stream(each.dtype, of_buffers.get(each.kind, InnerAccess.CONTIGUOUS)) for each in buffers)]


def wide_steps(body: KernelBody) -> list[bool]:
    """Per step of a reducing body, whether it varies along the row."""
    assert body.reduced is not None, "it reduces a loop"
    wide: list[bool] = []
    for step in body.steps:
        moves = isinstance(step, Load | Store) and body.reduced.moving[step.stream]
        computes = not isinstance(step, Accumulate) and any(wide[operand] for operand in operands_of(step))
        wide.append(moves or computes)
    return wide


class _Order:
    """The sweep of each step but loads: even sweeps run over the row, odd ones over one element.

    Attributes:
        sweep: The sweep of each step, operands first.
        wide: The result of `wide_steps`.
        crossing: The steps whose tiles a later sweep reads.
    """

    def __init__(self, body: KernelBody) -> None:
        self._steps = body.steps
        self.wide = wide_steps(body)
        self.sweep: dict[int, int] = {}
        for index, step in enumerate(body.steps):
            if not isinstance(step, Load):
                self.sweep[index] = self._earliest(index, step)
        self._postpone()
        self.crossing = self._crossing()

    def _runs_over_row(self, index: int) -> bool:
        return self.wide[index] or isinstance(self._steps[index], Accumulate)

    def _earliest(self, index: int, step: Step) -> int:
        parity = 0 if self._runs_over_row(index) else 1
        first = max((self._after(operand) for operand in operands_of(step) if operand in self.sweep), default=-1)
        return first + (first + parity) % 2

    def _after(self, operand: int) -> int:
        """The first sweep that can read the tile of an earlier step."""
        own = self.sweep[operand]
        return own + 1 if isinstance(self._steps[operand], Accumulate) else own

    def _postpone(self) -> None:
        """Sinks steps that read only tensors to the first sweep that needs them, which loads the tensors again."""
        users: dict[int, list[int]] = {}
        for index in self.sweep:
            for operand in operands_of(self._steps[index]):
                users.setdefault(operand, []).append(index)
        for index in reversed(self.sweep):
            step = self._steps[index]
            if not isinstance(step, Apply | Cast) or self._reads_computed_row(step):
                continue
            first = min((self.sweep[user] for user in users.get(index, ())), default=self.sweep[index])
            if (first - self.sweep[index]) % 2 == 0:
                self.sweep[index] = first

    def _reads_computed_row(self, step: Step) -> bool:
        return any(operand in self.sweep and self.wide[operand] for operand in operands_of(step))

    def _crossing(self) -> list[int]:
        found: dict[int, None] = {}
        for index, own in self.sweep.items():
            for operand in operands_of(self._steps[index]):
                if operand in self.sweep and self.sweep[operand] != own:
                    found[operand] = None
        found.update((index, None) for index in self.sweep if isinstance(self._steps[index], Accumulate))
        return list(found)
