"""Tensors of a mesh, assembled from and taken apart into tensors of the host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.mesh_mappers import MeshToTensor, TensorToMesh
from ttnn_jit.ttnn.tensors.torch_conversion import from_torch, to_torch
from ttnn_jit.ttnn.tensors.transfers import get_device_tensors


class MeshCoordinate(tuple[int, ...]):
    """The position of a device in a mesh, from 0 along each axis (ttnn.MeshCoordinate)."""

    __slots__ = ()

    def __new__(cls, *coordinates: int | Iterable[int]) -> MeshCoordinate:
        """``MeshCoordinate(0, 1)`` or ``MeshCoordinate((0, 1))``."""
        given = coordinates[0] if len(coordinates) == 1 and not isinstance(coordinates[0], int) else coordinates
        flat: tuple[Any, ...] = tuple(given) if isinstance(given, Iterable) else ()
        if not flat or not all(type(coordinate) is int and coordinate >= 0 for coordinate in flat):
            raise ArgumentError(f"a mesh coordinate is whole numbers of at least 0, got {flat}")
        return super().__new__(cls, flat)

    def dims(self) -> int:
        """Number of axes."""
        return len(self)

    def __repr__(self) -> str:
        return f"MeshCoordinate([{', '.join(map(str, self))}])"


@host_function(observed=False)
def from_host_shards(tensors: Sequence[Tensor], mesh_shape: MeshShape | Sequence[int]) -> Tensor:
    """The tensor of a mesh with these host tensors, one for each device (ttnn.from_host_shards).

    Raises:
        ArgumentError: The mesh has more than one device or another number of devices, or a tensor is on a device.
    """
    shape = MeshShape(mesh_shape)
    if len(tensors) != shape.mesh_size():
        raise ArgumentError(f"from_host_shards: {len(tensors)} tensors are given for a mesh of {shape.mesh_size()}")
    for tensor in tensors:
        if tensor.device() is not None:
            raise ArgumentError("from_host_shards: a shard lies on a device", help="use `ttnn.from_device` first")
    return _single("from_host_shards", tensors, "cut one tensor by `ttnn.from_torch(..., mesh_mapper=...)`")


@host_function(observed=False)
def combine_device_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """The tensor of a mesh with these tensors, one on each device (ttnn.combine_device_tensors).

    Raises:
        ArgumentError: There is not exactly one tensor, or it is on the host.
    """
    for tensor in tensors:
        if tensor.device() is None:
            raise ArgumentError("combine_device_tensors: a tensor is on the host", help="use `from_host_shards`")
    return _single("combine_device_tensors", tensors, "keep the tensor of the mesh that they are of")


def _single(name: str, tensors: Sequence[Tensor], instead: str) -> Tensor:
    if len(tensors) != 1:
        raise ArgumentError(
            f"{name}: got {len(tensors)} tensors; a tensor of several devices cannot be assembled from its parts",
            help=instead,
        )
    return tensors[0]


@host_function(observed=False)
def distribute_tensor(tensor: Tensor, mapper: TensorToMesh, mesh_device: Device | None = None) -> Tensor:
    """A host tensor distributed by a mapper (ttnn.distribute_tensor); without `mesh_device` it stays on the host.

    Raises:
        ArgumentError: The tensor is on a device, the mapper is of another mesh, or an argument has the wrong type.
        ShapeError: The tensor has no such equal parts.
    """
    if tensor.device() is not None:
        raise ArgumentError(f"distribute_tensor takes a tensor on the host, and this one lies on {tensor.device()}")
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
    whole = composer.whole([to_torch(own) for own in get_device_tensors(tensor)])
    return from_torch(whole, tensor.dtype, layout=tensor.layout)
