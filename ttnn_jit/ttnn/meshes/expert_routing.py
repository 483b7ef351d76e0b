"""Routing of a mixture of experts: scores and weights of a device's own experts, and sums of experts' results.

A device's experts are those of its column of the mapping, in ascending order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.collectives.device_exchanges import MESH_PARTITION, REDUCE_SCATTER
from ttnn_jit.ops.families.collective import REDUCE_SUM
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as operations
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.meshes.exchange import counted_as_one_program, device_of, exchange
from ttnn_jit.ttnn.meshes.expert_exchange import checked_device, column_of_device, placed, written_into
from ttnn_jit.ttnn.meshes.fabric_options import WITHOUT_LINKS, FabricOptions
from ttnn_jit.ttnn.tensors.transfers import to_layout, typecast

REDUCTION_SIZE = 16


@host_function(exchanges=True)
def moe_expert_token_remap(
    topk_tensor: Tensor,
    expert_mapping_tensor: Tensor,
    expert_metadata_tensor: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    optional_output_mapping_tensor: Tensor | None = None,
    optional_output_reduced_tensor: Tensor | None = None,
    reduction_size: int = REDUCTION_SIZE,
) -> tuple[Tensor, Tensor]:
    """The scores of each device's own experts, and which experts have any in a chunk of tokens.

    Each device gets [1, B, S, E / D]: the score of each of its experts, 0 for tokens that have not chosen it; and
    [1, 1, ceil(B S / reduction_size), E / D] of UINT16: 1 where a score of the chunk is not 0
    (ttnn.moe_expert_token_remap).

    Args:
        topk_tensor: The scores of all E experts, [1, B, S, E] on each device.
        expert_mapping_tensor: As that of `all_to_all_dispatch`: as many experts on each of the D devices.
        expert_metadata_tensor: The experts of all tokens, [1, B, S, K], as `all_to_all_dispatch` returns them.
        memory_config: Memory config of both results.
        optional_output_mapping_tensor: The tensor that receives the scores, and is returned.
        optional_output_reduced_tensor: The tensor that receives the other result, and is returned.
        reduction_size: The tokens of a chunk.

    Raises:
        ArgumentError: The tensors are not on one mesh, `reduction_size` is less than 1, or an argument has the wrong
            type.
        ShapeError: The shapes do not fit each other.
    """
    name = "moe_expert_token_remap"
    if reduction_size < 1:
        raise ArgumentError(f"{name}: `reduction_size` must be at least 1, got {reduction_size}")
    checked_device(name, topk_tensor, expert_metadata_tensor, expert_mapping_tensor)
    experts, devices = tuple(expert_mapping_tensor.shape)[2:]
    scores, chosen = tuple(topk_tensor.shape), tuple(expert_metadata_tensor.shape)
    if len(scores) != 4 or scores[:3] != chosen[:3] or scores[3] != experts or experts % devices:
        raise ShapeError(
            f"{name}: scores of shape {list(scores)}, the experts of tokens {list(chosen)} and a mapping of "
            f"{experts} experts to {devices} devices do not fit each other"
        )
    with counted_as_one_program(name, topk_tensor, experts, reduction_size):
        column = column_of_device(name, expert_mapping_tensor)
        made = [
            placed(each, memory_config)
            for each in _own_scores(topk_tensor, expert_metadata_tensor, column, experts // devices, reduction_size)
        ]
        outputs = optional_output_mapping_tensor, optional_output_reduced_tensor
        first, second = (
            result if output is None else written_into(name, result, output)
            for result, output in zip(made, outputs, strict=True)
        )
        return first, second


def _own_scores(
    scores: Tensor, chosen: Tensor, column: Tensor, count: int, reduction_size: int
) -> tuple[Tensor, Tensor]:
    """Both results on each device, whose experts `column` marks."""
    _, batch, sequence, experts = scores.shape
    tokens = batch * sequence
    rows = to_layout(scores, Layout.ROW_MAJOR)
    own = _numbers_of_ones(column, count)
    index = typecast(operations.repeat(operations.reshape(own, (1, count)), (tokens, 1)), DataType.UINT32)
    of_own = operations.gather(operations.reshape(rows, (tokens, experts)), 1, index)
    choices = operations.reshape(typecast(to_layout(chosen, Layout.ROW_MAJOR), DataType.INT32), (tokens, -1, 1))
    is_chosen = operations.max(operations.eq(choices, operations.reshape(own, (1, 1, count))), 1, False)
    mask = typecast(is_chosen, scores.dtype)
    found = operations.where(mask, of_own, 0.0)
    missing = -tokens % reduction_size
    marks = typecast(operations.ne(found, 0.0), DataType.INT32)
    marks = operations.pad(marks, [(0, missing), (0, 0)], 0) if missing else marks
    chunks = operations.reshape(marks, (1, (tokens + missing) // reduction_size, reduction_size, count))
    reduced = typecast(operations.max(chunks, 2, False), DataType.UINT16)
    return (
        to_layout(operations.reshape(found, (1, batch, sequence, count)), scores.layout),
        to_layout(operations.reshape(reduced, (1, *tuple(reduced.shape))), scores.layout),
    )


def _numbers_of_ones(column: Tensor, count: int) -> Tensor:
    """The numbers of the `count` rows that are 1 in a column of whole numbers, [1, count], in ascending order."""
    extent, _ = column.shape
    flat = operations.reshape(column, (extent,))
    numbers = operations.subtract(operations.cumsum(operations.add(operations.multiply(flat, 0), 1), 0), 1)
    places = operations.add(numbers, operations.multiply(operations.subtract(1, flat), extent))
    ascending, _ = operations.sort(places)
    return operations.reshape(operations.slice(ascending, (0,), (count,)), (1, count))


@host_function(exchanges=True)
def moe_routing_remap(
    routing_weights_tensor: Tensor,
    non_zero_weight_size: int,
    expert_parallel_size: int,
    cluster_axis: int,
    *,
    memory_config: MemoryConfig | None = None,
    optional_output_tensor: Tensor | None = None,
) -> Tensor:
    """Each device's share of the weights that are not 0, and 0 elsewhere (ttnn.moe_routing_remap).

    Of n such weights and d devices along the axis, device i keeps number i n / d up to (i + 1) n / d, in order.

    Args:
        routing_weights_tensor: The weights of all experts, [1, E], the same on every device.
        non_zero_weight_size: The number of weights that are not 0.
        expert_parallel_size: The number of devices along the axis.
        cluster_axis: The axis of the mesh.
        memory_config: Memory config of the result.
        optional_output_tensor: The tensor that receives the result, and is returned.

    Raises:
        ArgumentError: There is no such axis, or it has another number of devices.
        ShapeError: The weights are no row, or have no equal shares.
    """
    name = "moe_routing_remap"
    device, shape = device_of(name, routing_weights_tensor), tuple(routing_weights_tensor.shape)
    mesh = MeshShape(device.shape)
    if not 0 <= cluster_axis < len(mesh) or mesh[cluster_axis] != expert_parallel_size:
        raise ArgumentError(
            f"{name}: axis {cluster_axis} of a mesh of shape {tuple(mesh)} does not have {expert_parallel_size} devices"
        )
    if len(shape) != 2 or shape[0] != 1 or non_zero_weight_size > shape[1]:
        raise ShapeError(f"{name}: weights of shape {list(shape)} are no row of {non_zero_weight_size} or more")
    if non_zero_weight_size % expert_parallel_size:
        raise ShapeError(f"{name}: {non_zero_weight_size} weights have no {expert_parallel_size} equal shares")
    share = non_zero_weight_size // expert_parallel_size
    with counted_as_one_program(name, routing_weights_tensor, non_zero_weight_size, cluster_axis):
        shares = operations.concat(_shares(routing_weights_tensor, share, expert_parallel_size), 0)
        own = exchange(name, MESH_PARTITION, shares, 0, cluster_axis=cluster_axis)
        mask = typecast(own, routing_weights_tensor.dtype)
        result = placed(operations.where(mask, routing_weights_tensor, 0.0), memory_config)
        return result if optional_output_tensor is None else written_into(name, result, optional_output_tensor)


def _shares(weights: Tensor, count: int, devices: int) -> list[Tensor]:
    """For each device along the axis, a row that is 1 where its `count` weights are, and else 0."""
    is_set = typecast(operations.ne(weights, 0.0), DataType.INT32)
    place = operations.subtract(operations.cumsum(is_set, 1), 1)
    found = []
    for first in range(0, devices * count, count):
        is_here = operations.multiply(operations.ge(place, first), operations.lt(place, first + count))
        found.append(operations.multiply(is_set, is_here))
    return found


@host_function(name="experimental.deepseek_moe_fast_reduce_nc", chip_only="compute_kernel_config")
def deepseek_moe_fast_reduce_nc(
    input_tensor: Tensor,
    dim: int,
    *,
    split_size: int,
    output_memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> list[Tensor]:
    """The sum along a dimension, which is kept with extent 1, split along the last one.

    (ttnn.experimental.deepseek_moe_fast_reduce_nc)

    Args:
        input_tensor: A tensor of at least three dimensions.
        dim: Any dimension but the last two.
        split_size: The last extent of each of the results.
        output_memory_config: Memory config of the results.
        compute_kernel_config: Precision on a chip.

    Raises:
        ShapeError: There is no such dimension, or the last one has no such parts.
    """
    rank, width = len(input_tensor.shape), tuple(input_tensor.shape)[-1]
    if rank < 3 or not -rank <= dim < rank or dim % rank >= rank - 2:
        raise ShapeError(f"deepseek_moe_fast_reduce_nc: {list(input_tensor.shape)} has no dimension {dim} to reduce")
    if split_size < 1 or width % split_size:
        raise ShapeError(f"deepseek_moe_fast_reduce_nc: {width} columns have no parts of {split_size}")
    whole = operations.sum(input_tensor, dim, True, memory_config=output_memory_config)
    parts: list[Tensor] = operations.split(whole, split_size, rank - 1)
    return parts


@host_function(exchanges=True, name="experimental.deepseek_moe_reduce_scatter", without_effect=WITHOUT_LINKS)
def deepseek_moe_reduce_scatter(
    input_tensors: Sequence[Tensor],
    *,
    output_memory_config: MemoryConfig | None = None,
    dim: int,
    cluster_axis: int | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """`reduce_scatter` of a tensor that is given as its parts along `dim`, one for each device.

    (ttnn.experimental.deepseek_moe_reduce_scatter)

    Args:
        input_tensors: The parts of the tensor along `dim`.
        output_memory_config: Memory config of the result.
        dim: The dimension.
        cluster_axis: Axis of the mesh; None for all devices.
        **_links: Options of the links between chips; without effect.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or it has no equal parts.
    """
    name = "deepseek_moe_reduce_scatter"
    first = input_tensors[0]
    with counted_as_one_program(name, first, len(input_tensors), dim, cluster_axis):
        whole = first if len(input_tensors) == 1 else operations.concat([*input_tensors], dim)
        return exchange(
            name, REDUCE_SCATTER, whole, dim, REDUCE_SUM, cluster_axis=cluster_axis, memory_config=output_memory_config
        )
