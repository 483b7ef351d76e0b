"""log, rsqrt and pow."""

from __future__ import annotations

from ttnn_jit.kernels.exponential import Exponential
from ttnn_jit.kernels.primitives import Table
from ttnn_jit.ops.emit import Value

# Entry i serves the mantissas of [0.75, 1.5) whose upper four bits are i. Each factor is near 1 / mantissa, exactly 1
# beside 1, and such that its logarithm is a multiple of 2**-16 to within 2**-29 (S. Gal's accurate tables).
LOG_FACTOR = Table.of_floats(
    "log_factor",
    (
        1.0, 0.9139624238014221, 0.8642138242721558, 0.8207470774650574,
        0.7800852656364441, 0.7444534301757812, 0.7108720541000366, 0.6808698177337646,
        1.3049625158309937, 1.2542235851287842, 1.2069851160049438, 1.1636900901794434,
        1.1219309568405151, 1.084926724433899, 1.0491269826889038, 1.0,
    ),
)  # fmt: skip
LOG_OF_FACTOR = Table.of_floats(
    "log_of_factor",
    (
        0.0, 0.0899658203125, 0.14593505859375, 0.197540283203125,
        0.24835205078125, 0.29510498046875, 0.3412628173828125, 0.3843841552734375,
        -0.26617431640625, -0.2265167236328125, -0.1881256103515625, -0.1515960693359375,
        -0.11505126953125, -0.081512451171875, -0.0479583740234375, 0.0,
    ),
)  # fmt: skip
LN2_SHORT = 0.693145751953125  # a multiple of 2**-16: its products with exponents are exact
LN2_REST = 1.428606765330187e-06
# (log(1 + r) - r) / r**2 on [-1/32, 1/16]: relative error of log 8e-11.
LOG_TAIL = (-0.5, 0.33333343267440796, -0.2500111758708954, 0.1999579668045044, -0.15515436232089996)


class Logarithm(Exponential):
    """log, rsqrt and pow."""

    def log(self, a: Value) -> Value:
        """The natural logarithm: -infinity at zeros, NaN below."""
        mantissa, exponent = self.split(a)
        index = self.shift_right(self.bits(mantissa), self.int_const(19))
        r = self.fma(mantissa, self.lookup(LOG_FACTOR, index), self.const(-1.0))
        high = self.fma(exponent, self.const(LN2_SHORT), self.lookup(LOG_OF_FACTOR, index))
        tail = self.mul(self.mul(r, r), self.polynomial(r, LOG_TAIL))
        return self.add(high, self.add(r, self.fma(exponent, self.const(LN2_REST), tail)))

    def rsqrt(self, a: Value) -> Value:
        """1 / sqrt(a): from the bits of a normal number, otherwise by sqrt and division.

        The estimate is within 3.5 % (C. Lomont, "Fast inverse square root"); Halley's iteration cubes its error.
        """
        bits = self.bits(a)
        estimate = self.int_sub(self.int_const(0x5F37_5A86), self.shift_right(bits, self.int_const(1)))
        near = self._halley(a, self._halley(a, self.from_bits(estimate)))
        # One comparison for zero, denormals, infinity, NaN and all below zero: those whose bits, as unsigned numbers,
        # are not in [0x00800000, 0x7F800000).
        shifted = self.int_add(bits, self.int_const(0x7F80_0000))
        special = self.int_lt(self.int_const(-0x0100_0001), shifted)
        return self.rarely(special, near, "rsqrt_special", lambda b, x: b.div(b.const(1.0), b.sqrt(x)), a)

    def _halley(self, a: Value, y: Value) -> Value:
        """An estimate of 1 / sqrt(a) three times as good as y."""
        error = self.fma(self.neg(self.mul(a, y)), y, self.const(1.0))
        series = self.fma(error, self.const(0.375), self.const(0.5))
        return self.fma(self.mul(y, error), series, y)
