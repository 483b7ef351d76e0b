"""What an operation is: the one declaration from which dialects, frontends, eager API, kernels and tests derive."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ttnn_jit.errors import ArgumentError
from ttnn_jit.kept_property import kept_property
from ttnn_jit.numpy_scalar import python_number
from ttnn_jit.origin import type_name
from ttnn_jit.target import Numerics
from ttnn_jit.tensor_spec import DataType

Number = bool | int | float
FLOATS = frozenset({DataType.FLOAT32, DataType.BFLOAT16})
RESULT_KEYWORDS = ("memory_config", "dtype", "output_tensor", "optional_output_tensor", "activations")
"""Keywords that every eager operation takes besides its own, about its result; inside `@jit` they are ignored."""
HARDWARE_KEYWORDS = (
    "accurate_mode", "fast_and_approximate_mode", "queue_id", "sub_core_grids", "use_legacy", "vector_mode",
)  # fmt: skip
"""Keywords of ttnn's operations that choose among ways to compute the same on a chip: accepted and ignored."""

OPERATOR_METHODS = {
    "neg": "__neg__", "abs": "__abs__", "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__",
    "**": "__pow__", "==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__",
}  # fmt: skip
"""Operator of Python's that an operation may declare -> the special method behind it."""

REFLECTED_METHODS = {symbol: OPERATOR_METHODS[symbol].replace("__", "__r", 1) for symbol in ("+", "-", "*", "/", "**")}
"""The same for a number on the left; comparisons are their own mirror images."""


@dataclass(frozen=True)
class Operand:
    """A tensor operand. A Python number may stand in for it unless it is the operation's only operand.

    Attributes:
        name: Of the parameter.
        default: The number that it is when it is not given.
        aliases: Further keywords that ttnn's versions have for it.
        per_channel: It holds a number per channel, dimension 1 of the first operand, and not per column.
    """

    name: str
    default: float | None = None
    aliases: tuple[str, ...] = ()
    per_channel: bool = False


@dataclass(frozen=True)
class Attribute:
    """A keyword that is a number at compile time and prints as a float32 attribute.

    Attributes:
        name: Of the keyword and of the property.
        default: What it is when it is not given.
        aliases: Further keywords that ttnn's versions have for it.
        default_bfloat16: What it is instead where the tensors are bfloat16: its largest number is not float32's.
        integers: The integers that it may be; None: any number.
    """

    name: str
    default: float
    aliases: tuple[str, ...] = ()
    default_bfloat16: float | None = None
    integers: range | None = None

    def default_of(self, dtype: DataType) -> float:
        """The default for tensors of that dtype."""
        own = self.default_bfloat16 if dtype is DataType.BFLOAT16 else None
        return self.default if own is None else own


@dataclass(frozen=True)
class Probe:
    """Where and how well an operation is tested.

    Attributes:
        domain: Interval of random arguments, beside the special values that every operation is given.
        max_ulp: Bound against the golden in float64, in units in the last place of float32; 0 means correctly rounded.
        max_ulp_bf16: The same for bfloat16 operands and results; 0 means correctly rounded for all inputs. Half a unit
            and a hundredth is what a float32 result within its own bound gives when it is rounded once more.
        max_absolute: An error up to this is within the bound whatever its units: for results that cross zero where no
            argument is exact.
        attributes: The values that attributes are tested with; a sequence about zero if empty.
    """

    domain: tuple[float, float] = (-10.0, 10.0)
    max_ulp: float = 0.0
    max_ulp_bf16: float = 0.0
    max_absolute: float = 0.0
    attributes: tuple[float, ...] = ()


@dataclass(frozen=True)
class DeviceForm:
    """What TTNN itself computes on a chip, where that differs from the function by more than rounding.

    Attributes:
        summary: What it is, and how far from the function.
        emit: Its tile body, used under device numerics.
        golden: An independent statement of the same formula.
        domain: Where the formula is meant to be used; beyond it nothing is stated.
    """

    summary: str
    emit: Callable[..., Any]
    golden: Callable[..., Any]
    domain: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Operation:
    """An elementwise operation: one rounding, whatever its body does inside.

    Attributes:
        name: The Python name, ``ttnn.<name>``. Several declarations may share one (``clamp`` by scalars, by tensors).
        operands: Tensor operands in order.
        attributes: Compile-time numbers after them.
        summary: One sentence for docstrings and tables.
        source: Where the semantics come from.
        emit: The tile body: ``emit(b, *operands, *attributes)`` over ops/emit.py; returns a value.
        golden: An independent statement in torch: ``golden(torch, *operands, *attributes)``.
        probe: How it is tested.
        dtype_from: Index of the operand whose dtype the result has (the first tensor after it, if that is a number).
        ttnn_name: Name in the TTNN dialect, without the dialect; likewise ttir_name, and tile_name in d2m.
        aliases: Further names that eager ttnn has and `@jit` refuses (ttnn.jit document, FAQ).
        operator: The Python operator that spells it, one of `OPERATOR_METHODS`.
        body: Of a user's tile operation, the body as the IR spells it (ops/tile_body.py); the IR's name is ``tile_op``.
        chosen_by: Keywords that may be given with these values only: they tell declarations of one name apart.
        on_device: What device numerics compute instead, if that is another formula.
        chooses: The result is always an operand, perhaps with another sign, or an integer of up to two digits, and
            never a NaN where no operand is one: it needs no rounding that its operands had.
        spreads_nan: A NaN in any tensor gives a NaN, which may so be looked for in the result of a chain of such.
        emit_both_signs: ``emit_both_signs(b, x)`` is (f(x), f(-x)) in the bits of `emit`, where they share work.
        emit_bfloat16: ``emit_bfloat16(b, x, *attributes)`` for a bfloat16 x whose result is rounded to bfloat16 next:
            less work than `emit`, and of all 65,536 arguments the bfloat16 that rounding makes of `emit`, under either
            numerics.
        power: The power of x that it is, of -1, -1/2 and 1/2 (kernels/bfloat16_powers.py).
    """

    name: str
    operands: tuple[Operand, ...]
    summary: str
    source: str
    emit: Callable[..., Any]
    golden: Callable[..., Any]
    probe: Probe = field(default_factory=Probe)
    attributes: tuple[Attribute, ...] = ()
    dtypes: frozenset[DataType] = FLOATS
    dtype_from: int = 0
    ttnn_name: str = ""
    ttir_name: str = ""
    tile_name: str = ""
    aliases: tuple[str, ...] = ()
    operator: str = ""
    body: str = ""
    chosen_by: Mapping[str, Any] = field(default_factory=dict)
    on_device: DeviceForm | None = None
    chooses: bool = False
    spreads_nan: bool = False
    emit_both_signs: Callable[..., tuple[Any, Any]] | None = None
    emit_bfloat16: Callable[..., Any] | None = None
    power: float | None = None

    def __post_init__(self) -> None:
        for attribute, default in (
            ("ttnn_name", self.name),
            ("ttir_name", self.name),
            ("tile_name", f"tile_{self.ttir_name or self.name}"),
        ):
            if not getattr(self, attribute):
                object.__setattr__(self, attribute, default)

    @property
    def arity(self) -> int:
        """Number of tensor operands."""
        return len(self.operands)

    @kept_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the operands and of the attributes after them."""
        return (*(operand.name for operand in self.operands), *(attribute.name for attribute in self.attributes))

    @kept_property
    def renamed_keywords(self) -> dict[str, str]:
        """Further keyword of a parameter -> its name."""
        parameters: tuple[Operand | Attribute, ...] = (*self.operands, *self.attributes)
        return {alias: parameter.name for parameter in parameters for alias in parameter.aliases}

    @property
    def tested_attributes(self) -> tuple[float, ...]:
        """The attributes that the operation is tested and measured with, as float32."""
        about_zero = tuple(-0.75 + 1.5 * k for k, _ in enumerate(self.attributes))
        return tuple(as_float32(value) for value in self.probe.attributes or about_zero)

    def tile_body(self, numerics: Numerics) -> Callable[..., Any]:
        """The `emit` that `numerics` ask for."""
        return self._form(numerics).emit

    def golden_under(self, numerics: Numerics) -> Callable[..., Any]:
        """The golden of `tile_body`."""
        return self._form(numerics).golden

    def _form(self, numerics: Numerics) -> Operation | DeviceForm:
        return self.on_device if self.on_device is not None and numerics is Numerics.DEVICE else self

    @property
    def has_dtype_property(self) -> bool:
        """Whether the TTNN op prints ``dtype``: binary ops do (ttnn.jit document, step 1)."""
        return self.arity == 2 and not self.attributes

    @property
    def signature(self) -> str:
        """The call as it is written, ``clamp(input, *, min=..., max=...)``."""
        names = [o.name if o.default is None else f"{o.name}={o.default:g}" for o in self.operands]
        names += [f"{a.name}={a.default:g}" for a in self.attributes]
        names += [f"{keyword}={value!r}" for keyword, value in self.chosen_by.items()]
        return f"{self.name}({', '.join(names)})"

    @property
    def spelling(self) -> str:
        """The call as it stands in a program."""
        return self.signature if self.body else f"ttnn.{self.signature}"

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


@dataclass(frozen=True)
class BoundCall:
    """A call resolved to one declaration: operands are the caller's tensors or floats, attributes are floats."""

    operation: Operation
    operands: tuple[Any, ...]
    attributes: tuple[float, ...]


def bind(
    overloads: Iterable[Operation],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dtype_of: Callable[[Any], DataType | None],
) -> BoundCall:
    """The first declaration in `overloads` that takes these arguments.

    Args:
        overloads: Declarations that share a Python name, in order of preference.
        args: Positional arguments, tensors (in the caller's sense) or numbers.
        kwargs: Keyword arguments, by operand and attribute name.
        dtype_of: The dtype of the caller's tensors; None of everything else.

    Raises:
        ArgumentError: None fits; the text says why, and what the operation takes.
    """
    of_names, of_values = [], []
    for operation in overloads:
        given = _by_name(operation, args, kwargs)
        if isinstance(given, str):
            of_names.append(given)
            continue
        try:
            result = _bind_one(operation, given, dtype_of)
        except OverflowError as error:
            raise ArgumentError(f"a number among the arguments of `{operation.name}` has no float: {error}") from None
        if isinstance(result, BoundCall):
            return result
        of_values.append(result)
    signatures = " or ".join(f"`{operation.spelling}`" for operation in overloads)
    fixed = "; parameters with a default are fixed where it is defined" if operation.body else ""
    # The declaration whose keywords fit is the one that was meant.
    raise ArgumentError([*of_values, *of_names][0], help=f"the call is written {signatures}{fixed}")


def _bind_one(
    operation: Operation, given: Mapping[str, Any], dtype_of: Callable[[Any], DataType | None]
) -> BoundCall | str:
    operands: list[Any] = []
    dtypes: list[DataType] = []
    for operand in operation.operands:
        value = given.get(operand.name)
        if value is None:
            value = operand.default
        if value is None and operand.name in given:
            return f"`{operand.name}` of `{operation.name}` is None"
        if value is None:
            return f"`{operation.name}` misses its argument `{operand.name}`"
        dtype = dtype_of(value)
        if dtype is not None:
            dtypes.append(dtype)
        elif operation.arity == 1 or not isinstance(value := python_number(value), Number):
            wanted = "a tensor" if operation.arity == 1 else "a tensor or a number"
            return f"`{operand.name}` of `{operation.name}` must be {wanted}, got {type_name(value)}"
        operands.append(float(value) if dtype is None else value)
    if not dtypes:
        return f"`{operation.name}` needs a tensor among its arguments"
    attributes = _attributes(operation, given, dtypes[0])
    return attributes if isinstance(attributes, str) else BoundCall(operation, tuple(operands), attributes)


def _attributes(operation: Operation, given: Mapping[str, Any], dtype: DataType) -> tuple[float, ...] | str:
    attributes = []
    for attribute in operation.attributes:
        value = python_number(given.get(attribute.name))
        if value is None:
            value = attribute.default_of(dtype)
        if not isinstance(value, Number):
            return f"`{attribute.name}` of `{operation.name}` must be a number, got {type_name(value)}"
        if attribute.integers is not None and value not in attribute.integers:
            low, high = attribute.integers[0], attribute.integers[-1]
            return f"`{attribute.name}` of `{operation.name}` must be an integer from {low} to {high}, got {value}"
        attributes.append(as_float32(float(value)))
    return tuple(attributes)


def _by_name(operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | str:
    names = operation.parameter_names
    if len(args) > len(names):
        return f"`{operation.name}` takes at most {len(names)} arguments, got {len(args)}"
    given = dict(zip(names, args, strict=False))
    for keyword, only in operation.chosen_by.items():
        if kwargs.get(keyword, only) != only:
            return f"`{operation.name}` has no form for {keyword}={kwargs[keyword]!r}"
    for keyword, value in kwargs.items():
        name = operation.renamed_keywords.get(keyword, keyword)
        if name in operation.chosen_by:
            continue
        if name not in names:
            return f"`{operation.name}` has no argument `{name}`"
        if name in given:
            return f"`{operation.name}` got two values for `{name}`"
        given[name] = value
    return given


def as_float32(value: float) -> float:
    """`value` as the float32 attribute that the IR holds; beyond its range, the infinity of that sign."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)
