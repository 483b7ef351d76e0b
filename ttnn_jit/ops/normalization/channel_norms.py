"""Normalizations of channels, of groups of channels and of planes, in terms of other operations."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.families.reduction import with_layout
from ttnn_jit.ops.language.parameter import (
    DIMENSION,
    FLOAT,
    IGNORED,
    OPTIONAL_LAYOUT,
    OPTIONAL_TENSOR,
    TENSOR,
    Parameter,
)
from ttnn_jit.ops.reduction.moments import minus, moments
from ttnn_jit.specs.target import TILE_WIDTH
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

Extents = tuple[int, ...]

# --- Groups of channels ---------------------------------------------------------------------------------------------


def chunks_of(channels: int, elements: int) -> int:
    """The number of equal chunks of `channels` that have `elements` after each is padded to whole tiles; 1 if unpadded.

    Raises:
        ShapeError: There is no such number, or there are several.
    """
    if elements == channels:
        return 1
    fitting = [
        count
        for count in range(1, channels + 1)
        if channels % count == 0 and count * -(-channels // count // TILE_WIDTH) * TILE_WIDTH == elements
    ]
    if len(fitting) != 1:
        ways = f"in {fitting} chunks" if fitting else "in no number of chunks"
        raise ShapeError(
            f"{elements} numbers are {channels} channels {ways} that are padded to tiles",
            help=f"give {channels} numbers, one per channel",
        )
    return fitting[0]


def _per_channel(ops: Ops, numbers: Any, channels: int) -> Any:
    """`numbers` without the padding of their chunks."""
    elements = math.prod(numbers.shape)
    if elements == channels:
        return ops.reshaped(numbers, (channels,))
    chunks = chunks_of(channels, elements)
    padded = ops.reshaped(numbers, (chunks, elements // chunks))
    return ops.reshape(ops.slice(padded, (0, 0), (chunks, channels // chunks)), (channels,))


def _check_group_norm(shape: Extents, weight: Extents | None, bias: Extents | None, groups: int, *_: Any) -> None:
    if len(shape) < 2 or groups < 1 or shape[-1] % groups:
        raise ShapeError(
            f"the channels of {list(shape)}, its last dimension, do not make {groups} equal groups",
            help="the tensor has its channels last, as [N, 1, H * W, C]",
        )
    for given in (weight, bias):
        if given is not None:
            chunks_of(shape[-1], math.prod(given))


def _group_norm(ops: Ops, x: Any, weight: Any, bias: Any, groups: int, epsilon: float, _: Layout | None) -> Any:
    shape = x.shape
    channels = shape[-1]
    rows = ops.reshaped(x, (shape[0], math.prod(shape[1:-1]), channels))
    mean, variance = moments(ops, rows, lambda x: _means_of_groups(ops, x, groups))
    of_channels = (shape[0], *[1] * (len(shape) - 2), channels)
    scale = ops.rsqrt(ops.reshaped(variance, of_channels) + epsilon)
    x = minus(x, [ops.reshaped(part, of_channels) for part in mean]) * scale
    if weight is not None:
        x = x * _per_channel(ops, weight, channels)
    return x if bias is None else x + _per_channel(ops, bias, channels)


def _means_of_groups(ops: Ops, x: Any, groups: int) -> Any:
    """For every channel the mean of its group; channels are averaged first, since that reduction is contiguous."""
    images, _, channels = x.shape
    of_channels = ops.reshape(ops.mean(x, (1,), True), (images, groups, channels // groups))
    means = ops.repeat(ops.mean(of_channels, (2,), True), (1, 1, channels // groups))
    return ops.reshape(means, (images, 1, channels))


def _group_norm_golden(torch: Any, x: Any, weight: Any, bias: Any, groups: int, epsilon: float, _: Any) -> Any:
    def unpadded(numbers: Any) -> Any:
        chunks = chunks_of(x.shape[-1], numbers.numel())
        return numbers.reshape(chunks, -1)[:, : x.shape[-1] // chunks].reshape(-1)

    first = torch.nn.functional.group_norm(x.movedim(-1, 1), groups, eps=epsilon).movedim(1, -1)
    first = first if weight is None else first * unpadded(weight)
    return first if bias is None else first + unpadded(bias)


GROUP_NORM = Composite(
    name="group_norm",
    parameters=(
        Parameter("input_tensor", TENSOR, aliases=("input",)),
        Parameter("weight", OPTIONAL_TENSOR),
        Parameter("bias", OPTIONAL_TENSOR),
        Parameter("num_groups", DIMENSION),
        Parameter("epsilon", FLOAT, 1e-12, aliases=("eps",)),
        Parameter("output_layout", OPTIONAL_LAYOUT),
        *(
            Parameter(name, IGNORED)
            for name in ("input_mask", "negative_mask", "reciprocals", "inplace", "num_out_blocks", "use_welford")
        ),
    ),
    summary="Groups of channels (the last dimension) minus their mean, divided by their standard deviation, times "
    "`weight`, plus `bias`.",
    decompose=_group_norm,
    canonicalize=_check_group_norm,
    result=lambda x, _, __, ___, ____, layout: with_layout(x, layout),
    golden=_group_norm_golden,
    aten="native_group_norm",
    examples=(
        (((2, 1, 6, 64), (1, 1, 2, 32), (64,)), (4, 1e-5, None)),
        (((3, 1, 35, 40), None, None), (8, 1e-12, None)),
        (((1, 2, 3, 96), (1, 1, 6, 32), None), (2, 1e-6, Layout.TILE)),
        (((2, 5, 6), None, (6,)), (6, 1e-3, None)),
    ),
)

# --- Planes ---------------------------------------------------------------------------------------------------------


def _check_plane(shape: Extents) -> None:
    if len(shape) < 2:
        raise ShapeError(f"a tensor of shape {list(shape)} has no rows and columns")


def _plane_of(shape: Extents) -> Extents:
    return (len(shape) - 2, len(shape) - 1)


def _plane_variance(ops: Ops, x: Any) -> Any:
    return ops.var(x, _plane_of(x.shape), True, correction=False)


def _normalize_hw(ops: Ops, x: Any) -> Any:
    mean, variance = moments(ops, x, lambda x: ops.mean(x, _plane_of(x.shape), True))
    return minus(x, mean) * ops.rsqrt(variance)


def _normalize_global(ops: Ops, x: Any) -> Any:
    flat = ops.reshaped(x, (1, math.prod(x.shape)))
    return ops.reshaped(_normalize_hw(ops, flat), x.shape)


def _plane_result(x: TensorSpec) -> TensorSpec:
    return x.interleaved.with_(shape=(*tuple(x.shape)[:-2], 1, 1))


def _plane(name: str, summary: str, **fields: Any) -> Composite:
    return Composite(
        name=name,
        parameters=(Parameter("input_tensor", TENSOR, aliases=("input",)),),
        summary=summary,
        canonicalize=_check_plane,
        examples=((((3, 40),), ()), (((2, 3, 33, 5),), ()), (((1, 2, 64, 32),), ())),
        **fields,
    )


VAR_HW = _plane(
    "var_hw",
    "The variance over rows and columns, the last two dimensions, without Bessel's correction.",
    decompose=_plane_variance,
    result=_plane_result,
    golden=lambda torch, x: torch.var(x, (-2, -1), correction=0, keepdim=True),
)
STD_HW = _plane(
    "std_hw",
    "The standard deviation over rows and columns: the square root of `var_hw`.",
    decompose=lambda ops, x: ops.sqrt(_plane_variance(ops, x)),
    result=_plane_result,
    golden=lambda torch, x: torch.std(x, (-2, -1), correction=0, keepdim=True),
)
NORMALIZE_HW = _plane(
    "normalize_hw",
    "The elements minus their mean over rows and columns, divided by `std_hw`.",
    decompose=_normalize_hw,
    golden=lambda torch, x: (x - x.mean((-2, -1), True)) / torch.std(x, (-2, -1), correction=0, keepdim=True),
)
NORMALIZE_GLOBAL = _plane(
    "normalize_global",
    "The elements minus the mean of all, divided by the standard deviation of all, without Bessel's correction.",
    decompose=_normalize_global,
    golden=lambda torch, x: (x - x.mean()) / torch.std(x, correction=0),
)

# --- Batches --------------------------------------------------------------------------------------------------------

_STATISTICS = (
    Parameter("input", TENSOR, aliases=("input_tensor",)),
    Parameter("running_mean", OPTIONAL_TENSOR),
    Parameter("running_var", OPTIONAL_TENSOR),
    Parameter("weight", OPTIONAL_TENSOR),
    Parameter("bias", OPTIONAL_TENSOR),
    Parameter("eps", FLOAT, 1e-5, aliases=("epsilon",)),
)


def _check_batch(shape: Extents, *others: Any) -> None:
    if len(shape) < 2:
        raise ShapeError(f"a tensor of shape {list(shape)} has no channels, which are dimension 1")
    for name, given in zip(("running_mean", "running_var", "weight", "bias"), others[:4], strict=True):
        if given is not None and math.prod(given) != shape[1]:
            raise ShapeError(f"`{name}` has {math.prod(given)} elements, and the tensor {shape[1]} channels")


def _broadcast_over_channels(ops: Ops, numbers: Any, x: Any) -> Any:
    return ops.reshaped(numbers, (1, x.shape[1], *[1] * (len(x.shape) - 2)))


def _batch_normalised(ops: Ops, x: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    scale = ops.rsqrt(variance + eps)
    x = minus(x, mean) * scale
    if weight is not None:
        x = x * _broadcast_over_channels(ops, weight, x)
    return x if bias is None else x + _broadcast_over_channels(ops, bias, x)


def _batch_norm(ops: Ops, x: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    mean, variance = (_broadcast_over_channels(ops, each, x) for each in (mean, variance))
    return _batch_normalised(ops, x, [mean], variance, weight, bias, eps)


def _check_inference(shape: Extents, mean: Extents | None, variance: Extents | None, *others: Any) -> None:
    if mean is None or variance is None:
        raise ShapeError("the channels are normalised by `running_mean` and `running_var`", help="give both")
    _check_batch(shape, mean, variance, *others)


def _batch_golden(torch: Any, x: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float) -> Any:
    flat = [None if each is None else each.reshape(-1) for each in (mean, variance, weight, bias)]
    return torch.nn.functional.batch_norm(x, *flat, training=mean is None, eps=eps)


BATCH_NORM_INFERENCE = Composite(
    name="batch_norm_inference",
    parameters=_STATISTICS,
    summary="Channels minus `running_mean`, divided by the square root of `running_var`, times `weight`, plus `bias`.",
    source="ttnn.batch_norm",
    decompose=_batch_norm,
    canonicalize=_check_inference,
    golden=_batch_golden,
    examples=(
        (((2, 5, 6, 7), (1, 5, 1, 1), (1, 5, 1, 1), (1, 5, 1, 1), None), (1e-5,)),
        (((3, 33), (33,), (33,), None, (33,)), (0.5,)),
    ),
)


def _running_average(ops: Ops, old: Any, new: Any, momentum: float) -> Any:
    if old is None:
        return new
    kept = old * (1.0 - momentum)
    return kept + ops.reshaped(new, old.shape) * momentum


def _batch_norm_training(
    ops: Ops, x: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float, momentum: float
) -> tuple[Any, Any, Any]:
    shape = x.shape
    rows = ops.reshaped(x, (*shape[:2], math.prod(shape[2:])))
    parts, variance_of_rows = moments(ops, rows, lambda x: ops.mean(x, (0, 2), True))
    parts, own_variance = (
        [_broadcast_over_channels(ops, each, x) for each in parts],
        _broadcast_over_channels(ops, variance_of_rows, x),
    )
    result = _batch_normalised(ops, x, parts, own_variance, weight, bias, eps)
    own_mean = parts[0] if len(parts) == 1 else ops.add(*parts)
    return (
        result,
        _running_average(ops, mean, own_mean, momentum),
        _running_average(ops, variance, own_variance, momentum),
    )


def _training_results(x: TensorSpec, mean: TensorSpec | None, variance: TensorSpec | None, *_: Any) -> tuple[Any, ...]:
    own = x.interleaved.with_(shape=(1, tuple(x.shape)[1], *[1] * (len(x.shape) - 2)))
    return x, mean or own, variance or own


def _training_golden(
    torch: Any, x: Any, mean: Any, variance: Any, weight: Any, bias: Any, eps: float, momentum: float
) -> Any:
    result = _batch_golden(torch, x, None, None, weight, bias, eps)
    axes = (0, *range(2, x.dim()))
    own_variance = torch.var(x, axes, correction=0, keepdim=True)
    found = [
        new if old is None else torch.lerp(old, new.reshape(old.shape), momentum)
        for old, new in ((mean, x.mean(axes, True)), (variance, own_variance))
    ]
    return (result, *found)


BATCH_NORM_TRAINING = Composite(
    name="batch_norm_training",
    parameters=(*_STATISTICS, Parameter("momentum", FLOAT, 0.1)),
    summary="Channels minus their mean, divided by their standard deviation; and the running mean and variance, moved "
    "to the new ones by `momentum`.",
    source="ttnn.batch_norm",
    decompose=_batch_norm_training,
    canonicalize=_check_batch,
    result=_training_results,
    result_names=("result", "batch_mean", "batch_variance"),
    golden=_training_golden,
    examples=(
        (((2, 5, 6, 7), (1, 5, 1, 1), (1, 5, 1, 1), (1, 5, 1, 1), None), (1e-5, 0.1)),
        (((4, 33), None, (33,), None, (33,)), (0.5, 0.25)),
        (((4, 3, 5), None, None, None, None), (1e-5, 0.1)),
    ),
)

OPERATIONS = (GROUP_NORM, VAR_HW, STD_HW, NORMALIZE_HW, NORMALIZE_GLOBAL)

IN_PROGRAMS = (BATCH_NORM_INFERENCE, BATCH_NORM_TRAINING)
"""The operations of `ttnn.batch_norm` in programs: it calls one of them, and writes the statistics (batch_norm.py)."""
