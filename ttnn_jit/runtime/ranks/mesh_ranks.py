"""Which rank has which devices of a mesh."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import ArgumentError, DistributedError
from ttnn_jit.diagnostics.tracebacks import user_location
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.ranks.channel import Channel
from ttnn_jit.runtime.ranks.world import World
from ttnn_jit.specs.target import SystemDesc


class MeshRanks:
    """The ranks that share a mesh.

    Args:
        world: The ranks of the run.
        owners: The rank of each device, in row-major order.

    Attributes:
        world: The ranks of the run.
        owners: The rank of each device, in row-major order.
        rank: This rank.
        own: The numbers of the devices of this rank.
        positions: The rank of each device, counted among the ranks that share the mesh.
        channel: The exchanges of the mesh.
    """

    def __init__(self, world: World, owners: Sequence[int]) -> None:
        self.world = world
        self.owners = tuple(owners)
        self.rank = world.rank
        self.own = tuple(number for number, owner in enumerate(owners) if owner == self.rank)
        self.channel: Channel = world.channel("mesh", sorted(set(owners)), self._devices_of)
        self.positions = tuple(map(self.channel.ranks.index, self.owners))

    @staticmethod
    def sharing(world: World, devices: int) -> MeshRanks | None:
        """The parts of a mesh of so many devices, for the ranks that share this rank's mesh; None for one rank.

        Parts differ by one device at most.

        Raises:
            ArgumentError: There are fewer devices than ranks.
        """
        ranks = world.ranks_of_own_mesh()
        if len(ranks) == 1:
            return None
        if devices < len(ranks):
            raise ArgumentError(
                f"a mesh of {devices} devices cannot be shared by {len(ranks)} ranks",
                help="open a larger mesh, or give each rank a mesh of its own: TT_MESH_ID differs for each",
            )
        return MeshRanks(world, [ranks[number * len(ranks) // devices] for number in range(devices)])

    def part(self, numbers: Sequence[int]) -> MeshRanks | None:
        """The ranks of some of the devices; None if all are of this rank."""
        owners = [self.owners[number] for number in numbers]
        return None if {*owners} == {self.rank} else MeshRanks(self.world, owners)

    def _devices_of(self, rank: int) -> str:
        numbers = [number for number, owner in enumerate(self.owners) if owner == rank]
        return f"devices {_intervals(numbers)}" if len(numbers) > 1 else f"device {numbers[0]}"


def _intervals(numbers: Sequence[int]) -> str:
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))


class RemoteDevice(Device):
    """A device of another rank: it has a number and a target, and no memory in this process."""

    def __init__(self, target: SystemDesc, device_id: int, rank: int) -> None:
        super().__init__(target, device_id)
        self.rank = rank

    def require_open(self, operation: str) -> None:
        """Refuse every use.

        Raises:
            DistributedError: Always.
        """
        raise DistributedError(
            f"{operation}: device {self.device_id} is of rank {self.rank}",
            location=user_location(),
            help="each rank uses its own devices; collectives exchange tensors between ranks",
        )
