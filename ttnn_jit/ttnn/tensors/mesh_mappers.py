"""Mappers distribute a torch tensor over the devices of a mesh; composers join the tensors of the devices."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.specs.checks import check_kind, check_whole_number
from ttnn_jit.ttnn.calling.host_function import host_function

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

    @abstractmethod
    def parts(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """One tensor for each device, in row-major order.

        Raises:
            ShapeError: The tensor has no such equal parts.
        """


class MeshToTensor(ABC):
    """Joins the tensors of a mesh's devices (ttnn.MeshToTensor).

    Attributes:
        mesh_device: The mesh.
    """

    mesh_device: Device

    @abstractmethod
    def whole(self, parts: list[torch.Tensor]) -> torch.Tensor:
        """The tensor joined from those of the devices in row-major order.

        Raises:
            ShapeError: The tensors have no such dimension, or their number is not that of the devices.
        """


@dataclass(frozen=True)
class ReplicateTensorToMesh(TensorToMesh):
    """Every device gets the whole tensor (ttnn.ReplicateTensorToMesh)."""

    mesh_device: Device

    def __post_init__(self) -> None:
        check_kind(self.mesh_device, Device, "`mesh_device`")

    def parts(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """One tensor for each device."""
        return [tensor] * self.mesh_device.get_num_devices()


@dataclass(frozen=True)
class ShardTensorToMesh(TensorToMesh):
    """Each device gets one of equal parts along `dim` (ttnn.ShardTensorToMesh)."""

    mesh_device: Device
    dim: int

    def __post_init__(self) -> None:
        check_kind(self.mesh_device, Device, "`mesh_device`")
        check_whole_number(self.dim, "`dim`")

    def parts(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """One tensor for each device."""
        return _split(tensor, self.dim, self.mesh_device.get_num_devices())


@dataclass(frozen=True)
class ShardTensor2dMesh(TensorToMesh):
    """Splits the tensor along ``dims[0]`` over the rows of the mesh, and along ``dims[1]`` over its columns.

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

    def parts(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """One tensor for each device, in row-major order.

        Raises:
            ShapeError: `mesh_shape` is not the shape of the mesh, or the tensor has no such equal parts.
        """
        _check_shape(self.mesh_shape, self.mesh_device)
        return _split_by_axis(tensor, self.mesh_shape, self.dims)


def _check_shape(shape: tuple[int, ...], mesh: Device) -> None:
    if shape != mesh.shape:
        raise ShapeError(f"`mesh_shape` is {tuple(shape)}, and is not that of {mesh}")


def _split_by_axis(tensor: torch.Tensor, shape: Sequence[int], dims: Sequence[int | None]) -> list[torch.Tensor]:
    parts = [tensor]
    for dim, count in zip(dims, shape, strict=True):
        parts = [own for part in parts for own in _split(part, dim, count)]
    return parts


def _split(tensor: torch.Tensor, dim: int | None, count: int) -> list[torch.Tensor]:
    if dim is None:
        return [tensor] * count
    if not -tensor.dim() <= dim < tensor.dim() or tensor.shape[dim] % count:
        raise ShapeError(f"a tensor of shape {list(tensor.shape)} has no {count} equal parts along dimension {dim}")
    return list(tensor.chunk(count, dim))


@dataclass(frozen=True)
class ConcatMeshToTensor(MeshToTensor):
    """Concatenates the tensors of the devices along `dim` (ttnn.ConcatMeshToTensor)."""

    mesh_device: Device
    dim: int

    def __post_init__(self) -> None:
        check_kind(self.mesh_device, Device, "`mesh_device`")
        check_whole_number(self.dim, "`dim`")

    def whole(self, parts: list[torch.Tensor]) -> torch.Tensor:
        """The tensor joined from those of the devices.

        Raises:
            ShapeError: The tensors have no such dimension.
        """
        return _concatenated(parts, self.dim)


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

    def whole(self, parts: list[torch.Tensor]) -> torch.Tensor:
        """The tensor joined from those of the devices.

        Raises:
            ShapeError: `mesh_shape` is not the shape of the mesh, or the tensors have no such dimensions.
        """
        _check_shape(self.mesh_shape, self.mesh_device)
        return _concatenated_by_axis(parts, self.mesh_shape, self.dims)


def _concatenated_by_axis(parts: list[torch.Tensor], shape: Sequence[int], dims: Sequence[int]) -> torch.Tensor:
    for dim, count in zip(reversed(dims), reversed(shape), strict=True):
        parts = [_concatenated(parts[first : first + count], dim) for first in range(0, len(parts), count)]
    (whole,) = parts
    return whole


def _concatenated(parts: list[torch.Tensor], dim: int) -> torch.Tensor:
    import torch

    rank = parts[0].dim()
    if not -rank <= dim < rank:
        raise ShapeError(f"tensors of shape {list(parts[0].shape)} have no dimension {dim} to be joined along")
    return torch.cat(parts, dim)


# --- Mappers and composers from configs -------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlacementReplicate:
    """Replicates the tensor along an axis of the mesh (ttnn.PlacementReplicate)."""


@dataclass(frozen=True)
class PlacementShard:
    """Splits the tensor along `dim` over an axis of the mesh (ttnn.PlacementShard)."""

    dim: int

    def __post_init__(self) -> None:
        check_whole_number(self.dim, "`dim` of PlacementShard")


@dataclass(frozen=True)
class MeshMapperConfig:
    """The placement of a tensor along each axis of a mesh (ttnn.MeshMapperConfig).

    Attributes:
        placements: One for each axis.
        mesh_shape_override: The shape to assume for the devices in row-major order; None for that of the mesh.
    """

    placements: tuple[PlacementReplicate | PlacementShard, ...]
    mesh_shape_override: MeshShape | None = None

    def __post_init__(self) -> None:
        known = isinstance(self.placements, tuple | list) and self.placements
        if not known or not all(isinstance(each, PlacementReplicate | PlacementShard) for each in self.placements):
            raise ArgumentError(
                "`placements` must be a list of PlacementShard and PlacementReplicate, one for each axis of the mesh, "
                f"got {self.placements!r}"
            )
        object.__setattr__(self, "placements", tuple(self.placements))
        _keep_shape(self)


@dataclass(frozen=True)
class MeshComposerConfig:
    """The dimension along which each axis of a mesh concatenates tensors (ttnn.MeshComposerConfig).

    Attributes:
        dims: One for each axis.
        mesh_shape_override: The shape to assume for the devices in row-major order; None for that of the mesh.
    """

    dims: tuple[int, ...]
    mesh_shape_override: MeshShape | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.dims, tuple | list) or {type(dim) for dim in self.dims} != {int}:
            raise ArgumentError(f"`dims` of MeshComposerConfig must be whole numbers, got {self.dims!r}")
        object.__setattr__(self, "dims", tuple(self.dims))
        _keep_shape(self)


def _keep_shape(config: MeshMapperConfig | MeshComposerConfig) -> None:
    if config.mesh_shape_override is not None:
        object.__setattr__(config, "mesh_shape_override", MeshShape(config.mesh_shape_override))


def _shape_for(config: MeshMapperConfig | MeshComposerConfig, mesh: Device, axes: int) -> MeshShape:
    shape = config.mesh_shape_override or mesh.shape
    if shape.mesh_size() != mesh.get_num_devices():
        raise ArgumentError(f"`mesh_shape_override` {shape} has {shape.mesh_size()} devices, and {mesh} has not")
    if axes != shape.dims():
        raise ArgumentError(f"{config} is for {axes} axes, and {shape} has {shape.dims()}")
    return shape


@dataclass(frozen=True)
class _ConfiguredMapper(TensorToMesh):
    mesh_device: Device
    config: MeshMapperConfig

    def parts(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        placements = self.config.placements
        shape = _shape_for(self.config, self.mesh_device, len(placements))
        dims = [each.dim if isinstance(each, PlacementShard) else None for each in placements]
        return _split_by_axis(tensor, shape, dims)


@dataclass(frozen=True)
class _ConfiguredComposer(MeshToTensor):
    mesh_device: Device
    config: MeshComposerConfig

    def whole(self, parts: list[torch.Tensor]) -> torch.Tensor:
        shape = _shape_for(self.config, self.mesh_device, len(self.config.dims))
        return _concatenated_by_axis(parts, shape, self.config.dims)


@host_function(observed=False)
def create_mesh_mapper(mesh_device: Device, config: MeshMapperConfig) -> TensorToMesh:
    """The mapper of a config (ttnn.create_mesh_mapper).

    Raises:
        ArgumentError: The config does not fit the mesh, or an argument has the wrong type.
    """
    _shape_for(config, mesh_device, len(config.placements))
    return _ConfiguredMapper(mesh_device, config)


@host_function(observed=False)
def create_mesh_composer(mesh_device: Device, config: MeshComposerConfig) -> MeshToTensor:
    """The composer of a config (ttnn.create_mesh_composer).

    Raises:
        ArgumentError: The config does not fit the mesh, or an argument has the wrong type.
    """
    _shape_for(config, mesh_device, len(config.dims))
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
