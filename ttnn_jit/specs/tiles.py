"""Extents of tensors in tiles of 32x32 elements."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.specs.cores.sharding import folded_to
from ttnn_jit.specs.extents.divisors import share_of
from ttnn_jit.specs.extents.extent import computed, is_extent
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH


def tiles_of_core(tiles: int, cores: int) -> int:
    """The most of so many tiles, at least one, that one of the cores has."""
    return computed(share_of, tiles, cores) if is_extent(cores) else -(-tiles // cores)


def tile_extents(shape: Sequence[int], rank: int) -> tuple[int, ...]:
    """Extents of a tensor in tiles, for an iteration space of `rank`; leading dimensions fold into the first."""
    *batch, height, width = (1, 1, *shape)
    return folded_to((*batch, -(-height // TILE_HEIGHT), -(-width // TILE_WIDTH)), rank)
