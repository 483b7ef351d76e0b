"""The family of operations that make one element of many, along dimensions of a tensor.

The bits of a result depend on the extents of the reduced dimensions alone. Several dimensions are reduced one after the
other, the last one first, in float32, with one rounding at the end. Along a dimension the element i joins chain i mod
`CHAINS`, in ascending order, in blocks of `BLOCK`; the chains of a block fold by halving, each with the one half their
number further on; the blocks fold pairwise, neighbours, level by level, an odd last one carried.
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
"""Running results of a block, one for every column of a tile."""

BLOCK = 4096
"""Elements along a dimension that share their chains."""

SHORT_ROW = 1 << 14
"""Most elements along a reduced dimension whose values a kernel may keep until it needs them again."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Reduction(Operation):
    """An operation that reduces dimensions.

    Attributes:
        combined_by: The elementwise operation that makes one result of two; commutative, and the same under device
            numerics.
        identity: What every chain begins with: combined with x it is x, and is the result of no elements.
        of_integers: What it is of integers, along the last dimension or one of no elements, and along another
            one.
        reduces_nothing: Whether it is defined of no elements.
    """

    combined_by: Elementwise
    identity: float
    of_integers: tuple[Routine, Routine] | None = None
    reduces_nothing: bool = True
    examples: tuple[Example, ...] = (
        (((3, 40),), ((-1,), True)),
        (((64, 33),), ((0,), False)),
        (((2, 5, 37),), ((), False)),
    )

    def canonicalized(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[Reduction, tuple[Any, ...]]:
        """The operation, its dimensions counted from the front, and whether they stay.

        Raises:
            CompileError: There is no such dimension, or it has no elements.
        """
        (shape,) = (spec.shape for spec in specs if isinstance(spec, TensorSpec))
        dims, keepdim = statics
        try:
            axes = axes_of(dims, len(shape))
        except ShapeError as error:
            raise OperandError.of(self.name, error) from None
        if not self.reduces_nothing and any(shape[axis] == 0 for axis in axes):
            raise OperandShapeError(f"`{self.name}` of no elements: the tensor has shape {list(shape)}")
        return self, (axes, keepdim)

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """The operand's dtype and layout, in DRAM, interleaved.

        Raises:
            CompileError: There is no such dimension, or it has no elements.
        """
        (spec,) = (spec for spec in specs if isinstance(spec, TensorSpec))
        _, (axes, keepdim) = self.canonicalized(specs, statics)
        return (spec.interleaved.with_(shape=without_axes(spec.shape, axes, keep=keepdim)),)

    @property
    def dtypes(self) -> frozenset[DataType]:
        """Floats, and integers if it says what it is of these.

        Raises:
            TypeError: What combines two takes no floats.
        """
        if not self.combined_by.dtypes >= FLOATS:
            raise TypeError(f"`{self.combined_by.name}` combines no floats: of integers `{self.name}` is `of_integers`")
        return FLOATS if self.of_integers is None else SCALARS

    def combine(self, b: Any, x: Any, y: Any) -> Any:
        """One result of two, over the protocol of ops/language/emit.py."""
        return self.combined_by.emit(b, x, y)

    @property
    def rules(self) -> str:
        """What is true of every operation of the family, for docstrings."""
        return (
            "The result has the operand's dtype and layout; floats are computed in float32 and rounded once, and "
            "of integers the low bits are kept. "
            "Without `dim`, or with an empty one, all dimensions are reduced."
        )


def roundings(extent: int) -> int:
    """The most additions that an element goes through on its way into the sum of `extent`."""
    blocks = max(1, -(-extent // BLOCK))
    return -(-min(extent, BLOCK) // CHAINS) + (CHAINS - 1).bit_length() + (blocks - 1).bit_length()


def with_layout(spec: TensorSpec, layout: Layout | None) -> TensorSpec:
    """`spec` in `layout`, if it is given; tensors of torch and numpy have but one."""
    is_foreign = spec.memory_config.buffer_type is BufferType.SYSTEM_MEMORY
    return spec if layout is None or is_foreign else spec.with_(layout=layout)
