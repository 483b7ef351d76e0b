"""Gather, scatter, index fill and sort, whose indices depend on elements; and triangles of matrices."""

from __future__ import annotations

from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.movement import OPERAND
from ttnn_jit.ops.families.routine import Routine, RoutineLoops, loops_along
from ttnn_jit.ops.language.axes import axis_of, axis_within
from ttnn_jit.ops.language.named_indices import sorted_elements
from ttnn_jit.ops.language.parameter import CHOICE, DIMENSION, FLAG, IGNORED, NUMBER, OUTPUT, TENSOR, Parameter
from ttnn_jit.ops.selection.routines import index_dtype
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Dim
from ttnn_jit.specs.dtypes import INDICES, MOVABLE, SCALARS, WIDE
from ttnn_jit.specs.tensor_spec import TensorSpec

Extents = tuple[int, ...]


# --- By index -------------------------------------------------------------------------------------------------------


def _gather_loop(_load: Any, _store: Any) -> Any:
    """The elements at indices along one dimension; an index out of range is clamped."""

    def loop(x, stride, index, index_stride, result, result_stride, count, extent):  # type: ignore[no-untyped-def]
        for i in range(count):
            at = min(max(int(index[i * index_stride]), 0), extent - 1)
            result[i * result_stride] = x[at * stride]

    return loop


def _check_index(x: Any, index: Any, dim: int) -> None:
    """Refuse an index out of range of the dimension."""
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
            help=f"it must have the same rank, and no larger extents except along dimension {axis}",
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
    summary="The elements at the indices `index` along `dim`; an index out of range is clamped.",
    loop=_gather_loop,
    loops=_gather_loops,
    canonicalize=_canonical_gather,
    accepts_rank_zero=True,
    result=lambda x, index, _: (x.interleaved.with_(shape=index.shape),),
    operand_dtypes=(MOVABLE, INDICES),
    golden=lambda torch, x, index, dim: torch.gather(x, dim, index.long()),
    check=_check_index,
    aten="gather",
    examples=((((3, 40), (3, 7)), (1,)), (((5, 33), (9, 20)), (0,)), (((2, 3, 4), (2, 3, 4)), (-1,))),
)


def _scatter_loop(load: Any, store: Any) -> Any:
    """Stores or combines the source's elements at the indices; an index out of range is ignored."""

    def loop(index, index_stride, source, source_stride, result, result_stride, extent, count, reduction):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for i in range(count):
            at = int(index[i * index_stride])
            if at < 0 or at >= extent:
                continue
            if reduction == 0:
                result[at * result_stride] = source[i * source_stride]
                continue
            old, new = load(result[at * result_stride]), load(source[i * source_stride])
            if reduction == 1:
                result[at * result_stride] = store(old + new)
            elif reduction == 2:
                result[at * result_stride] = store(old * new)
            elif new != new or (reduction == 3 and new > old) or (reduction == 4 and new < old):  # noqa: PLR0124 - NaN
                result[at * result_stride] = source[i * source_stride]

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
            help=f"the index must not be larger than the source, nor than the tensor except along dimension {axis}",
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


def _scatter(ttnn_name: str, reduction: int, relation: str, in_torch: str | None, *choices: Parameter) -> Routine:
    name = "scatter" if choices else ttnn_name
    return Routine(
        name=name,
        ttnn_name=ttnn_name,
        parameters=(*_SCATTERED, *choices),
        summary=f"The tensor with elements of `src` {relation} the elements at the indices `index` along `dim`.",
        loop=_scatter_loop,
        loops=_scatter_loops,
        canonicalize=_canonical_scatter,
        updates=True,
        load_operand=1,
        accepts_rank_zero=True,
        wide_in_texts=bool(reduction),
        operand_dtypes=(SCALARS | WIDE, INDICES, SCALARS | WIDE) if reduction else (MOVABLE, INDICES, MOVABLE),
        same_dtype=(0, 2),
        constants=lambda _: (reduction,),
        golden=_scattered_in_torch(in_torch),
        check=_check_index_of_scatter,
        aten="scatter_reduce.two" if in_torch else "scatter.src",
        rounds_intermediates=True,
        examples=(
            (((3, 40), (3, 7), (3, 9)), (1,)),
            (((5, 33), (9, 33), (9, 33)), (0,)),
            (((5, 33), (3, 20), (4, 33)), (1,)),
        ),
    )


SCATTERED = (
    _scatter("scatter", 0, "in place of", None, Parameter("reduce", CHOICE)),
    _scatter("scatter_reduce_add", 1, "added to", "sum", Parameter("reduce", CHOICE, "add")),
    _scatter("scatter_reduce_multiply", 2, "multiplied into", "prod", Parameter("reduce", CHOICE, "multiply")),
    _scatter("scatter_reduce_amax", 3, "combined by the maximum with", "amax", Parameter("reduce", CHOICE, "amax")),
    _scatter("scatter_reduce_amin", 4, "combined by the minimum with", "amin", Parameter("reduce", CHOICE, "amin")),
    _scatter("scatter_add", 1, "added to", "sum"),
)


def _index_fill_loop(_load: Any, store: Any) -> Any:
    """A copy of the row, then stores of the number at the indices; an index out of range is ignored."""

    def loop(x, stride, index, index_stride, result, result_stride, extent, count, value):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for i in range(extent):
            result[i * result_stride] = x[i * stride]
        for i in range(count):
            at = int(index[i * index_stride])
            if 0 <= at < extent:
                result[at * result_stride] = store(value)

    return loop


def _canonical_index_fill(shape: Extents, index: Extents, dim: int, value: float) -> tuple[Any, ...]:
    axis = axis_of(dim, len(shape))
    if len(index) != 1:
        raise ShapeError(f"the index has shape {list(index)}", help="it must have one dimension")
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
    summary="The tensor with `value` at the indices `index` along `dim`.",
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

    def loop(x, stride, values, value_stride, indices, index_stride, extent, descending):  # type: ignore[no-untyped-def]
        def precedes(i: Any, j: Any) -> Any:
            a, b = load(x[i * stride]), load(x[j * stride])
            if a == b or (a != a and b != b):  # noqa: PLR0124 - NaN
                return i < j
            less = a < b or (b != b and a == a)  # noqa: PLR0124 - NaN
            return less != descending

        for i in range(extent):
            indices[i * index_stride] = i
        start, end = extent // 2, extent
        while end > 1:
            if start > 0:
                start -= 1
            else:
                end -= 1
                last = indices[end * index_stride]
                indices[end * index_stride] = indices[0]
                indices[0] = last
            root = start
            while 2 * root + 1 < end:
                child = 2 * root + 1
                if child + 1 < end and precedes(
                    int(indices[child * index_stride]), int(indices[(child + 1) * index_stride])
                ):
                    child += 1
                if not precedes(int(indices[root * index_stride]), int(indices[child * index_stride])):
                    break
                last = indices[root * index_stride]
                indices[root * index_stride] = indices[child * index_stride]
                indices[child * index_stride] = last
                root = child
        for i in range(extent):
            values[i * value_stride] = x[int(indices[i * index_stride]) * stride]

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
    summary="The sorted elements along `dim`, and their former indices; always stable, NaN is the largest.",
    loop=_sort_loop,
    loops=_sort_loops,
    canonicalize=lambda shape, dim, *ways: (axis_of(dim, len(shape)), *ways),
    accepts_rank_zero=True,
    result=_sort_results,
    operand_dtypes=(SCALARS | WIDE,),
    wide_in_texts=True,
    constants=lambda _, descending, stable: (descending,),  # noqa: ARG005 - every sort is stable
    result_names=("values", "indices"),
    golden=lambda torch, x, dim, descending, _: tuple(torch.sort(x, dim=dim, descending=descending, stable=True)),
    compared_elements=lambda torch, results, x, dim, *_: sorted_elements(torch, results, x, dim),
    aten="sort.stable",
    examples=((((3, 40),), (-1, False, False)), (((7, 33),), (0, True, True)), (((2, 5, 3),), (1, False, True))),
)


# --- Triangles ------------------------------------------------------------------------------------------------------


def _triangle_loop(_load: Any, _store: Any) -> Any:
    """The elements below and on a diagonal, or above and on it; zeros elsewhere."""

    def loop(x, xr, xc, result, rr, rc, rows, columns, diagonal, lower):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for i in range(rows):
            first, end = (0, i + diagonal + 1) if lower else (i + diagonal, columns)
            first, end = min(max(first, 0), columns), min(max(end, 0), columns)
            for j in range(first):
                result[i * rr + j * rc] = 0
            for j in range(first, end):
                result[i * rr + j * rc] = x[i * xr + j * xc]
            for j in range(max(first, end), columns):
                result[i * rr + j * rc] = 0

    return loop


def _canonical_triangle(shape: Extents, diagonal: int) -> tuple[Any, ...]:
    if len(shape) < 2:
        raise ShapeError(f"a tensor of shape {list(shape)} has no diagonal", help="it must have two dimensions or more")
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
