"""Vector math on numpy arrays, with the same bits as native code, for the tile interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ttnn_jit.kernels.math.primitives import Table
from ttnn_jit.kernels.math.vector_math import VectorMath
from ttnn_jit.kernels.math.wide_primitives import Int, Int64
from ttnn_jit.kernels.numba.scalar_call import vectorized
from ttnn_jit.kernels.vectors.numpy_wide import NumpyWide
from ttnn_jit.ops.language.emit import Mask, Value
from ttnn_jit.ops.language.tile_body import ScalarFunction
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType

Array = np.ndarray[Any, Any]


def _plain(function: Callable[..., Any]) -> Any:
    """A method that calls a function without self."""
    return staticmethod(function)


def _rounded(function: Callable[..., Any]) -> Any:
    """A method that calls a numpy ufunc with float32 results, whatever the types of its operands."""
    return staticmethod(partial(function, dtype=np.float32))


class NumpyVector(VectorMath):
    """Values are float32 arrays or scalars that broadcast; integers are int32, masks are bool.

    Use it under `quiet` or ``np.errstate(all="ignore")``, because overflow and invalid operations are expected::

        b = NumpyVector()
        with NumpyVector.quiet():
            y = b.exp(x)
    """

    @staticmethod
    def quiet() -> np.errstate:
        """A context without floating-point warnings."""
        return np.errstate(all="ignore")

    const = _plain(np.float32)

    add = _rounded(np.add)
    sub = _rounded(np.subtract)
    mul = _rounded(np.multiply)
    div = _rounded(np.divide)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        # The product is exact in float64. Its sum with c is rounded to odd, so that rounding it to float32 afterwards
        # equals rounding once (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
        product = np.multiply(a, b, dtype=np.float64)
        addend = np.asarray(c, np.float64)
        total = product + addend
        part = total - product
        error = (product - (total - part)) + (addend - part)
        bits = np.asarray(total).view(np.int64)
        step = np.where((error > 0) == (total > 0), np.int64(1), np.int64(-1))
        odd = np.where((error != 0) & np.isfinite(error) & (bits & 1 == 0), bits + step, bits)
        return odd.view(np.float64).astype(np.float32)

    neg = _plain(np.negative)
    abs = _plain(np.abs)
    copysign = _plain(np.copysign)
    sqrt = _plain(np.sqrt)

    def minimum(self, a: Value, b: Value) -> Value:
        either_zero = self.from_bits(self.bits(a) | self.bits(b))
        return np.where(np.equal(a, b), either_zero, np.minimum(a, b))

    def maximum(self, a: Value, b: Value) -> Value:
        both_zero = self.from_bits(self.bits(a) & self.bits(b))
        return np.where(np.equal(a, b), both_zero, np.maximum(a, b))

    round_even = _plain(np.rint)
    floor = _plain(np.floor)
    ceil = _plain(np.ceil)
    trunc = _plain(np.trunc)
    lt = _plain(np.less)
    le = _plain(np.less_equal)
    gt = _plain(np.greater)
    ge = _plain(np.greater_equal)
    eq = _plain(np.equal)
    ne = _plain(np.not_equal)
    both = _plain(np.logical_and)
    either = _plain(np.logical_or)
    invert = _plain(np.logical_not)
    select = _plain(np.where)

    def rarely(self, mask: Mask, usual: Value, body: Callable[..., Value], *arguments: Value) -> Value:
        return np.where(mask, body(self, *arguments), usual) if np.any(mask) else usual

    int_const = _plain(np.int32)

    def bits(self, a: Value) -> Int:
        return np.asarray(a, np.float32).view(np.int32)

    def from_bits(self, i: Int) -> Value:
        return np.asarray(i, np.int32).view(np.float32)

    int_add = _plain(np.add)
    int_sub = _plain(np.subtract)
    int_and = _plain(np.bitwise_and)
    int_or = _plain(np.bitwise_or)
    int_xor = _plain(np.bitwise_xor)
    shift_left = _plain(np.left_shift)
    shift_right = _plain(np.right_shift)

    def shift_right_zero(self, i: Int, count: Int) -> Int:
        return np.right_shift(_unsigned(i), _unsigned(count)).view(np.int32)

    int_mul = _plain(np.multiply)

    def multiply_wide(self, i: Int, j: Int) -> tuple[Int, Int]:
        product = np.multiply(_unsigned(i), _unsigned(j), dtype=np.uint64)
        low = (product & np.uint64(0xFFFF_FFFF)).astype(np.uint32)
        return (product >> np.uint64(32)).astype(np.uint32).view(np.int32), low.view(np.int32)

    def int64_halves(self, wide: Int64) -> tuple[Int, Int]:
        return np.right_shift(wide, 32).astype(np.int32), np.asarray(wide).astype(np.int32)

    def int64(self, high: Int, low: Int) -> Int64:
        return np.left_shift(np.asarray(high, np.int64), 32) | _unsigned(low).astype(np.int64)

    wide = NumpyWide()

    int_eq = _plain(np.equal)
    int_lt = _plain(np.less)

    def unsigned_lt(self, i: Int, j: Int) -> Mask:
        return np.less(_unsigned(i), _unsigned(j))

    int_select = _plain(np.where)

    def to_float(self, i: Int) -> Value:
        return np.asarray(i).astype(np.float32)

    def truncated(self, a: Value) -> Int:
        return np.asarray(a).astype(np.int32)

    def lookup(self, table: Table, index: Int) -> Value:
        return np.array(table.entries, np.int32)[np.bitwise_and(index, len(table.entries) - 1)].view(np.float32)

    def call_scalar(self, function: ScalarFunction, operands: Sequence[Value]) -> Value:
        return vectorized(function)(*operands)

    def loaded(self, elements: Array, dtype: DataType) -> Array:
        """Convert stored `elements` of `dtype` to their compute type."""
        if dtype.is_upper_half:
            return self.load_bf16(elements)
        if dtype.is_ieee_half:
            return elements.view(np.float16).astype(np.float32)
        return elements.astype(dtype.compute.numpy, copy=False)

    def stored(self, values: Value, dtype: DataType) -> Array:
        """Convert `values`, which `dtype` represents exactly, to stored elements."""
        if dtype.is_ieee_half:
            return np.asarray(values).astype(np.float16).view(np.uint16)
        if not dtype.is_upper_half:
            return np.asarray(values).astype(dtype.traits.numpy, copy=False)
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32).reshape(np.shape(values))
        return np.right_shift(bits, np.uint32(16)).astype(np.uint16)

    def load_bf16(self, bits: Array) -> Array:
        """The float32 values of bfloat16 `bits`, signed or unsigned 16-bit integers."""
        return np.asarray(np.left_shift(bits.astype(np.int32), 16)).view(np.float32)

    def store_bf16(self, value: Value, numerics: Numerics) -> Array:
        """The bfloat16 bits, as uint16, of `value` rounded to nearest even."""
        return self.stored(self.round_bfloat16(value, numerics), DataType.BFLOAT16)


def _unsigned(i: Int) -> Array:
    return np.asarray(i, np.int32).view(np.uint32)
