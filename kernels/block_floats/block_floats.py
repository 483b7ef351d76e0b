"""Block floats in numpy: packing of float32 tiles, and unpacking of packed tiles (tt-metal, blockfloat_common).

A tile of 32x32 consists of four faces of 16x16, one after the other. A row of a face is a group of 16 elements, which
share an exponent. A packed tile is a byte of exponent for each group, then the codes of all elements. A code is a sign
above the bits of a magnitude; it fills a byte, or half or a quarter of one, lowest bits first. With m magnitude bits
the unit of magnitudes is 2 to the power of (exponent - 127 - (m - 1)); for formats with five-bit exponents it is 2 to
the power of (exponent - 15 - (m - 1)).

This is the reference for the native kernels (kernels/block_floats/packing_loops.py), and the implementation that the
host runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ttnn_jit.specs.dtypes import ElementFormat
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

Array = np.ndarray[Any, Any]

GROUP = 16
"""Elements that share an exponent: the width, and the height, of a face."""

_CACHED_ELEMENTS = 1 << 15

_REBIAS = 127 - 15
"""The bias of float32's exponents minus that of five-bit exponents."""


def packed(values: Array, dtype: ElementFormat) -> Array:
    """Pack float32 `values`, whose last two dimensions are whole tiles, to bytes of block floats of `dtype`.

    The exponent of a group is its largest one. Magnitudes are truncated to 24 bits below it, then rounded to nearest
    even, and saturate. Denormals become zero, and zero has no sign. Infinities and NaN have exponent 255, so in their
    group all but the largest numbers become zero. Five-bit exponents range from 2**-15 to 2**16: smaller numbers become
    2**-15 before truncation; larger numbers, infinities and NaN become the largest number.
    """
    rows = values.reshape(_rows_of_tiles(values.shape))
    stored = np.empty((len(rows), dtype.nbytes(rows.shape[1] * rows.shape[2])), np.uint8)
    for part in _cached_parts(rows.shape):
        stored[part] = _packed(rows[part], dtype).reshape(stored[part].shape)
    return stored.reshape(-1)


def unpacked(stored: Array, shape: tuple[int, ...], dtype: ElementFormat) -> Array:
    """Unpack tiles to float32 of `shape`, whose last two extents are whole tiles.

    Numbers that would be denormal become zero.
    """
    values = np.empty(_rows_of_tiles(shape), np.float32)
    count, height, width = values.shape
    tiles = stored.reshape(count, width // TILE_WIDTH * (height // TILE_HEIGHT), dtype.itemsize)
    for part in _cached_parts(values.shape):
        values[part] = _unpacked(tiles[part], values[part].shape, dtype)
    return values.reshape(shape)


def _rows_of_tiles(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """The shape of `values` regrouped by rows of tiles: (rows of tiles, rows of a tile, columns)."""
    *batch, height, width = shape
    return math.prod(batch) * (height // TILE_HEIGHT), TILE_HEIGHT, width


def _cached_parts(shape: tuple[int, int, int]) -> Iterator[slice]:
    """Slices of rows of tiles whose working set fits in a core's cache."""
    count, height, width = shape
    step = max(1, _CACHED_ELEMENTS // max(1, height * width))
    return (slice(start, start + step) for start in range(0, count, step))


def _packed(values: Array, dtype: ElementFormat) -> Array:
    bits = np.ascontiguousarray(_groups(values)).view(np.uint32)
    exponents, significands = _of_five_bits(bits) if dtype.traits.exponent_bits == 5 else _fields(bits)
    shared = exponents.max(axis=-1)
    cut = significands >> np.minimum(shared[..., np.newaxis] - exponents, 31)
    count = dtype.traits.magnitude_bits
    lost = np.uint32(24 - count)
    rounded = cut + np.uint32((1 << lost - 1) - 1) + (cut >> lost & 1) >> lost
    magnitudes = np.minimum(rounded, (1 << count) - 1)
    codes: Array = np.where(magnitudes == 0, 0, magnitudes | bits >> 31 << count).astype(np.uint8)
    for width in _narrow_widths(count):
        codes = codes[..., ::2] | codes[..., 1::2] << width
    tiles = int(np.prod(codes.shape[:-4]))
    groups = TILE_HEIGHT * TILE_WIDTH // GROUP
    parts = shared.astype(np.uint8).reshape(tiles, groups), codes.reshape(tiles, dtype.itemsize - groups)
    return np.concatenate(parts, axis=1).reshape(-1)


def _fields(bits: Array) -> tuple[Array, Array]:
    """Exponents and significands of float32; both are zero for denormals."""
    exponents = bits >> 23 & 0xFF
    return exponents, np.where(exponents == 0, 0, bits & 0x7F_FFFF | 0x80_0000)


def _of_five_bits(bits: Array) -> tuple[Array, Array]:
    """`_fields` with five-bit exponents, bias 15; out of range, the least or largest significand."""
    exponents, significands = _fields(bits)
    clamped = np.where(exponents < _REBIAS, 0x80_0000, np.where(exponents > _REBIAS + 31, 0xFF_FFFF, significands))
    rebiased = np.clip(exponents.astype(np.int32) - _REBIAS, 0, 31).astype(np.uint32)
    return rebiased, np.where(exponents == 0, 0, clamped).astype(np.uint32)


def _narrow_widths(magnitude_bits: int) -> list[int]:
    """Widths in bits of the codes that are joined in pairs, step by step, until they fill bytes."""
    return [width for width in (1, 2, 4) if width > magnitude_bits]


def _unpacked(stored: Array, shape: tuple[int, ...], dtype: ElementFormat) -> Array:
    tiles = stored.reshape(-1, dtype.itemsize)
    groups = TILE_HEIGHT * TILE_WIDTH // GROUP
    shared = tiles[:, :groups].astype(np.int32)[..., np.newaxis]
    if dtype.traits.exponent_bits == 5:
        shared = (shared & 31) + _REBIAS
    codes = tiles[:, groups:].reshape(len(tiles), groups, dtype.itemsize // groups - 1)
    count = dtype.traits.magnitude_bits
    for width in reversed(_narrow_widths(count)):
        pairs = np.stack([codes & (1 << width) - 1, codes >> width], axis=-1)
        codes = pairs.reshape(*codes.shape[:2], 2 * codes.shape[2])
    magnitudes = (codes & (1 << count) - 1).astype(np.float32)
    bits = magnitudes.view(np.int32) + (shared - (127 + count - 1) << 23)
    signed = bits | (codes >> count).astype(np.int32) << 31
    numbers = np.where((magnitudes == 0) | (bits < 1 << 23), 0, signed).astype(np.int32).view(np.float32)
    *batch, height, width = shape
    faces = (*batch, height // TILE_HEIGHT, width // TILE_WIDTH, 2, 2, GROUP, GROUP)
    return np.ascontiguousarray(np.moveaxis(numbers.reshape(faces), (-4, -2), (-5, -4))).reshape(shape)


def _groups(values: Array) -> Array:
    """`values` grouped by tile, face and row: of shape (..., 2, 2, 16, 16)."""
    *batch, height, width = values.shape
    split = values.reshape(*batch, height // TILE_HEIGHT, 2, GROUP, width // TILE_WIDTH, 2, GROUP)
    # (tile row, face row, row, tile column, face column, lane) -> (tile row, tile column, faces, row, lane)
    return np.moveaxis(split, (-3, -2), (-5, -3))
