"""The shape of a mesh of devices."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError


class MeshShape(tuple[int, ...]):
    """Rows and columns of a mesh of devices; one extent alone is the length of a single row."""

    __slots__ = ()

    def __new__(cls, *extents: int | Iterable[int]) -> MeshShape:
        """``MeshShape(1, 1)``, ``MeshShape(8)`` or ``MeshShape((1, 1))``."""
        given = extents[0] if len(extents) == 1 and not isinstance(extents[0], int) else extents
        flat: tuple[Any, ...] = tuple(given) if isinstance(given, Iterable) else ()
        if len(flat) not in {1, 2} or not all(isinstance(extent, int) and extent > 0 for extent in flat):
            raise ArgumentError(f"a mesh shape is one or two positive ints, got {flat or given}")
        return super().__new__(cls, flat)

    def dims(self) -> int:
        """Number of extents."""
        return len(self)

    def mesh_size(self) -> int:
        """Number of devices."""
        return math.prod(self)

    @property
    def rows_and_columns(self) -> tuple[int, int]:
        """Both extents; a single one is a row."""
        rows, columns = (1, *self)[-2:]
        return rows, columns

    def __repr__(self) -> str:
        return f"MeshShape([{', '.join(map(str, self))}])"
