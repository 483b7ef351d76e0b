"""Operations that normalise the rows of a tensor, written in terms of others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.composites import less, moments
from ttnn_jit.ops.decomposition import Composite, Ops
from ttnn_jit.ops.operation import Example
from ttnn_jit.ops.parameter import FLOAT, OPTIONAL_TENSOR, TENSOR, Parameter

_NORMALISED = (
    Parameter("input_tensor", TENSOR, aliases=("input",)),
    Parameter("weight", OPTIONAL_TENSOR),
    Parameter("bias", OPTIONAL_TENSOR),
    Parameter("residual_input_tensor", OPTIONAL_TENSOR),
    Parameter("epsilon", FLOAT, 1e-12, aliases=("eps",)),
)
"""What every operation takes that normalises rows."""


def _rows_spelled(
    shape: Sequence[int],
    weight: Sequence[int] | None,
    bias: Sequence[int] | None,
    residual: Sequence[int] | None,
    epsilon: float,
) -> tuple[float]:
    if not shape:
        raise ShapeError("a tensor without dimensions has no rows to normalise")
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and math.prod(given) != shape[-1]:
            raise ShapeError(f"`{name}` has {math.prod(given)} elements, and the rows {shape[-1]}")
    if residual is not None and residual != shape:
        raise ShapeError(f"`residual_input_tensor` has shape {list(residual)}, and the tensor {list(shape)}")
    return (epsilon,)


def scaled(ops: Ops, x: Any, variance: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    """Rows by the root of `variance`, times the weight of their column, plus its bias."""
    x = ops.multiply(x, ops.rsqrt(ops.add(variance, epsilon)))
    if weight is not None:
        x = ops.multiply(x, _beside_rows(ops, weight, x))
    return x if bias is None else ops.add(x, _beside_rows(ops, bias, x))


def _beside_rows(ops: Ops, row: Any, x: Any) -> Any:
    """A weight in a shape that broadcasts to the rows of `x`: its own, where that does."""
    broadcasts = len(row.shape) <= len(x.shape) and row.shape[-1:] == x.shape[-1:]
    return row if broadcasts else ops.reshaped(row, x.shape[-1:])


def _layer_norm(ops: Ops, x: Any, weight: Any, bias: Any, residual: Any, epsilon: float) -> Any:
    x = x if residual is None else ops.add(x, residual)
    last = (len(x.shape) - 1,)
    mean, variance = moments(ops, x, lambda x: ops.mean(x, last, True))
    return scaled(ops, less(ops, x, mean), variance, weight, bias, epsilon)


def _rms_norm(ops: Ops, x: Any, weight: Any, bias: Any, residual: Any, epsilon: float) -> Any:
    x = x if residual is None else ops.add(x, residual)
    return scaled(ops, x, ops.mean(ops.square(x), (len(x.shape) - 1,), True), weight, bias, epsilon)


def _normalised_golden(function: str) -> Callable[..., Any]:
    def golden(torch: Any, x: Any, weight: Any, bias: Any, residual: Any, epsilon: float) -> Any:
        x = x if residual is None else x + residual
        normalise = getattr(torch.nn.functional, function)
        x = normalise(x, x.shape[-1:], None if weight is None else weight.reshape(-1), eps=epsilon)
        return x if bias is None else x + bias.reshape(-1)

    return golden


_NORMALISED_EXAMPLES: tuple[Example, ...] = (
    (((3, 40), (40,), (40,), None), (1e-5,)),
    (((2, 33, 64), (1, 1, 2, 32), None, None), (1e-12,)),
    (((5, 37), None, (1, 37), (5, 37)), (1e-6,)),
    (((4, 1), None, None, None), (1e-5,)),
)

LAYER_NORM = Composite(
    name="layer_norm",
    parameters=_NORMALISED,
    summary="Rows less their mean, by their standard deviation, times `weight`, plus `bias`, one of each per column.",
    source="ttnn.layer_norm",
    decompose=_layer_norm,
    spelled=_rows_spelled,
    golden=_normalised_golden("layer_norm"),
    aten="native_layer_norm",
    examples=_NORMALISED_EXAMPLES,
)

RMS_NORM = Composite(
    name="rms_norm",
    parameters=_NORMALISED,
    summary="Rows by the root of the mean of their squares, times `weight`, plus `bias`, one of each per column.",
    source="ttnn.rms_norm",
    decompose=_rms_norm,
    spelled=_rows_spelled,
    golden=_normalised_golden("rms_norm"),
    aten="rms_norm",
    examples=_NORMALISED_EXAMPLES,
)

OPERATIONS = (LAYER_NORM, RMS_NORM)
