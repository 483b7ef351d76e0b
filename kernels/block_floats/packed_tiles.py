"""Packing and unpacking of block floats element by element, as Python functions that numba compiles.

block_floats.py defines the format. This module shares no code with the vector loops of
kernels/block_floats/packing_loops.py: it uses comparisons and powers of two, not the bits of float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttnn_jit.kernels.numba.scalar_math import bits, from_bits, i32, scalar, u8, u16, u32

i64 = np.int64

GROUP, GROUPS, HEIGHT = 16, 64, 32


@scalar  # type: ignore[untyped-decorator]
def whole_bits(element: Any) -> Any:
    """The bits of a float32, as int64."""
    return i64(u32(bits(element)))


@scalar  # type: ignore[untyped-decorator]
def upper_bits(half: Any) -> Any:
    """The bits of the float32 whose upper half is a bfloat16."""
    return i64(half) << 16


@scalar  # type: ignore[untyped-decorator]
def whole_element(pattern: Any) -> Any:
    """The float32 with these bits."""
    return from_bits(i32(u32(pattern)))


@scalar  # type: ignore[untyped-decorator]
def upper_element(pattern: Any) -> Any:
    """The bfloat16 that is the upper half of these bits."""
    return u16(pattern >> 16)


@scalar  # type: ignore[untyped-decorator]
def without_nan(pattern: Any) -> Any:
    """The bits of a float32, with NaN replaced by infinity."""
    return i64(0x7F800000) if pattern & 0x7FFFFFFF > 0x7F800000 else pattern


@scalar  # type: ignore[untyped-decorator]
def group_index(r: int, half: int) -> int:
    """The number of the group in the left or right `half` of row `r` of a tile."""
    face: int = r // GROUP * 2 + half
    return face * GROUP + r % GROUP


@scalar  # type: ignore[untyped-decorator]
def store_code(tile: Any, number: int, code: int, count: int) -> None:
    """Store the code of an element; two narrow codes share a byte, low half first."""
    if count > 3:
        tile[GROUPS + number] = u8(code)
    elif number % 2 == 0:
        tile[GROUPS + number // 2] = u8(code)
    else:
        tile[GROUPS + number // 2] = u8(tile[GROUPS + number // 2] + code * 16)


@scalar  # type: ignore[untyped-decorator]
def load_code(tile: Any, number: int, count: int) -> int:
    """Load the code of an element."""
    if count > 3:
        return int(tile[GROUPS + number])
    return int(tile[GROUPS + number // 2]) >> 4 * (number % 2) & 15


@scalar  # type: ignore[untyped-decorator]
def code_of(bits: int, shared: int, count: int) -> int:
    """The sign and magnitude of the float32 with these bits, an int64, relative to the exponent `shared`."""
    exponent = bits >> 23 & 255
    distance = shared - exponent
    if exponent == 0 or distance > 31:
        return 0
    step = 1 << 24 - count
    significand = (bits & 0x7FFFFF | 0x800000) >> distance
    magnitude, rest = significand // step, significand % step
    if 2 * rest > step or (2 * rest == step and magnitude % 2 == 1):
        magnitude += 1
    magnitude = min(magnitude, (1 << count) - 1)
    return 0 if magnitude == 0 else magnitude + (bits >> 31 & 1) * (1 << count)


@scalar  # type: ignore[untyped-decorator]
def bits_of_code(code: int, shared: int, count: int) -> int:
    """The bits of the float32 of a sign and a magnitude relative to the exponent `shared`."""
    magnitude, exponent = code % (1 << count), shared
    if magnitude == 0:
        return 0
    while magnitude < 1 << count - 1:
        magnitude *= 2
        exponent -= 1
    if exponent <= 0:
        return 0
    return (code >> count) << 31 | exponent << 23 | magnitude % (1 << count - 1) << 24 - count


def packer(load: Callable[[Any], Any]) -> Callable[..., None]:
    """A function that packs the tile whose first element is at `dense`, with row stride `down` in elements.

    The tile has `width` columns and `height` rows, padded with zeros. ``load(element)`` returns the bits of a float32.
    """

    @scalar  # type: ignore[untyped-decorator]
    def pack_tile(dense: Any, down: int, tile: Any, count: int, width: int, height: int) -> None:
        for r in range(HEIGHT):
            for half in range(2):
                first, group = r * down + half * GROUP, group_index(r, half)
                lanes = max(0, min(GROUP, width - half * GROUP)) if r < height else 0
                shared = 0
                for lane in range(lanes):
                    shared = max(shared, load(dense[first + lane]) >> 23 & 255)
                tile[group] = u8(shared)
                for lane in range(GROUP):
                    code = code_of(load(dense[first + lane]), shared, count) if lane < lanes else 0
                    store_code(tile, group * GROUP + lane, code, count)

    packing: Callable[..., None] = pack_tile
    return packing


def row_packer(load: Callable[[Any], Any], tile_at: Callable[[Any], Any], count: int, unit: int) -> Any:
    """A function that packs a row of a tiled tensor: ``write`` of a routine that writes rows (ops/families/routine.py).

    Strides are in units of a thirty-second of a tile, `unit` bytes. The result is an address, which ``tile_at``
    converts to a pointer. ``load(element)`` returns the bits of a float32. All groups of the row are written.
    """

    @scalar
    def pack_row(result, matrix, row, down, along, source, first, step, width):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        above = row % HEIGHT
        strip = matrix + (row - above) * down
        for half in range((width + GROUP - 1) // GROUP):
            tile = tile_at(result + unit * (strip + half // 2 * HEIGHT * along))
            group, begin = group_index(above, half % 2), half * GROUP
            lanes = min(GROUP, width - begin)
            shared = 0
            for lane in range(lanes):
                shared = max(shared, load(source[first + (begin + lane) * step]) >> 23 & 255)
            tile[group] = u8(shared)
            for lane in range(GROUP):
                code = code_of(load(source[first + (begin + lane) * step]), shared, count) if lane < lanes else 0
                store_code(tile, group * GROUP + lane, code, count)

    return pack_row


def unpacker(store: Callable[[Any], Any]) -> Callable[..., None]:
    """A function that unpacks a tile of `width` columns and `height` rows to `dense`, with row stride `down`.

    ``store(bits)`` returns the element for a float32 with these bits.
    """

    @scalar  # type: ignore[untyped-decorator]
    def unpack_tile(dense: Any, down: int, tile: Any, count: int, width: int, height: int) -> None:
        for r in range(height):
            for half in range(2):
                first, group = r * down + half * GROUP, group_index(r, half)
                for lane in range(max(0, min(GROUP, width - half * GROUP))):
                    code = load_code(tile, group * GROUP + lane, count)
                    dense[first + lane] = store(bits_of_code(code, int(tile[group]), count))

    unpacking: Callable[..., None] = unpack_tile
    return unpacking
