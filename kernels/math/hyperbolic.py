"""Hyperbolic functions, their inverses, and functions based on log(1 + exp(x))."""

from __future__ import annotations

from ttnn_jit.kernels.math.exponential import LN2_HIGH
from ttnn_jit.kernels.math.logarithm import LOG2_E, Logarithm
from ttnn_jit.kernels.math.power import Power
from ttnn_jit.ops.language.emit import Value

# (sinh(x) - x) / x**3 in x**2 on [0, 1]: relative error of sinh 3e-10.
SINH_TAIL = (0.1666666716337204, 0.00833331048488617, 0.00019842895562760532, 2.7822131869470468e-06)
# (x - tanh(x)) / x**3 in x**2 on [0, 1]: relative error 3e-08.
TANH_SHRINK = (
    0.3333333432674408, -0.13333411514759064, 0.05397821217775345, -0.02191292680799961, 0.008924849331378937,
    -0.003527170279994607, 0.0011492627672851086, -0.00020561790734063834,
)  # fmt: skip
# (2 atanh(s) - 2 s) / s**3 in s**2 on [0, 1/3]: relative error of log(1 + u) 4.5e-09 at u = 2 s / (1 - s).
ATANH_TAIL = (0.666664183139801, 0.4002143442630768, 0.2800309658050537, 0.2800637185573578)
LARGE = 2.0**28  # from here on sqrt(x**2 + 1) is x, and log(1 + x) is log(x), in float32


class Hyperbolic(Logarithm, Power):
    """sinh to atanh, tanhshrink, softplus, log_sigmoid, logaddexp."""

    def sinh(self, a: Value) -> Value:
        """An odd polynomial below 1, else exp(|a|) / 2 - exp(-|a|) / 2."""
        x = self.abs(a)
        half = self._half_exp(x)
        square = self.mul(x, x)
        near = self.fma(self.mul(x, square), self.polynomial(square, SINH_TAIL), x)
        far = self.sub(half, self.div(self.const(0.25), half))
        return self.copysign(self.select(self.lt(x, self.const(1.0)), near, far), a)

    def cosh(self, a: Value) -> Value:
        """exp(|a|) / 2 + exp(-|a|) / 2."""
        half = self._half_exp(self.abs(a))
        return self.add(half, self.div(self.const(0.25), half))

    def _half_exp(self, x: Value) -> Value:
        s, n = self.exp_minus_one_and_power(self.at_most(91.0, x))
        return self.scale(self.add(s, self.const(1.0)), self.sub(n, self.const(1.0)))

    def asinh(self, a: Value) -> Value:
        """The inverse of sinh, as log1p."""
        x = self.abs(a)
        square = self.mul(x, x)
        root = self.sqrt(self.add(square, self.const(1.0)))
        inner = self.add(x, self.div(square, self.add(root, self.const(1.0))))
        return self.copysign(self._log1p_or_doubled(x, inner), a)

    def acosh(self, a: Value) -> Value:
        """The inverse of cosh on [1, infinity], as log1p; NaN below 1."""
        t = self.sub(a, self.const(1.0))
        inner = self.add(t, self.sqrt(self.fma(t, t, self.add(t, t))))
        result = self._log1p_or_doubled(a, inner)
        return self.select(self.lt(a, self.const(1.0)), self.const(float("nan")), result)

    def _log1p_or_doubled(self, x: Value, inner: Value) -> Value:
        """log1p(inner), or log(2 x) for large x."""
        large = self.gt(x, self.const(LARGE))
        ln2 = self.select(large, self.const(LN2_HIGH), self.const(0.0))
        return self.add(self.log1p(self.select(large, x, inner)), ln2)

    def atanh(self, a: Value) -> Value:
        """The inverse of tanh, as log1p; infinite at -1 and 1, NaN beyond."""
        x = self.abs(a)
        ratio = self.div(self.add(x, x), self.sub(self.const(1.0), x))
        return self.copysign(self.mul(self.log1p(ratio), self.const(0.5)), a)

    def tanhshrink(self, a: Value) -> Value:
        """A - tanh(a), by an odd polynomial below 1."""
        x = self.abs(a)
        square = self.mul(x, x)
        near = self.mul(self.mul(x, square), self.polynomial(square, TANH_SHRINK))
        far = self.sub(x, self.tanh(x))
        return self.copysign(self.select(self.lt(x, self.const(1.0)), near, far), a)

    def softplus(self, a: Value, beta: float = 1.0) -> Value:
        """log(1 + exp(beta * a)) / beta."""
        if beta == 1.0:
            tail = self._log1p_of_fraction(self.exp(self.neg(self.abs(a))))
            return self.add(self.maximum(a, self.const(0.0)), tail)
        scaled = self.mul(a, self.const(beta))
        lost = self.fma(a, self.const(beta), self.neg(scaled))
        power = self.exp(self.neg(self.abs(scaled)))
        power = self.with_low_part(
            power, self.mul(power, self.neg(self.mul(lost, self.copysign(self.const(1.0), scaled))))
        )
        total = self.add(self.maximum(scaled, self.const(0.0)), self._log1p_of_fraction(power))
        return self.div(total, self.const(beta))

    def logaddexp(self, a: Value, b: Value) -> Value:
        """log(exp(a) + exp(b))."""
        return self.add(self.maximum(a, b), self._log1p_of_fraction(self.exp(self._minus_distance(a, b))))

    def logaddexp2(self, a: Value, b: Value) -> Value:
        """log2(2**a + 2**b)."""
        u = self.exp2(self._minus_distance(a, b))
        s, cubic = self._atanh_of_fraction(u)
        # The error of s is left / (2 + u), where left = u - (2 + u) s, whose first difference is exact. Twice the error
        # is between 2/3 of left and left, about 3/4 of it.
        left = self.fma(self.neg(s), u, self.fma(s, self.const(-2.0), u))
        low = self.fma(left, self.const(0.75), cubic)
        low = self.fma(low, self.const(LOG2_E[0]), self.mul(s, self.const(2 * LOG2_E[1])))
        return self.add(self.maximum(a, b), self.fma(s, self.const(2 * LOG2_E[0]), low))

    def _log1p_of_fraction(self, u: Value) -> Value:
        """log(1 + u) for u in [0, 1]: 2 s is u - s * u."""
        s, cubic = self._atanh_of_fraction(u)
        return self.add(u, self.fma(self.neg(s), u, cubic))

    def _atanh_of_fraction(self, u: Value) -> tuple[Value, Value]:
        """(s, cubic) with s = u / (2 + u) and 2 atanh(s) = 2 s + cubic, which is log(1 + u), for u in [0, 1]."""
        s = self.div(u, self.add(u, self.const(2.0)))
        square = self.mul(s, s)
        return s, self.mul(self.mul(s, square), self.polynomial(square, ATANH_TAIL))

    def _minus_distance(self, a: Value, b: Value) -> Value:
        """-|a - b|, 0 for equal infinities."""
        same = self.eq(a, b)
        return self.select(same, self.const(0.0), self.neg(self.abs(self.sub(a, b))))
