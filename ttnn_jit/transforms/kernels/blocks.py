"""DST blocks: the tiles of a shard that are in DST at the same time (ttnn.jit document)."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.specs.extents.divisors import largest_divisor
from ttnn_jit.specs.extents.extent import is_symbolic


def block_tiles(shard_tiles: Sequence[int], capacity: int, *, unary_chain: bool) -> tuple[int, ...]:
    """Extents of one block in tiles; its leading batch dimensions have extent 1, and all in a trace.

    Args:
        shard_tiles: Extents in tiles of one core's shard.
        capacity: DST tiles available.
        unary_chain: Whether one slot per tile is enough; otherwise a block is one tile.
    """
    *batch, rows, columns = shard_tiles
    if not unary_chain or is_symbolic(shard_tiles):
        return (1,) * len(shard_tiles)
    block_columns = largest_divisor(columns, capacity)
    return (*(1 for _ in batch), largest_divisor(rows, capacity // block_columns), block_columns)


def dst_tiles(block: Sequence[int], capacity: int, *, unary_chain: bool) -> tuple[int, ...]:
    """Extents of the DST memref: one block for a unary chain, otherwise the whole capacity, tile by tile."""
    return (1 if unary_chain else capacity, *block)
