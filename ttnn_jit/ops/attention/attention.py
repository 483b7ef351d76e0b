"""Scaled dot-product attention: the softmax of the products of queries and keys, times values.

Queries have the shape [users, heads, positions, channels]. Keys and values have as many heads, or a divisor of that
number: then several heads of queries share one (grouped-query attention). Scores and softmax are float32. Probabilities
are rounded to the element type of the values before they are multiplied with them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Composite, MacroOperation, Ops, Value
from ttnn_jit.ops.language.axes import is_broadcast_to
from ttnn_jit.ops.language.parameter import (
    CHOICE,
    FLAG,
    OPTIONAL_COUNT,
    OPTIONAL_FLOAT,
    OPTIONAL_TENSOR,
    TENSOR,
    Parameter,
)
from ttnn_jit.ops.movement.data_movement import CONCAT
from ttnn_jit.ops.movement.sequences import arange
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, FLOATS
from ttnn_jit.specs.tensor_spec import TensorSpec

Extents = Sequence[int]

QUERY, KEY, VALUE = (Parameter(f"input_tensor_{each}", TENSOR) for each in "qkv")
SINK_AS_IN_TTNN = "The score of a sink is multiplied by `scale`, as all scores are."
MASK, SINK = (Parameter(name, OPTIONAL_TENSOR) for name in ("attn_mask", "attention_sink"))
CAUSAL = Parameter("is_causal", FLAG, default=True)
SCALE = Parameter("scale", OPTIONAL_FLOAT)
WINDOW = Parameter("sliding_window_size", OPTIONAL_COUNT)
_MINUS_INFINITY = -math.inf
_LEAST_FINITE = -float(COMPUTE_TYPE.traits.largest)


# --- The computation that all variants share ------------------------------------------------------------------------


class PositionalMask(NamedTuple):
    """The keys that a query attends to, by the distance of their positions.

    Attributes:
        rows: The positions of the queries among the keys, [users, 1, positions, 1] or broadcast to that.
        causal: A query attends to keys up to its own position.
        window: If causal, a query attends to the last `window` keys up to its position; else to keys that are at most
            `window` // 2 positions away. None: there is no limit.
    """

    rows: Any
    causal: bool
    window: int | None


def _grouped_by_kv_head(ops: Ops, x: Any, heads: int, kv_heads: int, positions: int) -> Any:
    """`x`, [users, heads, positions, keys] or broadcast to that, as [users, kv_heads, rows, keys].

    There is a row for each position of each head of queries that shares the head of keys.
    """
    users, own, rows, keys = x.shape
    sharing = heads // kv_heads
    if sharing == 1:
        return x
    if own == heads:
        x = ops.reshape(x, (users, kv_heads, sharing * rows, keys))
        return x if rows == positions else ops.repeat_interleave(x, positions, 2)
    return x if rows == 1 else ops.repeat(x, (1, 1, sharing, 1))


def attention(
    ops: Ops,
    query: Any,
    key: Any,
    value: Any,
    *,
    scale: float | None,
    positional: PositionalMask | None,
    mask: Any,
    sink: Any,
) -> Any:
    """Scaled dot-product attention, [users, heads, positions, channels of the values].

    Args:
        ops: The operations.
        query: [users, heads, positions, channels].
        key: [users, kv_heads, keys, channels]; `kv_heads` divides `heads`.
        value: [users, kv_heads, keys, any number of channels].
        scale: The factor of the products; None: 1 / sqrt(channels).
        positional: The positional mask; None: queries attend to all keys.
        mask: The additive mask of the scaled products, [users, heads, positions, keys] or broadcast to that; None:
            there is none.
        sink: The product of each head with a key that has no value, [1, heads, 1, 1]; None: there is none.
    """
    users, heads, positions, width = query.shape
    kv_heads, keys = key.shape[1:3]
    scale = width**-0.5 if scale is None else scale

    def regrouped(x: Any) -> Any:
        return _grouped_by_kv_head(ops, x, heads, kv_heads, positions)

    # Masks come before the product, so that no other operation stands between the product and its softmax.
    visible, addend = None, None if mask is None else regrouped(mask)
    if positional is not None:
        columns = ops.reshape(arange(ops, keys, query), (1, 1, 1, keys))
        visible = _is_visible(ops, positional._replace(rows=regrouped(positional.rows)), columns)
    sink_score = None if sink is None else regrouped(sink) * scale
    scores = ops.matmul(regrouped(query), key, False, True) * scale
    scores = scores if addend is None else scores + addend
    scores = scores if visible is None else ops.where(visible, scores, _MINUS_INFINITY)
    may_mask_all = mask is not None or (positional is not None and positional.window is not None)
    probabilities = _probabilities(ops, scores, sink_score, may_mask_all=may_mask_all)
    if value.spec.dtype.unpacked is not COMPUTE_TYPE:
        probabilities = ops.typecast(probabilities, value.spec.dtype.unpacked)
    return ops.reshaped(ops.matmul(probabilities, value), (users, heads, positions, value.shape[3]))


def _probabilities(ops: Ops, scores: Any, sink_score: Any, *, may_mask_all: bool) -> Any:
    """The softmax over scores and the score of the sink, without the sink's own probability.

    `may_mask_all`: all scores of a row may be -infinity. Its probabilities are then 0, as in torch.
    """
    top = ops.max(scores, 3, True)
    top = top if sink_score is None else ops.maximum(top, sink_score)
    if may_mask_all:
        top = ops.maximum(top, _LEAST_FINITE)
    exponentials = ops.exp(scores - top)
    total = ops.sum(exponentials, 3, True)
    if sink_score is not None:
        total = total + ops.exp(sink_score - top)
    if may_mask_all:
        total = ops.maximum(total, 1.0)  # the exponential of the largest score is 1, so no other sum is less
    return exponentials / total


def _is_visible(ops: Ops, positional: PositionalMask, columns: Any) -> Any:
    """Not 0 where the query of a row attends to the key of a column."""
    rows, causal, window = positional
    if not causal:
        return ops.abs(rows - columns) <= float((window or 0) // 2)
    up_to = rows >= columns
    return up_to if window is None else up_to * (columns > rows - float(window))


def check_heads(query: Extents, key: Extents, value: Extents, *, users: int) -> None:
    """Refuses queries, keys and values whose shapes do not fit each other."""
    if (misfit := _misfit(query, key, value, users)) is not None:
        raise ShapeError(
            f"queries of shape {list(query)} do not attend to keys {list(key)} and values {list(value)}", help=misfit
        )


def _misfit(query: Extents, key: Extents, value: Extents, users: int) -> str | None:
    """Why their shapes do not fit each other; None if they do."""
    if not len(query) == len(key) == len(value) == 4:
        return "all have four dimensions"
    if key[:3] != value[:3]:
        return "keys and values have the same users, heads and positions"
    if query[3] != key[3] or 0 in key:
        return "queries and keys have the same channels, at least one, and there is a key"
    return None if key[0] in (1, users) else f"keys have {users} users, or 1 whose keys all users share"


def check_sharing(heads: int, kv_heads: int) -> None:
    """Refuses a number of query heads that is no multiple of the number of key heads."""
    if heads % kv_heads:
        raise ShapeError(
            f"{heads} heads of queries cannot share {kv_heads} heads of keys and values",
            help="the number of query heads is a multiple of the number of key heads",
        )


def check_window(window: int | None) -> None:
    """Refuses an empty window."""
    if window is not None and window < 1:
        raise ShapeError(f"a window has at least one position, got `sliding_window_size` {window}")


def check_mask(mask: Extents | None, scores: Extents, *, causal: bool) -> None:
    """Refuses a mask of a causal attention, and one that does not broadcast to the scores."""
    if mask is None:
        return
    if causal:
        raise ShapeError("`attn_mask` is given, and `is_causal` is True", help="pass `is_causal=False`")
    if len(mask) != 4 or not is_broadcast_to(mask, scores):
        raise ShapeError(f"`attn_mask` has shape {list(mask)}, which does not broadcast to scores of {list(scores)}")


def visible_in_torch(torch: Any, rows: Any, keys: int, *, causal: bool, window: int | None) -> Any:
    """The boolean positional mask, [rows, keys]."""
    columns, rows = torch.arange(keys), rows[:, None]
    visible = columns <= rows if causal else torch.ones(len(rows), keys, dtype=torch.bool)
    if window is None:
        return visible
    return visible & (columns > rows - window if causal else (columns - rows).abs() <= window // 2)


def attention_in_torch(torch: Any, query: Any, key: Any, value: Any, scale: float | None, mask: Any, sink: Any) -> Any:
    """`torch.nn.functional.scaled_dot_product_attention`; a sink is one more key, whose value is 0."""
    sharing = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(sharing, 1).expand(len(query), -1, -1, -1) for each in (key, value))
    if sink is not None:
        none = torch.zeros_like(query[:, :, :1, :1])
        query = torch.cat([query, sink.expand(*query.shape[:3], 1)], -1)
        key = torch.cat([torch.cat([key, torch.zeros_like(key[..., :1])], -1), torch.zeros_like(query[:, :, :1])], 2)
        key[:, :, -1, -1] = 1.0
        value = torch.cat([value, none.expand(-1, -1, -1, value.shape[3])], 2)
        scale = (query.shape[3] - 1) ** -0.5 if scale is None else scale
        mask = None if mask is None else torch.nn.functional.pad(mask, (0, 1))
    torch_attention = torch.nn.functional.scaled_dot_product_attention
    return torch_attention(query, key, value, attn_mask=mask, scale=scale)


def additive_mask(torch: Any, visible: Any, dtype: Any) -> Any:
    """The additive mask of a boolean one: 0 where a key is visible, else -infinity."""
    return torch.zeros(visible.shape, dtype=dtype).masked_fill(~visible, -math.inf)


# --- Whole sequences ------------------------------------------------------------------------------------------------


def _check(
    query: Extents, key: Extents, value: Extents, mask: Extents | None, sink: Extents | None, *statics: Any
) -> None:
    causal, _, window = statics
    check_heads(query, key, value, users=query[0] if query else 0)
    check_sharing(query[1], key[1])
    check_window(window)
    check_mask(mask, (*query[:3], key[2]), causal=causal)
    if sink is not None and tuple(sink) != (1, query[1], 1, 1):
        raise ShapeError(f"`attention_sink` has shape {list(sink)}", help=f"it is {[1, query[1], 1, 1]}")


def _full_sequence(ops: Ops, query: Any, key: Any, value: Any, mask: Any, sink: Any, *statics: Any) -> Any:
    positional, (causal, scale, window) = None, statics
    if causal or window is not None:
        positional = PositionalMask(
            ops.reshape(arange(ops, query.shape[2], query), (1, 1, query.shape[2], 1)), causal, window
        )
    return attention(ops, query, key, value, scale=scale, positional=positional, mask=mask, sink=sink)


def _full_sequence_in_torch(torch: Any, query: Any, key: Any, value: Any, mask: Any, sink: Any, *statics: Any) -> Any:
    causal, scale, window = statics
    if mask is None and (causal or window is not None):
        rows = torch.arange(query.shape[2])
        mask = additive_mask(
            torch, visible_in_torch(torch, rows, key.shape[2], causal=causal, window=window), query.dtype
        )
    elif window is not None:
        rows = torch.arange(query.shape[2])
        mask = mask + additive_mask(
            torch, visible_in_torch(torch, rows, key.shape[2], causal=False, window=window), mask.dtype
        )
    return attention_in_torch(torch, query, key, value, scale, mask, sink)


def attention_result(query: TensorSpec, _key: TensorSpec, value: TensorSpec, *_: Any) -> TensorSpec:
    """The spec of the result: that of the queries, with the channels of the values."""
    return query.interleaved.with_(shape=(*tuple(query.shape)[:3], tuple(value.shape)[3]))


SCALED_DOT_PRODUCT_ATTENTION = Composite(
    name="transformer.scaled_dot_product_attention",
    parameters=(QUERY, KEY, VALUE, MASK, CAUSAL, SCALE, WINDOW, SINK),
    summary=(
        "Scaled dot-product attention: softmax(queries times keys times `scale`, plus `attn_mask`) times values; "
        "`is_causal` masks later positions, `sliding_window_size` those out of the window."
    ),
    vendor_quirk=SINK_AS_IN_TTNN,
    decompose=_full_sequence,
    canonicalize=_check,
    result=attention_result,
    golden=_full_sequence_in_torch,
    rounds_intermediates=True,
    aten="scaled_dot_product_attention",
    examples=(
        (((2, 4, 5, 32), (2, 2, 7, 32), (2, 2, 7, 16), (2, 1, 5, 7), None), (False, 0.5, None)),
        (((1, 4, 9, 8), (1, 1, 9, 8), (1, 1, 9, 8), None, (1, 4, 1, 1)), (True, None, 3)),
    ),
)


# --- Joint attention of two sequences -------------------------------------------------------------------------------


def _joint(ops: Ops, *arguments: Any) -> list[Value]:
    *tensors, scale = arguments
    sequences = list(zip(tensors[:3], tensors[3:], strict=True))
    for own, other in sequences:
        if len(own.shape) != 4 or len(other.shape) != 4:
            raise ShapeError(
                f"tensors of shapes {list(own.shape)} and {list(other.shape)} are no joint sequence",
                help="both have four dimensions",
            )
    query, key, value = (ops.call(CONCAT, list(pair), 2) for pair in sequences)
    result = ops.call(SCALED_DOT_PRODUCT_ATTENTION, [query, key, value, None, None], False, scale, None)
    middle, end = tensors[0].shape[2], query.shape[2]
    return [ops.sliced(result, 2, 0, middle), ops.sliced(result, 2, middle, end)]


def _joint_in_torch(torch: Any, *arguments: Any) -> tuple[Any, ...]:
    *tensors, scale = arguments
    joined = [torch.cat(pair, 2) for pair in zip(tensors[:3], tensors[3:], strict=True)]
    found = torch.nn.functional.scaled_dot_product_attention(*joined, scale=scale)
    return tuple(found.split([tensors[0].shape[2], tensors[3].shape[2]], 2))


JOINT_SCALED_DOT_PRODUCT_ATTENTION = MacroOperation(
    name="transformer.joint_scaled_dot_product_attention",
    parameters=(
        QUERY,
        KEY,
        VALUE,
        *(Parameter(f"joint_tensor_{each}", TENSOR) for each in "qkv"),
        Parameter("joint_strategy", CHOICE, "rear"),
        SCALE,
    ),
    summary="Attention of two sequences that are concatenated; the results of the first and of the second sequence.",
    decompose=_joint,
    result_container=tuple,
    takes_dtypes=FLOATS,
    golden=_joint_in_torch,
)

OPERATIONS = (SCALED_DOT_PRODUCT_ATTENTION, JOINT_SCALED_DOT_PRODUCT_ATTENTION)
