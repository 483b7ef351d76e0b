"""Scans along a dimension (cumulative sums and products), and argmax and argmin."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.families.routine import NativeLoop, Routine, RoutineLoops, loops_along
from ttnn_jit.ops.language.axes import axes_of, axis_within, without_axes
from ttnn_jit.ops.language.named_indices import extremum_elements
from ttnn_jit.ops.language.operation import torch_function
from ttnn_jit.ops.language.parameter import DIMENSION, OUTPUT, REDUCED, TENSOR, Parameter
from ttnn_jit.ops.movement.data_movement import RESHAPE
from ttnn_jit.ops.reduction.integer_reductions import reducing_loops
from ttnn_jit.specs.dtypes import SCALARS, DataType
from ttnn_jit.specs.tensor_spec import TensorSpec

Extents = tuple[int, ...]


def _scan_loops(shape: Extents, axis: int) -> RoutineLoops:
    extents, access = loops_along(shape, axis)
    return RoutineLoops(extents, 1, (access(0), access(0)))


def _canonical_scan(shape: Extents, dim: int) -> tuple[int]:
    return (axis_within(dim, len(shape)),)


def _sum_loop(load: Any, store: Any) -> Any:
    """Cumulative sums; floats are added in float64, and each sum is rounded once."""

    def loop(x, xs, sums, ys, extent):  # type: ignore[no-untyped-def]
        total = load(x[0])
        sums[0] = store(total)
        for i in range(1, extent):
            total += load(x[i * xs])
            sums[i * ys] = store(total)

    return loop


def _product_loop(load: Any, store: Any) -> Any:
    """Cumulative products; floats are multiplied in float64, and each product is rounded once."""

    def loop(x, xs, products, ys, extent):  # type: ignore[no-untyped-def]
        total = load(x[0])
        products[0] = store(total)
        for i in range(1, extent):
            total *= load(x[i * xs])
            products[i * ys] = store(total)

    return loop


def _scan(name: str, summary: str, loop: Callable[[Any, Any], Any]) -> Routine:
    return Routine(
        name=name,
        parameters=(
            Parameter("input_tensor", TENSOR, aliases=("input",)),
            Parameter("dim", DIMENSION),
            Parameter("out", OUTPUT),
        ),
        summary=summary,
        loop=loop,
        loops=_scan_loops,
        canonicalize=_canonical_scan,
        accepts_rank_zero=True,
        operand_dtypes=(SCALARS,),
        golden=torch_function(name),
        aten=name,
        examples=((((3, 40),), (-1,)), (((64, 5),), (0,)), (((2, 5, 37),), (1,))),
    )


CUMSUM = _scan(
    "cumsum",
    "The cumulative sums along `dim`: of floats in float64, rounded once; of integers the low bits.",
    _sum_loop,
)
CUMPROD = _scan(
    "cumprod",
    "The cumulative products along `dim`: of floats in float64, rounded once; of integers the low bits.",
    _product_loop,
)


def _index_loop(load: Any, _store: Any) -> Any:
    """The index of the first largest or first smallest element; NaN counts as both."""

    def loop(x, xs, index, extent, largest):  # type: ignore[no-untyped-def]
        best, at = load(x[0]), 0
        for i in range(1, extent):
            value = load(x[i * xs])
            is_better = value > best if largest else value < best
            if is_better or (value != value and best == best):  # noqa: PLR0124 - NaN
                best, at = value, i
        index[0] = at

    return loop


def _index_specs(x: TensorSpec, axes: Sequence[int], keepdim: bool) -> tuple[TensorSpec, ...]:
    shape = without_axes(x.shape, axes, keep=keepdim)
    return (x.interleaved.with_(shape=shape, dtype=DataType.UINT32),)


def _index_routine(name: str, *, largest: bool) -> Routine:
    kind = "largest" if largest else "smallest"
    return Routine(
        name=f"{name}_along",
        ttnn_name=name,
        parameters=REDUCED,
        summary=f"The index of the {kind} element along one dimension.",
        source=f"ttnn.{name}",
        loop=_index_loop,
        loops=reducing_loops,
        canonicalize=_canonical_index,
        result=_index_specs,
        operand_dtypes=(SCALARS,),
        constants=lambda *_: (largest,),
        native=NativeLoop.ARGUMENT_REDUCTION,
        golden=lambda torch, x, axes, keepdim: getattr(torch, name)(x, axes[0], keepdim),
        examples=((((3, 40),), ((1,), True)), (((64, 5),), ((0,), False))),
    )


def _canonical_index(shape: Extents, dims: Sequence[int], keepdim: bool) -> tuple[Any, ...]:
    axes = axes_of(dims, len(shape))
    if len(axes) != 1:
        raise ShapeError(f"`dim` must be one dimension, got {list(dims)}")
    return axes, keepdim


def _lowered_to(routine: Routine) -> Callable[..., Value]:
    """The decomposition to `routine`, along one dimension or over the flattened tensor."""

    def decompose(ops: Ops, x: Value, dims: Sequence[int], keepdim: bool) -> Value:
        shape = x.shape
        axes = axes_of(dims, len(shape))
        if dims and len(axes) > 1:
            raise ShapeError(f"`dim` must be one dimension, got {list(dims)}", help="leave it out for all elements")
        if any(shape[axis] == 0 for axis in axes):
            raise ShapeError(f"a tensor of shape {list(shape)} has no elements there, and so no {routine.ttnn_name}")
        if len(axes) == 1:
            return ops.call(routine, [x], axes, keepdim)
        index = ops.call(routine, [ops.call(RESHAPE, [x], (math.prod(shape),))], (0,), False)
        return ops.call(RESHAPE, [index], without_axes(shape, axes, keep=keepdim))

    return decompose


def _index_operation(routine: Routine, *, largest: bool) -> MacroOperation:
    name, kind = routine.ttnn_name, "largest" if largest else "smallest"
    return MacroOperation(
        name=name,
        parameters=REDUCED,
        summary=f"The index of the {kind} element along `dim`, or in the flat tensor; the first of equal ones, NaN "
        f"is the {kind}.",
        decompose=_lowered_to(routine),
        golden=lambda torch, x, dim, keepdim: getattr(torch, name)(x, dim[0] if dim else None, keepdim),
        compared_elements=extremum_elements,
        aten=name,
        examples=(
            (((3, 40),), ((-1,), True)),
            (((64, 5),), ((0,), False)),
            (((37,),), ((), False)),
            (((2, 5, 33),), ((), True)),
        ),
    )


ARGMAX_ALONG = _index_routine("argmax", largest=True)
ARGMIN_ALONG = _index_routine("argmin", largest=False)
ARGMAX = _index_operation(ARGMAX_ALONG, largest=True)
ARGMIN = _index_operation(ARGMIN_ALONG, largest=False)

OPERATIONS = (CUMSUM, CUMPROD, ARGMAX, ARGMIN)

IN_PROGRAMS = (ARGMAX_ALONG, ARGMIN_ALONG)
"""The routines of `ttnn.argmax` and `ttnn.argmin` in programs."""
