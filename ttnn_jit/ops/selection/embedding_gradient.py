"""The gradient of the weight of `embedding`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.elementwise.typecast import OPERATIONS as CASTS
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.families.routine import Routine, RoutineLoops
from ttnn_jit.ops.language.host_call import HostCall
from ttnn_jit.ops.language.parameter import DIMENSION, TENSOR, Parameter
from ttnn_jit.specs.access.index_expressions import Dim
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, FLOATS, HALVES, INDICES
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

(TYPECAST,) = CASTS

Shape = Sequence[int]


def _rows_loop(load: Any, store: Any) -> Any:
    """Per row the sum, in order, of the gradients at its indices, or zero; an index out of range is ignored."""

    def loop(grad, gi, gc, indices, step, result, rr, rc, count, rows, columns):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for i in range(rows):
            for j in range(columns):
                result[i * rr + j * rc] = store(0.0)
        for i in range(count):
            row = indices[i * step]
            if 0 <= row < rows:
                for j in range(columns):
                    result[row * rr + j * rc] = store(result[row * rr + j * rc] + load(grad[i * gi + j * gc]))

    return loop


def _rows_loops(grad: Shape, _: Shape, rows: int) -> RoutineLoops:
    extents = (grad[0], rows, grad[1])
    dims = ((0, 2), (0,), (1, 2))
    return RoutineLoops.over(extents, 3, *(tuple(map(Dim, each)) for each in dims))


SUMMED_ROWS = Routine(
    name="summed_rows",
    parameters=(Parameter("grad", TENSOR), Parameter("indices", TENSOR), Parameter("rows", DIMENSION)),
    summary="For each of `rows` rows the sum of the rows of `grad` at its indices.",
    source="ttnn.embedding_bw",
    loop=_rows_loop,
    loops=_rows_loops,
    result=lambda grad, _, rows: (grad.interleaved.with_(shape=(rows, grad.shape[1]), dtype=COMPUTE_TYPE),),
    operand_dtypes=(FLOATS, INDICES),
    golden=lambda torch, grad, indices, rows: torch.zeros(rows, grad.shape[1], dtype=grad.dtype).index_add(
        0, indices.long(), grad
    ),
)


def _check_rows(indices: Shape, weight: Shape, grad: Shape) -> None:
    if len(weight) < 2 or math.prod(weight[:-2]) != 1:
        raise ShapeError(
            f"the weight has shape {list(weight)}", help="it must have two dimensions, with a row for every index"
        )
    count = math.prod(indices)
    if not grad or grad[-1] != weight[-1] or math.prod(grad) != count * weight[-1]:
        raise ShapeError(
            f"a gradient of shape {list(grad)} has no row of {weight[-1]} elements for each of {count} indices"
        )


def _embedding_bw(ops: Ops, indices: Any, weight: Any, grad: Any) -> Any:
    count, (rows, columns) = math.prod(indices.shape), weight.shape[-2:]
    if not indices.spec.dtype.is_integer:
        indices = ops.typecast(indices, DataType.INT32)
    operands = ops.reshaped(grad, (count, columns)), ops.reshaped(indices, (count,))
    sums = ops.identity(ops.call(SUMMED_ROWS, operands, rows))  # rounds in a copy: the routine reads its sums again
    return ops.reshaped(sums, weight.shape)


def _embedding_result(_: TensorSpec, weight: TensorSpec, grad: TensorSpec) -> TensorSpec:
    return weight.interleaved.with_(dtype=grad.dtype)


EMBEDDING_BW = Composite(
    name="embedding_bw",
    parameters=(
        Parameter("input_tensor", TENSOR),
        Parameter("weight_tensor", TENSOR, aliases=("weight",)),
        Parameter("output_gradient_tensor", TENSOR, aliases=("output_gradient",)),
    ),
    summary="The gradient of the weight of `embedding`: per row the sum of the gradients at its indices, in order; "
    "float indices are truncated.",
    decompose=_embedding_bw,
    canonicalize=_check_rows,
    result=_embedding_result,
    operand_dtypes=(INDICES | HALVES, FLOATS, FLOATS),
    golden=lambda torch, indices, weight, grad: (
        torch.zeros(weight.shape[-2:], dtype=grad.dtype)
        .index_add(0, indices.reshape(-1).long(), grad.reshape(-1, grad.shape[-1]))
        .reshape(weight.shape)
    ),
    host_call=HostCall(),
)

OPERATIONS = (EMBEDDING_BW, SUMMED_ROWS)
