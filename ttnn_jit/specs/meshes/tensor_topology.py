"""The placement of a tensor's shards on the devices of a mesh."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.checks import check_whole_number
from ttnn_jit.specs.meshes.mesh_shape import MeshCoordinate, MeshShape


@dataclass(frozen=True)
class PlacementReplicate:
    """Replicates the tensor along an axis of the mesh (ttnn.PlacementReplicate)."""

    def __repr__(self) -> str:
        return "PlacementReplicate()"


@dataclass(frozen=True)
class PlacementShard:
    """Splits the tensor along `dim` over an axis of the mesh (ttnn.PlacementShard)."""

    dim: int

    def __post_init__(self) -> None:
        check_whole_number(self.dim, "`dim` of PlacementShard")

    def __repr__(self) -> str:
        return f"PlacementShard({self.dim})"


Placement: TypeAlias = PlacementReplicate | PlacementShard
REPLICATE = PlacementReplicate()


def checked_placements(placements: object) -> tuple[Placement, ...]:
    """A list of placements as a tuple.

    Raises:
        ArgumentError: It is empty or no list of placements.
    """
    known = isinstance(placements, tuple | list) and bool(placements)
    if not known or not all(isinstance(each, PlacementReplicate | PlacementShard) for each in placements):  # type: ignore[attr-defined]
        raise ArgumentError(
            "`placements` must be a list of PlacementShard and PlacementReplicate, one for each axis of the mesh, "
            f"got {placements!r}"
        )
    return tuple(placements)  # type: ignore[arg-type]


class TensorTopology:
    """How a tensor was split into shards, and which device has which shard (ttnn.TensorTopology).

    Args:
        distribution_shape: The number of shards along each axis of the distribution.
        placements: One for each axis: the dimension that it splits, or replication.
        mesh_coords: The coordinate of each shard's device, for shards in row-major order.
    """

    __slots__ = ("_coords", "_hash", "_placements", "_shape")

    def __init__(
        self,
        distribution_shape: MeshShape | Sequence[int],
        placements: Sequence[Placement],
        mesh_coords: Iterable[Sequence[int]],
    ) -> None:
        self._shape = MeshShape(distribution_shape)
        self._placements = checked_placements(placements)
        self._coords = tuple(map(MeshCoordinate, mesh_coords))
        self._hash = hash((self._shape, self._placements, self._coords))

    def distribution_shape(self) -> MeshShape:
        """The number of shards along each axis."""
        return self._shape

    def placements(self) -> list[Placement]:
        """The placement along each axis."""
        return [*self._placements]

    def mesh_coords(self) -> list[MeshCoordinate]:
        """The coordinate of each shard's device, for shards in row-major order."""
        return [*self._coords]

    @property
    def is_replicated(self) -> bool:
        """Whether every device has the whole tensor."""
        return not any(isinstance(each, PlacementShard) for each in self._placements)

    def with_placements(self, placements: Sequence[Placement]) -> TensorTopology:
        """The same shards, split as `placements` states."""
        return TensorTopology(self._shape, placements, self._coords)

    def on(self, coords: Sequence[MeshCoordinate]) -> TensorTopology:
        """The same split, on devices with these coordinates."""
        return self if self._coords == coords else TensorTopology(self._shape, self._placements, coords)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorTopology) and (
            (self._shape, self._placements, self._coords) == (other._shape, other._placements, other._coords)
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return (
            f"TensorTopology(distribution_shape={self._shape}, placements={[*self._placements]}, "
            f"mesh_coords={[*self._coords]})"
        )


ONE_DEVICE = TensorTopology((1,), (REPLICATE,), ((0, 0),))
"""The topology of a tensor of one device."""


@memoized(maxsize=256)
def replicated_on(mesh: MeshShape) -> TensorTopology:
    """The topology of a tensor that every device of a mesh has whole."""
    return TensorTopology((mesh.mesh_size(),), (REPLICATE,), mesh.coordinates())


@memoized(maxsize=256)
def sharded_on(mesh: MeshShape, dim: int) -> TensorTopology:
    """The topology of a tensor that is split along `dim` over all devices of a mesh."""
    return TensorTopology((mesh.mesh_size(),), (PlacementShard(dim),), mesh.coordinates())


@memoized(maxsize=1024)
def topology_of_result(operands: tuple[TensorTopology, ...], coords: tuple[MeshCoordinate, ...]) -> TensorTopology:
    """The topology of a result that each device in `coords` computes from its own shards of the operands.

    Operands that are split count, or all if none is; among these the ones with the most axes. An axis is as long as
    that of the longest of them, and splits the dimension that the first of them splits along it, unless another axis
    splits this dimension. This is ttnn's rule, where a whole operand has a say in the lengths.
    """
    split = [each for each in operands if not each.is_replicated] or [*operands]
    axes = max(len(each.distribution_shape()) for each in split)
    counted = [each for each in split if len(each.distribution_shape()) == axes]
    shape = [max(extents) for extents in zip(*(each.distribution_shape() for each in counted), strict=True)]
    placements: list[Placement] = [REPLICATE] * axes
    taken: set[int] = set()
    for operand in counted:
        for axis, placement in enumerate(operand.placements()):
            if not isinstance(placement, PlacementShard) or placement.dim in taken:
                continue
            taken.add(placement.dim)
            if placements[axis] == REPLICATE:
                placements[axis] = placement
    return TensorTopology(shape, placements, coords)


def topology_to_json(topology: TensorTopology) -> list[Any]:
    """The distribution and the dimensions that its axes split, None for replication, as JSON values."""
    dims = [each.dim if isinstance(each, PlacementShard) else None for each in topology.placements()]
    return [[*topology.distribution_shape()], dims]


def topology_from_json(value: Any, coords: Iterable[Sequence[int]]) -> TensorTopology:
    """The inverse of `topology_to_json` for devices with these coordinates.

    Raises:
        TypeError, ValueError, ArgumentError: The value describes no topology.
    """
    shape, dims = value
    return TensorTopology(shape, [REPLICATE if dim is None else PlacementShard(dim) for dim in dims], coords)


def distribution_to_mesh(distribution: MeshShape, mesh: MeshShape) -> list[MeshCoordinate]:
    """The coordinate in a mesh of each shard of a distribution, for shards in row-major order.

    A distribution that fits along the mesh's axes takes the part of the mesh at its origin; any other takes the devices
    in row-major order.
    """
    coordinates = distribution.coordinates() if mesh.holds(distribution) else mesh.coordinates()
    return [each for each, _ in zip(coordinates, range(distribution.mesh_size()), strict=False)]
