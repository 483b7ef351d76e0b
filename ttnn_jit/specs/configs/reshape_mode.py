"""How `ttnn.reshape` on a chip comes by the table of where tiles go; what it gives is the same."""

from __future__ import annotations

import enum


class TileReshapeMapMode(enum.Enum):
    """A table that is kept beside the program, or one made at each call (ttnn.TileReshapeMapMode)."""

    CACHE = 0
    RECREATE = 1
