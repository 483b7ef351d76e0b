"""What reductions of integers are, a dimension at a time: exact, of which the low bits are kept, in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.ops.axes import without_axes
from ttnn_jit.ops.parameter import REDUCED
from ttnn_jit.ops.routine import Routine, RoutineLoops, loops_along
from ttnn_jit.specs.access import Access, Const, Dim, Expr
from ttnn_jit.specs.dtypes import INTEGERS
from ttnn_jit.specs.tensor_spec import TensorSpec

Extents = tuple[int, ...]


def reducing_loops(shape: Extents, axes: Sequence[int], keepdim: bool) -> RoutineLoops:
    """The loops of what makes one element of those along a dimension."""
    (axis,) = axes
    extents, access = loops_along(shape, axis)
    others: list[Expr] = [Dim(place) for place in range(len(shape) - 1)]
    found = [*others[:axis], Const(0), *others[axis:]] if keepdim else others
    return RoutineLoops(extents, 1, (access, Access(extents, tuple(found))))


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


def _of_integers(name: str, loop: Callable[[Any, Any], Callable[..., None]], golden: Callable[..., Any]) -> Routine:
    def result(x: TensorSpec, axes: Sequence[int], keepdim: bool) -> tuple[TensorSpec]:
        return (x.with_(shape=without_axes(x.shape, axes, keep=keepdim)),)

    return Routine(
        name=f"integer_{name}",
        parameters=REDUCED,
        summary=f"`{name}` of integers along one dimension.",
        source=f"ttnn.{name}",
        loop=loop,
        loops=reducing_loops,
        spelled=lambda _, axes, keepdim: (axes, keepdim),
        result=result,
        operand_dtypes=(INTEGERS,),
        golden=golden,
        examples=((((3, 40),), ((1,), True)), (((64, 5),), ((0,), False))),
    )


SUM = _of_integers("sum", _sum_loop, lambda torch, x, axes, keepdim: torch.sum(x, axes, keepdim))
PROD = _of_integers("prod", _product_loop, lambda torch, x, axes, keepdim: torch.prod(x, axes[0], keepdim))
MAX = _of_integers("max", _largest_loop, lambda torch, x, axes, keepdim: torch.amax(x, axes, keepdim))
MIN = _of_integers("min", _smallest_loop, lambda torch, x, axes, keepdim: torch.amin(x, axes, keepdim))

OPERATIONS = (SUM, PROD, MAX, MIN)
"""What the stage `ttir-decompose-composites` writes for reductions of integers."""
