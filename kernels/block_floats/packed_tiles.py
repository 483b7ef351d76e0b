"""Tiles of block floats element by element, in the Python that numba compiles; see block_floats.py.

It shares no code with the vectors of kernels/block_floats/packing_loops.py: what a group holds is found by comparisons
and powers of two, not by the bits of float32.
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
    """The bits of a float32, an int of 64."""
    return i64(u32(bits(element)))


@scalar  # type: ignore[untyped-decorator]
def upper_bits(half: Any) -> Any:
    """The bits of the float32 that a bfloat16 is the upper half of."""
    return i64(half) << 16


@scalar  # type: ignore[untyped-decorator]
def whole_element(pattern: Any) -> Any:
    """The float32 of these bits."""
    return from_bits(i32(u32(pattern)))


@scalar  # type: ignore[untyped-decorator]
def upper_element(pattern: Any) -> Any:
    """The upper half of the bits of a float32."""
    return u16(pattern >> 16)


@scalar  # type: ignore[untyped-decorator]
def without_nan(pattern: Any) -> Any:
    """The bits of a float32; of infinity in the place of NaN."""
    return i64(0x7F800000) if pattern & 0x7FFFFFFF > 0x7F800000 else pattern


@scalar  # type: ignore[untyped-decorator]
def group_index(r: int, half: int) -> int:
    """The number of the group in the left or right `half` of row `r` of a tile."""
    face: int = r // GROUP * 2 + half
    return face * GROUP + r % GROUP


@scalar  # type: ignore[untyped-decorator]
def store_code(tile: Any, number: int, code: int, count: int) -> None:
    """Writes the code of an element; the lower half of a byte comes first."""
    if count > 3:
        tile[GROUPS + number] = u8(code)
    elif number % 2 == 0:
        tile[GROUPS + number // 2] = u8(code)
    else:
        tile[GROUPS + number // 2] = u8(tile[GROUPS + number // 2] + code * 16)


@scalar  # type: ignore[untyped-decorator]
def load_code(tile: Any, number: int, count: int) -> int:
    """The code of an element."""
    if count > 3:
        return int(tile[GROUPS + number])
    return int(tile[GROUPS + number // 2]) >> 4 * (number % 2) & 15


@scalar  # type: ignore[untyped-decorator]
def code_of(bits: int, shared: int, count: int) -> int:
    """The sign and the magnitude of the float32 with these bits, an int of 64, beside the exponent `shared`."""
    own = bits >> 23 & 255
    distance = shared - own
    if own == 0 or distance > 31:
        return 0
    step = 1 << 24 - count
    significand = (bits & 0x7FFFFF | 0x800000) >> distance
    magnitude, rest = significand // step, significand % step
    if 2 * rest > step or (2 * rest == step and magnitude % 2 == 1):
        magnitude += 1
    magnitude = min(magnitude, (1 << count) - 1)
    return 0 if magnitude == 0 else magnitude + (bits >> 31 & 1) * (1 << count)


@scalar  # type: ignore[untyped-decorator]
def patternof(code: int, shared: int, count: int) -> int:
    """The bits of the float32 that a sign and a magnitude are beside the exponent `shared`."""
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
    """A function that packs the tile whose first element `dense` points to, with rows `down` elements apart.

    It has `width` columns and `height` rows, and zeros beyond. ``load(element)`` gives the bits of a float32.
    """

    @scalar  # type: ignore[untyped-decorator]
    def pack_tile(dense: Any, down: int, tile: Any, count: int, width: int, height: int) -> None:
        for r in range(HEIGHT):
            for half in range(2):
                first, group = r * down + half * GROUP, group_index(r, half)
                own = max(0, min(GROUP, width - half * GROUP)) if r < height else 0
                shared = 0
                for lane in range(own):
                    shared = max(shared, load(dense[first + lane]) >> 23 & 255)
                tile[group] = u8(shared)
                for lane in range(GROUP):
                    code = code_of(load(dense[first + lane]), shared, count) if lane < own else 0
                    store_code(tile, group * GROUP + lane, code, count)

    packing: Callable[..., None] = pack_tile
    return packing


def row_packer(load: Callable[[Any], Any], tile_at: Callable[[Any], Any], count: int, unit: int) -> Any:
    """A function that packs a row of a tensor in tiles: ``write`` of a routine that writes rows (routine.py).

    Strides count a thirty-second of a tile, `unit` bytes; the result is an address, of which ``tile_at`` makes a
    pointer. ``load(element)`` gives the bits of a float32. All of the row's groups are written.
    """

    @scalar
    def pack_row(result, matrix, row, down, along, source, first, step, width):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        above = row % HEIGHT
        strip = matrix + (row - above) * down
        for half in range((width + GROUP - 1) // GROUP):
            tile = tile_at(result + unit * (strip + half // 2 * HEIGHT * along))
            group, begin = group_index(above, half % 2), half * GROUP
            own = min(GROUP, width - begin)
            shared = 0
            for lane in range(own):
                shared = max(shared, load(source[first + (begin + lane) * step]) >> 23 & 255)
            tile[group] = u8(shared)
            for lane in range(GROUP):
                code = code_of(load(source[first + (begin + lane) * step]), shared, count) if lane < own else 0
                store_code(tile, group * GROUP + lane, code, count)

    return pack_row


def unpacker(store: Callable[[Any], Any]) -> Callable[..., None]:
    """A function that unpacks a tile to where `dense` points, with rows `down` elements apart.

    Of a tile of `width` columns and `height` rows. ``store(bits)`` gives the element that a float32 of these bits is.
    """

    @scalar  # type: ignore[untyped-decorator]
    def unpack_tile(dense: Any, down: int, tile: Any, count: int, width: int, height: int) -> None:
        for r in range(height):
            for half in range(2):
                first, group = r * down + half * GROUP, group_index(r, half)
                for lane in range(max(0, min(GROUP, width - half * GROUP))):
                    code = load_code(tile, group * GROUP + lane, count)
                    dense[first + lane] = store(patternof(code, int(tile[group]), count))

    unpacking: Callable[..., None] = unpack_tile
    return unpacking
