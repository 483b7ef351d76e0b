"""Gradients of operations of one tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ttnn_jit.ops.elementwise.activations import SELU_ALPHA, SELU_SCALE
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.gradients.backward import APPROXIMATE, gelu_slope, gradient
from ttnn_jit.ops.language.operation import torch_function
from ttnn_jit.ops.language.parameter import CHOICE, FLOAT, Parameter
from ttnn_jit.specs.extents.extent import applied

_LN_2, _LN_10 = math.log(2.0), math.log(10.0)


def _unary(
    name: str,
    derivative: Callable[..., Value | float],
    *attributes: Parameter,
    domain: tuple[float, float] = (-3.0, 3.0),
    forward: Callable[..., Any] | None = None,
    **fields: Any,
) -> MacroOperation:
    """The derivative times the gradient of the result; by default torch's function has the same name."""

    def formula(f: Ops, g: Value, x: Value, *numbers: Any) -> Value:
        return g * derivative(f, x, *numbers)

    return gradient(name, f"`{name}`", forward or torch_function(name), formula, *attributes, domain=domain, **fields)


def _step_function(name: str) -> MacroOperation:
    """The gradient of a step function, which is 0."""
    return gradient(name, f"`{name}`, which is 0", torch_function(name), lambda f, g, _: f.fill(g, 0.0))


def _activation(
    name: str, derivative: Callable[..., Value | float], *attributes: Parameter, **fields: Any
) -> MacroOperation:
    return _unary(
        name,
        derivative,
        *attributes,
        forward=lambda torch, x, *numbers: getattr(torch.nn.functional, name)(x, *numbers),
        **fields,
    )


def _between(x: Value, low: float, high: float) -> Value:
    return (x > low) * (x < high)


def _between_inclusive(f: Ops, x: Value, low: float, high: float) -> Value:
    inside = x >= low if low > -math.inf else f.fill(x, 1.0)
    return inside if high == math.inf else inside * (x <= high)


def _silu(f: Ops, x: Value) -> Value:
    return f.sigmoid(x) + f.silu(x) * f.sigmoid(-x)


def _softplus(f: Ops, x: Value, beta: float, threshold: float) -> Value:
    linear = x * beta > threshold
    return f.where(linear, 1.0, f.sigmoid(x * beta))


def _hardswish(f: Ops, x: Value) -> Value:
    return f.where(x <= -3.0, 0.0, f.where(x >= 3.0, 1.0, (x + x + 3.0) / 6.0))


def _softsign(f: Ops, x: Value) -> Value:
    below = 1.0 + f.abs(x)
    return 1.0 / below / below


def _arc_tangent(f: Ops, x: Value) -> Value:
    root = f.hypot(x, 1.0)
    return 1.0 / root / root


def _arc_sine(f: Ops, x: Value) -> Value:
    return 1.0 / f.sqrt((1.0 - x) * (1.0 + x))


def _inverse_cosh(f: Ops, x: Value) -> Value:
    x = f.abs(x)
    return 1.0 / (f.sqrt(x - 1.0) * f.sqrt(x + 1.0))


def _tangent(f: Ops, x: Value) -> Value:
    t = f.tan(x)
    return 1.0 + t * t


def _sigmoid(f: Ops, x: Value) -> Value:
    return f.sigmoid(x) * f.sigmoid(-x)


def _tanh(f: Ops, x: Value) -> Value:
    return 4.0 * _sigmoid(f, x + x)


def _selu(f: Ops, x: Value) -> Value:
    return f.where(x > 0.0, SELU_SCALE, SELU_SCALE * SELU_ALPHA * f.exp(x))


def _power_slope(f: Ops, x: Value, base: float) -> Value:
    """The derivative of `base` to the power of `x`; where `base` is 0 and `x` is not negative it is 0, as in torch."""
    if base > 0:
        half = f.rpow(x * 0.5, base)
        logarithm: float = applied(math.log, base)
        return half * logarithm * half
    return f.where(x >= 0.0, 0.0, -math.inf) if base == 0 else f.fill(x, math.nan)


def _number(name: str, default: float | None = None, *aliases: str) -> Parameter:
    return Parameter(name, FLOAT, default, aliases=aliases)


_LOW, _HIGH = _number("min", -math.inf), _number("max", math.inf)
_POSITIVE = (0.1, 9.0)

OPERATIONS = (
    _unary("abs", lambda f, x: f.sign(x)),
    _unary("acos", lambda f, x: -_arc_sine(f, x), domain=(-0.9, 0.9), max_ulp=1.5),
    _unary("acosh", _inverse_cosh, domain=(1.1, 9.0), max_ulp=3.0),
    _unary("asin", _arc_sine, domain=(-0.9, 0.9), max_ulp=1.5),
    _unary("asinh", lambda f, x: 1.0 / f.hypot(x, 1.0), max_ulp=2.0),
    _unary("atan", _arc_tangent, max_ulp=3.5),
    _unary("atanh", lambda _, x: 1.0 / (1.0 - x) / (1.0 + x), domain=(-0.9, 0.9), max_ulp=2.0),
    gradient("assign", "a copy", lambda _, x: x.clone(), lambda _, g, __: g * 1.0),
    *(_step_function(name) for name in ("ceil", "floor", "round", "sign", "trunc")),
    gradient("fill_zero", "zeros", lambda torch, x: torch.zeros_like(x), lambda f, g, _: f.fill(g, 0.0)),
    gradient("frac", "the fraction", lambda torch, x: torch.frac(x), lambda _, g, __: g * 1.0),
    gradient("neg", "`neg`", lambda torch, x: torch.neg(x), lambda _, g, __: -g),
    _activation(
        "celu", lambda f, x, alpha: f.where(x > 0.0, 1.0, f.exp(x / alpha)), _number("alpha", 1.0), max_ulp=1.25
    ),
    _unary("clamp", _between_inclusive, _LOW, _HIGH, values=(-1.0, 1.5)),
    _unary("clip", _between_inclusive, _LOW, _HIGH, values=(-math.inf, 1.5)),
    _unary("cos", lambda f, x: -f.sin(x), max_ulp=2.0),
    _unary("cosh", lambda f, x: f.sinh(x), max_ulp=1.5),
    _unary("deg2rad", lambda _, __: math.pi / 180),
    _unary("rad2deg", lambda _, __: 180 / math.pi),
    _activation(
        "elu", lambda f, x, alpha: f.where(x > 0.0, 1.0, alpha * f.exp(x)), _number("alpha", 1.0), max_ulp=1.25
    ),
    _unary("erf", lambda f, x: f.exp(-(x * x)) * (2.0 / math.sqrt(math.pi)), max_ulp=2.5),
    _unary("erfc", lambda f, x: f.exp(-(x * x)) * (-2.0 / math.sqrt(math.pi)), max_ulp=2.5),
    _unary(
        "erfinv",
        lambda f, x: f.exp(f.square(f.erfinv(x))) * (0.5 * math.sqrt(math.pi)),
        domain=(-0.9, 0.9),
        max_ulp=7.0,
    ),
    _unary("exp", lambda f, x: f.exp(x), max_ulp=1.25),
    _unary("exp2", lambda f, x: f.exp2(x - 1.0) * (2.0 * _LN_2), max_ulp=2.0),
    _unary("expm1", lambda f, x: f.exp(x), max_ulp=1.25),
    _unary(
        "gelu",
        gelu_slope,
        APPROXIMATE,
        max_ulp=4.0,
        max_absolute=1.2e-7,
        forward=lambda torch, x, approximate: torch.nn.functional.gelu(x, approximate=approximate or "none"),
    ),
    _activation("hardshrink", lambda f, x, lambd: f.abs(x) > lambd, _number("lambd", 0.5)),
    _activation("hardsigmoid", lambda _, x: _between(x, -3.0, 3.0) * (1.0 / 6.0), domain=(-5.0, 5.0)),
    _activation("hardswish", _hardswish, domain=(-5.0, 5.0), max_ulp=1.0),
    _activation("hardtanh", lambda _, x, low, high: _between(x, low, high), _number("min", -1.0), _number("max", 1.0)),
    _activation(
        "leaky_relu",
        lambda f, x, slope: f.where(x > 0.0, 1.0, f.fill(x, slope)),
        _number("negative_slope", 0.01),
    ),
    _unary("lgamma", lambda f, x: f.digamma(x), domain=_POSITIVE, max_ulp=4.0, max_absolute=4e-6),
    _unary("log", lambda _, x: 1.0 / x, domain=_POSITIVE),
    _unary("log10", lambda _, x: (1.0 / _LN_10) / x, domain=_POSITIVE, max_ulp=1.0),
    _unary("log1p", lambda _, x: 1.0 / (x + 1.0), domain=(-0.9, 9.0), max_ulp=1.5),
    _unary("log2", lambda _, x: (1.0 / _LN_2) / x, domain=_POSITIVE, max_ulp=1.0),
    _unary(
        "log_sigmoid",
        lambda f, x: f.sigmoid(-x),
        max_ulp=2.0,
        forward=lambda torch, x: torch.nn.functional.logsigmoid(x),
    ),
    _unary(
        "logit",
        lambda f, x: f.where(_between_inclusive(f, x, 0.0, 1.0), 1.0 / (x * (1.0 - x)), math.nan),
        domain=(0.1, 0.9),
        max_ulp=2.0,
    ),
    _unary("reciprocal", lambda _, x: -1.0 / x / x, domain=_POSITIVE, max_ulp=1.5),
    _unary("relu", lambda f, x: f.where(x <= 0.0, 0.0, 1.0)),
    _activation("relu6", lambda _, x: _between(x, 0.0, 6.0), domain=(-2.0, 9.0)),
    _unary("rsqrt", lambda f, x: -0.5 * f.rsqrt(x) / f.abs(x), domain=_POSITIVE, max_ulp=2.0),
    _unary("selu", _selu, max_ulp=2.5),
    _unary("sigmoid", _sigmoid, max_ulp=3.0),
    _activation("silu", _silu, max_ulp=4.0, max_absolute=1.2e-7),
    _unary("sin", lambda f, x: f.cos(x), max_ulp=2.0),
    _unary("sinh", lambda f, x: f.cosh(x), max_ulp=1.5),
    _activation(
        "softplus", _softplus, _number("beta", 1.0), _number("threshold", 20.0), domain=(-30.0, 30.0), max_ulp=2.0
    ),
    _activation("softshrink", lambda f, x, lambd: f.abs(x) > lambd, _number("lambd", 0.5)),
    _activation("softsign", _softsign, max_ulp=3.0),
    _unary("sqrt", lambda f, x: 0.5 * f.rsqrt(x), domain=_POSITIVE, max_ulp=1.5),
    _unary("square", lambda _, x: 2.0 * x),
    _unary("tan", _tangent, domain=(-1.3, 1.3), max_ulp=4.0),
    _unary("tanh", _tanh, max_ulp=3.0),
    _activation("tanhshrink", lambda f, x: f.square(f.tanh(x)), max_ulp=3.0),
    _activation(
        "threshold",
        lambda f, x, threshold, __: f.where(x <= threshold, 0.0, 1.0),
        _number("threshold", None, "min"),
        _number("value", None, "max"),
        values=(0.5, 2.0),
    ),
    *(
        _unary(name, lambda *_: 1.0, _number("scalar"), values=(0.75,), domain=_POSITIVE)
        for name in ("fmod", "remainder")
    ),
    _unary(
        "bias_gelu",
        lambda f, x, bias, approximate: gelu_slope(f, x + bias, approximate),
        _number("bias"),
        APPROXIMATE,
        values=(0.75, "none"),
        max_ulp=4.0,
        max_absolute=1.2e-7,
        forward=lambda torch, x, bias, approximate: torch.nn.functional.gelu(x + bias, approximate=approximate),
    ),
    gradient(
        "div_no_nan",
        "`div_no_nan` by a number",
        lambda torch, x, scalar: x / scalar if scalar else torch.zeros_like(x),
        lambda f, g, _, scalar: g / scalar if scalar else f.fill(g, 0.0),
        _number("scalar"),
        values=(2.5,),
    ),
    _unary(
        "rpow",
        _power_slope,
        _number("exponent"),
        values=(2.5,),
        max_ulp=4.0,
        forward=lambda torch, x, base: torch.pow(base, x),
    ),
    _unary(
        "pow",
        lambda f, x, exponent: exponent * f.pow(x, exponent - 1.0) if exponent else f.fill(x, 0.0),
        _number("exponent"),
        values=(2.5,),
        domain=_POSITIVE,
        max_ulp=2.5,
    ),
    _unary(
        "unary_sub", lambda _, __, ___: 1.0, _number("scalar"), values=(2.5,), forward=lambda _, x, scalar: x - scalar
    ),
    _unary(
        "rdiv",
        lambda _, x, scalar: -scalar / x / x,
        _number("scalar"),
        Parameter("rounding_mode", CHOICE, None),
        values=(2.5,),
        domain=_POSITIVE,
        max_ulp=1.5,
        forward=lambda _, x, scalar: scalar / x,
    ),
    *(
        gradient(
            "rdiv",
            "a quotient of a number that is rounded, which is 0",
            lambda torch, x, scalar, mode=mode: torch.div(torch.full_like(x, scalar), x, rounding_mode=mode),
            lambda f, g, *_: f.fill(g, 0.0),
            _number("scalar"),
            Parameter("rounding_mode", CHOICE, mode),
            values=(2.5,),
            domain=_POSITIVE,
        )
        for mode in ("floor", "trunc")
    ),
)
