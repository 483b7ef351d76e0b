"""Vector math on numpy arrays, with the bits of the native code: what the tile interpreter computes with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ttnn_jit.kernels.primitives import DoubleWord, Int, Table
from ttnn_jit.kernels.scalar_call import vectorized
from ttnn_jit.kernels.vector_math import VectorMath
from ttnn_jit.ops.emit import Mask, Value
from ttnn_jit.ops.tile_body import ScalarFunction
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType

Array = np.ndarray[Any, Any]


class NumpyVector(VectorMath):
    """Values are float32 arrays (or scalars) of any shapes that broadcast; integers int32, masks bool.

    Use it under ``np.errstate(all="ignore")``, or through `quiet`, since overflow and invalid operations are results
    here, not accidents::

        b = NumpyVector()
        with NumpyVector.quiet():
            y = b.exp(x)
    """

    @staticmethod
    def quiet() -> np.errstate:
        """The context in which no floating point warning is given."""
        return np.errstate(all="ignore")

    def const(self, value: float) -> Value:
        return np.float32(value)

    def add(self, a: Value, b: Value) -> Value:
        return np.add(a, b, dtype=np.float32)

    def sub(self, a: Value, b: Value) -> Value:
        return np.subtract(a, b, dtype=np.float32)

    def mul(self, a: Value, b: Value) -> Value:
        return np.multiply(a, b, dtype=np.float32)

    def div(self, a: Value, b: Value) -> Value:
        return np.divide(a, b, dtype=np.float32)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        # The product is exact in float64. Its sum with c is rounded to odd, so that rounding it again to float32
        # is rounding once (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
        product = np.multiply(a, b, dtype=np.float64)
        addend = np.asarray(c, np.float64)
        total = product + addend
        part = total - product
        error = (product - (total - part)) + (addend - part)
        words = np.asarray(total).view(np.int64)
        away = np.where((error > 0) == (total > 0), np.int64(1), np.int64(-1))
        odd = np.where((error != 0) & np.isfinite(error) & (words & 1 == 0), words + away, words)
        return odd.view(np.float64).astype(np.float32)

    def neg(self, a: Value) -> Value:
        return np.negative(a)

    def abs(self, a: Value) -> Value:
        return np.abs(a)

    def copysign(self, magnitude: Value, sign: Value) -> Value:
        return np.copysign(magnitude, sign)

    def sqrt(self, a: Value) -> Value:
        return np.sqrt(a)

    def minimum(self, a: Value, b: Value) -> Value:
        either_zero = self.from_bits(self.bits(a) | self.bits(b))
        return np.where(np.equal(a, b), either_zero, np.minimum(a, b))

    def maximum(self, a: Value, b: Value) -> Value:
        both_zero = self.from_bits(self.bits(a) & self.bits(b))
        return np.where(np.equal(a, b), both_zero, np.maximum(a, b))

    def round_even(self, a: Value) -> Value:
        return np.rint(a)

    def floor(self, a: Value) -> Value:
        return np.floor(a)

    def ceil(self, a: Value) -> Value:
        return np.ceil(a)

    def trunc(self, a: Value) -> Value:
        return np.trunc(a)

    def lt(self, a: Value, b: Value) -> Mask:
        return np.less(a, b)

    def le(self, a: Value, b: Value) -> Mask:
        return np.less_equal(a, b)

    def gt(self, a: Value, b: Value) -> Mask:
        return np.greater(a, b)

    def ge(self, a: Value, b: Value) -> Mask:
        return np.greater_equal(a, b)

    def eq(self, a: Value, b: Value) -> Mask:
        return np.equal(a, b)

    def ne(self, a: Value, b: Value) -> Mask:
        return np.not_equal(a, b)

    def both(self, m: Mask, n: Mask) -> Mask:
        return np.logical_and(m, n)

    def either(self, m: Mask, n: Mask) -> Mask:
        return np.logical_or(m, n)

    def invert(self, m: Mask) -> Mask:
        return np.logical_not(m)

    def select(self, m: Mask, a: Value, b: Value) -> Value:
        return np.where(m, a, b)

    def rarely(self, mask: Mask, usual: Value, name: str, body: Callable[..., Value], *arguments: Value) -> Value:
        del name
        return np.where(mask, body(self, *arguments), usual) if np.any(mask) else usual

    def int_const(self, value: int) -> Int:
        return np.int32(value)

    def bits(self, a: Value) -> Int:
        return np.asarray(a, np.float32).view(np.int32)

    def from_bits(self, i: Int) -> Value:
        return np.asarray(i, np.int32).view(np.float32)

    def int_add(self, i: Int, j: Int) -> Int:
        return np.add(i, j)

    def int_sub(self, i: Int, j: Int) -> Int:
        return np.subtract(i, j)

    def int_and(self, i: Int, j: Int) -> Int:
        return np.bitwise_and(i, j)

    def int_or(self, i: Int, j: Int) -> Int:
        return np.bitwise_or(i, j)

    def int_xor(self, i: Int, j: Int) -> Int:
        return np.bitwise_xor(i, j)

    def shift_left(self, i: Int, count: Int) -> Int:
        return np.left_shift(i, count)

    def shift_right(self, i: Int, count: Int) -> Int:
        return np.right_shift(i, count)

    def shift_right_zero(self, i: Int, count: Int) -> Int:
        return np.right_shift(_unsigned(i), _unsigned(count)).view(np.int32)

    def int_mul(self, i: Int, j: Int) -> Int:
        return np.multiply(i, j)

    def multiply_wide(self, i: Int, j: Int) -> tuple[Int, Int]:
        product = np.multiply(_unsigned(i), _unsigned(j), dtype=np.uint64)
        low = (product & np.uint64(0xFFFF_FFFF)).astype(np.uint32)
        return (product >> np.uint64(32)).astype(np.uint32).view(np.int32), low.view(np.int32)

    def words_of(self, wide: DoubleWord) -> tuple[Int, Int]:
        return np.right_shift(wide, 32).astype(np.int32), np.asarray(wide).astype(np.int32)

    def double_word(self, high: Int, low: Int) -> DoubleWord:
        return np.left_shift(np.asarray(high, np.int64), 32) | _unsigned(low).astype(np.int64)

    def int_eq(self, i: Int, j: Int) -> Mask:
        return np.equal(i, j)

    def int_lt(self, i: Int, j: Int) -> Mask:
        return np.less(i, j)

    def unsigned_lt(self, i: Int, j: Int) -> Mask:
        return np.less(_unsigned(i), _unsigned(j))

    def int_select(self, m: Mask, i: Int, j: Int) -> Int:
        return np.where(m, i, j)

    def to_float(self, i: Int) -> Value:
        return np.asarray(i).astype(np.float32)

    def truncated(self, a: Value) -> Int:
        return np.asarray(a).astype(np.int32)

    def lookup(self, table: Table, index: Int) -> Value:
        return np.array(table.words, np.int32)[np.bitwise_and(index, len(table.words) - 1)].view(np.float32)

    def call_scalar(self, function: ScalarFunction, operands: Sequence[Value]) -> Value:
        return vectorized(function)(*operands)

    def loaded(self, elements: Array, dtype: DataType) -> Array:
        """The values of the compute type of `elements` as `dtype` stores them."""
        if dtype.is_upper_half:
            return self.load_bf16(elements)
        return elements.astype(dtype.compute.numpy, copy=False)

    def stored(self, values: Value, dtype: DataType) -> Array:
        """The elements of `values`, which `dtype` holds exactly."""
        if not dtype.is_upper_half:
            return np.asarray(values).astype(dtype.traits.numpy, copy=False)
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32).reshape(np.shape(values))
        return np.right_shift(bits, np.uint32(16)).astype(np.uint16)

    def load_bf16(self, words: Array) -> Array:
        """The float32 values of bfloat16 `words`, 16-bit integers of either sign."""
        return np.asarray(np.left_shift(words.astype(np.int32), 16)).view(np.float32)

    def store_bf16(self, value: Value, numerics: Numerics) -> Array:
        """The bfloat16 words, as uint16, of `value` rounded to nearest even."""
        rounded = np.asarray(self.round_bfloat16(value, numerics), np.float32)
        return np.right_shift(rounded.view(np.uint32), np.uint32(16)).astype(np.uint16)


def _unsigned(i: Int) -> Array:
    return np.asarray(i, np.int32).view(np.uint32)
