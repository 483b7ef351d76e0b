"""Gradients of operations of several tensors, and of a tensor and a number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.gradients.backward import APPROXIMATE, INPUT, OTHER, gelu_slope, gradient
from ttnn_jit.ops.language.operation import torch_function
from ttnn_jit.ops.language.parameter import CHOICE, DIMENSION, FLOAT, TENSOR, Parameter

_LN_2 = math.log(2.0)
_INPUT_PAIR = (INPUT, OTHER)
_POSITIVE = (0.2, 5.0)
_UNROUNDED = Parameter("rounding_mode", CHOICE, None)


def _binary(
    name: str,
    formula: Callable[..., Sequence[Value]],
    *attributes: Parameter,
    forward: Callable[..., Any] | None = None,
    **fields: Any,
) -> MacroOperation:
    in_torch = forward or torch_function(name)
    return gradient(name, f"`{name}`, of each input", in_torch, formula, *attributes, inputs=_INPUT_PAIR, **fields)


def _scaled_binary(name: str, sign: float, factor: Parameter) -> MacroOperation:
    """The gradient of the sum, or the difference, of a tensor and `factor` times another."""
    return _binary(
        name,
        lambda _, g, __, ___, alpha: [g, g * (sign * alpha)],
        factor,
        values=(2.5,),
        forward=lambda _, a, b, alpha: a + sign * alpha * b,
    )


def _tensor_and_scalar(
    name: str, factor: Callable[..., Value | float], forward: Callable[..., Any], *others: Parameter, **fields: Any
) -> MacroOperation:
    """The gradient of an operation of a tensor and a number."""

    def formula(f: Ops, g: Value, x: Value, scalar: float) -> Value:
        return g * factor(f, x, scalar)

    scalar = Parameter("scalar", FLOAT)
    return gradient(name, f"`{name}` with a number", forward, formula, scalar, *others, values=(2.5,), **fields)


def _comparison(name: str) -> MacroOperation:
    """The gradient of a comparison, which is 0."""
    return gradient(
        f"binary_{name}",
        f"`{name}`, which is 0",
        lambda torch, a, b: getattr(torch, name)(a, b).to(a.dtype),
        lambda f, g, _, __: [f.fill(g, 0.0), f.fill(g, 0.0)],
        inputs=_INPUT_PAIR,
    )


def _rescaled(f: Ops, a: Value, b: Value) -> tuple[Value, Value, Value, Value]:
    """A power of two, both operands times it, and the hypotenuse of these, which neither overflows nor underflows."""
    scale = f.where(f.maximum(f.abs(a), f.abs(b)) > 1.0, 0.5, 2.0**24)
    a, b = a * scale, b * scale
    return scale, a, b, f.hypot(a, b)


def _hypot(f: Ops, g: Value, a: Value, b: Value) -> list[Value]:
    _, a, b, h = _rescaled(f, a, b)
    return [g * (a / h), g * (b / h)]


def _atan2(f: Ops, g: Value, a: Value, b: Value) -> list[Value]:
    scale, a, b, h = _rescaled(f, a, b)
    h = f.where(f.eq(h, 0.0), 1.0, h)  # where both are 0, so are the gradients
    return [g * (b / h * scale / h), -(g * (a / h * scale / h))]


def _logaddexp(base_2: bool) -> Callable[..., list[Value]]:
    """The gradient of the logarithm of a sum of powers: the share of each power in the sum.

    The smaller share is an exponential, whose argument, up to 128, is rounded.
    """

    def formula(f: Ops, g: Value, a: Value, b: Value) -> list[Value]:
        ahead = a - b
        smaller = (f.exp2 if base_2 else f.exp)(-f.abs(ahead))
        larger = 1.0 + smaller
        shares = [f.where(each >= 0.0, 1.0, smaller) / larger for each in (ahead, -ahead)]
        return [g * share for share in shares]

    return formula


def _selection(f: Ops, g: Value, first: Value, equal: Value) -> list[Value]:
    """The gradient of an operation that selects one of two inputs; where they are equal, each gets half."""
    share = f.where(equal, 0.5, first)
    return [g * share, g * (1.0 - share)]


def _squared_difference(_: Ops, g: Value, a: Value, b: Value) -> list[Value]:
    twice = g * (2.0 * (a - b))
    return [twice, -twice]


def _bias_gelu(f: Ops, g: Value, a: Value, b: Value, approximate: str | None) -> list[Value]:
    slope = g * gelu_slope(f, a + b, approximate)
    return [slope, slope]


def _rounded_quotients(mode: str) -> tuple[MacroOperation, MacroOperation]:
    """The gradients of rounded quotients, which are 0."""
    rounding = Parameter("rounding_mode", CHOICE, mode)

    def forward(torch: Any, x: Any, y: Any) -> Any:
        return torch.div(x, y, rounding_mode=mode)

    def zeros(f: Ops, g: Value, *_: Any) -> list[Value]:
        return [f.fill(g, 0.0), f.fill(g, 0.0)]

    return (
        _binary("div", zeros, rounding, forward=forward, domain=_POSITIVE),
        _tensor_and_scalar("div", lambda *_: 0.0, forward, rounding),
    )


def _remainder(name: str, mode: str) -> MacroOperation:
    """The gradient of `fmod` or `remainder`."""

    def formula(f: Ops, g: Value, a: Value, b: Value) -> list[Value]:
        return [g, -(g * f.divide(a, b, rounding_mode=mode))]

    return _binary(name, formula, domain=_POSITIVE)


def _where(f: Ops, g: Value, a: Value, *_: Value) -> list[Value]:
    return [f.fill(a, 0.0), f.where(a, g, 0.0), f.where(a, 0.0, g)]


def _concat(f: Ops, g: Value, a: Value, _: Value, dim: int) -> list[Value]:
    axis = dim % len(g.shape)
    cut = a.shape[axis]
    return [f.sliced(g, axis, 0, cut), f.sliced(g, axis, cut, g.shape[axis])]


_ALPHA = Parameter("alpha", FLOAT, 1.0)
_VALUE = Parameter("value", FLOAT, 1.0, aliases=("alpha",))
_INPUT_TRIPLE = (INPUT, *(Parameter(f"input_tensor_{letter}", TENSOR) for letter in "bc"))


def _ternary(
    name: str, formula: Callable[..., Sequence[Value]], *attributes: Parameter, **fields: Any
) -> MacroOperation:
    return gradient(
        name, f"`{name}`, of each input", fields.pop("forward"), formula, *attributes, inputs=_INPUT_TRIPLE, **fields
    )


def _xlogy(f: Ops, g: Value, a: Value, b: Value) -> list[Value]:
    is_zero = f.eq(a, 0.0) * (b <= 0.0)
    return [f.where(is_zero, 0.0, g * f.log(b)), g * (a / b)]


OPERATIONS = (
    _binary("add", lambda _, g, __, ___: [g, g * 1.0]),
    _scaled_binary("add", 1.0, Parameter("alpha", FLOAT)),
    _tensor_and_scalar("add", lambda *_: 1.0, lambda _, x, y: x + y),
    _binary("sub", lambda _, g, __, ___: [g, -g]),
    _scaled_binary("sub", -1.0, Parameter("alpha", FLOAT)),
    _tensor_and_scalar("sub", lambda *_: 1.0, lambda _, x, y: x - y),
    _binary("mul", lambda _, g, a, b: [g * b, g * a]),
    _tensor_and_scalar("mul", lambda _, __, scalar: scalar, lambda _, x, y: x * y),
    _binary("div", lambda _, g, a, b: [g / b, -(g * (a / b / b))], _UNROUNDED, domain=_POSITIVE, max_ulp=1.5),
    gradient(
        "div",
        "`div` by a number",
        lambda _, x, y: x / y,
        lambda _, g, __, scalar: g / scalar,
        Parameter("scalar", FLOAT),
        _UNROUNDED,
        values=(2.5,),
    ),
    *(each for mode in ("floor", "trunc") for each in _rounded_quotients(mode)),
    _remainder("fmod", "trunc"),
    _remainder("remainder", "floor"),
    _binary("rsub", lambda _, g, __, ___: [-g, g]),
    _scaled_binary("addalpha", 1.0, _ALPHA),
    _scaled_binary("subalpha", -1.0, _ALPHA),
    _binary("atan2", _atan2, domain=_POSITIVE, max_ulp=4.0),
    _binary("hypot", _hypot, domain=_POSITIVE, max_ulp=2.0),
    _binary(
        "ldexp",
        lambda f, g, a, b: [f.ldexp(g, b), g * (f.ldexp(a, b - 1.0) * (2.0 * _LN_2))],
        max_ulp=1.5,
        forward=lambda torch, a, b: a * torch.exp2(b),
    ),
    _binary("logaddexp", _logaddexp(base_2=False), max_ulp=34.0),
    _binary("logaddexp2", _logaddexp(base_2=True), max_ulp=34.0),
    _binary("squared_difference", _squared_difference, forward=lambda torch, a, b: torch.square(a - b)),
    _binary("xlogy", _xlogy, domain=_POSITIVE, max_ulp=2.0),
    _binary(
        "bias_gelu",
        _bias_gelu,
        APPROXIMATE,
        max_ulp=4.0,
        max_absolute=1.2e-7,
        forward=lambda torch, a, b, approximate: torch.nn.functional.gelu(a + b, approximate=approximate),
    ),
    _binary(
        "lerp",
        lambda _, g, __, ___, weight: [g * (1.0 - weight), g * weight],
        Parameter("weight", FLOAT, aliases=("input_tensor_c", "scalar")),
        values=(0.75,),
    ),
    _binary("max", lambda f, g, a, b: _selection(f, g, a > b, f.eq(a, b)), forward=torch_function("maximum")),
    _binary("min", lambda f, g, a, b: _selection(f, g, a < b, f.eq(a, b)), forward=torch_function("minimum")),
    _binary("assign", lambda f, g, _, __: [g, f.fill(g, 0.0)], forward=lambda _, a, b: a + 0 * b),
    _binary(
        "concat",
        _concat,
        Parameter("dim", DIMENSION, 0),
        forward=lambda torch, a, b, dim: torch.cat([a, b], dim),
        shapes=(((6, 40), (2, 40), (4, 40)),),
    ),
    *(_comparison(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")),
    _ternary(
        "addcmul",
        lambda _, g, __, b, c, value: [g, g * (c * value), g * (b * value)],
        _VALUE,
        values=(2.5,),
        forward=lambda torch, a, b, c, value: torch.addcmul(a, b, c, value=value),
    ),
    _ternary(
        "addcdiv",
        lambda _, g, __, b, c, value: [g, g * (value / c), -(g * (b / c / c * value))],
        _VALUE,
        values=(2.5,),
        domain=_POSITIVE,
        max_ulp=3.0,
        forward=lambda torch, a, b, c, value: torch.addcdiv(a, b, c, value=value),
    ),
    _ternary(
        "lerp",
        lambda _, g, a, b, weight: [g * (1.0 - weight), g * weight, g * (b - a)],
        forward=torch_function("lerp"),
    ),
    _ternary("where", _where, forward=lambda torch, a, b, c: torch.where(a != 0, b, c)),
)
