"""The operations that update caches of keys and values, decomposed to the routines of cache_routines.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.attention.cache_routines import (
    CACHE,
    FILL_PAGES,
    INPUT,
    PLACE_ROWS,
    UPDATE_PAGES,
    UPDATE_ROWS,
    check_ranks,
    check_table,
    check_users,
    filled_pages_in_torch,
    refusal,
    updated_pages_in_torch,
    updated_rows_in_torch,
)
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.language.parameter import (
    DIMENSION,
    EXTENTS,
    IGNORED,
    OPTIONAL_COUNT,
    OPTIONAL_TENSOR,
    TENSOR,
    Parameter,
)
from ttnn_jit.ops.movement.data_movement import PERMUTE, REPEAT
from ttnn_jit.ops.movement.part_writes import SLICE_WRITE
from ttnn_jit.ops.selection.routines import EMBEDDING

Extents = tuple[int, ...]


def _with_rows(ops: Ops, cache: Value, x: Value, *begins: int) -> Value:
    """The cache with `x` written from `begins` on; block floats are written by whole rows, which hold whole groups."""
    if cache.spec.dtype.is_block_float and not x.spec.dtype.is_integer:
        return ops.call(PLACE_ROWS, [cache, x], (begins[0], begins[2]))
    ends = tuple(begin + extent for begin, extent in zip(begins, x.shape, strict=True))
    return ops.call(SLICE_WRITE, [cache, ops.rounded(x, cache.spec.dtype)], begins, ends, ())


# --- Positions that are constants -----------------------------------------------------------------------------------


def _filled(ops: Ops, cache: Value, x: Value, user: int) -> Value:
    wanted = "[1, heads, positions, channels], with no more positions than the cache"
    check_ranks(cache.shape, x.shape, wanted)
    if x.shape[:2] != (1, cache.shape[1]) or x.shape[2] > cache.shape[2]:
        raise refusal(cache.shape, x.shape, wanted)
    if not 0 <= user < cache.shape[0]:
        raise ShapeError(f"there is no user {user} in a cache of {cache.shape[0]}")
    return _with_rows(ops, cache, x, user, 0, 0, 0)


def _filled_in_torch(_: Any, cache: Any, x: Any, user: int) -> Any:
    filled = cache.clone()
    filled[user, :, : x.shape[2]] = x[0]
    return filled


FILL_CACHE = MacroOperation(
    name="fill_cache",
    parameters=(CACHE, INPUT, Parameter("batch_idx", DIMENSION, aliases=("batch_index",))),
    summary="Writes `input` [1, heads, positions, channels] to the first positions of one user of a cache, in place.",
    decompose=_filled,
    in_place_synonyms=("fill_cache", "kv_cache.fill_cache_for_user_"),
    golden=_filled_in_torch,
    examples=((((3, 2, 8, 5), (1, 2, 7, 5)), (1,)), (((1, 1, 64, 32), (1, 1, 33, 32)), (0,))),
)


def _check_position(cache: Extents, position: int) -> None:
    if not 0 <= position < cache[2]:
        raise ShapeError(f"there is no position {position} in a cache of {cache[2]}")


def _updated(ops: Ops, cache: Value, x: Value, index: Value | None, position: int | None, offset: int) -> Value:
    wanted = "[1, heads, users, channels], with a row for each user of the cache from `batch_offset` on"
    check_ranks(cache.shape, x.shape, wanted)
    users = cache.shape[0]
    if x.shape[:2] != (1, cache.shape[1]) or not 0 <= offset <= x.shape[2] - users:
        raise refusal(cache.shape, x.shape, wanted)
    rows = ops.part(x, 2, offset, offset + users)
    if position is not None and index is None:
        _check_position(cache.shape, position)
        return _with_rows(ops, cache, ops.call(PERMUTE, [rows], (2, 1, 0, 3)), 0, 0, position, 0)
    if position is not None or index is None:
        raise ShapeError("exactly one of `update_idx` and `update_idx_tensor` is given")
    if index.shape != (1,):
        raise ShapeError(f"the position of all users has shape {list(index.shape)}", help="it is one number, [1]")
    of_users = index if users == 1 else ops.call(REPEAT, [index], (users,))
    return ops.call(UPDATE_ROWS, [cache, ops.call(PERMUTE, [rows], (0, 2, 1, 3)), of_users])


def _updated_in_torch(_: Any, cache: Any, x: Any, index: Any, position: int | None, offset: int) -> Any:
    updated = cache.clone()
    updated[:, :, int(index) if position is None else position] = x[0, :, offset : offset + cache.shape[0]].transpose(
        0, 1
    )
    return updated


UPDATE_CACHE = MacroOperation(
    name="update_cache",
    parameters=(
        CACHE,
        INPUT,
        Parameter("update_idx", OPTIONAL_COUNT, aliases=("update_index",), tensor="update_idx_tensor"),
        Parameter("batch_offset", DIMENSION, 0),
        Parameter("update_idx_tensor", OPTIONAL_TENSOR),
    ),
    summary=(
        "Writes a row of `input` [1, heads, users, channels] for each user to one position of a cache, `update_idx` "
        "or the number in `update_idx_tensor`, in place."
    ),
    decompose=_updated,
    in_place_synonyms=("update_cache", "kv_cache.update_cache_for_token_"),
    golden=_updated_in_torch,
    examples=((((3, 2, 8, 5), (1, 2, 32, 5), None), (7, 4)), (((2, 1, 64, 32), (1, 1, 2, 32), None), (0, 0))),
)


# --- Positions that are tensors -------------------------------------------------------------------------------------


def _updated_by_index(
    ops: Ops, cache: Value, x: Value, index: Value | None, table: Value | None, positions: Sequence[int]
) -> Value:
    if index is not None and positions:
        raise ShapeError("positions are given twice, in `update_idxs` and in `update_idxs_tensor`")
    if index is not None:
        return (
            ops.call(UPDATE_ROWS, [cache, x, index])
            if table is None
            else ops.call(UPDATE_PAGES, [cache, x, index, table])
        )
    if table is not None:
        raise ShapeError("a paged cache is updated at the positions in `update_idxs_tensor`, which is not given")
    check_users(cache.shape, x.shape, (len(positions),), pages=False)
    for user, position in enumerate(positions):
        _check_position(cache.shape, position)
        row = ops.call(PERMUTE, [ops.part(ops.part(x, 1, user, user + 1), 2, 0, cache.shape[1])], (0, 2, 1, 3))
        cache = _with_rows(ops, cache, row, user if cache.shape[0] > 1 else 0, 0, position, 0)
    return cache


def _by_index_in_torch(torch: Any, cache: Any, x: Any, index: Any, table: Any, positions: Sequence[int]) -> Any:
    index = torch.tensor(positions) if index is None else index
    return (
        updated_rows_in_torch(torch, cache, x, index)
        if table is None
        else updated_pages_in_torch(torch, cache, x, index, table)
    )


PAGED_UPDATE_CACHE = MacroOperation(
    name="experimental.paged_update_cache",
    ttnn_name="update_cache_by_index",
    parameters=(
        CACHE,
        INPUT,
        Parameter("update_idxs_tensor", OPTIONAL_TENSOR),
        Parameter("page_table", OPTIONAL_TENSOR),
        Parameter("update_idxs", EXTENTS, (), tensor="update_idxs_tensor"),
        Parameter("share_cache", IGNORED),
        Parameter("mesh_coords", IGNORED),
    ),
    summary=(
        "Writes a row of `input` [1, users, heads, channels] for each user to the user's position of a cache, in "
        "place; positions out of range are skipped."
    ),
    decompose=_updated_by_index,
    in_place_synonyms=("experimental.paged_update_cache",),
    golden=_by_index_in_torch,
    examples=(
        (((3, 2, 8, 5), (1, 3, 4, 5), None, None), ((0, 7, 3),)),
        (((1, 1, 64, 32), (1, 2, 1, 32), None, None), ((1, 0),)),
    ),
)


def _filled_pages(ops: Ops, cache: Value, x: Value, table: Value, users: Value | None, user: int) -> Value:
    if len(table.shape) != 2:
        check_table(table.shape, 1)
    if users is not None:
        return ops.call(FILL_PAGES, [cache, x, ops.call(EMBEDDING, [users, table], table.spec.layout)])
    if not 0 <= user < table.shape[0]:
        raise ShapeError(f"there is no user {user} in a page table of {table.shape[0]}")
    return ops.call(FILL_PAGES, [cache, x, ops.part(table, 0, user, user + 1)])


def _filled_pages_in_torch(torch: Any, cache: Any, x: Any, table: Any, users: Any, user: int) -> Any:
    return filled_pages_in_torch(torch, cache, x, table[[user]] if users is None else table[users.long()])


PAGED_FILL_CACHE = MacroOperation(
    name="experimental.paged_fill_cache",
    ttnn_name="fill_cache_by_table",
    parameters=(
        CACHE,
        INPUT,
        Parameter("page_table", TENSOR),
        Parameter("batch_idx_tensor", OPTIONAL_TENSOR),
        Parameter("batch_idx", DIMENSION, 0),
        Parameter("mesh_coords", IGNORED),
    ),
    summary="Writes all positions of one user, or of the users in `batch_idx_tensor`, to a paged cache, in place.",
    decompose=_filled_pages,
    in_place_synonyms=("experimental.paged_fill_cache",),
    golden=_filled_pages_in_torch,
)


OPERATIONS = (FILL_CACHE, UPDATE_CACHE, PAGED_UPDATE_CACHE, PAGED_FILL_CACHE)
