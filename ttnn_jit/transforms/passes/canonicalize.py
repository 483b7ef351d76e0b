"""canonicalize: removes identity ops and ops without users."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from ttnn_jit.dialects import operation_of, ttir
from ttnn_jit.dialects.declared_ops import ContractionOp
from ttnn_jit.dialects.layout import dtype_of
from ttnn_jit.dialects.writing.editing import erase, insert_before, ops_of, replace_uses
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.transforms.function_bodies import has_no_effects
from ttnn_jit.transforms.kernels.pass_bases import FunctionPass


@dataclass(frozen=True)
class Canonicalize(FunctionPass):
    """Erases dead ops and folds identities: ops whose result is an operand bit for bit (any NaN equals any NaN).

    ``x * 1``, ``x / 1``, ``x + -0.0`` and ``x - 0.0`` are identities under IEEE numerics. Under device numerics they
    are none for a bf16 function argument, since the op flushes denormals and turns NaN into infinity; they are for an
    op's result, to which this has been done already. Returned values are never folded, because a result has its own
    buffer. A contraction of no terms is replaced by zeros.
    """

    name = "canonicalize"

    def change(self, block: Block, target: SystemDesc) -> None:
        """Simplifies one function."""
        for op in ops_of(block):
            fold_empty_contraction(op)
            fold(op, target.numerics)
        erase_dead_ops(block)


def fold(op: Operation, numerics: Numerics) -> None:
    """Replaces the result of `op` by the operand that it equals, if any."""
    copied = copied_operand(op)
    if copied is None or copied.type != op.results[0].type or not _is_exact(copied, numerics):
        return
    if all(isinstance(use.operation, ttir.TensorElementwiseOp) for use in op.results[0].uses):
        replace_uses(op.results[0], copied)


def fold_empty_contraction(op: Operation) -> None:
    """Replaces a contraction whose sums have no terms by zeros, for loops have at least one iteration."""
    if not isinstance(op, ContractionOp) or op.terms:
        return
    (result,) = op.results
    assert isinstance(result.type, TensorType), "its verifier checks it"
    zeros = ttir.FullOp.make(0.0, result.type, op.location)
    insert_before(zeros, op)
    replace_uses(result, zeros.result)


def copied_operand(op: Operation) -> SSAValue | None:
    """The operand that equals the result of `op` in float arithmetic; None if there is none."""
    operation = operation_of(op)
    algebra = operation.algebra if operation is not None else None
    if algebra is None or algebra.right_identity is None:
        return None
    x, y = op.operands
    if _is_full_of(y, algebra.right_identity):
        return x
    return y if algebra.commutative and _is_full_of(x, algebra.right_identity) else None


def _is_full_of(value: SSAValue, number: float) -> bool:
    """Whether every element of `value` is `number`, its sign included."""
    if not isinstance(value.owner, ttir.FullOp):
        return False
    filled = value.owner.fill_value.value.data
    return filled == number and math.copysign(1.0, filled) == math.copysign(1.0, number)


def _is_exact(value: SSAValue, numerics: Numerics) -> bool:
    if numerics is Numerics.IEEE or dtype_of(value.type).is_compute_type:
        return True
    return isinstance(value.owner, ttir.TensorElementwiseOp)


def erase_dead_ops(block: Block) -> None:
    """Erases dead ops, last first."""
    for op in reversed(ops_of(block)):
        if op.results and all(result.first_use is None for result in op.results) and has_no_effects(op):
            erase(op)
