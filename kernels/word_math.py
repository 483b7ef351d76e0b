"""What integers of 32 bits and truths have in common in tile bodies: words, and how they compare."""

from __future__ import annotations

from ttnn_jit.kernels.primitives import Int, Primitives
from ttnn_jit.ops.emit import Mask

BITS = 32


class WordMath:
    """Words over the primitives of a backend.

    Args:
        words: The backend.
        is_signed: Whether the words are two's complement; they are unsigned otherwise.
    """

    def __init__(self, words: Primitives, *, is_signed: bool) -> None:
        self._words = words
        self._is_signed = is_signed

    def const(self, value: float) -> Int:
        word = int(value) % (1 << BITS)
        return self._words.int_const(word - (word >> BITS - 1 << BITS))

    def bitwise_and(self, a: Int, b: Int) -> Int:
        return self._words.int_and(a, b)

    def bitwise_or(self, a: Int, b: Int) -> Int:
        return self._words.int_or(a, b)

    def bitwise_xor(self, a: Int, b: Int) -> Int:
        return self._words.int_xor(a, b)

    def lt(self, a: Int, b: Int) -> Mask:
        return self._words.int_lt(a, b) if self._is_signed else self._words.unsigned_lt(a, b)

    def le(self, a: Int, b: Int) -> Mask:
        return self.invert(self.lt(b, a))

    def gt(self, a: Int, b: Int) -> Mask:
        return self.lt(b, a)

    def ge(self, a: Int, b: Int) -> Mask:
        return self.invert(self.lt(a, b))

    def eq(self, a: Int, b: Int) -> Mask:
        return self._words.int_eq(a, b)

    def ne(self, a: Int, b: Int) -> Mask:
        return self.invert(self.eq(a, b))

    def both(self, m: Mask, n: Mask) -> Mask:
        return self._words.both(m, n)

    def either(self, m: Mask, n: Mask) -> Mask:
        return self._words.either(m, n)

    def invert(self, m: Mask) -> Mask:
        return self._words.invert(m)

    def select(self, m: Mask, a: Int, b: Int) -> Int:
        return self._words.int_select(m, a, b)
