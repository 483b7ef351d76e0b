"""Axes of which those of several meshes, and parts of them, consist.

The meshes have the same devices, in orders of their own. A device has the number of its place in the first mesh. An
axis is a list of digits of these numbers, the outermost first: ``"x"=4`` of ``["x"=4, "y"=2]`` is the digit of weight 2
and size 4, ``"z"=8`` of another mesh the digit of weight 1 and size 8. The weights and ends of all digits cut the
numbers into the axes of a new mesh; every digit is a run of these.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.dialects.text_calls.meshes_of_texts import MAX_DEVICES
from ttnn_jit.transforms.shardings.mesh_axes import Axes


class NamedMesh(NamedTuple):
    """A mesh of a text.

    Attributes:
        sizes: The extent of each axis, in order.
        devices: The number of the device at each place, in row-major order.
    """

    sizes: Mapping[str, int]
    devices: tuple[int, ...]

    @property
    def is_in_order(self) -> bool:
        """Whether each device has the number of its place."""
        return self.devices == tuple(range(len(self.devices)))


class Part(NamedTuple):
    """A part of an axis, ``"x":(pre)size``; all of it is ``(1)`` and its extent."""

    mesh: str
    axis: str
    pre: int
    size: int


class _Digit(NamedTuple):
    weight: int
    size: int

    @property
    def end(self) -> int:
        return self.weight * self.size


class Refinement:
    """A mesh whose axes are parts of the axes of several meshes.

    Args:
        meshes: Name -> mesh; the first one numbers the devices.
        parts: The parts of axes that are named.

    Attributes:
        sizes: The extent of each axis of the new mesh, in order.

    Raises:
        ShapeError: The meshes have other devices, or their axes consist of no common parts.
    """

    def __init__(self, meshes: Mapping[str, NamedMesh], parts: Set[Part]) -> None:
        first = next(iter(meshes.values()))
        place = {device: index for index, device in enumerate(first.devices)}
        self._digits: dict[Part, list[_Digit]] = {}
        for name, mesh in meshes.items():
            if {*mesh.devices} != {*place}:
                raise ShapeError(f"the mesh @{name} has {len(mesh.devices)} devices, and another one {len(place)}")
            self._read(name, mesh, parts, [place[each] for each in mesh.devices])
        points = {1, len(place)}
        points |= {each for digits in self._digits.values() for digit in digits for each in (digit.weight, digit.end)}
        ordered = sorted(points)
        if any(after % before for before, after in itertools.pairwise(ordered)):
            raise ShapeError(f"the axes of its meshes consist of no common parts: they end at the devices {ordered}")
        self.sizes: dict[str, int] = {}
        self._axes: list[tuple[str, _Digit]] = []
        inner = len(place)
        for name, size in first.sizes.items():
            inner //= size
            self._divide(name, _Digit(inner, size), ordered)

    def axes(self, part: Part) -> Axes:
        """The axes of the new mesh that a part is, the outermost first; none of extent 1."""
        digits = self._digits[part]
        return tuple(
            name
            for digit in digits
            for name, own in self._axes
            if digit.weight <= own.weight and own.end <= digit.end and own.size > 1
        )

    def _divide(self, name: str, axis: _Digit, points: Sequence[int]) -> None:
        """Adds the parts of an axis of the first mesh."""
        ends = [each for each in points if axis.weight <= each <= axis.end]
        parts = [_Digit(low, high // low) for low, high in itertools.pairwise(ends)] or [axis]
        for index, part in enumerate(reversed(parts)):
            own = name if len(parts) == 1 else f"{name}_{index}"
            while own in self.sizes:
                own += "_"
            self.sizes[own] = part.size
            self._axes.append((own, part))

    def _read(self, name: str, mesh: NamedMesh, parts: Set[Part], places: Sequence[int]) -> None:
        """Finds the digits of the axes of a mesh, and of their named parts; `places` are those in the first mesh."""
        weights = [0] * len(places)
        inner = len(places)
        for axis, size in mesh.sizes.items():
            inner //= size
            named = [each for each in parts if (each.mesh, each.axis) == (name, axis)]
            ends = {1, size, *(size // each.pre for each in named), *(size // (each.pre * each.size) for each in named)}
            pieces = {}
            for low, high in itertools.pairwise(sorted(ends)):
                if high % low:
                    raise ShapeError(f"the parts of the axis {axis!r} of @{name} overlap")
                pieces[low] = _digits(places, inner * low, high // low)
            for part in {Part(name, axis, 1, size), *named}:
                last, end = size // (part.pre * part.size), size // part.pre
                own = [digits for low, digits in pieces.items() if last <= low < end]
                self._digits[part] = [digit for digits in reversed(own) for digit in digits]
            for index in range(len(places)):
                coordinate = index // inner % size
                weights[index] += _value(self._digits[Part(name, axis, 1, size)], coordinate)
        if weights != [*places]:
            raise ShapeError(f"the devices of the mesh @{name} are no permutation of axes of another mesh")


def _value(digits: Sequence[_Digit], coordinate: int) -> int:
    """What a coordinate along an axis of these digits adds to the number of a device."""
    found = 0
    for digit in reversed(digits):
        coordinate, own = divmod(coordinate, digit.size)
        found += own * digit.weight
    return found


def _digits(places: Sequence[int], inner: int, size: int) -> list[_Digit]:
    """The digits of which a coordinate that counts by `inner` consists, the outermost first."""
    if size == 1:
        return []
    steps = [places[index * inner] - places[0] for index in range(size)]
    runs = [each for each in range(2, size + 1) if size % each == 0 and steps[1] > 0]
    runs = [each for each in runs if steps[:each] == [index * steps[1] for index in range(each)]]
    if not runs:
        raise ShapeError("the devices of its meshes are no permutation of axes of one mesh")
    length = max(runs)
    return [*_digits(places, inner * length, size // length), _Digit(steps[1], length)]


def mesh_of_sizes(sizes: Mapping[str, int], devices: Sequence[int]) -> NamedMesh:
    """A mesh; no devices are those in order.

    Raises:
        ShapeError: It has too many devices, or `devices` are not those of all places, each once.
    """
    count = math.prod(sizes.values())
    if count > MAX_DEVICES:
        raise ShapeError(f"a mesh has {count:,} devices, and at most {MAX_DEVICES:,} are read")
    given = tuple(devices) or tuple(range(count))
    if sorted(given) != [*range(count)]:
        raise ShapeError(f"`device_ids` of a mesh of {count} devices has each of them once, got {[*given]}")
    return NamedMesh(sizes, given)
