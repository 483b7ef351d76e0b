"""Arithmetic of truths for tile bodies: words that are 0 or 1, as torch computes with bools."""

from __future__ import annotations

from ttnn_jit.kernels.integer_math import IntegerMath
from ttnn_jit.kernels.primitives import Int, Primitives
from ttnn_jit.ops.emit import EmitTruths, Mask


class TruthMath(EmitTruths):
    """`EmitTruths` over the primitives of a backend.

    Args:
        words: The backend.
    """

    def __init__(self, words: Primitives) -> None:
        self._words = IntegerMath(words, is_signed=False)

    def const(self, value: float) -> Int:
        return self._words.const(value != 0)

    def add(self, a: Int, b: Int) -> Int:
        return self._words.bitwise_or(a, b)

    def mul(self, a: Int, b: Int) -> Int:
        return self._words.bitwise_and(a, b)

    def minimum(self, a: Int, b: Int) -> Int:
        return self._words.bitwise_and(a, b)

    def maximum(self, a: Int, b: Int) -> Int:
        return self._words.bitwise_or(a, b)

    def bitwise_and(self, a: Int, b: Int) -> Int:
        return self._words.bitwise_and(a, b)

    def bitwise_or(self, a: Int, b: Int) -> Int:
        return self._words.bitwise_or(a, b)

    def bitwise_xor(self, a: Int, b: Int) -> Int:
        return self._words.bitwise_xor(a, b)

    def bitwise_not(self, a: Int) -> Int:
        return self._words.bitwise_xor(a, self.const(1))

    def lt(self, a: Int, b: Int) -> Mask:
        return self._words.lt(a, b)

    def le(self, a: Int, b: Int) -> Mask:
        return self._words.le(a, b)

    def gt(self, a: Int, b: Int) -> Mask:
        return self._words.gt(a, b)

    def ge(self, a: Int, b: Int) -> Mask:
        return self._words.ge(a, b)

    def eq(self, a: Int, b: Int) -> Mask:
        return self._words.eq(a, b)

    def ne(self, a: Int, b: Int) -> Mask:
        return self._words.ne(a, b)

    def both(self, m: Mask, n: Mask) -> Mask:
        return self._words.both(m, n)

    def either(self, m: Mask, n: Mask) -> Mask:
        return self._words.either(m, n)

    def invert(self, m: Mask) -> Mask:
        return self._words.invert(m)

    def select(self, m: Mask, a: Int, b: Int) -> Int:
        return self._words.select(m, a, b)
