"""Elementwise operations of three tensors; a number may stand for any but one of them."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.operation import Operand, Operation


def _clamp(b: Any, x: Any, low: Any, high: Any) -> Any:
    return b.minimum(b.maximum(x, low), high)


WHERE = Operation(
    name="where",
    operands=(Operand("predicate"), Operand("true_value"), Operand("false_value")),
    summary="true_value where the predicate is not zero (NaN counts as not zero), else false_value.",
    source="ttnn.where",
    emit=lambda b, p, x, y: b.select(b.ne(p, b.const(0.0)), x, y),
    golden=lambda torch, p, x, y: torch.where(p != 0, x, y),
    dtype_from=1,
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

OPERATIONS = (WHERE, CLAMP_TENSOR)
