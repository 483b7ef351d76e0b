"""Operations that are written in terms of others, a reduction among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.ops.axes import axes_of, axis_of, without_axes
from ttnn_jit.ops.composite import Composite
from ttnn_jit.ops.parameter import DIMENSION, FLAG, TENSOR, Parameter
from ttnn_jit.ops.reduction import interleaved
from ttnn_jit.ops.reductions import REDUCED
from ttnn_jit.specs.tensor_spec import TensorSpec


def _mean(ttnn: Any, x: Any, axes: Sequence[int], keepdim: bool) -> Any:
    total = ttnn.sum(x, axes, keepdim) if axes else x
    return ttnn.divide(total, float(math.prod(x.shape[axis] for axis in axes)))


MEAN = Composite(
    name="mean",
    parameters=REDUCED,
    summary="The mean along dimensions: their sum by their number of elements.",
    source="ttnn.mean",
    decompose=_mean,
    spelled=lambda shape, dims, keepdim: (axes_of(dims, len(shape)), keepdim),
    result=lambda x, axes, keepdim: interleaved(x).with_(shape=without_axes(x.shape, axes, keep=keepdim)),
    golden=lambda torch, x, dim, keepdim: torch.mean(x, dim or None, keepdim),
    aten="mean.dim",
    examples=((((3, 40),), ((-1,), True)), (((64, 33),), ((0,), False)), (((2, 5, 37),), ((), False))),
)


def _softmax(ttnn: Any, x: Any, axis: int, _: bool) -> Any:
    exponentials = ttnn.exp(ttnn.subtract(x, ttnn.max(x, axis, True)))
    return ttnn.divide(exponentials, ttnn.sum(exponentials, axis, True))


def _as_operand(x: TensorSpec, *_: Any) -> TensorSpec:
    return x


SOFTMAX = Composite(
    name="softmax",
    parameters=(
        Parameter("input_tensor", TENSOR, aliases=("input",)),
        Parameter("dim", DIMENSION, -1, ir_name="dimension"),
        Parameter("numeric_stable", FLAG, default=False, ir_name="numericStable"),
    ),
    summary="exp(x - m) by its sum along `dim`, m the largest element there, whatever `numeric_stable` says.",
    source="ttnn.softmax",
    decompose=_softmax,
    spelled=lambda shape, dim, stable: (axis_of(dim, len(shape)), stable),
    result=_as_operand,
    golden=lambda torch, x, dim, _: torch.softmax(x, dim),
    aten="_softmax",
    examples=((((3, 40),), (-1, False)), (((64, 33),), (0, True)), (((2, 5, 37),), (1, False))),
)

OPERATIONS = (MEAN, SOFTMAX)
