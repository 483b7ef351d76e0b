"""Conversion between float32 and storage-only formats (specs/stored_formats.py), in numpy."""

from __future__ import annotations

import numpy as np

from ttnn_jit.kernels.block_floats.block_floats import Array, packed, unpacked
from ttnn_jit.specs.stored_formats import StoredFormat


def encoded(values: Array, stored: StoredFormat) -> Array:
    """Encode float32 `values` to bytes; for block floats the last two dimensions are whole tiles (see `packed`).

    float16 rounds to nearest even: infinite from 65520 on, denormal below 2**-14.
    """
    if stored.is_block_float:
        return packed(values, stored)
    with np.errstate(over="ignore"):
        return values.astype(stored.traits.numpy).reshape(-1).view(np.uint8)


def decoded(elements: Array, shape: tuple[int, ...], stored: StoredFormat) -> Array:
    """Decode bytes to float32 of `shape`, exactly."""
    if stored.is_block_float:
        return unpacked(elements, shape, stored)
    return elements.view(stored.traits.numpy).astype(np.float32).reshape(shape)
