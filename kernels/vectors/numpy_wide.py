"""Vectors of 64-bit elements as numpy arrays, with the bits of native code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ttnn_jit.kernels.math.wide_primitives import Double, Int, Int64, library_function
from ttnn_jit.ops.language.emit import Mask, Value

Array = np.ndarray[Any, Any]


def _plain(function: Callable[..., Any]) -> Any:
    """A method that calls a function without self."""
    return staticmethod(function)


def _exact(function: Callable[..., Any]) -> Any:
    """A method that calls a numpy ufunc with float64 results."""
    return staticmethod(partial(function, dtype=np.float64))


class NumpyWide:
    """`WidePrimitives`: integers are int64, floats float64, masks bool."""

    int_const = _plain(np.int64)
    int_add = _plain(np.add)
    int_sub = _plain(np.subtract)
    int_mul = _plain(np.multiply)

    def quotient(self, a: Int64, b: Int64) -> Int64:
        floor = np.floor_divide(a, b)
        return floor + ((np.multiply(floor, b) != a) & (np.less(a, 0) != np.less(b, 0)))

    def unsigned_quotient(self, a: Int64, b: Int64) -> Int64:
        return np.floor_divide(_unsigned(a), _unsigned(b)).view(np.int64)

    int_and = _plain(np.bitwise_and)
    int_or = _plain(np.bitwise_or)
    int_xor = _plain(np.bitwise_xor)
    shift_left = _plain(np.left_shift)
    shift_right = _plain(np.right_shift)

    def shift_right_zero(self, i: Int64, count: Int64) -> Int64:
        return np.right_shift(_unsigned(i), _unsigned(count)).view(np.int64)

    int_eq = _plain(np.equal)
    int_lt = _plain(np.less)

    def unsigned_lt(self, a: Int64, b: Int64) -> Mask:
        return np.less(_unsigned(a), _unsigned(b))

    int_select = _plain(np.where)
    both = _plain(np.logical_and)
    either = _plain(np.logical_or)
    invert = _plain(np.logical_not)

    const = _plain(np.float64)
    add = _exact(np.add)
    sub = _exact(np.subtract)
    mul = _exact(np.multiply)
    div = _exact(np.divide)

    def fma(self, a: Double, b: Double, c: Double) -> Double:
        return self.library("fma", a, b, c)

    neg = _plain(np.negative)
    abs = _plain(np.abs)
    copysign = _plain(np.copysign)
    sqrt = _plain(np.sqrt)

    def minimum(self, a: Double, b: Double) -> Double:
        return np.where(np.equal(a, b), np.where(np.signbit(a), a, b), np.minimum(a, b))

    def maximum(self, a: Double, b: Double) -> Double:
        return np.where(np.equal(a, b), np.where(np.signbit(a), b, a), np.maximum(a, b))

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
    select = _plain(np.where)

    def library(self, name: str, *operands: Double) -> Double:
        function = library_function(name)
        return np.asarray(np.frompyfunc(function, len(operands), 1)(*operands), np.float64)

    def widened(self, a: Value) -> Double:
        return np.asarray(a, np.float64)

    def nearest(self, a: Double) -> Value:
        return np.asarray(a).astype(np.float32)

    def to_float(self, i: Int64) -> Double:
        return np.asarray(i).astype(np.float64)

    def truncated(self, a: Double) -> Int64:
        return np.asarray(a).astype(np.int64)

    def low(self, i: Int64) -> Int:
        return np.asarray(i).astype(np.int32)


def _unsigned(i: Int64) -> Array:
    return np.asarray(i, np.int64).view(np.uint64)
