"""Convolutions and pools over flattened images: (N, H, W, C) becomes (1, 1, N * H * W, C)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import RuleSet
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    dense_i64,
    integers_in,
    listed,
    parsed,
    shape_of,
    with_shape,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operand_named, operands_by_name

_DIMS = ("batch_dim", "height_dim", "width_dim", "channel_dim")
_INFO = "flattened_compat_info"


def reshape(value: SSAValue, shape: Sequence[int], rewriter: Rewriter, at: Operation) -> SSAValue:
    """A `ttir.reshape` of a value."""
    return rewriter.value("ttir.reshape", {"input": value}, {"shape": listed(shape)}, with_shape(value.type, shape), at)


def permute(value: SSAValue, order: Sequence[int], rewriter: Rewriter, at: Operation) -> SSAValue:
    """A `ttir.permute` of a value."""
    shape = shape_of(value.type)
    type_ = with_shape(value.type, [shape[each] for each in order])
    return rewriter.value("ttir.permute", {"input": value}, {"permutation": dense_i64(order)}, type_, at)


def _flattened_shape(shape: Sequence[int]) -> tuple[int, int, int, int]:
    batch, height, width, channels = shape
    return 1, 1, batch * height * width, channels


def _order(op: Operation) -> list[int]:
    """The dimensions of batch, height, width and channels."""
    found = [integers_in(op.properties.get(name)) for name in _DIMS]
    return [given[0] if given else index for index, given in enumerate(found)]


def flatten(op: Operation, rewriter: Rewriter) -> bool:
    """Flattens the image of an operation, and gives its results their shapes again."""
    info = op.properties.get(_INFO)
    if (info is not None and hasattr(info, "value")) or len(shape_of(op.operands[0].type)) != 4:
        return False
    order = _order(op)
    back = [order.index(each) for each in range(4)]
    image = op.operands[0] if order == [0, 1, 2, 3] else permute(op.operands[0], order, rewriter, op)
    shape = shape_of(image.type)
    compat = parsed(
        f"#ttir<flattened_compat batch_size = {shape[0]}, input_height = {shape[1]}, input_width = {shape[2]}>"
    )
    properties = {name: value for name, value in op.properties.items() if name not in _DIMS}
    wanted = [shape_of(each.type) for each in op.results]
    moved = [[each[dim] for dim in order] for each in wanted]
    types = [with_shape(each.type, _flattened_shape(one)) for each, one in zip(op.results, moved, strict=True)]
    operands = operands_by_name(op)
    operands["input"] = reshape(image, _flattened_shape(shape), rewriter, op)
    bias = operand_named(op, "bias") if "bias" in operands else None
    if bias is not None and (flat := (1, 1, 1, math.prod(shape_of(bias.type)))) != shape_of(bias.type):
        operands["bias"] = reshape(bias, flat, rewriter, op)
    if outputs := operands.get("output"):
        assert isinstance(outputs, list)
        operands["output"] = [rewriter.value("ttir.empty", {}, {}, type_, op) for type_ in types[: len(outputs)]]
    made = rewriter.create(op.name, operands, {**properties, _INFO: compat}, types, op)
    results = []
    for value, one in zip(made.results, moved, strict=True):
        again = reshape(value, one, rewriter, op)
        results.append(again if order == [0, 1, 2, 3] else permute(again, back, rewriter, op))
    rewriter.replace(op, results)
    return True


FLATTENED: RuleSet = {
    name: [flatten]
    for name in (
        "ttir.conv2d",
        "ttir.conv_transpose2d",
        "ttir.max_pool2d",
        "ttir.max_pool2d_with_indices",
        "ttir.avg_pool2d",
    )
}
