"""Collectives: the devices of a mesh exchange their tensors along an axis of the mesh, or all of them.

Arguments that choose how chips transfer data are checked and have no effect. The results and the order of sums are
those of the declarations (`ttnn_jit/ops/collectives/`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.collectives.device_exchanges import (
    ALL_BROADCAST,
    ALL_GATHER,
    ALL_REDUCE,
    BROADCAST,
    MESH_PARTITION,
    POINT_TO_POINT,
    REDUCE_SCATTER,
)
from ttnn_jit.ops.families.collective import groups_of
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.meshes.exchange import devices_of, exchange, exchanged
from ttnn_jit.ttnn.meshes.fabric_options import WITHOUT_LINKS, FabricOptions
from ttnn_jit.ttnn.meshes.topology import ReduceType, Topology, reduction_of
from ttnn_jit.ttnn.namespace.lazy_names import NO_LINKS


@host_function(exchanges=True, without_effect=WITHOUT_LINKS)
def all_gather(
    input_tensor: Tensor,
    dim: int,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """The tensors of the devices along an axis, concatenated along `dim` in the order of devices (ttnn.all_gather).

    Args:
        input_tensor: A tensor of a mesh.
        dim: Dimension from -rank to rank - 1.
        cluster_axis: Axis of the mesh; None for all devices in row-major order.
        mesh_device: The tensor's mesh.
        memory_config: Memory config of the result; that of the tensor when omitted.
        output_tensor: The tensor that receives the result, and is returned.
        **_links: Options of the links between chips, such as `num_links` and `topology`; without effect.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or `output_tensor` does not fit the result.
    """
    return exchange(
        "all_gather", ALL_GATHER, input_tensor, dim, cluster_axis=cluster_axis, mesh_device=mesh_device,
        memory_config=memory_config, output=output_tensor,
    )  # fmt: skip


@host_function(exchanges=True, without_effect=WITHOUT_LINKS)
def all_reduce(
    input_tensor: Tensor,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    math_op: ReduceType | None = None,
    reduce_type: ReduceType | str | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """The sum of the tensors of the devices along an axis of the mesh, on each of them (ttnn.all_reduce).

    Of all devices of a mesh with several axes the sum runs along axis 0 first, then along axis 1. It is rounded once.
    The arguments are those of `all_gather` and `reduce_scatter`.

    Raises:
        ArgumentError: There is no such axis or reduction, or an argument has the wrong type.
    """
    return exchange(
        "all_reduce", ALL_REDUCE, input_tensor, reduction_of("all_reduce", math_op, reduce_type),
        cluster_axis=cluster_axis, mesh_device=mesh_device, memory_config=memory_config,
    )  # fmt: skip


@host_function(exchanges=True, chip_only="compute_kernel_config", without_effect=WITHOUT_LINKS)
def reduce_scatter(  # noqa: PLR0913 - the signature is ttnn's
    input_tensor: Tensor,
    dim: int,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    math_op: ReduceType | None = None,
    reduce_type: ReduceType | str | None = None,
    compute_kernel_config: object = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """The sum of the tensors along an axis of the mesh; device i gets part i along `dim` (ttnn.reduce_scatter).

    `math_op` is the reduction: `ttnn.ReduceType.Sum` when omitted, or Mean, Max, Min, Prod. `reduce_type` is another
    name of it, and may be a text, ``"max"``. `compute_kernel_config` is the precision on a chip. The other arguments
    are those of `all_gather`.

    Raises:
        ArgumentError: There is no such axis or reduction, or an argument has the wrong type.
        ShapeError: There is no such dimension, it has no equal parts, or `output_tensor` does not fit the result.
    """
    return exchange(
        "reduce_scatter", REDUCE_SCATTER, input_tensor, dim, reduction_of("reduce_scatter", math_op, reduce_type),
        cluster_axis=cluster_axis, mesh_device=mesh_device, memory_config=memory_config, output=output_tensor,
    )  # fmt: skip


@host_function(exchanges=True)
def mesh_partition(
    input_tensor: Tensor, dim: int, cluster_axis: int | None = None, memory_config: MemoryConfig | None = None
) -> Tensor:
    """The part of its own tensor along `dim` that each device along an axis keeps (ttnn.mesh_partition).

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or it has no equal parts.
    """
    return exchange(
        "mesh_partition", MESH_PARTITION, input_tensor, dim, cluster_axis=cluster_axis, memory_config=memory_config
    )


@host_function(exchanges=True, without_effect=WITHOUT_LINKS)
def all_broadcast(
    input_tensor: Tensor,
    cluster_axis: int | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> list[Tensor]:
    """A list of the tensors of the devices along an axis, each on every device (ttnn.all_broadcast).

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
    """
    return exchanged(
        "all_broadcast", ALL_BROADCAST, input_tensor, cluster_axis=cluster_axis, memory_config=memory_config
    )


@host_function(exchanges=True, without_effect=WITHOUT_LINKS)
def broadcast(
    input_tensor: Tensor,
    sender_coord: Sequence[int],
    cluster_axis: int | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """The tensor of one device, on every device (ttnn.broadcast).

    Args:
        input_tensor: A tensor of a mesh.
        sender_coord: The coordinate of the sender.
        cluster_axis: None for all devices. Otherwise each device gets the tensor of the device that has the sender's
            position along this axis, and its own along the others.
        memory_config: Memory config of the result; that of the tensor when omitted.
        **_links: Options of the links between chips; without effect.

    Raises:
        ArgumentError: There is no such axis or no tensor on the sender, or an argument has the wrong type.
    """
    sender = position_in_group(input_tensor, sender_coord, cluster_axis, "broadcast")
    return exchange(
        "broadcast", BROADCAST, input_tensor, sender, cluster_axis=cluster_axis, memory_config=memory_config
    )


def _number(tensor: Tensor, coordinate: Sequence[int], name: str) -> int:
    """The number of the device at a coordinate, which has a part of the tensor."""
    devices = devices_of(name, tensor)
    number = devices.shape.number(coordinate)
    if number not in devices.placed:
        raise ArgumentError(f"{name}: the device at {tuple(coordinate)} has no part of the tensor")
    return number


def position_in_group(tensor: Tensor, coordinate: Sequence[int], cluster_axis: int | None, name: str) -> int:
    """The position of the device at a coordinate in its group."""
    number, devices = _number(tensor, coordinate, name), devices_of(name, tensor)
    groups = groups_of(devices.shape, devices.placed, cluster_axis)
    return next(group.devices.index(number) for group in groups if number in group.devices)


@host_function(exchanges=True, without_effect={NO_LINKS: "topology intermediate_tensor"})
def point_to_point(
    input_tensor: Tensor,
    sender_coord: Sequence[int],
    receiver_coord: Sequence[int],
    *,
    output_tensor: Tensor | None = None,
    intermediate_tensor: Tensor | None = None,
    topology: Topology | None = None,
) -> Tensor:
    """The sender's tensor on the receiver; other devices hold copies of their own (ttnn.point_to_point).

    Args:
        input_tensor: A tensor of a mesh.
        sender_coord: The coordinate of the sender.
        receiver_coord: The coordinate of the receiver.
        output_tensor: The tensor whose part on the receiver is overwritten, and that is returned; its other parts stay.
        intermediate_tensor: Memory of packets on a chip; not used.
        topology: The topology of links; without effect.

    Raises:
        ArgumentError: A device has no part of the tensor, or an argument has the wrong type.
        ShapeError: `output_tensor` does not fit the result.
    """
    name = "point_to_point"
    sender, receiver = (_number(input_tensor, coord, name) for coord in (sender_coord, receiver_coord))
    return exchange(name, POINT_TO_POINT, input_tensor, sender, receiver, output=output_tensor, receivers=[receiver])
