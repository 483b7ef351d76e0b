"""Elementwise operations of three operands, at least one of them a tensor, the others tensors or numbers."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.elementwise.unary import ROUNDED_TWICE
from ttnn_jit.ops.families.elementwise import AlgebraicProperties, DerivedNumbers, Elementwise, elementwise
from ttnn_jit.ops.language.operation import Probe
from ttnn_jit.ops.language.parameter import FLOAT, TENSOR_OR_NUMBER, Parameter
from ttnn_jit.ops.language.scaled_factor import scaled_factor


def ternary(name: str, *parameters: Parameter, **fields: Any) -> Elementwise:
    """A declaration with these parameters."""
    return elementwise(name, parameters, **fields)


_THREE = (
    Parameter("input_tensor_a", TENSOR_OR_NUMBER, aliases=("input_a",)),
    Parameter("input_tensor_b", TENSOR_OR_NUMBER, aliases=("input_b", "value1")),
    Parameter("input_tensor_c", TENSOR_OR_NUMBER, aliases=("input_c", "value2")),
)
_VALUE = Parameter("value", FLOAT, 1.0)


def _clamp(b: Any, x: Any, low: Any, high: Any) -> Any:
    return b.minimum(b.maximum(x, low), high)


def _lerp(torch: Any, x: Any, y: Any, weight: Any) -> Any:
    # Two formulas, accurate for a small `input` and for a small `end`, and a third one for infinities.
    near_input, near_end = (x + weight * y) - weight * x, torch.lerp(x, y, weight)
    finite = torch.where(torch.as_tensor(weight).abs() < 0.5, near_input, near_end)
    return torch.where(x.isfinite() & y.isfinite(), finite, x + weight * (y - x))


WHERE = ternary(
    "where",
    Parameter("predicate", TENSOR_OR_NUMBER),
    Parameter("true_value", TENSOR_OR_NUMBER),
    Parameter("false_value", TENSOR_OR_NUMBER),
    summary="true_value where the predicate is not zero (NaN counts as not zero), else false_value.",
    emit=lambda b, p, x, y: b.select(b.ne(p, b.const(0.0)), x, y),
    golden=lambda torch, p, x, y: torch.where(p != 0, x, y),
    dtype_operand=1,
    algebra=AlgebraicProperties(selects_operand=True, monotone=True),
)
CLAMP_TENSOR = ternary(
    "clamp",
    Parameter("input_tensor", TENSOR_OR_NUMBER),
    Parameter("min", TENSOR_OR_NUMBER, -math.inf),
    Parameter("max", TENSOR_OR_NUMBER, math.inf),
    summary="x limited to [min, max] element by element; NaN in any of them gives NaN.",
    emit=_clamp,
    ttnn_name="clamp_tensor",
)

ADDCMUL = ternary(
    "addcmul",
    *_THREE,
    _VALUE,
    summary="x + value * y * z.",
    derived=DerivedNumbers(
        lambda value: (value, float(abs(value) < 1.0)),
        lambda b, x, y, z, value, is_small: b.addcmul(x, y, z, value, is_small),
    ),
    golden=lambda _, x, y, z, value: x + value * y * z,
    probe=Probe((-10.0, 10.0), 1.5, ROUNDED_TWICE),
)
ADDCDIV = ternary(
    "addcdiv",
    *_THREE,
    _VALUE,
    summary="x + value * y / z.",
    derived=DerivedNumbers(
        scaled_factor,
        lambda b, x, y, z, value, power, inverse: b.addcdiv(x, y, z, value, power, inverse),
    ),
    golden=lambda _, x, y, z, value: x + value * y / z,
    probe=Probe((-10.0, 10.0), 1.5, ROUNDED_TWICE),
)
LERP = ternary(
    "lerp",
    Parameter("input", TENSOR_OR_NUMBER),
    Parameter("end", TENSOR_OR_NUMBER),
    Parameter("weight", TENSOR_OR_NUMBER),
    summary="input + weight * (end - input).",
    golden=_lerp,
    probe=Probe((-10.0, 10.0), 1.5, ROUNDED_TWICE),
)
MAC = ternary(
    "mac",
    *_THREE,
    summary="x * y + z, rounded once.",
    emit=lambda b, x, y, z: b.fma(x, y, z),
    aten="",
    golden=lambda _, x, y, z: x * y + z,
    probe=Probe((-10.0, 10.0), 0.51, ROUNDED_TWICE),
)

OPERATIONS = (WHERE, CLAMP_TENSOR, ADDCMUL, ADDCDIV, LERP, MAC)
