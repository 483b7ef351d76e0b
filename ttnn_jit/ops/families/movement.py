"""The family of movements: every element of the result is an element of an operand, or a fill value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, OperandDTypeError, OperandError, ShapeError
from ttnn_jit.ops.language.operation import Example, OperandSpec, Operation
from ttnn_jit.ops.language.parameter import TENSOR, Parameter
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.access.access import Access, Part
from ttnn_jit.specs.dtypes import MOVABLE
from ttnn_jit.specs.target import FACE
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

Extents = tuple[int, ...]
CanonicalCall = tuple["Movement", tuple[Any, ...]]
"""An operation and the values of its attributes."""

OPERAND = Parameter("input_tensor", TENSOR, aliases=("input", "tensor"))
"""The one tensor that is moved."""


@dataclass(frozen=True)
class BackgroundFill:
    """The fill of a result outside the blocks of its operands.

    Attributes:
        extents: The extents of the result.
        number: The value of every filled element.
    """

    extents: Extents
    number: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Movement(Operation):
    """An operation that moves elements.

    Attributes:
        access: For an operation of one tensor: ``access(shape, *attributes)`` maps result indices to operand indices.
            The attributes are canonical.
        joined: For an operation of several tensors: ``joined(shapes, *attributes)``: per operand, its block of the
            result; the last of overlapping blocks wins.
        filled: For an operation whose blocks do not cover the result: ``filled(shapes, *attributes)``: the fill.
        canonicalize: ``canonicalize(*shapes, *attributes)``: the canonical call: checked attributes, with axes counted
            from the front, of this operation or of an equivalent one. Raises ShapeError where they do not fit.
        dtypes: The element types of its operands: all.
    """

    access: Callable[..., Access] | None = None
    operand_blocks: Callable[..., tuple[Part, ...]] | None = None
    background_fill: Callable[..., BackgroundFill] | None = None
    canonicalize: Callable[..., CanonicalCall]
    dtypes: frozenset[DataType] = MOVABLE
    examples: tuple[Example, ...]

    def parts(self, shapes: Sequence[Extents], statics: Sequence[Any]) -> tuple[Part, ...]:
        """Per operand, its block of the result, for canonical attributes."""
        return _parts(self, tuple(shapes), tuple(statics))

    def background(self, shapes: Sequence[Extents], statics: Sequence[Any]) -> BackgroundFill | None:
        """The fill around those blocks, for canonical attributes; None if they cover the result."""
        return None if self.background_fill is None else self.background_fill(tuple(shapes), *statics)

    def canonicalized(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> CanonicalCall:
        """The operation and the canonical attributes of a call.

        Raises:
            CompileError: The attributes do not fit the operands, or these each other.
        """
        shapes = _shapes(specs)
        try:
            operation, canonical = (
                self.canonicalize(shapes, *statics) if self.is_variadic else self.canonicalize(*shapes, *statics)
            )
            return operation, operation.with_numbers_of(_tensors(specs)[0].dtype, canonical)
        except (ShapeError, ArgumentError) as error:
            raise OperandError.of(self.name, error) from None

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """The result has the first operand's dtype, layout and memory, or interleaved DRAM if that is sharded.

        Raises:
            CompileError: The attributes do not fit the operands, these differ in dtype, or the result is larger than
                any tensor.
        """
        operation, canonical = self.canonicalized(specs, statics)
        tensors = _tensors(specs)
        first = tensors[0]
        if len(dtypes := {spec.dtype for spec in tensors}) > 1:
            named = " and ".join(sorted(dtype.name for dtype in dtypes))
            raise OperandDTypeError(f"`{self.name}` got tensors of {named}", help="cast them to one dtype first")
        try:
            return (
                first.with_(
                    shape=operation.extents(_shapes(specs), canonical), memory_config=first.memory_config.unsharded
                ),
            )
        except ShapeError as error:
            raise OperandError.of("", error) from None

    def only_moves(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> bool:  # noqa: ARG002 - whatever they are
        """True."""
        return True

    def requantizes(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> bool:
        """Whether a call on block floats may change which elements share an exponent."""
        operation, canonical = self.canonicalized(specs, statics)
        shapes = _shapes(specs)
        if operation.access is None or operation.background(shapes, canonical) is not None:
            return True
        (part,) = operation.parts(shapes, canonical)
        return not part.access.keeps_runs(shapes[0], FACE)

    def extents(self, shapes: Sequence[Extents], statics: Sequence[Any]) -> Extents:
        """The extents of the result, for canonical attributes."""
        if (background := self.background(shapes, statics)) is not None:
            return background.extents
        parts = self.parts(shapes, statics)
        if self.operand_blocks is None:  # then the one block is all of the result
            return parts[0].access.extents
        ends = (tuple(each.end for each in part.intervals) for part in parts)
        return tuple(map(max, zip(*ends, strict=True)))

    @property
    def rules(self) -> str:
        """Sentences for docstrings that hold for every operation of the family."""
        return "The result has the operand's dtype and layout, and every element its bits."


@memoized(maxsize=1024)
def _parts(operation: Movement, shapes: tuple[Extents, ...], statics: tuple[Any, ...]) -> tuple[Part, ...]:
    """See `Movement.parts`; every stage of a compile asks for them."""
    if operation.operand_blocks is not None:
        return operation.operand_blocks(shapes, *statics)
    assert operation.access is not None, "a movement has `access` or `joined`"
    access = operation.access(*shapes, *statics)
    return (Part((0,) * len(access.extents), access),)


def _tensors(specs: Sequence[OperandSpec]) -> list[TensorSpec]:
    return [spec for spec in specs if isinstance(spec, TensorSpec)]


def _shapes(specs: Sequence[OperandSpec]) -> tuple[Extents, ...]:
    return tuple(tuple(spec.shape) for spec in _tensors(specs))
