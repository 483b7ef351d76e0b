"""Elementwise ops of texts that are no call of one declared operation, and random numbers."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, text
from ttnn_jit.ops.movement.sequences import ARANGE
from ttnn_jit.specs.tensor_spec import DataType


def _gelu_bw(ops: Ops, call: TextCall) -> Value:
    """The gradient of gelu at the second operand, times the first."""
    x = call.rhs
    if call.approximate == "tanh":
        cube = x * x * x
        inner = ops.tanh((x + cube * 0.044715) * math.sqrt(2 / math.pi))
        slope = (x * x * (3 * 0.044715) + 1.0) * math.sqrt(2 / math.pi)
        gradient = (inner + 1.0) * 0.5 + x * (ops.neg(inner * inner) + 1.0) * slope * 0.5
    else:
        density = ops.exp(x * x * -0.5) * (1.0 / math.sqrt(2.0 * math.pi))
        gradient = ops.erfc(x * (-1.0 / math.sqrt(2.0))) * 0.5 + x * density
    result: Value = gradient * call.lhs
    return result


def _gelu_bw_in_torch(torch: Any, call: TextCall) -> Any:
    x = call.rhs.clone().requires_grad_()
    with torch.enable_grad():
        torch.nn.functional.gelu(x, approximate=call.approximate).backward(call.lhs)
    return x.grad


GELU_BW = text("ttir.gelu_bw ttnn.gelu_bw", "lhs rhs", _gelu_bw, _gelu_bw_in_torch, approximate="none", in_float32=True)


POW_SCALAR = text(
    "ttnn.pow_scalar",
    "lhs",
    lambda ops, call: ops.pow(call.lhs, float(call.rhs)),
    lambda torch, call: torch.pow(call.lhs, call.rhs),
    rhs=REQUIRED,
)


def _rand(ops: Ops, call: TextCall) -> Value:
    """Numbers by a hash of the seed and the index (lowbias32), uniform in [low, high)."""
    shape = tuple(call.result.shape)
    count = math.prod(shape)
    index = ops.call(ARANGE, [], 0, count, 1, DataType.UINT32, call.result.layout)
    word = index + ((call.seed * 0x9E3779B9) & 0xFFFFFFFF)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        word = ops.bitwise_xor(word, ops.logical_right_shift(word, shift)) * factor
    word = ops.bitwise_xor(word, ops.logical_right_shift(word, 16))
    unit = ops.typecast(ops.logical_right_shift(word, 8), DataType.FLOAT32) * 2.0**-24
    found: Value = unit * (call.high - call.low) + call.low
    return ops.reshaped(found, shape)


RAND = text(
    "ttir.rand ttnn.rand",
    "",
    _rand,
    lambda torch, call: torch.zeros(tuple(call.result.shape)),
    is_random=True,
    size=None,
    shape=None,
    low=0.0,
    high=1.0,
    seed=0,
)


def _embedding_backward(ops: Ops, call: TextCall) -> Value:
    from ttnn_jit.ops.selection.embedding_gradient import EMBEDDING_BW

    index = ops.typecast(call.input, DataType.UINT32)
    rows, width = math.prod(call.weight.shape[:-1]), call.weight.shape[-1]
    count = math.prod(index.shape)
    gradient = ops.reshaped(call.in_gradient, (1, 1, count, width))
    given = [ops.reshaped(index, (1, count)), ops.reshaped(call.weight, (rows, width)), gradient]
    return ops.reshaped(ops.call(EMBEDDING_BW, given), call.result.shape)


def _embedding_backward_in_torch(torch: Any, call: TextCall) -> Any:
    rows, width = math.prod(call.weight.shape[:-1]), call.weight.shape[-1]
    found = torch.zeros((rows, width), dtype=torch.float64)
    index = call.input.reshape(-1).long()
    return found.index_add(0, index, call.in_gradient.reshape(-1, width)).reshape(tuple(call.result.shape))


EMBEDDING_BACKWARD = text(
    "ttir.embedding_backward ttnn.embedding_bw",
    "input weight in_gradient",
    _embedding_backward,
    _embedding_backward_in_torch,
    index_limits={"input": lambda call: math.prod(call.weight.shape[:-1])},
)

TEXTS = (GELU_BW, POW_SCALAR, RAND, EMBEDDING_BACKWARD)
