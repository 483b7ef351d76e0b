"""Exchanges of a mixture of experts: tokens go to the devices of their experts, and the experts' results come back.

An exchange is a collective and operations on each device. A device's experts are those of its column of the mapping.
Rows that no expert of a device needs are zeros; ttnn leaves them as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.collectives.device_exchanges import ALL_GATHER, ALL_TO_ALL, PART_OF_DEVICE
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as operations
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.meshes.exchange import counted_as_one_program, exchange
from ttnn_jit.ttnn.meshes.fabric_options import WITHOUT_LINKS, FabricOptions
from ttnn_jit.ttnn.tensors.transfers import to_layout, to_memory_config, typecast


@host_function(exchanges=True, without_effect=WITHOUT_LINKS)
def all_to_all_dispatch(
    input_tensor: Tensor,
    expert_indices_tensor: Tensor,
    expert_mapping_tensor: Tensor,
    cluster_axis: int | None = None,
    *,
    output_concat_dim: int = 1,
    memory_config: MemoryConfig | None = None,
    output_tensors: Sequence[Tensor] | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> tuple[Tensor, Tensor]:
    """The tokens of the devices along an axis on the devices of their experts, and their experts on all of them.

    Each device gets a tensor [1, B n, S, H] with the tokens of n devices, where tokens without an expert on the device
    are zeros, and the experts of all tokens, [1, B n, S, K] (ttnn.all_to_all_dispatch).

    Args:
        input_tensor: Tokens, [B, 1, S, H] or [B, S, 1, H] on each device.
        expert_indices_tensor: The numbers of each token's K experts, [B, 1, S, K] or [B, S, 1, K].
        expert_mapping_tensor: [1, 1, E, D] for E experts and D devices of the mesh in row-major order: 1 if the device
            has the expert, else 0; the same on every device.
        cluster_axis: Axis of the mesh; None for all devices.
        output_concat_dim: 1, or 2 to concatenate tokens along S: [1, B, S n, H].
        memory_config: Memory config of both results.
        output_tensors: Two tensors that receive the results.
        **_links: Options of the links between chips; without effect.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: The shapes do not fit each other.
    """
    name = "all_to_all_dispatch"
    if output_concat_dim not in {1, 2}:
        raise ArgumentError(f"{name}: `output_concat_dim` must be 1 or 2, got {output_concat_dim}")
    checked_device(name, input_tensor, expert_indices_tensor, expert_mapping_tensor)
    with counted_as_one_program(name, input_tensor, cluster_axis, output_concat_dim):
        tokens, experts = (
            exchange(name, ALL_GATHER, _batched(each), output_concat_dim, cluster_axis=cluster_axis)
            for each in (input_tensor, expert_indices_tensor)
        )
        needed = _needed(tokens, experts, column_of_device(name, expert_mapping_tensor))
        results = [placed(needed, memory_config), placed(experts, memory_config)]
        if output_tensors is None:
            return results[0], results[1]
        first, second = output_tensors
        return written_into(name, results[0], first), written_into(name, results[1], second)


@host_function(exchanges=True, without_effect=WITHOUT_LINKS)
def all_to_all_combine(
    input_tensor: Tensor,
    expert_metadata_tensor: Tensor,
    expert_mapping_tensor: Tensor,
    cluster_axis: int | None = None,
    *,
    local_reduce: bool = False,
    output_shard_dim: int = 1,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """The results of the experts for the tokens of each device (ttnn.all_to_all_combine).

    Each device gets [K, B / n, S, H]: in row k of a token the result of its k-th expert, zeros if no device along the
    axis has it.

    Args:
        input_tensor: The results of a device's experts for the tokens of n devices, [experts of the device, B, S, H];
            with `local_reduce` their sum, [1, B, S, H].
        expert_metadata_tensor: The experts of all tokens, [1, B, S, K], as `all_to_all_dispatch` returns them.
        expert_mapping_tensor: As that of `all_to_all_dispatch`.
        cluster_axis: Axis of the mesh; None for all devices.
        local_reduce: The results are sums of a device's experts; they go into the row of its first expert.
        output_shard_dim: 1, or 2 where the devices' tokens are parts of S: [K, B, S / n, H].
        memory_config: Memory config of the result.
        output_tensor: The tensor that receives the result, and is returned.
        **_links: Options of the links between chips; without effect.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: The shapes do not fit each other.
    """
    name = "all_to_all_combine"
    if output_shard_dim not in {1, 2}:
        raise ArgumentError(f"{name}: `output_shard_dim` must be 1 or 2, got {output_shard_dim}")
    checked_device(name, input_tensor, expert_metadata_tensor, expert_mapping_tensor)
    if (1, *tuple(input_tensor.shape)[1:3]) != tuple(expert_metadata_tensor.shape)[:3]:
        raise ShapeError(
            f"{name}: results have shape {list(input_tensor.shape)}, and the experts of the tokens "
            f"{list(expert_metadata_tensor.shape)}"
        )
    with counted_as_one_program(name, input_tensor, cluster_axis, local_reduce, output_shard_dim):
        column = column_of_device(name, expert_mapping_tensor)
        pair = _rows_of_experts(input_tensor, expert_metadata_tensor, column, local_reduce=local_reduce)
        dims = (0, output_shard_dim + 1)
        values, masks = (exchange(name, ALL_TO_ALL, each, *dims, cluster_axis=cluster_axis) for each in pair)
        result = placed(_selected(values, masks), memory_config)
        return result if output_tensor is None else written_into(name, result, output_tensor)


def checked_device(name: str, *tensors: Tensor) -> Device:
    """The mesh of some tensors, the last of which is the mapping of experts.

    Raises:
        ArgumentError: They are not on one mesh.
        ShapeError: The mapping does not have a column for each device.
    """
    *_, mapping = tensors
    device = mapping.device()
    if device is None or any(tensor.device() != device for tensor in tensors):
        named = " and ".join(sorted({repr(tensor.device()) for tensor in tensors}))
        raise ArgumentError(f"{name}: the tensors are on {named}, not on one mesh")
    if len(mapping.shape) != 4 or mapping.shape[3] != device.get_num_devices():
        raise ShapeError(
            f"{name}: the mapping has shape {list(mapping.shape)}, and needs a column for each of the "
            f"{device.get_num_devices()} devices"
        )
    return device


def _batched(tensor: Tensor) -> Tensor:
    """[B, 1, S, X] or [B, S, 1, X] as [1, B, S, X]."""
    batch, first, second, width = tensor.shape
    return operations.reshape(tensor, (1, batch, first * second, width))


def column_of_device(name: str, mapping: Tensor) -> Tensor:
    """The mapping's column of each device, [E, 1] of whole numbers."""
    _, _, experts, _ = mapping.shape
    column = exchange(name, PART_OF_DEVICE, mapping, 3)
    return typecast(_rows(operations.reshape(column, (experts, 1))), DataType.INT32)


def _rows(tensor: Tensor) -> Tensor:
    return to_layout(tensor, Layout.ROW_MAJOR)


def _of_experts(experts: Tensor, column: Tensor, shape: Sequence[int]) -> Tensor:
    """The numbers in a column for each of the experts, in a tensor of `shape`."""
    flat = operations.reshape(typecast(_rows(experts), DataType.UINT32), (1, math.prod(shape)))
    found = operations.embedding(flat, column)
    return operations.reshape(found, tuple(shape))


def _needed(tokens: Tensor, experts: Tensor, column: Tensor) -> Tensor:
    """The tokens with an expert on a device, and zeros for the others."""
    _, batch, sequence, width = experts.shape
    is_here = operations.max(_of_experts(experts, column, (1, batch, sequence, width)), 3, True)
    mask = to_layout(typecast(is_here, tokens.dtype.unpacked), tokens.layout)
    return operations.where(mask, tokens, 0.0)


def _rows_of_experts(results: Tensor, experts: Tensor, column: Tensor, *, local_reduce: bool) -> tuple[Tensor, Tensor]:
    """On one device: the row of each of a token's K experts, [1, K, B, S, H], and whether it is here, [1, K, B, S, 1].

    The rows of experts on other devices are zeros.
    """
    count, batch, sequence, width = results.shape
    *_, per_token = experts.shape
    of_token = operations.permute(_rows(experts), (3, 0, 1, 2))
    shape = (1, per_token, batch, sequence, 1)
    is_here = _of_experts(of_token, column, shape)
    place = operations.subtract(operations.cumsum(column, 0), 1)
    places = _of_experts(of_token, place, shape)
    if local_reduce:
        elsewhere = operations.multiply(operations.subtract(1, is_here), column.spec.volume)
        first = operations.min(operations.add(places, elsewhere), 1, True)
        is_here = operations.multiply(is_here, operations.eq(places, first))
    value: Tensor | float = 0.0
    for index in range(count):
        own = operations.reshape(
            operations.slice(results, (index, 0, 0, 0), (index + 1, batch, sequence, width)),
            (1, 1, batch, sequence, width),
        )
        chosen = is_here if local_reduce else operations.multiply(is_here, operations.eq(places, 0))
        places = operations.subtract(places, 1)
        value = operations.where(_mask(chosen, results), own, value)
    assert isinstance(value, Tensor), "there is at least one expert"
    return value, _mask(is_here, results)


def _mask(numbers: Tensor, like: Tensor) -> Tensor:
    """Whole numbers as a mask for `where` with tensors such as `like`."""
    return to_layout(typecast(numbers, like.dtype.unpacked), like.layout)


def _selected(values: Tensor, masks: Tensor) -> Tensor:
    """Of n tensors in a row, the elements of the one whose mask is set; zeros where none is."""
    count, *extents = values.shape
    result: Tensor | float = 0.0
    for index in range(count):
        mask, value = (
            operations.slice(each, (index, 0, 0, 0, 0), (index + 1, *tuple(each.shape)[1:])) for each in (masks, values)
        )
        result = operations.where(mask, value, result)
    assert isinstance(result, Tensor), "there is at least one device"
    return operations.reshape(result, tuple(extents))


def placed(tensor: Tensor, memory_config: MemoryConfig | None) -> Tensor:
    """A tensor in a memory config, if there is one."""
    return tensor if memory_config is None else to_memory_config(tensor, memory_config)


def written_into(name: str, result: Tensor, output: Tensor) -> Tensor:
    """A tensor that receives a result."""
    if (tuple(result.shape), result.dtype) != (tuple(output.shape), output.dtype):
        raise ShapeError(f"{name}: a tensor to write into is {output.spec}, and the result {result.spec}")
    operations.copy(to_layout(result, output.layout), output)
    return output
