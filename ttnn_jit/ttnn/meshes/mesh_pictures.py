"""Pictures of meshes in text: a cell for each device, with its number, its coordinate and its shard."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.meshes.tensor_topology import PlacementShard, TensorTopology
from ttnn_jit.ttnn.calling.host_function import host_function


@host_function(observed=False)
def visualize_mesh_device(mesh_device: Device, tensor: Tensor | None = None) -> None:
    """Print the devices of a mesh as a table, with the shards of a tensor if one is given (ttnn.visualize_mesh_device).

    Raises:
        ArgumentError: The tensor is of another mesh.
    """
    if tensor is not None and tensor.device() not in {None, mesh_device}:
        raise ArgumentError(f"visualize_mesh_device: the tensor is on {tensor.device()}, not on {mesh_device}")
    ids = [str(device.device_id) for device in mesh_device.members()]
    shards = {} if tensor is None else _shards(tensor)
    sys.stdout.write(mesh_picture(mesh_device.shape, ids, shards, repr(mesh_device)))


@host_function(observed=False)
def visualize_tensor(tensor: Tensor) -> None:
    """Print which device of a mesh has which part of a tensor, as a table (ttnn.visualize_tensor)."""
    device = tensor.device()
    mesh = tensor.mesh if isinstance(tensor, MeshTensor) else device
    shape = MeshShape(1, 1) if mesh is None else mesh.shape
    ids = [] if device is None else [str(each.device_id) for each in device.members()]
    where = f"{'the host' if device is None else device}, {tensor.tensor_topology()}"
    sys.stdout.write(mesh_picture(shape, ids, _shards(tensor), where))


def _shards(tensor: Tensor) -> dict[int, list[str]]:
    """The number of a device -> the lines of its shard."""
    numbers = tensor.numbers if isinstance(tensor, MeshTensor) else (0,)
    slices = _slices(tensor.tensor_topology(), tuple(tensor.shape))
    own = [str(list(tensor.shape)), f"{tensor.dtype.name} {tensor.layout.name}"]
    return {number: [part, *own] for number, part in zip(numbers, slices, strict=True)}


def _slices(topology: TensorTopology, shape: Sequence[int]) -> list[str]:
    """The part of the whole tensor that each shard is, as Python writes slices."""
    coordinates = [*topology.distribution_shape().coordinates()][: len(topology.mesh_coords())]
    found = []
    for coordinate in coordinates:
        parts = [":"] * len(shape)
        for axis, placement in enumerate(topology.placements()):
            if isinstance(placement, PlacementShard):
                extent = shape[placement.dim]
                parts[placement.dim] = f"{coordinate[axis] * extent}:{(coordinate[axis] + 1) * extent}"
        found.append(f"[{', '.join(parts)}]")
    return found


def mesh_picture(shape: MeshShape, ids: Sequence[str], shards: dict[int, list[str]], title: str) -> str:
    """A table with a cell for each device of a mesh; the outer axes of three are rows too."""
    cells = []
    for number, coordinate in enumerate(shape.with_rows.coordinates()):
        named = [f"Dev. ID: {ids[number]}"] if ids else []
        cells.append([*named, str(tuple(coordinate)), *shards.get(number, [])])
    columns, height = shape.with_rows[-1], max(map(len, cells))
    width = max(len(line) for cell in cells for line in cell) + 2
    rule = f"+{'+'.join(['-' * width] * columns)}+"
    lines = [title, rule]
    for first in range(0, len(cells), columns):
        row = [cell + [""] * (height - len(cell)) for cell in cells[first : first + columns]]
        lines += [f"|{'|'.join(text.center(width) for text in line)}|" for line in zip(*row, strict=True)]
        lines.append(rule)
    return "\n".join([*lines, ""])
