"""What a chip's matrix engine leaves of its factors, in LLVM instructions (specs/product_precision.py).

Words are those of kernels/contraction/contracting_packing.py: a float32, or a pair of bfloat16.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.types import FLOAT, I16, Type, type_of
from ttnn_jit.kernels.llvm.values import Value
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType


@dataclass(frozen=True)
class FactorCut:
    """Cuts the numbers of words toward zero to some bits of mantissa; infinities and NaN stay what they are.

    Attributes:
        kept: How many bits.
        in_pairs: Whether words are pairs of bfloat16.
    """

    kept: int
    in_pairs: bool

    def of(self, b: Builder, words: Value) -> Value:
        """What is left of `words`, one or a vector."""
        given = words.type
        kind = I16.times(2 * max(given.lanes, 1)) if self.in_pairs else type_of("i32", given.lanes)
        mantissa = (DataType.BFLOAT16 if self.in_pairs else DataType.FLOAT32).mantissa_bits
        most = (1 << (kind.bits - 1)) - 1
        bits = b.bitcast(words, kind)
        kept = b.bit_and(bits, -(1 << (mantissa - self.kept)))
        is_nan = b.compare("ugt", b.bit_and(bits, most), most >> mantissa << mantissa)
        return b.bitcast(b.select(is_nan, bits, kept), given)


def factor_cut(kept: int, element: Type, *, in_pairs: bool) -> FactorCut | None:
    """What cuts float32, or words of bfloat16, to `kept` bits; None: they have no more."""
    own = DataType.FLOAT32 if element is FLOAT else DataType.BFLOAT16
    return FactorCut(kept, in_pairs) if kept < own.mantissa_bits else None


def cut_words(cut: FactorCut | None, b: Builder, words: Value) -> Value:
    """`words` as `cut` leaves them, if there is one."""
    return words if cut is None else cut.of(b, words)


def added_without(builder: LlvmVector, total: Value, factors: tuple[Value, Value], dropped: tuple[int, int]) -> Value:
    """`total` plus the product of two float32 factors without that of what lies below `dropped` bits of each.

    Of as many bits as the engine takes, that difference is exact, so that it is rounded once, as it is added.
    """
    low, high = (_below(builder, factor, bits) for factor, bits in zip(factors, dropped, strict=True))
    product = builder.fma(*factors, builder.neg(builder.mul(low, high)))
    return builder.add(total, product)


def _below(builder: LlvmVector, factor: Value, bits: int) -> Value:
    """What is left of a float32 beyond `bits` bits of mantissa; 0 of an infinity."""
    mask = builder.int_const(-(1 << (DataType.FLOAT32.mantissa_bits - bits)))
    high = builder.from_bits(builder.int_and(builder.bits(factor), mask))
    return builder.select(builder.eq(factor, high), builder.const(0.0), builder.sub(factor, high))
