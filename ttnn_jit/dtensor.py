"""Tensors of a mesh as DTensors of torch and back, where every rank has one device of the mesh.

A DTensor has the placement of the tensor: `PlacementShard(dim)` is ``Shard(dim)``, `PlacementReplicate()` is
``Replicate()``. ttnn has no counterpart of ``Partial()``: `ttnn.all_reduce` and `ttnn.reduce_scatter` are calls.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.tracebacks import user_frames_only
from ttnn_jit.foreign.torch_tensor import require_torch
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.meshes.mesh import MeshDevice
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.tensors.tensor import Tensor, torch_copy
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.meshes.tensor_topology import (
    REPLICATE,
    Placement,
    PlacementShard,
    TensorTopology,
    distribution_to_mesh,
)
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor


@user_frames_only
def to_dtensor(tensor: Tensor) -> DTensor:
    """A DTensor with the elements of a tensor, copied.

    Every rank that shares the mesh calls this.

    Args:
        tensor: A tensor of a mesh, or on the host and distributed over one, with a part on every device.

    Raises:
        ArgumentError: The tensor is of no mesh of ranks with one device each, or some devices have no part of it.
    """
    require_torch("to_dtensor", "there is no DTensor without it")
    if not isinstance(tensor, MeshTensor) or not isinstance(tensor.mesh, MeshDevice):
        raise ArgumentError("to_dtensor takes a tensor of a mesh that ranks share")
    owners = _owners(tensor.mesh)
    if len(tensor.placed) != len(owners):
        raise ArgumentError(f"to_dtensor: {len(tensor.placed)} of the {len(owners)} devices have a part of the tensor")
    from torch.distributed.tensor import DTensor, Replicate, Shard

    topology = tensor.tensor_topology()
    placements = [
        Shard(each.dim % len(tensor.shape)) if isinstance(each, PlacementShard) else Replicate()
        for each in topology.placements()
    ]
    ranks = tuple(owners[number] for number in tensor.placed)
    mesh = _device_mesh(ranks, tuple(topology.distribution_shape()))
    return DTensor.from_local(torch_copy(tensor.tensors[0]), mesh, placements, run_check=False)


@user_frames_only
def from_dtensor(
    dtensor: DTensor,
    dtype: DataType | None = None,
    *,
    device: Device,
    layout: Layout | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of a mesh with the elements and the placement of a DTensor, copied.

    Args:
        dtensor: A DTensor over the ranks of the mesh, in the order of its devices.
        dtype: As that of `ttnn.from_torch`.
        device: A mesh of ranks with one device each.
        layout: As that of `ttnn.from_torch`.
        memory_config: As that of `ttnn.from_torch`.

    Raises:
        ArgumentError: The ranks are others, a placement is ``Partial()``, or the parts are not equal.
    """
    require_torch("from_dtensor", "there is no DTensor without it")
    owners = _owners(device)
    assert isinstance(device, MeshDevice), "it has ranks"
    ranks = tuple(dtensor.device_mesh.mesh.flatten().tolist())
    if ranks != owners:
        raise ArgumentError(f"from_dtensor: the DTensor is of ranks {list(ranks)}, and {device} of {list(owners)}")
    shape = MeshShape(tuple(dtensor.device_mesh.mesh.shape))
    placements = [*map(_placement, dtensor.placements)]
    extents = list(dtensor.shape)
    for placement, count in zip(placements, shape, strict=True):
        if isinstance(placement, PlacementShard):
            if extents[placement.dim] % count:
                raise ArgumentError(f"from_dtensor: dimension {placement.dim} has no {count} equal parts")
            extents[placement.dim] //= count
    (own,) = device.members()
    local = ttnn.from_torch(
        dtensor.to_local().contiguous(), dtype, layout=layout, device=own, memory_config=memory_config
    )
    topology = TensorTopology(shape, placements, distribution_to_mesh(shape, device.shape))
    return MeshTensor(device, [local], topology)


def _owners(mesh: Device) -> tuple[int, ...]:
    """The rank of each device."""
    ranks = mesh.ranks if isinstance(mesh, MeshDevice) else None
    if ranks is None or len({*ranks.owners}) != len(ranks.owners):
        raise ArgumentError(
            f"DTensors need a mesh of ranks with one device each, and {mesh} is none",
            help="start as many ranks as the mesh has devices: `ttnn-jit launch -n 8 script.py`",
        )
    return ranks.owners


def _placement(placement: Any) -> Placement:
    if placement.is_partial():
        raise ArgumentError(
            "from_dtensor: a partial sum has no counterpart in ttnn", help="`dtensor.redistribute(...)` first"
        )
    return PlacementShard(placement.dim) if placement.is_shard() else REPLICATE


@lru_cache(maxsize=64)
def _device_mesh(ranks: tuple[int, ...], shape: tuple[int, ...]) -> DeviceMesh:
    """One mesh of torch for the same ranks: making one makes process groups."""
    import torch
    from torch.distributed.device_mesh import DeviceMesh

    return DeviceMesh("cpu", torch.tensor(ranks).reshape(shape))
