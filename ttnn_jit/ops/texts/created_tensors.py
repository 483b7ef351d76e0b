"""Ops of texts without tensor operands."""

from __future__ import annotations

from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, DenseNumbers, TextCall, TextOps, numbers_in_torch, text
from ttnn_jit.ops.movement.sequences import ARANGE
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, WIDE_FLOATS
from ttnn_jit.specs.tensor_spec import DataType


def _filled(ops: Ops, call: TextCall, number: float) -> Value:
    return ops.filled(int(number) if call.result.dtype.is_integer else float(number), call.result)


def _full_in_torch(torch: Any, call: TextCall, number: float) -> Any:
    return numbers_in_torch(torch, (number,), is_integer=call.result.dtype.is_integer)[0].expand(
        tuple(call.result.shape)
    )


FULL = text(
    "ttir.full ttnn.full",
    "",
    lambda ops, call: _filled(ops, call, call.fill_value),
    lambda torch, call: _full_in_torch(torch, call, call.fill_value),
    shape=REQUIRED,
    fill_value=REQUIRED,
)
ZEROS = text(
    "ttir.zeros ttnn.zeros",
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


def _constant(ops: TextOps, call: TextCall) -> Value:
    numbers = call.value
    if not isinstance(numbers, DenseNumbers):
        raise ShapeError("the numbers of the constant are not in the text", help="dense numbers are read")
    if numbers.shape != tuple(call.result.shape):
        raise ShapeError(f"its value has the shape {list(numbers.shape)}, its result {list(call.result.shape)}")
    if numbers.splat is None:
        return ops.constant(numbers, call.result)
    return _filled(ops, call, numbers.splat)


def _constant_in_torch(torch: Any, call: TextCall) -> Any:
    numbers = numbers_in_torch(torch, call.value.numbers, is_integer=call.result.dtype.is_integer)
    shape = tuple(call.result.shape)
    return numbers[0].expand(shape) if len(numbers) == 1 else numbers.reshape(shape)


CONSTANT = text(
    "ttir.constant ttnn.constant arith.constant", "", _constant, _constant_in_torch, value=REQUIRED, shape=None
)


def _arange(ops: Ops, call: TextCall) -> Value:
    dtype, axis = call.result.dtype, call.arange_dimension
    # Indices are counted in 32 bits, and rounded where their type is narrower.
    counts = dtype.is_integer or dtype in WIDE_FLOATS
    counted = dtype if dtype.is_integer and dtype.itemsize == 4 else DataType.INT32 if counts else COMPUTE_TYPE
    numbers = ops.call(ARANGE, [], call.start, call.end, call.step, counted, call.result.layout)
    shape = tuple(call.result.shape)
    along = [extent if index == axis else 1 for index, extent in enumerate(shape)]
    return ops.expand(ops.reshaped(numbers, along), shape)


def _arange_in_torch(torch: Any, call: TextCall) -> Any:
    shape = tuple(call.result.shape)
    index = torch.arange(shape[call.arange_dimension]) * call.step + call.start
    return index.reshape([-1 if axis == call.arange_dimension else 1 for axis in range(len(shape))]).expand(shape)


SEQUENCE = text(
    "ttir.arange ttnn.arange", "", _arange, _arange_in_torch, start=0, end=REQUIRED, step=1, arange_dimension=0
)


def _extent(call: TextCall) -> int:
    extents = call.operand.shape
    return int(extents[call.dimension])


DIMENSION_SIZE = text(
    "ttir.get_dimension_size",
    "operand",
    lambda ops, call: _filled(ops, call, _extent(call)),
    lambda torch, call: _full_in_torch(torch, call, _extent(call)),
    dimension=REQUIRED,
)

TEXTS = (FULL, ZEROS, ONES, CONSTANT, SEQUENCE, DIMENSION_SIZE)
