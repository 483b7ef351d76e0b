"""Convolutions and pools of TTIR in TTNN, whose operands are flattened to (1, 1, N * H * W, C)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    boolean,
    dense_i32,
    dense_i64,
    integer,
    integers_in,
    number,
    shape_of,
    si32,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import data_type_attribute
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.special_conversions import CONVERSIONS as OTHER_CONVERSIONS
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.special_conversions import (
    bias_of,
    pair,
    permuted,
    quadruple,
    relaid,
    reshaped,
    sliding_window_of,
)
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.ttnn_conversions import refuse


def _result(op: Operation) -> TensorType[Attribute]:
    type_ = op.results[0].type
    assert isinstance(type_, TensorType)
    return type_


def _window(op: Operation, kernel: Sequence[int]) -> dict[str, Attribute | None]:
    """The attributes that convolutions of two dimensions share."""
    batch, height, width = sliding_window_of(op)
    return {
        "in_channels": integer(shape_of(op.operands[0].type)[3]),
        "out_channels": integer(shape_of(_result(op))[3]),
        "batch_size": integer(batch),
        "input_height": integer(height),
        "input_width": integer(width),
        "kernel_size": dense_i32(kernel),
        "stride": dense_i32(pair(op, "stride")),
        "dilation": dense_i32(pair(op, "dilation")),
        "groups": op.properties.get("groups"),
        "dtype": data_type_attribute(_result(op).get_element_type()),
    }


def _conv2d(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    properties = _window(op, shape_of(op.operands[1].type)[2:])
    padding = integers_in(op.properties.get("padding"))
    if len(padding) == 4:
        top, left, bottom, right = padding
        padding = [top, bottom, left, right]
    properties["padding"] = dense_i32(padding if len(padding) != 1 else padding * 2)
    operands = {"input": op.operands[0], "weight": op.operands[1], "bias": bias_of(op), "device": rewriter.device(op)}
    return [rewriter.value("ttnn.conv2d", operands, properties, _result(op), op)]


def _conv1d(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    batch, length, channels = shape_of(op.operands[0].type)
    numbers = {name: integers_in(op.properties.get(name)) for name in ("stride", "padding", "dilation")}
    places = [integers_in(op.properties.get(name)) for name in ("batch_dim", "length_dim", "channel_dim")]
    if any(place and place != [index] for index, place in enumerate(places)):
        raise refuse(op, "TTNN has batch, length and channels in this order")
    properties = {
        "in_channels": integer(channels),
        "out_channels": integer(shape_of(_result(op))[2]),
        "batch_size": integer(batch),
        "input_length": integer(length),
        "kernel_size": integer(shape_of(op.operands[1].type)[2]),
        "stride": integer(numbers["stride"][0]),
        "padding": dense_i32(numbers["padding"] * (2 // len(numbers["padding"]))),
        "dilation": integer(numbers["dilation"][0]),
        "groups": op.properties.get("groups"),
    }
    operands = {"input": op.operands[0], "weight": op.operands[1], "bias": bias_of(op), "device": rewriter.device(op)}
    return [rewriter.value("ttnn.conv1d", operands, properties, _result(op), op)]


def _conv_transpose2d(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    properties = _window(op, shape_of(op.operands[1].type)[2:])
    top, left, bottom, right = quadruple(op, "padding")
    if (top, left) != (bottom, right):
        raise refuse(op, "TTNN pads both sides alike")
    properties["padding"] = dense_i32([top, left])
    properties["output_padding"] = dense_i32(pair(op, "output_padding"))
    operands = {"input": op.operands[0], "weight": op.operands[1], "bias": bias_of(op), "device": rewriter.device(op)}
    return [rewriter.value("ttnn.conv_transpose2d", operands, properties, _result(op), op)]


def _conv3d(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    order_of_input = [_dim(op, f"{name}_dim", at) for at, name in enumerate(_VOLUME)]
    volume = permuted(op.operands[0], order_of_input, rewriter, op)
    batch, depth, height, width, channels = shape_of(volume.type)
    out, per_group, *kernel = shape_of(op.operands[1].type)
    numbers = {name: integers_in(op.properties.get(name)) for name in ("stride", "padding")}
    triples = {name: each * 3 if len(each) == 1 else each for name, each in numbers.items()}
    bias = bias_of(op)
    weight = op.operands[1]
    # The weight is a matrix of taps by output channels.
    order = (2, 3, 4, 1, 0)
    moved = relaid(weight.type, [shape_of(weight.type)[each] for each in order])
    weight = rewriter.value("ttnn.permute", {"input": weight}, {"permutation": dense_i64(order)}, moved, op)
    weight = reshaped(weight, (math.prod(kernel) * per_group, out), rewriter, op)
    properties = {
        "in_channels": integer(channels),
        "out_channels": integer(out),
        "batch_size": integer(batch),
        "input_depth": integer(depth),
        "input_height": integer(height),
        "input_width": integer(width),
        "kernel_size": dense_i32(kernel),
        "stride": dense_i32(triples["stride"]),
        "padding": dense_i32(triples["padding"]),
        "padding_mode": op.properties.get("padding_mode"),
        "groups": op.properties.get("groups"),
        "dtype": data_type_attribute(_result(op).get_element_type()),
    }
    flat_bias = reshaped(bias, (1, out), rewriter, op) if bias is not None else None
    operands = {"input": volume, "weight": weight, "bias": flat_bias, "device": rewriter.device(op)}
    shape = [shape_of(_result(op))[each] for each in order_of_input]
    made = rewriter.value("ttnn.conv3d", operands, properties, relaid(_result(op), shape), op)
    return [permuted(made, [order_of_input.index(each) for each in range(len(shape))], rewriter, op)]


_VOLUME = ("batch", "depth", "height", "width", "channel")
"""The dimensions of a volume, in the order of TTNN."""


def _dim(op: Operation, name: str, default: int) -> int:
    """A dimension that an operation names."""
    found = integers_in(op.properties.get(name))
    return found[0] if found else default


def _pool2d(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    batch, height, width = sliding_window_of(op)
    kernel, padding = pair(op, "kernel"), quadruple(op, "padding")
    dilation = pair(op, "dilation")
    if op.name == "ttir.avg_pool2d" and dilation != [1, 1]:
        raise CompileError(
            f"'{op.name}' op only supports lowering to TTNN for dilation of (1, 1)", location=location_of(op)
        )
    source = op.operands[0]
    channels = shape_of(source.type)[3]
    wide = any(each > size // 2 for each, size in zip(padding, [*kernel, *kernel], strict=True))
    if wide and op.name == "ttir.avg_pool2d":
        source, height, width = _padded(source, (batch, height, width, channels), padding, 0.0, rewriter, op)
        padding = [0] * 4
    top, left, bottom, right = padding
    even = (top, left) == (bottom, right)
    properties: dict[str, Attribute | None] = {
        "batch_size": integer(batch, si32),
        "input_height": integer(height, si32),
        "input_width": integer(width, si32),
        "channels": integer(channels, si32),
        "kernel_size": dense_i32(kernel),
        "stride": dense_i32(pair(op, "stride")),
        # Unlike a convolution's, these are top, left, bottom, right: tt-mlir's runtime changes their order.
        "padding": dense_i32([top, left] if even else [top, left, bottom, right]),
        "dilation": dense_i32(dilation),
        "ceil_mode": op.properties.get("ceil_mode"),
        "in_place_halo": boolean(False),
        "count_include_pad": op.properties.get("count_include_pad", boolean(True)),
    }
    name = f"ttnn.{op.name.partition('.')[2]}"
    return [*rewriter.create(name, {"input": source}, properties, [each.type for each in op.results], op).results]


def _padded(
    source: SSAValue,
    extents: tuple[int, int, int, int],
    padding: Sequence[int],
    value: float,
    rewriter: Rewriter,
    at: Operation,
) -> tuple[SSAValue, int, int]:
    """A flattened tensor with padding around its images, flattened; its height and width."""
    batch, height, width, channels = extents
    top, left, bottom, right = padding
    image = reshaped(source, extents, rewriter, at)
    high, wide = height + top + bottom, width + left + right
    properties = {
        "padding": dense_i32([0, 0, top, bottom, left, right, 0, 0]),
        "value": number(value),
        "use_multicore": boolean(True),
    }
    type_ = relaid(image.type, (batch, high, wide, channels))
    padded = rewriter.value("ttnn.pad", {"input": image}, properties, type_, at)
    return reshaped(padded, (1, 1, batch * high * wide, channels), rewriter, at), high, wide


CONVERSIONS = OTHER_CONVERSIONS | {
    "ttir.conv1d": _conv1d,
    "ttir.conv2d": _conv2d,
    "ttir.conv3d": _conv3d,
    "ttir.conv_transpose2d": _conv_transpose2d,
    "ttir.max_pool2d": _pool2d,
    "ttir.max_pool2d_with_indices": _pool2d,
    "ttir.avg_pool2d": _pool2d,
}
"""Name of an operation of TTIR -> what it becomes; the others become their namesake."""
