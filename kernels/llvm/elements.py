"""Conversion of stored elements to their compute type."""

from __future__ import annotations

from ttnn_jit.kernels.llvm.instructions import Instructions
from ttnn_jit.kernels.llvm.types import FLOAT, I32
from ttnn_jit.kernels.llvm.values import Value
from ttnn_jit.specs.dtypes import DataType


def computed(b: Instructions, stored: Value, dtype: DataType) -> Value:
    """Convert a stored element of `dtype`, or a vector of them, to its compute type."""
    if dtype.is_compute_type:
        return stored
    if dtype.is_upper_half:
        return widened(b, stored)
    if dtype.is_ieee_half:
        return b.convert("fpext", stored, FLOAT.times(stored.type.lanes))
    return b.convert("sext" if dtype.compute.is_signed else "zext", stored, I32.times(stored.type.lanes))


def widened(b: Instructions, bits: Value) -> Value:
    """The float32 numbers whose upper halves are `bits`."""
    lanes = bits.type.lanes
    return b.bitcast(b.shift_left(b.zext(bits, I32.times(lanes)), 16), FLOAT.times(lanes))
