"""Elementwise operations of two tensors, or of a tensor and a number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ttnn_jit.ops.elementwise.unary import ROUNDED_TWICE
from ttnn_jit.ops.families.elementwise import AlgebraicProperties, DerivedNumbers, Elementwise, elementwise
from ttnn_jit.ops.language.operation import Probe
from ttnn_jit.ops.language.parameter import BOOL, CHOICE, FLOAT, TENSOR_OR_NUMBER, TENSOR_PER_CHANNEL, Parameter


def _ldexp(torch: Any, x: Any, y: Any) -> Any:
    stays = ((x == 0) | x.isinf()) & torch.as_tensor(y).isfinite()
    return torch.where(stays, x, x * torch.pow(2.0, y))


def golden_of_integers(name: str, **options: Any) -> Callable[..., Any]:
    """The golden of a quotient or remainder of integers by torch's function: 0 where the divisor is 0.

    Processors trap at the least integer divided by -1: its quotient is its negative, and its remainder 0.
    """
    keeps = name in {"remainder", "fmod"}

    def golden(torch: Any, x: Any, y: Any) -> Any:
        divisor = torch.as_tensor(y)
        negates = divisor == -1
        safe = torch.where((divisor == 0) | negates, 1, divisor)
        found = getattr(torch, name)(x, safe, **options)
        found = torch.where(negates, found if keeps else -torch.as_tensor(x), found)
        return torch.where(divisor == 0, 0, found)

    return golden


def _of_kind(torch: Any, x: Any, y: Any, of_floats: Callable[..., Any], of_integers: Callable[..., Any]) -> Any:
    is_float = any(torch.as_tensor(each).is_floating_point() for each in (x, y))
    return of_floats(x, y) if is_float else of_integers(torch, x, y)


FLOOR_OF_INTEGERS = golden_of_integers("div", rounding_mode="floor")
TRUNC_OF_INTEGERS = golden_of_integers("div", rounding_mode="trunc")

FIRST = Parameter("input_tensor_a", TENSOR_OR_NUMBER, aliases=("input_a", "input_tensor"))
SECOND = Parameter("input_tensor_b", TENSOR_OR_NUMBER, aliases=("input_b", "value", "scalar"))
_BASE = Parameter("input_tensor_a", TENSOR_OR_NUMBER, aliases=("input_tensor", "input"))
_EXPONENT = Parameter("input_tensor_b", TENSOR_OR_NUMBER, aliases=("exponent",))


def binary(
    name: str, *, operands: tuple[Parameter, ...] = (FIRST, SECOND), others: tuple[Parameter, ...] = (), **fields: Any
) -> Elementwise:
    """A declaration with the operands that ttnn calls ``input_tensor_a`` and ``input_tensor_b``."""
    return elementwise(name, (*operands, *others), **fields)


def comparison(name: str, operator: str, summary: str, *, monotone: bool = True) -> Elementwise:
    """A comparison: 1.0 or 0.0 in the dtype of the first operand; comparisons for equality are not `monotone`."""
    return binary(
        name,
        operator=operator,
        summary=f"1 where {summary}, else 0, in the first operand's dtype.",
        emit=lambda b, x, y: b.select(getattr(b, name)(x, y), b.const(1.0), b.const(0.0)),
        golden=lambda torch, x, y: getattr(torch, name)(x, y).to(x.dtype),
        algebra=AlgebraicProperties(selects_operand=True, monotone=monotone),
        in_place=True,
    )


def logical(name: str, summary: str, combined: Callable[[Any, Any, Any], Any]) -> Elementwise:
    """A logical operation: 1.0 or 0.0 in the dtype of the first operand; NaN counts as not zero."""
    return binary(
        name,
        summary=f"1 where {summary} not zero, else 0, in the first operand's dtype.",
        emit=lambda b, x, y: b.select(
            combined(b, b.ne(x, b.const(0.0)), b.ne(y, b.const(0.0))), b.const(1.0), b.const(0.0)
        ),
        golden=lambda torch, x, y: getattr(torch, name)(x, y).to(x.dtype),
        algebra=AlgebraicProperties(selects_operand=True),
        in_place=True,
    )


def _xlogy(b: Any, x: Any, y: Any) -> Any:
    zero = b.both(b.eq(x, b.const(0.0)), b.eq(y, y))
    return b.select(zero, b.const(0.0), b.mul(x, b.log(y)))


def _squared_difference(b: Any, x: Any, y: Any) -> Any:
    difference = b.sub(x, y)
    return b.mul(difference, difference)


def _isclose(b: Any, x: Any, y: Any, rtol: float, atol: float, equal_nan: float) -> Any:
    distance = b.abs(b.sub(x, y))
    near = b.le(distance, b.add(b.const(atol), b.abs(b.mul(b.const(rtol), y))))
    close = b.either(b.eq(x, y), b.both(near, b.lt(distance, b.const(math.inf))))
    if equal_nan:
        close = b.either(close, b.both(b.ne(x, x), b.ne(y, y)))
    return b.select(close, b.const(1.0), b.const(0.0))


ADD = binary(
    "add",
    operator="+",
    summary="x + y.",
    algebra=AlgebraicProperties(right_identity=-0.0, commutative=True, propagates_nan=True, monotone=True),
    in_place=True,
)
SUBTRACT = binary(
    "subtract",
    operator="-",
    summary="x - y.",
    aten="sub",
    algebra=AlgebraicProperties(right_identity=0.0, propagates_nan=True, monotone=True),
    tile_name="tile_sub",
    synonyms=("sub",),
    in_place=True,
)
MULTIPLY = binary(
    "multiply",
    operator="*",
    summary="x * y.",
    aten="mul",
    algebra=AlgebraicProperties(right_identity=1.0, commutative=True, propagates_nan=True, monotone=True),
    tile_name="tile_mul",
    synonyms=("mul",),
    in_place=True,
)
DIVIDE = binary(
    "divide",
    operator="/",
    summary="x / y, correctly rounded.",
    aten="div",
    algebra=AlgebraicProperties(right_identity=1.0, monotone=True),
    others=(Parameter("rounding_mode", CHOICE, None),),
    ttir_name="div",
    synonyms=("div",),
    qualified_name="div",
    in_place=True,
)
DIVIDE_FLOOR = binary(
    "divide",
    summary="The floor of the exact x / y.",
    emit=lambda b, x, y: b.floor_divide(x, y),
    aten="div",
    golden=lambda torch, x, y: _of_kind(torch, x, y, lambda a, b: torch.floor(a / b), FLOOR_OF_INTEGERS),
    probe=Probe((-100.0, 100.0), 1.0, ROUNDED_TWICE),
    others=(Parameter("rounding_mode", CHOICE, "floor"),),
    ttnn_name="divide_floor",
    ttir_name="div_floor",
)
DIVIDE_TRUNC = binary(
    "divide",
    summary="The exact x / y without its fraction.",
    emit=lambda b, x, y: b.divide_trunc(x, y),
    aten="div",
    golden=lambda torch, x, y: _of_kind(torch, x, y, lambda a, b: torch.trunc(a / b), TRUNC_OF_INTEGERS),
    probe=Probe((-100.0, 100.0), 1.0, ROUNDED_TWICE),
    others=(Parameter("rounding_mode", CHOICE, "trunc"),),
    ttnn_name="divide_trunc",
    ttir_name="div_trunc",
)
MAXIMUM = binary(
    "maximum",
    kernel_name="max",
    summary="The larger of x and y; NaN if either is.",
    algebra=AlgebraicProperties(associative=True, selects_operand=True, monotone=True),
)
MINIMUM = binary(
    "minimum",
    kernel_name="min",
    summary="The smaller of x and y; NaN if either is.",
    algebra=AlgebraicProperties(associative=True, selects_operand=True, monotone=True),
)
POW = binary(
    "pow",
    operands=(_BASE, _EXPONENT),
    operator="**",
    summary="x to the power y, as in C99 Annex F.",
    probe=Probe(domain=(0.0, 20.0), max_ulp=1.5, max_ulp_bf16=ROUNDED_TWICE),
    ttnn_name="pow_tensor",
    ttir_name="pow",
    kernel_name="power",
)
EQ = comparison("eq", "==", "x equals y", monotone=False)
NE = comparison("ne", "!=", "x differs from y", monotone=False)
LT = comparison("lt", "<", "x is below y")
LE = comparison("le", "<=", "x is not above y")
GT = comparison("gt", ">", "x is above y")
GE = comparison("ge", ">=", "x is not below y")

RSUB = binary(
    "rsub",
    summary="y - x.",
    emit=lambda b, x, y: b.sub(y, x),
    golden=lambda torch, x, y: torch.sub(y, x),
    in_place=True,
)
RDIV = binary(
    "rdiv",
    summary="y / x, correctly rounded.",
    emit=lambda b, x, y: b.div(y, x),
    aten="",
    golden=lambda torch, x, y: torch.div(y, x),
    others=(Parameter("rounding_mode", CHOICE, None),),
)
RDIV_FLOOR = binary(
    "rdiv",
    summary="The floor of the exact y / x.",
    emit=lambda b, x, y: b.floor_divide(y, x),
    aten="",
    golden=lambda torch, x, y: _of_kind(torch, y, x, lambda a, b: torch.floor(a / b), FLOOR_OF_INTEGERS),
    probe=DIVIDE_FLOOR.probe,
    others=(Parameter("rounding_mode", CHOICE, "floor"),),
    ttnn_name="rdiv_floor",
)
RDIV_TRUNC = binary(
    "rdiv",
    summary="The exact y / x without its fraction.",
    emit=lambda b, x, y: b.divide_trunc(y, x),
    aten="",
    golden=lambda torch, x, y: _of_kind(torch, y, x, lambda a, b: torch.trunc(a / b), TRUNC_OF_INTEGERS),
    probe=DIVIDE_TRUNC.probe,
    others=(Parameter("rounding_mode", CHOICE, "trunc"),),
    ttnn_name="rdiv_trunc",
)
RPOW = binary(
    "rpow",
    operands=(_BASE, _EXPONENT),
    summary="y to the power x, as in C99 Annex F.",
    emit=lambda b, x, y: b.pow(y, x),
    aten="",
    golden=lambda torch, x, y: torch.pow(y, x),
    probe=POW.probe,
)
FLOOR_DIVIDE = binary(
    "floor_divide",
    summary="The floor of x / y.",
    golden=lambda torch, x, y: _of_kind(torch, x, y, lambda a, b: torch.floor(a / b), FLOOR_OF_INTEGERS),
    probe=Probe((-100.0, 100.0), 1.0, ROUNDED_TWICE),
    aliases=("floor_div",),
)
FMOD = binary(
    "fmod",
    summary="The exact remainder of x / y rounded towards zero; it has the sign of x.",
    golden=lambda torch, x, y: _of_kind(torch, x, y, torch.fmod, golden_of_integers("fmod")),
    probe=Probe((-100.0, 100.0)),
)
REMAINDER = binary(
    "remainder",
    summary="fmod with the sign of y, as Python's %.",
    golden=lambda torch, x, y: _of_kind(torch, x, y, torch.remainder, golden_of_integers("remainder")),
    probe=Probe((-100.0, 100.0)),
)
ATAN2 = binary(
    "atan2",
    summary="The angle of the point (y, x), x the first operand, as in C99 Annex F.",
    probe=Probe((-100.0, 100.0), 3.0, ROUNDED_TWICE),
)
HYPOT = binary(
    "hypot",
    summary="sqrt(x * x + y * y) without overflow on the way.",
    probe=Probe((-100.0, 100.0), 1.5, ROUNDED_TWICE),
)
LDEXP = binary(
    "ldexp",
    summary="x * 2**y; zeros and infinities stay where y is finite.",
    golden=_ldexp,
    probe=Probe((-100.0, 100.0), 2.0, ROUNDED_TWICE),
    in_place=True,
)
LOGADDEXP = binary(
    "logaddexp",
    summary="log(exp(x) + exp(y)).",
    probe=Probe((-30.0, 30.0), 2.0, ROUNDED_TWICE, max_absolute=2.0**-23),
    in_place=True,
)
LOGADDEXP2 = binary(
    "logaddexp2",
    summary="log2(2**x + 2**y).",
    # For equal operands torch has the rounding error of its constants, also where the result is 0.
    golden=lambda torch, x, y: torch.where(x == y, x + 1, torch.logaddexp2(x, y)),
    probe=Probe((-30.0, 30.0), 2.0, ROUNDED_TWICE, max_absolute=2.0**-23),
    in_place=True,
)
XLOGY = binary(
    "xlogy",
    summary="x * log(y); 0 where x is zero, unless y is NaN.",
    emit=_xlogy,
    probe=Probe((0.0, 100.0), 2.5, ROUNDED_TWICE),
)
SQUARED_DIFFERENCE = binary(
    "squared_difference",
    summary="(x - y) squared.",
    emit=_squared_difference,
    aten="",
    golden=lambda torch, x, y: torch.square(x - y),
    probe=Probe((-100.0, 100.0), 2.0, ROUNDED_TWICE),
    in_place=True,
)
ISCLOSE = binary(
    "isclose",
    summary="1 where |x - y| <= atol + rtol * |y|, else 0, in x's dtype; both sides in float32, as in torch.",
    others=(Parameter("rtol", FLOAT, 1e-5), Parameter("atol", FLOAT, 1e-8), Parameter("equal_nan", BOOL, False)),
    emit=_isclose,
    golden=lambda torch, x, y, rtol, atol, equal_nan: torch.isclose(
        x.float(), y.float(), rtol, atol, bool(equal_nan)
    ).to(x.dtype),
    probe=Probe((-10.0, 10.0), attributes=(0.25, 0.5, 1.0)),
)
PRELU = binary(
    "prelu",
    operands=(_BASE, Parameter("weight", TENSOR_PER_CHANNEL)),
    summary="x where it is positive, else weight * x; a weight per channel, dimension 1, or one for all.",
    emit=lambda b, x, weight: b.select(b.gt(x, b.const(0.0)), x, b.mul(weight, x)),
    golden=lambda torch, x, weight: torch.where(x > 0, x, weight * x),
)
FILL = binary(
    "fill",
    operands=(_BASE, Parameter("fill_value", TENSOR_OR_NUMBER)),
    summary="y, a number or a tensor, in x's shape and dtype.",
    tile_name="tile_fill_like",  # tt-mlir's tile_fill takes a number alone
    emit=lambda _, __, y: y,
    aten="",
    golden=lambda torch, x, y: torch.where(torch.ones_like(x) == 1, y, x).to(x.dtype),
    algebra=AlgebraicProperties(selects_operand=True),
    keeps_first_dtype=True,
)
ADDALPHA = binary(
    "addalpha",
    summary="x + alpha * y, rounded once.",
    others=(Parameter("alpha", FLOAT, 1.0),),
    emit=lambda b, x, y, alpha: b.fma(y, b.const(alpha), x),
    aten="",
    golden=lambda _, x, y, alpha: x + alpha * y,
    probe=Probe((-10.0, 10.0), 0.51, ROUNDED_TWICE),
)
SUBALPHA = binary(
    "subalpha",
    summary="x - alpha * y, rounded once.",
    others=(Parameter("alpha", FLOAT, 1.0),),
    derived=DerivedNumbers(lambda alpha: (-alpha,), lambda b, x, y, negated: b.fma(y, b.const(negated), x)),
    aten="",
    golden=lambda _, x, y, alpha: x - alpha * y,
    probe=Probe((-10.0, 10.0), 0.51, ROUNDED_TWICE),
)
DIV_NO_NAN = binary(
    "div_no_nan",
    summary="x / y, correctly rounded; 0 where y is zero.",
    emit=lambda b, x, y: b.select(b.eq(y, b.const(0.0)), b.const(0.0), b.div(x, y)),
    aten="",
    golden=lambda torch, x, y: torch.where(torch.as_tensor(y) == 0, 0.0, x / y),
)
LOGICAL_AND = logical("logical_and", "both x and y are", lambda b, p, q: b.both(p, q))
LOGICAL_OR = logical("logical_or", "x or y or both are", lambda b, p, q: b.either(p, q))
LOGICAL_XOR = logical(
    "logical_xor", "one of x and y is", lambda b, p, q: b.both(b.either(p, q), b.invert(b.both(p, q)))
)

OPERATIONS = (
    ADD, SUBTRACT, MULTIPLY, DIVIDE, DIVIDE_FLOOR, DIVIDE_TRUNC, MAXIMUM, MINIMUM, POW, EQ, NE, LT, LE, GT, GE, RSUB,
    RDIV, RDIV_FLOOR, RDIV_TRUNC, RPOW, FLOOR_DIVIDE, FMOD, REMAINDER, ATAN2, HYPOT, LDEXP, LOGADDEXP, LOGADDEXP2,
    XLOGY, SQUARED_DIFFERENCE, ISCLOSE, PRELU, FILL, ADDALPHA, SUBALPHA, DIV_NO_NAN, LOGICAL_AND, LOGICAL_OR,
    LOGICAL_XOR,
)  # fmt: skip
