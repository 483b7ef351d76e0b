"""What a parameter of an operation may be: each kind binds, keys and prints its values in its own way."""

from __future__ import annotations

import enum
import math
import struct
from collections.abc import Hashable
from typing import Any, ClassVar

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.numpy_scalar import python_number
from ttnn_jit.foreign.values import atom_key
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorSpec

Number = bool | int | float


def are_numbers(value: Any) -> bool:
    """Whether `value` is a number, or a nest of lists and tuples of at least one number and nothing else."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(are_numbers, value))
    return isinstance(python_number(value), Number)


@dataclass(frozen=True)
class Kind:
    """What a parameter may be; each subclass binds, keys and prints its values in its own way.

    Attributes:
        annotation: The Python type of what a caller gives, as signatures and stubs have it.
        wanted: What a value must be, as errors say it.
        property_type: MLIR type of the property that holds the value; empty where the IR has an operand, or nothing.
        has_none: None is a value, so that a default of None may be taken.
        may_lack: The op has no operand, or no property, for None.
    """

    annotation: str
    wanted: str = ""
    property_type: str = ""
    has_none: bool = False
    may_lack: ClassVar[bool] = False

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:  # noqa: ARG002 - of a kind without rules
        """The value as builders and the IR take it.

        Args:
            value: What the caller gave.
            dtype: That of the value, if it is a tensor.
            what: The parameter, as the error names it.

        Raises:
            ArgumentError: It is no value of this kind.
        """
        return value

    def default_of(self, default: Any, dtype: DataType) -> Any:  # noqa: ARG002 - for the kinds that depend on it
        """The value of a parameter declared with `default` that is not given beside tensors of `dtype`."""
        return default

    def key(self, value: Any) -> Hashable:
        """The part of a cache key that stands for a bound value."""
        return atom_key(value)

    def text(self, value: Any) -> str:
        """A default as the call is written."""
        return repr(value)

    def annotation_of(self, default: Any) -> str:  # noqa: ARG002 - for the kinds that depend on it
        """The annotation of a parameter declared with `default`."""
        return self.annotation


@dataclass(frozen=True)
class TensorKind(Kind):
    """A tensor, which is an operand of the op.

    Attributes:
        or_number: A Python number may stand in for it.
        per_channel: It holds a number per channel, dimension 1 of the first operand, and not per column.
    """

    or_number: bool = False
    per_channel: bool = False

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:
        """A tensor as it is, a number as Python has it, of which binding makes one of the type of the tensors."""
        if dtype is not None:
            return value
        value = python_number(value)
        if not self.or_number or not isinstance(value, Number):
            listed = isinstance(value, (list, tuple)) and are_numbers(value)
            way = "; make one of the numbers before the call: `torch.tensor(...)`" if listed else ""
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}{way}")
        return value

    def default_of(self, default: Any, dtype: DataType) -> Any:
        """An infinity stands for the last number of a `dtype` of integers."""
        if dtype.is_integer and isinstance(default, float) and math.isinf(default):
            return dtype.values[-1 if default > 0 else 0]
        return default

    def key(self, value: TensorSpec | float) -> Hashable:
        """A tensor's spec, a number's bits."""
        return value if isinstance(value, TensorSpec) else atom_key(value)

    def text(self, value: float) -> str:
        """As short as it goes."""
        return f"{value:g}"


class OptionalTensorKind(TensorKind):
    """A tensor, or None: the op has no operand for it then."""

    may_lack = True

    def text(self, value: Any) -> str:
        """As Python writes it."""
        return str(value)


class TensorsKind(TensorKind):
    """Tensors in a list or tuple, each an operand of the op; there is at least one."""


@dataclass(frozen=True)
class FloatKind(Kind):
    """A number at compile time."""

    property_type: str = "f32"

    def bind(self, value: Any, dtype: DataType | None, what: str) -> float:  # noqa: ARG002 - numbers have none
        """The float32 nearest to it."""
        value = python_number(value)
        if not isinstance(value, Number):
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}")
        return as_float32(float(value))

    def key(self, value: float) -> Hashable:
        """Its bits: 0.0 and -0.0 differ, and NaN hits."""
        return atom_key(float(value))

    def text(self, value: float) -> str:
        """As short as it goes."""
        return f"{value:g}"


class OptionalFloatKind(FloatKind):
    """A number, or None: the op has no property for it then."""

    may_lack = True

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:
        """The float32 nearest to it, or None."""
        return None if value is None else super().bind(value, dtype, what)

    def key(self, value: Any) -> Hashable:
        """Its bits, or None."""
        return None if value is None else super().key(value)

    def text(self, value: Any) -> str:
        """As Python writes it."""
        return str(value)


class LimitKind(FloatKind):
    """A number whose default is the largest of the tensors' dtype, with the sign of the one declared."""

    def default_of(self, default: float, dtype: DataType) -> float:
        """The largest number of `dtype`, or the smallest."""
        return math.copysign(dtype.traits.largest, default)


@dataclass(frozen=True)
class IntKind(FloatKind):
    """An integer of a range, all of which float32 has: its property is one.

    Attributes:
        values: The range.
    """

    values: range = range(0)

    def bind(self, value: Any, dtype: DataType | None, what: str) -> float:
        """The integer, as a float."""
        bound = super().bind(value, dtype, what)
        if python_number(value) not in self.values:
            raise ArgumentError(f"{what} must be {self.wanted}, got {value}")
        return bound


class BoolKind(FloatKind):
    """True or False; its property is the float32 1 or 0."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> float:
        """1.0, or 0.0 for zero."""
        return float(bool(super().bind(value, dtype, what)))


class ExactKind(Kind):
    """Values that equal each other only where they are the same, and so are their own part of a key."""

    def key(self, value: Hashable) -> Hashable:
        """The value."""
        return value


@dataclass(frozen=True)
class IndexKind(ExactKind):
    """A whole number: a dimension, counted from the end where it is negative, or a count."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> int:  # noqa: ARG002 - numbers have none
        """The int."""
        return _whole_number(value, what, self.wanted)


class OptionalIndexKind(IndexKind):
    """A whole number, or None: the op has no property for it then."""

    may_lack = True

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:
        """The int, or None."""
        return None if value is None else super().bind(value, dtype, what)


@dataclass(frozen=True)
class IndicesKind(ExactKind):
    """Whole numbers: extents, dimensions or indices."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> tuple[int, ...]:  # noqa: ARG002 - numbers have none
        """The ints as a tuple."""
        if not isinstance(value, (list, tuple)):
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}")
        return tuple(_whole_number(each, what, self.wanted) for each in value)

    def text(self, value: tuple[int, ...]) -> str:
        """As a list."""
        return str(list(value))


class FloatsKind(Kind):
    """Numbers at compile time, in a list."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> tuple[float, ...]:  # noqa: ARG002 - numbers have none
        """The float32 nearest to each, as a tuple."""
        if not isinstance(value, (list, tuple)):
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}")
        return tuple(FLOAT_OF_LIST.bind(each, None, f"an element of {what}") for each in value)

    def key(self, value: tuple[float, ...]) -> Hashable:
        """The bits of each."""
        return tuple(map(FLOAT_OF_LIST.key, value))

    def text(self, value: tuple[float, ...]) -> str:
        """As a list."""
        return str(list(value))


FLOAT_OF_LIST = FloatKind("float", "a number")


@dataclass(frozen=True)
class AxesKind(IndicesKind):
    """One dimension or several, counted from the end where they are negative; None, and none listed, are all."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> tuple[int, ...]:
        """The ints as a tuple, empty for all dimensions."""
        if value is None:
            return ()
        listed = value if isinstance(value, (list, tuple)) else (value,)
        return super().bind(listed, dtype, what)

    def text(self, value: tuple[int, ...] | None) -> str:
        """As Python writes it."""
        return str(value)


@dataclass(frozen=True)
class FlagKind(ExactKind):
    """True or False."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> bool:  # noqa: ARG002 - flags have none
        """The bool."""
        value = python_number(value)
        if type(value) is not bool:
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}")
        return value


def _whole_number(value: Any, what: str, wanted: str) -> int:
    value = python_number(value)
    if type(value) is not int:
        raise ArgumentError(f"{what} must be {wanted}, got {value if isinstance(value, float) else type_name(value)}")
    return value


class NameKind(Kind):
    """A name, or None: the op has no property for it then."""

    may_lack = True

    def bind(self, value: Any, dtype: DataType | None, what: str) -> str | None:  # noqa: ARG002 - names have none
        """The str."""
        if value is not None and type(value) is not str:
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}")
        name: str | None = value
        return name


class ActivationKind(NameKind):
    """A function of one tensor, by its name or as a `UnaryWithParam`, or None: the IR has the text of its call."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> str | None:
        """The text (ops/language/activation_names.py)."""
        from ttnn_jit.ops.language.activation_names import activation_text
        from ttnn_jit.specs.configs.unary_op_type import UnaryOpType, UnaryWithParam

        is_type = isinstance(value, UnaryOpType | UnaryWithParam)
        named: Any = value if is_type else super().bind(value, dtype, what)
        return None if named is None else activation_text(named)


@dataclass(frozen=True)
class NumberKind(Kind):
    """A number of the element type of the operands, whichever that is: integers never pass through floats."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Number:  # noqa: ARG002 - the operation knows it
        """The number as Python has it."""
        value = python_number(value)
        if not isinstance(value, Number):
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}")
        return value


@dataclass(frozen=True)
class PairsKind(ExactKind):
    """Two whole numbers for every dimension."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> tuple[tuple[int, int], ...]:  # noqa: ARG002 - numbers have none
        """The pairs as tuples."""
        if not isinstance(value, (list, tuple)):
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}")
        return tuple(self._pair(each, what) for each in value)

    def _pair(self, value: Any, what: str) -> tuple[int, int]:
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)} among them")
        first, second = (_whole_number(each, what, self.wanted) for each in value)
        return first, second


class ChoiceKind(Kind):
    """A keyword that must be as declared: it tells declarations of one name apart."""

    def annotation_of(self, default: Any) -> str:
        """That one value."""
        return "None" if default is None else f"Literal[{default!r}]"


class InstanceKind(Kind):
    """An instance of one class, or None."""

    def required_class(self) -> type:
        """The class, which some kinds load only here."""
        raise NotImplementedError

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:  # noqa: ARG002 - instances have none
        """The instance itself."""
        if value is not None:
            check_kind(value, self.required_class(), what)
        return value


class ConfigKind(InstanceKind):
    """Where the result lies."""

    def required_class(self) -> type:
        """A memory config."""
        return MemoryConfig


class DTypeKind(InstanceKind):
    """The element type of the result."""

    def required_class(self) -> type:
        """A dtype."""
        return DataType


class LayoutKind(ExactKind):
    """How the elements of the result lie; None, where it is a value, leaves that to the operation."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:  # noqa: ARG002 - layouts have none
        """The layout itself."""
        if value is not None or not self.has_none:
            check_kind(value, Layout, what)
        return value

    def text(self, value: Layout | None) -> str:
        """As ttnn names it."""
        return "None" if value is None else f"ttnn.{value.name}_LAYOUT"


@dataclass(frozen=True)
class MemberKind(Kind):
    """A member of an enumeration, by its name in the IR.

    Attributes:
        members: The enumeration.
    """

    members: type[enum.Enum] = enum.Enum

    def bind(self, value: Any, dtype: DataType | None, what: str) -> str:  # noqa: ARG002 - members have none
        """The name of the member."""
        named = self.members.__members__.get(value) if type(value) is str else value
        if not isinstance(named, self.members):
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}")
        return named.name

    def text(self, value: enum.Enum) -> str:
        """As ttnn names it."""
        return f"ttnn.{value}"


class ElementTypeKind(Kind):
    """An element type that decides what is computed, and not only how the result is stored."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> DataType:  # noqa: ARG002 - it is one
        """The dtype itself."""
        return check_kind(value, DataType, what)

    def key(self, value: DataType) -> Hashable:
        """Its name."""
        return value.name


def as_float32(value: float) -> float:
    """`value` as the float32 property that the IR holds; beyond its range, the infinity of that sign."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)
