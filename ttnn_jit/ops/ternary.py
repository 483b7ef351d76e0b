"""Elementwise operations of three tensors; a number may stand for any but one of them."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.operation import Attribute, Operand, Operation, Probe
from ttnn_jit.ops.unary import ROUNDED_TWICE

_THREE = (Operand("input_tensor_a"), Operand("input_tensor_b"), Operand("input_tensor_c"))


def _clamp(b: Any, x: Any, low: Any, high: Any) -> Any:
    return b.minimum(b.maximum(x, low), high)


def _lerp(torch: Any, x: Any, y: Any, weight: Any) -> Any:
    # The digits of a small input beside a large `end`, those of a small `end`, and what infinities give.
    near_input, near_end = (x + weight * y) - weight * x, torch.lerp(x, y, weight)
    finite = torch.where(torch.as_tensor(weight).abs() < 0.5, near_input, near_end)
    return torch.where(x.isfinite() & y.isfinite(), finite, x + weight * (y - x))


WHERE = Operation(
    name="where",
    operands=(Operand("predicate"), Operand("true_value"), Operand("false_value")),
    summary="true_value where the predicate is not zero (NaN counts as not zero), else false_value.",
    source="ttnn.where",
    emit=lambda b, p, x, y: b.select(b.ne(p, b.const(0.0)), x, y),
    golden=lambda torch, p, x, y: torch.where(p != 0, x, y),
    dtype_from=1,
    chooses=True,
)
CLAMP_TENSOR = Operation(
    name="clamp",
    operands=(Operand("input_tensor"), Operand("min", -math.inf), Operand("max", math.inf)),
    summary="x limited to [min, max] element by element; NaN in any of them gives NaN.",
    source="ttnn.clamp",
    emit=_clamp,
    golden=lambda torch, x, low, high: torch.clamp(x, low, high),
    ttnn_name="clamp_tensor",
    ttir_name="clamp_tensor",
)

ADDCMUL = Operation(
    name="addcmul",
    operands=_THREE,
    attributes=(Attribute("value", 1.0),),
    summary="x + value * y * z.",
    source="ttnn.addcmul",
    emit=lambda b, x, y, z, value: b.addcmul(x, y, z, value),
    golden=lambda _, x, y, z, value: x + value * y * z,
    probe=Probe((-10.0, 10.0), 1.5, ROUNDED_TWICE),
)
ADDCDIV = Operation(
    name="addcdiv",
    operands=_THREE,
    attributes=(Attribute("value", 1.0),),
    summary="x + value * y / z.",
    source="ttnn.addcdiv",
    emit=lambda b, x, y, z, value: b.addcdiv(x, y, z, value),
    golden=lambda _, x, y, z, value: x + value * y / z,
    probe=Probe((-10.0, 10.0), 1.5, ROUNDED_TWICE),
)
LERP = Operation(
    name="lerp",
    operands=(Operand("input"), Operand("end"), Operand("weight")),
    summary="input + weight * (end - input).",
    source="ttnn.lerp",
    emit=lambda b, x, y, weight: b.lerp(x, y, weight),
    golden=_lerp,
    probe=Probe((-10.0, 10.0), 1.5, ROUNDED_TWICE),
)
MAC = Operation(
    name="mac",
    operands=_THREE,
    summary="x * y + z, rounded once.",
    source="ttnn.mac",
    emit=lambda b, x, y, z: b.fma(x, y, z),
    golden=lambda _, x, y, z: x * y + z,
    probe=Probe((-10.0, 10.0), 0.51, ROUNDED_TWICE),
)

OPERATIONS = (WHERE, CLAMP_TENSOR, ADDCMUL, ADDCDIV, LERP, MAC)
