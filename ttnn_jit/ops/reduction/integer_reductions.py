"""Reductions of integers along one dimension: exact modulo the width of the element type, in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.ops.families.routine import Routine, RoutineLoops, loops_along
from ttnn_jit.ops.language.axes import axes_of, without_axes
from ttnn_jit.ops.language.parameter import REDUCED
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Const, Dim, Expr
from ttnn_jit.specs.dtypes import INTEGERS
from ttnn_jit.specs.tensor_spec import TensorSpec

Extents = tuple[int, ...]


def reducing_loops(shape: Extents, axes: Sequence[int], keepdim: bool) -> RoutineLoops:
    """The loops of a reduction along one dimension."""
    (axis,) = axes
    extents, access = loops_along(shape, axis)
    others: list[Expr] = [Dim(dim) for dim in range(len(shape) - 1)]
    result = [*others[:axis], Const(0), *others[axis:]] if keepdim else others
    return RoutineLoops(extents, 1, (access(0), Access(extents, tuple(result))))


def _sum_loop(load: Any, store: Any) -> Any:
    def loop(x, xs, result, extent):  # type: ignore[no-untyped-def]
        total = 0
        for i in range(extent):
            total += load(x[i * xs])
        result[0] = store(total)

    return loop


def _product_loop(load: Any, store: Any) -> Any:
    def loop(x, xs, result, extent):  # type: ignore[no-untyped-def]
        total = 1
        for i in range(extent):
            total = (total * load(x[i * xs])) & 0xFFFFFFFF
        result[0] = store(total)

    return loop


def _largest_loop(load: Any, store: Any) -> Any:
    def loop(x, xs, result, extent):  # type: ignore[no-untyped-def]
        best = load(x[0])
        for i in range(1, extent):
            best = max(best, load(x[i * xs]))
        result[0] = store(best)

    return loop


def _smallest_loop(load: Any, store: Any) -> Any:
    def loop(x, xs, result, extent):  # type: ignore[no-untyped-def]
        best = load(x[0])
        for i in range(1, extent):
            best = min(best, load(x[i * xs]))
        result[0] = store(best)

    return loop


def _column_loops(shape: Extents, axes: Sequence[int], keepdim: bool) -> RoutineLoops:
    """Inner loops over a dimension that is not the last one, and over the last one, which is contiguous."""
    (axis,), rank = axes, len(shape)
    others = [dim for dim in range(rank - 1) if dim != axis]
    order = (*others, axis, rank - 1)
    extents = tuple(shape[dim] for dim in order)
    positions = {dim: position for position, dim in enumerate(order)}
    kept = [Const(0) if dim == axis else Dim(positions[dim]) for dim in range(rank) if keepdim or dim != axis]
    return RoutineLoops.over(extents, 2, tuple(Dim(positions[dim]) for dim in range(rank)), tuple(kept))


def _columns(combine: str) -> Callable[[Any, Any], Callable[..., None]]:
    """The loop that folds row after row into the result by sum, product, maximum or minimum."""

    def loop_of(load: Any, store: Any) -> Any:
        is_sum, is_product, is_maximum = (combine == name for name in ("sum", "prod", "max"))

        def loop(x, down, across, result, rs, extent, width):  # type: ignore[no-untyped-def]
            for j in range(width):
                result[j * rs] = x[j * across] if extent > 0 else store(1 if is_product else 0)
            for i in range(1, extent):
                for j in range(width):
                    old, new = load(result[j * rs]), load(x[i * down + j * across])
                    if is_sum:
                        result[j * rs] = store(old + new)
                    elif is_product:
                        result[j * rs] = store((old * new) & 0xFFFFFFFF)
                    elif is_maximum:
                        result[j * rs] = store(max(old, new))
                    else:
                        result[j * rs] = store(min(old, new))

        return loop

    return loop_of


def _of_integers(
    name: str,
    row_loop: Callable[[Any, Any], Callable[..., None]],
    golden: Callable[..., Any],
) -> tuple[Routine, Routine]:
    """The routines along the last dimension, and along another one."""

    def result(x: TensorSpec, axes: Sequence[int], keepdim: bool) -> tuple[TensorSpec]:
        return (x.with_(shape=without_axes(x.shape, axes, keep=keepdim)),)

    def routine(kind: str, loop: Any, loops: Any, dim: int) -> Routine:
        return Routine(
            name=f"integer_{name}_of_{kind}",
            parameters=REDUCED,
            summary=f"`{name}` of integers along one dimension.",
            source=f"ttnn.{name}",
            loop=loop,
            loops=loops,
            canonicalize=lambda shape, axes, keepdim: (axes_of(axes, len(shape)), keepdim),
            result=result,
            operand_dtypes=(INTEGERS,),
            golden=golden,
            examples=((((3, 40),), ((dim,), True)), (((64, 5),), ((dim,), False))),
        )

    return routine("rows", row_loop, reducing_loops, 1), routine("columns", _columns(name), _column_loops, 0)


SUM = _of_integers("sum", _sum_loop, lambda torch, x, axes, keepdim: torch.sum(x, axes, keepdim))
PROD = _of_integers("prod", _product_loop, lambda torch, x, axes, keepdim: torch.prod(x, axes[0], keepdim))
MAX = _of_integers("max", _largest_loop, lambda torch, x, axes, keepdim: torch.amax(x, axes, keepdim))
MIN = _of_integers("min", _smallest_loop, lambda torch, x, axes, keepdim: torch.amin(x, axes, keepdim))

OPERATIONS = (*SUM, *PROD, *MAX, *MIN)
"""The stage `ttir-decompose-composites` lowers reductions of integers to these."""
