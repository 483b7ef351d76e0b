"""The tile ops that accumulate, by family: the steps that they are, and the loops of the kernel around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ttnn_jit.codegen.bound_kernel import Operand
from ttnn_jit.codegen.contracting import contracted_operands, contracting_steps
from ttnn_jit.codegen.reduced_operands import ReducedOperands
from ttnn_jit.codegen.reducing import reduced_operands, reducing_steps
from ttnn_jit.codegen.steps import Constant, Step
from ttnn_jit.dialects.d2m import AccumulatingOp, GenericOp, TileContractOp, TileReduceOp
from ttnn_jit.specs.tensor_spec import DataType


class _Family(NamedTuple):
    steps: Callable[[Any, Sequence[tuple[int, DataType]], Sequence[Constant], int], list[Step]]
    operands: Callable[[GenericOp, Any, int, Sequence[Operand]], ReducedOperands]


_FAMILIES: dict[type[AccumulatingOp], _Family] = {
    TileReduceOp: _Family(reducing_steps, reduced_operands),
    TileContractOp: _Family(contracting_steps, contracted_operands),
}


def accumulating_steps(
    op: AccumulatingOp, tiles: Sequence[tuple[int, DataType]], numbers: Sequence[Constant], following: int
) -> list[Step]:
    """The steps of `op`, the last of which makes its result.

    Args:
        op: The op.
        tiles: The steps whose tiles it reads beside its accumulator, and their element types.
        numbers: The numbers that it reads.
        following: The number of the first of its steps.

    Raises:
        CompileError: It reads a tile or a number that no kernel accumulates.
    """
    return _family(op).steps(op, tiles, numbers, following)


def accumulated_operands(
    generic: GenericOp, op: AccumulatingOp, dim: int, operands: Sequence[Operand]
) -> ReducedOperands:
    """The operands of a kernel that holds `op` and reduces its dimension `dim`, inputs first and one output.

    Raises:
        CompileError: Maps, extents and what the op does to its tiles do not fit each other, or padding takes part.
    """
    return _family(op).operands(generic, op, dim, operands)


def _family(op: AccumulatingOp) -> _Family:
    return next(family for kind, family in _FAMILIES.items() if isinstance(op, kind))
