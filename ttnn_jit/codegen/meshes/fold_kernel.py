"""The kernel that folds tensors of several devices, in the order of collectives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttnn_jit.codegen.bodies.steps import Apply, Cast, Constant, Load, Step, Store
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand, kernel_over
from ttnn_jit.ops import OVERLOADS
from ttnn_jit.ops.collectives.device_folds import COMBINING, DIVISION
from ttnn_jit.ops.families.collective import REDUCE_MEAN, Fold, tree_fold
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType

_Emit = Callable[[], int]
"""Emits the steps of a part of a fold, and returns the index of the last one."""


def fold_kernel(fold: Fold, terms: Sequence[Operand], result: Operand, numerics: Numerics) -> BoundKernel:
    """The launch that folds `terms` into `result`, in float32 with one rounding; integers in their own type.

    Bound: the bytes of the terms and of the result.

    Raises:
        NotStridedError: No loops walk all views together.
    """
    inputs = tuple(dict.fromkeys(terms))
    streams = [inputs.index(term) for term in terms]
    is_integer = result.view.spec.dtype.is_integer
    compute = result.view.spec.dtype if is_integer else COMPUTE_TYPE
    loads = [(stream, term.view.spec.dtype) for stream, term in zip(streams, terms, strict=True)]
    return kernel_over(inputs, (result,), _steps(fold, loads, compute, result, len(inputs)), numerics)


def _steps(
    fold: Fold, loads: Sequence[tuple[int, DataType]], compute: DataType, result: Operand, written: int
) -> list[Step]:
    """The steps of a fold of terms, each a stream and its type; a term is loaded right before it is combined."""
    steps: list[Step] = []
    dtype = result.view.spec.dtype

    def emit(step: Step) -> int:
        steps.append(step)
        return len(steps) - 1

    def term(stream: int, own: DataType) -> _Emit:
        def loaded() -> int:
            tile = emit(Load(stream, None))
            return tile if own is compute else emit(Cast(tile, compute, None))

        return loaded

    def combined(left: _Emit, right: _Emit) -> _Emit:
        name = OVERLOADS[COMBINING[fold.reduction]][0].tile_name
        return lambda: emit(Apply(name, (left(), right()), (), compute, None))

    last = tree_fold(combined, [term(*load) for load in loads], fold.levels)()
    if fold.reduction == REDUCE_MEAN:
        count = Constant.of(float(fold.total or len(loads)))
        last = emit(Apply(OVERLOADS[DIVISION][0].tile_name, (last, count), (), compute, None))
    if dtype is not compute:
        last = emit(Cast(last, dtype, None))
    emit(Store(last, written))
    return steps
