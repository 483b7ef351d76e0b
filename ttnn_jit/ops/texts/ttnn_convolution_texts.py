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
        activation = _activation(call)
        return ops.reshaped(found if activation is None else getattr(ops, activation)(found), call.result.shape)

    def golden(torch: Any, call: TextCall) -> Any:
        x = call.input.reshape(given(call))[..., : call.in_channels]
        found = convolved_in_torch(torch, x, weights(torch, call.weight, call), call.bias, geometry_of(call))
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
    *_ttnn_convolution(_transposed_of_ttnn, lambda ops, _, call: mirrored_weights(ops, call)),
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
PREPARED_BIAS = text(
    "ttnn.prepare_conv2d_bias ttnn.prepare_conv_transpose2d_bias",
    "bias_tensor",
    lambda ops, call: ops.reshaped(call.bias_tensor, call.result.shape),
    lambda _, call: call.bias_tensor.reshape(tuple(call.result.shape)),
    **_OF_PREPARATION,
)

TEXTS = (CONV2D_OF_TTNN, CONV3D_OF_TTNN, TRANSPOSED_OF_TTNN, PREPARED_WEIGHTS, PREPARED_BIAS)
