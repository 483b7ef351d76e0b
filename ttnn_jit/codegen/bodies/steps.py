"""A kernel as a list of steps over one tile of each operand: the form between the scheduled module and LLVM text."""

from __future__ import annotations

import enum
import struct
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ttnn_jit.nest.limits import ENTRIES
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.ops.language.kinds import as_float32
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.process.memoized import KEYS
from ttnn_jit.specs.dtype_traits import ComputeType
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.extents.extent import applied, is_of_trace
from ttnn_jit.specs.extents.float_functions import float32_bits, int32_bits
from ttnn_jit.specs.extents.partial_comparisons import interval_of
from ttnn_jit.specs.product_precision import Multiplication
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of a compute type, by its bits: 0.0 and -0.0 differ, and NaN equals itself."""

    bits: int

    @staticmethod
    def of(value: float) -> Constant:
        """The float32 nearest to `value`, an infinity beyond its range; an int's low 32 bits."""
        if isinstance(value, int):
            bits = applied(int32_bits, value)
            return SymbolicConstant(bits, None) if is_of_trace(bits) else Constant(bits)
        bits = applied(float32_bits, value)
        return SymbolicConstant(bits, as_float32(value)) if is_of_trace(bits) else Constant(bits)

    @property
    def value(self) -> float:
        """The number of a float32."""
        number: float = struct.unpack("<f", self.bits.to_bytes(4, "little"))[0]
        return number

    def in_type(self, compute: ComputeType) -> float:
        """The number of `compute` that has these bits."""
        if not compute.is_integer:
            return self.value
        return int.from_bytes(self.bits.to_bytes(4, "little"), "little", signed=compute.is_signed)


CONSTANT_OF_A_KERNEL = "a constant of a kernel"
"""The use that fixes a number of a trace that cannot be an operand."""


@dataclass(frozen=True, slots=True, eq=False)
class SymbolicConstant(Constant):
    """A constant that is a number of a trace, equal to one of the same expression.

    Attributes:
        number: The float32; None for an integer.
    """

    number: Any

    @property
    def value(self) -> float:
        """The number of a float32."""
        own: float = self.number
        return own

    @property
    def expression(self) -> Hashable:
        """The expression of its bits."""
        bits: Any = self.bits
        terms: Hashable = bits.terms
        return terms

    @property
    def fixed(self) -> Constant:
        """The constant of this compile, to which this use fixes it."""
        traced: Any = self.bits if self.number is None else self.number
        if self.number is None:
            return Constant(traced.trace.specialize(traced, CONSTANT_OF_A_KERNEL))
        return Constant.of(traced.trace.specialize_float(traced, CONSTANT_OF_A_KERNEL))

    def in_type(self, compute: ComputeType) -> float:
        """The number of `compute` that has these bits, to which this use fixes it."""
        return self.fixed.in_type(compute)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicConstant) and other.expression == self.expression

    def __hash__(self) -> int:
        KEYS.have_extents = True
        return hash(self.expression)


@dataclass(frozen=True, slots=True)
class Load:
    """The tile of input `stream`."""

    stream: int
    slot: int | None


@dataclass(frozen=True, slots=True)
class Apply:
    """A tile op: ``d2m.<tile_name>`` of earlier steps' tiles and constants, rounded once to `dtype`.

    Its parameters, `numbers`, are constants, or numbers that earlier steps load.
    """

    tile_name: str
    operands: tuple[int | Constant, ...]
    numbers: tuple[int | Constant, ...]
    dtype: DataType
    slot: int | None

    @property
    def values(self) -> tuple[int | Constant, ...]:
        """Its operands, and behind them its parameters."""
        return (*self.operands, *self.numbers)

    @property
    def constant_numbers(self) -> list[float]:
        """Its parameters, none of which is loaded."""
        return [each.value for each in self.numbers if isinstance(each, Constant)]

    def with_values(self, values: Sequence[int | Constant]) -> Apply:
        """The op with other operands and parameters."""
        count = len(self.operands)
        return replace(self, operands=tuple(values[:count]), numbers=tuple(values[count:]))


@dataclass(frozen=True, slots=True)
class Cast:
    """The tile of an earlier step, rounded or widened to `dtype`."""

    operand: int
    dtype: DataType
    slot: int | None


@dataclass(frozen=True, slots=True)
class Store:
    """Stores the tile of an earlier step to the written stream."""

    operand: int
    stream: int


@dataclass(frozen=True, slots=True)
class LookUp:
    """The entries of the kernel's lookup table for the bfloat16 tile of an earlier step; replaces several steps."""

    operand: int
    dtype: DataType = DataType.BFLOAT16
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Accumulate:
    """The float32 reduction of an earlier step's tile along the reduced loop, by the operation of `tile_name`.

    The result is one element, available when the loop has ended.
    """

    operand: int
    tile_name: str
    dtype: DataType = COMPUTE_TYPE
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """The float32 sum of products of two loaded tiles along the contracted loops (ops/families/contraction.py).

    The result is one element, available when these loops have ended.

    Attributes:
        multiplication: The precision of a chip's multiplications; None: exact.
    """

    left: int
    right: int
    dtype: DataType = COMPUTE_TYPE
    slot: int | None = None
    multiplication: Multiplication | None = None

    @property
    def swapped(self) -> Product:
        """The product of the factors in the other order."""
        multiplication = self.multiplication and self.multiplication.swapped
        return replace(self, left=self.right, right=self.left, multiplication=multiplication)


Step = Load | Apply | Cast | LookUp | Accumulate | Product | Store


class SizeClass(enum.Enum):
    """The number of elements of a launch by class, which bounds the compile time of the kernel.

    Attributes:
        SMALL: At most four tiles.
        MEDIUM: More.
        LARGE: At least 65,536, the number of bfloat16 values: lookup tables and loop fission may be profitable.
    """

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"

    __hash__ = object.__hash__  # members are singletons, and Enum hashes their names in Python

    @staticmethod
    def of(count: int, chosen: Callable[[SizeClass], object] = lambda own: own) -> SizeClass:
        """The class of `count` elements, which may be an extent: classes of equal results of `chosen` are then one."""
        classes = tuple(SizeClass)
        return classes[interval_of(count, LEAST_OF_CLASSES, lambda index: chosen(classes[index]))]


LEAST_OF_CLASSES = (4 * 32 * 32 + 1, ENTRIES)
"""The least number of elements of each class but the first."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """The loop that a body reduces.

    Attributes:
        loop: 0 for the innermost loop, which reduces rows; 1 for the one around it, which reduces columns.
        moving: Per stream, whether it moves along that loop.
        is_short: Whether rows have at most `SHORT_ROW` elements.
    """

    loop: int
    moving: tuple[bool, ...]
    is_short: bool


MANY_STREAMS = 12
"""Most streams whose addresses stay in registers; with more, the tail of a row is copied by a call per stream."""

TWO_VECTORS = 32
"""Elements of a chunk of two of the widest vectors."""


@dataclass(frozen=True, slots=True)
class KernelBody:
    """The computation of a kernel on one element of each stream, without extents.

    Attributes:
        streams: The distinct inputs, then the outputs: dtype, and access along the innermost dimension.
        rank: Loops around the innermost one.
        steps: In execution order. An int operand is the index of the step that computes it; `slot` is the DST slot
            that the step writes, None if it writes none.
        numerics: The rounding of results.
        size_class: The size class of its launches, once it was chosen (codegen/host/host_steps.py).
        is_fused: Whether loop fusion made it from several of the target's kernels.
        reduced: The loop that `Accumulate` reduces; None if there is none.
        has_tails: With more than `MANY_STREAMS`: whether rows are not whole chunks of two vectors.
    """

    streams: tuple[Stream, ...]
    rank: int
    steps: tuple[Step, ...]
    numerics: Numerics
    size_class: SizeClass = SizeClass.MEDIUM
    is_fused: bool = False
    reduced: Reduced | None = None
    has_tails: bool = False

    @property
    def live_tiles(self) -> int:
        """The largest number of tiles that are live at once."""
        last_use = {}
        for index, step in enumerate(self.steps):
            for operand in operands_of(step):
                last_use[operand] = index
        live = peak = 0
        for index, step in enumerate(self.steps):
            live -= sum(last_use[operand] == index for operand in set(operands_of(step)))
            live += index in last_use
            peak = max(peak, live)
        return peak

    @property
    def only_moves(self) -> bool:
        """Whether it computes nothing."""
        return all(isinstance(step, Load | Store) for step in self.steps)

    @property
    def slots(self) -> tuple[tuple[tuple[int, ...], int], ...]:
        """For every op with at least two tile operands: the slots that it reads, and the slot that it writes."""
        found = []
        for step in self.steps:
            if isinstance(step, Apply) and len(read := operands_of(step)) > 1:
                slots = [self._slot(index) for index in read]
                known = tuple(slot for slot in slots if slot is not None)
                if step.slot is not None and len(known) == len(slots):
                    found.append((known, step.slot))
        return tuple(found)

    @property
    def is_all_bfloat16(self) -> bool:
        """Whether all streams but forwarded ones are bfloat16, so two vectors can be the halves of 32-bit integers."""
        moving = (stream for stream in self.streams if stream.access is not InnerAccess.SCALAR and not stream.forwarded)
        return all(stream.dtype.is_upper_half for stream in moving)

    def dtype_of(self, index: int) -> DataType:
        """Element type of the tile of the step at `index`."""
        step = self.steps[index]
        assert not isinstance(step, Store), "a store makes no tile"
        return self.streams[step.stream].dtype if isinstance(step, Load) else step.dtype

    def _slot(self, index: int) -> int | None:
        step = self.steps[index]
        return None if isinstance(step, Store) else step.slot


def contracted_streams(steps: Sequence[Step]) -> tuple[int, int]:
    """The stream numbers of the two contracted operands."""
    step = next(step for step in steps if isinstance(step, Product))
    left, right = steps[step.left], steps[step.right]
    assert isinstance(left, Load), "it is loaded"
    assert isinstance(right, Load), "it is loaded"
    return left.stream, right.stream


def operands_of(step: Step) -> tuple[int, ...]:
    """Indices of the steps whose tiles `step` reads."""
    match step:
        case Load():
            return ()
        case Apply():
            return tuple(operand for operand in step.values if isinstance(operand, int))
        case Product():
            return step.left, step.right
        case Cast() | LookUp() | Accumulate() | Store():
            return (step.operand,)


def with_operands(step: Step, renamed: Callable[[int], int]) -> Step:
    """`step` with other operands."""
    match step:
        case Load():
            return step
        case Apply():
            return step.with_values([renamed(each) if isinstance(each, int) else each for each in step.values])
        case Product():
            return replace(step, left=renamed(step.left), right=renamed(step.right))
        case Cast() | LookUp() | Accumulate() | Store():
            return replace(step, operand=renamed(step.operand))
