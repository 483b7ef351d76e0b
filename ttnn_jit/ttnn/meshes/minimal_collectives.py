"""Collectives of single models that ttnn has under names of their own: the parts that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.collectives.device_exchanges import ALL_GATHER, ALL_REDUCE, BROADCAST
from ttnn_jit.ops.families.collective import REDUCE_SUM
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.configs.program_configs import MinimalMatmulConfig
from ttnn_jit.specs.cores.sub_devices import SubDeviceId
from ttnn_jit.specs.tensor_spec import MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as operations
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.devices.semaphores import GlobalSemaphore
from ttnn_jit.ttnn.functions.minimal_products import minimal_matmul
from ttnn_jit.ttnn.meshes.collectives import position_in_group
from ttnn_jit.ttnn.meshes.exchange import counted_as_one_program, device_of, exchange
from ttnn_jit.ttnn.meshes.topology import Topology
from ttnn_jit.ttnn.namespace.lazy_names import NO_LINKS


@host_function(
    exchanges=True,
    name="experimental.deepseek_minimal_all_reduce",
    without_effect={NO_LINKS: "intermediate_tensor num_links topology"},
)
def deepseek_minimal_all_reduce(
    input_tensor: Tensor,
    *,
    cluster_axis: int | None = None,
    intermediate_tensor: Tensor | None = None,
    residual_tensor: Tensor | None = None,
    persistent_output_tensor: Tensor | None = None,
    num_links: int = 2,
    topology: Topology | None = None,
) -> Tensor:
    """`all_reduce` along an axis, plus a tensor of the device (ttnn.experimental.deepseek_minimal_all_reduce).

    Args:
        input_tensor: A tensor of a mesh.
        cluster_axis: The axis; None for all devices.
        intermediate_tensor: Memory of packets on a chip; not used.
        residual_tensor: Is added to the sum.
        persistent_output_tensor: The tensor that receives the result, and is returned.
        num_links: Without effect.
        topology: Without effect.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: `persistent_output_tensor` does not fit the result.
    """
    name = "deepseek_minimal_all_reduce"
    with counted_as_one_program(name, input_tensor, cluster_axis):
        output = persistent_output_tensor if residual_tensor is None else None
        total = exchange(name, ALL_REDUCE, input_tensor, REDUCE_SUM, cluster_axis=cluster_axis, output=output)
        if residual_tensor is None:
            return total
        result: Tensor = operations.add(total, residual_tensor, output_tensor=persistent_output_tensor)
        return result


@host_function(
    exchanges=True,
    name="experimental.deepseek_minimal_broadcast",
    without_effect={NO_LINKS: "subdevice_id num_links topology"},
)
def deepseek_minimal_broadcast(  # noqa: PLR0913 - ttnn's parameters
    input_tensor: Tensor,
    sender_coord: Sequence[int],
    *,
    cluster_axis: int | None = None,
    subdevice_id: SubDeviceId | None = None,
    memory_config: MemoryConfig | None = None,
    num_links: int = 1,
    topology: Topology | None = None,
    secondary_cluster_axis: int | None = None,
    persistent_output_buffer: Tensor | None = None,
) -> Tensor:
    """`broadcast` along one axis or along two (ttnn.experimental.deepseek_minimal_broadcast).

    Args:
        input_tensor: A tensor of a mesh.
        sender_coord: The coordinate of the sender.
        cluster_axis: As that of `broadcast`.
        subdevice_id: Without effect.
        memory_config: Memory config of the result.
        num_links: Without effect.
        topology: Without effect.
        secondary_cluster_axis: The second axis; the tensor then goes to all devices of a mesh of two axes.
        persistent_output_buffer: The tensor that receives the result, and is returned.

    Raises:
        ArgumentError: There is no such axis or no tensor on the sender, the mesh has a third axis, or an argument has
            the wrong type.
        ShapeError: `persistent_output_buffer` does not fit the result.
    """
    name = "deepseek_minimal_broadcast"
    axis, shape = cluster_axis, device_of(name, input_tensor).shape
    if secondary_cluster_axis is not None:
        if {axis, secondary_cluster_axis} != {0, 1} or len(shape) != 2:
            raise ArgumentError(
                f"{name}: the axes {axis} and {secondary_cluster_axis} are not the two axes of a mesh of shape "
                f"{tuple(shape)}"
            )
        axis = None
    sender = position_in_group(input_tensor, sender_coord, axis, name)
    return exchange(
        name, BROADCAST, input_tensor, sender, cluster_axis=axis, memory_config=memory_config,
        output=persistent_output_buffer,
    )  # fmt: skip


@host_function(
    exchanges=True,
    name="experimental.strided_all_gather_minimal_matmul_async",
    chip_only="config compute_kernel_config",
    without_effect={
        NO_LINKS: "multi_device_global_semaphore strided_all_gather_core_grid_offset num_links topology "
        "num_workers_per_link num_buffers_per_channel read_local_slice_from_input"
    },
)
def strided_all_gather_minimal_matmul_async(  # noqa: PLR0913 - ttnn's parameters
    input_tensor: Tensor,
    weight_tensor: Tensor,
    persistent_output_buffer: Tensor | None,
    dim: int,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None,
    strided_all_gather_core_grid_offset: object,
    *,
    num_links: int = 1,
    memory_config_ag: MemoryConfig | None = None,
    topology: Topology | None = None,
    cluster_axis: int | None = None,
    bias: Tensor | None = None,
    fused_activation: Any = None,
    config: MinimalMatmulConfig | None = None,
    memory_config_mm: MemoryConfig | None = None,
    compute_kernel_config: object = None,
    num_workers_per_link: int | None = None,
    num_buffers_per_channel: int | None = None,
    read_local_slice_from_input: bool | None = None,
) -> list[Tensor]:
    """`all_gather` along an axis, and `minimal_matmul` of its result and a weight; a list of both results.

    (ttnn.experimental.strided_all_gather_minimal_matmul_async)

    Args:
        input_tensor: A tensor of a mesh.
        weight_tensor: The right factor.
        persistent_output_buffer: The tensor that receives the gathered tensor.
        dim: Dimension of the gather.
        multi_device_global_semaphore: Without effect, as the other options of transfers.
        strided_all_gather_core_grid_offset: Cores of a chip; without effect.
        num_links: Without effect.
        memory_config_ag: Memory config of the gathered tensor.
        topology: Without effect.
        cluster_axis: The axis; None for all devices.
        bias: A row that is added to the product.
        fused_activation: As that of `minimal_matmul`.
        config: Blocking on a chip.
        memory_config_mm: Memory config of the product.
        compute_kernel_config: Precision on a chip.
        num_workers_per_link: Without effect.
        num_buffers_per_channel: Without effect.
        read_local_slice_from_input: Without effect: a part that a chip reads from the tensor is in its result too.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or the buffer does not fit.
        CompileError: The factors do not fit each other.
    """
    name = "strided_all_gather_minimal_matmul_async"
    with counted_as_one_program(name, input_tensor, weight_tensor.spec, dim):
        gathered = exchange(
            name, ALL_GATHER, input_tensor, dim, cluster_axis=cluster_axis, memory_config=memory_config_ag,
            output=persistent_output_buffer,
        )  # fmt: skip
        product = minimal_matmul(
            gathered, weight_tensor, bias, fused_activation, memory_config=memory_config_mm,
        )  # fmt: skip
        return [gathered, product]
