"""The family of reductions along dimensions of a tensor.

The order of the arithmetic depends only on the extents of the reduced dimensions. Several dimensions are reduced one
after the other, the last one first, in float32, with one rounding at the end. A dimension is cut into blocks of `BLOCK`
elements. Within a block, element i is added to accumulator i mod `CHAINS`, in ascending order. The accumulators of a
block are folded by halving: i and i + n/2 of n. The blocks are folded pairwise as a tree of neighbours; an odd last one
moves up a level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import OperandError, OperandShapeError, ShapeError
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.families.routine import Routine
from ttnn_jit.ops.language.axes import axes_of, without_axes
from ttnn_jit.ops.language.operation import Example, OperandSpec, Operation
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.cores.memory_config import BufferType
from ttnn_jit.specs.dtypes import FLOATS, SCALARS, DataType
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

CHAINS = 32
"""Accumulators of a block, one for every column of a tile."""

BLOCK = 4096
"""Elements along a dimension that share their accumulators."""

SHORT_ROW = 1 << 14
"""Most elements along a reduced dimension that a kernel may buffer for a second use."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Reduction(Operation):
    """An operation that reduces dimensions.

    Attributes:
        combiner: The binary elementwise operation of the reduction; commutative, and the same under device numerics.
        identity: The start value of accumulators: the identity of `combiner`, and the result of no elements.
        of_integers: The routines for integers: along the last or an empty dimension, and along another one.
        allows_empty: Whether the reduction of no elements is defined.
    """

    combiner: Elementwise
    identity: float
    of_integers: tuple[Routine, Routine] | None = None
    allows_empty: bool = True
    examples: tuple[Example, ...] = (
        (((3, 40),), ((-1,), True)),
        (((64, 33),), ((0,), False)),
        (((2, 5, 37),), ((), False)),
    )

    def canonicalized(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[Reduction, tuple[Any, ...]]:
        """The operation, its axes counted from the front, and `keepdim`.

        Raises:
            CompileError: There is no such dimension, or it has no elements.
        """
        (shape,) = (spec.shape for spec in specs if isinstance(spec, TensorSpec))
        dims, keepdim = statics
        try:
            axes = axes_of(dims, len(shape))
        except ShapeError as error:
            raise OperandError.of(self.name, error) from None
        if not self.allows_empty and any(shape[axis] == 0 for axis in axes):
            raise OperandShapeError(f"`{self.name}` of no elements: the tensor has shape {list(shape)}")
        return self, (axes, keepdim)

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """The result has the operand's dtype and layout, in DRAM, interleaved.

        Raises:
            CompileError: There is no such dimension, or it has no elements.
        """
        (spec,) = (spec for spec in specs if isinstance(spec, TensorSpec))
        _, (axes, keepdim) = self.canonicalized(specs, statics)
        return (spec.interleaved.with_(shape=without_axes(spec.shape, axes, keep=keepdim)),)

    @property
    def dtypes(self) -> frozenset[DataType]:
        """Floats, and integers if it has `of_integers`.

        Raises:
            TypeError: `combiner` does not support floats.
        """
        if not self.combiner.dtypes >= FLOATS:
            raise TypeError(f"`{self.combiner.name}` does not support floats; declare integers by `of_integers`")
        return FLOATS if self.of_integers is None else SCALARS

    def combine(self, b: Any, x: Any, y: Any) -> Any:
        """The combination of two partial results, over the protocol of ops/language/emit.py."""
        return self.combiner.emit(b, x, y)

    @property
    def rules(self) -> str:
        """Sentences for docstrings that hold for every operation of the family."""
        return (
            "The result has the operand's dtype and layout; floats are computed in float32 and rounded once, and "
            "of integers the low bits are kept. "
            "Without `dim`, or with an empty one, all dimensions are reduced."
        )


def roundings(extent: int) -> int:
    """The depth of the sum of `extent` elements: the most additions between an element and the result."""
    blocks = max(-(-extent // BLOCK), 1)
    return -(-min(extent, BLOCK) // CHAINS) + (CHAINS - 1).bit_length() + (blocks - 1).bit_length()


def with_layout(spec: TensorSpec, layout: Layout | None) -> TensorSpec:
    """`spec` in `layout`, if that is not None; tensors of torch and numpy keep theirs."""
    is_foreign = spec.memory_config.buffer_type is BufferType.SYSTEM_MEMORY
    return spec if layout is None or is_foreign else spec.with_(layout=layout)
