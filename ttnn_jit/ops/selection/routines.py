"""Top-k and embedding."""

from __future__ import annotations

from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.reduction import with_layout
from ttnn_jit.ops.families.routine import NativeLoop, Routine, RoutineLoops, loops_along
from ttnn_jit.ops.language.axes import axis_of
from ttnn_jit.ops.language.named_indices import sorted_elements
from ttnn_jit.ops.language.parameter import DIMENSION, FLAG, IGNORED, OPTIONAL_LAYOUT, TENSOR, Parameter
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Const, Dim
from ttnn_jit.specs.dtypes import FLOATS, HALVES, INDICES, MOVABLE, WIDE_FLOATS, DataType
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

Extents = tuple[int, ...]

MOST_UINT16 = 1 << 16
"""Most elements along a dimension with uint16 indices."""


def index_dtype(extent: int) -> DataType:
    """The element type of indices along a dimension: the narrowest index type of ttnn."""
    return DataType.UINT16 if extent <= MOST_UINT16 else DataType.UINT32


def _topk_loop(load: Any, _store: Any) -> Any:
    """An insertion sort of the first `count` elements in the order of torch.topk; it is stable."""

    def loop(x, stride, values, value_stride, indices, index_stride, count, extent, largest):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        found = 0
        for i in range(extent):
            value = load(x[i * stride])
            slot = found
            while slot > 0:
                other = load(values[(slot - 1) * value_stride])
                if largest:
                    precedes = value > other or (value != value and other == other)  # noqa: PLR0124 - NaN
                else:
                    precedes = value < other or (value == value and other != other)  # noqa: PLR0124 - NaN
                if not precedes:
                    break
                slot -= 1
            if slot == count:
                continue
            found = min(found + 1, count)
            for j in range(found - 1, slot, -1):
                values[j * value_stride] = values[(j - 1) * value_stride]
                indices[j * index_stride] = indices[(j - 1) * index_stride]
            values[slot * value_stride] = x[i * stride]
            indices[slot * index_stride] = i

    return loop


def _canonical_topk(shape: Extents, k: int, dim: int, largest: bool, ordered: bool) -> tuple[Any, ...]:
    axis = axis_of(dim, len(shape))
    if not 1 <= k <= shape[axis]:
        raise ShapeError(
            f"k is {k}, and dimension {axis} of {list(shape)} has {shape[axis]} elements", help="k is at least 1"
        )
    return k, axis, largest, ordered


def _topk_loops(shape: Extents, k: int, axis: int, *_: Any) -> RoutineLoops:
    extents, access = loops_along(shape, axis, k, shape[axis])
    return RoutineLoops(extents, 2, (access(1), access(0), access(0)))


def _topk_results(x: TensorSpec, k: int, axis: int, *_: Any) -> tuple[TensorSpec, ...]:
    extents = tuple(x.shape)
    shape = (*extents[:axis], k, *extents[axis + 1 :])
    indices = index_dtype(extents[axis])
    values = x.interleaved.with_(shape=shape)
    return values, values.with_(dtype=indices)


TOPK = Routine(
    name="topk",
    parameters=(
        Parameter("input_tensor", TENSOR, aliases=("input",)),
        Parameter("k", DIMENSION, 32),
        Parameter("dim", DIMENSION, -1),
        Parameter("largest", FLAG, default=True),
        Parameter("sorted", FLAG, default=True),
    ),
    summary="The `k` largest or smallest elements along `dim`, in order, and their indices there, UINT16 or else "
    "UINT32; NaN is the largest.",
    loop=_topk_loop,
    loops=_topk_loops,
    canonicalize=_canonical_topk,
    accepts_rank_zero=True,
    result=_topk_results,
    operand_dtypes=(FLOATS | WIDE_FLOATS,),
    wide_in_texts=True,
    constants=lambda k, axis, largest, ordered: (largest,),  # noqa: ARG005 - results are always in order
    result_names=("values", "indices"),
    golden=lambda torch, x, k, dim, largest, ordered: tuple(torch.topk(x, k, dim, largest, ordered)),
    compared_elements=lambda torch, results, x, _, dim, *__: sorted_elements(torch, results, x, dim),
    aten="topk",
    examples=(
        (((3, 40),), (5, -1, True, True)),
        (((7, 33),), (3, 0, False, True)),
        (((2, 5, 37),), (37, 2, True, True)),
    ),
)


def _embedding_loop(load: Any, _store: Any) -> Any:
    """A copy of a row of the weight; an index out of range is clamped."""

    def loop(indices, weight, rows, across, result, step, count, width):  # type: ignore[no-untyped-def]
        row = int(min(max(0, load(indices[0])), count - 1))  # with this order of operands NaN gives 0
        for i in range(width):
            result[i * step] = weight[row * rows + i * across]

    return loop


def _check_indices(indices: Any, weight: Any, *_: Any) -> None:
    rows = weight.shape[-2]
    if (found := indices.out_of_range(rows)) is not None:
        raise ShapeError(f"there is no row {found}: the weight has {rows}")


def _check_embedding(_: Extents, weight: Extents, _layout: Layout | None) -> None:
    if len(weight) < 2 or any(extent != 1 for extent in weight[:-2]):
        raise ShapeError(
            f"the weight has shape {list(weight)}", help="it must have two dimensions, with a row for every index"
        )
    if weight[-2] == 0:
        raise ShapeError("the weight has no rows")


def _embedding_loops(indices: Extents, weight: Extents, *_: Any) -> RoutineLoops:
    extents, rank = (*indices, *weight[-2:]), len(indices)
    every = [Dim(axis) for axis in range(rank + 2)]
    rows = Access(extents, (*(Const(0) for _ in weight[:-2]), every[rank], every[rank + 1]))
    kept = [every[axis] for axis in _kept_dimensions(indices)]
    return RoutineLoops(extents, 2, (Access(extents, tuple(every[:rank])), rows, Access(extents, (*kept, every[-1]))))


def _kept_dimensions(indices: Extents) -> tuple[int, ...]:
    """The dimensions of the indices in the result: of (batch, 1, 1, indices) ttnn keeps the first and the last."""
    rank = len(indices)
    return (0, rank - 1) if rank > 2 and all(extent == 1 for extent in indices[1:-1]) else tuple(range(rank))


def _embedding_result(indices: TensorSpec, weight: TensorSpec, layout: Layout | None) -> tuple[TensorSpec, ...]:
    extents = tuple(indices.shape)
    shape = (*(extents[axis] for axis in _kept_dimensions(extents)), tuple(weight.shape)[-1])
    return (with_layout(weight.interleaved, weight.layout if layout is None else layout).with_(shape=shape),)


def _embedding_in_torch(_: Any, indices: Any, weight: Any, *__: Any) -> Any:
    kept = [indices.shape[axis] for axis in _kept_dimensions(tuple(indices.shape))]
    return weight.reshape(-1, weight.shape[-1])[indices.long().reshape(kept)]


EMBEDDING = Routine(
    name="embedding",
    parameters=(
        Parameter("input_tensor", TENSOR, aliases=("input",)),
        Parameter("weight", TENSOR),
        Parameter("layout", OPTIONAL_LAYOUT),
        Parameter("padding_idx", IGNORED),
        Parameter("embeddings_type", IGNORED),
    ),
    summary="The row of `weight` at every index, (..., indices) and (rows, columns) to (..., indices, columns), and "
    "(batch, 1, 1, indices) to (batch, indices, columns), by default in the layout of `weight`; an index out of range "
    "is clamped, and a float index is truncated.",
    loop=_embedding_loop,
    loops=_embedding_loops,
    canonicalize=_check_embedding,
    result=_embedding_result,
    operand_dtypes=(INDICES | HALVES, MOVABLE),
    native=NativeLoop.ROW_GATHER,
    golden=_embedding_in_torch,
    check=_check_indices,
    aten="embedding",
    examples=(
        (((3, 40), (50, 33)), (Layout.ROW_MAJOR,)),
        (((7,), (1, 1, 9, 64)), (Layout.TILE,)),
        (((3, 1, 1, 40), (50, 32)), (Layout.ROW_MAJOR,)),
        (((2, 3, 4), (5, 6)), (Layout.ROW_MAJOR,)),
    ),
)

OPERATIONS = (TOPK, EMBEDDING)
