"""Elementwise operations of two tensors, or of a tensor and a number."""

from __future__ import annotations

from typing import Any

from ttnn_jit.ops.operation import Operand, Operation, Probe


def binary(name: str, **fields: Any) -> Operation:
    """A declaration with the operands that ttnn calls ``input_tensor_a`` and ``input_tensor_b``."""
    operands = (Operand("input_tensor_a"), Operand("input_tensor_b"))
    return Operation(name=name, operands=operands, source=f"ttnn.{name}", **fields)


def comparison(name: str, operator: str, summary: str) -> Operation:
    """A comparison: 1.0 or 0.0 in the dtype of the first operand."""
    return binary(
        name,
        operator=operator,
        summary=f"1 where {summary}, else 0, in the first operand's dtype.",
        emit=lambda b, x, y: b.select(getattr(b, name)(x, y), b.const(1.0), b.const(0.0)),
        golden=lambda torch, x, y: getattr(torch, name)(x, y).to(x.dtype),
    )


ADD = binary(
    "add",
    operator="+",
    summary="x + y.",
    emit=lambda b, x, y: b.add(x, y),
    golden=lambda torch, x, y: torch.add(x, y),
)
SUBTRACT = binary(
    "subtract",
    operator="-",
    summary="x - y.",
    emit=lambda b, x, y: b.sub(x, y),
    golden=lambda torch, x, y: torch.sub(x, y),
    tile_name="tile_sub",
    aliases=("sub",),
)
MULTIPLY = binary(
    "multiply",
    operator="*",
    summary="x * y.",
    emit=lambda b, x, y: b.mul(x, y),
    golden=lambda torch, x, y: torch.mul(x, y),
    tile_name="tile_mul",
    aliases=("mul",),
)
DIVIDE = binary(
    "divide",
    operator="/",
    summary="x / y, correctly rounded.",
    emit=lambda b, x, y: b.div(x, y),
    golden=lambda torch, x, y: torch.div(x, y),
    ttir_name="div",
    aliases=("div",),
)
MAXIMUM = binary(
    "maximum",
    summary="The larger of x and y; NaN if either is.",
    emit=lambda b, x, y: b.maximum(x, y),
    golden=lambda torch, x, y: torch.maximum(x, y),
)
MINIMUM = binary(
    "minimum",
    summary="The smaller of x and y; NaN if either is.",
    emit=lambda b, x, y: b.minimum(x, y),
    golden=lambda torch, x, y: torch.minimum(x, y),
)
POW = binary(
    "pow",
    operator="**",
    summary="x to the power y, as C99 Annex F says.",
    emit=lambda b, x, y: b.pow(x, y),
    golden=lambda torch, x, y: torch.pow(x, y),
    probe=Probe(domain=(0.0, 20.0), max_ulp=1.5, max_ulp_bf16=1.0),
    ttnn_name="pow_tensor",
)
EQ = comparison("eq", "==", "x equals y")
NE = comparison("ne", "!=", "x differs from y")
LT = comparison("lt", "<", "x is below y")
LE = comparison("le", "<=", "x is not above y")
GT = comparison("gt", ">", "x is above y")
GE = comparison("ge", ">=", "x is not below y")

OPERATIONS = (ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, POW, EQ, NE, LT, LE, GT, GE)
