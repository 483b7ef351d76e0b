"""Goldens of exchanges in torch, of the tensors of all devices.

They share nothing with what they check: who exchanges, what is cut and where it lands follow from axes of a tensor of
device numbers, or of one tensor whose first axes are those of the mesh. A group's result is computed once, from tensors
that are read one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.ops.families.text_operation import DenseNumbers, OpenResult, TextCall


def along_axis(torch: Any, call: TextCall, tensors: Sequence[Any]) -> Any:
    """The tensors of all devices as ``[outer, group, inner, *shape]``.

    The devices of a group differ in the coordinate ``cluster_axis`` alone; without it, all are one group.
    """
    devices = torch.stack([*tensors])
    mesh, axis = (1,) * (2 - len(call.mesh)) + tuple(call.mesh), call.cluster_axis
    if axis is None:
        return devices.reshape(1, -1, 1, *devices.shape[1:])
    outer, inner = math.prod(mesh[:axis]), math.prod(mesh[axis + 1 :])
    return devices.reshape(outer, mesh[axis], inner, *devices.shape[1:])


def by_device(devices: Any) -> list[Any]:
    """The tensor of each device, from ``[outer, group, inner, *shape]``."""
    return [*devices.flatten(0, 2)]


def reduction(x: Any, axis: int, kind: str) -> Any:
    """Along one axis, which stays with the extent 1."""
    match kind:
        case "sum" | "mean" | "prod":
            return getattr(x, kind)(axis, keepdim=True)
        case "max" | "min":
            return getattr(x, f"a{kind}")(axis, keepdim=True)
        case _:
            raise AssertionError(kind)


def reduced(devices: Any, kind: str) -> Any:
    """The reduction over the devices of a group, which each of them gets."""
    return reduction(devices, 1, kind).expand(devices.shape)


def all_reduce(torch: Any, call: TextCall) -> list[Any]:
    """Of every device."""
    return by_group(call.input, groups_along_axis(torch, call), reduced_group(torch, call.reduce_type))


def all_gather(torch: Any, call: TextCall) -> list[Any]:
    """Of every device."""
    return by_group(call.input, groups_along_axis(torch, call), gathered_group(torch, call.all_gather_dim))


def reduce_scatter(torch: Any, call: TextCall) -> list[Any]:
    """Of every device: the part of the reduction at its place in the group."""
    found = scattered_group(torch, call.reduce_type, call.scatter_dim)
    return by_group(call.input, groups_along_axis(torch, call), found)


def mesh_partition(torch: Any, call: TextCall) -> list[Any]:
    """Of every device: the part of its own tensor at its place in the group."""

    def found(tensors: Sequence[Any]) -> Callable[[int], Any]:
        return lambda place: tensors[place].chunk(len(tensors), call.dim)[place]

    return by_group(call.input, groups_along_axis(torch, call), found)


# --- Groups that a text lists -----------------------------------------------------------------------------------------


def listed_numbers(torch: Any, numbers: DenseNumbers, width: int) -> list[list[int]]:
    """The rows of a constant matrix of integers."""
    given = torch.tensor(numbers.numbers, dtype=torch.int64)
    return given.expand(math.prod(numbers.shape)).reshape(-1, width).tolist()  # type: ignore[no-any-return]


class OfDevices(Sequence[Any]):
    """The tensors of some devices, each of which is taken when it is read."""

    def __init__(self, inputs: Sequence[Any], devices: Sequence[int]) -> None:
        self._inputs = inputs
        self._devices = devices

    def __len__(self) -> int:
        return len(self._devices)

    def __getitem__(self, index: Any) -> Any:
        return self._inputs[self._devices[index]]


ForGroup = Callable[[Sequence[Any]], Callable[[int], Any]]
"""From the tensors of a group, the result at each place there: what all devices have is computed once."""


def by_group(inputs: Sequence[Any], groups: Sequence[Sequence[int]], found: ForGroup) -> list[Any]:
    """Of every device ``found(tensors of its group)(its place there)``; None of one that no group has."""
    results: list[Any] = [None] * len(inputs)
    for group in groups:
        at_place = found(OfDevices(inputs, group))
        for place, device in enumerate(group):
            results[device] = at_place(place)
    return results


def groups_along_axis(torch: Any, call: TextCall) -> list[list[int]]:
    """The devices that differ in the coordinate ``cluster_axis`` alone; without it, all are one group."""
    mesh, axis = (1,) * (2 - len(call.mesh)) + tuple(call.mesh), call.cluster_axis
    numbers = torch.arange(math.prod(mesh))
    rows = numbers[None] if axis is None else numbers.reshape(mesh).movedim(axis, -1).reshape(-1, mesh[axis])
    return rows.tolist()  # type: ignore[no-any-return]


def by_listed_group(torch: Any, inputs: Sequence[Any], groups: DenseNumbers, found: ForGroup) -> list[Any]:
    """Of every device ``found(tensors of its group)(its place there)``; zeros of one that no group has."""
    rows = [[each for each in row if each >= 0] for row in listed_numbers(torch, groups, groups.shape[-1] or 1)]
    rows = [row for row in rows if row] or [[*range(len(inputs))]]
    named = {device for row in rows for device in row}
    results = by_group(inputs, rows, found)
    return [result if device in named else torch.zeros_like(inputs[device]) for device, result in enumerate(results)]


def reduced_group(torch: Any, kind: str) -> ForGroup:
    """The reduction of a group's tensors."""

    def found(tensors: Sequence[Any]) -> Callable[[int], Any]:
        whole = combined(torch, tensors, kind)
        return lambda _: whole

    return found


def combined(torch: Any, tensors: Sequence[Any], kind: str) -> Any:
    """The reduction of tensors; of floats one after the other, so that two are in memory at a time."""
    first = tensors[0]
    if not first.is_floating_point():
        return reduction(torch.stack([*tensors]), 0, kind).squeeze(0)
    combine = {"sum": torch.add, "mean": torch.add, "prod": torch.mul, "max": torch.maximum, "min": torch.minimum}[kind]
    total = first.clone()
    for index in range(1, len(tensors)):
        combine(total, tensors[index], out=total)
    return total / len(tensors) if kind == "mean" else total


def gathered_group(torch: Any, dim: int) -> ForGroup:
    """A group's tensors, joined."""

    def found(tensors: Sequence[Any]) -> Callable[[int], Any]:
        whole = torch.cat([*tensors], dim)
        return lambda _: whole

    return found


def scattered_group(torch: Any, kind: str, dim: int) -> ForGroup:
    """The part of the reduction at a device's place."""

    def found(tensors: Sequence[Any]) -> Callable[[int], Any]:
        whole = combined(torch, tensors, kind)
        axis = dim % whole.dim()
        parts = whole.unflatten(axis, (len(tensors), -1))
        return lambda place: parts.select(axis, place)

    return found


def exchanged_group(torch: Any, split: int, onto: int, count: int) -> ForGroup:
    """The parts at a device's place of all tensors of its group, joined."""

    def found(tensors: Sequence[Any]) -> Callable[[int], Any]:
        return lambda place: torch.cat([each.tensor_split(count, split)[place] for each in tensors], onto)

    return found


def first_of_group(tensors: Sequence[Any]) -> Callable[[int], Any]:
    """The tensor of the first device of a group."""
    return lambda _: tensors[0]


def collective_broadcast(torch: Any, call: TextCall) -> list[Any]:
    """Of every device: the tensor of the first device of its group."""
    return by_listed_group(torch, call.input, call.replica_groups, first_of_group)


def all_to_all(torch: Any, call: TextCall) -> list[Any]:
    """Of every device: parts of the tensors of its group."""
    found = exchanged_group(torch, call.split_dim, call.concat_dim, call.split_count)
    return by_listed_group(torch, call.input, call.replica_groups, found)


def permuted(torch: Any, inputs: Sequence[Any], pairs: DenseNumbers) -> list[Any]:
    """Of every device: what a pair (source, target) sends to it, and zeros without one."""
    found = [torch.zeros_like(each) for each in inputs]
    for source, target in listed_numbers(torch, pairs, 2):
        found[target] = inputs[source]
    return found


# --- Shards of a mesh -------------------------------------------------------------------------------------------------


def count_of_parts(call: TextCall, dim: int) -> int:
    """Into how many parts a dimension is cut: by the shapes, or by `shard_shape` where that of the result is asked."""
    if isinstance(call.result, OpenResult):
        return int(call.shard_shape[dim])
    extents = call.input[0].shape[dim], call.result.shape[dim]
    whole, part = extents if call.shard_direction == "full_to_shard" else reversed(extents)
    return int(whole // part)


def sharded(inputs: Sequence[Any], mesh: Sequence[int], dims: Sequence[int], counts: Sequence[int]) -> list[Any]:
    """The shard of each device of its tensor: axis `i` of the mesh cuts dimension ``dims[i]`` into ``counts[i]``."""
    found = []
    for device, whole in enumerate(inputs):
        part, step = whole, len(inputs)
        for extent, dim, count in zip(mesh, dims, counts, strict=False):
            step //= extent
            place = device // step % extent
            part = part.chunk(count, dim)[place] if dim >= 0 and count > 1 else part
        found.append(part)
    return found


def assembled(
    torch: Any, inputs: Sequence[Any], mesh: Sequence[int], dims: Sequence[int], counts: Sequence[int]
) -> Any:
    """The whole tensor of the shards of a mesh: its last axis is joined first."""
    devices = torch.stack([*inputs]).unflatten(0, [*mesh])
    axes = [*zip(dims, counts, strict=False)]
    axes += [(-1, 1)] * (len(mesh) - len(axes))
    for axis in reversed(range(len(mesh))):
        dim, count = axes[axis]
        if dim >= 0 and count > 1:
            devices = devices.movedim(axis, axis + dim).flatten(axis + dim, axis + dim + 1)
        else:
            devices = devices.select(axis, 0)
    return devices


def tiles(torch: Any, x: Any, counts: Sequence[int]) -> Any:
    """A view of `x` whose first axes are the tiles along each dimension, and whose last are those of one tile.

    Raises:
        RuntimeError: A count does not divide its extent.
    """
    for dim in reversed(range(x.dim())):
        x = torch.unflatten(x, dim, (counts[dim], -1))
    rank = len(counts)
    return x.permute((*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)))


def cut_by_tiles(torch: Any, wholes: Sequence[Any], counts: Sequence[int], places: Sequence[Any]) -> list[Any]:
    """Of each device the tile at its place, from its tensor."""
    return [tiles(torch, x, counts)[tuple(place)] for x, place in zip(wholes, places, strict=True)]


def joined_by_tiles(torch: Any, parts: Sequence[Any], counts: Sequence[int], places: Sequence[Any]) -> Any:
    """The tensor of these tiles; of equal ones the last is written first."""
    whole = torch.empty([count * extent for count, extent in zip(counts, parts[0].shape, strict=True)]).to(parts[0])
    written = tiles(torch, whole, counts)
    for place, part in reversed([*zip(places, parts, strict=True)]):
        written[tuple(place)] = part
    return whole
