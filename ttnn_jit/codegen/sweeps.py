"""Sweeps: the loops over one row of a kernel that reduces its innermost loop, one after the other.

A reduction's result is there when its loop has ended, so that what depends on it is computed in a later sweep over the
same row, which the caches still hold. What one element of a row's results is made of, such as a mean, is a sweep over
one element. Values that cross sweeps are kept in a row buffer; a tensor's elements are loaded again instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ttnn_jit.codegen.stages import Stage, StageWriter
from ttnn_jit.codegen.steps import Accumulate, Apply, Cast, KernelBody, Load, Step, Store, operands_of
from ttnn_jit.kernels.swept_loops import MAX_ROW_BUFFERS, MAX_ROW_ELEMENTS, Buffer, BufferKind
from ttnn_jit.kernels.tile_loop import InnerAccess, Stream
from ttnn_jit.specs.dtypes import COMPUTE_TYPE


@dataclass(frozen=True)
class Fold:
    """A reduction that a sweep computes.

    Attributes:
        tile_name: Of its operation.
        terms: The number of the stream that is reduced, or of the buffer that holds a block of what is.
        result: The number of the buffer that gets the result.
    """

    tile_name: str
    terms: int
    result: int


@dataclass(frozen=True)
class Sweep:
    """One loop over a row, or over the one element that a row's results are.

    Attributes:
        stage: What it computes.
        whole_row: Whether it runs over the row.
        folds: What it reduces.
    """

    stage: Stage
    whole_row: bool
    folds: tuple[Fold, ...]


@dataclass(frozen=True)
class SweptBody:
    """A kernel's body as sweeps.

    Attributes:
        sweeps: In execution order.
        buffers: Numbered after the kernel's streams.
    """

    sweeps: tuple[Sweep, ...]
    buffers: tuple[Buffer, ...]


def fits_row_buffers(body: KernelBody, extent: int) -> bool:
    """Whether the values that cross the sweeps of a body over rows of that extent can be kept in row buffers."""
    rows = sum(buffer.kind is BufferKind.ROW for buffer in swept(body).buffers)
    return rows == 0 or (rows <= MAX_ROW_BUFFERS and extent <= MAX_ROW_ELEMENTS)


def swept(body: KernelBody) -> SweptBody:
    """The sweeps of a body that reduces."""
    order = _Order(body)
    numbers = len(body.streams)
    buffers: list[Buffer] = []

    def buffer(kind: BufferKind, index: int) -> int:
        buffers.append(Buffer(kind, COMPUTE_TYPE if kind is BufferKind.TERMS else body.dtype_of(index)))
        return numbers + len(buffers) - 1

    crossing = {
        index: buffer(BufferKind.ROW if order.wide[index] else BufferKind.ELEMENT, index) for index in order.crossing
    }
    terms: dict[int, int] = {}
    for index, step in enumerate(body.steps):
        if isinstance(step, Accumulate):
            stream = _stream_to_fold(body, body.steps[step.operand])
            terms[index] = buffer(BufferKind.TERMS, index) if stream is None else stream
    sweeps = []
    for number in sorted(set(order.sweep.values())):
        whole_row = number % 2 == 0
        group = [index for index, own in order.sweep.items() if own == number]
        streams = _streams(body.streams, buffers, whole_row=whole_row)
        reductions = [(index, step) for index in group if isinstance(step := body.steps[index], Accumulate)]
        folds = tuple(Fold(step.tile_name, terms[index], crossing[index]) for index, step in reductions)
        sweeps.append(Sweep(StageWriter(body, streams, crossing, terms).stage(group), whole_row, folds))
    return SweptBody(tuple(sweeps), tuple(buffers))


def _stream_to_fold(body: KernelBody, step: Step) -> int | None:
    """The stream whose elements are folded where they lie, because nothing is computed of them."""
    if not isinstance(step, Load):
        return None
    stream = body.streams[step.stream]
    return step.stream if stream.dtype.is_compute_type and stream.access is InnerAccess.CONTIGUOUS else None


def _streams(streams: Sequence[Stream], buffers: Iterable[Buffer], *, whole_row: bool) -> list[Stream]:
    """The kernel's streams and its buffers as a sweep accesses them."""
    one = InnerAccess.SCALAR if whole_row else InnerAccess.CONTIGUOUS
    accessed = [replace(each, access=one) if each.access is InnerAccess.SCALAR else each for each in streams]
    of_buffers = {BufferKind.ROW: InnerAccess.CONTIGUOUS, BufferKind.TERMS: InnerAccess.CONTIGUOUS}
    return accessed + [Stream(each.dtype, of_buffers.get(each.kind, one)) for each in buffers]


class _Order:
    """In which sweep each step but a load is computed: even numbers run over the row, odd ones over one element.

    Attributes:
        sweep: By step, in an order in which operands come first.
        wide: By step, whether it differs along the row.
        crossing: The steps whose tiles a later sweep needs.
    """

    def __init__(self, body: KernelBody) -> None:
        self._steps = body.steps
        self._streams = body.streams
        self.wide: list[bool] = []
        self.sweep: dict[int, int] = {}
        for index, step in enumerate(body.steps):
            self.wide.append(self._is_wide(step))
            if not isinstance(step, Load):
                self.sweep[index] = self._earliest(index, step)
        self._postpone()
        self.crossing = self._crossing()

    def _is_wide(self, step: Step) -> bool:
        if isinstance(step, Load | Store) and self._streams[step.stream].access is not InnerAccess.SCALAR:
            return True
        return not isinstance(step, Accumulate) and any(self.wide[operand] for operand in operands_of(step))

    def _runs_over_row(self, index: int) -> bool:
        return self.wide[index] or isinstance(self._steps[index], Accumulate)

    def _earliest(self, index: int, step: Step) -> int:
        parity = 0 if self._runs_over_row(index) else 1
        after = (self._after(operand) for operand in operands_of(step) if operand in self.sweep)
        first = max(after, default=-1)
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
            if not isinstance(step, Apply | Cast) or any(
                operand in self.sweep and self.wide[operand] for operand in operands_of(step)
            ):
                continue
            first = min(self.sweep[user] for user in users[index])
            if (first - self.sweep[index]) % 2 == 0:
                self.sweep[index] = first

    def _crossing(self) -> list[int]:
        found: dict[int, None] = {}
        for index, own in self.sweep.items():
            for operand in operands_of(self._steps[index]):
                if operand in self.sweep and self.sweep[operand] != own:
                    found[operand] = None
        found.update((index, None) for index in self.sweep if isinstance(self._steps[index], Accumulate))
        return list(found)
