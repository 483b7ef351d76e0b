"""Permutations of vectors."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.values import Value


def interleaved(count: int) -> list[int]:
    """The shuffle that interleaves two vectors of `count` elements."""
    return [k // 2 + count * (k % 2) for k in range(2 * count)]


def transposed(b: Builder, vectors: Sequence[Value], within: int = 0) -> Sequence[Value]:
    """Transpose a power of 2 of vectors.

    Each result has one lane of all vectors; with fewer vectors than lanes, it has several lanes, one after the other.
    With `within`, groups of so many lanes are transposed separately, and no lane leaves its group; 0: a vector is one
    group.
    """
    lanes, count = vectors[0].type.lanes, len(vectors)
    own = within or lanes
    orders = [
        [
            group + lane + of
            for group in range(0, lanes, own)
            for lane in range(first, first + own // 2)
            for of in (0, lanes)
        ]
        for first in (0, own // 2)
    ]
    for _ in range(count.bit_length() - 1):
        vectors = [b.shuffle(vectors[k // 2], vectors[k // 2 + count // 2], orders[k % 2]) for k in range(count)]
    return vectors
