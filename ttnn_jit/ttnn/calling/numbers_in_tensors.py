"""Numbers that change from call to call, such as positions of tokens, passed as tensors to share one program."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace

from ttnn_jit.ops import BoundCall
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor, specs_of
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


def with_numbers_in_tensors(bound: BoundCall, device: Device) -> BoundCall:
    """The call with numeric attributes moved into the operands that may hold them, where these are not passed.

    Raises:
        CompileError: The numbers do not fit the operation; elements of tensors are not checked.
    """
    attributes = bound.operation.attributes
    held = [(k, each) for k, each in enumerate(attributes) if each.tensor and bound.attributes[k] != each.default]
    names = [operand.name for operand in bound.operation.operands]
    for index, parameter in held:
        operand = names.index(parameter.tensor)
        if bound.operands[operand] is None:
            bound.operation.results(specs_of(bound.operands), bound.attributes)
            numbers = bound.attributes[index]
            bound = replace(
                bound,
                operands=_replaced_at(bound.operands, operand, _tensor_of(numbers, device)),
                attributes=_replaced_at(bound.attributes, index, parameter.default),
            )
    return bound


def _replaced_at(values: tuple[object, ...], index: int, value: object) -> tuple[object, ...]:
    return (*values[:index], value, *values[index + 1 :])


def _tensor_of(given: int | Sequence[int], device: Device) -> Tensor:
    numbers = [given] if isinstance(given, int) else given
    spec = TensorSpec((len(numbers),), DataType.INT32)
    buffer = device.allocate_tensor(spec)
    ctypes.memmove(buffer.address, (ctypes.c_int32 * len(numbers))(*numbers), spec.nbytes)
    return Tensor(spec, device, buffer)
