"""Shapes of meshes of devices, coordinates in them, and ranges of coordinates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError

MAX_AXES = 3
"""The most axes of a mesh."""


class MeshShape(tuple[int, ...]):
    """The extents of a mesh of devices, outermost first; one extent alone is the length of a single row."""

    __slots__ = ()

    def __new__(cls, *extents: int | Iterable[int]) -> MeshShape:
        """``MeshShape(1, 1)``, ``MeshShape(2, 2, 2)``, ``MeshShape(8)`` or ``MeshShape((1, 1))``."""
        given = extents[0] if len(extents) == 1 and not isinstance(extents[0], int) else extents
        flat: tuple[Any, ...] = tuple(given) if isinstance(given, Iterable) else ()
        if not 1 <= len(flat) <= MAX_AXES or not all(isinstance(extent, int) and extent > 0 for extent in flat):
            raise ArgumentError(f"a mesh shape is one to three positive ints, got {flat or given}")
        return super().__new__(cls, flat)

    def dims(self) -> int:
        """Number of extents."""
        return len(self)

    def mesh_size(self) -> int:
        """Number of devices."""
        return math.prod(self)

    @property
    def with_rows(self) -> MeshShape:
        """The shape with at least two extents: a single one is a row."""
        return self if len(self) > 1 else MeshShape(1, *self)

    def coordinates(self) -> Iterator[MeshCoordinate]:
        """Every coordinate, in row-major order."""
        return map(MeshCoordinate, itertools.product(*map(range, self)))

    def number(self, coordinate: Sequence[int]) -> int:
        """The number of a coordinate in row-major order.

        Raises:
            ArgumentError: There is no such coordinate.
        """
        if len(coordinate) != len(self) or not all(0 <= at < extent for at, extent in zip(coordinate, self)):  # noqa: B905 - as long as each other
            raise ArgumentError(f"there is no device at {tuple(coordinate)} in a mesh of shape {tuple(self)}")
        number = 0
        for at, extent in zip(coordinate, self, strict=True):
            number = number * extent + at
        return number

    def holds(self, other: Sequence[int]) -> bool:
        """Whether a mesh of shape `other` is a part of one of this shape, along the same axes."""
        return len(other) == len(self) and all(part <= extent for part, extent in zip(other, self, strict=True))

    def __repr__(self) -> str:
        return f"MeshShape([{', '.join(map(str, self))}])"


class MeshCoordinate(tuple[int, ...]):
    """The position of a device in a mesh, from 0 along each axis (ttnn.MeshCoordinate)."""

    __slots__ = ()

    def __new__(cls, *coordinates: int | Iterable[int]) -> MeshCoordinate:
        """``MeshCoordinate(0, 1)`` or ``MeshCoordinate((0, 1))``."""
        given = coordinates[0] if len(coordinates) == 1 and not isinstance(coordinates[0], int) else coordinates
        flat: tuple[Any, ...] = tuple(given) if isinstance(given, Iterable) else ()
        if not flat or not all(type(coordinate) is int and coordinate >= 0 for coordinate in flat):
            raise ArgumentError(f"a mesh coordinate is whole numbers of at least 0, got {flat}")
        return super().__new__(cls, flat)

    def dims(self) -> int:
        """Number of axes."""
        return len(self)

    def __repr__(self) -> str:
        return f"MeshCoordinate([{', '.join(map(str, self))}])"


class MeshCoordinateRange:
    """The coordinates between two, both included, in row-major order (ttnn.MeshCoordinateRange)."""

    __slots__ = ("end", "start")

    def __init__(self, start: MeshCoordinate | MeshShape, end: MeshCoordinate | None = None) -> None:
        """``MeshCoordinateRange(start, end)``, or ``MeshCoordinateRange(shape)`` for a whole mesh."""
        if end is None:
            shape = MeshShape(start)
            start, end = MeshCoordinate([0] * len(shape)), MeshCoordinate([extent - 1 for extent in shape])
        self.start, self.end = MeshCoordinate(start), MeshCoordinate(end)
        if len(self.start) != len(self.end) or any(a > b for a, b in zip(self.start, self.end, strict=True)):
            raise ArgumentError(f"a range of mesh coordinates cannot go from {self.start} to {self.end}")

    def shape(self) -> MeshShape:
        """The number of coordinates along each axis."""
        return MeshShape([last - first + 1 for first, last in zip(self.start, self.end, strict=True)])

    def __iter__(self) -> Iterator[MeshCoordinate]:
        ranges = (range(first, last + 1) for first, last in zip(self.start, self.end, strict=True))
        return map(MeshCoordinate, itertools.product(*ranges))

    def __len__(self) -> int:
        return self.shape().mesh_size()

    def __contains__(self, coordinate: object) -> bool:
        return any(coordinate == each for each in self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeshCoordinateRange) and (self.start, self.end) == (other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __repr__(self) -> str:
        return f"MeshCoordinateRange(start={self.start}, end={self.end})"


class MeshDeviceView:
    """The coordinates of a mesh (ttnn.MeshDeviceView).

    Args:
        shape: The shape of the mesh.
        own: The numbers of the devices of this process; None for all.
    """

    __slots__ = ("_own", "_shape")

    def __init__(self, shape: MeshShape, own: Collection[int] | None = None) -> None:
        self._shape = shape
        self._own = own

    def shape(self) -> MeshShape:
        """The shape of the mesh."""
        return self._shape

    def num_devices(self) -> int:
        """The number of devices."""
        return self._shape.mesh_size()

    def is_local(self, coord: Sequence[int]) -> bool:
        """Whether the device at a coordinate belongs to this process.

        Raises:
            ArgumentError: There is no such device.
        """
        number = self._shape.number(coord)
        return self._own is None or number in self._own
