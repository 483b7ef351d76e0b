"""The symbolic values of a kernel's execution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation

from ttnn_jit.codegen.bodies.steps import Apply, Constant, Step
from ttnn_jit.dialects.d2m import AccumulatingOp, AcquireDstOp
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import hash_of


@dataclass(frozen=True, slots=True)
class LoopIndex:
    """A loop from 0 with more than one iteration; affine loops of equal depth and bounds are one and the same."""

    loop: object
    upper: int
    step: int

    def __hash__(self) -> int:
        return hash((self.loop, hash_of(self.upper, self.step)))


Index = int | LoopIndex


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a circular buffer: offsets and sizes in tiles."""

    operand: int
    offsets: tuple[Index, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """The tile of a step; `broadcast` is the broadcast within the tile that its reader must apply."""

    step: int
    broadcast: str | None


@dataclass(frozen=True, slots=True)
class Slot:
    """The tile that a DST slot holds at the time of the read."""

    dst: AcquireDstOp
    number: int


@dataclass(frozen=True, slots=True)
class BufferAccess:
    """An access to a circular buffer: per dimension the block loop and the loop within the block."""

    op: Operation
    operand: int
    loops: tuple[tuple[Index, Index], ...]


@dataclass(frozen=True, slots=True)
class Filled:
    """A tile filled with one number, and the loops around its write to a slot."""

    number: Constant
    loops: tuple[LoopIndex, ...] = ()


@dataclass(frozen=True, slots=True)
class Accumulation:
    """The accumulating op: its slot, its step, the loops around the slot's initialization, and those around the op."""

    op: AccumulatingOp
    slot: Slot
    step: int
    outside: tuple[LoopIndex, ...]
    around: tuple[LoopIndex, ...]


Known = Window | Tile | Slot | Filled | LoopIndex | Constant | int | AcquireDstOp


def covers(index: Index, step: int, extent: int) -> bool:
    """Whether `index` takes each multiple of `step` below `extent` once."""
    if isinstance(index, LoopIndex):
        return index.upper == extent and index.step == step
    return index == 0 and step >= extent


@dataclass(frozen=True, slots=True)
class NumberPlace:
    """A value of a step that is a number of an op with a `NUMBERED` attribute.

    Attributes:
        step: The step.
        value: The number of the value among `Apply.values`.
        index: The `NUMBERED` attribute.
        number: Which number of that op it is.
    """

    step: int
    value: int
    index: int
    number: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a kernel's region.

    Attributes:
        steps: The steps on one tile of each stream.
        accumulated: The accumulating op and the reduced dimension; None if no dimension is reduced.
        number_places: The places of numbers that differ in equal kernels.
    """

    steps: Sequence[Step]
    accumulated: tuple[AccumulatingOp, int] | None
    number_places: Sequence[NumberPlace] = ()

    def with_numbers(self, numbers: Sequence[Sequence[float]]) -> Reading:
        """The reading of an equal kernel with numbers of its own (`GenericOp.own_numbers`)."""
        if not self.number_places:
            return self
        steps = [*self.steps]
        for place in self.number_places:
            step = steps[place.step]
            assert isinstance(step, Apply), "numbers are operands and parameters of operations"
            values = [*step.values]
            values[place.value] = Constant.of(numbers[place.index][place.number])
            steps[place.step] = step.with_values(values)
        return replace(self, steps=steps)
