"""Reductions in terms of others: scaled ones, vector norms, any and all, top-k with given indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.elementwise.binary import NE
from ttnn_jit.ops.families.decomposition import Composite, MacroOperation, Ops, Value
from ttnn_jit.ops.families.reduction import Reduction
from ttnn_jit.ops.language.axes import axes_of, axis_of
from ttnn_jit.ops.language.named_indices import nearest_elements
from ttnn_jit.ops.language.parameter import FLOAT, REDUCED, TENSOR, Parameter
from ttnn_jit.ops.reduction.moments import over_axes
from ttnn_jit.ops.reduction.reductions import MAX, MIN, PROD, SUM, over
from ttnn_jit.ops.selection.routines import TOPK
from ttnn_jit.ops.selection.selections import GATHER

Extents = tuple[int, ...]


def _scaled(name: str, summary: str) -> Composite:
    return over_axes(
        name,
        Parameter("scalar", FLOAT),
        ttnn_name=f"scaled_{name}",
        summary=summary,
        decompose=lambda ops, x, axes, keepdim, scalar: getattr(ops, name)(x, axes, keepdim) * scalar,
        kernel_of=SUM,
        golden=lambda torch, x, dim, keepdim, scalar: scalar * getattr(torch, name)(x, dim or None, keepdim),
        examples=((((3, 40),), ((-1,), True, 0.5)), (((2, 5, 33),), ((0, 2), False, -3.0))),
    )


SCALED_SUM = _scaled("sum", "The sum along dimensions, times `scalar`.")
SCALED_MEAN = _scaled("mean", "The mean along dimensions, times `scalar`.")


def _norm(ops: Ops, x: Any, axes: Sequence[int], keepdim: bool, p: float) -> Any:
    if abs(p) == math.inf:
        return getattr(ops, "max" if p > 0 else "min")(ops.abs(x), axes, keepdim)
    if p == 0:
        return ops.sum(ops.ne(x, 0.0), axes, keepdim)
    if p == 1:
        return ops.sum(ops.abs(x), axes, keepdim)
    if p == 2:
        return ops.sqrt(ops.sum(ops.square(x), axes, keepdim))
    return ops.pow(ops.sum(ops.pow(ops.abs(x), p), axes, keepdim), 1.0 / p)


NORM = over_axes(
    "norm",
    Parameter("p", FLOAT, 2.0),
    summary="The vector norm of order `p` along dimensions: 0 counts nonzero elements, infinity gives the largest.",
    source="torch.linalg.vector_norm",
    decompose=_norm,
    golden=lambda torch, x, dim, keepdim, p: torch.linalg.vector_norm(x, p, dim or None, keepdim),
    aten="linalg_vector_norm",
    examples=tuple(
        example
        for p in (2.0, 1.0, 0.0, 3.0, math.inf, -math.inf)
        for example in ((((3, 40),), ((-1,), True, p)), (((2, 5, 33),), ((0, 2), False, p)))
    ),
)


def _boolean_reduction(
    name: str, reduction_of_masks: Reduction, reduction_of_none: Reduction, summary: str
) -> MacroOperation:
    """The maximum or minimum of ``x != 0``; for no elements the identity of `of_nothing`."""

    def decompose(ops: Ops, x: Value, dims: Sequence[int], keepdim: bool) -> Value:
        axes = axes_of(dims, len(x.shape))
        reduction = reduction_of_none if any(x.shape[axis] == 0 for axis in axes) else reduction_of_masks
        return ops.call(reduction, [ops.call(NE, [x, 0])], axes, keepdim)

    def golden(torch: Any, x: Any, dim: Sequence[int], keepdim: bool) -> Any:
        return over(name)(torch, x != 0, dim, keepdim).to(x.dtype)

    return MacroOperation(
        name=name,
        parameters=REDUCED,
        summary=summary,
        source=f"torch.{name}",
        decompose=decompose,
        golden=golden,
        aten=f"{name}.dims",
        examples=((((3, 40),), ((-1,), True)), (((2, 5, 33),), ((0, 2), False)), (((2, 5),), ((), False))),
    )


ANY = _boolean_reduction("any", MAX, SUM, "1 where an element along the dimensions is not zero, else 0, in x's dtype.")
ALL = _boolean_reduction("all", MIN, PROD, "1 where no element along the dimensions is zero, else 0, in x's dtype.")


def _decompose_topk_of(
    ops: Ops, x: Value, indices: Value, k: int, dim: int, largest: bool, ordered: bool
) -> list[Value]:
    axis = axis_of(dim, len(x.shape))
    if indices.shape != x.shape:
        raise ShapeError(f"`indices_tensor` has shape {list(indices.shape)}, and the tensor {list(x.shape)}")
    values, found = ops.results(TOPK, [x], k, axis, largest, ordered)
    return [values, ops.call(GATHER, [indices, found], axis)]


def _topk_of_golden(torch: Any, x: Any, indices: Any, k: int, dim: int, largest: bool, ordered: bool) -> Any:
    values, found = torch.topk(x, k, dim, largest, ordered)
    return values, torch.gather(indices, dim, found)


TOPK_OF = MacroOperation(
    name="topk",
    ttnn_name="topk_of",
    parameters=(*TOPK.parameters, Parameter("indices_tensor", TENSOR)),
    summary="The `k` largest or smallest elements along `dim`, in order, and the elements of `indices_tensor` there.",
    decompose=_decompose_topk_of,
    result_names=("values", "indices"),
    golden=_topk_of_golden,
    compared_elements=lambda torch, results, x, indices, _, dim, *__: nearest_elements(torch, results, x, indices, dim),
    examples=((((3, 40), (3, 40)), (5, -1, True, True)), (((7, 33), (7, 33)), (3, 0, False, True))),
)

OPERATIONS = (SCALED_SUM, SCALED_MEAN, NORM, ANY, ALL, TOPK_OF)
