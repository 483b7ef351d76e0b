"""Attention of one position of every user, or of a part of a sequence, to keys and values in caches."""

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
    Seen,
    as_bias,
    as_queries,
    attended,
    attended_in_torch,
    check_heads,
    check_mask,
    check_sharing,
    check_window,
    seen_in_torch,
)
from ttnn_jit.ops.attention.cache_routines import GATHER_PAGES, gathered_in_torch
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.language.parameter import EXTENTS, IGNORED, OPTIONAL_COUNT, OPTIONAL_TENSOR, TENSOR, Parameter
from ttnn_jit.ops.movement.sequences import arange
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, FLOATS, INDICES
from ttnn_jit.specs.tensor_spec import TensorSpec

Extents = Sequence[int]


def _gathered(cache: Extents, table: Extents) -> tuple[int, ...]:
    """The extents of what a table of pages names."""
    if len(table) != 2 or len(cache) != 4:
        raise ShapeError(
            f"a page table of shape {list(table)} names no pages of a cache of shape {list(cache)}",
            help="it is [users, pages of one], and the cache [pages, heads, positions of a page, channels]",
        )
    return table[0], cache[1], table[1] * cache[2], cache[3]


# --- Of one position of every user ----------------------------------------------------------------------------------


def _canonical_decode(
    query: Extents, key: Extents, value: Extents, mask: Any, positions: Extents | None, sink: Any, *statics: Any
) -> tuple[Any, ...]:
    causal, listed, scale, window = statics
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
    if positions is not None and listed:
        raise ShapeError("positions are given twice, in `cur_pos` and in `cur_pos_tensor`")
    given = tuple(positions) if positions is not None else (len(listed),)
    if (causal or window is not None or positions is not None or listed) and given != (users,):
        raise ShapeError(
            f"the positions of {users} users have shape {list(given)}",
            help="`cur_pos` or `cur_pos_tensor` has one for each user",
        )
    return causal, tuple(listed), scale, window


def _listed(ops: Ops, numbers: Sequence[int], like: Any) -> Any:
    """A tensor of these numbers."""
    indices = arange(ops, len(numbers), like)
    found = indices * 0.0
    for index, number in enumerate(numbers):
        found = ops.where(ops.eq(indices, float(index)), float(number), found)
    return found


def _sink_of_heads(ops: Ops, sink: Any, heads: int) -> Any:
    """A number for every head, [1, heads, 1, 1], of the first column of a row for each."""
    if len(sink.shape) == 2:
        sink = ops.slice(sink, (0, 0), (heads, 1))
    return ops.reshaped(sink, (1, heads, 1, 1))


def _decode(ops: Ops, query: Any, key: Any, value: Any, mask: Any, positions: Any, sink: Any, *statics: Any) -> Any:
    causal, listed, scale, window = statics
    _, users, heads, width = query.shape
    one = ops.reshape(query, (users, heads, 1, width))
    rows = None
    if positions is not None:
        rows = ops.reshape(ops.typecast(positions, COMPUTE_TYPE), (users, 1, 1, 1))
    elif listed:
        rows = ops.reshape(_listed(ops, listed, query), (users, 1, 1, 1))
    seen = Seen(rows, causal, window) if causal or window is not None else None
    if mask is not None:
        own = (*mask.shape[:2], min(mask.shape[2], heads), mask.shape[3])
        mask = mask if own == mask.shape else ops.slice(mask, (0, 0, 0, 0), own)
        mask = ops.reshape(mask, (own[0], own[2], 1, own[3]))
    sink = None if sink is None else _sink_of_heads(ops, sink, heads)
    found = attended(ops, one, key, value, scale=scale, seen=seen, mask=mask, sink=sink)
    if rows is not None:  # a user without a position attends to nothing
        found = ops.where(rows >= 0.0, found, 0.0)
    return ops.reshape(found, (1, users, heads, value.shape[3]))


def _decode_in_torch(
    torch: Any, query: Any, key: Any, value: Any, mask: Any, positions: Any, sink: Any, *statics: Any
) -> Any:
    causal, listed, scale, window = statics
    heads, rows = query.shape[2], torch.tensor(listed) if positions is None else positions.long()
    if causal or window is not None:
        seen = seen_in_torch(torch, rows, key.shape[2], causal=causal, window=window)
        bias = as_bias(torch, seen, query.dtype)[:, None, None]
    else:
        bias = torch.zeros(1, 1, 1, key.shape[2], dtype=query.dtype)
    if mask is not None:
        bias = bias + mask[:, :, :heads].transpose(1, 2)
    sink = None if sink is None else (sink[:heads, 0] if sink.dim() == 2 else sink).reshape(1, heads, 1, 1)
    found = attended_in_torch(torch, query[0][:, :, None], key, value, scale, bias, sink)
    if len(rows):
        found = torch.where((rows >= 0)[:, None, None, None], found, 0.0)
    return found[:, :, 0][None]


def _decode_result(query: TensorSpec, _key: TensorSpec, value: TensorSpec, *_: Any) -> TensorSpec:
    return as_queries(query, query, value)


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
        "The same of one position of every user, queries [1, users, heads, channels], which sees keys up to `cur_pos` "
        "or `cur_pos_tensor` if `is_causal`; zeros of users whose position is below 0."
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
    keys, values = (_gathered(each, table) for each in (key, value))
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
    summary="The same of caches in pages, of which `page_table_tensor` [users, pages of one] says which are a user's.",
    vendor_quirk=SINK_AS_IN_TTNN,
    decompose=_paged_decode,
    canonicalize=_canonical_pages,
    result=_decode_result,
    operand_dtypes=(FLOATS, FLOATS, FLOATS, INDICES, FLOATS, INDICES, FLOATS),
    core_for_each=True,
    golden=_paged_decode_in_torch,
    rounds_intermediates=True,
)


# --- Of a part of a sequence, keys and values in pages --------------------------------------------------------------


def _check_chunk(
    query: Extents, key: Extents, value: Extents, table: Extents, start: Extents | None, *statics: Any
) -> None:
    first, _ = statics
    keys, values = (_gathered(each, table) for each in (key, value))
    check_heads(query, keys, values, users=query[0] if query else 0)
    check_sharing(query[1], key[1])
    if (start is None) == (first is None):
        raise ShapeError("one of `chunk_start_idx` and `chunk_start_idx_tensor` says where the queries begin")
    if start is not None and math.prod(start) != 1:
        raise ShapeError(f"`chunk_start_idx_tensor` has shape {list(start)}", help="it is one number")
    if first is not None and not 0 <= first <= keys[2] - query[2]:
        raise ShapeError(f"positions {first} to {first + query[2]} are not all in {keys[2]} of the pages")


def _chunk(
    ops: Ops, query: Any, key: Any, value: Any, table: Any, start: Any, first: int | None, scale: float | None
) -> Any:
    keys, values = (ops.call(GATHER_PAGES, [each, table]) for each in (key, value))
    begin = float(first or 0) if start is None else ops.reshape(ops.typecast(start, COMPUTE_TYPE), (1, 1, 1, 1))
    positions = ops.reshape(arange(ops, query.shape[2], query), (1, 1, query.shape[2], 1))
    seen = Seen(positions + begin, True, None)
    return attended(ops, query, keys, values, scale=scale, seen=seen, mask=None, sink=None)


def _chunk_in_torch(
    torch: Any, query: Any, key: Any, value: Any, table: Any, start: Any, first: int | None, scale: float | None
) -> Any:
    keys, values = (gathered_in_torch(torch, each, table) for each in (key, value))
    rows = torch.arange(query.shape[2]) + (first if start is None else int(start))
    seen = seen_in_torch(torch, rows, keys.shape[2], causal=True, window=None)
    return attended_in_torch(torch, query, keys, values, scale, as_bias(torch, seen, query.dtype), None)


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
        "Attention of queries that begin at position `chunk_start_idx` of their sequences, or at that of a tensor, to "
        "keys up to their own position, in pages."
    ),
    decompose=_chunk,
    canonicalize=_check_chunk,
    result=as_queries,
    operand_dtypes=(FLOATS, FLOATS, FLOATS, INDICES, INDICES),
    golden=_chunk_in_torch,
    rounds_intermediates=True,
)


OPERATIONS = (
    SCALED_DOT_PRODUCT_ATTENTION_DECODE,
    PAGED_SCALED_DOT_PRODUCT_ATTENTION_DECODE,
    CHUNKED_SCALED_DOT_PRODUCT_ATTENTION,
)
