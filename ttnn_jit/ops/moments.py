"""Means, variances and standard deviations along dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.ops.axes import axes_of, without_axes
from ttnn_jit.ops.decomposition import Composite, Ops
from ttnn_jit.ops.operation import Example
from ttnn_jit.ops.parameter import FLAG, REDUCED, Parameter
from ttnn_jit.ops.reductions import SUM
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import TensorSpec


def _mean(ops: Ops, x: Any, axes: Sequence[int], keepdim: bool) -> Any:
    total = ops.sum(x, axes, keepdim) if axes else x
    return total / float(math.prod(x.shape[axis] for axis in axes))


def spelled_axes(shape: Sequence[int], dims: Sequence[int], *others: Any) -> tuple[Any, ...]:
    """Dimensions counted from the front, and other attributes as they are."""
    return axes_of(dims, len(shape)), *others


def along_axes(x: TensorSpec, axes: Sequence[int], keepdim: bool, *_: Any) -> TensorSpec:
    """What a reduction of these dimensions results in."""
    return x.interleaved.with_(shape=without_axes(x.shape, axes, keep=keepdim))


MEAN = Composite(
    name="mean",
    parameters=REDUCED,
    summary="The mean along dimensions: their sum by their number of elements.",
    decompose=_mean,
    kernel_of=SUM,
    spelled=spelled_axes,
    result=along_axes,
    golden=lambda torch, x, dim, keepdim: torch.mean(x, dim or None, keepdim),
    aten="mean.dim",
    examples=((((3, 40),), ((-1,), True)), (((64, 33),), ((0,), False)), (((2, 5, 37),), ((), False))),
)


def moments(ops: Ops, x: Any, mean: Callable[[Any], Any]) -> tuple[list[Any], Any]:
    """What `mean` makes of `x`, in parts to be taken off one after the other; and the variance.

    A mean is rounded, of float32 perhaps by more than x spreads. What is left of it is the mean of the differences, and
    its square is what the mean of their squares has too much. Narrower types spread by more, where they spread.
    """
    first = mean(x)
    difference = x - first
    squares = mean(ops.square(difference))
    if x.spec.dtype is not COMPUTE_TYPE:
        return [first], squares
    left = mean(difference)
    return [first, left], ops.maximum(squares - ops.square(left), 0.0)


def less(x: Any, parts: Sequence[Any]) -> Any:
    """`x` without each of `parts`."""
    for part in parts:
        x = x - part
    return x


def _variance(ops: Ops, x: Any, axes: Sequence[int], keepdim: bool, correction: bool) -> Any:
    count = math.prod(x.shape[axis] for axis in axes)
    difference = x - ops.mean(x, axes, True)
    squares = ops.sum(ops.square(difference), axes, keepdim)
    if x.spec.dtype is COMPUTE_TYPE:  # as in `moments`
        left = ops.sum(difference, axes, keepdim)
        squares = ops.maximum(squares - ops.square(left) / float(count), 0.0)
    return squares / float(max(count - correction, 0))


_SPREAD = (*REDUCED, Parameter("correction", FLAG, default=True))
_SPREAD_EXAMPLES: tuple[Example, ...] = (
    (((3, 40),), ((-1,), True, True)),
    (((64, 33),), ((0,), False, False)),
    (((2, 5, 37),), ((1, 2), False, True)),
)

VAR = Composite(
    name="var",
    parameters=_SPREAD,
    summary="The variance along dimensions; with `correction` by Bessel's, one element less.",
    decompose=_variance,
    spelled=spelled_axes,
    result=along_axes,
    golden=lambda torch, x, dim, keepdim, correction: torch.var(x, dim or None, correction=correction, keepdim=keepdim),
    aten="var.correction",
    examples=_SPREAD_EXAMPLES,
)

STD = Composite(
    name="std",
    parameters=_SPREAD,
    summary="The standard deviation along dimensions; with `correction` by Bessel's, one element less.",
    decompose=lambda ops, *call: ops.sqrt(_variance(ops, *call)),
    spelled=spelled_axes,
    result=along_axes,
    golden=lambda torch, x, dim, keepdim, correction: torch.std(x, dim or None, correction=correction, keepdim=keepdim),
    aten="std.correction",
    examples=_SPREAD_EXAMPLES,
)

OPERATIONS = (MEAN, VAR, STD)
