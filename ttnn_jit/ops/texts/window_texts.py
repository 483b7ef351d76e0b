"""Convolutions of texts, in one form: channels last, one dimension for each spatial one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.convolution.convolution_goldens import Windowing, convolution_in_torch, elements_in_torch
from ttnn_jit.ops.convolution.convolutions import (
    CONV2D,
    CONV3D,
    Convolution,
    attributes_2d,
    attributes_3d,
)
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.element_goldens import GoldenOfElements, index_of_places
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, text
from ttnn_jit.ops.movement.windows import Windows
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import Layout

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
    result = (None, x.spec.dtype, Layout.TILE, None)
    if rank == 3:
        found = ops.call(CONV3D, [x, weight, bias], *attributes_3d(sizes), *result)
    else:
        found = ops.call(CONV2D, [x, weight, bias], *attributes_2d(sizes), *result)
    return ops.reshaped(found, (x.shape[0], *sizes.counts[missing:], weight.shape[0]))


def convolved_in_torch(torch: Any, x: Any, weight: Any, bias: Any, geometry: Geometry) -> Any:
    """The same, on tensors of torch."""
    bias = None if bias is None else bias.reshape(-1)
    return convolution_in_torch(torch, x.movedim(-1, 1), weight, bias, _windowing(weight, geometry)).movedim(1, -1)


def elements_of_convolution(
    torch: Any, operands: Sequence[Any], geometry: Geometry, places: Any, order: Sequence[int] = ()
) -> GoldenOfElements:
    """Elements of that on tensors of torch (input, weights and bias), by their places in row-major order.

    The dimension `number` of what it returns is dimension ``order[number]`` of what the places are in.
    """
    x, weight, bias = operands
    windowing, x = _windowing(weight, geometry), x.movedim(-1, 1)
    shape = len(x), *windowing.counts(x.shape[2:]), len(weight)
    order = order or range(len(shape))
    index = index_of_places(torch, places, [shape[each] for each in _inverse(order)])
    batch, *at, output = (index[each] for each in order)
    return elements_in_torch(torch, x, weight, bias, windowing, (batch, output, *at))


def _windowing(weight: Any, geometry: Geometry) -> Windowing:
    sizes = geometry.strides, geometry.padding, geometry.spread, geometry.dilation
    return Windowing(tuple(weight.shape[2:]), *sizes, geometry.groups)


def with_edges(ops: Any, x: Any, geometry: Geometry, mode: str) -> tuple[Any, Geometry]:
    """An image, channels last, with its edges repeated where `padding_mode` says so, and what is left to pad.

    Args:
        ops: The protocol of decompositions, or torch for tensors of torch.
        x: The image, [batch, spatial..., channels].
        geometry: The sizes of a convolution.
        mode: ``zeros`` or ``replicate``.

    Raises:
        ArgumentError: It is another one.
    """
    if mode == "zeros":
        return x, geometry
    if mode != "replicate":
        raise ArgumentError(f"`padding_mode` is 'zeros' or 'replicate', got {mode!r}")
    padding, inner = geometry.padding, replace(geometry, padding=((0, 0),) * geometry.rank)
    if not isinstance(x, Value):
        pads = [each for pair in reversed(padding) for each in pair]
        return ops.nn.functional.pad(x.movedim(-1, 1), pads, mode="replicate").movedim(1, -1), inner
    for axis, (low, high) in enumerate(padding, start=1):
        extent = x.shape[axis]
        first, last = ops.part(x, axis, 0, 1), ops.part(x, axis, extent - 1, extent)
        x = ops.concat([first] * low + [x] + [last] * high, axis) if low or high else x
    return x, inner


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


def image(x: Any, info: Mapping[str, int] | None) -> tuple[int, ...]:
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
        x = x.reshape(image(x, info)) if not isinstance(x, Value) else permute_ops.reshaped(x, image(x, info))
        x = _permuted(permute_ops, x, order)
        bias = call.bias
        if bias is not None:
            bias = (
                bias.reshape(-1)
                if not isinstance(bias, Value)
                else permute_ops.reshaped(bias, (math.prod(bias.shape),))
            )
        x, geometry = with_edges(permute_ops, x, geometry_of(call), vars(call).get("padding_mode", "zeros"))
        found = function(first, x, weights(permute_ops, call), bias, geometry)
        return _permuted(permute_ops, found, _inverse(order))

    def write(ops: Ops, call: TextCall) -> Any:
        return ops.reshaped(applied(ops, convolved, ops, call), tuple(call.result.shape))

    def golden(torch: Any, call: TextCall) -> Any:
        return call.in_result_shape(applied(torch, convolved_in_torch, torch, call))

    return write, golden


def _elements_of_conv2d(torch: Any, call: TextCall, places: Any) -> GoldenOfElements:
    order = _channels_last(call, *_HW)
    x = _permuted(torch, call.input.reshape(image(call.input, call.flattened_compat_info)), order)
    return elements_of_convolution(torch, (x, call.weight, call.bias), _conv2d_geometry(call), places, order)


TEXTS_2D = text(
    "ttir.conv2d",
    "input weight bias?",
    *_with_convolution(_conv2d_geometry, _HW),
    elements_at=_elements_of_conv2d,
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


def _of_rows(function: Callable[..., Any]) -> Callable[..., Any]:
    """A convolution of one dimension whose sizes are attributes: batch and length may be one dimension."""

    def convolve(ops: Any, call: TextCall) -> Any:
        x, shape = call.input, (call.batch_size, call.input_length, call.in_channels)
        given = {name: each for name, each in vars(call).items() if name != "results"}
        given["input"] = ops.reshaped(x, shape) if isinstance(x, Value) else x.reshape(shape)
        return function(ops, TextCall(given, call.results))

    return convolve


TEXTS_1D_OF_TTNN = text(
    "ttnn.conv1d",
    "input weight bias?",
    *map(_of_rows, _with_convolution(_conv1d_geometry, ("length_dim",))),
    in_channels=REQUIRED,
    batch_size=REQUIRED,
    input_length=REQUIRED,
    stride=REQUIRED,
    padding=REQUIRED,
    dilation=REQUIRED,
    groups=1,
    out_channels=None,
    kernel_size=None,
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


def mirrored_weights(ops: Any, call: TextCall) -> Any:
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
    x = call.input.reshape(image(call.input, call.flattened_compat_info)).permute(order)
    stride, dilation = per_dimension(call.stride, 2), per_dimension(call.dilation, 2)
    whole = torch.nn.functional.conv_transpose2d(
        x.movedim(-1, 1), call.weight, None, stride, 0, 0, call.groups, dilation
    ).movedim(1, -1)
    # What lies beyond is reached by no tap. torch itself takes no output padding as large as the stride.
    down, across = per_dimension(call.output_padding, 2)
    whole = torch.nn.functional.pad(whole, (0, 0, 0, across, 0, down))
    for axis, (low, high) in enumerate(padding_of(call.padding, 2), start=1):
        whole = whole.narrow(axis, low, whole.shape[axis] - low - high)
    whole = whole if call.bias is None else whole + call.bias.reshape(-1)
    return call.in_result_shape(whole.permute(_inverse(order)))


TEXTS_TRANSPOSED = text(
    "ttir.conv_transpose2d",
    "input weight bias?",
    _with_convolution(_transposed_geometry, _HW, mirrored_weights)[0],
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

TEXTS = (TEXTS_1D, TEXTS_1D_OF_TTNN, TEXTS_2D, TEXTS_3D, TEXTS_TRANSPOSED, TEXTS_GENERAL)
