"""Kinds of parameters of operations: each kind binds, keys and prints its values in its own way."""

from __future__ import annotations

import enum
import math
from collections.abc import Hashable
from typing import Any, ClassVar

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.numpy_scalar import python_number
from ttnn_jit.foreign.values import atom_key
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.extents.extent import applied, is_extent, specialized
from ttnn_jit.specs.extents.float_functions import float32
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorSpec

Number = bool | int | float


def are_numbers(value: Any) -> bool:
    """Whether `value` is a number, or a nest of lists and tuples of at least one number and nothing else."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(are_numbers, value))
    return isinstance(python_number(value), Number)


@dataclass(frozen=True)
class Kind:
    """The kind of a parameter; each subclass binds, keys and prints its values in its own way.

    Attributes:
        annotation: The Python type of an argument in signatures and stubs.
        wanted: The expected value, as text of errors.
        property_type: MLIR type of the property that holds the value; empty where the IR has an operand, or nothing.
        accepts_none: None is a valid value, and so a valid default.
        omits_none: The op has no operand, or no property, where the value is None.
    """

    annotation: str
    wanted: str = ""
    property_type: str = ""
    accepts_none: bool = False
    omits_none: ClassVar[bool] = False

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:  # noqa: ARG002 - of a kind without rules
        """The argument as a value of builders and the IR.

        Args:
            value: The caller's argument.
            dtype: Its dtype if it is a tensor, else None.
            what: The parameter's name in errors.

        Raises:
            ArgumentError: `value` is not of this kind.
        """
        return value

    def default_of(self, default: Any, dtype: DataType) -> Any:  # noqa: ARG002 - for the kinds that depend on it
        """The value of an omitted argument, declared with `default`, beside tensors of `dtype`."""
        return default

    def key(self, value: Any) -> Hashable:
        """The part of a cache key for a bound value."""
        return atom_key(value)

    def text(self, value: Any) -> str:
        """A default as source text of a signature."""
        return repr(value)

    def annotation_of(self, default: Any) -> str:  # noqa: ARG002 - for the kinds that depend on it
        """The annotation of a parameter declared with `default`."""
        return self.annotation


@dataclass(frozen=True)
class TensorKind(Kind):
    """A tensor, which is an operand of the op.

    Attributes:
        or_number: A Python number is accepted as well.
        per_channel: A vector holds a number per channel (dimension 1 of the first operand), not per column.
    """

    or_number: bool = False
    per_channel: bool = False

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:
        """A tensor unchanged, a number as Python's; `bind` of the call converts it to the type of the tensors."""
        if dtype is not None:
            return value
        value = python_number(value)
        if not self.or_number or not isinstance(value, Number):
            listed = isinstance(value, (list, tuple)) and are_numbers(value)
            way = "; make one of the numbers before the call: `torch.tensor(...)`" if listed else ""
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}{way}")
        return value

    def default_of(self, default: Any, dtype: DataType) -> Any:
        """`default`; for an infinity the largest or smallest number of a `dtype` of integers."""
        if dtype.is_integer and isinstance(default, float) and math.isinf(default):
            return dtype.values[-1 if default > 0 else 0]
        return default

    def key(self, value: TensorSpec | float) -> Hashable:
        """A tensor's spec, a number's bits."""
        return value if isinstance(value, TensorSpec) else atom_key(value)

    def text(self, value: float) -> str:
        """The shortest decimal of six digits."""
        return f"{value:g}"


class OptionalTensorKind(TensorKind):
    """A tensor, or None: the op has no operand for it then."""

    omits_none = True

    def text(self, value: Any) -> str:
        """Python's text."""
        return str(value)


class TensorsKind(TensorKind):
    """Tensors in a list or tuple, each an operand of the op; there is at least one."""


@dataclass(frozen=True)
class FloatKind(Kind):
    """A number at compile time."""

    property_type: str = "f32"

    def bind(self, value: Any, dtype: DataType | None, what: str) -> float:  # noqa: ARG002 - numbers have none
        """The nearest float32."""
        value = python_number(value)
        if not isinstance(value, Number):
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}")
        return as_float32(as_float(value))

    def key(self, value: float) -> Hashable:
        """Its bits: 0.0 and -0.0 differ, and NaN equals NaN."""
        return atom_key(float(value))

    def text(self, value: float) -> str:
        """The shortest decimal of six digits."""
        return f"{value:g}"


class OptionalFloatKind(FloatKind):
    """A number, or None: the op has no property for it then."""

    omits_none = True

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:
        """The nearest float32, or None."""
        return None if value is None else super().bind(value, dtype, what)

    def key(self, value: Any) -> Hashable:
        """Its bits, or None."""
        return None if value is None else super().key(value)

    def text(self, value: Any) -> str:
        """Python's text."""
        return str(value)


class LimitKind(FloatKind):
    """A number whose default is the largest or, if negative, smallest number of the tensors' dtype."""

    def default_of(self, default: float, dtype: DataType) -> float:
        """The largest number of `dtype`, with the sign of `default`."""
        return math.copysign(dtype.traits.largest, default)


@dataclass(frozen=True)
class IntKind(FloatKind):
    """An integer of a range whose members are exact in float32; its property is a float32.

    Attributes:
        values: The range.
    """

    values: range = range(0)

    def bind(self, value: Any, dtype: DataType | None, what: str) -> float:
        """The integer, as a float."""
        value = specialized(python_number(value))
        bound = super().bind(value, dtype, what)
        if value not in self.values:
            raise ArgumentError(f"{what} must be {self.wanted}, got {value}")
        return bound


class BoolKind(FloatKind):
    """True or False; its property is the float32 1 or 0."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> float:
        """1.0, or 0.0 for zero."""
        return float(bool(super().bind(value, dtype, what)))


class ExactKind(Kind):
    """Values that are their own part of a key: equal values are the same (unlike 0.0 and -0.0)."""

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

    omits_none = True

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
        """The nearest float32 of each, as a tuple."""
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
    """One dimension or several, counted from the end where negative; None and an empty list mean all."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> tuple[int, ...]:
        """The ints as a tuple, empty for all dimensions."""
        if value is None:
            return ()
        listed = value if isinstance(value, (list, tuple)) else (value,)
        return super().bind(listed, dtype, what)

    def text(self, value: tuple[int, ...] | None) -> str:
        """Python's text."""
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
    if type(value) is not int and not is_extent(value):
        raise ArgumentError(f"{what} must be {wanted}, got {value if isinstance(value, float) else type_name(value)}")
    number: int = value
    return number


class NameKind(Kind):
    """A name, or None: the op has no property for it then."""

    omits_none = True

    def bind(self, value: Any, dtype: DataType | None, what: str) -> str | None:  # noqa: ARG002 - names have none
        """The str."""
        if value is not None and type(value) is not str and not _is_activation(value):
            raise ArgumentError(f"{what} must be {self.wanted}, got {type_name(value)}")
        name: str | None = value
        return name


def _is_activation(value: Any) -> bool:
    """Whether it is the text of an activation with numbers, which host functions make of their configs."""
    from ttnn_jit.ops.language.activation_names import ActivationText

    return isinstance(value, ActivationText)


class ActivationKind(NameKind):
    """A unary activation by name, `UnaryOpType` or `UnaryWithParam`, or None; the IR holds the text of its call."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> str | None:
        """The text (ops/language/activation_names.py)."""
        from ttnn_jit.ops.language.activation_names import activation_text
        from ttnn_jit.specs.configs.unary_op_type import UnaryOpType, UnaryWithParam

        is_type = isinstance(value, UnaryOpType | UnaryWithParam)
        named: Any = value if is_type else super().bind(value, dtype, what)
        return None if named is None else activation_text(named)


@dataclass(frozen=True)
class NumberKind(Kind):
    """A number of the operands' element type; integers are not converted to floats."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Number:  # noqa: ARG002 - the operation knows it
        """The Python number."""
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
    """A keyword with one fixed value, which selects among overloads."""

    def annotation_of(self, default: Any) -> str:
        """The literal type of the value."""
        return "None" if default is None else f"Literal[{default!r}]"


class InstanceKind(Kind):
    """An instance of one class, or None."""

    def required_class(self) -> type:
        """The class; some kinds import it only here."""
        raise NotImplementedError

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:  # noqa: ARG002 - instances have none
        """The instance itself."""
        if value is not None:
            check_kind(value, self.required_class(), what)
        return value


class ConfigKind(InstanceKind):
    """The memory config of the result."""

    def required_class(self) -> type:
        """The class of memory configs."""
        return MemoryConfig


class DTypeKind(InstanceKind):
    """The element type of the result."""

    def required_class(self) -> type:
        """The class of dtypes."""
        return DataType


class LayoutKind(ExactKind):
    """The layout of the result; None, where it is valid, leaves the choice to the operation."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:  # noqa: ARG002 - layouts have none
        """The layout itself."""
        if value is not None or not self.accepts_none:
            check_kind(value, Layout, what)
        return value

    def text(self, value: Layout | None) -> str:
        """The name in ttnn."""
        return "None" if value is None else f"ttnn.{value.name}_LAYOUT"


@dataclass(frozen=True)
class MemberKind(Kind):
    """A member of an enumeration; the IR holds its name.

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
        """The name in ttnn."""
        return f"ttnn.{value}"


class ElementTypeKind(Kind):
    """An element type that is part of the computed function, and not only the storage type of the result."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> DataType:  # noqa: ARG002 - it is one
        """The dtype itself."""
        return check_kind(value, DataType, what)

    def key(self, value: DataType) -> Hashable:
        """Its name."""
        return value.name


def as_float(value: float) -> float:
    """A number as a float; that of a trace keeps its expression.

    Raises:
        OverflowError: An int is beyond the range of floats.
    """
    number: float = applied(float, value)
    return number


def as_float32(value: float) -> float:
    """`value` rounded to float32; an infinity of its sign beyond the range of float32."""
    nearest: float = applied(float32, value)
    return nearest
