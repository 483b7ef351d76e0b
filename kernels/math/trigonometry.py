"""sin, cos and tan, to the largest float."""

from __future__ import annotations

from ttnn_jit.kernels.math.primitives import ROUNDING_MAGIC, SIGN_BIT, Primitives, Table
from ttnn_jit.kernels.math.wide_primitives import Int
from ttnn_jit.ops.language.emit import Value

INVERSE_PI = 0.31830987334251404
PI_HIGH = 3.1415927410125732  # float32 nearest to pi; PI_MIDDLE and PI_LOW are the successive remainders
PI_MIDDLE = -8.742277657347586e-08
PI_LOW = -3.4302490200117637e-15
NEAR_LIMIT = 2.0**17  # up to here the multiple of pi has 17 bits, and its product with PI_HIGH cancels exactly
# (sin(r) - r) / r**3 in r**2 on |r| <= 1.012 * pi / 2: relative error of sin 7.6e-9.
SIN_TAIL = (-0.16666658222675323, 0.00833303015679121, -0.00019806847558356822, 2.5994932002504356e-06)

INVERSE_HALF_PI = 0.6366197466850281
HALF_PI_HIGH = 1.5707963705062866
HALF_PI_MIDDLE = -4.371138828673793e-08
HALF_PI_LOW = -1.7151245100058819e-15
# (tan(r) - r) / r**3 in r**2 on |r| <= 0.79: relative error of tan 2e-08.
TAN_TAIL = (
    0.3333314061164856, 0.13339221477508545, 0.053376246243715286, 0.024555783718824387, 0.0029170543421059847,
    0.009506373666226864,
)  # fmt: skip


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


# The bits of 1 / (2 pi) in words, after 32 zeros; one table a word, since each is read at four offsets.
_INVERSE_TWO_PI = (
    0x0000_0000, 0x28BE_60DB, 0x9391_054A, 0x7F09_D5F4, 0x7D4D_3770, 0x36D8_A566, 0x4F10_E410, 0x7F94_58EA,
)  # fmt: skip
INVERSE_TWO_PI = tuple(
    Table(f"inverse_two_pi_{j}", tuple(map(_signed, (_INVERSE_TWO_PI[j:] + (0,) * 16)[:16]))) for j in range(4)
)


class Trigonometry(Primitives):
    """sin and cos by reduction to [-pi/2, pi/2], tan to [-pi/4, pi/4], and an odd polynomial each.

    For small arguments multiples of a three-part constant pi are subtracted (Cody and Waite); large arguments are
    multiplied by the bits of 1 / (2 pi) that matter (Payne and Hanek).
    """

    def sin(self, a: Value) -> Value:
        """Sine of a radians."""
        magnitude = self.abs(a)
        magic = self.const(ROUNDING_MAGIC)
        shifted = self.fma(magnitude, self.const(INVERSE_PI), magic)
        near = self._near(magnitude, self.sub(shifted, magic), shifted)
        far = self.gt(magnitude, self.const(NEAR_LIMIT))
        return self.times_sign_of(self.rarely(far, near, Trigonometry.sin_far, magnitude), a)

    def cos(self, a: Value) -> Value:
        """Cosine of a radians: a sine shifted by a quarter turn."""
        magnitude = self.abs(a)
        magic = self.const(ROUNDING_MAGIC + 1)  # cos(r + (k + 1/2) pi) = -sin(r) where k is even
        shifted = self.add(self.fma(magnitude, self.const(INVERSE_PI), self.const(-0.5)), magic)
        near = self._near(magnitude, self.add(self.sub(shifted, magic), self.const(0.5)), shifted)
        far = self.gt(magnitude, self.const(NEAR_LIMIT))
        return self.rarely(far, near, Trigonometry.cos_far, magnitude)

    def tan(self, a: Value) -> Value:
        """Tangent of a radians."""
        magnitude = self.abs(a)
        magic = self.const(ROUNDING_MAGIC)
        shifted = self.fma(magnitude, self.const(INVERSE_HALF_PI), magic)
        n = self.sub(shifted, magic)
        r = self.fma(n, self.const(-HALF_PI_MIDDLE), self.fma(n, self.const(-HALF_PI_HIGH), magnitude))
        reduced = self.fma(n, self.const(-HALF_PI_LOW), r)
        low = self.fma(n, self.const(-HALF_PI_LOW), self.sub(r, reduced))
        near = self.tangent(reduced, low, self.bits(shifted))
        far = self.gt(magnitude, self.const(NEAR_LIMIT))
        return self.times_sign_of(self.rarely(far, near, Trigonometry.tan_far, magnitude), a)

    def tangent(self, r: Value, low: Value, odd: Int) -> Value:
        """tan(r + low) for |r| <= 0.79; -1 / tan(r + low) where the lowest bit of `odd` is set."""
        square = self.mul(r, r)
        tail = self.fma(self.mul(r, square), self.polynomial(square, TAN_TAIL), self.fma(square, low, low))
        t = self.add(r, tail)
        rest = self.sub(tail, self.sub(t, r))
        quotient = self.div(self.const(-1.0), t)
        error = self.fma(quotient, rest, self.fma(quotient, t, self.const(1.0)))
        one = self.int_const(1)
        is_odd = self.int_eq(self.int_and(odd, one), one)
        return self.select(is_odd, self.fma(quotient, error, quotient), t)

    def _near(self, x: Value, multiple: Value, odd: Value) -> Value:
        """sin(x - multiple * pi), negated where the lowest bit of `odd` is set."""
        r = self.fma(multiple, self.const(-PI_HIGH), x)
        r = self.fma(multiple, self.const(-PI_MIDDLE), r)
        r = self.fma(multiple, self.const(-PI_LOW), r)
        return self._sine(r, self.bits(odd))

    def _sine(self, r: Value, odd: Int) -> Value:
        """sin(r) for |r| <= 1.6, negated where the lowest bit of `odd` is set."""
        square = self.mul(r, r)
        sine = self.fma(self.mul(r, square), self.polynomial(square, SIN_TAIL), r)
        sine = self.at_least(-1.0, self.at_most(1.0, sine))  # at 1, rounding errors leave the interval
        return self.from_bits(self.int_xor(self.bits(sine), self.shift_left(odd, self.int_const(31))))

    def tan_far(self, x: Value) -> Value:
        """Tangent of x >= 1 up to the largest float; NaN for infinity."""
        high, low = self._turns(x)
        # Quarter turns are counted by the top two bits, after rounding to the nearest.
        quarters = self.shift_right_zero(self.int_add(high, self.int_const(0x2000_0000)), self.int_const(30))
        two = self.int_const(2)
        high = self.int_or(self.shift_left(high, two), self.shift_right_zero(low, self.int_const(30)))
        r, r_low = self._times_pi(*self._as_float_pair(high, self.shift_left(low, two)))
        half = self.const(0.5)
        not_a_number = self.sub(x, x)  # NaN for infinity, else 0
        return self.tangent(self.add(self.mul(r, half), not_a_number), self.mul(r_low, half), quarters)

    def _times_pi(self, fraction: Value, rest: Value) -> tuple[Value, Value]:
        """(fraction + rest) * pi as a sum."""
        r = self.mul(fraction, self.const(PI_HIGH))
        r_low = self.fma(fraction, self.const(PI_HIGH), self.neg(r))
        return r, self.fma(fraction, self.const(PI_MIDDLE), self.fma(rest, self.const(PI_HIGH), r_low))

    def sin_far(self, x: Value) -> Value:
        """Sine of x >= 1, up to the largest float; NaN for infinity."""
        return self._sine_far(x, 0)

    def cos_far(self, x: Value) -> Value:
        """Cosine of x >= 1, up to the largest float; NaN for infinity."""
        return self._sine_far(x, 0x4000_0000)

    def _sine_far(self, x: Value, quarter: int) -> Value:
        """Sine of x + quarter * 2 pi / 2**32."""
        high, low = self._turns(x)
        high = self.int_add(high, self.int_const(quarter))
        # Half turns are counted by the top bit, after rounding to the nearest; the rest is a signed fraction of one.
        half_turns = self.shift_right_zero(self.int_add(high, self.int_const(0x4000_0000)), self.int_const(31))
        one = self.int_const(1)
        high = self.int_or(self.shift_left(high, one), self.shift_right_zero(low, self.int_const(31)))
        r, r_low = self._times_pi(*self._as_float_pair(high, self.shift_left(low, one)))
        not_a_number = self.sub(x, x)  # NaN for infinity, else 0
        return self._sine(self.add(self.add(r, r_low), not_a_number), half_turns)

    def _turns(self, x: Value) -> tuple[Int, Int]:
        """The fraction of x / (2 pi), in units of 2**-64, as a high and a low word."""
        bits = self.bits(x)
        mantissa = self.int_or(self.int_and(bits, self.int_const(0x007F_FFFF)), self.int_const(0x0080_0000))
        # x = mantissa * 2**(exponent - 150); the table has 32 zeros in front.
        position = self.int_sub(self.shift_right(bits, self.int_const(23)), self.int_const(118))
        word = self.shift_right(position, self.int_const(5))
        shift = self.int_and(position, self.int_const(31))
        words = [self.bits(self.lookup(table, word)) for table in INVERSE_TWO_PI]
        window = [self._funnel(words[i], words[i + 1], shift) for i in range(3)]
        _, top = self.multiply_wide(window[0], mantissa)
        middle_high, middle_low = self.multiply_wide(window[1], mantissa)
        bottom, _ = self.multiply_wide(window[2], mantissa)
        low = self.int_add(middle_low, bottom)
        flipped = self.int_const(SIGN_BIT)
        carry = self.int_lt(self.int_xor(low, flipped), self.int_xor(bottom, flipped))
        high = self.int_add(
            self.int_add(top, middle_high), self.int_select(carry, self.int_const(1), self.int_const(0))
        )
        return high, low

    def _funnel(self, high: Int, low: Int, shift: Int) -> Int:
        """The upper word of high:low shifted left by `shift` in [0, 31]."""
        one = self.int_const(1)
        spill = self.shift_right_zero(self.shift_right_zero(low, one), self.int_sub(self.int_const(31), shift))
        return self.int_or(self.shift_left(high, shift), spill)

    def _as_float_pair(self, high: Int, low: Int) -> tuple[Value, Value]:
        """The signed fraction high:low * 2**-64 as a sum of two floats."""
        byte = self.int_const(0xFF)
        upper = self.mul(self.to_float(self.shift_right(high, self.int_const(8))), self.const(2.0**-24))
        middle_bits = self.int_or(
            self.shift_left(self.int_and(high, byte), self.int_const(16)),
            self.shift_right_zero(low, self.int_const(16)),
        )
        middle = self.mul(self.to_float(middle_bits), self.const(2.0**-48))
        lower = self.to_float(self.int_and(low, self.int_const(0xFFFF)))
        total = self.add(upper, middle)
        rest = self.sub(middle, self.sub(total, upper))
        return total, self.fma(lower, self.const(2.0**-64), rest)
