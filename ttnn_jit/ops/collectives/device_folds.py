"""The fold of several tensors of one shape, in the order of collectives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.collective import REDUCE_MEAN, REDUCE_SUM, tree_fold
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.language.parameter import DIMENSION, ELEMENT_TYPE, EXTENTS, NAME, TENSORS, Parameter
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import DataType

COMBINING: Mapping[str, str] = {
    REDUCE_SUM: "add",
    REDUCE_MEAN: "add",
    "max": "maximum",
    "min": "minimum",
    "prod": "multiply",
}
"""Reduction -> the name of the operation that combines two values."""
DIVISION = "divide"
"""The name of the operation that divides a sum by the number of its terms."""


def _folded(ops: Ops, tensors: Sequence[Value], reduction: str, levels: Sequence[int]) -> Value:
    return _folded_to(ops, tensors, reduction, levels, len(tensors), tensors[0].spec.dtype)


def _folded_to(
    ops: Ops, tensors: Sequence[Value], reduction: str, levels: Sequence[int], total: int, dtype: DataType
) -> Value:
    if math.prod(levels) != len(tensors):
        raise ShapeError(f"nested folds of {list(levels)} terms are not one of {len(tensors)}")
    if dtype.is_integer and reduction == REDUCE_MEAN:
        raise ShapeError(f"the mean of {dtype.name} tensors is no whole number", help="cast them to `ttnn.float32`")
    wide = tensors if dtype.is_integer else [ops.rounded(tensor, COMPUTE_TYPE) for tensor in tensors]
    folded = tree_fold(getattr(ops, COMBINING[reduction]), wide, levels)
    folded = folded / float(total) if reduction == REDUCE_MEAN else folded
    return ops.rounded(folded, dtype)


def _folded_in_torch(torch: Any, *arguments: Any) -> Any:
    *tensors, reduction, levels = arguments
    return _folded_to_in_torch(torch, *tensors, reduction, levels, len(tensors), None)


def _folded_to_in_torch(torch: Any, *arguments: Any) -> Any:
    *tensors, reduction, _, total, dtype = arguments
    stacked = torch.stack(tensors).double()
    reduced = {"max": torch.amax, "min": torch.amin}.get(reduction) or getattr(torch, reduction)
    scale = len(tensors) / total if reduction == "mean" else 1
    return (reduced(stacked, 0) * scale).to(dtype.torch if dtype else tensors[0].dtype)


_FOLDED = (Parameter("tensors", TENSORS), Parameter("reduction", NAME, "sum"), Parameter("levels", EXTENTS))

FOLD = MacroOperation(
    name="fold",
    parameters=_FOLDED,
    summary="Several tensors reduced to one, element by element: a tree over neighbours, rounded once.",
    source="this project's order of sums over devices",
    decompose=_folded,
    golden=_folded_in_torch,
    examples=((((3, 40),) * 3, ("sum", (3,))),),
)

PARTIAL_FOLD = MacroOperation(
    name="partial_fold",
    parameters=(*_FOLDED, Parameter("total", DIMENSION), Parameter("dtype", ELEMENT_TYPE)),
    summary="`fold` of tensors that are some of `total` terms, or partial sums of them; rounded to `dtype`.",
    source="this project's order of sums over devices",
    decompose=_folded_to,
    golden=_folded_to_in_torch,
    examples=((((3, 40),) * 2, ("sum", (2,), 4, COMPUTE_TYPE)),),
)
