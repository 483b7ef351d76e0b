"""Block floats in numpy: how tiles of float32 are packed, and what packed tiles hold (tt-metal, blockfloat_common).

A tile of 32x32 is four faces of 16x16, one after the other; a row of a face is a group of 16 elements, which share an
exponent. A packed tile is a byte of exponent for each group, then the elements of all groups: a sign above the bits of
a magnitude, in a byte, or in half or a quarter of one, the lowest first. With m bits the unit of magnitudes is 2 to the
power of (exponent - 127 - (m - 1)); of formats whose exponents have five bits, of (exponent - 15 - (m - 1)).

This is the reference of the kernels that pack and unpack (kernels/block_floats/packing_loops.py), and what the host
runs.
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
"""What exponents of five bits lack of float32's."""


def packed(values: Array, dtype: ElementFormat) -> Array:
    """The bytes of `values`, float32 whose last two dimensions are whole tiles, as block floats of `dtype`.

    The largest exponent of a group is the group's. Magnitudes are cut to 24 bits below it, then rounded to nearest,
    ties to even, and saturate. Denormals become zero, and zero has no sign. Beside an infinity or a NaN, which count as
    the exponent 255, all but the largest numbers vanish. Exponents of five bits end at 2**-15, which smaller numbers
    become before they are cut, and at 2**16; larger numbers, infinities and NaN become the largest.
    """
    rows = values.reshape(_rows_of_tiles(values.shape))
    stored = np.empty((len(rows), dtype.nbytes(rows.shape[1] * rows.shape[2])), np.uint8)
    for part in _cached_parts(rows.shape):
        stored[part] = _packed(rows[part], dtype).reshape(stored[part].shape)
    return stored.reshape(-1)


def unpacked(stored: Array, shape: tuple[int, ...], dtype: ElementFormat) -> Array:
    """The numbers of packed tiles as float32 of `shape`, whose last two extents are whole tiles.

    A magnitude whose float32 would be denormal is zero.
    """
    values = np.empty(_rows_of_tiles(shape), np.float32)
    count, height, width = values.shape
    tiles = stored.reshape(count, width // TILE_WIDTH * (height // TILE_HEIGHT), dtype.itemsize)
    for part in _cached_parts(values.shape):
        values[part] = _unpacked(tiles[part], values[part].shape, dtype)
    return values.reshape(shape)


def _rows_of_tiles(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Extents that have as many elements in the same order: rows of tiles, by rows and columns of elements."""
    *batch, height, width = shape
    return math.prod(batch) * (height // TILE_HEIGHT), TILE_HEIGHT, width


def _cached_parts(shape: tuple[int, int, int]) -> Iterator[slice]:
    """Rows of tiles, as many at a time as a core's cache has room for while they are computed with."""
    count, height, width = shape
    step = max(1, _CACHED_ELEMENTS // max(1, height * width))
    return (slice(at, at + step) for at in range(0, count, step))


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
    """Exponents and significands of float32, zero of denormals."""
    exponents = bits >> 23 & 0xFF
    return exponents, np.where(exponents == 0, 0, bits & 0x7F_FFFF | 0x80_0000)


def _of_five_bits(bits: Array) -> tuple[Array, Array]:
    """The same with exponents from 0 to 31, of which 15 is that of 1; beyond them, the least or largest significand."""
    exponents, significands = _fields(bits)
    beyond = np.where(exponents < _REBIAS, 0x80_0000, np.where(exponents > _REBIAS + 31, 0xFF_FFFF, significands))
    rebiased = np.clip(exponents.astype(np.int32) - _REBIAS, 0, 31).astype(np.uint32)
    return rebiased, np.where(exponents == 0, 0, beyond).astype(np.uint32)


def _narrow_widths(magnitude_bits: int) -> list[int]:
    """The bits of what is joined in pairs, again and again, until it fills bytes."""
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
    """`values` tile by tile, face by face, row by row: of shape (..., 2, 2, 16, 16)."""
    *batch, height, width = values.shape
    split = values.reshape(*batch, height // TILE_HEIGHT, 2, GROUP, width // TILE_WIDTH, 2, GROUP)
    # (tile row, face row, row, tile column, face column, lane) -> (tile row, tile column, faces, row, lane)
    return np.moveaxis(split, (-3, -2), (-5, -3))
