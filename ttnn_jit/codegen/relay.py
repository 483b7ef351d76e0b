"""Which parts a body of many inputs is run in, one after the other over a stretch of elements (kernels/relayed.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ttnn_jit.codegen.steps import KernelBody, Load, Step, Store, operands_of, with_operands
from ttnn_jit.kernels.tile_loop import Access, Stream
from ttnn_jit.target import Numerics
from ttnn_jit.tensor_spec import DataType

MOST_INPUTS = 8
"""Contiguous streams that a part reads: 6 and 11 take a tenth longer."""


@dataclass(frozen=True)
class Part:
    """A part of a body.

    Attributes:
        body: As a kernel of its own.
        operands: Per stream of its, the number of the whole's stream; beyond those, of a tile that is handed on.
    """

    body: KernelBody
    operands: tuple[int, ...]


@dataclass(frozen=True)
class Relay:
    """A body in parts, in order, and the tiles that they hand on."""

    parts: tuple[Part, ...]
    handed: tuple[Stream, ...]


def relay_of(body: KernelBody) -> Relay | None:
    """The parts of a body whose inputs are too many for one loop; None if they are not, or not all in one run.

    Within the caches a loop of 31 inputs is a sixth faster whole. But not one of bfloat16 that rounds after every
    operation: a chunk's chain of them is then longer than what a processor looks ahead, which leaves it idle.
    """
    one_run = not body.rank and all(stream.access is not Access.STRIDED for stream in body.streams)
    inputs = [stream for stream in body.streams if stream.access is Access.CONTIGUOUS and not stream.written]
    from_memory = any(stream.around_caches for stream in body.streams)
    rounds_often = body.numerics is Numerics.DEVICE and all(s.dtype is DataType.BFLOAT16 for s in body.streams)
    if not one_run or len(inputs) <= MOST_INPUTS or not (from_memory or rounds_often):
        return None
    groups = list(_groups(body))
    home = {index: number for number, group in enumerate(groups) for index in group}
    handed: dict[int, int] = {}
    for index, number in home.items():
        for operand in operands_of(body.steps[index]):
            if home.get(operand, number) != number:
                handed.setdefault(operand, len(body.streams) + len(handed))
    parts = tuple(_PartWriter(body, handed).part(group) for group in groups)
    return Relay(parts, tuple(Stream(body.dtype_of(index), Access.CONTIGUOUS) for index in handed))


def _groups(body: KernelBody) -> Iterator[list[int]]:
    """The steps but the loads in order, a new group where one would need too many inputs."""
    group: list[int] = []
    streams: set[int] = set()
    for index, step in enumerate(body.steps):
        if isinstance(step, Load):
            continue
        loads = (body.steps[operand] for operand in operands_of(step))
        needed = {load.stream for load in loads if isinstance(load, Load)}
        if len(streams | needed) > MOST_INPUTS:
            yield group
            group, streams = [], set()
        group.append(index)
        streams |= needed
    yield group


@dataclass
class _PartWriter:
    """Writes a group of `body`'s steps as a body; `handed` are the tiles that cross groups, with their numbers."""

    body: KernelBody
    handed: dict[int, int]
    steps: list[Step] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    read: dict[int, int] = field(default_factory=dict)

    def part(self, group: list[int]) -> Part:
        """The part: it loads tiles from elsewhere, and stores those that others need."""
        stored: list[tuple[int, int]] = []
        for index in group:
            match step := self.body.steps[index]:
                case Store():
                    stored.append((self._place(step.operand), step.stream))
                case _:
                    renamed = with_operands(step, self._place)
                    self.places[index] = len(self.steps)
                    self.steps.append(renamed)
            if index in self.handed:
                stored.append((self.places[index], self.handed[index]))
        stores = [Store(place, len(self.read) + k) for k, (place, _) in enumerate(stored)]
        streams = [self._stream(number) for number in self.read]
        streams += [replace(self._stream(number), written=True) for _, number in stored]
        steps = (*self.steps, *stores)
        body = replace(self.body, streams=tuple(streams), steps=steps, many=False)
        return Part(body, (*self.read, *(number for _, number in stored)))

    def _place(self, operand: int) -> int:
        """Where the tile of the whole's step `operand` is, loaded if it is from elsewhere."""
        if operand not in self.places:
            step = self.body.steps[operand]
            number = step.stream if isinstance(step, Load) else self.handed[operand]
            self.places[operand] = len(self.steps)
            self.steps.append(Load(self.read.setdefault(number, len(self.read)), None))
        return self.places[operand]

    def _stream(self, number: int) -> Stream:
        if number < len(self.body.streams):
            return self.body.streams[number]
        index = next(index for index, own in self.handed.items() if own == number)
        return Stream(self.body.dtype_of(index), Access.CONTIGUOUS)
