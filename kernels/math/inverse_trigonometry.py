"""asin, acos, atan and atan2."""

from __future__ import annotations

from ttnn_jit.kernels.math.primitives import Primitives
from ttnn_jit.kernels.math.trigonometry import HALF_PI_HIGH, HALF_PI_MIDDLE, PI_HIGH, PI_MIDDLE
from ttnn_jit.ops.language.emit import Value

# (atan(z) - z) / z**3 in z**2 on [0, 1]: relative error of atan 2.6e-09.
ATAN_TAIL = (
    -0.33333298563957214, 0.1999853104352951, -0.14264051616191864, 0.10951174795627594, -0.08400475233793259,
    0.05790654569864273, -0.031127002090215683, 0.010887361131608486, -0.0017875476041808724,
)  # fmt: skip
# (asin(z) - z) / z**3 in z**2 on [0, 1/2]: relative error of asin 4.9e-09.
ASIN_TAIL = (0.16666752099990845, 0.074953094124794, 0.04546914994716644, 0.024184778332710266, 0.042158305644989014)


class InverseTrigonometry(Primitives):
    """The inverse circular functions, in radians."""

    def atan(self, a: Value) -> Value:
        """One odd polynomial on [0, 1]; beyond, pi / 2 minus the polynomial of 1 / a."""
        magnitude = self.abs(a)
        steep = self.gt(magnitude, self.const(1.0))
        z = self.select(steep, self.div(self.const(1.0), magnitude), magnitude)
        return self.copysign(self._reflected(steep, self._atan_of_fraction(z)), a)

    def atan2(self, a: Value, b: Value) -> Value:
        """The angle of the point (b, a), in [-pi, pi]; signs of zeros count as in C99."""
        y, x = self.abs(a), self.abs(b)
        steep = self.gt(y, x)
        over, under = self.select(steep, x, y), self.select(steep, y, x)
        quotient = self.select(self.eq(over, under), self.const(1.0), self.div(over, under))
        quotient = self.select(self.eq(under, self.const(0.0)), under, quotient)
        angle = self._reflected(steep, self._atan_of_fraction(quotient))
        left = self.int_lt(self.bits(b), self.int_const(0))
        supplement = self.sub(self.const(PI_HIGH), self.sub(angle, self.const(PI_MIDDLE)))
        angle = self.copysign(self.select(left, supplement, angle), a)
        not_a_number = self.either(self.ne(a, a), self.ne(b, b))
        return self.select(not_a_number, self.const(float("nan")), angle)

    def _atan_of_fraction(self, z: Value) -> Value:
        square = self.mul(z, z)
        return self.fma(self.mul(z, square), self.polynomial(square, ATAN_TAIL), z)

    def _reflected(self, steep: Value, angle: Value) -> Value:
        complement = self.sub(self.const(HALF_PI_HIGH), self.sub(angle, self.const(HALF_PI_MIDDLE)))
        return self.select(steep, complement, angle)

    def asin(self, a: Value) -> Value:
        """NaN beyond [-1, 1]."""
        magnitude = self.abs(a)
        far, part = self._asin_part(magnitude)
        high, low = self.const(HALF_PI_HIGH), self.const(HALF_PI_MIDDLE)
        complement = self.add(self.fma(part, self.const(-2.0), high), low)
        return self.copysign(self.select(far, complement, part), a)

    def acos(self, a: Value) -> Value:
        """NaN beyond [-1, 1]."""
        far, part = self._asin_part(self.abs(a))
        signed = self.copysign(part, a)
        middle = self.sub(self.const(HALF_PI_HIGH), self.sub(signed, self.const(HALF_PI_MIDDLE)))
        left = self.add(self.fma(part, self.const(-2.0), self.const(PI_HIGH)), self.const(PI_MIDDLE))
        end = self.select(self.lt(a, self.const(0.0)), left, self.mul(part, self.const(2.0)))
        return self.select(far, end, middle)

    def _asin_part(self, x: Value) -> tuple[Value, Value]:
        """Whether x > 1/2, and asin(sqrt((1 - x) / 2)) there, asin(x) elsewhere."""
        far = self.gt(x, self.const(0.5))
        square = self.select(far, self.fma(x, self.const(-0.5), self.const(0.5)), self.mul(x, x))
        z = self.select(far, self.sqrt(square), x)
        return far, self.fma(self.mul(z, square), self.polynomial(square, ASIN_TAIL), z)
