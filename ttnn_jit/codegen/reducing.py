"""Kernels of the ops that reduce dimensions of a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.codegen.kernel import Kernel, Operand, kernel_over
from ttnn_jit.codegen.launch import View
from ttnn_jit.codegen.loops import refusal
from ttnn_jit.codegen.steps import Accumulate, Cast, Load, Step, Store
from ttnn_jit.dialects.declared_ops import ReductionOp
from ttnn_jit.ops.axes import without_axes
from ttnn_jit.specs.access import Access, Dim
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import Numerics


def reducing_kernels(op: ReductionOp, numerics: Numerics) -> list[Kernel]:
    """The launch of an op that reduces one dimension, as `ttir-decompose-composites` leaves them."""
    if len(op.axes) != 1:
        raise refusal(op, "it reduces not one dimension", "run the stage `ttir-decompose-composites`")
    source, result = Operand.of(op.operands[0]), Operand.of(op.results[0])
    if not op.keeps_dimensions:
        result = Operand(result.value, View(result.view.spec, _without(source.view.shape, op.axes[0])))
    steps: list[Step] = [Load(0, None)]
    if source.view.spec.dtype is not COMPUTE_TYPE:
        steps.append(Cast(0, COMPUTE_TYPE, None))
    steps.append(Accumulate(len(steps) - 1, op.operation.tile_name))
    if result.view.spec.dtype is not COMPUTE_TYPE:
        steps.append(Cast(len(steps) - 1, result.view.spec.dtype, None))
    steps.append(Store(len(steps) - 1, 1))
    return [kernel_over((source,), (result,), steps, numerics, axis=op.axes[0])]


def _without(shape: Sequence[int], axis: int) -> Access:
    """From the elements of rows, of extent 1 along `axis`, to those of a tensor without that dimension."""
    others = (Dim(dim) for dim in range(len(shape)) if dim != axis)
    return Access(without_axes(shape, (axis,), keep=True), tuple(others))
