"""The family of operations that are written in terms of others: computed in float32 inside, rounded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import OperandError, ShapeError
from ttnn_jit.ops.operation import Example, OperandSpec, Operation
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


def as_tuple(results: Any) -> tuple[Any, ...]:
    """The results of a composite, of which a declaration gives one as itself."""
    return results if isinstance(results, tuple) else (results,)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Composite(Operation):
    """An operation that contains a reduction, written as several; elementwise functions are one `emit` instead.

    Attributes:
        decompose: ``decompose(ttnn, *operands, *attributes)``: the result, by calls of other operations on tensors that
            know their `shape`, as a user would write them. The attributes are as `spelled` returned them.
        spelled: ``spelled(*shapes, *attributes)``: the attributes checked and as the IR has them. The shape of a tensor
            that is not given is None. Raises ShapeError where they do not fit.
        result: ``result(*specs, *attributes)``: what it results in, strides aside; a tuple, as of `decompose`, where it
            has several results.
        takes_dtypes: The element types that its operands may have.
        operand_dtypes: Per operand those that it may have, where they differ; in place of `takes_dtypes`.
        kernel_of: The reduction or product that it is, but for elementwise work behind it: the rules of a chip target
            for operands of that bind its own.
    """

    decompose: Callable[..., Any]
    spelled: Callable[..., tuple[Any, ...]]
    result: Callable[..., TensorSpec | tuple[TensorSpec, ...]]
    examples: tuple[Example, ...]
    takes_dtypes: frozenset[DataType] = FLOATS
    operand_dtypes: tuple[frozenset[DataType], ...] = ()
    kernel_of: Operation | None = None

    @property
    def dtypes(self) -> frozenset[DataType]:
        """The element types that some operand may have."""
        return frozenset().union(*self.operand_dtypes) if self.operand_dtypes else self.takes_dtypes

    def written(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[Composite, tuple[Any, ...]]:
        """The operation and the attributes that the IR has for a call.

        Raises:
            CompileError: The attributes do not fit the operands, or these each other, or have other element types.
        """
        if self.operand_dtypes:
            self.check_operands(specs, self.operand_dtypes)
        tensors = (spec for spec in specs if not isinstance(spec, float | int))
        shapes = (None if spec is None else tuple(spec.shape) for spec in tensors)
        try:
            return self, self.spelled(*shapes, *statics)
        except ShapeError as error:
            raise OperandError.of(self.name, error) from None

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """What the declaration says.

        Raises:
            CompileError: The attributes do not fit the operands, or these each other.
        """
        _, written = self.written(specs, statics)
        return tuple(each.with_() for each in as_tuple(self.result(*specs, *written)))  # dense, whatever operands are

    @property
    def rules(self) -> str:
        """What is true of every operation of the family, for docstrings."""
        return "The result has the operand's dtype and layout; it is computed in float32, and rounded once."
