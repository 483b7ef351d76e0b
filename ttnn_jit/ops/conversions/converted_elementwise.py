"""Elementwise ops of StableHLO and CHLO on floats, and those that are alike for all numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ttnn_jit.ops.conversions import complex_functions
from ttnn_jit.ops.conversions.complex_functions import of_both, of_operand
from ttnn_jit.ops.families.conversion_protocol import BOOL, ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import Conversion, conversion
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall


def _unary(
    names: str,
    ttir: str,
    of_complex: complex_functions.Function | None = None,
    *,
    golden: Callable[[Any, Any], Any] | None = None,
) -> Conversion:
    """A function of one operand that TTIR has; `of_complex` is that of complex numbers.

    Its golden is torch's function of the name that TTIR gives it, unless one is stated.
    """
    in_torch = golden or (lambda torch, x: getattr(torch, ttir)(x))
    return conversion(
        names,
        "operand",
        lambda ops, call: ops.same(f"ttir.{ttir}", call.operand),
        lambda torch, call: in_torch(torch, call.operand),
        is_elementwise=True,
        result_accuracy=None,
        of_complex=None if of_complex is None else of_operand(of_complex),
    )


def _cube_root(torch: Any, x: Any) -> Any:
    return torch.sign(x) * torch.pow(torch.abs(x), 1 / 3)


UNARY = (
    _unary("stablehlo.ceil", "ceil"),
    _unary("stablehlo.floor", "floor"),
    _unary("stablehlo.cosine", "cos", complex_functions.cosine),
    _unary("stablehlo.sine", "sin", complex_functions.sine),
    _unary("stablehlo.tan chlo.tan", "tan"),
    _unary("stablehlo.exponential", "exp", complex_functions.exponential),
    _unary("stablehlo.exponential_minus_one", "expm1", complex_functions.exponential_minus_one),
    _unary("stablehlo.log", "log", complex_functions.logarithm),
    _unary("stablehlo.log_plus_one", "log1p", complex_functions.logarithm_plus_one),
    _unary("stablehlo.logistic", "sigmoid", complex_functions.logistic),
    _unary("stablehlo.rsqrt", "rsqrt", complex_functions.inverse_root),
    _unary("stablehlo.sqrt", "sqrt", complex_functions.root),
    _unary("stablehlo.tanh", "tanh", complex_functions.hyperbolic_tangent),
    _unary("stablehlo.cbrt", "cbrt", golden=_cube_root),
    _unary("chlo.erf", "erf"),
    _unary("chlo.erfc", "erfc"),
    _unary("chlo.erf_inv", "erfinv"),
    _unary("chlo.lgamma", "lgamma"),
    _unary("chlo.digamma", "digamma"),
    _unary("chlo.asin", "asin"),
    _unary("chlo.acos", "acos"),
    _unary("chlo.atan", "atan"),
    _unary("chlo.asinh", "asinh"),
)

# --- Other functions of one operand -----------------------------------------------------------------------------------


def _derived(names: str, convert: Callable[[TtirOps, Tensor], Tensor], golden: Callable[[Any, Any], Any]) -> Conversion:
    """A function of one operand in terms of others."""
    return conversion(
        names,
        "operand",
        lambda ops, call: convert(ops, call.operand),
        lambda torch, call: golden(torch, call.operand),
        is_elementwise=True,
        in_float32=True,
        result_accuracy=None,
    )


def _atanh(ops: TtirOps, x: Tensor) -> Tensor:
    logs = ops.same("ttir.log1p", x), ops.same("ttir.log1p", ops.same("ttir.neg", x))
    return ops.same("ttir.multiply", ops.same("ttir.subtract", *logs), ops.like(x, 0.5))


def _acosh(ops: TtirOps, x: Tensor) -> Tensor:
    """log(x + sqrt((x - 1) (x + 1))), from t = x - 1 so that it is exact near 1."""
    less = ops.same("ttir.subtract", x, ops.like(x, 1))
    root = ops.same("ttir.sqrt", less)
    other = ops.same("ttir.sqrt", ops.same("ttir.add", x, ops.like(x, 1)))
    return ops.same("ttir.log1p", ops.same("ttir.add", less, ops.same("ttir.multiply", root, other)))


def _rounded_to_even(ops: TtirOps, x: Tensor) -> Tensor:
    below = ops.same("ttir.floor", x)
    rest = ops.same("ttir.subtract", x, below)
    above = ops.same("ttir.add", below, ops.like(x, 1))
    half = ops.same("ttir.floor", ops.same("ttir.multiply", below, ops.like(x, 0.5)))
    is_even = ops.compared("ttir.eq", ops.same("ttir.add", half, half), below)
    at_half = ops.select(is_even, below, above)
    found = ops.select(ops.compared("ttir.gt", rest, ops.like(x, 0.5)), above, at_half)
    return _where_finite(ops, x, ops.select(ops.compared("ttir.lt", rest, ops.like(x, 0.5)), below, found))


def _where_finite(ops: TtirOps, x: Tensor, found: Tensor) -> Tensor:
    """`found`, or `x` where that is no number or infinite."""
    return ops.select(ops.op("ttir.isfinite", [x], x.shape, BOOL), found, x)


def _rounded_away(ops: TtirOps, x: Tensor) -> Tensor:
    magnitude = ops.same("ttir.abs", x)
    below = ops.same("ttir.floor", magnitude)
    rest = ops.same("ttir.subtract", magnitude, below)
    above = ops.same("ttir.add", below, ops.like(x, 1))
    found = ops.select(ops.compared("ttir.ge", rest, ops.like(x, 0.5)), above, below)
    negative = ops.compared("ttir.lt", x, ops.like(x, 0))
    return _where_finite(ops, x, ops.select(negative, ops.same("ttir.neg", found), found))


def _rounded_away_in_torch(torch: Any, x: Any) -> Any:
    return torch.where(torch.isfinite(x), torch.sign(x) * torch.floor(torch.abs(x) + 0.5), x)


DERIVED = (
    _derived("chlo.sinh", complex_functions.sinh, lambda torch, x: torch.sinh(x)),
    _derived("chlo.cosh", complex_functions.cosh, lambda torch, x: torch.cosh(x)),
    _derived("chlo.atanh", _atanh, lambda torch, x: torch.atanh(x)),
    _derived("chlo.acosh", _acosh, lambda torch, x: torch.acosh(x)),
    _derived("chlo.square", lambda ops, x: ops.same("ttir.multiply", x, x), lambda _, x: x * x),
    _derived("stablehlo.round_nearest_even", _rounded_to_even, lambda torch, x: torch.round(x)),
    _derived("stablehlo.round_nearest_afz", _rounded_away, _rounded_away_in_torch),
)


def _sign(ops: TtirOps, call: ConversionCall) -> Tensor:
    x = call.operand
    if x.is_float:
        return ops.same("ttir.sign", x)
    zero, one = ops.like(x, 0), ops.like(x, 1)
    positive = ops.select(ops.compared("ttir.gt", x, zero), one, zero)
    if x.is_unsigned:
        return positive
    return ops.select(ops.compared("ttir.lt", x, zero), ops.like(x, -1), positive)


def _sign_in_torch(torch: Any, call: TextCall) -> Any:
    x = call.operand
    if x.is_complex():
        return torch.sgn(x)
    return torch.where(torch.isnan(x), x, torch.sign(x)) if x.is_floating_point() else torch.sign(x)


SIGN = conversion(
    "stablehlo.sign",
    "operand",
    _sign,
    _sign_in_torch,
    is_elementwise=True,
    of_complex=of_operand(complex_functions.sign),
)


def _negated(ops: TtirOps, call: ConversionCall) -> Tensor:
    x = call.operand
    return ops.same("ttir.neg", x) if x.is_float else ops.same("ttir.subtract", ops.like(x, 0), x)


NEGATE = conversion(
    "stablehlo.negate",
    "operand",
    _negated,
    lambda _, call: -call.operand,
    is_elementwise=True,
    acts_on_parts=True,
)
ABS = conversion(
    "stablehlo.abs",
    "operand",
    lambda ops, call: ops.same("ttir.abs", call.operand),
    lambda torch, call: torch.abs(call.operand),
    is_elementwise=True,
    of_complex=of_operand(complex_functions.magnitude),
)
IS_FINITE = conversion(
    "stablehlo.is_finite",
    "x",
    lambda ops, call: ops.op("ttir.isfinite", [call.x], call.x.shape, BOOL),
    lambda torch, call: torch.isfinite(call.x),
    is_elementwise=True,
)


def _infinite(ops: TtirOps, call: ConversionCall) -> Tensor:
    x = ops.same("ttir.abs", call.operand)
    return ops.compared("ttir.eq", x, ops.like(x, math.inf))


def _equal_to(number: float) -> dict[str, Callable[..., Any]]:
    return {
        "convert": lambda ops, call: ops.compared("ttir.eq", call.operand, ops.like(call.operand, number)),
        "golden": lambda _, call: call.operand == number,
    }


IS_INF = conversion(
    "chlo.is_inf", "operand", _infinite, lambda torch, call: torch.isinf(call.operand), is_elementwise=True
)
IS_POS_INF = conversion("chlo.is_pos_inf", "operand", **_equal_to(math.inf), is_elementwise=True)
IS_NEG_INF = conversion("chlo.is_neg_inf", "operand", **_equal_to(-math.inf), is_elementwise=True)

# --- Two operands -----------------------------------------------------------------------------------------------------


def _or_flags(numbers: str, flags: str) -> Callable[[TtirOps, ConversionCall], Tensor]:
    """One op on numbers, another one on flags."""
    return lambda ops, call: ops.same(flags if call.lhs.is_bool else numbers, call.lhs, call.rhs)


def _arithmetic(names: str, ttir: str, flags: str, golden: Callable[..., Any], **options: Any) -> Conversion:
    return conversion(names, "lhs rhs", _or_flags(ttir, flags), golden, is_elementwise=True, **options)


ADD = _arithmetic(
    "stablehlo.add",
    "ttir.add",
    "ttir.logical_or",
    lambda _, call: call.lhs + call.rhs,
    reduction="ttir.sum",
    neutral=lambda _: 0,
    acts_on_parts=True,
)
MULTIPLY = _arithmetic(
    "stablehlo.multiply",
    "ttir.multiply",
    "ttir.logical_and",
    lambda _, call: call.lhs * call.rhs,
    reduction="ttir.prod",
    neutral=lambda _: 1,
    of_complex=of_both(complex_functions.product),
)
SUBTRACT = _arithmetic(
    "stablehlo.subtract",
    "ttir.subtract",
    "ttir.logical_xor",
    lambda _, call: call.lhs - call.rhs,
    acts_on_parts=True,
)
MAXIMUM = _arithmetic(
    "stablehlo.maximum",
    "ttir.maximum",
    "ttir.logical_or",
    lambda torch, call: torch.maximum(call.lhs, call.rhs),
    reduction="ttir.max",
    neutral=lambda x: x.lowest,
)
MINIMUM = _arithmetic(
    "stablehlo.minimum",
    "ttir.minimum",
    "ttir.logical_and",
    lambda torch, call: torch.minimum(call.lhs, call.rhs),
    reduction="ttir.min",
    neutral=lambda x: x.highest,
)
ATAN2 = conversion(
    "stablehlo.atan2",
    "lhs rhs",
    lambda ops, call: ops.same("ttir.atan2", call.lhs, call.rhs),
    lambda torch, call: torch.atan2(call.lhs, call.rhs),
    is_elementwise=True,
)

# --- Choices ----------------------------------------------------------------------------------------------------------

SELECT = conversion(
    "stablehlo.select",
    "pred on_true on_false",
    lambda ops, call: ops.select(ops.spread(call.pred, call.on_true.shape), call.on_true, call.on_false),
    lambda torch, call: torch.where(call.pred, call.on_true, call.on_false),
    is_elementwise=True,
    acts_on_parts=True,
)


def _clamped(ops: TtirOps, call: ConversionCall) -> Tensor:
    x = call.operand
    lower, upper = (ops.spread(each, x.shape) for each in (call.min, call.max))
    return ops.same("ttir.clamp_tensor", x, lower, upper)


CLAMP = conversion(
    "stablehlo.clamp",
    "min operand max",
    _clamped,
    lambda torch, call: torch.minimum(torch.maximum(call.operand, call.min), call.max),
    is_elementwise=True,
)

_COMPARISONS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "EQ": ("ttir.eq", lambda x, y: x == y),
    "NE": ("ttir.ne", lambda x, y: x != y),
    "GE": ("ttir.ge", lambda x, y: x >= y),
    "GT": ("ttir.gt", lambda x, y: x > y),
    "LE": ("ttir.le", lambda x, y: x <= y),
    "LT": ("ttir.lt", lambda x, y: x < y),
}


def _compared(ops: TtirOps, call: ConversionCall) -> Tensor:
    x, y = call.lhs, call.rhs
    if x.is_float and call.compare_type == "TOTALORDER":
        return _compared_in_total_order(ops, x, y, call.comparison_direction)
    if x.is_bool:
        x, y = ops.cast(x, "i32"), ops.cast(y, "i32")
    return ops.compared(_COMPARISONS[call.comparison_direction][0], x, y)


def _compared_in_total_order(ops: TtirOps, x: Tensor, y: Tensor, direction: str) -> Tensor:
    """-inf < ... < -0 < 0 < ... < inf < NaN; NaN has no sign here."""

    def less(first: Tensor, second: Tensor) -> Tensor:
        of_zeros = ops.same("ttir.logical_and", _is_negative(ops, first), _not(ops, _is_negative(ops, second)))
        of_zeros = ops.same("ttir.logical_and", of_zeros, ops.compared("ttir.eq", first, second))
        below_nan = ops.compared("ttir.ne", second, second)
        below_nan = ops.same("ttir.logical_and", below_nan, ops.compared("ttir.eq", first, first))
        found = ops.same("ttir.logical_or", ops.compared("ttir.lt", first, second), of_zeros)
        return ops.same("ttir.logical_or", found, below_nan)

    match direction:
        case "LT":
            return less(x, y)
        case "GT":
            return less(y, x)
        case "GE":
            return _not(ops, less(x, y))
        case "LE":
            return _not(ops, less(y, x))
    differs = ops.same("ttir.logical_or", less(x, y), less(y, x))
    return differs if direction == "NE" else _not(ops, differs)


def _not(ops: TtirOps, flags: Tensor) -> Tensor:
    return ops.same("ttir.logical_not", flags)


def _is_negative(ops: TtirOps, x: Tensor) -> Tensor:
    """Whether the inverse is below zero, which -0 has too."""
    return ops.compared("ttir.lt", ops.same("ttir.div", ops.like(x, 1), x), ops.like(x, 0))


def _compared_in_torch(torch: Any, call: TextCall) -> Any:
    x, y = call.lhs, call.rhs
    if x.is_floating_point() and call.compare_type == "TOTALORDER":
        x, y = (_bits_in_order(torch, each) for each in (x, y))
    if x.dtype is torch.bool:
        x, y = x.long(), y.long()
    return _COMPARISONS[call.comparison_direction][1](x, y)


def _bits_in_order(torch: Any, x: Any) -> Any:
    bits = torch.where(x.isnan(), math.nan, x.double()).view(torch.int64)
    return torch.where(bits < 0, bits ^ (2**63 - 1), bits)


COMPARE = conversion(
    "stablehlo.compare",
    "lhs rhs",
    _compared,
    _compared_in_torch,
    is_elementwise=True,
    comparison_direction=REQUIRED,
    compare_type=None,
    of_complex=complex_functions.compared,
)


def _cast_in_torch(torch: Any, call: TextCall) -> Any:
    x, dtype = call.operand, call.result.dtype
    if dtype.compute.is_bool:
        return x != 0
    if x.is_complex():
        return x if call.element_types["result"].startswith("complex") else x.real
    if dtype.is_integer and x.is_floating_point():
        lowest, highest = dtype.values[0], dtype.values[-1]
        return torch.nan_to_num(x, nan=0.0, posinf=highest, neginf=lowest).clamp(lowest, highest).trunc().long()
    return x


CONVERT = conversion(
    "stablehlo.convert",
    "operand",
    lambda ops, call: ops.cast(call.operand, call.result.element),
    _cast_in_torch,
    is_elementwise=True,
    keeps_number=True,
    of_complex=complex_functions.cast,
)

TEXTS = (
    *UNARY,
    *DERIVED,
    SIGN,
    NEGATE,
    ABS,
    IS_FINITE,
    IS_INF,
    IS_POS_INF,
    IS_NEG_INF,
    ADD,
    MULTIPLY,
    SUBTRACT,
    MAXIMUM,
    MINIMUM,
    ATAN2,
    SELECT,
    CLAMP,
    COMPARE,
    CONVERT,
)
