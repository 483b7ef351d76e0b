"""Integers of 64 bits in tile bodies, which move them: there is no arithmetic of them but that of casts."""

from __future__ import annotations

from ttnn_jit.kernels.primitives import DoubleWord, Primitives


class DoubleWordMath:
    """Numbers over the primitives of a backend.

    Args:
        words: The backend.
    """

    def __init__(self, words: Primitives) -> None:
        self._words = words

    def const(self, value: float) -> DoubleWord:
        """`value`, an integer of 32 bits, in every lane."""
        low = int(value)
        return self._words.double_word(self._words.int_const(-1 if low < 0 else 0), self._words.int_const(low))
