"""Mappers distribute a torch tensor over the devices of a mesh; composers join the tensors of the devices.

Every mapper and every composer is a config for a mesh. A shape in the config that fits along the axes of the mesh takes
the part of the mesh at its origin; any other shape takes the devices in row-major order.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.checks import check_kind, check_whole_number
from ttnn_jit.specs.meshes.mesh_shape import MeshCoordinate, MeshShape
from ttnn_jit.specs.meshes.tensor_topology import (
    REPLICATE,
    Placement,
    PlacementShard,
    TensorTopology,
    checked_placements,
    distribution_to_mesh,
)
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.host_overloads import call_overload, host_overload

if TYPE_CHECKING:
    import torch


class TensorToMesh(ABC):
    """Distributes a tensor over the devices of a mesh (ttnn.TensorToMesh).

    Attributes:
        mesh_device: The mesh.
    """

    mesh_device: Device

    @property
    def settings(self) -> str:
        """The class and the settings, without the mesh."""
        own = {name: value for name, value in vars(self).items() if name != "mesh_device"}
        return f"{type(self).__name__} of {own}"

    @property
    @abstractmethod
    def config(self) -> MeshMapperConfig:
        """The placement along each axis."""

    def distributed(self, tensor: torch.Tensor) -> tuple[list[torch.Tensor], TensorTopology]:
        """The shards, in row-major order of their devices, and the topology.

        Over one axis there may be fewer shards than devices.

        Raises:
            ShapeError: The tensor has no such equal parts, or the config does not fit the mesh.
        """
        config, mesh = self.config, self.mesh_device.shape
        shape = _distribution(config, mesh, len(config.placements))
        parts = [tensor]
        for placement, count in zip(config.placements, shape, strict=True):
            dim = placement.dim if isinstance(placement, PlacementShard) else None
            parts = [own for part in parts for own in _split(part, dim, count, is_only_axis=len(shape) == 1)]
        actual = MeshShape(len(parts)) if len(shape) == 1 else shape
        coordinates = distribution_to_mesh(shape, mesh)[: len(parts)]
        return parts, TensorTopology(actual, config.placements, coordinates)


class MeshToTensor(ABC):
    """Joins the tensors of a mesh's devices (ttnn.MeshToTensor).

    Attributes:
        mesh_device: The mesh.
    """

    mesh_device: Device

    @property
    @abstractmethod
    def config(self) -> MeshComposerConfig:
        """The dimension that each axis concatenates along."""

    def whole(self, shards: Mapping[int, torch.Tensor]) -> torch.Tensor:
        """The tensor joined from those of the devices, by their numbers in row-major order.

        Raises:
            ShapeError: The tensors have no such dimension, or the config does not fit the mesh or the devices.
        """
        config, mesh = self.config, self.mesh_device.shape
        shape = _distribution(config, mesh, len(config.dims))
        numbers = map(mesh.number, distribution_to_mesh(shape, mesh))
        parts = [shards[number] for number in numbers if number in shards]
        if len(shape) == 1:
            return _concatenated(parts, config.dims[0])
        if len(parts) != shape.mesh_size():
            raise ShapeError(f"{len(parts)} tensors are too few to be joined over {shape}")
        for dim, count in zip(reversed(config.dims), reversed(shape), strict=True):
            parts = [_concatenated(parts[first : first + count], dim) for first in range(0, len(parts), count)]
        return parts[0]


@dataclass(frozen=True)
class ReplicateTensorToMesh(TensorToMesh):
    """Every device gets the whole tensor (ttnn.ReplicateTensorToMesh)."""

    mesh_device: Device

    def __post_init__(self) -> None:
        check_kind(self.mesh_device, Device, "`mesh_device`")

    @property
    def config(self) -> MeshMapperConfig:
        """Replication over all devices."""
        return MeshMapperConfig([REPLICATE], MeshShape(self.mesh_device.get_num_devices()))


@dataclass(frozen=True)
class ShardTensorToMesh(TensorToMesh):
    """Each device gets one of equal parts along `dim` (ttnn.ShardTensorToMesh).

    Where there are fewer parts than devices, the last devices get none.
    """

    mesh_device: Device
    dim: int

    def __post_init__(self) -> None:
        check_kind(self.mesh_device, Device, "`mesh_device`")
        check_whole_number(self.dim, "`dim`")

    @property
    def config(self) -> MeshMapperConfig:
        """Parts along `dim` over all devices."""
        return MeshMapperConfig([PlacementShard(self.dim)], MeshShape(self.mesh_device.get_num_devices()))


@dataclass(frozen=True)
class ShardTensor2dMesh(TensorToMesh):
    """Splits the tensor along ``dims[0]`` over the rows of `mesh_shape`, and along ``dims[1]`` over its columns.

    None replicates the tensor along that axis of the mesh (ttnn.ShardTensor2dMesh).
    """

    mesh_device: Device
    mesh_shape: tuple[int, ...]
    dims: tuple[int | None, int | None]

    def __post_init__(self) -> None:
        check_kind(self.mesh_device, Device, "`mesh_device`")
        object.__setattr__(self, "mesh_shape", MeshShape(self.mesh_shape))
        dims = tuple(self.dims) if isinstance(self.dims, tuple | list) else ()
        if len(dims) != 2 or not {type(dim) for dim in dims} <= {int, type(None)}:
            raise ArgumentError(f"`dims` must be two of None and whole numbers, got {self.dims!r}")
        object.__setattr__(self, "dims", dims)

    @property
    def config(self) -> MeshMapperConfig:
        """The placement along rows and columns."""
        return MeshMapperConfig([*map(_placement, self.dims)], MeshShape(self.mesh_shape))


def _placement(dim: int | None) -> Placement:
    return REPLICATE if dim is None else PlacementShard(dim)


def _split(tensor: torch.Tensor, dim: int | None, count: int, *, is_only_axis: bool) -> list[torch.Tensor]:
    """`count` equal parts; over the only axis of a distribution as many of the least size that `count` parts need."""
    if dim is None:
        return [tensor] * count
    if -tensor.dim() <= dim < tensor.dim():
        parts = list(tensor.chunk(count, dim))
        if len({part.shape[dim] for part in parts}) == 1 and (is_only_axis or len(parts) == count):
            return parts
    raise ShapeError(f"a tensor of shape {list(tensor.shape)} has no {count} equal parts along dimension {dim}")


@dataclass(frozen=True)
class ConcatMeshToTensor(MeshToTensor):
    """Concatenates the tensors of the devices along `dim` (ttnn.ConcatMeshToTensor)."""

    mesh_device: Device
    dim: int

    def __post_init__(self) -> None:
        check_kind(self.mesh_device, Device, "`mesh_device`")
        check_whole_number(self.dim, "`dim`")

    @property
    def config(self) -> MeshComposerConfig:
        """One axis of all devices."""
        return MeshComposerConfig([self.dim], MeshShape(self.mesh_device.get_num_devices()))


@dataclass(frozen=True)
class ConcatMesh2dToTensor(MeshToTensor):
    """Concatenates each row of devices along ``dims[1]``, then rows along ``dims[0]`` (ttnn.ConcatMesh2dToTensor)."""

    mesh_device: Device
    mesh_shape: tuple[int, ...]
    dims: tuple[int, int]

    def __post_init__(self) -> None:
        check_kind(self.mesh_device, Device, "`mesh_device`")
        object.__setattr__(self, "mesh_shape", MeshShape(self.mesh_shape))
        dims = tuple(self.dims) if isinstance(self.dims, tuple | list) else ()
        if len(dims) != 2 or {type(dim) for dim in dims} != {int} or dims[0] == dims[1]:
            raise ArgumentError(f"`dims` must be two different whole numbers, got {self.dims!r}")
        object.__setattr__(self, "dims", dims)

    @property
    def config(self) -> MeshComposerConfig:
        """The dimensions of rows and columns."""
        return MeshComposerConfig(self.dims, MeshShape(self.mesh_shape))


def _concatenated(parts: list[torch.Tensor], dim: int) -> torch.Tensor:
    import torch

    rank = parts[0].dim()
    if not -rank <= dim < rank:
        raise ShapeError(f"tensors of shape {list(parts[0].shape)} have no dimension {dim} to be joined along")
    return torch.cat(parts, dim)


# --- Mappers and composers from configs -------------------------------------------------------------------------------


class _Config:
    """A config with fields that are its slots; equal fields are equal configs."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def _fields(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __repr__(self) -> str:
        shown = (
            f"{name}={list(value) if type(value) is tuple else value}"
            for name, value in zip(self.__slots__, self._fields(), strict=True)
        )
        return f"{type(self).__name__}({', '.join(shown)})"


class MeshMapperConfig(_Config):
    """The placement of a tensor along each axis of a mesh (ttnn.MeshMapperConfig).

    ``MeshMapperConfig(placements, mesh_shape_override=None)``, or for two axes ``MeshMapperConfig(row_dim, col_dim,
    mesh_shape_override=None)`` with the dimensions that rows and columns split, None for replication.

    Attributes:
        placements: One for each axis.
        mesh_shape_override: The shape of the distribution; None for that of the mesh.
    """

    __slots__ = ("placements", "mesh_shape_override")  # noqa: RUF023 - the order of the arguments

    def __init__(self, *args: Any, **keywords: Any) -> None:
        self.placements: tuple[Placement, ...]
        self.mesh_shape_override: MeshShape | None
        self.placements, shape = call_overload("MeshMapperConfig", (_of_placements, _of_dims), args, keywords)
        self.mesh_shape_override = None if shape is None else MeshShape(shape)


@host_overload()
def _of_placements(
    placements: Sequence[Any], mesh_shape_override: Sequence[int] | None = None
) -> tuple[tuple[Placement, ...], Sequence[int] | None]:
    return checked_placements([*placements]), mesh_shape_override


@host_overload()
def _of_dims(
    row_dim: int | None = None, col_dim: int | None = None, mesh_shape_override: Sequence[int] | None = None
) -> tuple[tuple[Placement, ...], Sequence[int] | None]:
    return (_placement(row_dim), _placement(col_dim)), mesh_shape_override


class MeshComposerConfig(_Config):
    """The dimension along which each axis of a mesh concatenates tensors (ttnn.MeshComposerConfig).

    ``MeshComposerConfig(dims, mesh_shape_override=None)``, or ``MeshComposerConfig(row_dim, col_dim,
    mesh_shape_override=None)``.

    Attributes:
        dims: One for each axis.
        mesh_shape_override: The shape of the distribution; None for that of the mesh.
    """

    __slots__ = ("dims", "mesh_shape_override")

    def __init__(self, *args: Any, **keywords: Any) -> None:
        self.dims: tuple[int, ...]
        self.mesh_shape_override: MeshShape | None
        self.dims, shape = call_overload("MeshComposerConfig", (_along, _along_rows_and_columns), args, keywords)
        if not self.dims:
            raise ArgumentError("`dims` of MeshComposerConfig must be whole numbers, got none")
        self.mesh_shape_override = None if shape is None else MeshShape(shape)


@host_overload()
def _along(
    dims: Sequence[int], mesh_shape_override: Sequence[int] | None = None
) -> tuple[tuple[int, ...], Sequence[int] | None]:
    return tuple(dims), mesh_shape_override


@host_overload()
def _along_rows_and_columns(
    row_dim: int, col_dim: int, mesh_shape_override: Sequence[int] | None = None
) -> tuple[tuple[int, ...], Sequence[int] | None]:
    return (row_dim, col_dim), mesh_shape_override


def _distribution(config: MeshMapperConfig | MeshComposerConfig, mesh: MeshShape, axes: int) -> MeshShape:
    """The shape of a distribution over a mesh.

    Raises:
        ArgumentError: It has more devices than the mesh, or another number of axes than the config.
    """
    shape = config.mesh_shape_override or mesh
    if shape.mesh_size() > mesh.mesh_size():
        raise ArgumentError(f"{shape} has more devices than the mesh of shape {tuple(mesh)}")
    if axes != shape.dims():
        raise ArgumentError(f"{config} is for {axes} axes, and {shape} has {shape.dims()}")
    return shape


@dataclass(frozen=True)
class _ConfiguredMapper(TensorToMesh):
    mesh_device: Device
    given: MeshMapperConfig

    @property
    def config(self) -> MeshMapperConfig:
        return self.given


@dataclass(frozen=True)
class _ConfiguredComposer(MeshToTensor):
    mesh_device: Device
    given: MeshComposerConfig

    @property
    def config(self) -> MeshComposerConfig:
        return self.given


@host_function(observed=False)
def create_mesh_mapper(mesh_device: Device, config: MeshMapperConfig) -> TensorToMesh:
    """The mapper of a config (ttnn.create_mesh_mapper).

    Raises:
        ArgumentError: The config does not fit the mesh, or an argument has the wrong type.
    """
    _distribution(config, mesh_device.shape, len(config.placements))
    return _ConfiguredMapper(mesh_device, config)


@host_function(observed=False)
def create_mesh_composer(mesh_device: Device, config: MeshComposerConfig) -> MeshToTensor:
    """The composer of a config (ttnn.create_mesh_composer).

    Raises:
        ArgumentError: The config does not fit the mesh, or an argument has the wrong type.
    """
    _distribution(config, mesh_device.shape, len(config.dims))
    return _ConfiguredComposer(mesh_device, config)


@host_function(observed=False)
def replicate_tensor_to_mesh_mapper(mesh_device: Device) -> TensorToMesh:
    """Another name of `ReplicateTensorToMesh` (ttnn.replicate_tensor_to_mesh_mapper)."""
    return ReplicateTensorToMesh(mesh_device)


@host_function(observed=False)
def shard_tensor_to_mesh_mapper(mesh_device: Device, dim: int) -> TensorToMesh:
    """Another name of `ShardTensorToMesh` (ttnn.shard_tensor_to_mesh_mapper)."""
    return ShardTensorToMesh(mesh_device, dim)


@host_function(observed=False)
def concat_mesh_to_tensor_composer(mesh_device: Device, dim: int) -> MeshToTensor:
    """Another name of `ConcatMeshToTensor` (ttnn.concat_mesh_to_tensor_composer)."""
    return ConcatMeshToTensor(mesh_device, dim)


@host_function(observed=False)
def compute_distribution_to_mesh_mapping(
    distribution_shape: Sequence[int], mesh_shape: Sequence[int]
) -> list[MeshCoordinate]:
    """The coordinates of the shards of a distribution, in order (ttnn.compute_distribution_to_mesh_mapping)."""
    return distribution_to_mesh(MeshShape(distribution_shape), MeshShape(mesh_shape))


# --- Default mapper and composer --------------------------------------------------------------------------------------

BLOCK_MAPPER: ContextVar[TensorToMesh | None] = ContextVar("mapper of a block", default=None)
"""The default mapper of `from_torch`."""
BLOCK_COMPOSER: ContextVar[MeshToTensor | None] = ContextVar("composer of a block", default=None)
"""The default composer of `to_torch`."""


@host_function(observed=False)
@contextlib.contextmanager
def distribute(default: TensorToMesh | MeshToTensor) -> Iterator[None]:
    """Set the default mapper of `from_torch` or composer of `to_torch` in the body of a ``with`` (ttnn.distribute).

    Raises:
        ArgumentError: `default` is neither a mapper nor a composer.
    """
    variable: ContextVar[Any] = BLOCK_MAPPER if isinstance(default, TensorToMesh) else BLOCK_COMPOSER
    token = variable.set(default)
    try:
        yield
    finally:
        variable.reset(token)
