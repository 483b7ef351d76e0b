"""Elementwise operations of one tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.ops.operation import Attribute, Operand, Operation, Probe

MAX_FLOAT32 = 3.4028234663852886e38


def unary(name: str, **fields: Any) -> Operation:
    """A declaration with the one operand that ttnn calls ``input_tensor``."""
    return Operation(name=name, operands=(Operand("input_tensor"),), source=f"ttnn.{name}", **fields)


def _clamp(b: Any, x: Any, low: float, high: float) -> Any:
    return b.minimum(b.maximum(x, b.const(low)), b.const(high))


def _golden(name: str) -> Callable[..., Any]:
    return lambda torch, x: getattr(torch, name)(x)


ABS = unary("abs", summary="|x|.", emit=lambda b, x: b.abs(x), golden=_golden("abs"))
NEG = unary(
    "neg", summary="-x: the sign bit flipped.", emit=lambda b, x: b.neg(x), golden=_golden("neg"), operator="neg"
)
EXP = unary(
    "exp",
    summary="e to the power x.",
    emit=lambda b, x: b.exp(x),
    golden=_golden("exp"),
    probe=Probe(domain=(-110.0, 100.0), max_ulp=1.25),
)
LOG = unary(
    "log",
    summary="The natural logarithm; NaN below zero.",
    emit=lambda b, x: b.log(x),
    golden=_golden("log"),
    probe=Probe(domain=(0.0, 1e6), max_ulp=1.25),
)
SIN = unary(
    "sin",
    summary="Sine of x radians, to the largest float.",
    emit=lambda b, x: b.sin(x),
    golden=_golden("sin"),
    probe=Probe(domain=(-1e4, 1e4), max_ulp=2.0),
)
COS = unary(
    "cos",
    summary="Cosine of x radians, to the largest float.",
    emit=lambda b, x: b.cos(x),
    golden=_golden("cos"),
    probe=Probe(domain=(-1e4, 1e4), max_ulp=2.0),
)
TANH = unary(
    "tanh",
    summary="Hyperbolic tangent.",
    emit=lambda b, x: b.tanh(x),
    golden=_golden("tanh"),
    probe=Probe(domain=(-12.0, 12.0), max_ulp=1.5),
)
SIGMOID = unary(
    "sigmoid",
    summary="1 / (1 + exp(-x)).",
    emit=lambda b, x: b.sigmoid(x),
    golden=_golden("sigmoid"),
    probe=Probe(domain=(-100.0, 100.0), max_ulp=2.5),
)
SQRT = unary(
    "sqrt",
    summary="Square root, correctly rounded; NaN below zero.",
    emit=lambda b, x: b.sqrt(x),
    golden=_golden("sqrt"),
    probe=Probe(domain=(0.0, 1e6)),
)
RSQRT = unary(
    "rsqrt",
    summary="1 / sqrt(x).",
    emit=lambda b, x: b.rsqrt(x),
    golden=_golden("rsqrt"),
    probe=Probe(domain=(0.0, 1e6), max_ulp=1.5),
)
RECIPROCAL = unary(
    "reciprocal",
    summary="1 / x, correctly rounded.",
    emit=lambda b, x: b.div(b.const(1.0), x),
    golden=_golden("reciprocal"),
    tile_name="tile_recip",
)
RELU = unary(
    "relu",
    summary="max(x, 0); NaN stays NaN.",
    emit=lambda b, x: b.maximum(x, b.const(0.0)),
    golden=_golden("relu"),
)
GELU = unary(
    "gelu",
    summary="x times the normal distribution function of x.",
    emit=lambda b, x: b.gelu(x),
    # torch's own gelu cancels in the left tail, in float64 too.
    golden=lambda torch, x: x * torch.special.erfc(-x * 0.5**0.5) / 2,
    probe=Probe(domain=(-14.0, 14.0), max_ulp=3.5, max_ulp_bf16=1.0),
)
SILU = unary(
    "silu",
    summary="x * sigmoid(x), the smooth relu.",
    emit=lambda b, x: b.silu(x),
    golden=lambda torch, x: torch.nn.functional.silu(x),
    probe=Probe(domain=(-100.0, 100.0), max_ulp=2.5, max_ulp_bf16=1.0),
    aliases=("swish",),
)
CLAMP = unary(
    "clamp",
    summary="x limited to [min, max]; NaN stays NaN.",
    attributes=(Attribute("min", -MAX_FLOAT32), Attribute("max", MAX_FLOAT32)),
    emit=_clamp,
    golden=lambda torch, x, low, high: torch.clamp(x, low, high),
    ttnn_name="clamp_scalar",
    ttir_name="clamp_scalar",
)

OPERATIONS = (
    ABS, NEG, EXP, LOG, SIN, COS, TANH, SIGMOID, SQRT, RSQRT, RECIPROCAL, RELU, GELU, SILU, CLAMP,
)  # fmt: skip
