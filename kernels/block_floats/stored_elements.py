"""Conversion between float32 and the formats that are only stored (specs/stored_formats.py), in numpy."""

from __future__ import annotations

import numpy as np

from ttnn_jit.kernels.block_floats.block_floats import Array, packed, unpacked
from ttnn_jit.specs.stored_formats import StoredFormat


def encoded(values: Array, stored: StoredFormat) -> Array:
    """The bytes of `values`, of float32; of block floats, whose last two dimensions are whole tiles (`packed`).

    Halves are the nearest ones, ties to even: infinite beyond 65520, denormal below 2**-14.
    """
    if stored.is_block_float:
        return packed(values, stored)
    with np.errstate(over="ignore"):
        return values.astype(stored.traits.numpy).reshape(-1).view(np.uint8)


def decoded(elements: Array, shape: tuple[int, ...], stored: StoredFormat) -> Array:
    """The numbers that the bytes hold, exactly, as float32 of `shape`."""
    if stored.is_block_float:
        return unpacked(elements, shape, stored)
    return elements.view(stored.traits.numpy).astype(np.float32).reshape(shape)
