"""The precision of a chip's matrix engine.

The engine multiplies seven bits of the first factor by five of the second, hidden bit included, in up to four phases,
and accumulates in DST (tt-metal, tech report "Matrix Engine"; tt-isa-documentation, ``SrcA`` and ``SrcB``). Float32
factors are truncated to TF32. Under IEEE numerics none of this applies.
"""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType
from ttnn_jit.specs.tensor_spec import MathFidelity

_MOST = (10, 9)
"""Mantissa bits after the hidden one that reach the engine, of the first factor and of the second."""
_ONE_PHASE = (6, 4)
"""Mantissa bits after the hidden one that one phase multiplies."""
_FP32 = "fp32_dest_acc_en"
_ANY = "default"


@dataclass(frozen=True)
class ProductPrecision:
    """The requested precision of a product of matrices.

    Attributes:
        fidelity: Phases of the engine; None leaves it to the operation.
        fp32_dest_acc: Whether sums are float32; else they are rounded to bfloat16 after every tile along the inner
            dimension.
    """

    fidelity: MathFidelity | None
    fp32_dest_acc: bool

    def __str__(self) -> str:
        """Its text in the IR, ``HiFi2, fp32_dest_acc_en``."""
        name = self.fidelity.name if self.fidelity else _ANY
        return f"{name}, {_FP32}" if self.fp32_dest_acc else name

    @staticmethod
    def of(text: str) -> ProductPrecision:
        """The inverse of `str`.

        Raises:
            ValueError: The text is no precision.
        """
        name, *rest = text.split(", ")
        if (name != _ANY and name not in MathFidelity.__members__) or rest not in ([], [_FP32]):
            raise ValueError(text)
        return ProductPrecision(MathFidelity.__members__.get(name), bool(rest))

    def or_fidelity(self, fidelity: MathFidelity) -> ProductPrecision:
        """The precision with `fidelity` if it has none."""
        return self if self.fidelity else replace(self, fidelity=fidelity)


def names_fidelity(text: str | None) -> bool:
    """Whether a precision in the IR has a fidelity."""
    try:
        return text is not None and ProductPrecision.of(text).fidelity is not None
    except ValueError:
        return False


def eager_precision(factors: tuple[DataType, DataType], result: DataType, *, has_grid: bool) -> ProductPrecision:
    """The default precision of eager ttnn.

    Args:
        factors: Element types of both factors.
        result: Element type of the result.
        has_grid: Whether the caller gave a program config or a core grid.
    """
    if all(dtype is COMPUTE_TYPE for dtype in factors):
        fidelity = MathFidelity.HiFi4
    elif has_grid or all(dtype.is_block_float for dtype in factors):
        fidelity = MathFidelity.LoFi
    else:
        fidelity = MathFidelity.HiFi2
    return ProductPrecision(fidelity, result is COMPUTE_TYPE)


@dataclass(frozen=True)
class Multiplication:
    """The arithmetic of the engine for factors of two element types.

    Attributes:
        kept: Mantissa bits of each factor, the rest of which is truncated; NaN stays NaN.
        dropped: If given, the product of the bits below these many mantissa bits of both factors is dropped.
        rounds_tiles: Whether the sum is rounded to bfloat16 after every 32 terms, and after the last.
    """

    kept: tuple[int, int]
    dropped: tuple[int, int] | None
    rounds_tiles: bool

    def __str__(self) -> str:
        """Its text in the stage `host`."""
        left, right = self.kept
        dropped = f" without those of {self.dropped[0]} by {self.dropped[1]} and below" if self.dropped else ""
        rounded = ", bf16 after each tile" if self.rounds_tiles else ""
        return f"{left} by {right} mantissa bits{dropped}{rounded}"

    @property
    def error(self) -> float:
        """The bound of the relative error of a product, or of the sum if sums are rounded."""
        return sum(2.0 ** -(bits + 1) for bits in self.kept) + (2.0**-8 if self.rounds_tiles else 0.0)

    @property
    def swapped(self) -> Multiplication:
        """The same with the factors in the other order."""
        left, right = self.kept
        return replace(self, kept=(right, left), dropped=self.dropped and (self.dropped[1], self.dropped[0]))


def multiplication(text: str | None, left: DataType, right: DataType) -> Multiplication | None:
    """The arithmetic of a precision in the IR for factors of these types; None: exact products, summed in float32.

    Raises:
        ValueError: It is no precision, or has no fidelity.
    """
    if text is None:
        return None
    precision = ProductPrecision.of(text)
    own = tuple(dtype.unpacked.mantissa_bits for dtype in (left, right))
    first, second = map(min, _MOST, own)
    match precision.fidelity:
        case None:
            raise ValueError(text)
        case MathFidelity.LoFi:
            kept = _ONE_PHASE
        case MathFidelity.HiFi2:
            kept = (_ONE_PHASE[0], second)
        case _:
            kept = (first, second)
    dropped = _ONE_PHASE if precision.fidelity is MathFidelity.HiFi3 else None
    found = Multiplication(kept, dropped, rounds_tiles=not precision.fp32_dest_acc)
    return None if found == Multiplication((own[0], own[1]), None, rounds_tiles=False) else found
