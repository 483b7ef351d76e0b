"""exp2, and pow as exp2 of y times the logarithm to base 2, which is a sum of two floats."""

from __future__ import annotations

from ttnn_jit.kernels.math.exponential import LN2_HIGH, LN2_LOW, POWERS_OF_SIXTEENTHS
from ttnn_jit.kernels.math.logarithm import LOG2_E
from ttnn_jit.kernels.math.primitives import SIXTEENTHS_MAGIC, Primitives, Table
from ttnn_jit.ops.language.emit import Value

# Entry i is for the mantissas of [0.75, 1.5) whose upper five bits are i. A factor is close to 1 / mantissa and has few
# bits, so that mantissa * factor - 1 is exact. Its negated logarithm is a multiple of 2**-15 plus a remainder.
LOG2_FACTOR = Table.of_floats(
    "log2_factor",
    1.0, 0.953125, 0.921875, 0.90625, 0.890625, 0.8515625, 0.828125, 0.8125,
    0.7890625, 0.7734375, 0.765625, 0.734375, 0.71875, 0.703125, 0.6875, 0.671875,
    1.3125, 1.296875, 1.265625, 1.21875, 1.21875, 1.203125, 1.171875, 1.15625,
    1.15625, 1.109375, 1.09375, 1.078125, 1.0625, 1.046875, 1.03125, 1.0,
)  # fmt: skip
LOG2_OF_FACTOR = Table.of_floats(
    "log2_of_factor",
    0.0, 0.06927490234375, 0.11737060546875, 0.14202880859375,
    0.1671142578125, 0.2318115234375, 0.2720947265625, 0.299560546875,
    0.341796875, 0.370635986328125, 0.385284423828125, 0.445404052734375,
    0.4764404296875, 0.508148193359375, 0.540557861328125, 0.57373046875,
    -0.392303466796875, -0.375030517578125, -0.33984375, -0.285400390625,
    -0.285400390625, -0.26678466796875, -0.22882080078125, -0.209442138671875,
    -0.209442138671875, -0.149749755859375, -0.1292724609375, -0.1085205078125,
    -0.08746337890625, -0.06610107421875, -0.044403076171875, 0.0,
)  # fmt: skip
LOG2_OF_FACTOR_LOW = Table.of_floats(
    "log2_of_factor_low",
    0.0, -1.2239906936883926e-05, -1.3654830581799615e-05, -9.803721695789136e-06,
    -4.271977104508551e-06, 4.151785560679855e-06, -1.5181125490926206e-05, -2.650160979555949e-07,
    -8.357751539733727e-06, 7.393592113658087e-06, 5.732056706619915e-06, 7.0955879891698714e-06,
    -2.3857444375607884e-06, -1.2896890666524996e-06, 1.0520034265937284e-05, 4.776547939400189e-06,
    -1.3955981557955965e-05, -8.913768397178501e-06, -6.2528847593057435e-06, -1.8282372593603213e-06,
    -1.8282372593603213e-06, -1.8727261021922459e-06, 2.1102853224874707e-06, -1.1226957212784328e-05,
    -1.1226957212784328e-05, 2.636354793139617e-06, -1.0556007509876508e-05, -3.9489655137003865e-06,
    5.376559215619636e-07, 1.188376063510077e-05, 8.956813871918712e-06, 0.0,
)  # fmt: skip
# (log2(1 + r) - r / ln 2 + r**2 / (2 ln 2)) / r**3 on [-0.0289, 1/32]: relative error of log2 6e-10.
LOG2_TAIL = (0.4808989465236664, -0.36085978150367737, 0.287356436252594)
# (2**f - 1 - f * ln 2) / f**2 on |f| <= 0.502: relative error of 2**f 3.2e-9.
EXP2_TAIL = (
    0.24022647738456726,
    0.055503617972135544,
    0.00961850956082344,
    0.0013390473322942853,
    0.00015325448475778103,
)
# (2**f - 1) / f on |f| <= 1 / 32: relative error of 2**f 1.6e-9.
EXP2_SHORT = (0.6931471824645996, 0.24023428559303284, 0.05550235137343407)


class Power(Primitives):
    """exp2, and pow with the special cases of C99, Annex F.9.4.4."""

    def exp2(self, a: Value) -> Value:
        """2 to the power a, exact for integers: 0 below -150, infinity from 128 on."""
        sum_, n, power, rest = self._exp2_of_sixteenths(self.at_most(130.0, self.at_least(-155.0, a)))
        return self.scale_by_sixteenths(self.fma(rest, power, power), sum_, n)

    def _exp2_of_sixteenths(self, a: Value) -> tuple[Value, Value, Value, Value]:
        """(SIXTEENTHS_MAGIC + n, n, p, r), n the multiple of 1 / 16 nearest to a: 2**a = p * (1 + r) * 2**floor(n)."""
        magic = self.const(SIXTEENTHS_MAGIC)
        sum_ = self.add(a, magic)
        n = self.sub(sum_, magic)
        f = self.sub(a, n)
        power = self.lookup(POWERS_OF_SIXTEENTHS, self.bits(sum_))
        return sum_, n, power, self.mul(f, self.polynomial(f, EXP2_SHORT))

    def pow(self, a: Value, b: Value) -> Value:
        """A to the power b."""
        magnitude = self.abs(a)
        high, low = self._log2(magnitude)
        exponent = self.at_most(400.0, self.at_least(-400.0, self.mul(b, high)))
        exact = self.lt(self.abs(exponent), self.const(400.0))
        rest = self.fma(b, low, self.fma(b, high, self.neg(exponent)))
        result = self._exp2(exponent, self.select(exact, rest, self.const(0.0)))
        return self._pow_specials(a, b, result)

    def _pow_specials(self, a: Value, b: Value, result: Value) -> Value:
        """Handle signs, NaN and ones; the logarithm has handled zeros and infinities of `a`."""
        zero, one, infinity = self.const(0.0), self.const(1.0), self.const(float("inf"))
        half = self.mul(b, self.const(0.5))
        integral = self.eq(self.trunc(b), b)
        odd = self.both(integral, self.ne(self.trunc(half), half))
        signed = self.select(odd, self.copysign(result, a), result)
        negative = self.both(self.lt(a, zero), self.gt(a, self.neg(infinity)))
        fractional = self.both(negative, self.invert(integral))
        signed = self.select(fractional, self.const(float("nan")), signed)
        unit = self.both(self.eq(self.abs(a), one), self.eq(self.abs(b), infinity))
        is_one = self.either(self.either(self.eq(a, one), self.eq(b, zero)), unit)
        return self.select(is_one, one, signed)

    def _log2(self, a: Value) -> tuple[Value, Value]:
        """log2(a) as a sum, to about 2**-40 relative; (+-infinity, any) for infinity and zero."""
        mantissa, exponent = self.split(a)
        index = self.shift_right(self.bits(mantissa), self.int_const(18))
        r = self.fma(mantissa, self.lookup(LOG2_FACTOR, index), self.const(-1.0))  # exact
        linear, linear_low = self._times_pair(r, self.const(0.0), *LOG2_E)
        square = self.mul(r, r)
        square_low = self.fma(r, r, self.neg(square))
        quadratic, quadratic_low = self._times_pair(square, square_low, *(-0.5 * part for part in LOG2_E))
        cubic = self.mul(self.mul(r, square), self.polynomial(r, LOG2_TAIL))
        whole = self.add(exponent, self.lookup(LOG2_OF_FACTOR, index))  # exact
        first, first_low = self.two_sum(whole, linear)
        second = self.add(first, quadratic)
        second_low = self.sub(quadratic, self.sub(second, first))
        low = self.add(self.add(linear_low, quadratic_low), self.lookup(LOG2_OF_FACTOR_LOW, index))
        low = self.add(self.add(self.add(first_low, second_low), cubic), low)
        high = self.add(second, low)
        unbounded = self.eq(self.abs(exponent), self.const(float("inf")))
        return self.select(unbounded, exponent, high), self.sub(low, self.sub(high, second))

    def _times_pair(self, a: Value, a_low: Value, high: float, low: float) -> tuple[Value, Value]:
        """(a + a_low) * (high + low) as a sum."""
        product = self.mul(a, self.const(high))
        rest = self.fma(a, self.const(high), self.neg(product))
        return product, self.fma(a, self.const(low), self.fma(a_low, self.const(high), rest))

    def _exp2(self, high: Value, low: Value) -> Value:
        """2**(high + low) for |high| <= 400."""
        bounded = self.at_most(130.0, self.at_least(-155.0, high))
        n = self.round_even(bounded)
        f = self.sub(bounded, n)
        fraction = self.add(f, low)
        lost = self.sub(low, self.sub(fraction, f))
        tail = self.fma(fraction, self.polynomial(fraction, EXP2_TAIL), self.const(LN2_LOW))
        tail = self.fma(fraction, tail, self.mul(lost, self.const(LN2_HIGH)))
        return self.scale(self.add(self.fma(fraction, self.const(LN2_HIGH), tail), self.const(1.0)), n)
