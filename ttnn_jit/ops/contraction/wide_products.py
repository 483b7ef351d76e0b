"""Products of matrices of 64-bit elements, by plain loops: sums over the contracted dimension, in its order.

Programs of ttnn and torch do not call this: texts of other compilers do (ops/texts/wide_calls.py).
"""

from __future__ import annotations

from typing import Any

from ttnn_jit.ops.families.routine import Routine, RoutineLoops
from ttnn_jit.ops.language.parameter import TENSOR, Parameter
from ttnn_jit.specs.access.index_expressions import Dim
from ttnn_jit.specs.dtypes import WIDE
from ttnn_jit.specs.tensor_spec import TensorSpec

Extents = tuple[int, ...]


def _loop(load: Any, store: Any) -> Any:
    """A row of the result after the other, each as a sum of rows of the second matrix."""

    def loop(x, down, along, y, across, deep, result, rows, columns, height, width, depth):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for i in range(height):
            for j in range(width):
                result[i * rows + j * columns] = store(load(x[i * down]) * load(y[j * across]))
            for k in range(1, depth):
                factor = load(x[i * down + k * along])
                for j in range(width):
                    at = i * rows + j * columns
                    result[at] = store(load(result[at]) + factor * load(y[k * deep + j * across]))

    return loop


def _loops(left: Extents, right: Extents) -> RoutineLoops:
    batch, height, depth = left
    b, i, j, k = (Dim(dim) for dim in range(4))
    return RoutineLoops.over((batch, height, right[2], depth), 3, (b, i, k), (b, k, j), (b, i, j))


def _result(left: TensorSpec, right: TensorSpec) -> tuple[TensorSpec]:
    batch, height, _ = left.shape
    return (left.with_(shape=(batch, height, tuple(right.shape)[2])),)


WIDE_PRODUCT = Routine(
    name="wide_product",
    parameters=(Parameter("input_tensor_a", TENSOR), Parameter("input_tensor_b", TENSOR)),
    summary="The products of matrices of 64-bit elements, batch by batch.",
    source="torch.bmm",
    loop=_loop,
    loops=_loops,
    result=_result,
    operand_dtypes=(WIDE, WIDE),
    same_dtype=(0, 1),
    golden=lambda torch, x, y: torch.bmm(x, y),
    examples=((((2, 3, 5), (2, 5, 4)), ()), (((1, 7, 33), (1, 33, 2)), ())),
)

OPERATIONS = (WIDE_PRODUCT,)
"""Texts call it for contractions of tensors of 64 bits."""
