"""Tensors of a mesh, assembled from and taken apart into tensors of the host."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.meshes.device_numbers import coordinates_of
from ttnn_jit.runtime.meshes.mesh import HostMesh, mesh_of_devices
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.meshes.tensor_topology import PlacementShard, TensorTopology, sharded_on
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.rank_exchange import gathered_shards
from ttnn_jit.ttnn.tensors.mesh_mappers import MeshToTensor, TensorToMesh
from ttnn_jit.ttnn.tensors.torch_conversion import from_torch, to_torch


@host_function(observed=False)
def from_host_shards(tensors: Sequence[Tensor], mesh_shape: Sequence[int], shard_dim: int = 0) -> Tensor:
    """The tensor of a mesh with these host tensors, one for each device (ttnn.from_host_shards).

    Args:
        tensors: Tensors of one spec, in row-major order of the devices.
        mesh_shape: The shape of the mesh.
        shard_dim: The dimension that the topology states as split.

    Raises:
        ArgumentError: The mesh has another number of devices, a tensor is on a device, or the specs differ.
    """
    shape = MeshShape(mesh_shape)
    if len(tensors) != shape.mesh_size():
        raise ArgumentError(f"from_host_shards: {len(tensors)} tensors are given for a mesh of {shape.mesh_size()}")
    for tensor in tensors:
        if tensor.device() is not None:
            raise ArgumentError("from_host_shards: a shard is on a device", help="use `ttnn.from_device` first")
    _check_equal_specs("from_host_shards", tensors)
    if len(tensors) == 1:
        return tensors[0]
    mesh = HostMesh(shape)
    return MeshTensor(mesh, tensors, sharded_on(mesh.shape, shard_dim))


@host_function(observed=False)
def combine_device_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """The tensor of a mesh with these tensors, which are on different devices of it (ttnn.combine_device_tensors).

    The result has the memory of the tensors. The mesh is the one that was opened last with all their devices.

    Raises:
        ArgumentError: There is no tensor, one is on the host, two are on one device, the devices are of no common mesh,
            or the specs differ.
    """
    if not tensors:
        raise ArgumentError("combine_device_tensors: there are no tensors to combine")
    for tensor in tensors:
        if tensor.device() is None:
            raise ArgumentError("combine_device_tensors: a tensor is on the host", help="use `from_host_shards`")
    _check_equal_specs("combine_device_tensors", tensors)
    by_device = {tensor.device(): tensor for tensor in tensors}
    if len(by_device) != len(tensors):
        raise ArgumentError("combine_device_tensors: two tensors are on one device")
    if len(tensors) == 1:
        return tensors[0]
    mesh = mesh_of_devices([device for device in by_device if device is not None])
    if mesh is None:
        raise ArgumentError("combine_device_tensors: the devices of the tensors are not of one mesh")
    numbers = [number for number, device in enumerate(mesh.devices) if device in by_device]
    coordinates = coordinates_of(mesh, numbers)
    topology = TensorTopology((len(numbers),), (PlacementShard(0),), coordinates)
    return MeshTensor(mesh, [by_device[mesh.devices[number]] for number in numbers], topology)


def _check_equal_specs(name: str, tensors: Sequence[Tensor]) -> None:
    for tensor in tensors:
        if isinstance(tensor, MeshTensor):
            raise ArgumentError(f"{name}: a tensor is of a mesh", help="take `ttnn.get_device_tensors` of it")
        if tensor.spec is not tensors[0].spec:
            raise ArgumentError(f"{name}: the tensors differ, {tensors[0].spec} and {tensor.spec}")


@host_function(observed=False)
def distribute_tensor(tensor: Tensor, mapper: TensorToMesh, mesh_device: Device | None = None) -> Tensor:
    """A host tensor distributed by a mapper (ttnn.distribute_tensor); without `mesh_device` it stays on the host.

    Raises:
        ArgumentError: The tensor is on a device, the mapper is of another mesh, or an argument has the wrong type.
        ShapeError: The tensor has no such equal parts.
    """
    if tensor.device() is not None:
        raise ArgumentError(f"distribute_tensor takes a tensor on the host, and this one is on {tensor.device()}")
    config = tensor.memory_config()
    return from_torch(
        to_torch(tensor),
        tensor.dtype,
        layout=tensor.layout,
        device=mesh_device,
        memory_config=None if mesh_device is not None and not config.is_sharded() else config,
        mesh_mapper=mapper,
    )


@host_function(observed=False)
def aggregate_tensor(tensor: Tensor, composer: MeshToTensor) -> Tensor:
    """The host tensor that a composer joins from the tensors of a mesh's devices (ttnn.aggregate_tensor).

    Raises:
        ArgumentError: An argument has the wrong type.
        ShapeError: The tensors have no such dimension.
    """
    shards = gathered_shards(tensor) if isinstance(tensor, MeshTensor) else {0: tensor}
    whole = composer.whole({number: to_torch(shard) for number, shard in shards.items()})
    return from_torch(whole, tensor.dtype, layout=tensor.layout)
