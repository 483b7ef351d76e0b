"""erfc and gelu: exp(-z**2) times a scaled complement that varies slowly."""

from __future__ import annotations

from ttnn_jit.kernels.exponential import Exponential
from ttnn_jit.ops.emit import Value

CENTRE = 4.0
# exp(z**2) * erfc(z) * (z + 4) in (z - 4) / (z + 4), z in [0, 10.4]: relative error 3.3e-9.
SCALED_COMPLEMENT = (
    1.0959956645965576, -0.9765487313270569, 0.7732084393501282, -0.5408536195755005, 0.33085548877716064,
    -0.17401623725891113, 0.0763552263379097, -0.026333177462220192, 0.006231716368347406, -0.0003294542254207377,
    -0.0007277443073689938,
)  # fmt: skip
INVERSE_SQRT_2 = 0.7071067811865476


class ErrorFunction(Exponential):
    """erfc and gelu, good in the far tails too."""

    def erfc(self, a: Value) -> Value:
        """1 - erf(a): the digits of the right tail are kept, to the last denormal."""
        z = self.at_most(10.3, self.abs(a))
        complement, n = self._complement_and_power(z, z, 1.0)
        tail = self.scale(complement, n)
        return self.select(self.lt(a, self.const(0.0)), self.sub(self.const(2.0), tail), tail)

    def gelu(self, a: Value) -> Value:
        """A times the normal distribution function of a; NaN at -infinity, as the product is."""
        z = self.at_most(14.6, self.abs(a))
        complement, n = self._complement_and_power(z, self.mul(z, self.const(INVERSE_SQRT_2)), 0.5)
        factor = self.at_most(20.0, self.at_least(-20.0, a))
        tail = self.scale(self.mul(self.mul(factor, self.const(0.5)), complement), n)
        result = self.select(self.le(a, self.const(0.0)), tail, self.sub(a, tail))
        return self.select(self.eq(a, self.const(float("-inf"))), self.const(float("nan")), result)

    def _complement_and_power(self, x: Value, z: Value, factor: float) -> tuple[Value, Value]:
        """(c, n) with erfc(sqrt(factor) * x) = c * 2**n; z is sqrt(factor) * x, rounded; factor a power of two."""
        square = self.mul(x, x)
        square_low = self.fma(x, x, self.neg(square))
        s, n = self.exp_minus_one_and_power(
            self.mul(square, self.const(-factor)), self.mul(square_low, self.const(-factor))
        )
        inverse = self.div(self.const(1.0), self.add(z, self.const(CENTRE)))
        t = self.fma(inverse, self.const(-2.0 * CENTRE), self.const(1.0))
        scaled = self.mul(self.polynomial(t, SCALED_COMPLEMENT), inverse)
        return self.fma(scaled, s, scaled), n
