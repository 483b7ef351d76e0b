"""Extents and sizes that the writers of loops support; passes that choose loops must respect them."""

from __future__ import annotations

from collections.abc import Iterable

from ttnn_jit.nest.streams import Stream
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

LINE = 64
"""Bytes of a cache line; a packed tile is a multiple of it."""

ENTRIES = 1 << 16
"""Entries of a lookup table: one per bfloat16 value."""

MOST_FUSED_OPS = 1024
"""Most ops that fusion joins to one kernel. LLVM's instruction selection takes more than linear time for one block: for
each op 0.12 ms at 1,000 ops, 0.35 ms at 8,000, and 1 ms at 16,000."""

STEPS = (-1, 2)
"""Element strides of reads that a copy vectorizes (kernels/loops/stepping_loops.py)."""

MANY_STREAMS_BLOCK = 1 << 13
"""Elements of a block where many streams come from memory: 32 KB of float32 per stream (choices.py: `loop fission`)."""

CHAIN_BLOCK = 1 << 10
"""Elements of a block of a chain: small enough that values between stages stay in the L1 cache."""

MAX_ROWS = 8
"""Most rows of a product that form one tile, so that the right operand is read once."""

_TILE_ROWS = (1, 2, 4, MAX_ROWS)


def rows_of_a_tile(rows: int) -> int:
    """Rows of the register tile for a product of `rows` rows: the next power of two, or 0 above `MAX_ROWS`."""
    return next((size for size in _TILE_ROWS if rows <= size), 0)


TILES = 8
"""Horizontally adjacent tiles of a strip: 16 KB of bfloat16, which stay in the L1 cache."""
_MOST_STRIP_BYTES = 1 << 18
"""Limit for all strip buffers of a kernel; they lie on the stack of the thread that runs it."""


def strips_fit_stack(scratches: Iterable[Stream]) -> bool:
    """Whether one strip buffer per stream fits the stack limit."""
    return sum(each.dtype.itemsize for each in scratches) * TILE_HEIGHT * TILES * TILE_WIDTH <= _MOST_STRIP_BYTES


MOST_COLUMNS = 4096
"""Columns of a buffered row of tiles: one bfloat16 input and one float32 output take 768 KB and stay in the L2 cache.
Longer rows are split, so that no launch overflows the stack."""
_MOST_ROW_BYTES = 768 << 10
"""Limit for the row buffers of all block-float streams; they lie on the stack of the thread that runs the kernel."""


def rows_fit_stack(scratches: Iterable[Stream]) -> bool:
    """Whether one row of tiles per stream fits the stack limit."""
    return sum(each.dtype.itemsize for each in scratches) * TILE_HEIGHT * MOST_COLUMNS <= _MOST_ROW_BYTES
