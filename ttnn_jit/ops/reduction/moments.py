"""Means, variances and standard deviations along dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.language.axes import axes_of, without_axes
from ttnn_jit.ops.language.kinds import as_float
from ttnn_jit.ops.language.parameter import FLAG, REDUCED, Parameter
from ttnn_jit.ops.reduction.reductions import SUM
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import TensorSpec


def _mean(ops: Ops, x: Any, axes: Sequence[int], keepdim: bool) -> Any:
    total = ops.sum(x, axes, keepdim) if axes else x
    return total / as_float(math.prod(x.shape[axis] for axis in axes))


def _canonical_axes(shape: Sequence[int], dims: Sequence[int], *others: Any) -> tuple[Any, ...]:
    """Axes counted from the front, and the other attributes unchanged."""
    return axes_of(dims, len(shape)), *others


def _along_axes(x: TensorSpec, axes: Sequence[int], keepdim: bool, *_: Any) -> TensorSpec:
    """The result spec of a reduction of `axes`."""
    return x.interleaved.with_(shape=without_axes(x.shape, axes, keep=keepdim))


def over_axes(name: str, *parameters: Parameter, **fields: Any) -> Composite:
    """The declaration of a composite that reduces dimensions; `parameters` follow those of all reductions."""
    return Composite(
        name=name, parameters=(*REDUCED, *parameters), canonicalize=_canonical_axes, result=_along_axes, **fields
    )


MEAN = over_axes(
    "mean",
    summary="The mean along dimensions: the sum divided by the number of elements.",
    decompose=_mean,
    kernel_of=SUM,
    golden=lambda torch, x, dim, keepdim: torch.mean(x if x.is_floating_point() else x.double(), dim or None, keepdim),
    aten="mean.dim",
    examples=((((3, 40),), ((-1,), True)), (((64, 33),), ((0,), False)), (((2, 5, 37),), ((), False))),
)


def moments(ops: Ops, x: Any, mean: Callable[[Any], Any]) -> tuple[list[Any], Any]:
    """The mean of `x` as a list of summands to subtract one after the other, and the variance.

    The rounding error of a float32 mean may exceed the spread of `x`. The mean of the differences corrects it, and its
    square corrects the variance. Elements of narrower types that differ at all differ by more than that error.
    """
    rounded_mean = mean(x)
    difference = x - rounded_mean
    squares = mean(ops.square(difference))
    if x.spec.dtype is not COMPUTE_TYPE:
        return [rounded_mean], squares
    correction = mean(difference)
    return [rounded_mean, correction], ops.maximum(squares - ops.square(correction), 0.0)


def minus(x: Any, parts: Sequence[Any]) -> Any:
    """`x` minus each of `parts`."""
    for part in parts:
        x = x - part
    return x


def _variance(ops: Ops, x: Any, axes: Sequence[int], keepdim: bool, correction: bool) -> Any:
    count = math.prod(x.shape[axis] for axis in axes)
    difference = x - ops.mean(x, axes, True)
    squares = ops.sum(ops.square(difference), axes, keepdim)
    if x.spec.dtype is COMPUTE_TYPE:  # as in `moments`
        left = ops.sum(difference, axes, keepdim)
        squares = ops.maximum(squares - ops.square(left) / as_float(count), 0.0)
    return squares / as_float(max(count - correction, 0))


def _dispersion(name: str, description: str, decompose: Callable[..., Any]) -> Composite:
    def golden(torch: Any, x: Any, dim: Sequence[int], keepdim: bool, correction: bool) -> Any:
        return getattr(torch, name)(x, dim or None, correction=correction, keepdim=keepdim)

    return over_axes(
        name,
        Parameter("correction", FLAG, default=True),
        summary=f"The {description} along dimensions; `correction` is Bessel's: the divisor is one less.",
        decompose=decompose,
        golden=golden,
        aten=f"{name}.correction",
        examples=(
            (((3, 40),), ((-1,), True, True)),
            (((64, 33),), ((0,), False, False)),
            (((2, 5, 37),), ((1, 2), False, True)),
        ),
    )


VAR = _dispersion("var", "variance", _variance)
STD = _dispersion("std", "standard deviation", lambda ops, *call: ops.sqrt(_variance(ops, *call)))

OPERATIONS = (MEAN, VAR, STD)
