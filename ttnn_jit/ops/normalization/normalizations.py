"""Normalizations of rows, in terms of other operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.language.kinds import as_float
from ttnn_jit.ops.language.operation import Example
from ttnn_jit.ops.language.parameter import FLOAT, IGNORED, OPTIONAL_TENSOR, TENSOR, Parameter
from ttnn_jit.ops.reduction.moments import minus, moments
from ttnn_jit.specs.target import TILE_WIDTH

_NORMALISED = (
    Parameter("input_tensor", TENSOR, aliases=("input",)),
    Parameter("weight", OPTIONAL_TENSOR),
    Parameter("bias", OPTIONAL_TENSOR),
    Parameter("residual_input_tensor", OPTIONAL_TENSOR),
    Parameter("epsilon", FLOAT, 1e-12, aliases=("eps",)),
)
"""Parameters of every operation that normalises rows."""


Extents = tuple[int, ...]


def _check_rows(
    shape: Extents, weight: Extents | None, bias: Extents | None, residual: Extents | None, _: float
) -> None:
    if not shape:
        raise ShapeError("a tensor without dimensions has no rows to normalise")
    _check_columns(shape, weight, bias)
    if residual is not None and residual != shape:
        raise ShapeError(f"`residual_input_tensor` has shape {list(residual)}, and the tensor {list(shape)}")


def _check_columns(shape: Extents, weight: Extents | None, bias: Extents | None) -> None:
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and math.prod(given) != shape[-1]:
            raise ShapeError(
                f"`{name}` has {math.prod(given)} elements, and the rows {shape[-1]}",
                help=f"`{name}` has one element per column of a tensor of shape {list(shape)}: {shape[-1]}",
            )


def scaled(ops: Ops, x: Any, variance: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    """Rows divided by the square root of `variance`, times the weight of each column, plus its bias."""
    x = x * ops.rsqrt(variance + epsilon)
    if weight is not None:
        x = x * _broadcast_to_rows(ops, weight, x)
    return x if bias is None else x + _broadcast_to_rows(ops, bias, x)


def _broadcast_to_rows(ops: Ops, row: Any, x: Any) -> Any:
    """`row` in a shape that broadcasts to the rows of `x`; unchanged if it does already."""
    broadcasts = len(row.shape) <= len(x.shape) and row.shape[-1:] == x.shape[-1:]
    return row if broadcasts else ops.reshaped(row, x.shape[-1:])


def _layer_norm(ops: Ops, x: Any, weight: Any, bias: Any, residual: Any, epsilon: float) -> Any:
    x = x if residual is None else x + residual
    last = (len(x.shape) - 1,)
    mean, variance = moments(ops, x, lambda x: ops.mean(x, last, True))
    return scaled(ops, minus(x, mean), variance, weight, bias, epsilon)


def _rms_norm(ops: Ops, x: Any, weight: Any, bias: Any, residual: Any, epsilon: float) -> Any:
    x = x if residual is None else x + residual
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
    summary="Rows minus their mean, divided by their standard deviation, times `weight`, plus `bias`, both per column.",
    decompose=_layer_norm,
    canonicalize=_check_rows,
    golden=_normalised_golden("layer_norm"),
    aten="native_layer_norm",
    examples=_NORMALISED_EXAMPLES,
)

RMS_NORM = Composite(
    name="rms_norm",
    parameters=_NORMALISED,
    summary="Rows divided by the root of the mean of their squares, times `weight`, plus `bias`, both per column.",
    decompose=_rms_norm,
    canonicalize=_check_rows,
    golden=_normalised_golden("rms_norm"),
    aten="rms_norm",
    examples=_NORMALISED_EXAMPLES,
)


# --- In parts, on several devices -------------------------------------------------------------------------------------

_INPUT = Parameter("input_tensor", TENSOR, aliases=("input",))
_GRID = Parameter("use_2d_core_grid", IGNORED)


def _check_pre(shape: Extents, residual: Extents | None) -> None:
    _check_rows(shape, None, None, residual, 0.0)


def _padded_to_tile(ops: Ops, column: Any) -> Any:
    """A column, padded with zeros to the width of a tile."""
    return ops.pad(column, (*[(0, 0)] * (len(column.shape) - 1), (0, TILE_WIDTH - 1)), value=0.0)


def _sums(ops: Ops, x: Any, residual: Any, count: int) -> Any:
    x = x if residual is None else x + residual
    last = (len(x.shape) - 1,)
    summed = [ops.square(x), x][:count]
    columns = [_padded_to_tile(ops, ops.sum(each, last, True)) for each in summed]
    return columns[0] if count == 1 else ops.concat(columns, last[0])


def _sums_golden(torch: Any, x: Any, residual: Any, count: int) -> Any:
    x = x if residual is None else x + residual
    zeros = x.new_zeros((*x.shape[:-1], TILE_WIDTH - 1))
    columns = [(x * x).sum(-1, True), zeros, x.sum(-1, True), zeros]
    return torch.cat(columns[: 2 * count], -1)


def _pre(name: str, count: int, summary: str) -> Composite:
    return Composite(
        name=name,
        parameters=(_INPUT, Parameter("residual_input_tensor", OPTIONAL_TENSOR), _GRID),
        summary=summary,
        decompose=lambda ops, x, residual: _sums(ops, x, residual, count),
        canonicalize=_check_pre,
        result=lambda x, _: x.interleaved.with_(shape=(*tuple(x.shape)[:-1], count * TILE_WIDTH)),
        golden=lambda torch, x, residual: _sums_golden(torch, x, residual, count),
        examples=((((3, 40), None), ()), (((2, 1, 33, 64), (2, 1, 33, 64)), ())),
    )


RMS_NORM_PRE_ALL_GATHER = _pre(
    "rms_norm_pre_all_gather",
    1,
    "The sums of the squares of rows, each in the first column of a tile, zeros in the others.",
)
LAYER_NORM_PRE_ALL_GATHER = _pre(
    "layer_norm_pre_all_gather",
    2,
    "The sums of the squares of rows and their sums, each in the first column of a tile, zeros in the others.",
)


def _check_post(
    count: int, shape: Extents, stats: Extents, weight: Extents | None, bias: Extents | None, _: float
) -> None:
    width = count * TILE_WIDTH
    if not shape or stats[:-1] != shape[:-1] or not stats[-1] or stats[-1] % width:
        raise ShapeError(
            f"`stats` has shape {list(stats)}, and the tensor {list(shape)}",
            help=f"it must have {width} columns per device, as the operation before the gather returns them",
        )
    _check_columns(shape, weight, bias)


def _means(ops: Ops, x: Any, stats: Any, count: int) -> list[Any]:
    """The means of the summed quantities, over the rows of all devices."""
    devices = stats.shape[-1] // (count * TILE_WIDTH)
    rows = (*stats.shape[:-1], devices, count * TILE_WIDTH)
    blocks = ops.reshaped(stats, rows)
    elements = as_float(x.shape[-1] * devices)
    found = []
    for start in range(0, count * TILE_WIDTH, TILE_WIDTH):
        begins, ends = (*[0] * (len(rows) - 1), start), (*rows[:-1], start + 1)
        total = ops.sum(ops.slice(blocks, begins, ends), (len(rows) - 2,), False)
        found.append(total / elements)
    return found


def _rms_post(ops: Ops, x: Any, stats: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    (squares,) = _means(ops, x, stats, 1)
    return scaled(ops, x, squares, weight, bias, epsilon)


def _layer_post(ops: Ops, x: Any, stats: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    squares, mean = _means(ops, x, stats, 2)
    variance = ops.maximum(squares - ops.square(mean), 0.0)
    return scaled(ops, x - mean, variance, weight, bias, epsilon)


def _post_golden(count: int) -> Any:
    def golden(torch: Any, x: Any, stats: Any, weight: Any, bias: Any, epsilon: float) -> Any:
        blocks = stats.unflatten(-1, (-1, count, TILE_WIDTH))[..., 0]
        means = blocks.sum(-2) / (x.shape[-1] * blocks.shape[-2])
        squares, mean = means[..., :1], means[..., 1:].sum(-1, True)
        variance = torch.clamp(squares - mean * mean, min=0.0) if count == 2 else squares
        x = (x - mean) / torch.sqrt(variance + epsilon)
        x = x if weight is None else x * weight.reshape(-1)
        return x if bias is None else x + bias.reshape(-1)

    return golden


def _post(name: str, count: int, summary: str, decompose: Any) -> Composite:
    width = count * TILE_WIDTH
    examples: tuple[Example, ...] = (
        (((3, 40), (3, 2 * width), (40,), None), (0.5,)),
        (((2, 1, 33, 64), (2, 1, 33, width), (1, 1, 2, 32), (64,)), (1.0,)),
    )
    return Composite(
        name=name,
        parameters=(
            _INPUT,
            Parameter("stats", TENSOR),
            Parameter("weight", OPTIONAL_TENSOR),
            Parameter("bias", OPTIONAL_TENSOR),
            Parameter("epsilon", FLOAT, 1e-12, aliases=("eps",)),
            _GRID,
        ),
        summary=summary,
        decompose=decompose,
        canonicalize=partial(_check_post, count),
        golden=_post_golden(count),
        examples=examples,
    )


RMS_NORM_POST_ALL_GATHER = _post(
    "rms_norm_post_all_gather",
    1,
    "`rms_norm` of a part of rows; `stats` has their sums of squares, one tile's width from each device.",
    _rms_post,
)
LAYER_NORM_POST_ALL_GATHER = _post(
    "layer_norm_post_all_gather",
    2,
    "`layer_norm` of a part of rows; `stats` has from each device their sums of squares and their sums.",
    _layer_post,
)

OPERATIONS = (
    LAYER_NORM, RMS_NORM, RMS_NORM_PRE_ALL_GATHER, LAYER_NORM_PRE_ALL_GATHER, RMS_NORM_POST_ALL_GATHER,
    LAYER_NORM_POST_ALL_GATHER,
)  # fmt: skip
