"""The family of operations that move elements and compute none: every element of the result is one of the operand's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError, ShapeError
from ttnn_jit.ops.operation import Operation
from ttnn_jit.specs.access import Access
from ttnn_jit.specs.memory_config import MemoryConfig
from ttnn_jit.specs.tensor_spec import DataType, Shape, TensorSpec

Extents = tuple[int, ...]
Spelling = tuple["Movement", tuple[Any, ...]]
"""An operation and the values of its attributes."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Movement(Operation):
    """An operation that moves elements.

    Attributes:
        access: ``access(shape, *attributes)``: which element of an operand of that shape every element of the result
            is. It may count on what `spelled` returned.
        spelled: ``spelled(shape, *attributes)``: how the IR writes the call: the attributes checked and counted from
            the front, of this operation or of another that says the same. Raises ShapeError where they do not fit.
        examples: Shapes and attributes that it is tested with.
    """

    access: Callable[..., Access]
    spelled: Callable[..., Spelling]
    dtypes: frozenset[DataType] = frozenset(DataType)
    examples: tuple[tuple[Extents, tuple[Any, ...]], ...]

    def written(self, specs: Sequence[TensorSpec | float], statics: Sequence[Any]) -> Spelling:
        """The operation and the attributes that the IR has for a call.

        Raises:
            CompileError: The attributes do not fit the operand.
        """
        try:
            return self.spelled(_shape(specs), *statics)
        except ShapeError as error:
            raise CompileError(f"`{self.name}`: {error.message}", help=error.help) from None

    def results(self, specs: Sequence[TensorSpec | float], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """The operand's dtype and layout; its memory too, where that is not sharded, else the same memory interleaved.

        Raises:
            CompileError: The attributes do not fit the operand, or the result is larger than any tensor.
        """
        operation, written = self.written(specs, statics)
        (operand,) = specs
        assert isinstance(operand, TensorSpec)
        config = operand.memory_config
        if config.is_sharded():
            config = MemoryConfig(buffer_type=config.buffer_type)
        try:
            extents = operation.access(tuple(operand.shape), *written).extents
            return (operand.with_(shape=Shape(extents), memory_config=config),)
        except ShapeError as error:
            raise CompileError(error.message, help=error.help) from None

    @property
    def rules(self) -> str:
        """What is true of every operation of the family, for docstrings."""
        return "The result has the operand's dtype and layout, and every element its bits."


def _shape(specs: Sequence[TensorSpec | float]) -> Extents:
    (operand,) = specs
    assert isinstance(operand, TensorSpec)
    return tuple(operand.shape)
