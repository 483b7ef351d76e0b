"""Tensors as tiles of 32x32 elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH


def tile_extents(shape: Sequence[int], rank: int) -> tuple[int, ...]:
    """Extents in tiles of a tensor in an iteration space: leading dimensions fold into the rows where rank is 2."""
    padded = (1,) * (rank - len(shape)) + tuple(shape)
    *batch, height, width = padded
    rows, columns = -(-height // TILE_HEIGHT), -(-width // TILE_WIDTH)
    folded = math.prod(batch[: len(batch) - (rank - 2)])
    kept = batch[len(batch) - (rank - 2) :]
    return (*kept, folded * rows, columns) if rank == 2 else (folded * kept[0], *kept[1:], rows, columns)
