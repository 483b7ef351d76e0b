"""Sweeps: the loops over a row of a kernel that reduces a loop, one after the other.

A reduction's result is there when its loop has ended, so that what depends on it is computed in a later sweep over the
same row, which the caches still hold. What one element of a row's results is made of, such as a mean, is a sweep over
one element. Values that cross sweeps are kept in a row buffer; a tensor's elements are loaded again instead.

Where the loop around the innermost one is reduced, rows are columns: a block of elements that lie beside each other is
what an element is above, and values that cross sweeps are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ttnn_jit.codegen.stages import StageWriter
from ttnn_jit.codegen.steps import Accumulate, Apply, Cast, KernelBody, Load, Reduced, Step, Store, operands_of
from ttnn_jit.codegen.sweep import Fold, Sweep
from ttnn_jit.nest.buffers import LEVEL_BYTES, LEVELS, MAX_STACK_BYTES, Buffer, BufferKind
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.specs.dtypes import COMPUTE_TYPE


def fits_stack(body: KernelBody, reduced: Reduced) -> bool:
    """Whether the buffers of a body that reduces fit on a thread's stack."""
    sweeps, buffers = swept(body)
    in_rows = reduced.loop == 0
    if any(buffer.kind is BufferKind.ROW for buffer in buffers) and not (in_rows and reduced.is_short):
        return False
    folds = sum(len(sweep.folds) for sweep in sweeps)
    held = sum(buffer.row_bytes if in_rows else buffer.column_bytes for buffer in buffers)
    return held + folds * (4 * LEVELS if in_rows else LEVEL_BYTES) <= MAX_STACK_BYTES


def swept(
    body: KernelBody, *, of_words: bool = True, in_registers: bool = False
) -> tuple[tuple[Sweep, ...], tuple[Buffer, ...]]:
    """The sweeps of a body that reduces a loop, in execution order, and buffers, numbered after the body's streams.

    Args:
        body: Of the kernel.
        of_words: Whether bfloat16 is reduced where it is read.
        in_registers: Whether what a sweep over a row computes is reduced in its loop.
    """
    memory = _Memory(body, of_words=of_words, in_registers=in_registers)
    numbers = sorted(set(memory.order.sweep.values()))
    return tuple(_sweep(memory, number) for number in numbers), tuple(memory.buffers)


class _Memory:
    """Where the tiles of a body that reduces are between its sweeps, and what these reduce.

    Attributes:
        body: It.
        order: In which sweep each step is.
        in_rows: Whether sweeps run over rows.
        buffers: Numbered after the body's streams.
        crossing: Steps whose tiles a later sweep needs, with the numbers of their buffers.
        stored: Reductions whose operand is stored, with the numbers of the buffers that get it.
        terms: Reductions, with the numbers of the streams or buffers that hold what is reduced.
        folded: Those of them that their sweep's loop reduces.
        reduced_alone: Casts of bfloat16 that nothing but reductions of the words reads.
    """

    def __init__(self, body: KernelBody, *, of_words: bool, in_registers: bool) -> None:
        assert body.reduced is not None, "it reduces a loop"
        self.body, self.order, self.in_rows = body, _Order(body, body.reduced), body.reduced.loop == 0
        self.buffers: list[Buffer] = []
        wide = self.order.wide
        self.crossing = {
            index: self._buffer(BufferKind.ROW if wide[index] else BufferKind.ELEMENT, index)
            for index in self.order.crossing
        }
        self.stored: dict[int, int] = {}
        self.terms: dict[int, int] = {}
        self.folded: set[int] = set()
        widened: set[int] = set()
        for index, step in enumerate(body.steps):
            if not isinstance(step, Accumulate):
                continue
            words = _held_words(body, step.operand) if self.in_rows else None
            held = _held(body, step.operand, self.order, self.crossing) if self.in_rows else None
            is_computed = self.order.sweep.get(step.operand) == self.order.sweep[index]
            if in_registers and self.in_rows and is_computed and words is None:
                held = self.stored[index] = self._buffer(BufferKind.FOLDED, index)
                self.folded.add(index)
            elif held is None and of_words and words is not None:
                held = words
                widened.add(step.operand)
            elif held is None:
                held = self.stored[index] = self._buffer(BufferKind.TERMS, index)
            self.terms[index] = held
        self.reduced_alone = widened - {
            operand
            for index, step in enumerate(body.steps)
            for operand in operands_of(step)
            if not isinstance(step, Accumulate) or index in self.stored
        }

    def _buffer(self, kind: BufferKind, index: int) -> int:
        is_term = kind in {BufferKind.TERMS, BufferKind.FOLDED}
        self.buffers.append(Buffer(kind, COMPUTE_TYPE if is_term else self.body.dtype_of(index)))
        return len(self.body.streams) + len(self.buffers) - 1


def _sweep(memory: _Memory, number: int) -> Sweep:
    """A sweep of a body; even ones run over the row."""
    body, in_columns, whole_row = memory.body, not memory.in_rows, number % 2 == 0
    group = [index for index, own in memory.order.sweep.items() if own == number and index not in memory.reduced_alone]
    streams = _streams(body, memory.buffers, whole_row=whole_row)
    folds = tuple(
        Fold(step.tile_name, memory.terms[index], memory.crossing[index], index in memory.folded)
        for index in group
        if isinstance(step := body.steps[index], Accumulate)
    )
    own = memory.crossing, memory.stored, memory.folded, in_columns, 2 if whole_row and in_columns else 0
    return Sweep(StageWriter(body, streams, *own).stage(group), whole_row, folds)


def _held(body: KernelBody, operand: int, order: _Order, crossing: Mapping[int, int]) -> int | None:
    """The number of the stream or row buffer that holds what is reduced, in float32, one element beside the other."""
    step = body.steps[operand]
    if not body.dtype_of(operand).is_compute_type:
        return None
    if not isinstance(step, Load):
        return crossing.get(operand) if order.wide[operand] else None
    return step.stream if body.streams[step.stream].access is InnerAccess.CONTIGUOUS else None


def _held_words(body: KernelBody, operand: int) -> int | None:
    """The number of the stream that holds what is reduced in bfloat16, one element beside the other."""
    step = body.steps[operand]
    if not isinstance(step, Cast) or not step.dtype.is_compute_type:
        return None
    source = body.steps[step.operand]
    if not isinstance(source, Load):
        return None
    stream = body.streams[source.stream]
    return source.stream if stream.access is InnerAccess.CONTIGUOUS and stream.dtype.is_upper_half else None


def _streams(body: KernelBody, buffers: Iterable[Buffer], *, whole_row: bool) -> list[Stream]:
    """The kernel's streams and its buffers as a sweep accesses them."""
    in_columns = body.reduced is not None and body.reduced.loop == 1
    if in_columns:
        return [*body.streams, *(Stream(each.dtype, InnerAccess.CONTIGUOUS) for each in buffers)]
    if not whole_row:
        dtypes = (*(each.dtype for each in body.streams), *(each.dtype for each in buffers))
        return [Stream(dtype, InnerAccess.SCALAR) for dtype in dtypes]
    of_buffers = {BufferKind.ELEMENT: InnerAccess.SCALAR, BufferKind.FOLDED: InnerAccess.FOLDED}
    return [*body.streams, *(Stream(each.dtype, of_buffers.get(each.kind, InnerAccess.CONTIGUOUS)) for each in buffers)]


class _Order:
    """In which sweep each step but a load is computed: even numbers run over the row, odd ones over one element.

    Attributes:
        sweep: By step, in an order in which operands come first.
        wide: By step, whether it differs along the row.
        crossing: The steps whose tiles a later sweep needs.
    """

    def __init__(self, body: KernelBody, reduced: Reduced) -> None:
        self._steps = body.steps
        self._moving = reduced.moving
        self.wide: list[bool] = []
        self.sweep: dict[int, int] = {}
        for index, step in enumerate(body.steps):
            self.wide.append(self._is_wide(step))
            if not isinstance(step, Load):
                self.sweep[index] = self._earliest(index, step)
        self._postpone()
        self.crossing = self._crossing()

    def _is_wide(self, step: Step) -> bool:
        if isinstance(step, Load | Store) and self._moving[step.stream]:
            return True
        return not isinstance(step, Accumulate) and any(self.wide[operand] for operand in operands_of(step))

    def _runs_over_row(self, index: int) -> bool:
        return self.wide[index] or isinstance(self._steps[index], Accumulate)

    def _earliest(self, index: int, step: Step) -> int:
        parity = 0 if self._runs_over_row(index) else 1
        first = max((self._after(operand) for operand in operands_of(step) if operand in self.sweep), default=-1)
        return first + (first + parity) % 2

    def _after(self, operand: int) -> int:
        """The first sweep in which the tile of an earlier step is there."""
        own = self.sweep[operand]
        return own + 1 if isinstance(self._steps[operand], Accumulate) else own

    def _postpone(self) -> None:
        """Moves steps that read tensors alone to the first sweep that needs them, which loads these again."""
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
