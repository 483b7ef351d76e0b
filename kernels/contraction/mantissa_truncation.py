"""Truncation of factors as in a chip's matrix engine (specs/product_precision.py), as LLVM instructions.

A word, as in kernels/contraction/contracting_packing.py, is a float32 or a pair of bfloat16.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.types import FLOAT, I16, Type, type_of
from ttnn_jit.kernels.llvm.values import Value
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType


@dataclass(frozen=True)
class MantissaTruncation:
    """Truncates the numbers in words to some bits of mantissa; infinities and NaN are unchanged.

    Attributes:
        kept: Number of mantissa bits that are kept.
        in_pairs: Whether words are pairs of bfloat16.
    """

    kept: int
    in_pairs: bool

    def apply(self, b: Builder, words: Value) -> Value:
        """The truncation of `words`, one word or a vector."""
        given = words.type
        kind = I16.times(2 * max(given.lanes, 1)) if self.in_pairs else type_of("i32", given.lanes)
        mantissa = (DataType.BFLOAT16 if self.in_pairs else DataType.FLOAT32).mantissa_bits
        most = (1 << (kind.bits - 1)) - 1
        bits = b.bitcast(words, kind)
        kept = b.bit_and(bits, -(1 << (mantissa - self.kept)))
        is_nan = b.compare("ugt", b.bit_and(bits, most), most >> mantissa << mantissa)
        return b.bitcast(b.select(is_nan, bits, kept), given)


def truncation_of(kept: int, element: Type, *, in_pairs: bool) -> MantissaTruncation | None:
    """The truncation of elements to `kept` mantissa bits; None if they have no more."""
    own = DataType.FLOAT32 if element is FLOAT else DataType.BFLOAT16
    return MantissaTruncation(kept, in_pairs) if kept < own.mantissa_bits else None


def truncate_words(truncation: MantissaTruncation | None, b: Builder, words: Value) -> Value:
    """`words` truncated by `truncation`, if there is one."""
    return words if truncation is None else truncation.apply(b, words)


def add_partial_product(
    builder: LlvmVector, total: Value, factors: tuple[Value, Value], dropped: tuple[int, int]
) -> Value:
    """`total` plus the product of two float32 factors, minus the product of their parts below `dropped` mantissa bits.

    For the numbers of bits of the engine the difference is exact, so only the addition rounds.
    """
    low, high = (_low_part(builder, factor, bits) for factor, bits in zip(factors, dropped, strict=True))
    product = builder.fma(*factors, builder.neg(builder.mul(low, high)))
    return builder.add(total, product)


def _low_part(builder: LlvmVector, factor: Value, bits: int) -> Value:
    """The part of a float32 below `bits` bits of mantissa; 0 for an infinity."""
    mask = builder.int_const(-(1 << (DataType.FLOAT32.mantissa_bits - bits)))
    high = builder.from_bits(builder.int_and(builder.bits(factor), mask))
    return builder.select(builder.eq(factor, high), builder.const(0.0), builder.sub(factor, high))
