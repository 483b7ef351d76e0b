"""Operations that are loops of their own."""

from __future__ import annotations

from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.axes import axis_of
from ttnn_jit.ops.parameter import DIMENSION, FLAG, IGNORED, LAYOUT, TENSOR, Parameter
from ttnn_jit.ops.reduction import interleaved, laid_out
from ttnn_jit.ops.routine import NativeLoop, Routine, RoutineLoops
from ttnn_jit.specs.access import Access
from ttnn_jit.specs.dtypes import FLOATS, INTEGERS, SCALARS, DataType
from ttnn_jit.specs.index_expressions import Const, Dim
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

Extents = tuple[int, ...]

MOST_UINT16 = 1 << 16
"""Elements along a dimension whose places uint16 holds."""


def dtype_of_places(extent: int) -> DataType:
    """The element type of places along a dimension: the narrowest that ttnn has for them."""
    return DataType.UINT16 if extent <= MOST_UINT16 else DataType.UINT32


def _topk_loop(load: Any, _store: Any) -> Any:
    """The first elements in the order of torch.topk; of equal ones those that come first."""

    def loop(x, xs, values, vs, places, ps, count, extent, largest):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        held = 0
        for i in range(extent):
            value = load(x[i * xs])
            place = held
            while place > 0:
                other = load(values[(place - 1) * vs])
                if largest:
                    before = value > other or (value != value and other == other)  # noqa: PLR0124 - NaN
                else:
                    before = value < other or (value == value and other != other)  # noqa: PLR0124 - NaN
                if not before:
                    break
                place -= 1
            if place == count:
                continue
            held = min(held + 1, count)
            for j in range(held - 1, place, -1):
                values[j * vs] = values[(j - 1) * vs]
                places[j * ps] = places[(j - 1) * ps]
            values[place * vs] = x[i * xs]
            places[place * ps] = i

    return loop


def _spelled_topk(shape: Extents, k: int, dim: int, largest: bool, ordered: bool) -> tuple[Any, ...]:
    axis = axis_of(dim, len(shape))
    if not 1 <= k <= shape[axis]:
        raise ShapeError(
            f"k is {k}, and dimension {axis} of {list(shape)} has {shape[axis]} elements", help="k is at least 1"
        )
    return k, axis, largest, ordered


def _topk_loops(shape: Extents, k: int, axis: int, *_: Any) -> RoutineLoops:
    others = [dim for dim in range(len(shape)) if dim != axis]
    extents = (*(shape[dim] for dim in others), k, shape[axis])

    def access(own: int) -> Access:
        return Access(extents, tuple(Dim(own if dim == axis else others.index(dim)) for dim in range(len(shape))))

    return RoutineLoops(extents, 2, (access(len(others) + 1), access(len(others)), access(len(others))))


def _topk_results(x: TensorSpec, k: int, axis: int, *_: Any) -> tuple[TensorSpec, ...]:
    extents = tuple(x.shape)
    shape = (*extents[:axis], k, *extents[axis + 1 :])
    places = dtype_of_places(extents[axis])
    values = interleaved(x).with_(shape=shape)
    return values, values.with_(dtype=places)


TOPK = Routine(
    name="topk",
    parameters=(
        Parameter("input_tensor", TENSOR, aliases=("input",)),
        Parameter("k", DIMENSION),
        Parameter("dim", DIMENSION, -1),
        Parameter("largest", FLAG, default=True),
        Parameter("sorted", FLAG, default=True),
    ),
    summary="The `k` largest elements along `dim`, or the smallest, in order, and their places there, "
    "UINT16 or else UINT32; NaN is the largest.",
    source="ttnn.topk",
    loop=_topk_loop,
    loops=_topk_loops,
    spelled=_spelled_topk,
    takes_scalars=True,
    result=_topk_results,
    operand_dtypes=(FLOATS,),
    constants=lambda k, axis, largest, ordered: (largest,),  # noqa: ARG005 - results are always in order
    result_count=2,
    golden=lambda torch, x, k, dim, largest, ordered: tuple(torch.topk(x, k, dim, largest, ordered)),
    aten="topk",
    examples=(
        (((3, 40),), (5, -1, True, True)),
        (((7, 33),), (3, 0, False, True)),
        (((2, 5, 37),), (37, 2, True, True)),
    ),
)


def _embedding_loop(load: Any, _store: Any) -> Any:
    """A row of the weight; an index beyond it is taken for the nearest there is."""

    def loop(indices, weight, rows, across, result, step, count, width):  # type: ignore[no-untyped-def]
        row = min(max(int(load(indices[0])), 0), count - 1)
        for i in range(width):
            result[i * step] = weight[row * rows + i * across]

    return loop


def _check_indices(indices: Any, weight: Any, *_: Any) -> None:
    rows = weight.shape[-2]
    if (found := indices.outside(rows)) is not None:
        raise ShapeError(f"there is no row {found}: the weight has {rows}")


def _spelled_embedding(_: Extents, weight: Extents, layout: Layout) -> tuple[Any, ...]:
    if len(weight) < 2 or any(extent != 1 for extent in weight[:-2]):
        raise ShapeError(
            f"the weight has shape {list(weight)}", help="it holds a row for every index, in two dimensions"
        )
    if weight[-2] == 0:
        raise ShapeError("the weight has no rows")
    return (layout,)


def _embedding_loops(indices: Extents, weight: Extents, *_: Any) -> RoutineLoops:
    extents, rank = (*indices, *weight[-2:]), len(indices)
    every = [Dim(axis) for axis in range(rank + 2)]
    rows = Access(extents, (*(Const(0) for _ in weight[:-2]), every[rank], every[rank + 1]))
    return RoutineLoops(
        extents, 2, (Access(extents, tuple(every[:rank])), rows, Access(extents, (*every[:rank], every[-1])))
    )


EMBEDDING = Routine(
    name="embedding",
    parameters=(
        Parameter("input_tensor", TENSOR, aliases=("input",)),
        Parameter("weight", TENSOR),
        Parameter("layout", LAYOUT, Layout.ROW_MAJOR),
        Parameter("padding_idx", IGNORED),
        Parameter("embeddings_type", IGNORED),
    ),
    summary="For every index the row of `weight` that it names, (..., indices) and (rows, columns) to "
    "(..., indices, columns); one beyond is taken for the nearest there is.",
    source="ttnn.embedding",
    loop=_embedding_loop,
    loops=_embedding_loops,
    spelled=_spelled_embedding,
    result=lambda indices, weight, layout: (
        laid_out(interleaved(weight), layout).with_(shape=(*indices.shape, weight.shape[-1])),
    ),
    operand_dtypes=(INTEGERS, SCALARS),
    native=NativeLoop.ROWS_GATHERED,
    golden=lambda torch, indices, weight, _: weight.reshape(-1, weight.shape[-1])[indices.long()],  # noqa: ARG005 - goldens are given torch
    check=_check_indices,
    aten="embedding",
    examples=((((3, 40), (50, 33)), (Layout.ROW_MAJOR,)), (((7,), (1, 1, 9, 64)), (Layout.TILE,))),
)

OPERATIONS = (TOPK, EMBEDDING)
