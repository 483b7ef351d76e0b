"""Exact remainders, integral quotients, and sums of products without intermediate overflow."""

from __future__ import annotations

from ttnn_jit.kernels.math.power import Power
from ttnn_jit.kernels.math.primitives import SIXTEENTHS_MAGIC
from ttnn_jit.ops.language.emit import Value

_STEP = 22  # quotient bits of a step of the long division
_STEPS = 13  # 13 * 22 >= 277, the largest difference of two exponents


class Quotient(Power):
    """fmod, remainder, integral quotients, hypot, ldexp, lerp, addcmul and addcdiv."""

    def fmod(self, a: Value, b: Value) -> Value:
        """The exact remainder of a / b truncated towards zero, with the sign of a (C99 fmod)."""
        x, y = self.abs(a), self.abs(b)
        quotient = self.trunc(self.div(x, y))
        left = self.fma(self.neg(quotient), y, x)
        near = self.select(self.lt(left, self.const(0.0)), self.add(left, y), left)
        # A quotient of up to 22 bits is off by one at most, and then too large.
        far = self.invert(self.lt(quotient, self.const(2.0**_STEP)))
        result = self.rarely(far, near, Quotient.fmod_far, x, y)
        result = self.select(self.lt(x, y), x, result)
        return self.copysign(result, a)

    def fmod_far(self, x: Value, y: Value) -> Value:
        """Fmod of x >= y >= 0 by long division; NaN for y = 0 and for infinite x."""
        m, e = self.split(x)
        divisor, d = self.split(y)
        left = self.sub(e, d)
        for _ in range(_STEPS):
            bits = self.at_most(float(_STEP), self.at_least(0.0, left))
            left = self.sub(left, bits)
            m = self.scale(m, bits)
            m = self.fma(self.neg(self.round_even(self.div(m, divisor))), divisor, m)
        m = self.select(self.lt(m, self.const(0.0)), self.add(m, divisor), m)
        result = self.scale(m, self.at_most(200.0, self.at_least(-200.0, d)))
        undefined = self.either(self.eq(y, self.const(0.0)), self.invert(self.lt(x, self.const(float("inf")))))
        undefined = self.either(undefined, self.ne(y, y))
        return self.select(undefined, self.const(float("nan")), result)

    def remainder(self, a: Value, b: Value) -> Value:
        """Fmod with the sign of b, as Python's ``%``."""
        left = self.fmod(a, b)
        signs = self.int_xor(self.bits(left), self.bits(b))
        differ = self.both(self.int_lt(signs, self.int_const(0)), self.ne(left, self.const(0.0)))
        return self.select(differ, self.add(left, b), left)

    def floor_divide(self, a: Value, b: Value) -> Value:
        """The floor of the exact quotient."""
        dividend = self.times_sign_of(a, b)
        return self._not_above(self.floor(self.div(a, b)), dividend, self.abs(b))

    def divide_trunc(self, a: Value, b: Value) -> Value:
        """The exact quotient, truncated."""
        x, y = self.abs(a), self.abs(b)
        sign = self.from_bits(self.int_xor(self.bits(a), self.bits(b)))
        return self.copysign(self._not_above(self.floor(self.div(x, y)), x, y), sign)

    def _not_above(self, quotient: Value, a: Value, b: Value) -> Value:
        """An integral quotient of a and b >= 0, minus 1 if the quotient was rounded up to it."""
        left = self.fma(self.neg(quotient), b, a)
        return self.select(self.lt(left, self.const(0.0)), self.sub(quotient, self.const(1.0)), quotient)

    def hypot(self, a: Value, b: Value) -> Value:
        """sqrt(a * a + b * b); infinite if either operand is, even if the other is NaN."""
        x, y = self.abs(a), self.abs(b)
        larger, infinity = self.maximum(x, y), self.const(float("inf"))
        huge, tiny = self.gt(larger, self.const(2.0**62)), self.lt(larger, self.const(2.0**-50))
        down = self.select(huge, self.const(2.0**-70), self.select(tiny, self.const(2.0**90), self.const(1.0)))
        up = self.select(huge, self.const(2.0**70), self.select(tiny, self.const(2.0**-90), self.const(1.0)))
        x_scaled, y_scaled = self.mul(x, down), self.mul(y, down)
        root = self.sqrt(self.fma(x_scaled, x_scaled, self.mul(y_scaled, y_scaled)))
        unbounded = self.either(self.eq(x, infinity), self.eq(y, infinity))
        return self.select(unbounded, infinity, self.mul(root, up))

    def ldexp(self, a: Value, b: Value) -> Value:
        """A * 2**b, rounded once for integral b; zeros and infinities stay where b is finite."""
        _, n, power, rest = self._exp2_of_sixteenths(self.at_most(400.0, self.at_least(-400.0, b)))
        mantissa, exponent = self.split(self.abs(a))
        product = self.mul(mantissa, power)
        low = self.fma(product, rest, self.fma(mantissa, power, self.neg(product)))
        total = self.at_most(250.0, self.at_least(-250.0, self.add(exponent, n)))
        sum_ = self.add(total, self.const(SIXTEENTHS_MAGIC))
        result = self.copysign(self.scale_by_sixteenths(self.add(product, low), sum_, total), a)
        infinity = self.const(float("inf"))
        stays = self.either(self.eq(a, self.const(0.0)), self.eq(self.abs(a), infinity))
        stays = self.both(stays, self.lt(self.abs(b), infinity))
        usual = self.both(self.le(self.abs(b), self.const(400.0)), self.eq(a, a))
        return self.select(stays, a, self.select(usual, result, self.mul(a, self.exp2(b))))

    def lerp(self, a: Value, b: Value, weight: Value) -> Value:
        """A + weight * (b - a), without the rounding error of the difference."""
        limit = self.const(2.0**100)
        moderate = self.both(self.lt(self.abs(a), limit), self.lt(self.abs(b), limit))
        moderate = self.both(moderate, self.le(self.abs(weight), self.const(2.0**16)))
        near = self._lerp_near(a, b, weight)
        return self.rarely(self.invert(moderate), near, Quotient.lerp_far, a, b, weight)

    def _lerp_near(self, a: Value, b: Value, weight: Value) -> Value:
        part = self.mul(weight, a)
        part_low = self.fma(weight, a, self.neg(part))
        rest, rest_low = self.two_sum(a, self.neg(part))
        return self.add(self.fma(weight, b, rest), self.sub(rest_low, part_low))

    def lerp_far(self, a: Value, b: Value, weight: Value) -> Value:
        """`lerp` if products may overflow or weights are large."""
        plain = self.fma(weight, self.sub(b, a), a)
        largest = self.maximum(self.abs(a), self.abs(b))
        down, up = self._away_from_overflow(largest)
        careful = self._lerp_near(self.mul(a, down), self.mul(b, down), weight)
        product = self.mul(self.abs(weight), self.mul(largest, down))
        usual = self.both(self.lt(product, self.const(2.0**126)), self.lt(largest, self.const(float("inf"))))
        # With a larger weight, the difference that cancels the input is exact.
        usual = self.both(usual, self.le(self.abs(weight), self.const(2.0**16)))
        # Denormals do not survive the factors.
        careful = self.select(self.eq(weight, self.const(0.0)), a, self.mul(careful, up))
        careful = self.select(self.eq(weight, self.const(1.0)), b, careful)
        return self.select(usual, careful, plain)

    def _away_from_overflow(self, magnitude: Value) -> tuple[Value, Value]:
        """Factors that scale down and up again: powers of two for huge numbers, 1 for others."""
        huge, one = self.gt(magnitude, self.const(2.0**100)), self.const(1.0)
        return self.select(huge, self.const(2.0**-8), one), self.select(huge, self.const(2.0**8), one)

    def _away_from_denormals(self, a: Value, other: float) -> tuple[Value, Value]:
        """`a` times 2**60 if it is tiny, and the factor `other` in those lanes, else 1."""
        tiny = self.lt(self.abs(a), self.const(2.0**-100))
        one = self.const(1.0)
        return self.mul(a, self.select(tiny, self.const(2.0**60), one)), self.select(tiny, self.const(other), one)

    def _divided_by_power(self, b: Value, c: Value, power: float, inverse: float) -> tuple[Value, Value]:
        """`b` and `c`, one of them scaled by a power of two, or by its inverse, to avoid overflow; no power is 0."""
        if power == 0.0:
            return b, c
        is_large = self.ge(self.abs(b), self.const(1.0))
        dividend = self.select(is_large, b, self.mul(b, self.const(power)))
        divisor = self.select(is_large, self.mul(c, self.const(inverse)), c)
        return dividend, divisor

    def addcmul(self, a: Value, b: Value, c: Value, value: float, is_small: float) -> Value:
        """A + value * b * c; `is_small` is 1 if the value's magnitude is below 1, else 0: the value may be unknown."""
        if value == 1.0:
            return self.fma(b, c, a)
        # A large value multiplies the smaller factor, and a small value the larger one, so that neither product
        # overflows or underflows early.
        swaps = self.lt(self.abs(b), self.abs(c)) if is_small else self.gt(self.abs(b), self.abs(c))
        b, c = self.select(swaps, c, b), self.select(swaps, b, c)
        b, factor = self._away_from_denormals(b, 2.0**-60)
        c = self.mul(c, factor)
        scaled = self.mul(b, self.const(value))
        scaled_low = self.fma(b, self.const(value), self.neg(scaled))
        return self.with_low_part(self.fma(scaled, c, a), self.mul(scaled_low, c))

    def addcdiv(self, a: Value, b: Value, c: Value, value: float, power: float, inverse: float) -> Value:
        """A + value * b / c, of a value that is divided by a power of two already (`scaled_factor`)."""
        b, c = self._divided_by_power(b, c, power, inverse)
        down, up = self._away_from_overflow(self.abs(a))
        b, factor = self._away_from_denormals(b, 2.0**60)
        c = self.mul(c, factor)
        part = self.mul(b, down)
        scaled = self.mul(part, self.const(value))
        scaled_low = self.fma(part, self.const(value), self.neg(scaled))
        quotient = self.div(scaled, c)
        left = self.add(self.fma(self.neg(quotient), c, scaled), scaled_low)
        total, low = self.two_sum(self.mul(a, down), quotient)
        result = self.mul(self.with_low_part(total, self.add(low, self.div(left, c))), up)
        # A finite quotient beyond float32 leaves an infinite sum as it is.
        infinity = self.const(float("inf"))
        finite = self.both(self.lt(self.abs(scaled), infinity), self.gt(self.abs(c), self.const(0.0)))
        return self.select(self.both(self.eq(self.abs(a), infinity), finite), a, result)
