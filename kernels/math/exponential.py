"""exp and functions based on it: expm1, sigmoid, silu, gelu by tanh, mish, tanh."""

from __future__ import annotations

import math

from ttnn_jit.kernels.math.piecewise import Piecewise
from ttnn_jit.kernels.math.primitives import ROUNDING_MAGIC, SIXTEENTHS_MAGIC, Table, float_bits
from ttnn_jit.ops.language.emit import Value

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.6931471824645996  # float32 nearest to ln 2
LN2_LOW = -1.9046542121259336e-09
# gelu's inner function, 2 sqrt(2 / pi) (x + 0.044715 x**3), each coefficient as a sum.
GELU_LINEAR = (1.5957691669464111, -4.534068054340423e-08)
GELU_CUBIC = (0.07135481387376785, 2.3988324659995897e-09)
# (exp(r) - 1 - r) / r**2 on |r| <= ln(2) / 2: relative error of exp 3.2e-9.
EXP_TAIL = (0.4999999403953552, 0.1666652113199234, 0.04166828840970993, 0.008368704468011856, 0.0013818942243233323)
# (exp(r) - 1 - r) / r**2 on |r| <= ln(2) / 32: relative error of exp 1.6e-9.
EXP_SHORT_TAIL = (0.5000161528587341, 0.16666731238365173)
# exp(r) is scaled by EXP_FACTOR: just below 2 the relative rounding error is least, and among the floats there this one
# minimizes the rounding errors of the table. The entries are the bits of 2**(j / 16) / EXP_FACTOR, minus j << 19: a
# multiple of 1 / 16, shifted by 19 bits, adds its fraction j to them.
EXP_FACTOR = 1.9165291786193848
EXP2_SIXTEENTHS = Table("exp2_sixteenths", tuple(float_bits(2 ** (j / 16) / EXP_FACTOR) - (j << 19) for j in range(16)))
POWERS_OF_SIXTEENTHS = Table.of_floats("powers_of_sixteenths", *(2 ** (j / 16) for j in range(16)))
LOGISTIC_SCALE = 2.0**-33
# sigmoid is SIGMOID_SCALE / (SIGMOID_SCALE * (1 + exp(-a))). The relative rounding error is largest in a divisor just
# above a power of two and in a quotient just below one. With this factor the two do not coincide, as they would with a
# power of two. Among the floats there it minimizes the rounding errors of its table where they matter.
SIGMOID_SCALE = 1.5415353775024414 * LOGISTIC_SCALE
SIGMOID_SIXTEENTHS = Table(
    "sigmoid_sixteenths",
    tuple(float_bits(SIGMOID_SCALE / LOGISTIC_SCALE * 2 ** (j / 16) / EXP_FACTOR) - (j << 19) for j in range(16)),
)
LOGISTIC_LIMIT = 111.8  # LOGISTIC_SCALE * exp of it is infinity, and finite wherever a quotient by it is not zero
# Relative error of tanh 3.6e-8, most of it from rounding the constant terms.
TANH = Table.by_degree(
    "tanh",
    (
        0.8482836484909058, 0.9413755536079407, 0.9780260920524597, 0.9918597340583801,
        0.9981778860092163, 0.9997532367706299, 0.9999666213989258, 0.9999954700469971,
        0.9999997615814209, 1.0, 0.9870202541351318, 0.9871888160705566,
        0.0, 0.35835739970207214, 0.5545997023582458, 0.7039055824279785,
    ),
    (
        0.280414879322052, 0.11381209641695023, 0.043464917689561844, 0.016214286908507347,
        0.0036408845335245132, 0.0004935173783451319, 6.680495425825939e-05, 9.041334124049172e-06,
        4.5028352246845316e-07, 3.570213991110904e-08, -0.05417506769299507, -0.053456757217645645,
        1.0, 0.8715800046920776, 0.6924191117286682, 0.5045168995857239,
    ),
    (
        -0.23787225782871246, -0.10714364051818848, -0.042503319680690765, -0.016085000708699226,
        -0.0036338414065539837, -0.0004952190211042762, -6.85359409544617e-05, -8.37459992908407e-06,
        -2.1246772519134538e-07, 6.766080673514807e-08, -0.07990448921918869, -0.07881955057382584,
        -1.0973757298415876e-06, -0.31233835220336914, -0.3839942216873169, -0.355108380317688,
    ),
    (
        0.10831866413354874, 0.06292375922203064, 0.02708766981959343, 0.01054647471755743,
        0.0024128647055476904, 0.00032868923153728247, 4.4502066884888336e-05, 6.023298738000449e-06,
        2.967900911698962e-07, 1.1678769595846461e-07, -0.03747744485735893, -0.036949336528778076,
        -0.33327019214630127, -0.1786087602376938, -0.017811831086874008, 0.0818132534623146,
    ),
    (
        -0.012561706826090813, -0.023378390818834305, -0.012599344365298748, -0.00498555414378643,
        -0.0012008200865238905, -0.00014513278438244015, -3.8330595089064445e-06, -1.0101675798068754e-05,
        -7.799291665833152e-07, 8.820514807439395e-08, 0.0199400894343853, 0.019669461995363235,
        -0.001183715765364468, 0.1682811975479126, 0.13452234864234924, 0.05684424936771393,
    ),
    (
        -0.019601859152317047, 0.0035514908377081156, 0.003978203982114792, 0.001911872299388051,
        0.0004867743409704417, 6.717060750816017e-05, 9.223554116033483e-06, 1.2492339465097757e-06,
        6.901549909343885e-08, 4.0019667579827e-08, 0.025691421702504158, 0.025325413793325424,
        0.14308415353298187, 0.01944655179977417, -0.056259334087371826, -0.059305138885974884,
    ),
    (
        0.014918500557541847, 0.0006642509833909571, 0.002223431598395109, -0.0017602771986275911,
        -0.0001502492232248187, -7.208032911876217e-05, -5.2058796427445486e-05, 1.845386577770114e-05,
        3.9685099295638793e-07, 6.183589640329501e-09, 0.006983054336160421, 0.006880592554807663,
        -0.036976806819438934, -0.0752323642373085, 0.11057543754577637, 0.17656368017196655,
    ),
)  # fmt: skip


class Exponential(Piecewise):
    """exp, expm1, sigmoid, silu, gelu by tanh, mish and tanh."""

    def exp(self, a: Value) -> Value:
        """E to the power a: 0 below -104, infinity above 89."""
        sum_, n, r = self._sixteenths(a)
        return self._exp_of_sixteenths(sum_, n, r, self.mul(r, r))

    def exp_of_both_signs(self, a: Value) -> tuple[Value, Value]:
        """(exp(a), exp(-a)), each with the bits of `exp`; they share the reduction and the square of r."""
        sum_, n, r = self._sixteenths(a)
        square, negated = self.mul(r, r), self.sub(self.const(SIXTEENTHS_MAGIC), n)
        up = self._exp_of_sixteenths(sum_, n, r, square)
        return up, self._exp_of_sixteenths(negated, self.neg(n), self.neg(r), square)

    def _sixteenths(self, a: Value) -> tuple[Value, Value, Value]:
        """(SIXTEENTHS_MAGIC + n, n, r) with a = n ln 2 + r, n the nearest multiple of 1 / 16; a within exp's range."""
        bounded, magic = self.at_most(104.5, self.at_least(-104.5, a)), self.const(SIXTEENTHS_MAGIC)
        sum_ = self.fma(bounded, self.const(LOG2_E), magic)
        n = self.sub(sum_, magic)
        return sum_, n, self.fma(n, self.const(-LN2_LOW), self.fma(n, self.const(-LN2_HIGH), bounded))

    def _exp_of_sixteenths(self, sum_: Value, n: Value, r: Value, square: Value) -> Value:
        """exp(r) * 2**n, from `_sixteenths` and the square of r; the low four bits of the sum are the fraction of n."""
        power = self.lookup(POWERS_OF_SIXTEENTHS, self.bits(sum_))
        rest = self.fma(square, self.polynomial(r, EXP_SHORT_TAIL), r)  # exp(r) - 1
        return self.scale_by_sixteenths(self.fma(rest, power, power), sum_, n)

    def exp_minus_one_and_power(self, a: Value, low: Value | None = None) -> tuple[Value, Value]:
        """(s, n) with exp(a + low) = (1 + s) * 2**n, n integral, |s| <= 0.42; finite a and tiny `low`."""
        n = self.round_even(self.mul(a, self.const(LOG2_E)))
        r = self.fma(n, self.const(-LN2_HIGH), a)
        rest = self.const(-LN2_LOW)
        r = self.fma(n, rest, r) if low is None else self.add(r, self.fma(n, rest, low))
        square = self.mul(r, r)
        even, odd = (self.polynomial(square, EXP_TAIL[k::2]) for k in (0, 1))
        return self.fma(square, self.fma(r, odd, even), r), n

    def expm1(self, a: Value) -> Value:
        """exp(a) - 1, accurate for small results."""
        s, n = self.exp_minus_one_and_power(self.at_most(89.0, self.at_least(-104.5, a)))
        bounded = self.at_most(126.0, n)
        power = self.scale(self.const(1.0), bounded)
        result = self.fma(s, power, self.sub(power, self.const(1.0)))
        return self.copysign(self.scale(result, self.sub(n, bounded)), a)

    def sigmoid(self, a: Value) -> Value:
        """1 / (1 + exp(-a)), accurate down to the last denormal."""
        scale = self.const(SIGMOID_SCALE)
        mantissa, power = self._logistic_power(a, None, SIGMOID_SIXTEENTHS)
        return self.div(scale, self.fma(mantissa, power, scale))

    def silu(self, a: Value) -> Value:
        """A * sigmoid(a), scaled last so that tiny results keep their digits; NaN at -infinity, as the product is."""
        return self._logistic(a, a)

    def gelu_tanh(self, a: Value) -> Value:
        """A * sigmoid(2 sqrt(2 / pi) (a + 0.044715 a**3)), with the argument of exp in double-float precision."""
        x = self.at_most(20.0, self.at_least(-20.0, a))
        square = self.mul(x, x)
        square_low = self.fma(x, x, self.neg(square))
        cubic = self.mul(square, self.const(GELU_CUBIC[0]))
        cubic_low = self.fma(square, self.const(GELU_CUBIC[0]), self.neg(cubic))
        cubic_low = self.fma(
            square, self.const(GELU_CUBIC[1]), self.fma(square_low, self.const(GELU_CUBIC[0]), cubic_low)
        )
        slope, rest = self.two_sum(cubic, self.const(GELU_LINEAR[0]))
        rest = self.add(self.add(rest, cubic_low), self.const(GELU_LINEAR[1]))
        inner = self.mul(x, slope)
        inner_low = self.fma(x, rest, self.fma(x, slope, self.neg(inner)))
        return self._logistic(a, inner, inner_low)

    def mish(self, a: Value) -> Value:
        """A * tanh(log(1 + exp(a))) as a (e**2 + 2 e) / (e**2 + 2 e + 2), scaled last; NaN at -infinity.

        For small e the quotient is e minus a small correction, and only the correction is divided.
        """
        factor = self.at_least(-200.0, a)
        s, n = self.exp_minus_one_and_power(self.at_most(40.0, self.at_least(-112.0, a)))
        mantissa = self.add(s, self.const(1.0))
        power = self.scale(mantissa, n)
        small = self.lt(power, self.const(1.0))
        outer = self.add(power, self.const(2.0))
        above = self.select(small, self.fma(power, power, power), self.mul(mantissa, outer))
        quotient = self.div(above, self.fma(power, outer, self.const(2.0)))
        ratio = self.select(small, self.fma(self.neg(mantissa), quotient, mantissa), quotient)
        return self.nan_at_minus_infinity(a, self.scale(self.mul(factor, ratio), n))

    def nan_at_minus_infinity(self, a: Value, result: Value) -> Value:
        """`result`, but NaN at -infinity, as the product of 0 and infinity is."""
        return self.select(self.eq(a, self.const(float("-inf"))), self.const(float("nan")), result)

    def _logistic(self, factor: Value, a: Value, low: Value | None = None) -> Value:
        """Factor / (1 + exp(-a - low)); `factor` itself above 64, where a must be larger still; NaN at -infinity."""
        mantissa, power = self._logistic_power(a, low, EXP2_SIXTEENTHS)
        quotient = self.div(factor, self.fma(mantissa, power, self.const(LOGISTIC_SCALE)))
        small = self.mul(quotient, self.const(LOGISTIC_SCALE))
        return self.select(self.gt(factor, self.const(64.0)), factor, small)

    def _logistic_power(self, a: Value, low: Value | None, table: Table) -> tuple[Value, Value]:
        """Two factors of exp(-a - low) * LOGISTIC_SCALE, times the scale that is built into the entries of `table`.

        exp(-a) is exp(r) * 2**(n / 16); the bits of that power are the sum of the bits of n and of a table entry. It is
        infinite from a = -LOGISTIC_LIMIT on, where quotients by it are zero.
        """
        bounded = self.at_most(60.0, self.at_least(-LOGISTIC_LIMIT, a))
        magic = self.const(ROUNDING_MAGIC + 16 * math.log2(LOGISTIC_SCALE))
        sum_ = self.fma(bounded, self.const(-16 * LOG2_E), magic)
        n = self.sub(sum_, magic)
        r = self.fma(n, self.const(-LN2_HIGH / 16), self.neg(bounded))
        rest = self.const(-LN2_LOW / 16)
        r = self.fma(n, rest, r) if low is None else self.add(r, self.fma(n, rest, self.neg(low)))
        shifted = self.shift_left(self.bits(sum_), self.int_const(19))
        power = self.from_bits(self.int_add(shifted, self.bits(self.lookup(table, self.bits(sum_)))))
        return self.polynomial(r, [EXP_FACTOR * coefficient for coefficient in (1.0, 1.0, *EXP_SHORT_TAIL)]), power

    def tanh(self, a: Value) -> Value:
        """A piecewise polynomial; 1 from 9.1 on."""
        magnitude = self.at_most(9.1, self.abs(a))
        return self.copysign(self.piecewise(magnitude, TANH, odd=True), a)
