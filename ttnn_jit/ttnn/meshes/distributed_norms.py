"""Norms of rows that are split among devices: statistics of each part, their `all_gather`, and the norm of the part.

The statistics are those of `rms_norm_pre_all_gather` and `layer_norm_pre_all_gather`. Buffers of statistics, semaphores
and configs of programs have no effect.
"""

from __future__ import annotations

from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.attention.rotary import ROTARY_EMBEDDING_LLAMA
from ttnn_jit.ops.collectives.device_exchanges import ALL_GATHER
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.cores.sub_devices import SubDeviceId
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as operations
from ttnn_jit.ttnn.calling.eager_operation import function_of
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.devices.semaphores import GlobalSemaphore
from ttnn_jit.ttnn.meshes.exchange import counted_as_one_program, exchange
from ttnn_jit.ttnn.meshes.topology import Topology
from ttnn_jit.ttnn.namespace.lazy_names import NO_LINKS
from ttnn_jit.ttnn.tensors.transfers import typecast


@host_function(
    exchanges=True,
    chip_only="program_config compute_kernel_config",
    without_effect={
        NO_LINKS: "global_semaphore persistent_output_tensor num_links topology subdevice_id stats use_noc1_only"
    },
)
def fused_rms_minimal(  # noqa: PLR0913 - ttnn's parameters
    input_tensor: Tensor,
    program_config: object,
    cluster_axis: int,
    mesh_device: Device | None,
    global_semaphore: GlobalSemaphore | None,
    *,
    persistent_output_tensor: Tensor | None = None,
    num_links: int | None = None,
    topology: Topology | None = None,
    subdevice_id: SubDeviceId | None = None,
    dtype: DataType | None = None,
    compute_kernel_config: object = None,
    memory_config: MemoryConfig | None = None,
    residual_input_tensor: Tensor | None = None,
    epsilon: float = 1e-12,
    weight: Tensor | None = None,
    stats: Tensor | None = None,
    use_noc1_only: bool = False,
) -> Tensor:
    """`rms_norm` of rows that are split among the devices along an axis (ttnn.fused_rms_minimal).

    Args:
        input_tensor: A part of the rows on each device.
        program_config: The blocking on a chip; without effect.
        cluster_axis: The axis of the mesh.
        mesh_device: The tensor's mesh.
        global_semaphore: Without effect, as the other options of transfers.
        persistent_output_tensor: Memory for the gathered statistics; not used.
        num_links: Without effect.
        topology: Without effect.
        subdevice_id: Without effect.
        dtype: Element type of the result; that of the tensor when omitted.
        compute_kernel_config: Precision on a chip.
        memory_config: Memory config of the result.
        residual_input_tensor: Is added to the tensor first; it then holds the sum.
        epsilon: Is added to the mean of the squares.
        weight: A factor for each column of the device's part.
        stats: Memory for the statistics; not used.
        use_noc1_only: Without effect.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: The tensors do not fit each other.
    """
    name = "fused_rms_minimal"
    with counted_as_one_program(name, input_tensor, cluster_axis, epsilon):
        x = input_tensor
        if residual_input_tensor is not None:
            x = operations.add(input_tensor, residual_input_tensor, output_tensor=residual_input_tensor)
        sums = operations.rms_norm_pre_all_gather(x)
        gathered = exchange(
            name, ALL_GATHER, sums, len(sums.shape) - 1, cluster_axis=cluster_axis, mesh_device=mesh_device
        )
        result: Tensor = operations.rms_norm_post_all_gather(
            x, gathered, weight=weight, epsilon=epsilon, memory_config=memory_config
        )
        wanted = input_tensor.dtype if dtype is None else dtype
        return result if result.dtype is wanted else typecast(result, wanted)


def _statistics(
    operation: Any, input_tensor: Tensor, dtype: DataType | None, memory_config: MemoryConfig | None
) -> Tensor:
    sums: Tensor = operation(input_tensor, memory_config=memory_config)
    return sums if dtype in {None, sums.dtype} else typecast(sums, dtype)


@host_function(name="experimental.wan_fused_rmsnorm_pre_allgather", over_meshes=True, chip_only="compute_kernel_config")
def wan_fused_rmsnorm_pre_allgather(
    input_tensor: Tensor,
    *,
    dtype: DataType = DataType.BFLOAT16,
    compute_kernel_config: object = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """`rms_norm_pre_all_gather` (ttnn.experimental.wan_fused_rmsnorm_pre_allgather).

    Args:
        input_tensor: A part of the rows on each device.
        dtype: Element type of the statistics.
        compute_kernel_config: Precision on a chip.
        memory_config: Memory config of the statistics.
    """
    return _statistics(operations.rms_norm_pre_all_gather, input_tensor, dtype, memory_config)


@host_function(
    name="experimental.wan_fused_rmsnorm_post_allgather", over_meshes=True, chip_only="compute_kernel_config"
)
def wan_fused_rmsnorm_post_allgather(  # noqa: PLR0913 - ttnn's parameters
    input_tensor: Tensor,
    stats: Tensor,
    *,
    epsilon: float = 1e-5,
    num_heads_per_device: int = 1,
    weight: Tensor | None = None,
    transformation_mat: Tensor | None = None,
    rope_cos: Tensor | None = None,
    rope_sin: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
    dtype: DataType | None = None,
) -> Tensor:
    """`rms_norm_post_all_gather`, then the heads of each row, then their rotation by `rotary_embedding_llama`.

    The result has shape [1, heads, S, columns / heads] for rows [1, 1, S, columns]
    (ttnn.experimental.wan_fused_rmsnorm_post_allgather).

    Args:
        input_tensor: A part of the rows on each device.
        stats: The gathered statistics.
        epsilon: Is added to the mean of the squares.
        num_heads_per_device: The heads of a device.
        weight: A factor for each column.
        transformation_mat: The matrix of the rotation, [1, 1, 32, 32]; all three of the rotation are given, or none.
        rope_cos: Cosines, [1, 1, S, columns / heads].
        rope_sin: Sines.
        memory_config: Memory config of the result.
        compute_kernel_config: Precision on a chip.
        dtype: Element type of the result; that of the tensor when omitted.

    Raises:
        ArgumentError: Some of the tensors of the rotation are missing.
        ShapeError: The columns have no such heads.
    """
    name = "wan_fused_rmsnorm_post_allgather"
    rotation = rope_cos, rope_sin, transformation_mat
    if any(each is None for each in rotation) and any(each is not None for each in rotation):
        raise ArgumentError(f"{name} takes all of `transformation_mat`, `rope_cos` and `rope_sin`, or none")
    *outer, rows, columns = tuple(input_tensor.shape)
    if num_heads_per_device < 1 or columns % num_heads_per_device or any(extent != 1 for extent in outer):
        raise ShapeError(f"{name}: {list(input_tensor.shape)} has no {num_heads_per_device} heads in its columns")
    x: Tensor = operations.rms_norm_post_all_gather(input_tensor, stats, weight=weight, epsilon=epsilon)
    heads = operations.reshape(x, (1, rows, num_heads_per_device, columns // num_heads_per_device))
    heads = operations.permute(heads, (0, 2, 1, 3), memory_config=memory_config)
    if transformation_mat is not None:
        heads = _ROTATED(heads, rope_cos, rope_sin, transformation_mat, memory_config=memory_config)
    wanted = input_tensor.dtype if dtype is None else dtype
    return heads if heads.dtype is wanted else typecast(heads, wanted)


_ROTATED: Any = function_of(ROTARY_EMBEDDING_LLAMA)


@host_function(name="experimental.dit_layernorm_pre_allgather", over_meshes=True, chip_only="compute_kernel_config")
def dit_layernorm_pre_allgather(
    input_tensor: Tensor,
    *,
    dtype: DataType = DataType.BFLOAT16,
    compute_kernel_config: object = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """`layer_norm_pre_all_gather` (ttnn.experimental.dit_layernorm_pre_allgather).

    The arguments are those of `wan_fused_rmsnorm_pre_allgather`.
    """
    return _statistics(operations.layer_norm_pre_all_gather, input_tensor, dtype, memory_config)


@host_function(name="experimental.dit_layernorm_post_allgather", over_meshes=True, chip_only="compute_kernel_config")
def dit_layernorm_post_allgather(
    input_tensor: Tensor,
    stats: Tensor,
    *,
    epsilon: float = 1e-5,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
    dtype: DataType | None = None,
) -> Tensor:
    """`layer_norm_post_all_gather` (ttnn.experimental.dit_layernorm_post_allgather).

    Args:
        input_tensor: A part of the rows on each device.
        stats: The gathered statistics.
        epsilon: Is added to the variance.
        weight: A factor for each column.
        bias: A term for each column.
        memory_config: Memory config of the result.
        compute_kernel_config: Precision on a chip.
        dtype: Element type of the result; that of the tensor when omitted.
    """
    x: Tensor = operations.layer_norm_post_all_gather(
        input_tensor, stats, weight=weight, bias=bias, epsilon=epsilon, memory_config=memory_config
    )
    wanted = input_tensor.dtype if dtype is None else dtype
    return x if x.dtype is wanted else typecast(x, wanted)
