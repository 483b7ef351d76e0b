"""Numbers that scale the channels of a convolution as part of its weight."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integers_in, shape_of
from ttnn_jit.dialects.upstream.rewriting.rewriter import (
    Rewriter,
    has_one_user,
    operand_named,
    operands_by_name,
    owner_named,
)
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.fusions import channel_of, without_broadcast
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import reshape
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import filled

SCALED = Rules()

_CONVOLUTIONS = ("ttir.conv2d", "ttir.convolution")


def _is_constant(value: SSAValue) -> bool:
    """Whether a value depends on parameters and constants of the function alone."""
    if isinstance(value, BlockArgument):
        function = value.owner.parent_op()
        given = function.arg_attrs if isinstance(function, FuncOp) else None
        kind = str(given.data[value.index].data.get("ttcore.argument_type")) if given is not None else ""
        return "<parameter>" in kind or "<constant>" in kind
    owner = value.owner
    return isinstance(owner, Operation) and all(map(_is_constant, owner.operands))


def _weight_channel(convolution: Operation) -> int:
    """The dimension of the weight that has the channels of the result."""
    layout: Any = convolution.properties.get("convolution_layout")
    return int(layout.value("kernelOutputFeatureDimension")) if layout is not None else 0


@SCALED.of("ttir.multiply")
def convolution_times_scale(op: Operation, rewriter: Rewriter) -> bool:
    """``conv(x, w, b) * s`` is ``conv(x, w * s, b * s)``, where `w`, `b` and `s` are constant."""
    for index in (0, 1):
        convolution = owner_named(op.operands[index], *_CONVOLUTIONS)
        if convolution is None or not has_one_user(convolution.results[0]):
            continue
        scale = without_broadcast(op.operands[1 - index])
        weight, bias = convolution.operands[1], operand_named(convolution, "bias")
        result = shape_of(convolution.results[0].type)
        channel = channel_of(convolution)
        if shape_of(scale.type) != tuple(each if dim == channel else 1 for dim, each in enumerate(result)):
            continue
        if not all(_is_constant(each) for each in (scale, weight, *([bias] if bias is not None else []))):
            continue
        shape = [1] * len(shape_of(weight.type))
        shape[_weight_channel(convolution)] = result[channel]
        factor = reshape(scale, shape, rewriter, op)
        weight = rewriter.value("ttir.multiply", {"lhs": weight, "rhs": factor}, {}, weight.type, op)
        operands = {**operands_by_name(convolution), "weight": weight}
        if bias is not None:
            operands["bias"] = rewriter.value("ttir.multiply", {"lhs": bias, "rhs": scale}, {}, bias.type, op)
        value = rewriter.value(convolution.name, operands, convolution.properties, op.results[0].type, op)
        rewriter.replace(op, [value])
        return True
    return False


@SCALED.of("ttir.batch_norm_inference")
def batch_norm_as_scale(op: Operation, rewriter: Rewriter) -> bool:
    """A batch norm after a convolution is a scale and an offset of its channels."""
    source = op.operands[0]
    if owner_named(source, *_CONVOLUTIONS) is None or not has_one_user(source):
        return False
    scale, offset, mean, variance = op.operands[1:5]
    shape = shape_of(source.type)
    dim = integers_in(op.properties["dimension"])[0]
    beside = [each if index == dim else 1 for index, each in enumerate(shape)]

    def computed(name: str, *values: SSAValue) -> SSAValue:
        names = ("lhs", "rhs") if len(values) == 2 else ("input",)
        return rewriter.value(f"ttir.{name}", dict(zip(names, values, strict=True)), {}, values[0].type, op)

    epsilon = filled(rewriter, FloatAttr(op.properties["epsilon"].value.data, f32), variance.type, op)  # type: ignore[attr-defined]
    factor = computed("multiply", scale, computed("rsqrt", computed("add", variance, epsilon)))
    term = computed("subtract", offset, computed("multiply", mean, factor))
    factor, term = (reshape(each, beside, rewriter, op) for each in (factor, term))
    operands = {"lhs": source, "rhs": factor}
    scaled = rewriter.value("ttir.multiply", operands, {}, op.results[0].type, op)
    rewriter.replace(op, [rewriter.value("ttir.add", {"lhs": scaled, "rhs": term}, {}, op.results[0].type, op)])
    return True
