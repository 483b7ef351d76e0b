"""Conversion between float32 and storage-only formats (specs/stored_formats.py), in numpy."""

from __future__ import annotations

from ttnn_jit.kernels.block_floats.block_floats import Array, packed, unpacked
from ttnn_jit.specs.stored_formats import StoredFormat


def encoded(values: Array, stored: StoredFormat) -> Array:
    """Encode float32 `values` to bytes; the last two dimensions are whole tiles (see `packed`)."""
    return packed(values, stored)


def decoded(elements: Array, shape: tuple[int, ...], stored: StoredFormat) -> Array:
    """Decode bytes to float32 of `shape`, exactly."""
    return unpacked(elements, shape, stored)
