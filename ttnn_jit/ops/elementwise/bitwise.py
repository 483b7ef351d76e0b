"""Elementwise operations on the bits of integers."""

from __future__ import annotations

from typing import Any

from ttnn_jit.ops.elementwise.binary import binary
from ttnn_jit.ops.elementwise.unary import unary
from ttnn_jit.ops.language.parameter import TENSOR_OR_NUMBER, Parameter

_SHIFTED = Parameter("input_tensor_a", TENSOR_OR_NUMBER, aliases=("input_tensor", "input_a"))
_DISTANCE = Parameter("input_tensor_b", TENSOR_OR_NUMBER, aliases=("shift_bits", "input_b"))


def _without_sign(torch: Any, x: Any) -> Any:
    """The bits of `x` as unsigned numbers, in int64."""
    return x if x.dtype is torch.int64 else x.to(torch.int64) & ((1 << 8 * x.itemsize) - 1)


BITWISE_AND = binary(
    "bitwise_and",
    operator="&",
    summary="The bits that are set in both x and y.",
)
BITWISE_OR = binary(
    "bitwise_or",
    operator="|",
    summary="The bits that are set in x or y.",
)
BITWISE_XOR = binary(
    "bitwise_xor",
    operator="^",
    summary="The bits that are set in exactly one of x and y.",
)
BITWISE_NOT = unary(
    "bitwise_not",
    operator="~",
    summary="The bits that are not set in x.",
)
BITWISE_LEFT_SHIFT = binary(
    "bitwise_left_shift",
    kernel_name="left_shift",
    operator="<<",
    operands=(_SHIFTED, _DISTANCE),
    summary="x * 2**y, truncated to the element's width; 0 where y is below 0 or above 31.",
    emit=lambda b, x, y: b.shift_left(x, y),
)
LOGICAL_LEFT_SHIFT = binary(
    "logical_left_shift",
    operands=(_SHIFTED, _DISTANCE),
    summary="x * 2**y, truncated to the element's width; 0 where y is below 0 or above 31.",
    emit=lambda b, x, y: b.shift_left(x, y),
    aten="",
    golden=lambda torch, x, y: torch.bitwise_left_shift(x, y),
)
BITWISE_RIGHT_SHIFT = binary(
    "bitwise_right_shift",
    kernel_name="right_shift",
    operator=">>",
    operands=(_SHIFTED, _DISTANCE),
    summary="The floor of x / 2**y; all bits are the sign bit where y is below 0 or above 31.",
    emit=lambda b, x, y: b.shift_right(x, y),
)
LOGICAL_RIGHT_SHIFT = binary(
    "logical_right_shift",
    operands=(_SHIFTED, _DISTANCE),
    summary="The bits of x shifted right by y, with zeros shifted in; 0 where y is below 0 or above 31.",
    emit=lambda b, x, y: b.shift_right_zero(x, y),
    aten="",
    golden=lambda torch, x, y: (_without_sign(torch, x) >> y).to(x.dtype),
)

OPERATIONS = (
    BITWISE_AND, BITWISE_OR, BITWISE_XOR, BITWISE_NOT, BITWISE_LEFT_SHIFT, LOGICAL_LEFT_SHIFT, BITWISE_RIGHT_SHIFT,
    LOGICAL_RIGHT_SHIFT,
)  # fmt: skip
