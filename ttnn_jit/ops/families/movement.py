"""The family of operations that move elements and compute none: every element of the result is one of the operand's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, OperandDTypeError, OperandError, ShapeError
from ttnn_jit.ops.language.operation import Example, OperandSpec, Operation
from ttnn_jit.ops.language.parameter import TENSOR, Parameter
from ttnn_jit.process.dataclass import dataclass
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
class Background:
    """What a result has where no operand's elements are.

    Attributes:
        extents: The result's.
        number: Every such element.
    """

    extents: Extents
    number: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Movement(Operation):
    """An operation that moves elements.

    Attributes:
        access: Of an operation of one tensor: ``access(shape, *attributes)``: which element of an operand of that
            shape every element of the result is. It may count on what `canonicalize` returned.
        joined: Of an operation of several tensors: ``joined(shapes, *attributes)``: per operand, the block of the
            result that it makes; of blocks that overlap the last one stays.
        filled: Of an operation whose operands do not make up the result: ``filled(shapes, *attributes)``: what is
            around the blocks that they make.
        canonicalize: ``canonicalize(*shapes, *attributes)``: the canonical call: the attributes, checked and counted
            from the front, of this operation or of another that says the same. Raises ShapeError where they do not fit.
        dtypes: The element types that it takes: all.
    """

    access: Callable[..., Access] | None = None
    joined: Callable[..., tuple[Part, ...]] | None = None
    filled: Callable[..., Background] | None = None
    canonicalize: Callable[..., CanonicalCall]
    dtypes: frozenset[DataType] = MOVABLE
    examples: tuple[Example, ...]

    def parts(self, shapes: Sequence[Extents], statics: Sequence[Any]) -> tuple[Part, ...]:
        """Per operand, the block of the result that it makes, for canonical attributes."""
        if self.joined is not None:
            return self.joined(tuple(shapes), *statics)
        assert self.access is not None, "a movement says what it moves where"
        access = self.access(*shapes, *statics)
        return (Part((0,) * len(access.extents), access),)

    def background(self, shapes: Sequence[Extents], statics: Sequence[Any]) -> Background | None:
        """What is around those blocks, for canonical attributes; None if they make up the result."""
        return None if self.filled is None else self.filled(tuple(shapes), *statics)

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
        """The first operand's dtype and layout; its memory too, unless it is sharded: then DRAM, interleaved.

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
        """Every call does."""
        return True

    def regroups(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> bool:
        """Whether a call may change which elements of a row share an exponent, where they are block floats."""
        operation, canonical = self.canonicalized(specs, statics)
        shapes = _shapes(specs)
        if operation.access is None or operation.background(shapes, canonical) is not None:
            return True
        (part,) = operation.parts(shapes, canonical)
        return not part.access.keeps_runs(shapes[0], FACE)

    def extents(self, shapes: Sequence[Extents], statics: Sequence[Any]) -> Extents:
        """The result's, for canonical attributes."""
        if (background := self.background(shapes, statics)) is not None:
            return background.extents
        parts = self.parts(shapes, statics)
        ends = (tuple(max(each[0], each[-1]) + 1 if each else each.start for each in part.ranges) for part in parts)
        return tuple(map(max, zip(*ends, strict=True)))

    @property
    def rules(self) -> str:
        """What is true of every operation of the family, for docstrings."""
        return "The result has the operand's dtype and layout, and every element its bits."


def _tensors(specs: Sequence[OperandSpec]) -> list[TensorSpec]:
    return [spec for spec in specs if isinstance(spec, TensorSpec)]


def _shapes(specs: Sequence[OperandSpec]) -> tuple[Extents, ...]:
    return tuple(tuple(spec.shape) for spec in _tensors(specs))
