"""Both halves of a norm whose rows lie in parts on several devices: what each sums up, and what it does with all."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.decomposition import Composite, Ops
from ttnn_jit.ops.normalizations import scaled
from ttnn_jit.ops.operation import Example
from ttnn_jit.ops.parameter import FLOAT, IGNORED, OPTIONAL_TENSOR, TENSOR, Parameter
from ttnn_jit.ops.reduction import interleaved
from ttnn_jit.specs.target import TILE_WIDTH

Extents = tuple[int, ...]

_INPUT = Parameter("input_tensor", TENSOR, aliases=("input",))
_GRID = Parameter("use_2d_core_grid", IGNORED)


def _pre_spelled(shape: Extents, residual: Extents | None) -> tuple[()]:
    if not shape:
        raise ShapeError("a tensor without dimensions has no rows to normalise")
    if residual is not None and residual != shape:
        raise ShapeError(f"`residual_input_tensor` has shape {list(residual)}, and the tensor {list(shape)}")
    return ()


def _in_tile(ops: Ops, column: Any) -> Any:
    """A column, and zeros up to the width of a tile."""
    return ops.pad(column, (*[(0, 0)] * (len(column.shape) - 1), (0, TILE_WIDTH - 1)), value=0.0)


def _sums(ops: Ops, x: Any, residual: Any, count: int) -> Any:
    x = x if residual is None else ops.add(x, residual)
    last = (len(x.shape) - 1,)
    summed = [ops.square(x), x][:count]
    columns = [_in_tile(ops, ops.sum(each, last, True)) for each in summed]
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
        source=f"ttnn.{name}",
        decompose=lambda ops, x, residual: _sums(ops, x, residual, count),
        spelled=_pre_spelled,
        result=lambda x, _: interleaved(x).with_(shape=(*tuple(x.shape)[:-1], count * TILE_WIDTH)),
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


def _post_spelled(count: int) -> Any:
    def spelled(
        shape: Extents, stats: Extents, weight: Extents | None, bias: Extents | None, epsilon: float
    ) -> tuple[float]:
        width = count * TILE_WIDTH
        if not shape or stats[:-1] != shape[:-1] or not stats[-1] or stats[-1] % width:
            raise ShapeError(
                f"`stats` has shape {list(stats)}, and the tensor {list(shape)}",
                help=f"it has {width} columns per device, as the half before the gather gives them",
            )
        for name, given in (("weight", weight), ("bias", bias)):
            if given is not None and math.prod(given) != shape[-1]:
                raise ShapeError(f"`{name}` has {math.prod(given)} elements, and the rows {shape[-1]}")
        return (epsilon,)

    return spelled


def _means(ops: Ops, x: Any, stats: Any, count: int) -> list[Any]:
    """The means of what was summed, over the rows of all devices."""
    devices = stats.shape[-1] // (count * TILE_WIDTH)
    rows = (*stats.shape[:-1], devices, count * TILE_WIDTH)
    blocks = ops.reshaped(stats, rows)
    elements = float(x.shape[-1] * devices)
    found = []
    for start in range(0, count * TILE_WIDTH, TILE_WIDTH):
        begins, ends = (*[0] * (len(rows) - 1), start), (*rows[:-1], start + 1)
        total = ops.sum(ops.slice(blocks, begins, ends), (len(rows) - 2,), False)
        found.append(ops.divide(total, elements))
    return found


def _rms_post(ops: Ops, x: Any, stats: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    (squares,) = _means(ops, x, stats, 1)
    return scaled(ops, x, squares, weight, bias, epsilon)


def _layer_post(ops: Ops, x: Any, stats: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    squares, mean = _means(ops, x, stats, 2)
    variance = ops.maximum(ops.subtract(squares, ops.square(mean)), 0.0)
    return scaled(ops, ops.subtract(x, mean), variance, weight, bias, epsilon)


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
        source=f"ttnn.{name}",
        decompose=decompose,
        spelled=_post_spelled(count),
        golden=_post_golden(count),
        examples=examples,
    )


RMS_NORM_POST_ALL_GATHER = _post(
    "rms_norm_post_all_gather",
    1,
    "`rms_norm` of a part of rows, whose sums of squares `stats` has, from each device a tile's width.",
    _rms_post,
)
LAYER_NORM_POST_ALL_GATHER = _post(
    "layer_norm_post_all_gather",
    2,
    "`layer_norm` of a part of rows, whose sums `stats` has, from each device those of squares and the others.",
    _layer_post,
)

OPERATIONS = (
    RMS_NORM_PRE_ALL_GATHER,
    LAYER_NORM_PRE_ALL_GATHER,
    RMS_NORM_POST_ALL_GATHER,
    LAYER_NORM_POST_ALL_GATHER,
)
