"""The lifetime of the tile index table of `ttnn.reshape` on a chip; it does not affect results."""

from __future__ import annotations

import enum


class TileReshapeMapMode(enum.Enum):
    """A table that is cached with the program, or one that each call makes (ttnn.TileReshapeMapMode)."""

    CACHE = 0
    RECREATE = 1
