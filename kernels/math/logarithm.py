"""Logarithms, rsqrt and cbrt."""

from __future__ import annotations

from ttnn_jit.kernels.math.exponential import Exponential
from ttnn_jit.kernels.math.primitives import Table
from ttnn_jit.kernels.math.wide_primitives import Int
from ttnn_jit.ops.language.emit import Value

# Entry i is for the mantissas of [0.75, 1.5) whose upper four bits are i. Each factor is close to 1 / mantissa, exactly
# 1 around 1, and its logarithm is a multiple of 2**-16 to within 2**-29 (S. Gal's accurate tables).
LOG_FACTOR = Table.of_floats(
    "log_factor",
    1.0, 0.9139624238014221, 0.8642138242721558, 0.8207470774650574,
    0.7800852656364441, 0.7444534301757812, 0.7108720541000366, 0.6808698177337646,
    1.3049625158309937, 1.2542235851287842, 1.2069851160049438, 1.1636900901794434,
    1.1219309568405151, 1.084926724433899, 1.0491269826889038, 1.0,
)  # fmt: skip
LOG_OF_FACTOR = Table.of_floats(
    "log_of_factor",
    0.0, 0.0899658203125, 0.14593505859375, 0.197540283203125,
    0.24835205078125, 0.29510498046875, 0.3412628173828125, 0.3843841552734375,
    -0.26617431640625, -0.2265167236328125, -0.1881256103515625, -0.1515960693359375,
    -0.11505126953125, -0.081512451171875, -0.0479583740234375, 0.0,
)  # fmt: skip
# log2 and log10 of the factors, negated, each as a multiple of 2**-16 and a remainder; likewise 1 / log(base), and the
# logarithm of 2 for log10.
LOG2_OF_FACTOR = Table.of_floats(
    "log2_of_short_factor",
    0.0, 0.129791259765625, 0.210540771484375, 0.2849884033203125,
    0.3582916259765625, 0.425750732421875, 0.492340087890625, 0.5545501708984375,
    -0.384002685546875, -0.3267974853515625, -0.2714080810546875, -0.2187042236328125,
    -0.165985107421875, -0.1175994873046875, -0.069183349609375, 0.0,
)  # fmt: skip
LOG2_OF_FACTOR_LOW = Table.of_floats(
    "log2_of_short_factor_low",
    0.0, 1.9828687527478905e-06, -9.85573024081532e-07, 1.983941047001281e-06,
    4.64546428702306e-06, -4.240329872118309e-06, -1.913571168188355e-06, -1.0574148063824396e-06,
    -5.681400580215268e-06, 2.931148173956899e-06, 1.955153976496149e-07, -2.6723353130364558e-06,
    1.2115898471165565e-06, 1.880455897662614e-06, -5.957675057288725e-06, 0.0,
)  # fmt: skip
LOG10_OF_FACTOR = Table.of_floats(
    "log10_of_factor",
    0.0, 0.0390777587890625, 0.063385009765625, 0.085784912109375,
    0.1078643798828125, 0.1281585693359375, 0.1482086181640625, 0.16693115234375,
    -0.1156005859375, -0.0983734130859375, -0.081695556640625, -0.0658416748046875,
    -0.0499725341796875, -0.035400390625, -0.0208282470703125, 0.0,
)  # fmt: skip
LOG10_OF_FACTOR_LOW = Table.of_floats(
    "log10_of_factor_low",
    0.0, -6.099521669966634e-06, -6.218925591383595e-06, 5.742931989516364e-06,
    -6.454844424297335e-06, 3.895332611136837e-06, -5.968347238649585e-08, 4.764883669849951e-06,
    2.5489005111012375e-06, -1.5501489087910159e-06, -6.357966412906535e-06, 4.3388595258875284e-06,
    6.402737199096009e-06, -1.6454796636367064e-08, 1.9019849162305036e-07, 0.0,
)  # fmt: skip
LOG2_E = (1.4426950216293335, 1.925963033500011e-08)
LOG10_E = (0.4342944920063019, -1.0103049952192578e-08)
LOG10_2 = (0.301025390625, 4.605039066518657e-06)
LN2_SHORT = 0.693145751953125  # a multiple of 2**-16: its products with exponents are exact
LN2_REST = 1.428606765330187e-06
# (log(1 + r) - r) / r**2 on [-1/32, 1/16]: relative error of log 8e-11.
LOG_TAIL = (-0.5, 0.33333343267440796, -0.2500111758708954, 0.1999579668045044, -0.15515436232089996)
# cbrt on [0.75, 1.5): relative error 9.2e-06.
CBRT_START = (0.46062171459198, 0.8699800968170166, -0.48555126786231995, 0.18540717661380768, -0.0304487943649292)
# Indexed by the lowest bit of the exponent and three bits of the mantissa. An entry minus half of a number's bits gives
# the bits of an estimate of its reciprocal root, with a relative error of 0.015.
RSQRT_SEED = Table(
    "rsqrt_seed",
    (
        0x5F33_D7CE, 0x5F32_49A3, 0x5F32_23AA, 0x5F33_1676, 0x5F34_E707, 0x5F37_6BA5, 0x5F3A_848D, 0x5F3E_1952,
        0x5F3C_ADF7, 0x5F37_2A8E, 0x5F33_A53B, 0x5F31_AB9A, 0x5F30_E6ED, 0x5F31_2B9D, 0x5F32_3CA4, 0x5F33_FCD6,
    ),
)  # fmt: skip
# ((1 - e)**-1/2 - 1) / e on |e| <= 0.029: relative error of rsqrt 4e-10.
RSQRT_SERIES = (0.4999999403953552, 0.375, 0.3127708435058594, 0.27356427907943726)
CBRT_2 = 1.2599210739135742
CBRT_4 = 1.587401032447815


class Logarithm(Exponential):
    """log, log2, log10, log1p, rsqrt and cbrt."""

    def log(self, a: Value) -> Value:
        """The natural logarithm: -infinity at zeros, NaN below."""
        return self._log_of(*self._reduced_logarithm(a))

    def _reduced_logarithm(self, a: Value) -> tuple[Value, Int, Value]:
        """(exponent, index, r) with a = 2**exponent * (1 + r) / LOG_FACTOR[index]."""
        mantissa, exponent = self.split(a)
        index = self.shift_right(self.bits(mantissa), self.int_const(19))
        return exponent, index, self.fma(mantissa, self.lookup(LOG_FACTOR, index), self.const(-1.0))

    def log1p(self, a: Value) -> Value:
        """log(1 + a) without the rounding of the sum; -infinity at -1, NaN below."""
        total = self.add(a, self.const(1.0))
        finite = self.lt(self.abs(total), self.const(float("inf")))
        lost = self.select(finite, self.sub(a, self.sub(total, self.const(1.0))), self.const(0.0))
        mantissa, exponent = self.split(total)
        index = self.shift_right(self.bits(mantissa), self.int_const(19))
        factor = self.lookup(LOG_FACTOR, index)
        # If the sum lost bits, the exponent is moderate.
        lost = self.scale(lost, self.at_most(64.0, self.at_least(-64.0, self.neg(exponent))))
        r = self.fma(lost, factor, self.fma(mantissa, factor, self.const(-1.0)))
        return self.copysign(self._log_of(exponent, index, r), a)

    def _log_of(self, exponent: Value, index: Int, r: Value) -> Value:
        """log(2**exponent * (1 + r) / LOG_FACTOR[index])."""
        high = self.fma(exponent, self.const(LN2_SHORT), self.lookup(LOG_OF_FACTOR, index))
        low = self.fma(exponent, self.const(LN2_REST), r)
        return self.add(high, self.fma(self.mul(r, r), self.polynomial(r, LOG_TAIL), low))

    def log2(self, a: Value) -> Value:
        """The logarithm to base 2, exact for powers of two; -infinity at zeros, NaN below."""
        exponent, index, r = self._reduced_logarithm(a)
        high = self.add(exponent, self.lookup(LOG2_OF_FACTOR, index))
        return self._log_to_base(high, r, LOG2_E, self.lookup(LOG2_OF_FACTOR_LOW, index))

    def log10(self, a: Value) -> Value:
        """The logarithm to base 10; -infinity at zeros, NaN below."""
        exponent, index, r = self._reduced_logarithm(a)
        high = self.fma(exponent, self.const(LOG10_2[0]), self.lookup(LOG10_OF_FACTOR, index))
        low = self.fma(exponent, self.const(LOG10_2[1]), self.lookup(LOG10_OF_FACTOR_LOW, index))
        return self._log_to_base(high, r, LOG10_E, low)

    def _log_to_base(self, high: Value, r: Value, unit: tuple[float, float], low: Value) -> Value:
        """High + log(1 + r) * unit + low, where unit is the logarithm of e as a sum."""
        tail = self.polynomial(r, [unit[0] * coefficient for coefficient in LOG_TAIL])
        rest = self.fma(self.mul(r, r), tail, self.fma(r, self.const(unit[1]), low))
        return self.add(high, self.fma(r, self.const(unit[0]), rest))

    def cbrt(self, a: Value) -> Value:
        """The cube root: a polynomial estimate, rounded to eight bits for an exact cube, and one Halley step."""
        mantissa, exponent = self.split(self.abs(a))
        third = self.round_even(self.mul(exponent, self.const(1 / 3)))
        over = self.fma(third, self.const(-3.0), exponent)  # -1, 0 or 1
        start = self.polynomial(mantissa, CBRT_START)
        up, down = self.gt(over, self.const(0.0)), self.lt(over, self.const(0.0))
        factor = self.select(up, self.const(CBRT_2), self.select(down, self.const(CBRT_4 / 2), self.const(1.0)))
        power = self.select(up, self.const(2.0), self.select(down, self.const(0.5), self.const(1.0)))
        reduced = self.mul(mantissa, power)
        nearest = self.int_add(self.bits(self.mul(start, factor)), self.int_const(0x8000))
        y = self.from_bits(self.int_and(nearest, self.int_const(-0x1_0000)))
        cube = self.mul(self.mul(y, y), y)
        step = self.div(self.sub(reduced, cube), self.fma(cube, self.const(2.0), reduced))
        result = self.copysign(self.scale(self.fma(y, step, y), self.at_most(60.0, self.at_least(-60.0, third))), a)
        unbounded = self.eq(self.abs(exponent), self.const(float("inf")))  # true for zeros and infinities
        return self.select(unbounded, a, result)

    def rsqrt(self, a: Value) -> Value:
        """1 / sqrt(a): from the bits of a normal number, otherwise by sqrt and division.

        The estimate (C. Lomont, "Fast inverse square root", with a constant for each of 16 intervals) has a relative
        error of 0.015. A series in the residual of its square corrects it.
        """
        bits = self.bits(a)
        seed = self.bits(self.lookup(RSQRT_SEED, self.shift_right(bits, self.int_const(20))))
        y = self.from_bits(self.int_sub(seed, self.shift_right(bits, self.int_const(1))))
        lacks = self.fma(self.neg(self.mul(a, y)), y, self.const(1.0))
        return self.unless_normal(a, self.fma(self.mul(y, lacks), self.polynomial(lacks, RSQRT_SERIES), y))

    def unless_normal(self, a: Value, near: Value) -> Value:
        """`near` if a is a positive normal number, else 1 / sqrt(a)."""
        # One comparison detects zero, denormals, infinity, NaN and negative numbers: their bits, as unsigned numbers,
        # are not in [0x00800000, 0x7F800000).
        shifted = self.int_add(self.bits(a), self.int_const(0x7F80_0000))
        special = self.int_lt(self.int_const(-0x0100_0001), shifted)
        return self.rarely(special, near, Logarithm.rsqrt_special, a)

    def rsqrt_special(self, a: Value) -> Value:
        """1 / sqrt(a) of any number."""
        return self.div(self.const(1.0), self.sqrt(a))
