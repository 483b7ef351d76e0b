"""Convolutions of texts of the `ttnn` dialect, whose sizes are attributes, and the preparation of their weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.elementwise.activation_text import activated_in_torch
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.element_goldens import GoldenOfElements
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, text
from ttnn_jit.ops.texts.window_texts import (
    Geometry,
    convolved,
    convolved_in_torch,
    elements_of_convolution,
    mirrored_weights,
    padding_of,
    with_edges,
)


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


def _unprepared_3d(ops: Any, weight: Any, call: TextCall) -> Any:
    """Those of rows of (block of input channels, tap, channel of the block), padded with rows of zeros."""
    taps = tuple(call.kernel_size)
    if len(weight.shape) == 2 + len(taps):
        return weight
    own, count = call.in_channels // int(call.groups), math.prod(taps)
    rows = math.prod(weight.shape) // call.out_channels
    block = _block(call.conv3d_config, rows // count)
    if isinstance(weight, Value):
        wide = ops.reshaped(weight, (rows // count // block, *taps, block, call.out_channels))
        wide = ops.permute(wide, (5, 0, 4, 1, 2, 3))
        return ops.part(ops.reshaped(wide, (call.out_channels, rows // count, *taps)), 1, 0, own)
    matrix = weight.reshape(rows, call.out_channels)
    columns = [matrix[channel // block * count * block + channel % block :: block][:count] for channel in range(own)]
    return ops.stack(columns).permute(2, 0, 1).reshape(call.out_channels, own, *taps)


def _block(config: Any, channels: int) -> int:
    """The input channels of a block, which a config of conv3d may state; else all."""
    stated = config.get("c_in_block") if isinstance(config, dict) else None
    return int(stated) if stated else channels


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
        x, geometry = with_edges(ops, x, geometry_of(call), vars(call).get("padding_mode", "zeros"))
        found = convolved(ops, x, weights(ops, call.weight, call), bias, geometry)
        activation = _activation(call)
        return ops.reshaped(found if activation is None else getattr(ops, activation)(found), call.result.shape)

    def golden(torch: Any, call: TextCall) -> Any:
        x = call.input.reshape(given(call))[..., : call.in_channels]
        x, geometry = with_edges(torch, x, geometry_of(call), vars(call).get("padding_mode", "zeros"))
        found = convolved_in_torch(torch, x, weights(torch, call.weight, call), call.bias, geometry)
        return call.in_result_shape(activated_in_torch(torch, found, _activation(call)))

    return write, golden


def _elements_of_conv2d(torch: Any, call: TextCall, places: Any) -> GoldenOfElements:
    extents = (call.batch_size, *_ttnn_extents(call))
    x = call.input.reshape(*extents, call.input.shape[-1])[..., : call.in_channels]
    weight = _unprepared(torch, call.weight, call)
    found = elements_of_convolution(torch, (x, weight, call.bias), _ttnn_geometry(call), places)
    return found.then(partial(_activated, _activation(call)))


def _activated(activation: str | None, torch: Any, x: Any) -> Any:
    return activated_in_torch(torch, x, activation)


def _activation(call: TextCall) -> str | None:
    """The activation that the config of a convolution names; the rest of the config changes no number.

    Raises:
        ArgumentError: It has parameters.
    """
    config = vars(call).get("conv2d_config")
    given = config.get("activation") if isinstance(config, dict) else None
    if not isinstance(given, dict):
        return None if given is None else str(given)
    if given.get("params"):
        raise ArgumentError(f"an activation with parameters is not computed here: {given}")
    return str(given["op_type"])


_CHANNEL_SIZES = ("in_channels", "out_channels", "batch_size", "input_height", "input_width")
_SIZES_OF_TTNN: dict[str, Any] = {
    **dict.fromkeys((*_CHANNEL_SIZES, "kernel_size", "stride", "padding"), REQUIRED),
    "groups": 1,
    "conv2d_config": None,
}
CONV2D_OF_TTNN = text(
    "ttnn.conv2d",
    "input weight bias?",
    *_ttnn_convolution(),
    elements_at=_elements_of_conv2d,
    dilation=REQUIRED,
    **_SIZES_OF_TTNN,
)
CONV3D_OF_TTNN = text(
    "ttnn.conv3d",
    "input weight bias?",
    *_ttnn_convolution(weights=_unprepared_3d),
    input_depth=REQUIRED,
    padding_mode="zeros",
    conv3d_config=None,
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
    return Geometry((1, 1), padding, tuple(call.stride), tuple(call.dilation), _groups(call))


def _mirrored(ops: Any, weight: Any, call: TextCall) -> Any:
    """The weights of the convolution over the spread input, of these or of prepared ones."""
    is_prepared = tuple(weight.shape[2:]) != tuple(call.kernel_size)
    return _unprepared(ops, weight, call) if is_prepared else mirrored_weights(ops, call)


TRANSPOSED_OF_TTNN = text(
    "ttnn.conv_transpose2d",
    "input weight bias?",
    *_ttnn_convolution(_transposed_of_ttnn, _mirrored),
    dilation=REQUIRED,
    output_padding=(0, 0),
    **_SIZES_OF_TTNN,
)


def _ungrouped(ops: Ops, weight: Value, groups: int) -> Value:
    """Weights of one group: zeros for the channels of other groups."""
    outputs, own = weight.shape[0] // groups, weight.shape[1]
    parts = []
    for group in range(groups):
        before, after = group * own, (groups - 1 - group) * own
        part = ops.part(weight, 0, group * outputs, (group + 1) * outputs)
        parts.append(ops.pad(part, [(0, 0), (before, after), (0, 0), (0, 0)], 0.0))
    return ops.concat(parts, 0)


def _is_ungrouped(call: TextCall) -> bool:
    """Whether a text prepares weights with zeros for the channels of other groups."""
    given, wanted = (math.prod(each) for each in (call.weight_tensor.shape, call.result.shape))
    return bool(call.groups > 1 and given * call.groups == wanted)


def _prepared(ops: Ops, call: TextCall) -> Value:
    """Weights [outputs, inputs per group, kernel] as rows of (tap, input channel)."""
    weight, shape = call.weight_tensor, tuple(call.result.shape)
    order = (*range(2, len(weight.shape)), 1, 0)
    weight = _ungrouped(ops, weight, call.groups) if _is_ungrouped(call) else weight
    if math.prod(weight.shape) != math.prod(shape):
        raise ShapeError(f"weights of shape {list(weight.shape)} are not prepared with padding, as {list(shape)}")
    return ops.reshaped(ops.permute(weight, order), shape)


def _prepared_in_torch(torch: Any, call: TextCall) -> Any:
    """One matrix after the other: a tap takes a row of input channels to the outputs, in blocks of the groups."""
    groups = call.groups if _is_ungrouped(call) else 1
    taps = call.weight_tensor.flatten(2).unbind(2)
    return call.in_result_shape(torch.cat([torch.block_diag(*tap.chunk(groups)).T for tap in taps]))


def _transposed(call: TextCall, weight: Any) -> TextCall:
    """The preparation of the weights of the convolution over the spread input."""
    return TextCall({**vars(call), "weight_tensor": weight}, call.results)


def _prepared_transposed(ops: Ops, call: TextCall) -> Value:
    """Weights [inputs, outputs per group, kernel] as those of a convolution, mirrored, and then as its rows.

    Raises:
        ArgumentError: They are not mirrored.
    """
    if not call.mirror_kernel:
        raise ArgumentError("`mirror_kernel = false` is not computed here: convolutions take mirrored weights")
    swapped = mirrored_weights(ops, TextCall({"weight": call.weight_tensor, "groups": call.groups}, call.results))
    return _prepared(ops, _transposed(call, swapped))


def _prepared_transposed_in_torch(torch: Any, call: TextCall) -> Any:
    """Tap after tap from the last: each group's matrix of inputs and outputs."""
    apart = [part.flatten(2).flip(2) for part in call.weight_tensor.chunk(call.groups)]
    if _is_ungrouped(_transposed(call, torch.cat([part.transpose(0, 1) for part in apart]))):
        taps = [torch.block_diag(*(part[:, :, tap] for part in apart)) for tap in range(apart[0].shape[2])]
    else:
        taps = [torch.cat([part[:, :, tap] for part in apart], 1) for tap in range(apart[0].shape[2])]
    return call.in_result_shape(torch.cat(taps))


def _prepared_3d(ops: Ops, call: TextCall) -> Value:
    """Weights [outputs, inputs per group, kernel] as rows of (block, tap, input channel), padded to `alignment`."""
    weight = call.weight_tensor
    outputs, inputs, *taps = weight.shape
    channels, block = _blocks_of(call)
    widths = [(0, 0), (0, channels - inputs), *[(0, 0)] * len(taps)]
    weight = ops.pad(weight, widths, 0.0) if channels > inputs else weight
    apart = ops.reshaped(weight, (outputs, channels // block, block, *taps))
    return ops.reshaped(ops.permute(apart, (1, 3, 4, 5, 2, 0)), call.result.shape)


def _prepared_3d_in_torch(torch: Any, call: TextCall) -> Any:
    """A row of zeros, or of the weights of a channel and a tap, at each place."""
    weight = call.weight_tensor.flatten(2)
    channels, block = _blocks_of(call)
    outputs, inputs, taps = weight.shape
    rows = torch.zeros(channels * taps, outputs, dtype=weight.dtype)
    for channel in range(inputs):
        first = channel // block * taps * block + channel % block
        rows[first : first + taps * block : block][:taps] = weight[:, channel].T
    return call.in_result_shape(rows)


def _blocks_of(call: TextCall) -> tuple[int, int]:
    """The padded input channels, and those of a block.

    Raises:
        ShapeError: They are not whole blocks, or the result has another size.
    """
    inputs, alignment = call.weight_tensor.shape[1], max(1, call.alignment)
    channels = -(-inputs // alignment) * alignment
    block = call.c_in_block or channels
    taps, outputs = math.prod(call.weight_tensor.shape[2:]), call.weight_tensor.shape[0]
    if channels % block or math.prod(call.result.shape) != taps * channels * outputs:
        raise ShapeError(
            f"weights of {inputs} channels are not prepared in blocks of {block}, as {list(call.result.shape)}"
        )
    return channels, block


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
    "conv2d_config": None,
}
PREPARED_WEIGHTS = text(
    "ttnn.prepare_conv2d_weights", "weight_tensor", _prepared, _prepared_in_torch, **_OF_PREPARATION
)
PREPARED_TRANSPOSED = text(
    "ttnn.prepare_conv_transpose2d_weights",
    "weight_tensor",
    _prepared_transposed,
    _prepared_transposed_in_torch,
    **{**_OF_PREPARATION, "weights_format": "IOHW"},
    output_padding=None,
    mirror_kernel=True,
)
PREPARED_3D = text(
    "ttnn.prepare_conv3d_weights",
    "weight_tensor",
    _prepared_3d,
    _prepared_3d_in_torch,
    groups=1,
    c_in_block=0,
    alignment=1,
)
PREPARED_BIAS = text(
    "ttnn.prepare_conv2d_bias ttnn.prepare_conv_transpose2d_bias",
    "bias_tensor",
    lambda ops, call: ops.reshaped(call.bias_tensor, call.result.shape),
    lambda _, call: call.bias_tensor.reshape(tuple(call.result.shape)),
    **_OF_PREPARATION,
)

TEXTS = (
    CONV2D_OF_TTNN,
    CONV3D_OF_TTNN,
    TRANSPOSED_OF_TTNN,
    PREPARED_WEIGHTS,
    PREPARED_TRANSPOSED,
    PREPARED_3D,
    PREPARED_BIAS,
)
