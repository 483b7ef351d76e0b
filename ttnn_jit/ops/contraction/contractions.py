"""Contractions: operations that multiply two tensors and sum the products."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.contraction import Contraction, Dimensions, Labels
from ttnn_jit.ops.language.parameter import FLAG, PRECISION, TENSOR, Parameter


def _matmul(left: int, right: int, transpose_a: bool, transpose_b: bool, _: str | None = None) -> Dimensions:
    if min(left, right) < 1 or (left == 1 and transpose_a) or (right == 1 and transpose_b):
        raise ShapeError("a tensor without dimensions, or a vector that is to be transposed, has no rows and columns")
    batch: tuple[Hashable, ...] = tuple(range(max(left, right) - 2))
    a, b = _matrix("row", "inner", left, transpose_a), _matrix("inner", "column", right, transpose_b)
    kept = tuple(label for label in (*a, *b) if label != "inner")
    return Dimensions(_trailing(batch, left - 2) + a, _trailing(batch, right - 2) + b, batch + kept)


def _matrix(rows: str, columns: str, rank: int, transposed: bool) -> Labels:
    if rank == 1:
        return ("inner",)
    return (columns, rows) if transposed else (rows, columns)


def _trailing(labels: Labels, count: int) -> Labels:
    return labels[len(labels) - max(0, count) :]


def _golden(torch: Any, a: Any, b: Any, transpose_a: bool, transpose_b: bool, _: str | None = None) -> Any:
    return torch.matmul(a.mT if transpose_a else a, b.mT if transpose_b else b)


TRANSPOSED = (Parameter("transpose_a", FLAG, default=False), Parameter("transpose_b", FLAG, default=False))
PRECISION_CONFIG = Parameter("compute_kernel_config", PRECISION, ir_name="compute_config")
"""How exactly a chip multiplies (specs/product_precision.py)."""

MATMUL = Contraction(
    name="matmul",
    parameters=(
        Parameter("input_tensor_a", TENSOR),
        Parameter("input_tensor_b", TENSOR),
        *TRANSPOSED,
        PRECISION_CONFIG,
    ),
    summary="The product of matrices, (..., m, k) by (..., k, n); leading dimensions broadcast and vectors are "
    "matrices as in torch.matmul.",
    dimensions=_matmul,
    golden=_golden,
    aten="matmul",
    operator="@",
    examples=(
        (((3, 40), (40, 5)), (False, False, None)),
        (((40, 33), (40, 70)), (True, False, None)),
        (((2, 1, 8, 37), (3, 9, 37)), (False, True, None)),
        (((50,), (50, 17)), (False, False, None)),
        (((4, 50), (50,)), (False, False, None)),
    ),
)

OPERATIONS = (MATMUL,)
