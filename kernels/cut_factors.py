"""LLVM IR text of what a chip's matrix engine leaves of its factors (specs/product_precision.py).

Words are those of kernels/contracting_packing.py: a float32, or a pair of bfloat16.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.ops.emit import Value
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

    def lines(self, name: str, words: str, given: str, count: int) -> Iterator[str]:
        """`name`: what is left of `words`, of the type `given`, one word or a vector of `count`."""
        lanes, bits = (2 * count, 16) if self.in_pairs else (count, 32)
        kind = f"<{lanes} x i{bits}>"
        mantissa = (DataType.BFLOAT16 if self.in_pairs else DataType.FLOAT32).mantissa_bits
        infinity = ((1 << (bits - 1)) - 1) >> mantissa << mantissa
        yield f"  {name}.given = bitcast {given} {words} to {kind}"
        yield f"  {name}.kept = and {kind} {name}.given, splat (i{bits} {-(1 << (mantissa - self.kept))})"
        yield f"  {name}.magnitude = and {kind} {name}.given, splat (i{bits} {(1 << (bits - 1)) - 1})"
        yield f"  {name}.is.nan = icmp ugt {kind} {name}.magnitude, splat (i{bits} {infinity})"
        yield f"  {name}.cut = select <{lanes} x i1> {name}.is.nan, {kind} {name}.given, {kind} {name}.kept"
        yield f"  {name} = bitcast {kind} {name}.cut to {given}"


def factor_cut(kept: int, element: str, *, in_pairs: bool) -> FactorCut | None:
    """What cuts ``float``, or ``i16`` for bfloat16, to `kept` bits; None: they have no more."""
    own = DataType.FLOAT32 if element == "float" else DataType.BFLOAT16
    return FactorCut(kept, in_pairs) if kept < own.mantissa_bits else None


def cut_lines(cut: FactorCut | None, name: str, given: str, count: int) -> Iterator[str]:
    """`name`: ``<name>.uncut`` as `cut` leaves it, if there is one; that is what words are called by then."""
    if cut is not None:
        yield from cut.lines(name, f"{name}.uncut", given, count)


def uncut(cut: FactorCut | None, name: str) -> str:
    """What words are called before `cut_lines` makes `name` of them."""
    return name if cut is None else f"{name}.uncut"


def added_without(builder: LlvmVector, total: Value, factors: tuple[str, str], dropped: tuple[int, int]) -> Value:
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
