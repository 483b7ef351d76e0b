"""Operations whose indices depend on elements: gathered, scattered, sorted; and triangles, whose loops have corners."""

from __future__ import annotations

from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.movement import OPERAND
from ttnn_jit.ops.families.routine import Routine, RoutineLoops, loops_along
from ttnn_jit.ops.language.axes import axis_of, axis_within
from ttnn_jit.ops.language.named_indices import in_order
from ttnn_jit.ops.language.parameter import CHOICE, DIMENSION, FLAG, IGNORED, NUMBER, OUTPUT, TENSOR, Parameter
from ttnn_jit.ops.selection.routines import index_dtype
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Dim
from ttnn_jit.specs.dtypes import INDICES, MOVABLE, SCALARS
from ttnn_jit.specs.tensor_spec import TensorSpec

Extents = tuple[int, ...]


# --- By index -------------------------------------------------------------------------------------------------------


def _gather_loop(_load: Any, _store: Any) -> Any:
    """Elements along one dimension; an index beyond it is taken for the nearest there is."""

    def loop(x, xs, index, ps, result, rs, count, extent):  # type: ignore[no-untyped-def]
        for i in range(count):
            at = min(max(int(index[i * ps]), 0), extent - 1)
            result[i * rs] = x[at * xs]

    return loop


def _check_index(x: Any, index: Any, dim: int) -> None:
    """Refuses an index that names no element along the dimension."""
    axis, shape = axis_within(dim, len(x.shape)), tuple(x.shape) or (1,)
    if (found := index.out_of_range(shape[axis])) is not None:
        raise ShapeError(f"there is no element {found} along dimension {axis}, of extent {shape[axis]}")


def _canonical_gather(shape: Extents, index: Extents, dim: int) -> tuple[Any, ...]:
    axis = axis_of(dim, len(shape))
    fits = len(index) == len(shape) and all(
        own <= extent or position == axis for position, (own, extent) in enumerate(zip(index, shape, strict=True))
    )
    if not fits:
        raise ShapeError(
            f"an index of shape {list(index)} does not fit a tensor of shape {list(shape)}",
            help=f"it has its rank, and no larger extents but along dimension {axis}",
        )
    if shape[axis] == 0 and 0 not in index:
        raise ShapeError(f"a tensor of shape {list(shape)} has no elements to gather")
    return (axis,)


def _gather_loops(shape: Extents, index: Extents, axis: int) -> RoutineLoops:
    extents, access = loops_along(index, axis, index[axis], shape[axis])
    return RoutineLoops(extents, 2, (access(1), access(0), access(0)))


GATHER = Routine(
    name="gather",
    parameters=(
        OPERAND,
        Parameter("dim", DIMENSION),
        Parameter("index", TENSOR),
        Parameter("sparse_grad", IGNORED),
        Parameter("out", OUTPUT),
    ),
    summary="The elements along `dim` that `index` names; one beyond is taken for the nearest there is.",
    loop=_gather_loop,
    loops=_gather_loops,
    canonicalize=_canonical_gather,
    takes_scalars=True,
    result=lambda x, index, _: (x.interleaved.with_(shape=index.shape),),
    operand_dtypes=(MOVABLE, INDICES),
    golden=lambda torch, x, index, dim: torch.gather(x, dim, index.long()),
    check=_check_index,
    aten="gather",
    examples=((((3, 40), (3, 7)), (1,)), (((5, 33), (9, 20)), (0,)), (((2, 3, 4), (2, 3, 4)), (-1,))),
)


def _scatter_loop(load: Any, store: Any) -> Any:
    """The source's elements where the index says; one beyond goes nowhere."""

    def loop(index, ps, source, ss, result, rs, extent, count, way):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for i in range(count):
            at = int(index[i * ps])
            if at < 0 or at >= extent:
                continue
            if way == 0:
                result[at * rs] = source[i * ss]
                continue
            old, new = load(result[at * rs]), load(source[i * ss])
            if way == 1:
                result[at * rs] = store(old + new)
            elif way == 2:
                result[at * rs] = store(old * new)
            elif new != new or (way == 3 and new > old) or (way == 4 and new < old):  # noqa: PLR0124 - NaN
                result[at * rs] = source[i * ss]

    return loop


def _canonical_scatter(shape: Extents, index: Extents, source: Extents, dim: int) -> tuple[Any, ...]:
    axis = axis_of(dim, len(shape))
    ranks = {len(shape), len(index), len(source)}
    fits = len(ranks) == 1 and all(
        own <= other and (position == axis or own <= extent)
        for position, (own, extent, other) in enumerate(zip(index, shape, source, strict=True))
    )
    if not fits:
        raise ShapeError(
            f"an index of shape {list(index)} and a source of shape {list(source)} do not fit a tensor of shape "
            f"{list(shape)}",
            help=f"the index is nowhere longer than the source, nor, but along dimension {axis}, than the tensor",
        )
    return (axis,)


def _scatter_loops(shape: Extents, index: Extents, _: Extents, axis: int) -> RoutineLoops:
    extents, access = loops_along(index, axis, shape[axis], index[axis])
    return RoutineLoops(extents, 2, (access(1), access(1), access(0)))


def _scattered_in_torch(reduce: str | None) -> Any:
    def golden(torch: Any, x: Any, index: Any, source: Any, dim: int) -> Any:
        if reduce is None:
            return torch.scatter(x, dim, index.long(), source)
        return torch.scatter_reduce(x, dim, index.long(), source, reduce)

    return golden


_SCATTERED = (
    Parameter("input", TENSOR, aliases=("input_tensor",)),
    Parameter("dim", DIMENSION),
    Parameter("index", TENSOR),
    Parameter("src", TENSOR),
)


def _check_index_of_scatter(x: Any, index: Any, _: Any, dim: int) -> None:
    _check_index(x, index, dim)


def _scatter(ttnn_name: str, way: int, said: str, in_torch: str | None, *choices: Parameter) -> Routine:
    name = "scatter" if choices else ttnn_name
    return Routine(
        name=name,
        ttnn_name=ttnn_name,
        parameters=(*_SCATTERED, *choices),
        summary=f"The tensor with elements of `src` {said} the indices along `dim` that `index` names.",
        loop=_scatter_loop,
        loops=_scatter_loops,
        canonicalize=_canonical_scatter,
        updates=True,
        loaded=1,
        takes_scalars=True,
        operand_dtypes=(SCALARS, INDICES, SCALARS) if way else (MOVABLE, INDICES, MOVABLE),
        same_dtype=(0, 2),
        constants=lambda _: (way,),
        golden=_scattered_in_torch(in_torch),
        check=_check_index_of_scatter,
        aten="scatter_reduce.two" if in_torch else "scatter.src",
        rounds_steps=True,
        examples=(
            (((3, 40), (3, 7), (3, 9)), (1,)),
            (((5, 33), (9, 33), (9, 33)), (0,)),
            (((5, 33), (3, 20), (4, 33)), (1,)),
        ),
    )


SCATTERED = (
    _scatter("scatter", 0, "in", None, Parameter("reduce", CHOICE)),
    _scatter("scatter_reduce_add", 1, "added to", "sum", Parameter("reduce", CHOICE, "add")),
    _scatter("scatter_reduce_multiply", 2, "multiplied into", "prod", Parameter("reduce", CHOICE, "multiply")),
    _scatter("scatter_reduce_amax", 3, "that are larger in", "amax", Parameter("reduce", CHOICE, "amax")),
    _scatter("scatter_reduce_amin", 4, "that are smaller in", "amin", Parameter("reduce", CHOICE, "amin")),
    _scatter("scatter_add", 1, "added to", "sum"),
)


def _index_fill_loop(_load: Any, store: Any) -> Any:
    """The row, then the number where the index says; an index beyond it names nothing."""

    def loop(x, xs, index, ps, result, rs, extent, count, value):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for i in range(extent):
            result[i * rs] = x[i * xs]
        for i in range(count):
            at = int(index[i * ps])
            if 0 <= at < extent:
                result[at * rs] = store(value)

    return loop


def _canonical_index_fill(shape: Extents, index: Extents, dim: int, value: float) -> tuple[Any, ...]:
    axis = axis_of(dim, len(shape))
    if len(index) != 1:
        raise ShapeError(f"the index has shape {list(index)}", help="it has one dimension")
    return axis, value


def _index_fill_loops(shape: Extents, index: Extents, axis: int, _: float) -> RoutineLoops:
    extents, access = loops_along(shape, axis, shape[axis], index[0])
    return RoutineLoops(extents, 2, (access(0), Access(extents, (Dim(len(extents) - 1),)), access(0)))


INDEX_FILL = Routine(
    name="index_fill",
    parameters=(
        OPERAND,
        Parameter("dim", DIMENSION),
        Parameter("index", TENSOR),
        Parameter("value", NUMBER),
    ),
    summary="The tensor with `value` at all indices along `dim` that `index` names.",
    loop=_index_fill_loop,
    loops=_index_fill_loops,
    canonicalize=_canonical_index_fill,
    operand_dtypes=(SCALARS, INDICES),
    constants=lambda _, value: (value,),
    golden=lambda torch, x, index, dim, value: torch.index_fill(x, dim, index.long(), value),
    check=lambda x, index, dim, _: _check_index(x, index, dim),
    aten="index_fill.int_Scalar",
    examples=((((3, 40), (7,)), (1, 1.5)), (((5, 33), (2,)), (0, -2)), (((2, 3, 4), (1,)), (-2, 0))),
)


# --- Sorted ---------------------------------------------------------------------------------------------------------


def _sort_loop(load: Any, _store: Any) -> Any:  # noqa: C901 - one loop, as numba takes it
    """A heap sort of indices by element, then by index, so that it is stable; NaN is the largest element."""

    def loop(x, xs, values, vs, indices, ps, extent, descending):  # type: ignore[no-untyped-def]
        def before(i: Any, j: Any) -> Any:
            a, b = load(x[i * xs]), load(x[j * xs])
            if a == b or (a != a and b != b):  # noqa: PLR0124 - NaN
                return i < j
            less = a < b or (b != b and a == a)  # noqa: PLR0124 - NaN
            return less != descending

        for i in range(extent):
            indices[i * ps] = i
        start, end = extent // 2, extent
        while end > 1:
            if start > 0:
                start -= 1
            else:
                end -= 1
                last = indices[end * ps]
                indices[end * ps] = indices[0]
                indices[0] = last
            root = start
            while 2 * root + 1 < end:
                child = 2 * root + 1
                if child + 1 < end and before(int(indices[child * ps]), int(indices[(child + 1) * ps])):
                    child += 1
                if not before(int(indices[root * ps]), int(indices[child * ps])):
                    break
                last = indices[root * ps]
                indices[root * ps] = indices[child * ps]
                indices[child * ps] = last
                root = child
        for i in range(extent):
            values[i * vs] = x[int(indices[i * ps]) * xs]

    return loop


def _sort_loops(shape: Extents, axis: int, *_: Any) -> RoutineLoops:
    extents, access = loops_along(shape, axis)
    return RoutineLoops(extents, 1, (access(0), access(0), access(0)))


def _sort_results(x: TensorSpec, axis: int, *_: Any) -> tuple[TensorSpec, ...]:
    indices = index_dtype(tuple(x.shape)[axis])
    return x.interleaved, x.interleaved.with_(dtype=indices)


SORT = Routine(
    name="sort",
    parameters=(
        OPERAND,
        Parameter("dim", DIMENSION, -1),
        Parameter("descending", FLAG, default=False),
        Parameter("stable", FLAG, default=False),
    ),
    summary="The elements along `dim` in order, and the indices that they had; always stable, NaN is the largest.",
    loop=_sort_loop,
    loops=_sort_loops,
    canonicalize=lambda shape, dim, *ways: (axis_of(dim, len(shape)), *ways),
    takes_scalars=True,
    result=_sort_results,
    operand_dtypes=(SCALARS,),
    constants=lambda _, descending, stable: (descending,),  # noqa: ARG005 - every sort is stable
    result_count=2,
    golden=lambda torch, x, dim, descending, _: tuple(torch.sort(x, dim=dim, descending=descending, stable=True)),
    by_elements=lambda torch, results, x, dim, *_: in_order(torch, results, x, dim),
    aten="sort.stable",
    examples=((((3, 40),), (-1, False, False)), (((7, 33),), (0, True, True)), (((2, 5, 3),), (1, False, True))),
)


# --- Triangles ------------------------------------------------------------------------------------------------------


def _triangle_loop(_load: Any, _store: Any) -> Any:
    """The elements up to a diagonal, or from one on; zeros elsewhere."""

    def loop(x, xr, xc, result, rr, rc, rows, columns, diagonal, lower):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for i in range(rows):
            first, beyond = (0, i + diagonal + 1) if lower else (i + diagonal, columns)
            first, beyond = min(max(first, 0), columns), min(max(beyond, 0), columns)
            for j in range(first):
                result[i * rr + j * rc] = 0
            for j in range(first, beyond):
                result[i * rr + j * rc] = x[i * xr + j * xc]
            for j in range(max(first, beyond), columns):
                result[i * rr + j * rc] = 0

    return loop


def _canonical_triangle(shape: Extents, diagonal: int) -> tuple[Any, ...]:
    if len(shape) < 2:
        raise ShapeError(f"a tensor of shape {list(shape)} has no diagonal", help="it has two dimensions at least")
    most = sum(shape[-2:])
    return (min(max(diagonal, -most), most),)


def _triangle_loops(shape: Extents, _: int) -> RoutineLoops:
    return RoutineLoops(shape, 2, (Access.identity(shape), Access.identity(shape)))


def _triangle(name: str, summary: str, *, lower: bool) -> Routine:
    return Routine(
        name=name,
        parameters=(OPERAND, Parameter("diagonal", DIMENSION, 0)),
        summary=summary,
        loop=_triangle_loop,
        loops=_triangle_loops,
        canonicalize=_canonical_triangle,
        operand_dtypes=(SCALARS,),
        constants=lambda diagonal: (diagonal, lower),
        golden=lambda torch, x, diagonal: getattr(torch, name)(x, diagonal),
        aten=name,
        examples=((((5, 40),), (0,)), (((33, 7),), (-3,)), (((2, 5, 5),), (2,))),
    )


TRIL = _triangle("tril", "The elements whose column is at most their row plus `diagonal`, zeros elsewhere.", lower=True)
TRIU = _triangle(
    "triu", "The elements whose column is at least their row plus `diagonal`, zeros elsewhere.", lower=False
)

OPERATIONS = (GATHER, *SCATTERED, INDEX_FILL, SORT, TRIL, TRIU)
