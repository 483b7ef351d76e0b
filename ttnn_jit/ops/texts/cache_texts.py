"""Key-value caches and attention of texts."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.attention.cached_attention import PAGED_SCALED_DOT_PRODUCT_ATTENTION_DECODE as PAGED
from ttnn_jit.ops.attention.cached_attention import SCALED_DOT_PRODUCT_ATTENTION_DECODE as DECODE
from ttnn_jit.ops.attention.kv_caches import PAGED_FILL_CACHE as PAGED_FILL_BY_TABLE
from ttnn_jit.ops.attention.kv_caches import PAGED_UPDATE_CACHE as PAGED_UPDATE_BY_INDEX
from ttnn_jit.ops.attention.rotary import ROTARY_EMBEDDING
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, OpenResult, TextCall, text
from ttnn_jit.ops.movement.heads import NLP_CREATE_QKV_HEADS_DECODE as CREATE_HEADS
from ttnn_jit.ops.movement.sequences import arange
from ttnn_jit.specs.tensor_spec import DataType

_I32 = DataType.INT32


def _update_cache(ops: Ops, call: TextCall) -> Value:
    """Row `update_index` of every head is written: of several users, from `batch_offset` on, with a row of each."""
    rows = call.cache.shape[2]
    positions = _positions(ops, call, rows)
    begin = ops.reshaped(ops.typecast(ops.sliced(_flat(ops, call.update_index), 0, 0, 1), _I32), (1, 1, 1, 1))
    offset = positions - begin
    users, first = _updated_users(call), call.batch_offset
    if users is not None:
        others, (_, *outer) = ops.sliced(call.cache, 0, first, first + users), call.cache.shape
        written: Value = ops.where(ops.eq(offset, 0), ops.permute(call.input, (2, 1, 0, 3)), others)
        if users == call.cache.shape[0]:
            return written
        return ops.slice_write(call.cache, written, (first, 0, 0, 0), (first + users, *outer), ())
    found: Value = call.cache
    for row in range(call.input.shape[2]):
        at = ops.eq(offset, row)
        found = ops.where(at, ops.sliced(call.input, 2, row, row + 1), found)
    return found


def _updated_users(call: TextCall) -> int | None:
    """Of how many users the input [1, heads, users, channels] has a row; None if it has rows or batches of one."""
    batch, _, users, _ = call.input.shape
    is_of_users = batch == 1 < call.cache.shape[0] and call.batch_offset + users <= call.cache.shape[0]
    return int(users) if is_of_users else None


def _update_limit(call: TextCall) -> int:
    rows = 1 if _updated_users(call) is not None else call.input.shape[2]
    return int(call.cache.shape[2] - rows + 1)


def _flat(ops: Ops, x: Value) -> Value:
    return ops.reshaped(x, (math.prod(x.shape),))


def _positions(ops: Ops, call: TextCall, rows: int) -> Value:
    return ops.reshaped(arange(ops, rows, call.cache, 0, 1, _I32), (1, 1, rows, 1))


def _update_cache_in_torch(_: Any, call: TextCall) -> Any:
    found = call.cache.clone()
    begin = int(call.update_index.reshape(-1)[0])
    users, first = _updated_users(call), call.batch_offset
    if users is not None:
        found[first : first + users, :, begin] = call.input[0].transpose(0, 1)
        return found
    found[:, :, begin : begin + call.input.shape[2]] = call.input
    return found


UPDATE = text(
    "ttir.update_cache ttnn.update_cache",
    "cache input update_index",
    _update_cache,
    _update_cache_in_torch,
    batch_offset=0,
    updates="cache",
    index_limits={"update_index": _update_limit},
)


def _fill_cache(ops: Ops, call: TextCall) -> Value:
    begins = (call.batch_offset, 0, 0, 0)
    ends = (call.batch_offset + call.input.shape[0], *call.input.shape[1:])
    return ops.slice_write(call.cache, call.input, begins, ends, ())


def _fill_cache_in_torch(_: Any, call: TextCall) -> Any:
    found = call.cache.clone()
    batch, heads, rows, width = call.input.shape
    found[call.batch_offset : call.batch_offset + batch, :heads, :rows, :width] = call.input
    return found


FILL = text(
    "ttir.fill_cache ttnn.fill_cache",
    "cache input",
    _fill_cache,
    _fill_cache_in_torch,
    batch_offset=REQUIRED,
    updates="cache",
)


def _heads_of_decode(call: TextCall) -> tuple[int, ...]:
    users, batch, _, width = call.input.shape
    return users, 1, batch, call.num_heads * width


def _missing_users(call: TextCall) -> int:
    """How many rows of zeros the result has after those of the users."""
    return int(call.result.shape[2] - call.input.shape[1])


def _concat_heads_decode(ops: Ops, call: TextCall) -> Value:
    heads = ops.reshaped(ops.part(call.input, 2, 0, call.num_heads), _heads_of_decode(call))
    return ops.pad(heads, [(0, 0), (0, 0), (0, _missing_users(call)), (0, 0)], 0.0) if _missing_users(call) else heads


CONCAT_HEADS_DECODE = text(
    "ttnn.nlp_concat_heads_decode",
    "input",
    _concat_heads_decode,
    lambda torch, call: torch.nn.functional.pad(
        call.input[:, :, : call.num_heads].reshape(_heads_of_decode(call)), (0, 0, 0, _missing_users(call))
    ),
    num_heads=REQUIRED,
)


def _angles(call: TextCall) -> tuple[int, ...]:
    """The shape of the angles: where there are those of one position, all have them."""
    *outer, positions, width = call.cos_cache.shape
    count = call.input.shape[2] if positions == 1 and call.token_index is None else positions
    return (*outer, count, width)


def _rotary(ops: Ops, call: TextCall) -> Value:
    cos, sin = (ops.expand(each, _angles(call)) for each in (call.cos_cache, call.sin_cache))
    found: Value = ops.call(ROTARY_EMBEDDING, [call.input, cos, sin], call.token_index)
    missing = _missing_positions(call)
    return ops.pad(found, [(0, 0), (0, 0), (0, missing), (0, 0)], 0.0) if missing else found


def _missing_positions(call: TextCall) -> int:
    """Positions of the result beyond those of the operand: tt-metal fills a tile, with any numbers; here they are 0."""
    return 0 if isinstance(call.result, OpenResult) else max(0, call.result.shape[2] - call.input.shape[2])


def _rotary_in_torch(torch: Any, call: TextCall) -> Any:
    cos, sin = (each.expand(_angles(call)) for each in (call.cos_cache, call.sin_cache))
    found = ROTARY_EMBEDDING.golden(torch, call.input, cos, sin, call.token_index)
    return torch.nn.functional.pad(found, (0, 0, 0, _missing_positions(call)))


ROTARY = text(
    "ttir.rotary_embedding ttnn.rotary_embedding",
    "input cos_cache sin_cache",
    _rotary,
    _rotary_in_torch,
    token_index=None,
)


def _ends_at_the_last_key(call: TextCall) -> bool:
    """Whether queries stand at the last key: no position is given, or none is read beside a window."""
    if call.is_causal:
        return bool(call.cur_pos_tensor is None)
    return call.sliding_window_size is not None and call.attention_mask is None


def _decode(ops: Ops, call: TextCall) -> Value:
    causal, positions, static = call.is_causal, call.cur_pos_tensor, ()
    if _ends_at_the_last_key(call):
        causal, positions, static = True, None, (call.key.shape[2] - 1,) * call.query.shape[1]
    operands = [call.query, call.key, call.value, call.attention_mask, positions, call.attention_sink]
    found: Value = ops.call(DECODE, operands, causal, static, call.scale, call.sliding_window_size)
    return found


def _decode_in_torch(torch: Any, call: TextCall) -> Any:
    given = (call.key, call.value, call.attention_mask, call.cur_pos_tensor, call.attention_sink)
    if not _ends_at_the_last_key(call):
        return DECODE.golden(torch, call.query, *given, call.is_causal, (), call.scale, call.sliding_window_size)
    first = max(0, call.key.shape[2] - (call.sliding_window_size or call.key.shape[2]))
    last = (call.key[:, :, first:], call.value[:, :, first:], call.attention_mask, None, call.attention_sink)
    return DECODE.golden(torch, call.query, *last, False, (), call.scale, None)


DECODE_OF_TTNN = text(
    "ttnn.scaled_dot_product_attention_decode",
    "query key value attention_mask? cur_pos_tensor? attention_sink?",
    _decode,
    _decode_in_torch,
    is_causal=True,
    scale=None,
    sliding_window_size=None,
    rounds_intermediates=True,
    index_limits={"cur_pos_tensor": lambda call: call.key.shape[2]},
)


def _paged_decode(ops: Ops, call: TextCall) -> Value:
    found: Value = ops.call(
        PAGED,
        [
            call.query,
            call.key,
            call.value,
            call.page_table,
            call.attention_mask,
            call.cur_pos_tensor,
            call.attention_sink,
        ],
        call.is_causal,
        call.scale,
        call.sliding_window_size,
    )
    return found


def _paged_decode_in_torch(torch: Any, call: TextCall) -> Any:
    given = (call.query, call.key, call.value, call.page_table, call.attention_mask, call.cur_pos_tensor)
    return PAGED.golden(torch, *given, call.attention_sink, call.is_causal, call.scale, call.sliding_window_size)


_INDICES_OF_PAGES = {
    "page_table": lambda call: call.key.shape[0],
    "cur_pos_tensor": lambda call: call.page_table.shape[-1] * call.key.shape[2],
}
PAGED_DECODES = tuple(
    text(
        name,
        operands,
        _paged_decode,
        _paged_decode_in_torch,
        is_causal=True,
        scale=None,
        sliding_window_size=None,
        rounds_intermediates=True,
        index_limits=_INDICES_OF_PAGES,
    )
    for name, operands in (
        (
            "ttir.paged_scaled_dot_product_attention_decode",
            "query key value page_table output attention_mask? cur_pos_tensor? attention_sink?",
        ),
        (
            "ttnn.paged_scaled_dot_product_attention_decode",
            "query key value page_table attention_mask? cur_pos_tensor? attention_sink?",
        ),
    )
)


def _paged_latent_value(call: TextCall, part: Any) -> Any:
    """The values of latent attention: a tensor of their own, or the first channels of the keys."""
    return part(call.key, 3, 0, call.head_dim_v) if call.value is None else call.value


def _paged_latent_decode(ops: Ops, call: TextCall) -> Value:
    value = _paged_latent_value(call, ops.part)
    operands = [call.query, call.key, value, call.page_table]
    operands += [call.attention_mask, call.cur_pos_tensor, call.attention_sink]
    return ops.call(PAGED, operands, call.is_causal, call.scale, None)


def _paged_latent_decode_in_torch(torch: Any, call: TextCall) -> Any:
    value = _paged_latent_value(call, lambda x, *_: x[..., : call.head_dim_v])
    given = (call.query, call.key, value, call.page_table, call.attention_mask, call.cur_pos_tensor)
    return PAGED.golden(torch, *given, call.attention_sink, call.is_causal, call.scale, None)


PAGED_LATENT_DECODE = text(
    "ttir.paged_flash_multi_latent_attention_decode ttnn.paged_flash_multi_latent_attention_decode",
    "query key value? page_table attention_mask? cur_pos_tensor? attention_sink?",
    _paged_latent_decode,
    _paged_latent_decode_in_torch,
    head_dim_v=REQUIRED,
    is_causal=True,
    scale=None,
    rounds_intermediates=True,
    index_limits=_INDICES_OF_PAGES,
)


def _create_heads_decode(ops: Ops, call: TextCall) -> list[Value]:
    """The heads of all users, or of as many as the result has, from `batch_offset` on."""
    x = call.input
    if call.batch_offset is not None:
        users, width = _sliced_users(call), x.shape[3]
        begin = ops.reshaped(ops.typecast(call.batch_offset, _I32), (1, 1, 1, 1))
        index = ops.reshaped(arange(ops, users, x, 0, 1, _I32), (1, 1, users, 1)) + begin
        x = ops.gather(x, 2, ops.expand(index, (1, 1, users, width)))
    return ops.results(CREATE_HEADS, [x], call.num_heads, call.num_kv_heads)


def _sliced_users(call: TextCall) -> int:
    return int(tuple(call.result.shape)[1])


def _create_heads_decode_in_torch(torch: Any, call: TextCall) -> Any:
    x = call.input
    if call.batch_offset is not None:
        x = x.narrow(2, int(call.batch_offset), _sliced_users(call))
    return CREATE_HEADS.golden(torch, x, call.num_heads, call.num_kv_heads)


CREATE_HEADS_DECODE = text(
    "ttnn.nlp_create_qkv_heads_decode",
    "input batch_offset?",
    _create_heads_decode,
    _create_heads_decode_in_torch,
    num_heads=REQUIRED,
    num_kv_heads=None,
    index_limits={"batch_offset": lambda call: call.input.shape[2] - _sliced_users(call) + 1},
)


def _paged_update(ops: Ops, call: TextCall) -> Value:
    return ops.call(PAGED_UPDATE_BY_INDEX, [call.cache, call.input, call.update_index, call.page_table], ())


def _positions_of_cache(call: TextCall) -> int:
    rows = int(call.cache.shape[2])
    return rows if call.page_table is None else rows * int(call.page_table.shape[-1])


def _paged_fill(ops: Ops, call: TextCall) -> Value:
    return ops.call(PAGED_FILL_BY_TABLE, [call.cache, call.input, call.page_table, call.batch_idx_tensor], 0)


PAGED_FILL_CACHE = text(
    "ttir.paged_fill_cache ttnn.paged_fill_cache",
    "cache input page_table batch_idx_tensor?",
    _paged_fill,
    lambda torch, call: PAGED_FILL_BY_TABLE.golden(
        torch, call.cache, call.input, call.page_table, call.batch_idx_tensor, 0
    ),
    updates="cache",
    index_limits={
        "page_table": lambda call: call.cache.shape[0],
        "batch_idx_tensor": lambda call: call.page_table.shape[0],
    },
)


PAGED_UPDATE_CACHE = text(
    "ttir.paged_update_cache ttnn.paged_update_cache",
    "cache input update_index page_table?",
    _paged_update,
    lambda torch, call: PAGED_UPDATE_BY_INDEX.golden(
        torch, call.cache, call.input, call.update_index, call.page_table, ()
    ),
    share_cache=False,
    updates="cache",
    index_limits={
        "update_index": _positions_of_cache,
        "page_table": lambda call: call.cache.shape[0],
    },
)

TEXTS = (
    UPDATE,
    FILL,
    CREATE_HEADS_DECODE,
    PAGED_UPDATE_CACHE,
    PAGED_FILL_CACHE,
    CONCAT_HEADS_DECODE,
    ROTARY,
    *PAGED_DECODES,
    PAGED_LATENT_DECODE,
    DECODE_OF_TTNN,
)
