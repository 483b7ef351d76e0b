"""Scaled dot-product attention of its parts: two products, a scale, a mask, a softmax.

The scale stands before or behind the first product, or at the key's transpose; keys and values may be repeated for the
heads that share them; the softmax may be wider than the products. A row whose scores are all -infinity may be set to
zeros behind the softmax: the fused operation does so, too.
"""

from __future__ import annotations

import math
from dataclasses import replace

from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import boolean, integers_in, shape_of
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operand_named, owner_named
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.fusions import without_broadcast
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.traced_values import (
    BROADCAST,
    CAST,
    RESHAPE,
    before_cast,
    cast_to,
    pairs,
    single,
    traced,
)
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of, number_of
from ttnn_jit.process.dataclass import dataclass

ATTENTION = Rules()

_ATTENTION = "ttir.scaled_dot_product_attention"
_RANK = 4


@dataclass(frozen=True)
class Scores:
    """What a softmax is taken of: ``query @ key.T * scale + mask``.

    Attributes:
        query: The left operand of the product.
        key: The right one, before its transpose.
        scale: The product of all scales.
        mask: What is added; None if nothing is.
        sink: A score of each head that only the softmax sees; None if there is none.
    """

    query: SSAValue
    key: SSAValue
    scale: float
    mask: SSAValue | None
    sink: SSAValue | None = None


@ATTENTION.of("ttir.matmul")
def attention(op: Operation, rewriter: Rewriter) -> bool:
    """``softmax(query @ key.T * scale + mask) @ value`` of tensors [batch, heads, rows, size]."""
    if rewriter.row(_ATTENTION) is None or _transposes(op) != (False, False):
        return False
    scores = _scores_of(op.operands[0])
    if scores is None or len(shape_of(op.results[0].type)) != _RANK:
        return False
    key, value = _shared_heads(scores.key, op.operands[1], rewriter, op)
    if not _fit(scores, key, value, op) or not _takes_sink(scores, rewriter):
        return False
    operands = {
        "query": scores.query,
        "key": key,
        "value": value,
        "attention_mask": scores.mask,
        "attention_sink": scores.sink,
    }
    properties = {"is_causal": boolean(False), "scale": FloatAttr(scores.scale, f32)}
    rewriter.replace(op, [rewriter.value(_ATTENTION, operands, properties, op.results[0].type, op)])
    return True


def _scores_of(value: SSAValue) -> Scores | None:
    """The scores of which weights are the softmax, with their sink if a column is left out of the weights."""
    weights = before_cast(value)
    whole = _before_last_column(weights)
    softmax = _softmax(weights if whole is None else whole)
    if softmax is None:
        return None
    scores = before_cast(softmax.operands[0])
    if whole is None:
        return _scores(scores)
    rest, sink = _without_sink(scores)
    found = _scores(rest) if sink is not None else None
    return replace(found, sink=sink) if found is not None else None


def _takes_sink(scores: Scores, rewriter: Rewriter) -> bool:
    """Whether the operation of this version takes the sink, if there is one; that of December 2025 takes none."""
    if scores.sink is None:
        return True
    row = rewriter.row(_ATTENTION)
    heads = shape_of(scores.query.type)[1]
    fits = element_of(scores.sink) == element_of(scores.key) and shape_of(scores.sink.type) == (1, heads, 1, 1)
    return fits and row is not None and any(each.name == "attention_sink" for each in row.operands)


def _transposes(op: Operation) -> tuple[bool, bool]:
    first, second = (op.properties.get(f"transpose_{each}") == boolean(True) for each in "ab")
    return first, second


def _before_last_column(value: SSAValue) -> SSAValue | None:
    """The probabilities of which a slice leaves out those of the last key."""
    made = single(value, "ttir.slice_static")
    if made is None:
        return None
    shape = [*shape_of(made.operands[0].type)]
    begins, ends, steps = (integers_in(made.properties[name]) for name in ("begins", "ends", "step"))
    kept = begins == [0] * len(shape) and {*steps} == {1} and ends == [*shape[:-1], shape[-1] - 1]
    return before_cast(made.operands[0]) if kept else None


def _without_sink(value: SSAValue) -> tuple[SSAValue, SSAValue | None]:
    """Scores and the column that is concatenated to them, before it is broadcast; None if there is no such."""
    joined = single(value, "ttir.concat")
    if joined is None or len(joined.operands) != 2 or integers_in(joined.properties["dim"])[0] % _RANK != _RANK - 1:
        return value, None
    scores, sink = joined.operands
    return before_cast(scores), without_broadcast(sink) if shape_of(sink.type)[-1:] == (1,) else None


def _softmax(weights: SSAValue) -> Operation | None:
    """The softmax along the last dimension that only a product reads, behind a cast or zeros for rows without a key."""
    value = before_cast(weights)
    chosen = single(value, "ttir.where")
    if chosen is not None:
        if number_of(chosen.operands[1]) != 0:
            return None
        value = before_cast(chosen.operands[2])
    softmax = single(value, "ttir.softmax")
    if softmax is None or integers_in(softmax.properties["dimension"])[0] % len(shape_of(value.type)) != _RANK - 1:
        return None
    if chosen is not None and not _is_true_where_all_are_masked(chosen.operands[0], softmax.operands[0]):
        return None
    return softmax


def _is_true_where_all_are_masked(condition: SSAValue, scores: SSAValue) -> bool:
    """Whether a condition is ``not any(not (scores == -infinity))`` of each row."""
    none = owner_named(traced(condition, BROADCAST, RESHAPE), "ttir.logical_not")
    some = owner_named(traced(none.operands[0], RESHAPE), "ttir.reduce_or") if none is not None else None
    seen = owner_named(some.operands[0], "ttir.logical_not") if some is not None else None
    masked = owner_named(seen.operands[0], "ttir.eq") if seen is not None else None
    if some is None or masked is None:
        return False
    rank = len(shape_of(scores.type))
    along = [dim % rank for dim in integers_in(some.properties.get("dim_arg"))] == [rank - 1]
    rows = shape_of(scores.type)[:-1]
    aligned = math.prod(shape_of(some.results[0].type)) == math.prod(rows) and condition_rows(condition) == rows
    of_scores = any(
        traced(value, CAST) is traced(scores, CAST) and number_of(other) == -math.inf for value, other in pairs(masked)
    )
    return along and aligned and of_scores


def condition_rows(condition: SSAValue) -> tuple[int, ...]:
    """The dimensions of a condition that is equal along the last one, without that; () if it may differ there."""
    while (made := owner_named(condition, BROADCAST)) is not None:
        counts = integers_in(made.properties["broadcast_dimensions"])
        if any(count != 1 for count in counts[:-1]):
            return ()
        condition = made.operands[0]
    shape = shape_of(condition.type)
    return shape[:-1] if shape[-1:] == (1,) else ()


def _scores(value: SSAValue) -> Scores | None:
    """The parts of scores, if they are some; a ``linear`` is a product and its mask."""
    linear = owner_named(value, "ttir.linear")
    if linear is not None:
        mask = operand_named(linear, "bias")
        return _of_product(linear, 1.0, mask) if mask is not None else None
    total = owner_named(value, "ttir.add")
    for scores, mask in pairs(total) if total is not None else ((value, None),):
        product, scale = _scaled(scores)
        made = owner_named(product, "ttir.matmul")
        found = _of_product(made, scale, mask) if made is not None else None
        if found is not None:
            return found
    return None


def _of_product(product: Operation, scale: float, mask: SSAValue | None) -> Scores | None:
    query, query_scale = _scaled(product.operands[0])
    outer, outer_scale = _scaled(product.operands[1])
    match _transposes(product):
        case (False, True):
            key = outer
        case (False, False):
            moved = owner_named(outer, "ttir.permute", "ttir.transpose")
            if moved is None or not _swaps_rows_and_columns(moved):
                return None
            key = moved.operands[0]
        case _:
            return None
    key, inner_scale = _scaled(key)
    scales = scale * query_scale * outer_scale * inner_scale
    return Scores(query, key, scales, None if mask is None else without_broadcast(mask))


def _swaps_rows_and_columns(move: Operation) -> bool:
    if move.name == "ttir.permute":
        return integers_in(move.properties["permutation"]) == [0, 1, 3, 2]
    dims = {integers_in(move.properties[name])[0] % _RANK for name in ("dim0", "dim1")}
    return len(shape_of(move.results[0].type)) == _RANK and dims == {2, 3}


def _scaled(value: SSAValue) -> tuple[SSAValue, float]:
    """A value before it is multiplied with a number, or divided by one, and the factor; 1 if it is not."""
    made = owner_named(value, "ttir.multiply", "ttir.div")
    if made is None:
        return value, 1.0
    for source, by in pairs(made)[: 1 if made.name == "ttir.div" else 2]:
        number = number_of(by)
        if number is not None and source.type == value.type and math.isfinite(number) and number != 0:
            return source, float(number) if made.name == "ttir.multiply" else 1 / float(number)
    return value, 1.0


def _shared_heads(key: SSAValue, value: SSAValue, rewriter: Rewriter, at: Operation) -> tuple[SSAValue, SSAValue]:
    """Keys and values before they are repeated for the heads that share them; as they are unless both are."""
    repeated = [owner_named(before_cast(each), "ttir.repeat_interleave") for each in (key, value)]
    if any(each is None or integers_in(each.properties["dim"])[0] % _RANK != 1 for each in repeated):
        return key, value
    sources = [each.operands[0] for each in repeated if each is not None]
    counts = {integers_in(each.properties["repeats"])[0] for each in repeated if each is not None}
    if len(counts) != 1 or any(len(shape_of(each.type)) != _RANK for each in sources):
        return key, value
    first, second = (
        cast_to(source, element_of(each), rewriter, at) for source, each in zip(sources, (key, value), strict=True)
    )
    return first, second


def _fit(scores: Scores, key: SSAValue, value: SSAValue, op: Operation) -> bool:
    """Whether attention takes tensors of these types, which its verifier and ours check."""
    query, mask = scores.query, scores.mask
    shapes = [[*shape_of(each.type)] for each in (query, key, value)]
    if any(len(each) != _RANK for each in shapes) or shapes[1] != shapes[2]:
        return False
    (batch, heads, rows, size), keys = shapes[0], shapes[1]
    types = {element_of(each) for each in (query, key, value, op.results[0])}
    if [batch, size] != [keys[0], keys[3]] or keys[1] == 0 or heads % keys[1] or len(types) != 1:
        return False
    if [*shape_of(op.results[0].type)] != shapes[0]:
        return False
    if mask is None:
        return True
    extents = [*shape_of(mask.type)]
    return (
        len(extents) == _RANK
        and extents[2:] == [rows, keys[2]]
        and extents[0] in {1, batch}
        and extents[1] in {1, heads}
        and element_of(mask) in types
    )
