"""Kernels of the ops that reduce dimensions of a tensor."""

from __future__ import annotations

from ttnn_jit.codegen.kernel import Kernel, Operand, kernel_over
from ttnn_jit.codegen.loops import refusal
from ttnn_jit.codegen.steps import Accumulate, Cast, Load, Step, Store
from ttnn_jit.dialects.declared_ops import ReductionOp
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import Numerics


def reducing_kernels(op: ReductionOp, numerics: Numerics) -> list[Kernel]:
    """The launch of an op that reduces one dimension and keeps it, as `ttir-decompose-composites` leaves them."""
    if len(op.axes) != 1 or not op.keeps_dimensions:
        raise refusal(op, "it reduces not one dimension", "run the stage `ttir-decompose-composites`")
    source, result = Operand.of(op.operands[0]), Operand.of(op.results[0])
    steps: list[Step] = [Load(0, None)]
    if source.view.spec.dtype is not COMPUTE_TYPE:
        steps.append(Cast(0, COMPUTE_TYPE, None))
    steps.append(Accumulate(len(steps) - 1, op.operation.tile_name))
    if result.view.spec.dtype is not COMPUTE_TYPE:
        steps.append(Cast(len(steps) - 1, result.view.spec.dtype, None))
    steps.append(Store(len(steps) - 1, 1))
    return [kernel_over((source,), (result,), steps, numerics, axis=op.axes[0])]
