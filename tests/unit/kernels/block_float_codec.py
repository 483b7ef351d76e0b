"""Block floats one element at a time, as specified: the reference of the project's own codecs."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np

BITS = {"bfp_bf8": 7, "bfp_bf4": 3, "bfp_bf2": 1, "bfp_f8": 7, "bfp_f4": 3, "bfp_f2": 1}
OF_FIVE_BITS = {"bfp_f8", "bfp_f4", "bfp_f2"}


def bits_of(value):
    """The fields of a float32: sign, exponent, fraction."""
    pattern = int(np.float32(value).view(np.uint32))  # Python's floats have no signalling NaN
    return pattern >> 31, pattern >> 23 & 255, pattern & 0x7FFFFF


def in_five_bits(exponent, fraction):
    """The fields of a number whose exponents go from 2**-15 to 2**16."""
    if not 0 <= exponent - 112 <= 31:
        return (0, 0) if exponent < 112 else (31, 0x7FFFFF)
    return exponent - 112, fraction


def encoded_group(values, bits, of_five_bits=False):
    """(shared exponent, codes) of 16 float32 numbers."""
    fields = []
    for sign, exponent, fraction in map(bits_of, values):
        kept = in_five_bits(exponent, fraction) if of_five_bits else (exponent, fraction)
        fields.append((exponent == 0, sign, *kept))
    shared = max(exponent for _, _, exponent, _ in fields)
    codes = []
    for is_zero, sign, exponent, fraction in fields:
        if is_zero:
            codes.append(0)
            continue
        distance = shared - exponent
        cut = 0 if distance >= 32 else (0x800000 | fraction) >> distance
        magnitude = min(round(Fraction(cut, 1 << 24 - bits)), (1 << bits) - 1)  # ties to even
        codes.append(magnitude | sign << bits if magnitude else 0)
    return shared, codes


def decoded(code, shared, bits):
    """The number of a code, as a float32."""
    magnitude, exponent = code & (1 << bits) - 1, shared
    if magnitude == 0:
        return np.float32(0)
    while not magnitude >> bits - 1:
        magnitude, exponent = magnitude << 1, exponent - 1
    if exponent <= 0:
        return np.float32(0)
    fraction = (magnitude & (1 << bits - 1) - 1) << 24 - bits
    pattern = (code >> bits) << 31 | exponent << 23 | fraction
    return np.frombuffer(struct.pack("<I", pattern), np.float32)[0]


def position(row, column):
    """For an element of a tile: the number of its group, and its number among all."""
    face = 2 * (row // 16) + column // 16
    group = 16 * face + row % 16
    return group, 16 * group + column % 16


def packed_tile(tile, bits, of_five_bits=False):
    """The bytes of a tile of 32x32."""
    exponents, codes = bytearray(64), bytearray(1024 * (bits + 1) // 8)
    for row in range(32):
        for first in (0, 16):
            group, start = position(row, first)
            exponents[group], own = encoded_group(tile[row, first : first + 16], bits, of_five_bits)
            for number, code in enumerate(own, start):
                codes[number * (bits + 1) // 8] |= code << (bits + 1) * number % 8
    return bytes(exponents + codes)


def unpacked_tile(stored, bits, of_five_bits=False):
    """The numbers of a packed tile."""
    bias = 112 if of_five_bits else 0
    tile = np.zeros((32, 32), np.float32)
    for row in range(32):
        for column in range(32):
            group, number = position(row, column)
            byte = stored[64 + number * (bits + 1) // 8]
            tile[row, column] = decoded(
                byte >> (bits + 1) * number % 8 & (1 << bits + 1) - 1, stored[group] + bias, bits
            )
    return tile


def packed(values, dtype):
    """The bytes of a tensor of rank 2 at least."""
    name = dtype.traits.ttcore
    return b"".join(packed_tile(tile, BITS[name], name in OF_FIVE_BITS) for tile in tiles(values))


def unpacked(stored, shape, dtype):
    """The numbers of a tensor of rank 2 at least."""
    padded = np.zeros((*shape[:-2], *(-(-extent // 32) * 32 for extent in shape[-2:])), np.float32)
    name = dtype.traits.ttcore
    size = 64 + 128 * (BITS[name] + 1)
    parts = [stored[at : at + size] for at in range(0, len(stored), size)]
    for window, part in zip(tiles(padded), parts, strict=True):
        window[...] = unpacked_tile(part, BITS[name], name in OF_FIVE_BITS)
    return padded[..., : shape[-2], : shape[-1]]


def tiles(values):
    """The tiles of an array in order: views of whole ones, otherwise copies padded with zeros."""
    height, width = (-(-extent // 32) * 32 for extent in values.shape[-2:])
    padded = values
    if values.shape[-2:] != (height, width):
        padded = np.zeros((*values.shape[:-2], height, width), np.float32)
        padded[..., : values.shape[-2], : values.shape[-1]] = values
    for index in np.ndindex(*padded.shape[:-2]):
        for row in range(0, height, 32):
            for column in range(0, width, 32):
                yield padded[index][row : row + 32, column : column + 32]
