"""The devices of a mesh that a program runs on."""

from __future__ import annotations

from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.meshes.mesh_shape import MeshCoordinate, MeshShape
from ttnn_jit.specs.meshes.tensor_topology import TensorTopology


@dataclass(frozen=True)
class MeshDevices:
    """The devices of a mesh that a program runs on.

    Attributes:
        shape: The shape of the mesh.
        numbers: The numbers of the devices, in row-major order; none on a rank that has no part of the tensors.
        remote: The numbers of the devices of other ranks that run the same program.
        owners: The rank of every device of the mesh, counted among those that share it; () without devices of others.
    """

    shape: MeshShape
    numbers: tuple[int, ...]
    remote: tuple[int, ...] = ()
    owners: tuple[int, ...] = ()

    def __len__(self) -> int:
        """The number of devices that have memory in a run: without devices the rank's first one stands in."""
        return len(self.numbers) or 1

    @property
    def is_whole(self) -> bool:
        """Whether they are all devices of the mesh."""
        return len(self.numbers) == self.shape.mesh_size()

    @property
    def runs_on_all(self) -> bool:
        """Whether they and those of other ranks are all devices of the mesh."""
        return len(self.placed) == self.shape.mesh_size()

    @cached_property
    def placed(self) -> tuple[int, ...]:
        """The numbers of the devices on all ranks, in row-major order."""
        return tuple(sorted((*self.numbers, *self.remote)))

    @property
    def rank(self) -> int:
        """The rank of the devices, counted as `owners`; -1 without devices."""
        return self.owners[self.numbers[0]] if self.numbers else -1

    @cached_property
    def coordinates(self) -> tuple[MeshCoordinate, ...]:
        """The coordinates of the devices on all ranks, in order."""
        every = [*self.shape.coordinates()]
        return tuple(every[number] for number in self.placed)


ONE_DEVICE = MeshDevices(MeshShape(1, 1), (0,))
"""The mesh that a single device is."""


@dataclass(frozen=True)
class MeshPlacement:
    """The placement of a tensor on a mesh, a part of the key of a program.

    Attributes:
        mesh: The shape of the mesh.
        topology: The placement.
        own: The numbers of the devices that are of this process and have a part; None if all are of it.
        blocks: Per part, the first part that has the same block of memory; () if each has its own.
    """

    mesh: MeshShape
    topology: TensorTopology
    own: tuple[int, ...] | None = None
    blocks: tuple[int, ...] = ()

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the devices that have a part, in the order of the parts."""
        return tuple(map(self.mesh.number, self.topology.mesh_coords()))

    def blocks_on(self, devices: MeshDevices) -> tuple[int, ...]:
        """`blocks` of the parts on these devices."""
        if not self.blocks:
            return ()
        parts = dict(zip(self.numbers if self.own is None else self.own, self.blocks, strict=True))
        own = [parts[number] for number in devices.numbers]
        found = tuple(map(own.index, own))
        return () if found == tuple(range(len(own))) else found
