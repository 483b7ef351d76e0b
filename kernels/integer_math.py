"""Arithmetic of 32-bit integers for tile bodies: exact, modulo 2**32."""

from __future__ import annotations

from ttnn_jit.kernels.primitives import Int
from ttnn_jit.kernels.word_math import BITS, WordMath
from ttnn_jit.ops.emit import EmitIntegers, Mask


class IntegerMath(WordMath, EmitIntegers):
    """`EmitIntegers` over the primitives of a backend."""

    def add(self, a: Int, b: Int) -> Int:
        return self._words.int_add(a, b)

    def sub(self, a: Int, b: Int) -> Int:
        return self._words.int_sub(a, b)

    def mul(self, a: Int, b: Int) -> Int:
        return self._words.int_mul(a, b)

    def neg(self, a: Int) -> Int:
        return self.sub(self.const(0), a)

    def abs(self, a: Int) -> Int:
        return self.select(self.lt(a, self.const(0)), self.neg(a), a) if self._is_signed else a

    def minimum(self, a: Int, b: Int) -> Int:
        return self.select(self.lt(b, a), b, a)

    def maximum(self, a: Int, b: Int) -> Int:
        return self.select(self.lt(a, b), b, a)

    def bitwise_not(self, a: Int) -> Int:
        return self.bitwise_xor(a, self.const(-1))

    def shift_left(self, a: Int, count: Int) -> Int:
        return self.select(self._is_beyond(count), self.const(0), self._words.shift_left(a, self._within(count)))

    def shift_right(self, a: Int, count: Int) -> Int:
        if not self._is_signed:
            return self.shift_right_zero(a, count)
        most = self.const(BITS - 1)
        return self._words.shift_right(a, self.select(self._is_beyond(count), most, self._within(count)))

    def shift_right_zero(self, a: Int, count: Int) -> Int:
        return self.select(self._is_beyond(count), self.const(0), self._words.shift_right_zero(a, self._within(count)))

    def _is_beyond(self, count: Int) -> Mask:
        """Whether a distance is none of a word's: a negative one is a large one here."""
        return self._words.unsigned_lt(self.const(BITS - 1), count)

    def _within(self, count: Int) -> Int:
        return self._words.int_and(count, self.const(BITS - 1))
