"""`ttir.convolution` and `ttir.pooling`, whose dimensions are named, as operations over (N, H, W, C)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, f32, i32
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    boolean,
    dense_i32,
    dense_i64,
    integer,
    integers_in,
    number,
    shape_of,
    si32,
    with_shape,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operand_named, owner_named
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.decompositions import sliced
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import permute, reshape
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of, filled, number_of

DECOMPOSED = Rules()


class _Convolution:
    """The attributes of a `ttir.convolution`."""

    def __init__(self, op: Operation) -> None:
        layout: Any = op.properties["convolution_layout"]
        self.input = [layout.value(f"input{each}Dimension") for each in ("Batch", "Feature")]
        self.input_spatial = [*layout.value("inputSpatialDimensions")]
        self.kernel_out = layout.value("kernelOutputFeatureDimension")
        self.kernel_in = layout.value("kernelInputFeatureDimension")
        self.kernel_spatial = [*layout.value("kernelSpatialDimensions")]
        self.output = [layout.value(f"output{each}Dimension") for each in ("Batch", "Feature")]
        self.output_spatial = [*layout.value("outputSpatialDimensions")]
        self.strides, self.padding, self.input_dilation, self.weight_dilation = (
            integers_in(op.properties[name])
            for name in ("window_strides", "padding", "input_dilation", "weight_dilation")
        )
        self.groups = integers_in(op.properties["feature_group_count"])[0]
        self.batch_groups = integers_in(op.properties["batch_group_count"])[0]
        self.rank = len(self.input_spatial)
        self.reversed = any(each != 0 for each in integers_in(op.properties["window_reversal"]))

    @property
    def transposed(self) -> bool:
        """Whether it spreads its input instead of its window."""
        spread = any(each != 1 for each in self.input_dilation)
        return spread and all(each == 1 for each in self.strides)


@DECOMPOSED.of("ttir.convolution")
def convolution(op: Operation, rewriter: Rewriter) -> bool:
    """A convolution of one, two or three dimensions with channels last."""
    given = _Convolution(op)
    if given.rank not in {1, 2, 3} or given.reversed:
        return False
    if given.rank == 3 and any(each != 1 for each in given.weight_dilation):  # `ttir.conv3d` has no dilation
        return False
    if any(each != 1 for each in given.input_dilation) and not (given.transposed and given.rank == 2):
        return False
    weight, bias = op.operands[1], operand_named(op, "bias")
    source = permute(op.operands[0], [given.input[0], *given.input_spatial, given.input[1]], rewriter, op)
    if given.transposed:
        weight = _mirrored(weight, given, rewriter, op)
    outer, inner = given.kernel_out, given.kernel_in
    order = [inner, outer] if given.transposed else [outer, inner]
    weight = permute(weight, [*order, *given.kernel_spatial], rewriter, op)
    result = shape_of(op.results[0].type)
    shape = [result[given.output[0]], *(result[dim] for dim in given.output_spatial), result[given.output[1]]]
    if bias is not None:
        bias = reshape(bias, [*[1] * (given.rank + 1), math.prod(shape_of(bias.type))], rewriter, op)
    value = _by_batch_groups(source, weight, bias, given, shape, rewriter, op)
    back = [given.output[0], *given.output_spatial, given.output[1]]
    rewriter.replace(op, [permute(value, [back.index(each) for each in range(len(back))], rewriter, op)])
    return True


def _mirrored(weight: SSAValue, given: _Convolution, rewriter: Rewriter, at: Operation) -> SSAValue:
    """A weight with its taps the other way round: one that was reversed before it was."""
    spatial = sorted(given.kernel_spatial)
    reversal = owner_named(weight, "ttir.reverse")
    if reversal is not None and sorted(integers_in(reversal.properties["dimensions"])) == spatial:
        return reversal.operands[0]
    return rewriter.value("ttir.reverse", {"input": weight}, {"dimensions": dense_i64(spatial)}, weight.type, at)


def _by_batch_groups(
    source: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    given: _Convolution,
    shape: Sequence[int],
    rewriter: Rewriter,
    at: Operation,
) -> SSAValue:
    """Each group of the batch with its part of the weight, concatenated along channels."""
    count = given.batch_groups
    if count == 1:
        return _convolved(source, weight, bias, given, shape, rewriter, at)
    batch, out = shape_of(source.type)[0] // count, shape_of(weight.type)[0] // count
    part = [*shape[:-1], shape[-1] // count]

    def cut(value: SSAValue, dim: int, size: int) -> list[SSAValue]:
        return [sliced(value, dim, (index * size, (index + 1) * size, 1), rewriter, at) for index in range(count)]

    offsets = cut(bias, given.rank + 1, out) if bias is not None else [None] * count
    groups = zip(cut(source, 0, batch), cut(weight, 0, out), offsets, strict=True)
    parts = [_convolved(images, kernel, offset, given, part, rewriter, at) for images, kernel, offset in groups]
    type_ = with_shape(source.type, shape)
    properties = {"dim": integer(given.rank + 1, si32)}
    return rewriter.value("ttir.concat", {"inputs": parts}, properties, type_, at)


def _convolved(
    source: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    given: _Convolution,
    shape: Sequence[int],
    rewriter: Rewriter,
    at: Operation,
) -> SSAValue:
    if given.rank == 3:
        return _convolved_3d(source, weight, bias, given, shape, rewriter, at)
    groups = {"groups": integer(given.groups)}
    pairs = [given.padding[index : index + 2] for index in range(0, 2 * given.rank, 2)]
    strides, dilation = given.strides, given.weight_dilation
    one_dimensional = given.rank == 1
    if one_dimensional:  # a width of one
        source = reshape(source, _with_one(shape_of(source.type), 2), rewriter, at)
        weight = reshape(weight, [*shape_of(weight.type), 1], rewriter, at)
        bias = reshape(bias, (1, 1, 1, shape[-1]), rewriter, at) if bias is not None else None
        strides, dilation, pairs = [*strides, 1], [*dilation, 1], [*pairs, [0, 0]]
    result = _with_one(shape, 2) if one_dimensional else shape
    type_ = with_shape(at.results[0].type, result)
    operands = {"input": source, "weight": weight, "bias": bias}
    if given.transposed:
        value = rewriter.value("ttir.conv_transpose2d", operands, {**_transposed(given, weight), **groups}, type_, at)
    else:
        padding = [pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]]
        properties = {
            "stride": dense_i32(strides),
            "padding": dense_i32(padding),
            "dilation": dense_i32(dilation),
            **groups,
        }
        value = rewriter.value("ttir.conv2d", operands, properties, type_, at)
    return reshape(value, shape, rewriter, at) if one_dimensional else value


def _convolved_3d(
    source: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    given: _Convolution,
    shape: Sequence[int],
    rewriter: Rewriter,
    at: Operation,
) -> SSAValue:
    """A convolution of three dimensions; its input is padded before where `ttir.conv3d`, which pads alike, cannot."""
    padding = given.padding[::2]
    if padding != given.padding[1::2]:
        around = [0, 0, *given.padding, 0, 0]
        wide = [extent + sum(around[2 * dim : 2 * dim + 2]) for dim, extent in enumerate(shape_of(source.type))]
        properties = {"padding": dense_i32(around), "value": number(0.0)}
        source = rewriter.value("ttir.pad", {"input": source}, properties, with_shape(source.type, wide), at)
        padding = [0, 0, 0]
    attributes = {
        "stride": dense_i32(given.strides),
        "padding": dense_i32(padding),
        "groups": integer(given.groups),
    }
    operands = {"input": source, "weight": weight, "bias": bias}
    return rewriter.value("ttir.conv3d", operands, attributes, with_shape(at.results[0].type, shape), at)


def _with_one(shape: Sequence[int], at: int) -> list[int]:
    return [*shape[:at], 1, *shape[at:]]


def _transposed(given: _Convolution, weight: SSAValue) -> dict[str, Any]:
    kernel = shape_of(weight.type)[2:]
    before = given.padding[::2]
    after = given.padding[1::2]
    reach = [(size - 1) * by for size, by in zip(kernel, given.weight_dilation, strict=True)]
    cut = [far - least for far, least in zip(reach, before, strict=True)]
    return {
        "stride": dense_i32(given.input_dilation),
        "padding": dense_i32([*cut, *cut]),
        "output_padding": dense_i32([b - a for a, b in zip(before, after, strict=True)]),
        "dilation": dense_i32(given.weight_dilation),
    }


@DECOMPOSED.of("ttir.pooling")
def pooling_of_number(op: Operation, rewriter: Rewriter) -> bool:
    """A pool of one number is that, or its multiple."""
    known = [number_of(each) for each in op.operands]
    padding = integers_in(op.properties["padding"])
    method = str(op.properties["pooling_method"]).lower()
    if any(each is None for each in known) or (any(padding) and "max" not in method):
        return False
    size = math.prod(integers_in(op.properties["window_dimensions"])) if "sum" in method else 1
    values = []
    for value, result in zip(known, op.results, strict=True):
        assert value is not None
        is_integer = isinstance(element_of(result), IntegerType)
        fill = IntegerAttr(int(value) * size, i32) if is_integer else FloatAttr(float(value) * size, f32)
        values.append(filled(rewriter, fill, result.type, op))
    rewriter.replace(op, values)
    return True


@DECOMPOSED.of("ttir.pooling")
def pooling(op: Operation, rewriter: Rewriter) -> bool:
    """A pool of two dimensions of four."""
    names = ("window_dimensions", "window_strides", "window_dilations", "padding", "base_dilations")
    window, strides, dilations, padding, base = (integers_in(op.properties[name]) for name in names)
    spatial = [index for index, size in enumerate(window) if size > 1]
    if len(window) != 4 or len(spatial) > 2 or any(each != 1 for each in base):
        return False
    if len(spatial) != 2:
        spatial = [2, 3] if not spatial or spatial[0] in {2, 3} else [1, 2]
    if any(stride > 1 and index not in spatial for index, stride in enumerate(strides)):
        return False
    method = str(op.properties["pooling_method"]).lower()
    rest = [index for index in range(4) if index not in spatial]
    order = [rest[0], *spatial, rest[1]]
    back = [order.index(index) for index in range(4)]
    high, wide = spatial
    properties = {
        "kernel": dense_i32([window[high], window[wide]]),
        "stride": dense_i32([strides[high], strides[wide]]),
        "dilation": dense_i32([dilations[high], dilations[wide]]),
        "padding": dense_i32([padding[2 * high], padding[2 * wide], padding[2 * high + 1], padding[2 * wide + 1]]),
        "ceil_mode": boolean(False),
        "count_include_pad": boolean(True),
    }
    values = []
    for source, result in zip(op.operands, op.results, strict=True):
        shape = shape_of(result.type)
        image = permute(source, order, rewriter, op)
        type_ = with_shape(result.type, [shape[index] for index in order])
        name = "ttir.max_pool2d" if "max" in method else "ttir.avg_pool2d"
        value = permute(rewriter.value(name, {"input": image}, properties, type_, op), back, rewriter, op)
        if "sum" in method:
            count = filled(rewriter, FloatAttr(float(math.prod(window)), f32), value.type, op)
            value = rewriter.value("ttir.multiply", {"lhs": value, "rhs": count}, {}, value.type, op)
        values.append(value)
    rewriter.replace(op, values)
    return True
