"""Addition of pairs of bfloat16 products to a float32, with the semantics of the instruction ``vdpbf16ps``."""

from __future__ import annotations

from ttnn_jit.kernels.math.primitives import SIGN_BIT, SMALLEST_NORMAL, Primitives
from ttnn_jit.kernels.math.wide_primitives import Int
from ttnn_jit.ops.language.emit import Value

_UP = 2.0**24
"""The scale at which a sum near the smallest normal number rounds as with unbounded exponents."""


class DotProduct(Primitives):
    """Sums in which subnormal operands and results are flushed to zeros of their sign."""

    def add_products(self, total: Value, left: Int, right: Int) -> Value:
        """``total + l1 * r1 + l0 * r0``, in that order, for words of bfloat16 l1 in the upper and l0 in the lower half.

        Each product is added by a fused multiply-add (Intel, Software Developer's Manual, VDPBF16PS: to nearest even,
        subnormal operands and results flushed, tininess after rounding).
        """
        with_upper = self._flushed_fma(self._upper(left), self._upper(right), total)
        return self._flushed_fma(self._lower(left), self._lower(right), with_upper)

    def _upper(self, words: Int) -> Value:
        return self._flushed(self.from_bits(self.int_and(words, self.int_const(-0x1_0000))))

    def _lower(self, words: Int) -> Value:
        return self._flushed(self.from_bits(self.shift_left(words, self.int_const(16))))

    def _flushed_fma(self, x: Value, y: Value, z: Value) -> Value:
        up = self.const(_UP)
        scaled = self.fma(self.mul(x, up), y, self.mul(z, up))
        is_tiny = self.lt(self.abs(scaled), self.const(SMALLEST_NORMAL * _UP))
        total = self.fma(x, y, z)
        return self.select(is_tiny, self._zero_of(total), total)

    def _flushed(self, x: Value) -> Value:
        return self.select(self.lt(self.abs(x), self.const(SMALLEST_NORMAL)), self._zero_of(x), x)

    def _zero_of(self, x: Value) -> Value:
        return self.from_bits(self.int_and(self.bits(x), self.int_const(SIGN_BIT)))
