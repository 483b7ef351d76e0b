"""Elementwise functions of one tensor; activations and predicates have files of their own."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.families.elementwise import (
    AlgebraicProperties,
    Elementwise,
    Implementations,
    TurningPoints,
    elementwise,
)
from ttnn_jit.ops.language.operation import Probe
from ttnn_jit.ops.language.parameter import FLOAT, LIMIT, TENSOR, Parameter, integers

MAX_FLOAT32 = 3.4028234663852886e38
ROUNDED_TWICE = 0.51  # error in units of bfloat16: a float32 result, rounded once more


def unary(name: str, *, parameters: tuple[Parameter, ...] = (), **fields: Any) -> Elementwise:
    """A declaration with the one operand that ttnn calls ``input_tensor``, and `parameters` after it."""
    return elementwise(name, (Parameter("input_tensor", TENSOR), *parameters), **fields)


def _clamp(b: Any, x: Any, low: float, high: float) -> Any:
    """In the IR an omitted bound is the largest number; it must not clamp infinities."""
    x = x if low <= -MAX_FLOAT32 else b.maximum(x, b.const(low))
    return x if high >= MAX_FLOAT32 else b.minimum(x, b.const(high))


def _function(
    name: str,
    summary: str,
    domain: tuple[float, float],
    max_ulp: float,
    *,
    exact_bfloat16: bool = False,
    has_bfloat16: bool = False,
    **fields: Any,
) -> Elementwise:
    """A function of the emit protocol; by default its golden is torch's function of the same name.

    The bound in bfloat16 is correct rounding with `exact_bfloat16`, else that of a float32 result rounded once more.
    With `has_bfloat16` it has an implementation for bfloat16, ``<name>_bfloat16``.
    """
    if has_bfloat16:
        fields["implementations"] = Implementations(bfloat16=lambda b, x: getattr(b, f"{name}_bfloat16")(x))
    absolute = fields.pop("max_absolute", 0.0)
    probe = Probe(domain, max_ulp, 0.0 if exact_bfloat16 else ROUNDED_TWICE, max_absolute=absolute)
    return unary(name, summary=summary, probe=probe, **fields)


def _angle(name: str, summary: str, factor: float, rest: float) -> Elementwise:
    """A product with factor + rest, both positive: an infinity gives no NaN."""
    return unary(
        name,
        summary=summary,
        emit=lambda b, x: b.fma(x, b.const(factor), b.mul(x, b.const(rest))),
        probe=Probe((-720.0, 720.0), 1.0, ROUNDED_TWICE),
    )


def _round_decimals(b: Any, x: Any, decimals: float) -> Any:
    """Rounding by the exact product or quotient: the rounded one may be a tie where the exact one is not."""
    factor = b.const(10.0 ** abs(decimals))  # exact up to 10**10
    if decimals < 0:
        scaled = b.div(x, factor)
        residual = b.fma(b.neg(scaled), factor, x)
    else:
        scaled = b.mul(x, factor)
        residual = b.fma(x, factor, b.neg(scaled))
    nearest = b.round_even(scaled)
    distance = b.sub(scaled, nearest)
    is_tie = b.eq(b.abs(distance), b.const(0.5))
    is_past_tie = b.both(is_tie, b.gt(b.mul(distance, b.copysign(b.const(1.0), residual)), b.const(0.0)))
    is_past_tie = b.both(is_past_tie, b.ne(residual, b.const(0.0)))
    nearest = b.select(is_past_tie, b.add(nearest, b.add(distance, distance)), nearest)
    result = b.mul(nearest, factor) if decimals < 0 else b.copysign(b.div(nearest, factor), x)
    return b.select(b.lt(b.abs(scaled), b.const(2.0**24)), result, x)  # beyond, every float is a multiple already


def _nan_to_num(b: Any, x: Any, nan: float, posinf: float, neginf: float) -> Any:
    infinity = b.const(math.inf)
    bounded = b.select(b.eq(x, infinity), b.const(posinf), b.select(b.eq(x, b.neg(infinity)), b.const(neginf), x))
    return b.select(b.ne(x, x), b.const(nan), bounded)


def _cbrt(torch: Any, x: Any) -> Any:
    y = torch.pow(x, 1 / 3)
    refined = y - (y * y * y - x) / (3 * y * y)
    return torch.where(torch.isfinite(refined), refined, y)


def _asinh(torch: Any, x: Any) -> Any:
    # torch.asinh cancels for negative arguments.
    return torch.copysign(torch.asinh(x.abs()), x)


_HALF_TURNS = TurningPoints((math.pi / 2,), math.pi)
_INTEGERS = TurningPoints(period=1.0)

ABS = unary(
    "abs",
    summary="|x|.",
    operator="abs",
    algebra=AlgebraicProperties(selects_operand=True, monotone=True),
)
NEG = unary(
    "neg",
    summary="-x: the sign bit flipped.",
    operator="neg",
    kernel_name="negative",
    algebra=AlgebraicProperties(negates=True, selects_operand=True, propagates_nan=True, monotone=True),
)
EXP = unary(
    "exp",
    summary="e to the power x.",
    implementations=Implementations(
        bfloat16=lambda b, x: b.exp_bfloat16(x), both_signs=lambda b, x: b.exp_of_both_signs(x)
    ),
    algebra=AlgebraicProperties(monotone=True),
    probe=Probe(domain=(-110.0, 100.0), max_ulp=1.25),
)
LOG = _function(
    "log", "The natural logarithm; NaN below zero.", (0.0, 1e6), 1.25, exact_bfloat16=True, has_bfloat16=True
)
SIN = _function(
    "sin",
    "Sine of x radians, to the largest float.",
    (-1e4, 1e4),
    2.0,
    exact_bfloat16=True,
    has_bfloat16=True,
    turns=_HALF_TURNS,
)
COS = _function(
    "cos",
    "Cosine of x radians, to the largest float.",
    (-1e4, 1e4),
    2.0,
    exact_bfloat16=True,
    has_bfloat16=True,
    turns=_HALF_TURNS,
)
TANH = _function("tanh", "Hyperbolic tangent.", (-12.0, 12.0), 1.5, exact_bfloat16=True, has_bfloat16=True)
SQRT = unary(
    "sqrt",
    summary="Square root, correctly rounded; NaN below zero.",
    implementations=Implementations(power=0.5),
    probe=Probe(domain=(0.0, 1e6)),
)
RSQRT = unary(
    "rsqrt",
    summary="1 / sqrt(x).",
    implementations=Implementations(bfloat16=lambda b, x: b.rsqrt_bfloat16(x), power=-0.5),
    probe=Probe(domain=(0.0, 1e6), max_ulp=1.5),
)
RECIPROCAL = unary(
    "reciprocal",
    summary="1 / x, correctly rounded.",
    emit=lambda b, x: b.div(b.const(1.0), x),
    implementations=Implementations(power=-1.0),
    aliases=("recip",),
    tile_name="tile_recip",
)
CLAMP = unary(
    "clamp",
    summary="x limited to [min, max]; NaN in any of them gives NaN. A bound of the largest float32 does not limit "
    "infinities.",
    parameters=(Parameter("min", FLOAT, -MAX_FLOAT32), Parameter("max", FLOAT, MAX_FLOAT32)),
    emit=_clamp,
    ttnn_name="clamp_scalar",
    kernel_name="clamp",
    aliases=("clip",),
)

SQUARE = unary(
    "square",
    summary="x * x.",
    emit=lambda b, x: b.mul(x, x),
)
EXP2 = _function("exp2", "2 to the power x.", (-155.0, 130.0), 1.25, has_bfloat16=True)
EXPM1 = _function("expm1", "exp(x) - 1, the digits of small results kept.", (-20.0, 90.0), 2.0, has_bfloat16=True)
LOG2 = _function("log2", "The logarithm to base 2; NaN below zero.", (0.0, 1e6), 1.25, has_bfloat16=True)
LOG10 = _function("log10", "The logarithm to base 10; NaN below zero.", (0.0, 1e6), 1.25, has_bfloat16=True)
LOG1P = _function(
    "log1p", "log(1 + x), the digits of small results kept; NaN below -1.", (-1.0, 10.0), 1.5, has_bfloat16=True
)
CBRT = _function(
    "cbrt",
    "The cube root.",
    (-1e6, 1e6),
    0.9,
    aten="",
    golden=lambda torch, x: torch.copysign(_cbrt(torch, x.abs()), x),
)
TAN = _function(
    "tan", "Tangent of x radians, to the largest float.", (-1e4, 1e4), 2.4, has_bfloat16=True, turns=_HALF_TURNS
)
ASIN = _function("asin", "The inverse of sin, in [-pi/2, pi/2]; NaN beyond [-1, 1].", (-1.0, 1.0), 2.0)
ACOS = _function("acos", "The inverse of cos, in [0, pi]; NaN beyond [-1, 1].", (-1.0, 1.0), 2.0, has_bfloat16=True)
ATAN = _function("atan", "The inverse of tan, in [-pi/2, pi/2].", (-30.0, 30.0), 2.0, has_bfloat16=True)
SINH = _function("sinh", "Hyperbolic sine.", (-92.0, 92.0), 3.0, has_bfloat16=True)
COSH = _function("cosh", "Hyperbolic cosine.", (-92.0, 92.0), 3.0, has_bfloat16=True)
ASINH = _function("asinh", "The inverse of sinh.", (-1e3, 1e3), 3.0, golden=_asinh)
ACOSH = _function("acosh", "The inverse of cosh, at least 0; NaN below 1.", (1.0, 1e3), 3.0)
ATANH = _function("atanh", "The inverse of tanh; NaN beyond [-1, 1].", (-1.0, 1.0), 3.0)
ERF = _function("erf", "The error function.", (-5.0, 5.0), 2.0, exact_bfloat16=True, has_bfloat16=True)
ERFC = _function("erfc", "1 - erf(x), the digits of the right tail kept.", (-5.0, 10.5), 2.5)
ERFINV = _function("erfinv", "The inverse of erf; NaN beyond [-1, 1].", (-1.0, 1.0), 4.0)
I0 = _function(
    "i0",
    "The modified Bessel function of the first kind and order 0.",
    (-95.0, 95.0),
    3.0,
    golden=lambda torch, x: torch.where(x.isinf(), x.abs(), torch.special.i0(x)),  # torch's is NaN there
)
LGAMMA = _function(
    "lgamma",
    "The logarithm of |gamma(x)|; infinite at 0 and the negative integers.",
    (-20.0, 50.0),
    4.0,
    max_absolute=4e-6,
    turns=None,
)
DIGAMMA = _function(
    "digamma",
    "The derivative of lgamma; NaN at the negative integers.",
    (-20.0, 50.0),
    4.0,
    max_absolute=4e-6,
    turns=_INTEGERS,
)
DEG2RAD = _angle("deg2rad", "x degrees in radians.", 0.01745329238474369, 1.3519960151420207e-10)
RAD2DEG = _angle("rad2deg", "x radians in degrees.", 57.2957763671875, 3.145894820876799e-06)
IDENTITY = unary(
    "identity",
    summary="x.",
    emit=lambda _, x: x,
    aten="clone",
    algebra=AlgebraicProperties(copies=True, selects_operand=True),
)
CEIL = unary(
    "ceil",
    summary="The least integer that is not below x.",
)
FLOOR = unary(
    "floor",
    summary="The largest integer that is not above x.",
)
ROUND = unary(
    "round",
    summary="The nearest integer, ties to even.",
    emit=lambda b, x: b.round_even(x),
)
ROUND_DECIMALS = unary(
    "round",
    summary="x rounded to `decimals` decimals, ties to even; to tens, hundreds and so on where negative.",
    parameters=(Parameter("decimals", integers(-10, 10), 0),),
    emit=_round_decimals,
    golden=lambda torch, x, decimals: torch.round(x, decimals=int(decimals)),
    probe=Probe((-1000.0, 1000.0), attributes=(2.0,)),
    ttnn_name="round_decimals",
)
TRUNC = unary("trunc", summary="x without its fraction.")
FRAC = unary("frac", summary="x - trunc(x).", emit=lambda b, x: b.sub(x, b.trunc(x)), turns=_INTEGERS)
NAN_TO_NUM = unary(
    "nan_to_num",
    summary="x with NaN and the infinities replaced, by default by 0 and the largest numbers of x's dtype.",
    parameters=(
        Parameter("nan", FLOAT, 0.0),
        Parameter("posinf", LIMIT, MAX_FLOAT32),
        Parameter("neginf", LIMIT, -MAX_FLOAT32),
    ),
    emit=_nan_to_num,
)

OPERATIONS = (
    ABS, NEG, EXP, LOG, SIN, COS, TANH, SQRT, RSQRT, RECIPROCAL, CLAMP, SQUARE, EXP2, EXPM1, LOG2, LOG10, LOG1P, CBRT,
    TAN, ASIN, ACOS, ATAN, SINH, COSH, ASINH, ACOSH, ATANH, ERF, ERFC, ERFINV, I0, LGAMMA, DIGAMMA, DEG2RAD, RAD2DEG,
    IDENTITY, CEIL, FLOOR, ROUND, ROUND_DECIMALS, TRUNC, FRAC, NAN_TO_NUM,
)  # fmt: skip
