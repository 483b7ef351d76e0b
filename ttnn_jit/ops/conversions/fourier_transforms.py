"""Fourier transforms of StableHLO as products with matrices: along each dimension the four-step algorithm.

A length that is a product a b is transformed along a, multiplied by roots of unity, and transformed along b (Bailey,
1990), until a length is at most `LARGEST_MATRIX` or a prime: that one is a product with the matrix of its roots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.complex_parts import ComplexTensor
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import conversion
from ttnn_jit.ops.families.text_operation import REQUIRED, DenseNumbers, TextCall

LARGEST_MATRIX = 32
"""A matrix of n x n roots is n products per element, two steps of sqrt(n) are 2 sqrt(n) and two moves."""
LARGEST_PRIME = 1024
"""A larger prime would need a matrix of over a million numbers in the text."""
LONGEST = 1 << 16
"""Roots of unity between steps are as many numbers in the text."""

Parts = tuple[Tensor, Tensor | None]
"""Real and imaginary parts; None of real numbers."""


def _factors(length: int) -> tuple[int, int]:
    """The divisors whose product is `length`, as near to each other as there are; (1, length) of a prime."""
    first = next(each for each in range(math.isqrt(length), 0, -1) if length % each == 0)
    return first, length // first


def _roots(ops: TtirOps, rows: int, columns: int, length: int, sign: int, element: str) -> tuple[Tensor, Tensor]:
    """exp(2 pi i `sign` row column / length), real and imaginary parts."""
    angles = [(row * column % length) / length for row in range(rows) for column in range(columns)]
    real = tuple(math.cos(2 * math.pi * each) for each in angles)
    imag = tuple(sign * math.sin(2 * math.pi * each) for each in angles)
    first, second = (ops.constant(DenseNumbers((rows, columns), each), element) for each in (real, imag))
    return first, second


def _by_matrix(ops: TtirOps, parts: Parts, sign: int) -> Parts:
    """The transform of each row, by the matrix of its roots."""
    real, imag = parts
    length = real.shape[1]
    if length > LARGEST_PRIME:
        raise ShapeError(f"a length with the prime {length:,}: at most {LARGEST_PRIME:,} is transformed")
    cosines, sines = _roots(ops, length, length, length, sign, real.element)

    def product(x: Tensor, matrix: Tensor) -> Tensor:
        return ops.op("ttir.matmul", [x, matrix], x.shape, x.element)

    found = product(real, cosines), product(real, sines)
    if imag is None:
        return found
    return (
        ops.same("ttir.subtract", found[0], product(imag, sines)),
        ops.same("ttir.add", found[1], product(imag, cosines)),
    )


def _each(ops: TtirOps, parts: Parts, shape: Sequence[int], order: Sequence[int], last: Sequence[int]) -> Parts:
    """Both parts in `shape`, with its dimensions in another order, and then in the shape `last`."""

    def moved(x: Tensor) -> Tensor:
        return ops.reshape(ops.permute(ops.reshape(x, shape), order), last)

    real, imag = parts
    return moved(real), None if imag is None else moved(imag)


def _of_rows(ops: TtirOps, parts: Parts, sign: int) -> Parts:
    """The transform of each row of [rows, n], without a factor."""
    rows, length = parts[0].shape
    first, second = _factors(length)
    if length <= LARGEST_MATRIX or first == 1:
        return _by_matrix(ops, parts, sign)
    inner = _each(ops, parts, (rows, first, second), (0, 2, 1), (rows * second, first))
    real, imag = _of_rows(ops, inner, sign)
    assert imag is not None, "a transform has imaginary parts"
    cosines, sines = (
        ops.expand(ops.reshape(each, (1, second, first)), (rows, second, first))
        for each in _roots(ops, second, first, length, sign, real.element)
    )
    real, imag = (ops.reshape(each, (rows, second, first)) for each in (real, imag))
    turned = (
        ops.same("ttir.subtract", ops.same("ttir.multiply", real, cosines), ops.same("ttir.multiply", imag, sines)),
        ops.same("ttir.add", ops.same("ttir.multiply", real, sines), ops.same("ttir.multiply", imag, cosines)),
    )
    outer = _each(ops, turned, (rows, second, first), (0, 2, 1), (rows * first, second))
    return _each(ops, _of_rows(ops, outer, sign), (rows, first, second), (0, 2, 1), (rows, length))


def _along(ops: TtirOps, parts: Parts, axis: int, sign: int) -> Parts:
    """The transform along a dimension, without a factor.

    Raises:
        ShapeError: The dimension is longer than `LONGEST`, or has a prime beyond `LARGEST_PRIME`.
    """
    shape = parts[0].shape
    length = shape[axis]
    if length > LONGEST:
        raise ShapeError(f"a length of {length:,}: at most {LONGEST:,} is transformed")
    order = [each for each in range(len(shape)) if each != axis] + [axis]
    placed = [shape[each] for each in order]
    rows = _each(ops, parts, shape, order, (math.prod(placed[:-1]), length))
    back = [order.index(each) for each in range(len(shape))]
    return _each(ops, _of_rows(ops, rows, sign), placed, back, shape)


def _whole(ops: TtirOps, parts: Parts, length: int) -> Parts:
    """The elements of a Hermitian last dimension of `length`, of which the first half is given."""
    real, imag = parts
    assert imag is not None, "the spectrum of real numbers is complex"
    last = real.rank - 1
    count = length - real.shape[last]

    def mirrored(x: Tensor) -> Tensor:
        return ops.same("ttir.reverse", ops.part(x, last, 1, 1 + count), dimensions=(last,))

    if count == 0:
        return parts
    tail = mirrored(real), ops.same("ttir.neg", mirrored(imag))
    return ops.concat([real, tail[0]], last), ops.concat([imag, tail[1]], last)


def _transform(ops: TtirOps, call: ConversionCall) -> ComplexTensor | Tensor:
    """The transform of the last dimensions, one after the other."""
    kind, lengths, given = str(call.fft_type), tuple(call.fft_length), call.operand
    parts: Parts = given.parts if isinstance(given, ComplexTensor) else (given, None)
    rank = parts[0].rank
    axes = [*range(rank - len(lengths), rank)]
    if not 1 <= len(lengths) <= min(3, rank):
        raise ShapeError(f"`fft_length` has {len(lengths)} extents, and the operand {rank} dimensions")
    sign = 1 if kind in {"IFFT", "IRFFT"} else -1
    if kind == "RFFT":
        real, imag = _along(ops, parts, axes.pop(), sign)
        assert imag is not None, "a transform has imaginary parts"
        half = lengths[-1] // 2 + 1
        parts = ops.part(real, rank - 1, 0, half), ops.part(imag, rank - 1, 0, half)
    elif kind == "IRFFT":
        for axis in axes[:-1]:
            parts = _along(ops, parts, axis, sign)
        parts, axes = _whole(ops, parts, lengths[-1]), axes[-1:]
    for axis in reversed(axes):
        parts = _along(ops, parts, axis, sign)
    real, imag = parts
    assert imag is not None, "a transform has imaginary parts"
    if sign == -1:
        return ComplexTensor(real, imag)
    real, imag = (ops.same("ttir.multiply", each, ops.like(each, 1 / math.prod(lengths))) for each in (real, imag))
    return real if kind == "IRFFT" else ComplexTensor(real, imag)


def _in_torch(torch: Any, call: TextCall) -> Any:
    lengths = tuple(call.fft_length)
    axes = tuple(range(-len(lengths), 0))
    names = {"FFT": "fftn", "IFFT": "ifftn", "RFFT": "rfftn", "IRFFT": "irfftn"}
    return getattr(torch.fft, names[str(call.fft_type)])(call.operand, lengths, axes)


TRANSFORM = conversion(
    "stablehlo.fft", "operand", _transform, _in_torch, of_complex=_transform, fft_type=REQUIRED, fft_length=REQUIRED
)
TEXTS = (TRANSFORM,)
