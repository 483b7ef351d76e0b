"""Activations of TTNN as attributes of what they follow."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rewriting.greedy import Rule, RuleSet
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, has_one_user, operand_named, owner_named
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import data_type


def _after_product(op: Operation, rewriter: Rewriter) -> bool:
    product = owner_named(op.operands[0], "ttnn.matmul", "ttnn.linear")
    if product is None or "activation" in product.properties or not has_one_user(product.results[0]):
        return False
    if product.results[0].type != op.results[0].type:
        return False
    product.properties["activation"] = StringAttr(op.name.partition(".")[2])
    rewriter.replace(op, [product.results[0]])
    return True


def _after_convolution(op: Operation, rewriter: Rewriter) -> bool:
    value = op.operands[0]
    while (reshape := owner_named(value, "ttnn.reshape")) is not None and has_one_user(value):
        value = reshape.operands[0]
    convolution = owner_named(value, "ttnn.conv2d")
    if convolution is None or not has_one_user(value) or "conv2d_config" in convolution.properties:
        return False
    if op.operands[0].type != op.results[0].type or not has_one_user(op.operands[0]):
        return False
    weight = operand_named(convolution, "weight")
    assert weight is not None
    activation = op.name.partition(".")[2]
    spelled = (
        f"#ttnn.conv2d_config<weights_dtype = {data_type(element_of(weight))}, activation = <op_type = {activation}>>"
    )
    convolution.properties["conv2d_config"] = parsed(spelled)
    rewriter.replace(op, [op.operands[0]])
    return True


_BOTH: list[Rule] = [_after_product, _after_convolution]

FUSIONS: RuleSet = {
    "ttnn.relu": [_after_convolution],
    "ttnn.relu6": [_after_convolution],
    "ttnn.silu": _BOTH,
    "ttnn.sigmoid": _BOTH,
}
"""Name of an activation -> its rules."""
