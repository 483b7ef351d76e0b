"""Attention of TTIR in TTNN, which has an operation for queries of one position."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.made_attributes import boolean, dense_i64, shape_of, ttnn_shape
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operand_named, operands_by_name
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.special_conversions import relaid
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.ttnn_conversions import Conversion, namesake


def _attention(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    """Queries of one position, which see all keys, become those of a decode: [1, batch, heads, size]."""
    query = operand_named(op, "query")
    assert query is not None
    if shape_of(query.type)[2] != 1 or _is_positional(op):
        return namesake(op, rewriter)
    operands = operands_by_name(op)
    operands["query"] = _permuted(query, (2, 0, 1, 3), rewriter, op)
    mask = operand_named(op, "attention_mask") if "attention_mask" in operands else None
    if mask is not None:
        operands["attention_mask"] = _mask_of_heads(mask, shape_of(query.type)[1], rewriter, op)
    properties = {name: op.properties.get(name) for name in ("is_causal", "scale")}
    type_ = relaid(op.results[0].type, [shape_of(op.results[0].type)[index] for index in (2, 0, 1, 3)])
    value = rewriter.value("ttnn.scaled_dot_product_attention_decode", operands, properties, type_, op)
    return [_permuted(value, (1, 2, 0, 3), rewriter, op)]


def _is_positional(op: Operation) -> bool:
    """Whether positions decide which keys are seen."""
    return op.properties.get("is_causal") != boolean(False) or "sliding_window_size" in op.properties


def _permuted(value: SSAValue, order: tuple[int, ...], rewriter: Rewriter, at: Operation) -> SSAValue:
    type_ = relaid(value.type, [shape_of(value.type)[each] for each in order])
    return rewriter.value("ttnn.permute", {"input": value}, {"permutation": dense_i64(order)}, type_, at)


def _mask_of_heads(mask: SSAValue, heads: int, rewriter: Rewriter, at: Operation) -> SSAValue:
    """The mask as [batch, 1, heads, keys]: a decode does not broadcast heads."""
    moved = _permuted(mask, (0, 2, 1, 3), rewriter, at)
    batch, _, own, keys = shape_of(moved.type)
    if own == heads:
        return moved
    counts = {"repeat_dims": ttnn_shape([1, 1, heads, 1])}
    return rewriter.value("ttnn.repeat", {"input": moved}, counts, relaid(moved.type, [batch, 1, heads, keys]), at)


CONVERSIONS: dict[str, Conversion] = {"ttir.scaled_dot_product_attention": _attention}
"""Name of an operation of TTIR -> what it becomes."""
