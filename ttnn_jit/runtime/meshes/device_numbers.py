"""The numbers of devices in a mesh, and their coordinates."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ttnn_jit.runtime.meshes.mesh import HostMesh, MeshDevice
from ttnn_jit.specs.meshes.mesh_shape import MeshCoordinate, MeshShape
from ttnn_jit.specs.meshes.tensor_topology import TensorTopology


def coordinates_of(mesh: MeshDevice | HostMesh, numbers: Sequence[int]) -> tuple[MeshCoordinate, ...]:
    """The coordinates of devices of a mesh."""
    return _coordinates(mesh.shape, numbers if type(numbers) is range else tuple(numbers))


@functools.lru_cache(maxsize=256)
def _coordinates(shape: MeshShape, numbers: Sequence[int]) -> tuple[MeshCoordinate, ...]:
    every = [*shape.coordinates()]
    return tuple(every[number] for number in numbers)


@functools.lru_cache(maxsize=256)
def numbers_of(shape: MeshShape, topology: TensorTopology) -> Sequence[int]:
    """The numbers of the devices of a topology; a range for all devices of a mesh of this shape."""
    numbers = tuple(map(shape.number, topology.mesh_coords()))
    every = range(shape.mesh_size())
    return every if numbers == tuple(every) else numbers
