"""Activations of neural networks: elementwise functions of one tensor."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.elementwise.unary import ROUNDED_TWICE, unary
from ttnn_jit.ops.families.elementwise import AlgebraicProperties, DerivedNumbers, Implementations, TurningPoints
from ttnn_jit.ops.language.operation import Probe
from ttnn_jit.ops.language.parameter import CHOICE, FLOAT, IGNORED, Parameter
from ttnn_jit.specs.extents.extent import applied

SELU_SCALE = 1.0507009873554805
SELU_ALPHA = 1.6732632423543772
SIXTH = (0.1666666716337204, -4.967053879312289e-09)  # 1/6 as a sum of two float32 numbers


def _clamped(b: Any, x: Any, low: float, high: float) -> Any:
    return b.minimum(b.maximum(x, b.const(low)), b.const(high))


def hardsigmoid(b: Any, x: Any) -> Any:
    """(x + 3) / 6 within [0, 1]; a product with 1/6 in two parts has the bits of the quotient."""
    limited = _clamped(b, b.add(x, b.const(3.0)), 0.0, 6.0)
    return b.fma(limited, b.const(SIXTH[0]), b.mul(limited, b.const(SIXTH[1])))


def _hardmish(b: Any, x: Any) -> Any:
    """2.8 is added in two parts: near -2.8 the first sum cancels, and the second part remains."""
    shifted = b.add(b.add(x, b.const(2.799999952316284)), b.const(4.76837158203125e-08))
    return b.mul(x, b.div(_clamped(b, shifted, 0.0, 5.0), b.const(5.0)))


def _logit(b: Any, x: Any) -> Any:
    """Near its zero by atanh, whose argument is exact there."""
    one = b.const(1.0)
    argument = b.sub(b.add(x, x), one)
    near = b.atanh(argument)
    is_near = b.le(b.abs(argument), b.const(0.5))
    return b.select(is_near, b.add(near, near), b.log(b.div(x, b.sub(one, x))))


def _logit_between(b: Any, x: Any, low: float, high: float, of_low: float, of_high: float) -> Any:
    above = b.select(b.gt(x, b.const(high)), b.const(of_high), _logit(b, x))
    return b.select(b.lt(x, b.const(low)), b.const(of_low), above)


def _ends_of_logit(eps: float) -> tuple[float, float, float, float]:
    """The ends eps and 1 - eps, and the values there; by `eps` in float64, for 1 - eps in float32 loses digits."""
    end = _float64_logit(eps)
    return eps, 1.0 - eps, end, -end


def _float64_logit(x: float) -> float:
    if not 0 <= x <= 1:
        return math.nan
    if x == 0:
        return -math.inf
    if x == 1:
        return math.inf
    value: float = applied(math.log, x / (1 - x))
    return value


def _logit_golden(torch: Any, x: Any) -> Any:
    """torch.logit cancels around 1/2, in float64 too."""
    near = 2 * torch.atanh(2 * x - 1)
    return torch.where((x > 0.25) & (x < 0.75), near, torch.logit(x))


def _where_positive(b: Any, x: Any, positive: Any, other: Any) -> Any:
    return b.select(b.gt(x, b.const(0.0)), positive, other)


def _softplus(b: Any, x: Any, beta: float, threshold: float) -> Any:
    above = b.gt(b.mul(x, b.const(beta)), b.const(threshold))
    return b.select(above, x, b.softplus(x, beta))


def _softplus_bfloat16(b: Any, x: Any, beta: float, threshold: float) -> Any:
    if beta != 1.0:
        return _softplus(b, x, beta, threshold)
    return b.select(b.gt(x, b.const(threshold)), x, b.softplus_bfloat16(x))


def _elu(b: Any, x: Any, alpha: float) -> Any:
    return _where_positive(b, x, x, b.mul(b.const(alpha), b.expm1(x)))


def _celu(b: Any, x: Any, alpha: float) -> Any:
    """The quotient may underflow; the result is x for small quotients."""
    quotient = b.div(x, b.const(alpha))
    negative = b.mul(b.const(alpha), b.expm1(quotient))
    return b.select(b.either(b.gt(x, b.const(0.0)), b.lt(b.abs(quotient), b.const(2.0**-25))), x, negative)


def _elu_bfloat16(b: Any, x: Any, alpha: float) -> Any:
    return _where_positive(b, x, x, b.expm1_bfloat16(x)) if alpha == 1.0 else _elu(b, x, alpha)


def _celu_bfloat16(b: Any, x: Any, alpha: float) -> Any:
    return _elu_bfloat16(b, x, alpha) if alpha == 1.0 else _celu(b, x, alpha)


def _selu(b: Any, x: Any, scale: float, scaled_alpha: float) -> Any:
    return _where_positive(b, x, b.mul(x, b.const(scale)), b.mul(b.const(scaled_alpha), b.expm1(x)))


def _tanhshrink(torch: Any, x: Any) -> Any:
    # The difference cancels in float64 too, hence a series near zero.
    w = x * x
    series = x * w * (1 / 3 - w * (2 / 15 - w * (17 / 315 - w * (62 / 2835 - w * 1382 / 155925))))
    return torch.where(x.abs() < 0.02, series, x - torch.tanh(x))


SIGMOID = unary(
    "sigmoid",
    summary="1 / (1 + exp(-x)).",
    implementations=Implementations(bfloat16=lambda b, x: b.sigmoid_bfloat16(x)),
    probe=Probe(domain=(-100.0, 100.0), max_ulp=2.0),
    parameters=(Parameter("mode", IGNORED),),
)
RELU = unary(
    "relu",
    summary="max(x, 0); NaN stays NaN.",
    emit=lambda b, x: b.maximum(x, b.const(0.0)),
    algebra=AlgebraicProperties(selects_operand=True),
)
GELU = unary(
    "gelu",
    summary="x times the normal distribution function of x.",
    implementations=Implementations(bfloat16=lambda b, x: b.gelu_bfloat16(x)),
    # torch's own gelu cancels in the left tail, in float64 too.
    golden=lambda torch, x: x * torch.special.erfc(-x * 0.5**0.5) / 2,
    probe=Probe(domain=(-14.0, 14.0), max_ulp=3.5, max_ulp_bf16=ROUNDED_TWICE),
    parameters=(Parameter("approximate", CHOICE, "none", aliases=("variant",)),),
    turns=TurningPoints((-0.7517915246935645,)),
)
GELU_TANH = unary(
    "gelu",
    summary="x * sigmoid(2 sqrt(2 / pi) (x + 0.044715 x**3)): gelu with tanh in place of erf.",
    emit=lambda b, x: b.gelu_tanh(x),
    implementations=Implementations(bfloat16=lambda b, x: b.gelu_tanh_bfloat16(x)),
    # torch's own cancels in the left tail.
    golden=lambda torch, x: x * torch.sigmoid(8**0.5 / torch.pi**0.5 * (x + 0.044715 * x**3)),
    probe=Probe(domain=(-10.0, 10.0), max_ulp=3.0, max_ulp_bf16=ROUNDED_TWICE),
    parameters=(Parameter("approximate", CHOICE, "tanh", aliases=("variant",)),),
    turns=TurningPoints((-0.7524614220710162,)),
    ttnn_name="gelu_tanh",
)
SILU = unary(
    "silu",
    summary="x * sigmoid(x), the smooth relu.",
    implementations=Implementations(bfloat16=lambda b, x: b.silu_bfloat16(x)),
    golden=lambda torch, x: torch.nn.functional.silu(x),
    probe=Probe(domain=(-100.0, 100.0), max_ulp=2.5, max_ulp_bf16=ROUNDED_TWICE),
    aliases=("swish",),
    turns=TurningPoints((-1.278464542761074,)),
)
RELU6 = unary(
    "relu6",
    summary="x limited to [0, 6]; NaN stays NaN.",
    emit=lambda b, x: _clamped(b, x, 0.0, 6.0),
    golden=lambda torch, x: torch.clamp(x, 0.0, 6.0),
    algebra=AlgebraicProperties(selects_operand=True),
)
LEAKY_RELU = unary(
    "leaky_relu",
    summary="x where it is positive, else slope * x.",
    parameters=(Parameter("slope", FLOAT, 0.01, aliases=("negative_slope",), spellings=("parameter",)),),
    emit=lambda b, x, slope: _where_positive(b, x, x, b.mul(x, b.const(slope))),
    golden=lambda torch, x, slope: torch.nn.functional.leaky_relu(x, slope),
)
ELU = unary(
    "elu",
    summary="x where it is positive, else alpha * (exp(x) - 1).",
    parameters=(Parameter("alpha", FLOAT, 1.0),),
    emit=_elu,
    implementations=Implementations(bfloat16=_elu_bfloat16),
    golden=lambda torch, x, alpha: torch.where(x > 0, x, alpha * torch.expm1(x)),
    probe=Probe((-20.0, 20.0), 3.0, ROUNDED_TWICE, attributes=(0.75,)),
)
SELU = unary(
    "selu",
    summary="scale * x where x is positive, else scale * alpha * (exp(x) - 1).",
    parameters=(Parameter("scale", FLOAT, SELU_SCALE), Parameter("alpha", FLOAT, SELU_ALPHA)),
    derived=DerivedNumbers(lambda scale, alpha: (scale, scale * alpha), _selu),
    golden=lambda torch, x, scale, alpha: scale * torch.where(x > 0, x, alpha * torch.expm1(x)),
    probe=Probe((-20.0, 20.0), 4.0, ROUNDED_TWICE, attributes=(1.0507, 1.67326)),
)
CELU = unary(
    "celu",
    summary="x where it is positive, else alpha * (exp(x / alpha) - 1).",
    parameters=(Parameter("alpha", FLOAT, 1.0),),
    emit=_celu,
    implementations=Implementations(bfloat16=_celu_bfloat16),
    golden=lambda torch, x, alpha: torch.where(x > 0, x, alpha * torch.expm1(x / alpha)),
    probe=Probe((-20.0, 20.0), 4.0, ROUNDED_TWICE, attributes=(0.75,)),
)
MISH = unary(
    "mish",
    summary="x * tanh(log(1 + exp(x))).",
    golden=lambda torch, x: torch.nn.functional.mish(x),
    probe=Probe((-100.0, 50.0), 4.0, ROUNDED_TWICE),
    turns=TurningPoints((-1.1924312145154952,)),
)
SOFTPLUS = unary(
    "softplus",
    summary="log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold.",
    parameters=(Parameter("beta", FLOAT, 1.0), Parameter("threshold", FLOAT, 20.0)),
    emit=_softplus,
    implementations=Implementations(bfloat16=_softplus_bfloat16),
    golden=lambda torch, x, beta, threshold: torch.nn.functional.softplus(x, beta, threshold),
    probe=Probe((-80.0, 40.0), 4.0, ROUNDED_TWICE, attributes=(0.75, 20.0)),
)
LOG_SIGMOID = unary(
    "log_sigmoid",
    summary="log(sigmoid(x)).",
    emit=lambda b, x: b.neg(b.softplus(b.neg(x))),
    implementations=Implementations(bfloat16=lambda b, x: b.neg(b.softplus_bfloat16(b.neg(x)))),
    golden=lambda torch, x: torch.nn.functional.logsigmoid(x),
    probe=Probe((-80.0, 80.0), 3.0, ROUNDED_TWICE),
)
HARDSIGMOID = unary(
    "hardsigmoid",
    summary="(x + 3) / 6, limited to [0, 1].",
    emit=hardsigmoid,
    golden=lambda torch, x: torch.clamp(x + 3, 0, 6) / 6,
    probe=Probe((-4.0, 4.0), 1.5, ROUNDED_TWICE),
)
HARDSWISH = unary(
    "hardswish",
    summary="x * hardsigmoid(x).",
    emit=lambda b, x: b.mul(x, hardsigmoid(b, x)),
    golden=lambda torch, x: x * (torch.clamp(x + 3, 0, 6) / 6),
    probe=Probe((-4.0, 4.0), 2.5, ROUNDED_TWICE),
    turns=TurningPoints((-1.5,)),
)
HARDMISH = unary(
    "hardmish",
    summary="x * (x + 2.8) / 5, its second factor limited to [0, 5]: a piecewise approximation of mish.",
    emit=_hardmish,
    aten="",
    golden=lambda torch, x: x * (torch.clamp(x + 2.8, 0, 5) / 5),
    probe=Probe((-4.0, 4.0), 2.5, ROUNDED_TWICE),
    turns=TurningPoints((-1.4,)),
)
LOGIT = unary(
    "logit",
    summary="log(x / (1 - x)); NaN beyond [0, 1].",
    parameters=(Parameter("eps", CHOICE, None),),
    emit=_logit,
    golden=_logit_golden,
    probe=Probe((0.0, 1.0), 4.0, ROUNDED_TWICE),
)
LOGIT_EPS = unary(
    "logit",
    summary="log(x / (1 - x)) of x limited to [eps, 1 - eps].",
    parameters=(Parameter("eps", FLOAT),),
    derived=DerivedNumbers(_ends_of_logit, _logit_between),
    golden=lambda torch, x, eps: _logit_golden(torch, torch.where(x < eps, eps, torch.where(x > 1 - eps, 1 - eps, x))),
    probe=Probe((-0.5, 1.5), 4.0, ROUNDED_TWICE, attributes=(0.125,)),
    ttnn_name="logit_eps",
)
HARDTANH = unary(
    "hardtanh",
    summary="x limited to [min_val, max_val]; NaN stays NaN.",
    parameters=(Parameter("min_val", FLOAT, -1.0), Parameter("max_val", FLOAT, 1.0)),
    emit=_clamped,
    golden=lambda torch, x, low, high: torch.clamp(x, low, high),
)
TANHSHRINK = unary(
    "tanhshrink",
    summary="x - tanh(x), the digits of small results kept.",
    aten="",
    golden=_tanhshrink,
    probe=Probe((-12.0, 12.0), 4.0, ROUNDED_TWICE),
)
SOFTSIGN = unary(
    "softsign",
    summary="x / (1 + |x|).",
    emit=lambda b, x: b.div(x, b.add(b.const(1.0), b.abs(x))),
    aten="",
    golden=lambda _, x: x / (1 + x.abs()),
    probe=Probe((-10.0, 10.0), 1.5, ROUNDED_TWICE),
)
SOFTSHRINK = unary(
    "softshrink",
    summary="x moved towards zero by lambd, 0 where that would cross zero; NaN stays NaN.",
    parameters=(Parameter("lambd", FLOAT, 0.5),),
    emit=lambda b, x, lambd: b.select(
        b.le(b.abs(x), b.const(lambd)), b.const(0.0), b.sub(x, b.copysign(b.const(lambd), x))
    ),
    golden=lambda torch, x, lambd: torch.where(x.abs() <= lambd, 0.0, x - lambd * torch.sign(x)),
    probe=Probe((-2.0, 2.0), attributes=(0.75,)),
)
HARDSHRINK = unary(
    "hardshrink",
    summary="0 where |x| is at most lambd, else x; NaN stays NaN.",
    parameters=(Parameter("lambd", FLOAT, 0.5),),
    emit=lambda b, x, lambd: b.select(b.le(b.abs(x), b.const(lambd)), b.const(0.0), x),
    golden=lambda torch, x, lambd: torch.where(x.abs() <= lambd, 0.0, x),
    probe=Probe((-2.0, 2.0), attributes=(0.75,)),
)
THRESHOLD = unary(
    "threshold",
    summary="x where it is above the threshold (or NaN), else value.",
    parameters=(Parameter("threshold", FLOAT, 0.0), Parameter("value", FLOAT, 0.0)),
    emit=lambda b, x, threshold, value: b.select(b.le(x, b.const(threshold)), b.const(value), x),
    golden=lambda torch, x, threshold, value: torch.nn.functional.threshold(x, threshold, value),
)

RELU_MAX = unary(
    "relu_max",
    summary="x where it is positive, else 0, and at most `upper_limit`.",
    parameters=(Parameter("upper_limit", FLOAT),),
    emit=lambda b, x, limit: b.minimum(b.maximum(x, b.const(0.0)), b.const(limit)),
    aten="",
    golden=lambda torch, x, limit: torch.minimum(torch.relu(x), torch.tensor(limit, dtype=x.dtype)),
    probe=Probe(attributes=(0.75,)),
)
RELU_MIN = unary(
    "relu_min",
    summary="x, and at least `lower_limit`.",
    parameters=(Parameter("lower_limit", FLOAT),),
    emit=lambda b, x, limit: b.maximum(x, b.const(limit)),
    aten="",
    golden=lambda torch, x, limit: torch.maximum(x, torch.tensor(limit, dtype=x.dtype)),
)

OPERATIONS = (
    SIGMOID, RELU, GELU, GELU_TANH, SILU, RELU6, LEAKY_RELU, ELU, SELU, CELU, MISH, SOFTPLUS, LOG_SIGMOID, HARDSIGMOID,
    HARDSWISH, HARDMISH, LOGIT, LOGIT_EPS, HARDTANH, TANHSHRINK, SOFTSIGN, SOFTSHRINK, HARDSHRINK, THRESHOLD, RELU_MAX,
    RELU_MIN,
)  # fmt: skip
