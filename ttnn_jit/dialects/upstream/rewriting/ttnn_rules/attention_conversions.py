"""Attention of TTIR in TTNN, which has an operation for queries of one position."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    boolean,
    dense_i32,
    number,
    shape_of,
    ttnn_shape,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operand_named, operands_by_name
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.special_conversions import permuted, relaid
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.ttnn_conversions import Conversion, namesake
from ttnn_jit.dialects.writing.editing import erase


def _attention(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    """Queries of one position, which see all keys, become those of a decode: [1, batch, heads, size]."""
    query, operands = operand_named(op, "query"), operands_by_name(op)
    assert query is not None
    if operands.get("attention_sink"):
        op.operands[len(op.operands) - 1] = _divided_by_scale(op, shape_of(query.type)[-1], rewriter)
        operands = operands_by_name(op)
    if shape_of(query.type)[2] != 1 or _is_positional(op):
        return namesake(op, rewriter)
    operands["query"] = permuted(query, (2, 0, 1, 3), rewriter, op)
    mask = operand_named(op, "attention_mask") if "attention_mask" in operands else None
    if mask is not None:
        operands["attention_mask"] = _mask_of_heads(mask, shape_of(query.type)[1], rewriter, op)
    properties = {name: op.properties.get(name) for name in ("is_causal", "scale")}
    type_ = relaid(op.results[0].type, [shape_of(op.results[0].type)[index] for index in (2, 0, 1, 3)])
    value = rewriter.value("ttnn.scaled_dot_product_attention_decode", operands, properties, type_, op)
    return [permuted(value, (1, 2, 0, 3), rewriter, op)]


def _divided_by_scale(op: Operation, width: int, rewriter: Rewriter) -> SSAValue:
    """The sink of an attention divided by its scale, for TTNN multiplies it with that."""
    sink, stated = op.operands[len(op.operands) - 1], op.properties.get("scale")
    scale = stated.value.data if isinstance(stated, FloatAttr) else width**-0.5
    if scale in {0.0, 1.0}:
        return sink
    properties = {"fill_value": number(1 / scale), "shape": dense_i32(shape_of(sink.type))}
    inverse = _converted(rewriter.create("ttir.full", {}, properties, [sink.type], op), rewriter)
    operands = {"lhs": sink, "rhs": inverse}
    return _converted(rewriter.create("ttir.multiply", operands, {}, [sink.type], op), rewriter)


def _converted(op: Operation, rewriter: Rewriter) -> SSAValue:
    """The result of the namesake in TTNN that replaces an operation of TTIR."""
    (value,) = namesake(op, rewriter)
    erase(op)
    return value


def _is_positional(op: Operation) -> bool:
    """Whether positions decide which keys are seen."""
    return op.properties.get("is_causal") != boolean(False) or "sliding_window_size" in op.properties


def _mask_of_heads(mask: SSAValue, heads: int, rewriter: Rewriter, at: Operation) -> SSAValue:
    """The mask as [batch, 1, heads, keys]: a decode does not broadcast heads."""
    moved = permuted(mask, (0, 2, 1, 3), rewriter, at)
    batch, _, own, keys = shape_of(moved.type)
    if own == heads:
        return moved
    counts = {"repeat_dims": ttnn_shape([1, 1, heads, 1])}
    return rewriter.value("ttnn.repeat", {"input": moved}, counts, relaid(moved.type, [batch, 1, heads, keys]), at)


CONVERSIONS: dict[str, Conversion] = {"ttir.scaled_dot_product_attention": _attention}
"""Name of an operation of TTIR -> what it becomes."""
