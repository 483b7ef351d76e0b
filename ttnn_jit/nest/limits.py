"""Extents and sizes that loops are written for, and that whoever chooses them must keep to."""

from __future__ import annotations

from collections.abc import Iterable

from ttnn_jit.nest.streams import Stream
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

LINE = 64
"""Bytes of a cache line, of which a packed tile is a whole number."""

ENTRIES = 1 << 16
"""Of a lookup table: one for every bfloat16."""

STEPS = (-1, 2)
"""From one element that is read to the next, of those that a copy has vectors for (kernels/loops/stepping_loops.py)."""

MANY_STREAMS_BLOCK = 1 << 13
"""Elements of a block of many streams from memory: 32 KB of float32 each (choices.py: `loop fission`)."""

CHAIN_BLOCK = 1 << 10
"""Elements of a block of a chain: small enough that what crosses stages stays in the first cache."""

MAX_ROWS = 8
"""Rows of a product up to which its right operand is read once: they are one tile."""


def rows_of_a_tile(rows: int) -> int:
    """Of a product of so many rows: the next power of two; 0 where they are more than `MAX_ROWS`."""
    return 1 << (rows - 1).bit_length() if rows <= MAX_ROWS else 0


TILES = 8
"""Of a strip of tiles beside each other: 16 KB of bfloat16, which stay in the first cache."""
_MOST_STRIP_BYTES = 1 << 18
"""Of all strips that are kept: they are on the stack of the thread that runs the kernel."""


def strips_fit_stack(scratches: Iterable[Stream]) -> bool:
    """Whether strips of these elements may be kept together."""
    return sum(each.dtype.itemsize for each in scratches) * TILE_HEIGHT * TILES * TILE_WIDTH <= _MOST_STRIP_BYTES


MOST_COLUMNS = 4096
"""Of rows of tiles that are kept: with one stream of bfloat16 read and one of float32 written 768 KB, which stay in the
second cache. Rows are cut there, so that no launch can leave the stack."""
_MOST_ROW_BYTES = 768 << 10
"""Of all streams of block floats: they are on the stack of the thread that runs the kernel."""


def rows_fit_stack(scratches: Iterable[Stream]) -> bool:
    """Whether rows of tiles of these elements may be kept together."""
    return sum(each.dtype.itemsize for each in scratches) * TILE_HEIGHT * MOST_COLUMNS <= _MOST_ROW_BYTES
