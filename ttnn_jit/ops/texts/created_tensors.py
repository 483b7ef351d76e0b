"""Ops of texts without tensor operands."""

from __future__ import annotations

from typing import Any

from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, text
from ttnn_jit.ops.movement.sequences import ARANGE


def _filled(ops: Ops, call: TextCall, number: float) -> Value:
    return ops.filled(number if call.result.dtype.is_integer else float(number), call.result)


def _full_in_torch(torch: Any, call: TextCall, number: float) -> Any:
    dtype = torch.int64 if call.result.dtype.is_integer else torch.float64
    return torch.full(tuple(call.result.shape), number, dtype=dtype)


FULL = text(
    "ttir.full ttnn.full",
    "",
    lambda ops, call: _filled(ops, call, call.fill_value),
    lambda torch, call: _full_in_torch(torch, call, call.fill_value),
    shape=REQUIRED,
    fill_value=REQUIRED,
)
ZEROS = text(
    "ttir.zeros ttnn.zeros ttir.empty ttnn.empty tensor.empty",
    "",
    lambda ops, call: _filled(ops, call, 0),
    lambda torch, call: _full_in_torch(torch, call, 0),
    shape=(),
)
ONES = text(
    "ttir.ones ttnn.ones",
    "",
    lambda ops, call: _filled(ops, call, 1),
    lambda torch, call: _full_in_torch(torch, call, 1),
    shape=(),
)


def _arange(ops: Ops, call: TextCall) -> Value:
    dtype, axis = call.result.dtype, call.arange_dimension
    numbers = ops.call(ARANGE, [], call.start, call.end, call.step, dtype, call.result.layout)
    shape = tuple(call.result.shape)
    along = [extent if index == axis else 1 for index, extent in enumerate(shape)]
    return ops.expand(ops.reshaped(numbers, along), shape)


def _arange_in_torch(torch: Any, call: TextCall) -> Any:
    shape = tuple(call.result.shape)
    index = torch.arange(shape[call.arange_dimension]) * call.step + call.start
    return index.reshape([-1 if axis == call.arange_dimension else 1 for axis in range(len(shape))]).expand(shape)


SEQUENCE = text(
    "ttir.arange ttnn.arange",
    "",
    _arange,
    _arange_in_torch,
    start=0,
    end=REQUIRED,
    step=1,
    arange_dimension=0,
)

TEXTS = (FULL, ZEROS, ONES, SEQUENCE)
