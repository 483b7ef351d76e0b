"""Arithmetic of float64 for tile bodies (`EmitWideFloats`) over the primitives of a backend.

Functions of the C library have its accuracy, below one unit in the last place on glibc. What is derived from them
here is within two units, apart from `lerp`, `logaddexp` and functions near their zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ttnn_jit.kernels.math.wide_primitives import BINARY, UNARY, Double, WidePrimitives

_ROOT_HALF, _ROOT_HALF_LOW = 0.7071067811865476, -4.833646656726457e-17
_TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)
# Giles, "Approximating the erfinv function", 2010: of w - 2.5 below w = 5, of sqrt(w) - 3 from there on.
_ERFINV_NEAR = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087),
    *(-0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_ERFINV_FAR = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773),
    *(-0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)


_PRIMITIVES = frozenset(
    (
        *("const", "add", "sub", "mul", "div", "fma", "neg", "abs", "copysign", "sqrt", "minimum", "maximum"),
        *("round_even", "floor", "ceil", "trunc", "lt", "le", "gt", "ge", "eq", "ne", "both", "either"),
        *("invert", "select"),
    )
)
_LIBRARY = frozenset((*UNARY, *BINARY))


class WideFloatMath:
    """`EmitWideFloats` over the primitives of a backend."""

    def __init__(self, wide: WidePrimitives) -> None:
        self._wide = wide

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """A primitive, or a function of the C library."""
        if name in _LIBRARY:
            return partial(self._wide.library, name)
        if name not in _PRIMITIVES:
            raise AttributeError(f"float64 has no function {name!r}", name=name, obj=self)
        found: Callable[..., Any] = getattr(self._wide, name)
        return found

    def rsqrt(self, a: Double) -> Double:
        return self.div(self.const(1.0), self.sqrt(a))

    def sigmoid(self, a: Double) -> Double:
        """By the exponential that does not overflow."""
        power = self.exp(self.neg(self.abs(a)))
        one = self.const(1.0)
        return self.div(self.select(self.lt(a, self.const(0.0)), power, one), self.add(one, power))

    def silu(self, a: Double) -> Double:
        return self.mul(a, self.sigmoid(a))

    def gelu(self, a: Double) -> Double:
        """A * erfc(-a / sqrt 2) / 2, with the low part of the argument by the derivative of erfc."""
        negated = self.neg(a)
        high = self.mul(negated, self.const(_ROOT_HALF))
        low = self.fma(negated, self.const(_ROOT_HALF), self.neg(high))
        low = self.fma(negated, self.const(_ROOT_HALF_LOW), low)
        slope = self.mul(self.const(-_TWO_OVER_ROOT_PI), self.exp(self.neg(self.mul(high, high))))
        low = self.select(self.lt(self.abs(a), self.const(40.0)), low, self.const(0.0))
        tail = self.fma(slope, low, self.erfc(high))
        return self.mul(self.mul(self.const(0.5), a), tail)

    def softplus(self, a: Double, beta: float = 1.0) -> Double:
        scaled = self.mul(a, self.const(beta))
        rest = self.log1p(self.exp(self.neg(self.abs(scaled))))
        total = self.add(self.maximum(scaled, self.const(0.0)), rest)
        return self.div(total, self.const(beta))

    def tanhshrink(self, a: Double) -> Double:
        """The series near zero, where the difference cancels."""
        square = self.mul(a, a)
        series = self.const(-1382.0 / 155925.0)
        for coefficient in (62.0 / 2835.0, -17.0 / 315.0, 2.0 / 15.0, -1.0 / 3.0):
            series = self.fma(series, square, self.const(coefficient))
        near = self.neg(self.mul(self.mul(series, square), a))
        return self.select(self.lt(self.abs(a), self.const(2.0**-5)), near, self.sub(a, self.tanh(a)))

    def ldexp(self, a: Double, b: Double) -> Double:
        """In two steps, so that the power alone neither overflows nor underflows."""
        first = self.trunc(self.mul(b, self.const(0.5)))
        return self.mul(self.mul(a, self.exp2(first)), self.exp2(self.sub(b, first)))

    def logaddexp(self, a: Double, b: Double) -> Double:
        largest = self.maximum(a, b)
        total = self.add(largest, self.log1p(self.exp(self.neg(self.abs(self.sub(a, b))))))
        return self.select(self.eq(a, b), self.add(a, self.const(math.log(2.0))), total)

    def logaddexp2(self, a: Double, b: Double) -> Double:
        rest = self.log1p(self.exp2(self.neg(self.abs(self.sub(a, b)))))
        total = self.fma(rest, self.const(1.0 / math.log(2.0)), self.maximum(a, b))
        return self.select(self.eq(a, b), self.add(a, self.const(1.0)), total)

    def remainder(self, a: Double, b: Double) -> Double:
        """Fmod with the sign of b, as Python's ``%``."""
        left, zero = self.fmod(a, b), self.const(0.0)
        below = self.both(self.lt(left, zero), self.gt(b, zero))
        above = self.both(self.gt(left, zero), self.lt(b, zero))
        return self.select(self.either(below, above), self.add(left, b), left)

    def floor_divide(self, a: Double, b: Double) -> Double:
        """The floor of the exact quotient, by its remainder; an inexact one that is integral is not rounded up."""
        return self._whole(self.div(a, b), self.div(self.sub(a, self.remainder(a, b)), b))

    def divide_trunc(self, a: Double, b: Double) -> Double:
        return self._whole(self.div(a, b), self.div(self.sub(a, self.fmod(a, b)), b))

    def _whole(self, quotient: Double, exact: Double) -> Double:
        """The integral quotient nearest to `exact`; the plain one where the remainder is not defined."""
        rounded = self.copysign(self.round_even(exact), quotient)
        return self.select(self.eq(exact, exact), rounded, quotient)

    def lerp(self, a: Double, b: Double, weight: Double) -> Double:
        difference, one = self.sub(b, a), self.const(1.0)
        near = self.fma(weight, difference, a)
        far = self.fma(self.sub(weight, one), difference, b)
        return self.select(self.lt(self.abs(weight), self.const(0.5)), near, far)

    def erfinv(self, a: Double) -> Double:
        """Two steps of Halley's method on 1 - |a| from Giles's approximation, which has eight digits."""
        magnitude, one = self.abs(a), self.const(1.0)
        rest = self.sub(one, magnitude)
        w = self.neg(self.log(self.mul(rest, self.add(one, magnitude))))
        near = self._polynomial(self.sub(w, self.const(2.5)), _ERFINV_NEAR)
        far = self._polynomial(self.sub(self.sqrt(w), self.const(3.0)), _ERFINV_FAR)
        y = self.mul(self.select(self.lt(w, self.const(5.0)), near, far), magnitude)
        is_small = self.lt(magnitude, self.const(0.5))
        for _ in range(2):
            error = self.select(is_small, self.sub(self.erf(y), magnitude), self.sub(rest, self.erfc(y)))
            step = self.div(error, self.mul(self.const(_TWO_OVER_ROOT_PI), self.exp(self.neg(self.mul(y, y)))))
            y = self.sub(y, self.div(step, self.fma(y, step, one)))
        y = self.select(self.eq(magnitude, one), self.const(math.inf), y)
        linear = self.div(magnitude, self.const(_TWO_OVER_ROOT_PI))
        y = self.select(self.lt(magnitude, self.const(2.0**-500)), linear, y)
        return self.copysign(y, a)

    def _polynomial(self, x: Double, coefficients: tuple[float, ...]) -> Double:
        value = self.const(coefficients[0])
        for coefficient in coefficients[1:]:
            value = self.fma(value, x, self.const(coefficient))
        return value
