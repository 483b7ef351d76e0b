"""Shardings of texts: into how many parts each dimension is cut, and which part every device has."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ttnn_jit.diagnostics.errors import ShapeError

Part = Callable[[Any, int, int, int], Any]
"""``part(x, axis, begin, end)``."""
Join = Callable[[list[Any], int], Any]
"""``join(parts, axis)``."""


class Tiling(NamedTuple):
    """A tensor cut into equal parts.

    Attributes:
        counts: The number of parts along each dimension.
        places: The part that each device has, as its index along each dimension.
    """

    counts: tuple[int, ...]
    places: tuple[tuple[int, ...], ...]

    def part_of(self, x: Any, device: int, part: Part) -> Any:
        """The part of a device.

        Raises:
            ShapeError: The parts do not divide an extent.
        """
        for axis, (count, place) in enumerate(zip(self.counts, self.places[device], strict=True)):
            if count > 1:
                extent, rest = divmod(x.shape[axis], count)
                if rest:
                    raise ShapeError(f"{count} devices do not divide the extent {x.shape[axis]}")
                x = part(x, axis, place * extent, (place + 1) * extent)
        return x

    def whole(self, parts: Sequence[Any], join: Join) -> Any:
        """The tensor of which every device has a part; equal parts are the first device's."""
        found: dict[tuple[int, ...], Any] = {}
        for place, part in zip(self.places, parts, strict=True):
            found.setdefault(place, part)
        for axis in reversed(range(len(self.counts))):
            count = self.counts[axis]
            if count > 1:
                others = {(*place[:axis], 0, *place[axis + 1 :]) for place in found}
                found = {
                    place: join([found[(*place[:axis], index, *place[axis + 1 :])] for index in range(count)], axis)
                    for place in others
                }
        (result,) = found.values()
        return result


def narrowed(x: Any, axis: int, begin: int, end: int) -> Any:
    """The elements [begin, end) along a dimension of a tensor of torch."""
    return x.narrow(axis, begin, end - begin)


_DEVICES = re.compile(r"devices=\[([\d,]+)\](<=\[([\d,]+)\](T\(([\d,]+)\))?|[\d,]+)")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(",") if each)


def tiling_of_text(sharding: str, rank: int, devices: int) -> Tiling:
    """The tiling of a sharding as XLA writes it, ``{devices=[1,2]<=[2]}``.

    Raises:
        ShapeError: It is of another number of devices, or of a form that is not known here.
    """
    match = _DEVICES.search(sharding)
    if match is None:
        if sharding.strip("{}").split(" ")[0] in {"replicated", "manual", "maximal"}:
            return Tiling((1,) * rank, ((0,) * rank,) * devices)
        raise ShapeError(f"the sharding {sharding!r} is not known here")
    tiles = _numbers(match[1])
    if math.prod(tiles) != devices:
        raise ShapeError(
            f"the sharding {sharding!r} is of {math.prod(tiles)} devices, and the mesh has {devices}",
            help="`--mesh 2x4` names a mesh",
        )
    order = _order_of(match)
    if sorted(order) != [*range(devices)] or len(tiles) < rank:
        raise ShapeError(f"the sharding {sharding!r} does not have each of {devices} devices once")
    places: list[tuple[int, ...]] = [()] * devices
    for place, device in zip(itertools.product(*map(range, tiles)), order, strict=True):
        places[device] = place[:rank]
    return Tiling(tiles[:rank], tuple(places))


def renumbered(sharding: str, numbers: Mapping[int, int]) -> str:
    """A sharding as XLA writes it, with other numbers of its devices."""
    match = _DEVICES.search(sharding)
    if match is None:
        return sharding
    order = ",".join(str(numbers[device]) for device in _order_of(match))
    return f"{sharding[: match.start()]}devices=[{match[1]}]{order}{sharding[match.end() :]}"


def _order_of(match: re.Match[str]) -> tuple[int, ...]:
    """The device of each tile."""
    if match[3] is None:
        return _numbers(match[2])
    extents = _numbers(match[3])
    axes = _numbers(match[5]) if match[5] else tuple(range(len(extents)))
    if sorted(axes) != [*range(len(extents))] or math.prod(extents) != math.prod(_numbers(match[1])):
        raise ShapeError(f"the sharding {match[0]!r} does not have each of its devices once")
    return _transposed(extents, axes)


def _transposed(extents: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """The numbers of an array in row-major order, with its dimensions in another order."""
    strides = [math.prod(extents[axis + 1 :]) for axis in range(len(extents))]
    places = itertools.product(*(range(extents[axis]) for axis in axes))
    return tuple(sum(index * strides[axis] for index, axis in zip(place, axes, strict=True)) for place in places)


Axes = Sequence[Mapping[str, Any]]


def tiling_of_axes(
    dimensions: Sequence[Axes], mesh: Axes, among: Sequence[str] | None = None, devices: Sequence[int] = ()
) -> Tiling:
    """The tiling of dimensions that are cut along axes of a mesh.

    Args:
        dimensions: For each dimension its axes, the outermost first; each has a name, and may be a part of the axis.
        mesh: The axes of the mesh, each with a name and a size.
        among: The axes that count; None for all.
        devices: The number of the device at each place of the mesh; empty if they are in order.

    Raises:
        ShapeError: The mesh has no axis of a name.
    """
    sizes = {axis["name"]: int(axis["size"]) for axis in mesh}
    inner_axes = {axis["name"]: mesh[index + 1 :] for index, axis in enumerate(mesh)}
    strides = {name: math.prod(sizes[each["name"]] for each in inner) for name, inner in inner_axes.items()}
    count = math.prod(sizes.values())
    counts = [1] * len(dimensions)
    places = [[0] * len(dimensions) for _ in range(count)]
    for dimension, axes in enumerate(dimensions):
        for axis in axes:
            name = axis["name"]
            if name not in sizes:
                raise ShapeError(f"the mesh has no axis {name!r}")
            if among is not None and name not in among:
                continue
            part = axis.get("sub_axis_info") or {"pre_size": 1, "size": sizes[name]}
            inner = sizes[name] // (part["pre_size"] * part["size"])
            counts[dimension] *= part["size"]
            for place in range(count):
                device = devices[place] if devices else place
                index = place // strides[name] % sizes[name] // inner % part["size"]
                places[device][dimension] = places[device][dimension] * part["size"] + index
    return Tiling(tuple(counts), tuple(map(tuple, places)))


def tilings_of_values(
    shardings: Mapping[str, Any], among: Sequence[str], meshes: Mapping[str, Mapping[str, Any]]
) -> list[Tiling]:
    """The tilings of ``#sdy.sharding_per_value``, along some axes of their meshes.

    Args:
        shardings: The value of the attribute.
        among: The axes that count.
        meshes: Name -> the value of ``#sdy.mesh``.

    Raises:
        ShapeError: There is no such mesh or axis, or a mesh does not have each of its devices once.
    """
    found = []
    for each in shardings.get("shardings", ()):
        named = each["mesh_or_ref"]
        mesh = meshes.get(named) if isinstance(named, str) else named
        if mesh is None:
            raise ShapeError(f"the module has no mesh @{named}")
        axes, devices = mesh.get("axes", ()), [int(number) for number in mesh.get("device_ids", ())]
        count = math.prod(int(axis["size"]) for axis in axes)
        if axes and devices and sorted(devices) != [*range(count)]:
            raise ShapeError(f"`device_ids` of a mesh of {count} devices has each of them once, got {devices}")
        dimensions = [dimension.get("axes", ()) for dimension in each.get("dim_shardings", ())]
        found.append(tiling_of_axes(dimensions, axes, among, devices if axes else ()))
    return found


def axes_of_tiling(tiling: Tiling, mesh: Axes) -> tuple[tuple[str, ...], ...]:
    """The axes of a mesh along which a tiling cuts each dimension, the outermost first.

    Raises:
        ShapeError: It cuts along none.
    """
    along: list[list[Mapping[str, Any]]] = [[] for _ in tiling.counts]
    inner = math.prod(int(axis["size"]) for axis in mesh)
    for axis in mesh:
        inner //= int(axis["size"])
        first, second = tiling.places[0], tiling.places[inner if int(axis["size"]) > 1 else 0]
        for dim, pair in enumerate(zip(first, second, strict=True)):
            if pair[0] != pair[1]:
                along[dim].append(axis)
    orders = itertools.product(*(itertools.permutations(each) for each in along))
    for order in orders:
        if tiling_of_axes(order, mesh) == tiling:
            return tuple(tuple(axis["name"] for axis in axes) for axes in order)
    raise ShapeError("its parts do not lie along the axes of the mesh")
