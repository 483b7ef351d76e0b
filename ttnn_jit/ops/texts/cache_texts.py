"""Key-value caches and attention of texts."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, text
from ttnn_jit.ops.movement.sequences import arange
from ttnn_jit.specs.tensor_spec import DataType

_I32 = DataType.INT32


def _update_cache(ops: Ops, call: TextCall) -> Value:
    """Row `update_index` of every batch and head is written."""
    rows = call.cache.shape[2]
    count = call.input.shape[2]
    positions = _positions(ops, call, rows)
    begin = ops.reshaped(ops.typecast(ops.sliced(_flat(ops, call.update_index), 0, 0, 1), _I32), (1, 1, 1, 1))
    offset = positions - begin
    found: Value = call.cache
    for row in range(count):
        at = ops.eq(offset, row)
        found = ops.where(at, ops.sliced(call.input, 2, row, row + 1), found)
    return found


def _flat(ops: Ops, x: Value) -> Value:
    return ops.reshaped(x, (math.prod(x.shape),))


def _positions(ops: Ops, call: TextCall, rows: int) -> Value:
    return ops.reshaped(arange(ops, rows, call.cache, 0, 1, _I32), (1, 1, rows, 1))


def _update_cache_in_torch(_: Any, call: TextCall) -> Any:
    found = call.cache.clone()
    begin = int(call.update_index.reshape(-1)[0])
    found[:, :, begin : begin + call.input.shape[2]] = call.input
    return found


UPDATE = text(
    "ttir.update_cache ttnn.update_cache",
    "cache input update_index",
    _update_cache,
    _update_cache_in_torch,
    batch_offset=0,
    index_limits={"update_index": lambda call: call.cache.shape[2] - call.input.shape[2] + 1},
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


FILL = text("ttir.fill_cache ttnn.fill_cache", "cache input", _fill_cache, _fill_cache_in_torch, batch_offset=REQUIRED)

TEXTS = (UPDATE, FILL)
