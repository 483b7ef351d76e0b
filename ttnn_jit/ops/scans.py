"""Operations that go along a dimension element by element: running sums and products, and the place of the largest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.axes import axes_of, axis_of, without_axes
from ttnn_jit.ops.parameter import DIMENSION, TENSOR, Parameter
from ttnn_jit.ops.reduction import interleaved
from ttnn_jit.ops.reductions import REDUCED
from ttnn_jit.ops.routine import Routine, RoutineLoops
from ttnn_jit.specs.access import Access, Const, Dim, Expr
from ttnn_jit.specs.dtypes import FLOATS, DataType
from ttnn_jit.specs.tensor_spec import TensorSpec

Extents = tuple[int, ...]


def _along(shape: Extents, axis: int) -> tuple[Extents, Access]:
    """Loops over the other dimensions and, inside, over `axis`; and which element of a tensor of `shape` they name."""
    others = [dim for dim in range(len(shape)) if dim != axis]
    extents = (*(shape[dim] for dim in others), shape[axis])
    places = {dim: place for place, dim in enumerate((*others, axis))}
    return extents, Access(extents, tuple(Dim(places[dim]) for dim in range(len(shape))))


def _scan_loops(shape: Extents, axis: int) -> RoutineLoops:
    extents, access = _along(shape, axis)
    return RoutineLoops(extents, 1, (access, access))


def _spelled_scan(shape: Extents, dim: int) -> tuple[int]:
    return (axis_of(dim, len(shape)),)


def _sum_loop(load: Any, store: Any) -> Any:
    """Running sums in float64, each rounded for itself."""

    def loop(x, xs, sums, ys, extent):  # type: ignore[no-untyped-def]
        total = load(x[0]) * 0
        for i in range(extent):
            total += load(x[i * xs])
            sums[i * ys] = store(total)

    return loop


def _product_loop(load: Any, store: Any) -> Any:
    """Running products in float64, each rounded for itself."""

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
        parameters=(Parameter("input_tensor", TENSOR, aliases=("input",)), Parameter("dim", DIMENSION)),
        summary=summary,
        source=f"ttnn.{name}",
        loop=loop,
        loops=_scan_loops,
        spelled=_spelled_scan,
        result=lambda x, _: (interleaved(x).with_(shape=x.shape),),
        operand_dtypes=(FLOATS,),
        golden=lambda torch, x, dim: getattr(torch, name)(x, dim),
        aten=name,
        examples=((((3, 40),), (-1,)), (((64, 5),), (0,)), (((2, 5, 37),), (1,))),
    )


CUMSUM = _scan(
    "cumsum", "The sums of the elements up to each along `dim`, in float64 and each rounded once.", _sum_loop
)
CUMPROD = _scan(
    "cumprod", "The products of the elements up to each along `dim`, in float64 and each rounded once.", _product_loop
)


def _argmax_loop(load: Any, _store: Any) -> Any:
    """The place of the first largest element; NaN is the largest."""

    def loop(x, xs, place, extent):  # type: ignore[no-untyped-def]
        best, at = load(x[0]), 0
        for i in range(1, extent):
            value = load(x[i * xs])
            if value > best or (value != value and best == best):  # noqa: PLR0124 - NaN
                best, at = value, i
        place[0] = at

    return loop


def _spelled_argmax(shape: Extents, dims: Sequence[int], keepdim: bool) -> tuple[Any, ...]:
    if len(dims) != 1 and len(shape) != 1:
        wanted = "all dimensions" if not dims else f"the dimensions {list(dims)}"
        raise ShapeError(
            f"one dimension is gone along, and not {wanted}", help="give `dim`, or reshape the tensor first"
        )
    (axis,) = axes_of(dims, len(shape))
    if shape[axis] == 0:
        raise ShapeError(f"dimension {axis} of {list(shape)} has no elements, and so no largest one")
    return (axis,), keepdim


def _argmax_loops(shape: Extents, axes: Sequence[int], keepdim: bool) -> RoutineLoops:
    (axis,) = axes
    extents, access = _along(shape, axis)
    others: list[Expr] = [Dim(place) for place in range(len(shape) - 1)]
    found = [*others[:axis], Const(0), *others[axis:]] if keepdim else others
    return RoutineLoops(extents, 1, (access, Access(extents, tuple(found))))


def _places(x: TensorSpec, axes: Sequence[int], keepdim: bool) -> tuple[TensorSpec, ...]:
    shape = without_axes(x.shape, axes, keep=keepdim)
    return (interleaved(x).with_(shape=shape, dtype=DataType.UINT32),)


ARGMAX = Routine(
    name="argmax",
    parameters=REDUCED,
    summary="The place of the largest element along `dim`, of equal ones the first; NaN is the largest.",
    source="ttnn.argmax",
    loop=_argmax_loop,
    loops=_argmax_loops,
    spelled=_spelled_argmax,
    result=_places,
    operand_dtypes=(frozenset(DataType),),
    golden=lambda torch, x, dim, keepdim: torch.argmax(x, dim[0] if dim else None, keepdim),
    aten="argmax",
    examples=((((3, 40),), ((-1,), True)), (((64, 5),), ((0,), False)), (((37,),), ((), False))),
)

OPERATIONS = (CUMSUM, CUMPROD, ARGMAX)
