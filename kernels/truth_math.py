"""Arithmetic of truths for tile bodies: words that are 0 or 1, as torch computes with bools."""

from __future__ import annotations

from ttnn_jit.kernels.primitives import Int, Primitives
from ttnn_jit.kernels.word_math import WordMath
from ttnn_jit.ops.emit import EmitTruths


class TruthMath(WordMath, EmitTruths):
    """`EmitTruths` over the primitives of a backend.

    Args:
        words: The backend.
    """

    add = maximum = WordMath.bitwise_or
    mul = minimum = WordMath.bitwise_and

    def __init__(self, words: Primitives) -> None:
        super().__init__(words, is_signed=False)

    def const(self, value: float) -> Int:
        return super().const(value != 0)

    def bitwise_not(self, a: Int) -> Int:
        return self.bitwise_xor(a, self.const(1))
