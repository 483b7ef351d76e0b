"""Accumulating tile ops by family: their steps, and the loops of the kernel around them."""

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
    """The functions that read the tile ops of a family.

    Attributes:
        steps: Takes an op, the steps of its operands other than the accumulator with their element types, its scalar
            operands, and the number of its first step. Gives its steps, the last of which computes its result. Raises
            CompileError if no kernel implements the accumulation.
        operands: Takes a generic, the op, the reduced dimension, and the operands, inputs first and one output. Gives
            them as views over common dimensions. Raises CompileError if maps, extents and the op's tile semantics are
            inconsistent, or padding would contribute.
    """

    steps: Callable[[Any, Sequence[tuple[int, DataType]], Sequence[Constant], int], list[Step]]
    operands: Callable[[GenericOp, Any, int, Sequence[Operand]], ReducedOperands]


def operation_family(op: AccumulatingOp) -> OperationFamily:
    """The operation family of an op."""
    if isinstance(op, TileReduceOp):
        return OperationFamily(reducing_steps, reduced_operands)
    return OperationFamily(contracting_steps, contracted_operands)
