"""exp and the functions that are made of it: sigmoid, silu, tanh."""

from __future__ import annotations

from ttnn_jit.kernels.primitives import Primitives
from ttnn_jit.ops.emit import Mask, Value

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.6931471824645996  # float32 nearest to ln 2
LN2_LOW = -1.9046542121259336e-09
# (exp(r) - 1 - r) / r**2 on |r| <= ln(2) / 2: relative error of exp 3.2e-9.
EXP_TAIL = (0.4999999403953552, 0.1666652113199234, 0.04166828840970993, 0.008368704468011856, 0.0013818942243233323)
# (tanh(x) - x) / x**3 in x**2 on |x| <= 0.55: relative error of tanh 1.2e-9.
TANH_TAIL = (-0.33333316445350647, 0.133325457572937, -0.05384785309433937, 0.02105250582098961, -0.006246067583560944)


class Exponential(Primitives):
    """exp, sigmoid, silu and tanh."""

    def exp(self, a: Value) -> Value:
        """E to the power a: 0 below -104, infinity above 89."""
        s, n = self.exp_minus_one_and_power(self.at_most(89.0, self.at_least(-104.5, a)))
        return self.scale(self.add(s, self.const(1.0)), n)

    def exp_minus_one_and_power(self, a: Value, low: Value | None = None) -> tuple[Value, Value]:
        """(s, n) with exp(a + low) = (1 + s) * 2**n, n integral, |s| <= 0.42; finite a and tiny `low`."""
        n = self.round_even(self.mul(a, self.const(LOG2_E)))
        r = self.fma(n, self.const(-LN2_HIGH), a)
        r = self.fma(n, self.const(-LN2_LOW), r)
        if low is not None:
            r = self.add(r, low)
        return self.fma(self.mul(r, r), self.polynomial(r, EXP_TAIL), r), n

    def sigmoid(self, a: Value) -> Value:
        """1 / (1 + exp(-a)), good to the last denormal."""
        negative, t, t_low, s, n = self._sigmoid_parts(a)
        numerator = self.select(negative, self.add(s, self.const(1.0)), self.const(1.0))
        numerator_low = self.select(negative, self._low_part(s), self.const(0.0))
        quotient = self._quotient(numerator, numerator_low, t, t_low)
        return self.scale(quotient, self.select(negative, n, self.const(0.0)))

    def silu(self, a: Value) -> Value:
        """A * sigmoid(a), scaled last so that tiny results keep their digits; NaN at -infinity, as the product is."""
        negative, t, t_low, s, n = self._sigmoid_parts(a)
        factor = self.at_least(-200.0, a)
        high = self.add(s, self.const(1.0))
        numerator = self.mul(factor, self.select(negative, high, self.const(1.0)))
        rounded_off = self.fma(factor, high, self.neg(numerator))
        numerator_low = self.select(negative, self.fma(factor, self._low_part(s), rounded_off), self.const(0.0))
        quotient = self._quotient(numerator, numerator_low, t, t_low)
        result = self.copysign(self.scale(quotient, self.select(negative, n, self.const(0.0))), a)
        unbounded = self.eq(self.abs(a), self.const(float("inf")))
        return self.select(unbounded, self.select(negative, self.const(float("nan")), a), result)

    def _sigmoid_parts(self, a: Value) -> tuple[Mask, Value, Value, Value, Value]:
        """(a < 0, t, t_low, s, n): exp(-|a|) = t + t_low = (1 + s) * 2**n."""
        magnitude = self.at_most(112.0, self.abs(a))
        s, n = self.exp_minus_one_and_power(self.neg(magnitude))
        unit = self.scale(self.const(1.0), n)
        t = self.mul(self.add(s, self.const(1.0)), unit)
        return self.lt(a, self.const(0.0)), t, self.mul(self._low_part(s), unit), s, n

    def _low_part(self, s: Value) -> Value:
        """What rounding 1 + s lost, exactly."""
        return self.sub(s, self.sub(self.add(s, self.const(1.0)), self.const(1.0)))

    def _quotient(self, numerator: Value, numerator_low: Value, t: Value, t_low: Value) -> Value:
        """(numerator + numerator_low) / (1 + t + t_low) for t in [0, 1], all but correctly rounded."""
        denominator = self.add(t, self.const(1.0))
        denominator_low = self.add(self.sub(t, self.sub(denominator, self.const(1.0))), t_low)
        reciprocal = self.div(self.const(1.0), denominator)
        quotient = self.mul(numerator, reciprocal)
        negated = self.neg(quotient)
        rest = self.fma(negated, denominator_low, self.add(self.fma(negated, denominator, numerator), numerator_low))
        return self.fma(rest, reciprocal, quotient)

    def tanh(self, a: Value) -> Value:
        """1 - 2 / (exp(2|a|) + 1) above 0.55 in magnitude, an odd polynomial below."""
        magnitude = self.at_most(10.0, self.abs(a))
        s, n = self.exp_minus_one_and_power(self.add(magnitude, magnitude))
        e = self.scale(self.add(s, self.const(1.0)), n)
        far = self.sub(self.const(1.0), self.div(self.const(2.0), self.add(e, self.const(1.0))))
        square = self.mul(magnitude, magnitude)
        tail = self.mul(self.polynomial(square, TANH_TAIL), square)
        near = self.fma(magnitude, tail, magnitude)
        return self.copysign(self.select(self.lt(magnitude, self.const(0.55)), near, far), a)
