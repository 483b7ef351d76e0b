"""The tile ops that accumulate, by family: the steps that they are, and the loops of the kernel around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ttnn_jit.codegen.bodies.steps import Constant, Step
from ttnn_jit.codegen.reading.contracting import contracted_operands, contracting_steps
from ttnn_jit.codegen.reading.reduced_operands import ReducedOperands
from ttnn_jit.codegen.reading.reducing import reduced_operands, reducing_steps
from ttnn_jit.codegen.schedules.bound_kernel import Operand
from ttnn_jit.dialects.d2m import AccumulatingOp, GenericOp, TileReduceOp
from ttnn_jit.specs.tensor_spec import DataType


class OperationFamily(NamedTuple):
    """How the tile ops of a family are read.

    Attributes:
        steps: Of an op, the steps whose tiles it reads beside its accumulator with their element types, the numbers
            that it reads, and the number of its first step: its steps, of which the last one makes its result. Raises
            CompileError if no kernel accumulates that.
        operands: Of a generic, the op, the dimension that is reduced, and the operands, inputs first and one output:
            these as views over common dimensions. Raises CompileError if maps, extents and what the op does to its
            tiles do not fit each other, or padding takes part.
    """

    steps: Callable[[Any, Sequence[tuple[int, DataType]], Sequence[Constant], int], list[Step]]
    operands: Callable[[GenericOp, Any, int, Sequence[Operand]], ReducedOperands]


def operation_family(op: AccumulatingOp) -> OperationFamily:
    """The family of an op."""
    if isinstance(op, TileReduceOp):
        return OperationFamily(reducing_steps, reduced_operands)
    return OperationFamily(contracting_steps, contracted_operands)
