"""Convolutions and pools of texts, in one form: channels last, one dimension for each spatial one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.convolution.convolutions import (
    CONV2D,
    CONV3D,
    Convolution,
    attributes_2d,
    attributes_3d,
)
from ttnn_jit.ops.convolution.pool_indices import MAX_POOL2D_INDICES
from ttnn_jit.ops.convolution.pools import AVG_POOL2D, GLOBAL_AVG_POOL2D, MAX_POOL2D
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, text
from ttnn_jit.ops.movement.windows import Windows
from ttnn_jit.process.dataclass import dataclass

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Geometry:
    """A convolution of an input [batch, spatial..., channels] with weights [outputs, inputs per group, kernel...].

    Attributes:
        strides: Distances of windows.
        padding: Elements before and after the input, below 0 where some are cut off.
        spread: Distances of the input's elements; zeros are between them.
        dilation: Distances of taps.
        groups: Channel groups.
    """

    strides: tuple[int, ...]
    padding: Pairs
    spread: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int

    @property
    def rank(self) -> int:
        """The number of spatial dimensions."""
        return len(self.strides)


def _spread(ops: Ops, x: Value, axis: int, distance: int) -> Value:
    """`x` with `distance` - 1 zeros between its elements along a dimension."""
    shape = x.shape
    apart = ops.reshape(x, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    widths = [(0, 0)] * len(apart.shape)
    widths[axis + 1] = (0, distance - 1)
    wide = ops.reshape(ops.pad(apart, widths, 0.0), (*shape[:axis], shape[axis] * distance, *shape[axis + 1 :]))
    return ops.part(wide, axis, 0, (shape[axis] - 1) * distance + 1)


def convolved(ops: Ops, x: Value, weight: Value, bias: Value | None, geometry: Geometry) -> Value:
    """The convolution, [batch, spatial..., outputs]."""
    padding = []
    for axis, (distance, (low, high)) in enumerate(zip(geometry.spread, geometry.padding, strict=True), start=1):
        x = x if distance == 1 else _spread(ops, x, axis, distance)
        extent = x.shape[axis]
        x = ops.part(x, axis, max(0, -low), extent - max(0, -high))
        padding.append((max(0, low), max(0, high)))
    rank = geometry.rank
    missing = 2 - rank if rank < 2 else 0
    if rank > 3:
        raise ShapeError(f"convolutions have up to three spatial dimensions, got {rank}")
    ones, zeros = (1,) * missing, ((0, 0),) * missing
    x = ops.reshaped(x, (x.shape[0], *ones, *x.shape[1:]))
    weight = ops.reshaped(weight, (*weight.shape[:2], *ones, *weight.shape[2:]))
    windows = Windows(
        tuple(weight.shape[2:]), (*ones, *geometry.strides), (*zeros, *padding), (*ones, *geometry.dilation)
    )
    sizes = Convolution(x.shape[0], x.shape[-1], weight.shape[0], tuple(x.shape[1:-1]), windows, geometry.groups)
    sizes.check()
    result = (None, x.spec.dtype, x.spec.layout, None)
    if rank == 3:
        found = ops.call(CONV3D, [x, weight, bias], *attributes_3d(sizes), *result)
    else:
        found = ops.call(CONV2D, [x, weight, bias], *attributes_2d(sizes), *result)
    return ops.reshaped(found, (x.shape[0], *sizes.counts[missing:], weight.shape[0]))


def convolved_in_torch(torch: Any, x: Any, weight: Any, bias: Any, geometry: Geometry) -> Any:
    """The same, on tensors of torch."""
    for axis, (distance, (low, high)) in enumerate(zip(geometry.spread, geometry.padding, strict=True), start=1):
        extent = (x.shape[axis] - 1) * distance + 1
        wide = x.new_zeros((*x.shape[:axis], low + extent + high, *x.shape[axis + 1 :]))
        targets = [low + index * distance for index in range(x.shape[axis])]
        kept = [index for index, target in enumerate(targets) if 0 <= target < wide.shape[axis]]
        wide.index_copy_(axis, torch.tensor([targets[each] for each in kept]), x.index_select(axis, torch.tensor(kept)))
        x = wide
    function = getattr(torch.nn.functional, f"conv{geometry.rank}d")
    bias = None if bias is None else bias.reshape(-1)
    found = function(x.movedim(-1, 1), weight, bias, geometry.strides, 0, geometry.dilation, geometry.groups)
    return found.movedim(1, -1)


# --- Sizes in attributes ----------------------------------------------------------------------------------------------


def per_dimension(value: int | Sequence[int], rank: int) -> tuple[int, ...]:
    """A number for each spatial dimension, of one number or several."""
    return (value,) * rank if isinstance(value, int) else tuple(value)


def padding_of(value: int | Sequence[int], rank: int, *, by_dimension: bool = False) -> Pairs:
    """Padding before and after each dimension.

    Args:
        value: One number; one for each dimension; or two for each: all before, then all after.
        rank: The number of dimensions.
        by_dimension: The two of a dimension are beside each other.
    """
    numbers = per_dimension(value, rank)
    if len(numbers) == rank:
        return tuple((each, each) for each in numbers)
    if by_dimension:
        return tuple((numbers[2 * axis], numbers[2 * axis + 1]) for axis in range(rank))
    return tuple((numbers[axis], numbers[axis + rank]) for axis in range(rank))


def _image(x: Any, info: Mapping[str, int] | None) -> tuple[int, ...]:
    """The shape [batch, height, width, channels] of an image, flattened or not."""
    if not info:
        return tuple(x.shape)
    return info["batchSize"], info["inputHeight"], info["inputWidth"], x.shape[-1]


def _conv2d_geometry(call: TextCall) -> Geometry:
    padding = padding_of(call.padding, 2)
    return Geometry(per_dimension(call.stride, 2), padding, (1, 1), per_dimension(call.dilation, 2), call.groups)


def _channels_last(call: TextCall, *names: str) -> tuple[int, ...]:
    return tuple(getattr(call, name) for name in ("batch_dim", *names, "channel_dim"))


_HW = ("height_dim", "width_dim")
_DHW = ("depth_dim", "height_dim", "width_dim")
_DIMS_2D: dict[str, Any] = {"batch_dim": 0, "height_dim": 1, "width_dim": 2, "channel_dim": 3}


def _permuted(ops: Any, x: Any, order: Sequence[int]) -> Any:
    if [*order] == sorted(order):
        return x
    return ops.permute(x, tuple(order))


def _inverse(order: Sequence[int]) -> list[int]:
    return [order.index(axis) for axis in range(len(order))]


def _with_convolution(
    geometry_of: Callable[[TextCall], Geometry],
    names: tuple[str, ...],
    weights: Callable[[Any, TextCall], Any] = lambda _, call: call.weight,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The two definitions of a convolution whose dimensions attributes name."""

    def applied(permute_ops: Any, function: Callable[..., Any], first: Any, call: TextCall) -> Any:
        order = _channels_last(call, *names)
        info = vars(call).get("flattened_compat_info")
        x = call.input
        x = x.reshape(_image(x, info)) if not isinstance(x, Value) else permute_ops.reshaped(x, _image(x, info))
        x = _permuted(permute_ops, x, order)
        bias = call.bias
        if bias is not None:
            bias = (
                bias.reshape(-1)
                if not isinstance(bias, Value)
                else permute_ops.reshaped(bias, (math.prod(bias.shape),))
            )
        found = function(first, x, weights(permute_ops, call), bias, geometry_of(call))
        return _permuted(permute_ops, found, _inverse(order))

    def write(ops: Ops, call: TextCall) -> Any:
        return ops.reshaped(applied(ops, convolved, ops, call), tuple(call.result.shape))

    def golden(torch: Any, call: TextCall) -> Any:
        return applied(torch, convolved_in_torch, torch, call).reshape(tuple(call.result.shape))

    return write, golden


TEXTS_2D = text(
    "ttir.conv2d",
    "input weight bias?",
    *_with_convolution(_conv2d_geometry, _HW),
    stride=REQUIRED,
    padding=REQUIRED,
    dilation=REQUIRED,
    groups=1,
    channel_last=True,
    flattened_compat_info=None,
    **_DIMS_2D,
)


def _conv3d_geometry(call: TextCall) -> Geometry:
    return Geometry(per_dimension(call.stride, 3), padding_of(call.padding, 3), (1,) * 3, (1,) * 3, call.groups)


TEXTS_3D = text(
    "ttir.conv3d",
    "input weight bias?",
    *_with_convolution(_conv3d_geometry, _DHW),
    stride=REQUIRED,
    padding=REQUIRED,
    groups=1,
    padding_mode="zeros",
    batch_dim=0,
    depth_dim=1,
    height_dim=2,
    width_dim=3,
    channel_dim=4,
)


def _conv1d_geometry(call: TextCall) -> Geometry:
    return Geometry(
        per_dimension(call.stride, 1), padding_of(call.padding, 1), (1,), per_dimension(call.dilation, 1), call.groups
    )


TEXTS_1D = text(
    "ttir.conv1d",
    "input weight bias?",
    *_with_convolution(_conv1d_geometry, ("length_dim",)),
    stride=REQUIRED,
    padding=REQUIRED,
    dilation=REQUIRED,
    groups=1,
    batch_dim=0,
    length_dim=1,
    channel_dim=2,
)


def _transposed_geometry(call: TextCall) -> Geometry:
    """A convolution over the spread input: the transpose of the strided one."""
    strides, dilation = per_dimension(call.stride, 2), per_dimension(call.dilation, 2)
    kernel = call.weight.shape[2:]
    extra = per_dimension(call.output_padding, 2)
    padding = tuple(
        (by * (taps - 1) - low, by * (taps - 1) - high + more)
        for by, taps, (low, high), more in zip(dilation, kernel, padding_of(call.padding, 2), extra, strict=True)
    )
    return Geometry((1, 1), padding, strides, dilation, call.groups)


def _mirrored_weights(ops: Any, call: TextCall) -> Any:
    """Weights [inputs, outputs per group, kernel] as those of the convolution over the spread input."""
    weight, groups = call.weight, call.groups
    inputs, outputs, *kernel = weight.shape
    if isinstance(weight, Value):
        weight = ops.flip(weight, (2, 3))
        by_group = ops.reshaped(weight, (groups, inputs // groups, outputs, *kernel))
        swapped = ops.permute(by_group, (0, 2, 1, 3, 4))
        return ops.reshaped(swapped, (groups * outputs, inputs // groups, *kernel))
    by_group = weight.flip(2, 3).reshape(groups, inputs // groups, outputs, *kernel)
    return by_group.transpose(1, 2).reshape(groups * outputs, inputs // groups, *kernel)


def _conv_transpose2d_in_torch(torch: Any, call: TextCall) -> Any:
    order = _channels_last(call, *_HW)
    x = call.input.reshape(_image(call.input, call.flattened_compat_info)).permute(order)
    stride, dilation = per_dimension(call.stride, 2), per_dimension(call.dilation, 2)
    whole = torch.nn.functional.conv_transpose2d(
        x.movedim(-1, 1), call.weight, None, stride, 0, per_dimension(call.output_padding, 2), call.groups, dilation
    ).movedim(1, -1)
    for axis, (low, high) in enumerate(padding_of(call.padding, 2), start=1):
        whole = whole.narrow(axis, low, whole.shape[axis] - low - high)
    whole = whole if call.bias is None else whole + call.bias.reshape(-1)
    return whole.permute(_inverse(order)).reshape(tuple(call.result.shape))


TEXTS_TRANSPOSED = text(
    "ttir.conv_transpose2d",
    "input weight bias?",
    _with_convolution(_transposed_geometry, _HW, _mirrored_weights)[0],
    _conv_transpose2d_in_torch,
    stride=REQUIRED,
    padding=REQUIRED,
    output_padding=0,
    dilation=REQUIRED,
    groups=1,
    channel_last=True,
    flattened_compat_info=None,
    **_DIMS_2D,
)

# --- The convolution of StableHLO -------------------------------------------------------------------------------------


def _convolution(ops: Any, call: TextCall, function: Callable[..., Any], flip: Callable[..., Any]) -> Any:
    layout = call.convolution_layout
    spatial = layout["inputSpatialDimensions"]
    order = (layout["inputBatchDimension"], *spatial, layout["inputFeatureDimension"])
    kernel = layout["kernelSpatialDimensions"]
    x = _permuted(ops, call.input, order)
    groups = call.feature_group_count
    if call.batch_group_count != 1:
        if groups != 1:
            raise ShapeError("feature_group_count and batch_group_count are both given")
        groups = call.batch_group_count
        x = _batches_as_channels(ops, x, groups)
    weight = _permuted(
        ops, call.weight, (layout["kernelOutputFeatureDimension"], layout["kernelInputFeatureDimension"], *kernel)
    )
    mirrored = tuple(axis + 2 for axis, flag in enumerate(call.window_reversal or ()) if flag)
    weight = flip(weight, mirrored) if mirrored else weight
    rank = len(spatial)
    geometry = Geometry(
        per_dimension(call.window_strides or 1, rank),
        padding_of(call.padding or 0, rank, by_dimension=True),
        per_dimension(call.input_dilation or 1, rank),
        per_dimension(call.weight_dilation or 1, rank),
        groups,
    )
    bias = call.bias
    found = function(x, weight, bias, geometry)
    result = (layout["outputBatchDimension"], *layout["outputSpatialDimensions"], layout["outputFeatureDimension"])
    return _permuted(ops, found, _inverse(result))


def _batches_as_channels(ops: Any, x: Any, groups: int) -> Any:
    """Group i of the batches as group i of the channels."""
    batch, *spatial, channels = x.shape
    shape = (groups, batch // groups, *spatial, channels)
    order = (*range(1, len(shape) - 1), 0, len(shape) - 1)
    merged = (batch // groups, *spatial, groups * channels)
    if isinstance(x, Value):
        return ops.reshaped(ops.permute(ops.reshaped(x, shape), order), merged)
    return x.reshape(shape).permute(order).reshape(merged)


TEXTS_GENERAL = text(
    "ttir.convolution",
    "input weight bias?",
    lambda ops, call: _convolution(ops, call, lambda *given: convolved(ops, *given), ops.flip),
    lambda torch, call: _convolution(torch, call, lambda *given: convolved_in_torch(torch, *given), torch.flip),
    window_strides=None,
    padding=None,
    input_dilation=None,
    weight_dilation=None,
    window_reversal=None,
    convolution_layout=REQUIRED,
    feature_group_count=1,
    batch_group_count=1,
)

# --- ttnn's convolutions ----------------------------------------------------------------------------------------------


def _ttnn_extents(call: TextCall) -> tuple[int, ...]:
    given = vars(call)
    return tuple(given[name] for name in ("input_depth", "input_height", "input_width") if given.get(name))


def _ttnn_geometry(call: TextCall) -> Geometry:
    rank = len(call.kernel_size)
    padding = padding_of(call.padding, rank, by_dimension=True)
    dilation = tuple(vars(call).get("dilation") or (1,) * rank)
    return Geometry(tuple(call.stride), padding, (1,) * rank, dilation, _groups(call))


def _groups(call: TextCall) -> int:
    """The groups; one where prepared weights have zeros for the channels of other groups."""
    whole = math.prod(call.kernel_size) * call.in_channels * call.out_channels
    return 1 if math.prod(call.weight.shape) == whole else int(call.groups)


def _unprepared(ops: Any, weight: Any, call: TextCall) -> Any:
    """The weights [outputs, inputs per group, kernel] of these or of prepared ones, rows of (tap, input channel)."""
    taps = tuple(call.kernel_size)
    if tuple(weight.shape[2:]) == taps:
        return weight
    own = call.in_channels // _groups(call)
    shape = (*taps, own, call.out_channels)
    order = (len(taps) + 1, len(taps), *range(len(taps)))
    if isinstance(weight, Value):
        return ops.permute(ops.reshaped(weight, shape), order)
    return weight.reshape(shape).permute(order)


def _ttnn_convolution(
    geometry_of: Callable[[TextCall], Geometry] = _ttnn_geometry,
    weights: Callable[[Any, Any, TextCall], Any] = _unprepared,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def given(call: TextCall) -> tuple[int, ...]:
        return (call.batch_size, *_ttnn_extents(call), call.input.shape[-1])

    def write(ops: Ops, call: TextCall) -> Value:
        x = ops.reshaped(call.input, given(call))
        x = ops.part(x, len(x.shape) - 1, 0, call.in_channels)
        bias = None if call.bias is None else ops.reshaped(call.bias, (call.out_channels,))
        found = convolved(ops, x, weights(ops, call.weight, call), bias, geometry_of(call))
        return ops.reshaped(found, call.result.shape)

    def golden(torch: Any, call: TextCall) -> Any:
        x = call.input.reshape(given(call))[..., : call.in_channels]
        found = convolved_in_torch(torch, x, weights(torch, call.weight, call), call.bias, geometry_of(call))
        return found.reshape(tuple(call.result.shape))

    return write, golden


_CHANNEL_SIZES = ("in_channels", "out_channels", "batch_size", "input_height", "input_width")
_SIZES_OF_TTNN: dict[str, Any] = {
    **dict.fromkeys((*_CHANNEL_SIZES, "kernel_size", "stride", "padding"), REQUIRED),
    "groups": 1,
}
CONV2D_OF_TTNN = text(
    "ttnn.conv2d",
    "input weight bias?",
    *_ttnn_convolution(),
    dilation=REQUIRED,
    **_SIZES_OF_TTNN,
)
CONV3D_OF_TTNN = text(
    "ttnn.conv3d",
    "input weight bias?",
    *_ttnn_convolution(),
    input_depth=REQUIRED,
    padding_mode="zeros",
    **_SIZES_OF_TTNN,
)


def _transposed_of_ttnn(call: TextCall) -> Geometry:
    padding = tuple(
        (by * (taps - 1) - low, by * (taps - 1) - high + more)
        for by, taps, (low, high), more in zip(
            call.dilation,
            call.kernel_size,
            padding_of(call.padding, 2, by_dimension=True),
            call.output_padding,
            strict=True,
        )
    )
    return Geometry((1, 1), padding, tuple(call.stride), tuple(call.dilation), call.groups)


TRANSPOSED_OF_TTNN = text(
    "ttnn.conv_transpose2d",
    "input weight bias?",
    *_ttnn_convolution(_transposed_of_ttnn, lambda ops, _, call: _mirrored_weights(ops, call)),
    dilation=REQUIRED,
    output_padding=(0, 0),
    **_SIZES_OF_TTNN,
)


def _ungrouped(ops: Any, weight: Any, groups: int) -> Any:
    """Weights of one group: zeros for the channels of other groups."""
    outputs, own = weight.shape[0] // groups, weight.shape[1]
    parts = []
    for group in range(groups):
        before, after = group * own, (groups - 1 - group) * own
        if isinstance(weight, Value):
            part = ops.part(weight, 0, group * outputs, (group + 1) * outputs)
            parts.append(ops.pad(part, [(0, 0), (before, after), (0, 0), (0, 0)], 0.0))
        else:
            part = weight[group * outputs : (group + 1) * outputs]
            parts.append(ops.nn.functional.pad(part, (0, 0, 0, 0, before, after)))
    return ops.concat(parts, 0)


def _prepared(ops: Any, call: TextCall) -> Any:
    """Weights [outputs, inputs per group, kernel] as rows of (tap, input channel)."""
    weight, shape = call.weight_tensor, tuple(call.result.shape)
    order = (*range(2, len(weight.shape)), 1, 0)
    if call.groups > 1 and math.prod(weight.shape) * call.groups == math.prod(shape):
        weight = _ungrouped(ops, weight, call.groups)
    if math.prod(weight.shape) != math.prod(shape):
        raise ShapeError(f"weights of shape {list(weight.shape)} are not prepared with padding, as {list(shape)}")
    if isinstance(weight, Value):
        return ops.reshaped(ops.permute(weight, order), shape)
    return weight.permute(order).reshape(shape)


_OF_PREPARATION: dict[str, Any] = {
    **dict.fromkeys(_CHANNEL_SIZES),
    "input_memory_config": None,
    "input_tensor_layout": None,
    "input_dtype": None,
    "weights_format": "OIHW",
    "has_bias": None,
    "kernel_size": None,
    "stride": None,
    "padding": None,
    "dilation": None,
    "groups": 1,
}
PREPARED_WEIGHTS = text("ttnn.prepare_conv2d_weights", "weight_tensor", _prepared, _prepared, **_OF_PREPARATION)
PREPARED_BIAS = text(
    "ttnn.prepare_conv2d_bias ttnn.prepare_conv_transpose2d_bias",
    "bias_tensor",
    lambda ops, call: ops.reshaped(call.bias_tensor, call.result.shape),
    lambda _, call: call.bias_tensor.reshape(tuple(call.result.shape)),
    **_OF_PREPARATION,
)

# --- Pools ------------------------------------------------------------------------------------------------------------


def _sizes_of_ttnn(call: TextCall) -> tuple[Any, ...]:
    padding = padding_of(call.padding, 2, by_dimension=True)
    image = (call.batch_size, call.input_height, call.input_width, call.channels)
    return (*image, call.kernel_size, call.stride, padding, call.dilation, call.ceil_mode)


def _pool_sizes(call: TextCall) -> tuple[Any, ...]:
    batch, height, width, channels = _image(call.input, call.flattened_compat_info)
    kernel, stride, dilation = (per_dimension(each, 2) for each in (call.kernel, call.stride, call.dilation))
    return batch, height, width, channels, kernel, stride, padding_of(call.padding, 2), dilation, call.ceil_mode


def _needs_taps(call: TextCall, sizes: tuple[Any, ...]) -> bool:
    """Whether a pool of ttnn does not take it: integers, or padding of more than half a window."""
    *_, kernel, _stride, padding, dilation, _ceil = sizes
    spans = [(taps - 1) * by + 1 for taps, by in zip(kernel, dilation, strict=True)]
    beyond = any(2 * max(pair) > span for pair, span in zip(padding, spans, strict=True))
    return beyond or call.input.spec.dtype.is_integer


def _max_by_taps(ops: Ops, call: TextCall, sizes: tuple[Any, ...]) -> Value:
    batch, height, width, channels, kernel, stride, padding, dilation, ceil = sizes
    if ceil:
        raise ShapeError("ceil_mode is true, beside integers or padding of more than half a window")
    x = ops.reshaped(call.input, (batch, height, width, channels))
    given = {
        "pooling_method": "Max",
        "window_dimensions": (1, *kernel, 1),
        "window_strides": (1, *stride, 1),
        "window_dilations": (1, *dilation, 1),
        "base_dilations": (),
        "padding": (0, 0, *padding[0], *padding[1], 0, 0),
    }
    counts = (batch, *_counts(sizes), channels)
    found = _one_reduced(ops, TextCall(given, [call.result.with_(shape=counts)]), x)
    return ops.reshaped(found, call.result.shape)


def _max_in_torch(torch: Any, call: TextCall, sizes: tuple[Any, ...]) -> Any:
    """The largest element of every window."""
    batch, height, width, channels, kernel, stride, padding, dilation, _ = sizes
    lowest = -math.inf if call.input.is_floating_point() else torch.iinfo(call.input.dtype).min
    x = call.input.reshape(batch, height, width, channels).movedim(-1, 1)
    spans = [(taps - 1) * by + 1 for taps, by in zip(kernel, dilation, strict=True)]
    (top, bottom), (left, right) = padding
    wide = (left, right + stride[1] + spans[1], top, bottom + stride[0] + spans[0])
    x = torch.nn.functional.pad(x, wide, value=lowest)
    for axis, span in enumerate(spans, start=2):
        x = x.unfold(axis, span, stride[axis - 2])[..., :: dilation[axis - 2]]
    down, across = _counts(sizes)
    return x.amax((-1, -2))[:, :, :down, :across].movedim(1, -1).reshape(tuple(call.result.shape))


def _pool(
    declared: Any,
    extra: Callable[[TextCall], tuple[Any, ...]] = lambda _: (),
    sizes_of: Callable[[TextCall], tuple[Any, ...]] = _pool_sizes,
) -> tuple[Any, Any]:
    def write(ops: Ops, call: TextCall) -> Value:
        if declared is MAX_POOL2D and _needs_taps(call, sizes_of(call)):
            return _max_by_taps(ops, call, sizes_of(call))
        attributes = (*sizes_of(call), *extra(call), call.input.spec.dtype, call.input.spec.layout)
        return ops.reshaped(ops.call(declared, [call.input], *attributes), call.result.shape)

    def golden(torch: Any, call: TextCall) -> Any:
        return _max_in_torch(torch, call, sizes_of(call))

    return write, golden


def _mean_of_windows(torch: Any, call: TextCall, sizes: tuple[Any, ...]) -> Any:
    """The mean of windows of any dilation: the sum of each, and how many elements it counts."""
    batch, height, width, channels, kernel, stride, padding, dilation, _ = sizes
    x = call.input.reshape(batch, height, width, channels).movedim(-1, 1)
    counted = torch.ones_like(x)
    flat = [each for pair in reversed(padding) for each in pair]
    x = torch.nn.functional.pad(x, flat)
    counted = torch.nn.functional.pad(counted, flat, value=float(call.count_include_pad))
    spans = [(taps - 1) * by + 1 for taps, by in zip(kernel, dilation, strict=True)]
    beyond = [0, stride[1] + spans[1], 0, stride[0] + spans[0]]  # more than a window of `ceil_mode` needs
    x, counted = (torch.nn.functional.pad(each, beyond) for each in (x, counted))
    for axis, span in enumerate(spans, start=2):
        x, counted = (each.unfold(axis, span, stride[axis - 2])[..., :: dilation[axis - 2]] for each in (x, counted))
    mean = x.sum((-1, -2)) / counted.sum((-1, -2))
    shape = tuple(call.result.shape)
    rows = math.prod(shape) // (batch * channels)
    down, across = _counts(sizes)
    assert down * across == rows, "the result holds every window"
    return mean[:, :, :down, :across].movedim(1, -1).reshape(shape)


def _counts(sizes: tuple[Any, ...]) -> list[int]:
    """The number of windows down and across."""
    _, *extents, _, kernel, stride, padding, dilation, ceil = sizes
    found = []
    for extent, taps, step, (low, high), by in zip(extents, kernel, stride, padding, dilation, strict=True):
        rest = extent + low + high - (taps - 1) * by - 1
        count = (-(-rest // step) if ceil else rest // step) + 1
        found.append(count - (ceil and (count - 1) * step >= extent + low))
    return found


_POOL: dict[str, Any] = {
    "kernel": REQUIRED,
    "stride": REQUIRED,
    "dilation": 1,
    "padding": 0,
    "ceil_mode": False,
    "channel_last": True,
    "flattened_compat_info": None,
}
MAX_POOL = text("ttir.max_pool2d", "input", *_pool(MAX_POOL2D), **_POOL)
AVG_POOL = text(
    "ttir.avg_pool2d",
    "input",
    _pool(AVG_POOL2D, lambda call: (call.count_include_pad, 0))[0],
    lambda torch, call: _mean_of_windows(torch, call, _pool_sizes(call)),
    count_include_pad=True,
    **_POOL,
)
_POOL_OF_TTNN: dict[str, Any] = {
    **dict.fromkeys(("batch_size", "input_height", "input_width", "channels", "kernel_size", "stride"), REQUIRED),
    "padding": REQUIRED,
    "dilation": REQUIRED,
    "ceil_mode": False,
}
MAX_POOL_OF_TTNN = text("ttnn.max_pool2d", "input", *_pool(MAX_POOL2D, sizes_of=_sizes_of_ttnn), **_POOL_OF_TTNN)
AVG_POOL_OF_TTNN = text(
    "ttnn.avg_pool2d",
    "input",
    _pool(AVG_POOL2D, lambda call: (call.count_include_pad, 0), _sizes_of_ttnn)[0],
    lambda torch, call: _mean_of_windows(torch, call, _sizes_of_ttnn(call)),
    count_include_pad=True,
    **_POOL_OF_TTNN,
)


def _pool_with_indices(sizes_of: Callable[[TextCall], tuple[Any, ...]]) -> tuple[Any, Any]:
    def write(ops: Ops, call: TextCall) -> list[Value]:
        x, sizes = call.input, sizes_of(call)
        found = ops.call(MAX_POOL2D, [x], *sizes, x.spec.dtype, x.spec.layout)
        index = ops.call(MAX_POOL2D_INDICES, [x], *sizes)
        return [ops.reshaped(each, spec.shape) for each, spec in zip((found, index), call.results, strict=True)]

    def golden(torch: Any, call: TextCall) -> list[Any]:
        batch, height, width, channels, kernel, stride, padding, dilation, ceil = sizes_of(call)
        x = call.input.reshape(batch, height, width, channels).movedim(-1, 1)
        (top, bottom), (left, right) = padding
        wide = torch.nn.functional.pad(x, (left, right, top, bottom), value=-math.inf)
        found, index = torch.nn.functional.max_pool2d(wide, kernel, stride, 0, dilation, ceil, return_indices=True)
        across = width + left + right
        index = (index // across - top) * width + index % across - left
        return [
            each.movedim(1, -1).reshape(tuple(spec.shape))
            for each, spec in zip((found, index), call.results, strict=True)
        ]

    return write, golden


MAX_POOLS_WITH_INDICES = (
    text("ttir.max_pool2d_with_indices", "input", *_pool_with_indices(_pool_sizes), **_POOL),
    text("ttnn.max_pool2d_with_indices", "input", *_pool_with_indices(_sizes_of_ttnn), **_POOL_OF_TTNN),
)
GLOBAL_AVG_POOL = text(
    "ttir.global_avg_pool2d ttnn.global_avg_pool2d",
    "input",
    lambda ops, call: ops.reshaped(ops.call(GLOBAL_AVG_POOL2D, [call.input], call.input.spec.dtype), call.result.shape),
    lambda torch, call: torch.mean(call.input, (1, 2), True).reshape(tuple(call.result.shape)),
)


def _reduced_windows(ops: Ops, call: TextCall) -> list[Value]:
    """Windows along any dimensions, tap by tap."""
    return [_one_reduced(ops, call, x) for x in call.inputs]


_COMBINED = {"Max": ("maximum", -math.inf), "Sum": ("add", 0.0), "Average": ("add", 0.0)}


def _one_reduced(ops: Ops, call: TextCall, x: Value) -> Value:
    combine, identity = _COMBINED[call.pooling_method]
    if x.spec.dtype.is_integer and identity:
        identity = x.spec.dtype.values[0]
    rank = len(x.shape)
    kernel = per_dimension(call.window_dimensions, rank)
    strides, dilation = per_dimension(call.window_strides or 1, rank), per_dimension(call.window_dilations or 1, rank)
    if any(each != 1 for each in call.base_dilations or ()):
        raise ShapeError(f"base_dilations are {list(call.base_dilations)}, and 1 is executed")
    padding = padding_of(call.padding or 0, rank, by_dimension=True)
    padded = ops.pad(x, padding, identity) if any(map(any, padding)) else x
    counts = call.result.shape
    total = None
    for tap in itertools.product(*map(range, kernel)):
        begins = [at * by for at, by in zip(tap, dilation, strict=True)]
        ends = [begin + (n - 1) * step + 1 for begin, n, step in zip(begins, counts, strides, strict=True)]
        part = ops.slice(padded, tuple(begins), tuple(ends), strides)
        total = part if total is None else getattr(ops, combine)(total, part)
    assert total is not None, "a window has taps"
    return total * (1.0 / math.prod(kernel)) if call.pooling_method == "Average" else total


def _reduced_windows_in_torch(torch: Any, call: TextCall) -> list[Any]:
    found = []
    for x in call.inputs:
        rank = x.dim()
        kernel = per_dimension(call.window_dimensions, rank)
        strides, dilation = (
            per_dimension(call.window_strides or 1, rank),
            per_dimension(call.window_dilations or 1, rank),
        )
        padding = padding_of(call.padding or 0, rank, by_dimension=True)
        _, identity = _COMBINED[call.pooling_method]
        windows = torch.nn.functional.pad(x, [each for pair in reversed(padding) for each in pair], value=identity)
        for axis in range(rank):
            span = (kernel[axis] - 1) * dilation[axis] + 1
            windows = windows.unfold(axis, span, strides[axis])[..., :: dilation[axis]]
        axes = tuple(range(rank, 2 * rank))
        reduced = windows.amax(axes) if call.pooling_method == "Max" else windows.sum(axes)
        found.append(reduced / math.prod(kernel) if call.pooling_method == "Average" else reduced)
    return found


POOLING = text(
    "ttir.pooling",
    "inputs*",
    _reduced_windows,
    _reduced_windows_in_torch,
    pooling_method=REQUIRED,
    window_dimensions=REQUIRED,
    window_strides=None,
    base_dilations=None,
    window_dilations=None,
    padding=None,
    in_float32=True,
)


def _upsample(ops: Ops, call: TextCall) -> Value:
    if not call.channel_last:
        raise ShapeError("channel_last is false, and images have their channels last here")
    height, width = per_dimension(call.scale_factor, 2)
    if call.mode == "nearest":
        return ops.repeat_interleave(ops.repeat_interleave(call.input, height, 1), width, 2)
    from ttnn_jit.ops.convolution.resampling import UPSAMPLE

    return ops.call(UPSAMPLE, [call.input], height, width, call.mode)


def _upsample_in_torch(torch: Any, call: TextCall) -> Any:
    scale = tuple(map(float, per_dimension(call.scale_factor, 2)))
    options = {} if call.mode == "nearest" else {"align_corners": False}
    x = call.input.movedim(-1, 1)
    return torch.nn.functional.interpolate(x, scale_factor=scale, mode=call.mode, **options).movedim(1, -1)


UPSAMPLE2D = text(
    "ttir.upsample2d ttnn.upsample",
    "input",
    _upsample,
    _upsample_in_torch,
    scale_factor=REQUIRED,
    mode="nearest",
    channel_last=True,
)

TEXTS = (
    TEXTS_1D,
    TEXTS_2D,
    TEXTS_3D,
    TEXTS_TRANSPOSED,
    TEXTS_GENERAL,
    CONV2D_OF_TTNN,
    CONV3D_OF_TTNN,
    TRANSPOSED_OF_TTNN,
    PREPARED_WEIGHTS,
    PREPARED_BIAS,
    MAX_POOL_OF_TTNN,
    AVG_POOL_OF_TTNN,
    *MAX_POOLS_WITH_INDICES,
    MAX_POOL,
    AVG_POOL,
    GLOBAL_AVG_POOL,
    POOLING,
    UPSAMPLE2D,
)
