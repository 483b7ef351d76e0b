"""Attention to cached keys and values: of one position per user (decode), or of a chunk of a sequence (prefill)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.attention.attention import (
    CAUSAL,
    KEY,
    MASK,
    QUERY,
    SCALE,
    SINK,
    SINK_AS_IN_TTNN,
    VALUE,
    WINDOW,
    PositionalMask,
    additive_mask,
    attention,
    attention_in_torch,
    attention_result,
    check_heads,
    check_mask,
    check_sharing,
    check_window,
    visible_in_torch,
)
from ttnn_jit.ops.attention.cache_routines import GATHER_PAGES, gathered_in_torch
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.language.parameter import EXTENTS, IGNORED, OPTIONAL_COUNT, OPTIONAL_TENSOR, TENSOR, Parameter
from ttnn_jit.ops.movement.sequences import arange
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, FLOATS, INDICES
from ttnn_jit.specs.tensor_spec import TensorSpec

Extents = Sequence[int]


def _gathered_extents(cache: Extents, table: Extents) -> tuple[int, ...]:
    """The extents of the gathered pages, [users, heads, positions, channels]."""
    if len(table) != 2 or len(cache) != 4:
        raise ShapeError(
            f"a page table of shape {list(table)} names no pages of a cache of shape {list(cache)}",
            help="it is [users, pages per user], and the cache [pages, heads, positions of a page, channels]",
        )
    return table[0], cache[1], table[1] * cache[2], cache[3]


# --- Decode: one position per user ----------------------------------------------------------------------------------


def _canonical_decode(
    query: Extents, key: Extents, value: Extents, mask: Any, positions: Extents | None, sink: Any, *statics: Any
) -> tuple[Any, ...]:
    causal, static_positions, scale, window = statics
    if len(query) != 4 or query[0] != 1:
        raise ShapeError(
            f"queries of one position have shape {list(query)}", help="they are [1, users, heads, channels]"
        )
    users, heads = query[1:3]
    check_heads(query, key, value, users=users)
    check_sharing(heads, key[1])
    check_window(window)
    if mask is not None and len(mask) == 4 and mask[2] > heads:
        mask = (*mask[:2], heads, mask[3])
    check_mask(mask, (users, 1, heads, key[2]), causal=causal)
    if sink is not None and (
        len(sink) not in {2, 4} or (sink[0] < heads if len(sink) == 2 else math.prod(sink) != heads)
    ):
        raise ShapeError(f"`attention_sink` has shape {list(sink)}", help=f"it holds a row for each of {heads} heads")
    if positions is not None and static_positions:
        raise ShapeError("positions are given twice, in `cur_pos` and in `cur_pos_tensor`")
    given = tuple(positions) if positions is not None else (len(static_positions),)
    if (causal or window is not None or positions is not None or static_positions) and given != (users,):
        raise ShapeError(
            f"the positions of {users} users have shape {list(given)}",
            help="`cur_pos` or `cur_pos_tensor` has one for each user",
        )
    return causal, tuple(static_positions), scale, window


def _constant_vector(ops: Ops, numbers: Sequence[int], like: Any) -> Any:
    """A one-dimensional tensor of these numbers."""
    indices = arange(ops, len(numbers), like)
    found = indices * 0.0
    for index, number in enumerate(numbers):
        found = ops.where(ops.eq(indices, float(index)), float(number), found)
    return found


def _sink_of_heads(ops: Ops, sink: Any, heads: int) -> Any:
    """The sink as [1, heads, 1, 1]; of a sink with a row for each head, the first column."""
    if len(sink.shape) == 2:
        sink = ops.slice(sink, (0, 0), (heads, 1))
    return ops.reshaped(sink, (1, heads, 1, 1))


def _decode(ops: Ops, query: Any, key: Any, value: Any, mask: Any, positions: Any, sink: Any, *statics: Any) -> Any:
    causal, static_positions, scale, window = statics
    _, users, heads, width = query.shape
    queries = ops.reshape(query, (users, heads, 1, width))
    rows = None
    if positions is not None:
        rows = ops.reshape(ops.typecast(positions, COMPUTE_TYPE), (users, 1, 1, 1))
    elif static_positions:
        rows = ops.reshape(_constant_vector(ops, static_positions, query), (users, 1, 1, 1))
    positional = PositionalMask(rows, causal, window) if causal or window is not None else None
    if mask is not None:
        own = (*mask.shape[:2], min(mask.shape[2], heads), mask.shape[3])
        mask = mask if own == mask.shape else ops.slice(mask, (0, 0, 0, 0), own)
        mask = ops.reshape(mask, (own[0], own[2], 1, own[3]))
    sink = None if sink is None else _sink_of_heads(ops, sink, heads)
    found = attention(ops, queries, key, value, scale=scale, positional=positional, mask=mask, sink=sink)
    if rows is not None:  # a user without a position attends to nothing
        found = ops.where(rows >= 0.0, found, 0.0)
    return ops.reshape(found, (1, users, heads, value.shape[3]))


def _decode_in_torch(
    torch: Any, query: Any, key: Any, value: Any, mask: Any, positions: Any, sink: Any, *statics: Any
) -> Any:
    causal, static_positions, scale, window = statics
    heads, rows = query.shape[2], torch.tensor(static_positions) if positions is None else positions.long()
    if causal or window is not None:
        visible = visible_in_torch(torch, rows, key.shape[2], causal=causal, window=window)
        bias = additive_mask(torch, visible, query.dtype)[:, None, None]
    else:
        bias = torch.zeros(1, 1, 1, key.shape[2], dtype=query.dtype)
    if mask is not None:
        bias = bias + mask[:, :, :heads].transpose(1, 2)
    sink = None if sink is None else (sink[:heads, 0] if sink.dim() == 2 else sink).reshape(1, heads, 1, 1)
    found = attention_in_torch(torch, query[0][:, :, None], key, value, scale, bias, sink)
    if len(rows):
        found = torch.where((rows >= 0)[:, None, None, None], found, 0.0)
    return found[:, :, 0][None]


def _decode_result(query: TensorSpec, _key: TensorSpec, value: TensorSpec, *_: Any) -> TensorSpec:
    return attention_result(query, query, value)


_SHARES = Parameter("share_cache", IGNORED)
_POSITIONS = Parameter("cur_pos_tensor", OPTIONAL_TENSOR)

SCALED_DOT_PRODUCT_ATTENTION_DECODE = Composite(
    name="transformer.scaled_dot_product_attention_decode",
    parameters=(
        QUERY,
        KEY,
        VALUE,
        CAUSAL,
        MASK,
        Parameter("cur_pos", EXTENTS, (), tensor="cur_pos_tensor"),
        _POSITIONS,
        SINK,
        SCALE,
        WINDOW,
        _SHARES,
    ),
    summary=(
        "Attention of one position per user, queries [1, users, heads, channels], to keys up to `cur_pos` or "
        "`cur_pos_tensor` if `is_causal`; zeros for users whose position is below 0."
    ),
    vendor_quirk=SINK_AS_IN_TTNN,
    decompose=_decode,
    canonicalize=_canonical_decode,
    result=_decode_result,
    operand_dtypes=(FLOATS, FLOATS, FLOATS, FLOATS, INDICES, FLOATS),
    core_for_each=True,
    golden=_decode_in_torch,
    rounds_intermediates=True,
    examples=(
        (((1, 3, 4, 8), (3, 2, 9, 8), (3, 2, 9, 8), None, None, None), (True, (0, 8, 4), None, None)),
        (((1, 2, 4, 16), (2, 4, 33, 16), (2, 4, 33, 16), (2, 1, 4, 33), None, (4, 32)), (False, (), 0.5, None)),
    ),
)


def _canonical_pages(query: Extents, key: Extents, value: Extents, table: Extents, *others: Any) -> tuple[Any, ...]:
    mask, positions, sink, *statics = others
    causal, scale, window = statics
    keys, values = (_gathered_extents(each, table) for each in (key, value))
    _canonical_decode(query, keys, values, mask, positions, sink, causal, (), scale, window)
    return tuple(statics)


def _paged_decode(
    ops: Ops, query: Any, key: Any, value: Any, table: Any, mask: Any, positions: Any, sink: Any, *statics: Any
) -> Any:
    causal, scale, window = statics
    keys, values = (ops.call(GATHER_PAGES, [each, table]) for each in (key, value))
    return _decode(ops, query, keys, values, mask, positions, sink, causal, (), scale, window)


def _paged_decode_in_torch(
    torch: Any, query: Any, key: Any, value: Any, table: Any, mask: Any, positions: Any, sink: Any, *statics: Any
) -> Any:
    causal, scale, window = statics
    keys, values = (gathered_in_torch(torch, each, table) for each in (key, value))
    return _decode_in_torch(torch, query, keys, values, mask, positions, sink, causal, (), scale, window)


PAGED_SCALED_DOT_PRODUCT_ATTENTION_DECODE = Composite(
    name="transformer.paged_scaled_dot_product_attention_decode",
    parameters=(
        QUERY,
        KEY,
        VALUE,
        Parameter("page_table_tensor", TENSOR),
        CAUSAL,
        MASK,
        _POSITIONS,
        SINK,
        SCALE,
        WINDOW,
    ),
    summary="Attention of one position per user to paged caches, whose page table is [users, pages per user].",
    vendor_quirk=SINK_AS_IN_TTNN,
    decompose=_paged_decode,
    canonicalize=_canonical_pages,
    result=_decode_result,
    operand_dtypes=(FLOATS, FLOATS, FLOATS, INDICES, FLOATS, INDICES, FLOATS),
    core_for_each=True,
    golden=_paged_decode_in_torch,
    rounds_intermediates=True,
)


# --- Prefill: a chunk of a sequence, keys and values in pages -------------------------------------------------------


def _check_chunk(
    query: Extents, key: Extents, value: Extents, table: Extents, start: Extents | None, *statics: Any
) -> None:
    first, _ = statics
    keys, values = (_gathered_extents(each, table) for each in (key, value))
    check_heads(query, keys, values, users=query[0] if query else 0)
    check_sharing(query[1], key[1])
    if (start is None) == (first is None):
        raise ShapeError("exactly one of `chunk_start_idx` and `chunk_start_idx_tensor` is given")
    if start is not None and math.prod(start) != 1:
        raise ShapeError(f"`chunk_start_idx_tensor` has shape {list(start)}", help="it is one number")
    if first is not None and not 0 <= first <= keys[2] - query[2]:
        raise ShapeError(f"positions {first} to {first + query[2]} exceed the {keys[2]} positions of the pages")


def _chunk(
    ops: Ops, query: Any, key: Any, value: Any, table: Any, start: Any, first: int | None, scale: float | None
) -> Any:
    keys, values = (ops.call(GATHER_PAGES, [each, table]) for each in (key, value))
    begin = float(first or 0) if start is None else ops.reshape(ops.typecast(start, COMPUTE_TYPE), (1, 1, 1, 1))
    positions = ops.reshape(arange(ops, query.shape[2], query), (1, 1, query.shape[2], 1))
    positional = PositionalMask(positions + begin, True, None)
    return attention(ops, query, keys, values, scale=scale, positional=positional, mask=None, sink=None)


def _chunk_in_torch(
    torch: Any, query: Any, key: Any, value: Any, table: Any, start: Any, first: int | None, scale: float | None
) -> Any:
    keys, values = (gathered_in_torch(torch, each, table) for each in (key, value))
    rows = torch.arange(query.shape[2]) + (first if start is None else int(start))
    visible = visible_in_torch(torch, rows, keys.shape[2], causal=True, window=None)
    return attention_in_torch(torch, query, keys, values, scale, additive_mask(torch, visible, query.dtype), None)


CHUNKED_SCALED_DOT_PRODUCT_ATTENTION = Composite(
    name="transformer.chunked_scaled_dot_product_attention",
    parameters=(
        QUERY,
        KEY,
        VALUE,
        Parameter("page_table_tensor", TENSOR),
        Parameter("chunk_start_idx", OPTIONAL_COUNT),
        Parameter("chunk_start_idx_tensor", OPTIONAL_TENSOR),
        SCALE,
    ),
    summary=(
        "Causal attention of a chunk of queries to paged caches; the chunk begins at position `chunk_start_idx` or at "
        "the position in `chunk_start_idx_tensor`."
    ),
    decompose=_chunk,
    canonicalize=_check_chunk,
    result=attention_result,
    operand_dtypes=(FLOATS, FLOATS, FLOATS, INDICES, INDICES),
    golden=_chunk_in_torch,
    rounds_intermediates=True,
)


OPERATIONS = (
    SCALED_DOT_PRODUCT_ATTENTION_DECODE,
    PAGED_SCALED_DOT_PRODUCT_ATTENTION_DECODE,
    CHUNKED_SCALED_DOT_PRODUCT_ATTENTION,
)
