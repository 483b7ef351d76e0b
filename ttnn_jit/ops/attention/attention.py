"""Scaled dot-product attention: softmax of the products of queries and keys, times values.

Queries are [users, heads, positions, channels]; keys and values likewise, with as many heads or a divisor of them, each
of which serves as many heads of queries. Inside all is float32, but for the probabilities: these are rounded to the
element type of the values before they meet them.
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
SINK_AS_IN_TTNN = "The product that a sink stands for is multiplied by `scale`, as the others are."
MASK, SINK = (Parameter(name, OPTIONAL_TENSOR) for name in ("attn_mask", "attention_sink"))
CAUSAL = Parameter("is_causal", FLAG, default=True)
SCALE = Parameter("scale", OPTIONAL_FLOAT)
WINDOW = Parameter("sliding_window_size", OPTIONAL_COUNT)
_MINUS_INFINITY = -math.inf
_LEAST_FINITE = -float(COMPUTE_TYPE.traits.largest)


# --- What all forms compute -----------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """Which keys a position sees.

    Attributes:
        rows: The positions of queries among the keys, [users, 1, positions, 1] or 1s.
        causal: Those up to its own.
        window: Of these the last ones; else those at most half as far away. None: all.
    """

    rows: Any
    causal: bool
    window: int | None


def _by_key_heads(ops: Ops, x: Any, heads: int, kv_heads: int, positions: int) -> Any:
    """[users, heads, positions, keys], or 1s, with a row for each position of each head that shares one of keys."""
    users, own, rows, keys = x.shape
    sharing = heads // kv_heads
    if sharing == 1:
        return x
    if own == heads:
        x = ops.reshape(x, (users, kv_heads, sharing * rows, keys))
        return x if rows == positions else ops.repeat_interleave(x, positions, 2)
    return x if rows == 1 else ops.repeat(x, (1, 1, sharing, 1))


def attended(
    ops: Ops, query: Any, key: Any, value: Any, *, scale: float | None, seen: Seen | None, mask: Any, sink: Any
) -> Any:
    """The values that queries attend to.

    Args:
        ops: What the operations are called on.
        query: Of [users, heads, positions, channels].
        key: Of as many heads or a divisor of them, of any number of positions.
        value: Of the same, and any number of channels.
        scale: Of products; by default the root of the number of channels divides them.
        seen: Which keys a position sees; None: all.
        mask: What is added to the scaled products, [users, heads, positions, keys] or 1s; None: nothing.
        sink: A product for every head, [1, heads, 1, 1], of a key without a value; None: there is none.
    """
    users, heads, positions, width = query.shape
    kv_heads, keys = key.shape[1:3]
    scale = width**-0.5 if scale is None else scale

    def spread(x: Any) -> Any:
        return _by_key_heads(ops, x, heads, kv_heads, positions)

    # What does not depend on products comes before them, so that nothing stands between these and their softmax.
    sees, added = None, None if mask is None else spread(mask)
    if seen is not None:
        columns = ops.reshape(arange(ops, keys, query), (1, 1, 1, keys))
        sees = _sees(ops, seen._replace(rows=spread(seen.rows)), columns)
    unseen = None if sink is None else spread(sink) * scale
    scores = ops.matmul(spread(query), key, False, True) * scale
    scores = scores if added is None else scores + added
    scores = scores if sees is None else ops.where(sees, scores, _MINUS_INFINITY)
    may_see_none = mask is not None or (seen is not None and seen.window is not None)
    probabilities = _weights(ops, scores, unseen, may_see_none=may_see_none)
    if value.spec.dtype.unpacked is not COMPUTE_TYPE:
        probabilities = ops.typecast(probabilities, value.spec.dtype.unpacked)
    return ops.reshaped(ops.matmul(probabilities, value), (users, heads, positions, value.shape[3]))


def _weights(ops: Ops, scores: Any, unseen: Any, *, may_see_none: bool) -> Any:
    """The softmax of scores and of a last one, which is left out; None: there is none.

    Of a row of which all scores are -infinity, as where `may_see_none`, the weights are 0, as torch has them.
    """
    top = ops.max(scores, 3, True)
    top = top if unseen is None else ops.maximum(top, unseen)
    if may_see_none:
        top = ops.maximum(top, _LEAST_FINITE)
    exponentials = ops.exp(scores - top)
    weight = ops.sum(exponentials, 3, True)
    if unseen is not None:
        weight = weight + ops.exp(unseen - top)
    if may_see_none:
        weight = ops.maximum(weight, 1.0)  # the exponential of the largest score is 1, so no other sum is less
    return exponentials / weight


def _sees(ops: Ops, seen: Seen, columns: Any) -> Any:
    """Not 0 where a row sees a column."""
    rows, causal, window = seen
    if not causal:
        return ops.abs(rows - columns) <= float((window or 0) // 2)
    up_to = rows >= columns
    return up_to if window is None else up_to * (columns > rows - float(window))


def check_heads(query: Extents, key: Extents, value: Extents, *, users: int) -> None:
    """Refuses tensors that are not queries, keys and values of each other."""
    found = f"queries of shape {list(query)} do not attend to keys {list(key)} and values {list(value)}"
    if not len(query) == len(key) == len(value) == 4:
        raise ShapeError(found, help="all have four dimensions")
    if key[:3] != value[:3]:
        raise ShapeError(found, help="keys and values have the same users, heads and positions")
    if query[3] != key[3] or 0 in key:
        raise ShapeError(found, help="queries and keys have as many channels, at least one, and there is a key")
    if key[0] not in {1, users}:
        raise ShapeError(found, help=f"keys are those of {users} users, or all share them")


def check_sharing(heads: int, kv_heads: int) -> None:
    """Refuses heads of queries that are no multiple of those of keys."""
    if heads % kv_heads:
        raise ShapeError(
            f"{heads} heads of queries do not share {kv_heads} of keys and values",
            help="the former are a multiple of the latter",
        )


def check_window(window: int | None) -> None:
    """Refuses a window without a position."""
    if window is not None and window < 1:
        raise ShapeError(f"a window has at least one position, got `sliding_window_size` {window}")


def check_mask(mask: Extents | None, scores: Extents, *, causal: bool) -> None:
    """Refuses a mask beside a causal one, or that does not broadcast to the scores."""
    if mask is None:
        return
    if causal:
        raise ShapeError("`attn_mask` is given, and `is_causal` is True", help="pass `is_causal=False`")
    if len(mask) != 4 or not is_broadcast_to(mask, scores):
        raise ShapeError(f"`attn_mask` has shape {list(mask)}, which does not broadcast to scores of {list(scores)}")


def seen_in_torch(torch: Any, rows: Any, keys: int, *, causal: bool, window: int | None) -> Any:
    """Which of `keys` positions `rows` see, in two dimensions."""
    columns, rows = torch.arange(keys), rows[:, None]
    sees = columns <= rows if causal else torch.ones(len(rows), keys, dtype=torch.bool)
    if window is None:
        return sees
    return sees & (columns > rows - window if causal else (columns - rows).abs() <= window // 2)


def attended_in_torch(torch: Any, query: Any, key: Any, value: Any, scale: float | None, mask: Any, sink: Any) -> Any:
    """By torch's own function, the sink as a key of which the product is the sink's and the value 0."""
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
    attention = torch.nn.functional.scaled_dot_product_attention
    return attention(query, key, value, attn_mask=mask, scale=scale)


def as_bias(torch: Any, sees: Any, dtype: Any) -> Any:
    """What is added to scores where a key is seen, and where not."""
    return torch.zeros(sees.shape, dtype=dtype).masked_fill(~sees, -math.inf)


# --- Of whole sequences ---------------------------------------------------------------------------------------------


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


def _whole(ops: Ops, query: Any, key: Any, value: Any, mask: Any, sink: Any, *statics: Any) -> Any:
    seen, (causal, scale, window) = None, statics
    if causal or window is not None:
        seen = Seen(ops.reshape(arange(ops, query.shape[2], query), (1, 1, query.shape[2], 1)), causal, window)
    return attended(ops, query, key, value, scale=scale, seen=seen, mask=mask, sink=sink)


def _whole_in_torch(torch: Any, query: Any, key: Any, value: Any, mask: Any, sink: Any, *statics: Any) -> Any:
    causal, scale, window = statics
    if mask is None and (causal or window is not None):
        rows = torch.arange(query.shape[2])
        mask = as_bias(torch, seen_in_torch(torch, rows, key.shape[2], causal=causal, window=window), query.dtype)
    elif window is not None:
        rows = torch.arange(query.shape[2])
        mask = mask + as_bias(torch, seen_in_torch(torch, rows, key.shape[2], causal=False, window=window), mask.dtype)
    return attended_in_torch(torch, query, key, value, scale, mask, sink)


def as_queries(query: TensorSpec, _key: TensorSpec, value: TensorSpec, *_: Any) -> TensorSpec:
    """A result like the queries, with the channels of the values."""
    return query.interleaved.with_(shape=(*tuple(query.shape)[:3], tuple(value.shape)[3]))


SCALED_DOT_PRODUCT_ATTENTION = Composite(
    name="transformer.scaled_dot_product_attention",
    parameters=(QUERY, KEY, VALUE, MASK, CAUSAL, SCALE, WINDOW, SINK),
    summary=(
        "Values weighted by the softmax of products of queries and keys times `scale`, plus `attn_mask`; of positions "
        "up to their own if `is_causal`, and within a window."
    ),
    vendor_quirk=SINK_AS_IN_TTNN,
    decompose=_whole,
    canonicalize=_check,
    result=as_queries,
    golden=_whole_in_torch,
    rounds_intermediates=True,
    aten="scaled_dot_product_attention",
    examples=(
        (((2, 4, 5, 32), (2, 2, 7, 32), (2, 2, 7, 16), (2, 1, 5, 7), None), (False, 0.5, None)),
        (((1, 4, 9, 8), (1, 1, 9, 8), (1, 1, 9, 8), None, (1, 4, 1, 1)), (True, None, 3)),
    ),
)


# --- Of two sequences at once ---------------------------------------------------------------------------------------


def _joint(ops: Ops, *arguments: Any) -> list[Value]:
    *tensors, scale = arguments
    sequences = list(zip(tensors[:3], tensors[3:], strict=True))
    for own, other in sequences:
        if len(own.shape) != 4 or len(other.shape) != 4:
            raise ShapeError(f"tensors of shapes {list(own.shape)} and {list(other.shape)} are no joint sequence")
    query, key, value = (ops.call(CONCAT, list(pair), 2) for pair in sequences)
    attended = ops.call(SCALED_DOT_PRODUCT_ATTENTION, [query, key, value, None, None], False, scale, None)
    middle, end = tensors[0].shape[2], query.shape[2]
    return [ops.sliced(attended, 2, 0, middle), ops.sliced(attended, 2, middle, end)]


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
    summary="Attention among the positions of two sequences, one behind the other: that of each.",
    decompose=_joint,
    result_container=tuple,
    takes_dtypes=FLOATS,
    golden=_joint_in_torch,
)

OPERATIONS = (SCALED_DOT_PRODUCT_ATTENTION, JOINT_SCALED_DOT_PRODUCT_ATTENTION)
