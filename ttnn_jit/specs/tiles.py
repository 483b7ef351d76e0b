"""Tensors as tiles of 32x32 elements."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.specs.cores.sharding import folded_to
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH


def tile_extents(shape: Sequence[int], rank: int) -> tuple[int, ...]:
    """Extents in tiles of a tensor in an iteration space: leading dimensions fold into the rows where rank is 2."""
    *batch, height, width = (1, 1, *shape)
    return folded_to((*batch, -(-height // TILE_HEIGHT), -(-width // TILE_WIDTH)), rank)
