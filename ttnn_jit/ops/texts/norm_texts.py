"""Norms of texts, whose dimensions and shapes attributes name."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.elementwise.activation_text import activated, activated_in_torch
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, text


def _beside(x: Any, dimension: int) -> tuple[int, ...]:
    """The shape of a vector along `dimension` that broadcasts to `x`."""
    return tuple(extent if axis == dimension else 1 for axis, extent in enumerate(x.shape))


def _batch_norm_inference(ops: Ops, call: TextCall) -> Value:
    scale, offset, mean, variance = (
        ops.reshaped(each, _beside(call.operand, call.dimension))
        for each in (call.scale, call.offset, call.mean, call.variance)
    )
    found: Value = (call.operand - mean) * (scale * ops.rsqrt(variance + call.epsilon)) + offset
    return found


def _batch_norm_inference_in_torch(torch: Any, call: TextCall) -> Any:
    x = call.operand.movedim(call.dimension, 1)
    vectors = (each.reshape(-1) for each in (call.mean, call.variance, call.scale, call.offset))
    found = torch.nn.functional.batch_norm(x, *vectors, training=False, eps=call.epsilon)
    return found.movedim(1, call.dimension)


_INFERENCE: dict[str, Any] = {
    "epsilon": REQUIRED,
    "dimension": 1,
    "in_float32": True,
    "not_negative": ("variance",),
}
INFERENCE = text(
    "ttir.batch_norm_inference",
    "operand scale offset mean variance",
    _batch_norm_inference,
    _batch_norm_inference_in_torch,
    **_INFERENCE,
)
INFERENCE_OF_TTNN = text(
    "ttnn.batch_norm_inference",
    "operand mean variance scale offset",
    _batch_norm_inference,
    _batch_norm_inference_in_torch,
    **_INFERENCE,
)


def _batch_norm_training(ops: Ops, call: TextCall) -> list[Value]:
    x, dimension = call.operand, call.dimension
    axes = tuple(axis for axis in range(len(x.shape)) if axis != dimension)
    count = math.prod(x.shape[axis] for axis in axes)
    mean = ops.mean(x, axes, True)
    away = x - mean
    variance = ops.mean(away * away, axes, True)
    scale, offset = (ops.reshaped(each, _beside(x, dimension)) for each in (call.scale, call.offset))
    found = away * (scale * ops.rsqrt(variance + call.epsilon)) + offset
    running = []
    unbiased = variance * (count / max(1, count - 1))
    for own, batch, spec in (
        (call.running_mean, mean, call.results[1]),
        (call.running_variance, unbiased, call.results[2]),
    ):
        moved = own * (1.0 - call.momentum) + ops.reshaped(batch, own.shape) * call.momentum
        running.append(ops.reshaped(moved, spec.shape))
    return [found, *running]


def _batch_norm_training_in_torch(torch: Any, call: TextCall) -> Any:
    x = call.operand.movedim(call.dimension, 1)
    flat = x.transpose(0, 1).reshape(x.shape[1], -1)
    beside = (1, -1, *[1] * (x.dim() - 2))
    mean, variance = flat.mean(1), flat.var(1, correction=0)
    scaled = (x - mean.reshape(beside)) / torch.sqrt(variance.reshape(beside) + call.epsilon)
    found = scaled * call.scale.reshape(beside) + call.offset.reshape(beside)
    batch = (mean, flat.var(1, correction=min(1, flat.shape[1] - 1)))
    running = [
        call.in_result_shape(torch.lerp(own.reshape(-1), new, call.momentum).reshape(own.shape), number)
        for number, (own, new) in enumerate(zip((call.running_mean, call.running_variance), batch, strict=True), 1)
    ]
    return found.movedim(1, call.dimension), *running


_TRAINING: dict[str, Any] = {**_INFERENCE, "momentum": REQUIRED}
TRAINING = text(
    "ttir.batch_norm_training",
    "operand scale offset running_mean running_variance",
    _batch_norm_training,
    _batch_norm_training_in_torch,
    **_TRAINING,
)
TRAINING_OF_TTNN = text(
    "ttnn.batch_norm_training",
    "operand running_mean running_variance scale offset",
    _batch_norm_training,
    _batch_norm_training_in_torch,
    **_TRAINING,
    also_updates=("running_mean", "running_variance"),
)


def _axes(call: TextCall) -> tuple[int, ...]:
    shape = call.normalized_shape or call.input.shape[-1:]
    rank = len(call.input.shape)
    return tuple(range(rank - len(shape), rank))


def _rms_norm(ops: Ops, call: TextCall) -> Value:
    x = call.input
    found = x * ops.rsqrt(ops.mean(x * x, _axes(call), True) + call.epsilon)
    return _scaled(ops, found, call)


def _scaled(ops: Ops, x: Value, call: TextCall) -> Value:
    axes = _axes(call)
    shape = tuple(x.shape[axis] for axis in axes)
    x = x if call.weight is None else x * ops.reshaped(call.weight, shape)
    return x if call.bias is None else x + ops.reshaped(call.bias, shape)


def _rms_norm_in_torch(torch: Any, call: TextCall) -> Any:
    axes = _axes(call)
    shape = tuple(call.input.shape[axis] for axis in axes)
    weight = None if call.weight is None else call.weight.reshape(shape)
    found = torch.nn.functional.rms_norm(call.input, shape, weight, call.epsilon)
    return found if call.bias is None else found + call.bias.reshape(shape)


RMS_NORMS = tuple(
    text(
        name,
        "input weight? bias?",
        _rms_norm,
        _rms_norm_in_torch,
        normalized_shape=None,
        epsilon=epsilon,
        in_float32=True,
    )
    for name, epsilon in (("ttir.rms_norm", 1e-5), ("ttnn.rms_norm", 1e-12))
)


def _with_residual(call: TextCall, x: Any) -> TextCall:
    return TextCall({**vars(call), "input": x, "normalized_shape": None}, call.results)


def _fused_rms_norm(ops: Ops, call: TextCall) -> Value:
    x = call.input if call.residual_input is None else call.input + call.residual_input
    found: Value = activated(ops, _rms_norm(ops, _with_residual(call, x)), call.activation)
    return found


def _fused_rms_norm_in_torch(torch: Any, call: TextCall) -> Any:
    x = call.input if call.residual_input is None else torch.add(call.input, call.residual_input)
    return activated_in_torch(torch, _rms_norm_in_torch(torch, _with_residual(call, x)), call.activation)


FUSED_RMS_NORM = text(
    "ttnn.dit_rms_norm_unary_fused",
    "input weight? bias? residual_input?",
    _fused_rms_norm,
    _fused_rms_norm_in_torch,
    epsilon=1e-5,
    activation=None,
    in_float32=True,
)
"""An activation of a norm of a sum of two tensors, along the last dimension."""


def _layer_norm(ops: Ops, call: TextCall) -> Value:
    axes = _axes(call)
    away = call.input - ops.mean(call.input, axes, True)
    return _scaled(ops, away * ops.rsqrt(ops.mean(away * away, axes, True) + call.epsilon), call)


def _layer_norm_in_torch(torch: Any, call: TextCall) -> Any:
    shape = tuple(call.input.shape[axis] for axis in _axes(call))
    weight, bias = (None if each is None else each.reshape(shape) for each in (call.weight, call.bias))
    return torch.nn.functional.layer_norm(call.input, shape, weight, bias, call.epsilon)


LAYER_NORMS = tuple(
    text(
        name,
        "input weight? bias?",
        _layer_norm,
        _layer_norm_in_torch,
        normalized_shape=None,
        epsilon=epsilon,
        in_float32=True,
    )
    for name, epsilon in (("ttir.layer_norm", 1e-5), ("ttnn.layer_norm", 1e-12))
)


def _group_norm(ops: Ops, call: TextCall) -> Value:
    """Channels of a group lie beside each other."""
    x, groups, axis = call.input, call.num_groups, call.channel_dim
    shape = x.shape
    channels, inner = shape[axis], math.prod(shape[axis:][1:])
    by_group = ops.reshape(x, (shape[0], math.prod(shape[1:axis]), groups, channels // groups * inner))
    away = by_group - ops.mean(by_group, (1, 3), True)
    found = ops.reshape(away * ops.rsqrt(ops.mean(away * away, (1, 3), True) + call.epsilon), shape)
    along = (channels, *(1,) * (len(shape[axis:]) - 1))
    vectors = [None if each is None else ops.reshaped(each, along) for each in (call.weight, call.bias)]
    found = found if vectors[0] is None else found * vectors[0]
    result: Value = found if vectors[1] is None else found + vectors[1]
    return result


def _group_norm_in_torch(torch: Any, call: TextCall) -> Any:
    vectors = (None if each is None else each.reshape(-1) for each in (call.weight, call.bias))
    x = call.input.movedim(call.channel_dim, 1)
    return torch.nn.functional.group_norm(x, call.num_groups, *vectors, eps=call.epsilon).movedim(1, call.channel_dim)


GROUP_NORM = text(
    "ttir.group_norm ttnn.group_norm",
    "input input_mask? weight? bias?",
    _group_norm,
    _group_norm_in_torch,
    num_groups=REQUIRED,
    epsilon=1e-12,
    channel_dim=3,
    in_float32=True,
)

TEXTS = (INFERENCE, INFERENCE_OF_TTNN, TRAINING, TRAINING_OF_TTNN, *RMS_NORMS, FUSED_RMS_NORM, *LAYER_NORMS, GROUP_NORM)
