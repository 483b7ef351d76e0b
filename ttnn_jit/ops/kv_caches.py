"""Writes into caches of keys and values, and into other tensors: which position of which user is written where.

A cache is [users, heads, positions, channels], or in pages [pages, heads, positions of a page, channels]: then a table
[users, pages of one] says which page holds which positions of a user.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.data_movement import PERMUTE, SLICE
from ttnn_jit.ops.movement import OPERAND
from ttnn_jit.ops.parameter import DIMENSION, EXTENTS, IGNORED, OPTIONAL_TENSOR, TENSOR, Parameter
from ttnn_jit.ops.part_writes import SLICE_WRITE
from ttnn_jit.ops.reduction import interleaved
from ttnn_jit.ops.routine import Routine, RoutineLoops
from ttnn_jit.ops.routines import EMBEDDING
from ttnn_jit.ops.shorthand import Call, Shorthand, Value
from ttnn_jit.ops.typecast import OPERATIONS as CASTS
from ttnn_jit.specs.access import Access, Const, Dim
from ttnn_jit.specs.dtypes import FLOATS, INTEGERS

Extents = tuple[int, ...]

_CACHE = Parameter("cache", TENSOR, aliases=("cache_tensor",))
_INPUT = Parameter("input", TENSOR, aliases=("input_tensor",))
(TYPECAST,) = CASTS


def _refuse(cache: Extents, x: Extents, wanted: str) -> ShapeError:
    return ShapeError(
        f"a tensor of shape {list(x)} is no part of a cache of shape {list(cache)}", help=f"the tensor is {wanted}"
    )


def _check_ranks(cache: Extents, x: Extents, wanted: str) -> None:
    if len(cache) != 4 or len(x) != 4 or cache[3] != x[3]:
        raise _refuse(cache, x, wanted)


def _in_dtype_of(call: Call, cache: Value, x: Value) -> Value:
    dtype = cache.spec.dtype
    return x if x.spec.dtype is dtype else call(TYPECAST, [x], dtype)


def _placed(call: Call, cache: Value, x: Value, *begins: int) -> Value:
    """The cache with `x` from these places on."""
    ends = tuple(begin + extent for begin, extent in zip(begins, x.shape, strict=True))
    return call(SLICE_WRITE, [cache, _in_dtype_of(call, cache, x)], begins, ends, ())


def _part(call: Call, x: Value, axis: int, begin: int, count: int) -> Value:
    begins, ends = [0] * len(x.shape), list(x.shape)
    begins[axis], ends[axis] = begin, begin + count
    return x if (begin, count) == (0, x.shape[axis]) else call(SLICE, [x], tuple(begins), tuple(ends), ())


# --- By numbers -----------------------------------------------------------------------------------------------------


def _filled(call: Call, cache: Value, x: Value, user: int) -> Value:
    wanted = "[1, heads, positions, channels], with no more positions than the cache"
    _check_ranks(cache.shape, x.shape, wanted)
    if x.shape[:2] != (1, cache.shape[1]) or x.shape[2] > cache.shape[2]:
        raise _refuse(cache.shape, x.shape, wanted)
    if not 0 <= user < cache.shape[0]:
        raise ShapeError(f"there is no user {user} in a cache of {cache.shape[0]}")
    return _placed(call, cache, x, user, 0, 0, 0)


def _filled_in_torch(_: Any, cache: Any, x: Any, user: int) -> Any:
    filled = cache.clone()
    filled[user, :, : x.shape[2]] = x[0]
    return filled


FILL_CACHE = Shorthand(
    name="fill_cache",
    parameters=(_CACHE, _INPUT, Parameter("batch_idx", DIMENSION, aliases=("batch_index",))),
    summary="A cache with the first positions of one user from `input` [1, heads, positions, channels]; it is written.",
    source="ttnn.fill_cache",
    calls=_filled,
    written_as=("fill_cache", "kv_cache.fill_cache_for_user_"),
    golden=_filled_in_torch,
    examples=((((3, 2, 8, 5), (1, 2, 7, 5)), (1,)), (((1, 1, 64, 32), (1, 1, 33, 32)), (0,))),
)


def _check_position(cache: Extents, position: int) -> None:
    if not 0 <= position < cache[2]:
        raise ShapeError(f"there is no position {position} in a cache of {cache[2]}")


def _updated(call: Call, cache: Value, x: Value, position: int, offset: int) -> Value:
    wanted = "[1, heads, users, channels], with a row for each user of the cache from `batch_offset` on"
    _check_ranks(cache.shape, x.shape, wanted)
    users = cache.shape[0]
    if x.shape[:2] != (1, cache.shape[1]) or not 0 <= offset <= x.shape[2] - users:
        raise _refuse(cache.shape, x.shape, wanted)
    _check_position(cache.shape, position)
    rows = call(PERMUTE, [_part(call, x, 2, offset, users)], (2, 1, 0, 3))
    return _placed(call, cache, rows, 0, 0, position, 0)


def _updated_in_torch(_: Any, cache: Any, x: Any, position: int, offset: int) -> Any:
    updated = cache.clone()
    updated[:, :, position] = x[0, :, offset : offset + cache.shape[0]].transpose(0, 1)
    return updated


UPDATE_CACHE = Shorthand(
    name="update_cache",
    parameters=(
        _CACHE,
        _INPUT,
        Parameter("update_idx", DIMENSION, aliases=("update_index",)),
        Parameter("batch_offset", DIMENSION, 0),
    ),
    summary="A cache with one position of all users from rows of `input` [1, heads, users, channels]; it is written.",
    source="ttnn.update_cache",
    calls=_updated,
    written_as=("update_cache", "kv_cache.update_cache_for_token_"),
    golden=_updated_in_torch,
    examples=((((3, 2, 8, 5), (1, 2, 32, 5)), (7, 4)), (((2, 1, 64, 32), (1, 1, 2, 32)), (0, 0))),
)


# --- By tensors of numbers ------------------------------------------------------------------------------------------


def _rows_loop(load: Any, store: Any) -> Any:
    """A row of channels of every user at the position that its index names; one that the cache lacks is left out."""

    def loop(x, xu, xc, index, iu, cache, cn, cp, cc, users, parts, positions, width):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for user in range(users):
            position, part = int(index[user * iu]), user if parts > 1 else 0
            if 0 <= position < positions:
                for i in range(width):
                    cache[part * cn + position * cp + i * cc] = store(load(x[user * xu + i * xc]))

    return loop


def _rows_loops(cache: Extents, x: Extents, _: Extents) -> RoutineLoops:
    extents = (cache[1], x[1], cache[0], cache[2], cache[3])
    head, user, part, position, channel = map(Dim, range(5))
    return RoutineLoops(
        extents,
        4,
        (
            Access(extents, (Const(0), user, head, channel)),
            Access(extents, (user,)),
            Access(extents, (part, head, position, channel)),
        ),
    )


def _check_users(cache: Extents, x: Extents, index: Extents, *, pages: bool) -> None:
    wanted = "[1, users, heads, channels], with at least as many heads as the cache"
    _check_ranks(cache, x, wanted)
    if x[0] != 1 or x[2] < cache[1] or (not pages and cache[0] not in {1, x[1]}):
        raise _refuse(cache, x, wanted)
    if index != (x[1],):
        raise ShapeError(f"the positions of {x[1]} users have shape {list(index)}", help="there is one for each user")


def _spelled_rows(cache: Extents, x: Extents, index: Extents) -> tuple[Any, ...]:
    _check_users(cache, x, index, pages=False)
    return ()


def _rows_in_torch(_: Any, cache: Any, x: Any, index: Any) -> Any:
    updated = cache.clone()
    for user, position in enumerate(index.tolist()):
        if 0 <= position < cache.shape[2]:
            updated[user if len(cache) > 1 else 0, :, position] = x[0, user, : cache.shape[1]]
    return updated


UPDATE_ROWS = Routine(
    name="update_cache_rows",
    parameters=(_CACHE, _INPUT, Parameter("update_idxs_tensor", TENSOR)),
    summary="A cache with a row of every user at the position that its index names.",
    source="ttnn.experimental.paged_update_cache",
    loop=_rows_loop,
    loops=_rows_loops,
    spelled=_spelled_rows,
    result=lambda cache, *_: (interleaved(cache),),
    operand_dtypes=(FLOATS, FLOATS, INTEGERS),
    updates=True,
    golden=_rows_in_torch,
    examples=(),
)


def _pages_loop(load: Any, store: Any) -> Any:
    """The same where a table says which page of the cache holds a user's positions."""

    def loop(x, xu, xc, index, iu, table, tu, tp, cache, cn, cp, cc, users, count, rows, of_user, width):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for user in range(users):
            position = int(index[user * iu])
            if position < 0 or position >= of_user * rows:
                continue
            page = int(table[user * tu + position // rows * tp])
            if 0 <= page < count:
                for i in range(width):
                    cache[page * cn + position % rows * cp + i * cc] = store(load(x[user * xu + i * xc]))

    return loop


def _pages_loops(cache: Extents, x: Extents, _: Extents, table: Extents) -> RoutineLoops:
    extents = (cache[1], x[1], cache[0], cache[2], table[1], cache[3])
    head, user, page, row, place, channel = map(Dim, range(6))
    return RoutineLoops(
        extents,
        5,
        (
            Access(extents, (Const(0), user, head, channel)),
            Access(extents, (user,)),
            Access(extents, (user, place)),
            Access(extents, (page, head, row, channel)),
        ),
    )


def _check_table(table: Extents, users: int) -> None:
    if len(table) != 2 or table[0] != users:
        raise ShapeError(
            f"a page table of shape {list(table)} is not that of {users} users", help="it is [users, pages of one]"
        )


def _spelled_pages(cache: Extents, x: Extents, index: Extents, table: Extents) -> tuple[Any, ...]:
    _check_users(cache, x, index, pages=True)
    _check_table(table, x[1])
    return ()


def _pages_in_torch(_: Any, cache: Any, x: Any, index: Any, table: Any) -> Any:
    updated, rows = cache.clone(), cache.shape[2]
    for user, position in enumerate(index.tolist()):
        if 0 <= position < rows * table.shape[1] and 0 <= (page := int(table[user, position // rows])) < len(cache):
            updated[page, :, position % rows] = x[0, user, : cache.shape[1]]
    return updated


UPDATE_PAGES = Routine(
    name="paged_update_cache",
    parameters=(*UPDATE_ROWS.parameters, Parameter("page_table", TENSOR)),
    summary="A cache in pages with a row of every user at the position that its index names.",
    source="ttnn.experimental.paged_update_cache",
    loop=_pages_loop,
    loops=_pages_loops,
    spelled=_spelled_pages,
    result=lambda cache, *_: (interleaved(cache),),
    operand_dtypes=(FLOATS, FLOATS, INTEGERS, INTEGERS),
    updates=True,
    golden=_pages_in_torch,
    examples=(),
)


def _updated_by_index(
    call: Call, cache: Value, x: Value, index: Value | None, table: Value | None, positions: Sequence[int]
) -> Value:
    if index is not None and positions:
        raise ShapeError("positions are given twice, in `update_idxs` and in `update_idxs_tensor`")
    if index is not None:
        return call(UPDATE_ROWS, [cache, x, index]) if table is None else call(UPDATE_PAGES, [cache, x, index, table])
    if table is not None:
        raise ShapeError("a cache in pages is updated at the positions that `update_idxs_tensor` names")
    _check_users(cache.shape, x.shape, (len(positions),), pages=False)
    for user, position in enumerate(positions):
        _check_position(cache.shape, position)
        row = call(PERMUTE, [_part(call, _part(call, x, 1, user, 1), 2, 0, cache.shape[1])], (0, 2, 1, 3))
        cache = _placed(call, cache, row, user if cache.shape[0] > 1 else 0, 0, position, 0)
    return cache


def _by_index_in_torch(torch: Any, cache: Any, x: Any, index: Any, table: Any, positions: Sequence[int]) -> Any:
    index = torch.tensor(positions) if index is None else index
    return _rows_in_torch(torch, cache, x, index) if table is None else _pages_in_torch(torch, cache, x, index, table)


PAGED_UPDATE_CACHE = Shorthand(
    name="experimental.paged_update_cache",
    ttnn_name="update_cache_by_index",
    parameters=(
        _CACHE,
        _INPUT,
        Parameter("update_idxs_tensor", OPTIONAL_TENSOR),
        Parameter("page_table", OPTIONAL_TENSOR),
        Parameter("update_idxs", EXTENTS, ()),
        Parameter("share_cache", IGNORED),
        Parameter("mesh_coords", IGNORED),
    ),
    summary=(
        "A cache with a row of every user of `input` [1, users, heads, channels] at the position that its index names, "
        "left out where there is none; it is written."
    ),
    source="ttnn.experimental.paged_update_cache",
    calls=_updated_by_index,
    written_as=("experimental.paged_update_cache",),
    golden=_by_index_in_torch,
    examples=(
        (((3, 2, 8, 5), (1, 3, 4, 5), None, None), ((0, 7, 3),)),
        (((1, 1, 64, 32), (1, 2, 1, 32), None, None), ((1, 0),)),
    ),
)


def _fill_loop(load: Any, store: Any) -> Any:
    """All positions of users, page by page; a page that the cache lacks is left out."""

    def loop(x, xu, xp, xc, table, tu, tp, cache, cn, cp, cc, users, positions, count, rows, of_user, width):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for user in range(users):
            for position in range(min(positions, of_user * rows)):
                page = int(table[user * tu + position // rows * tp])
                if 0 <= page < count:
                    for i in range(width):
                        to = page * cn + position % rows * cp + i * cc
                        cache[to] = store(load(x[user * xu + position * xp + i * xc]))

    return loop


def _fill_loops(cache: Extents, x: Extents, table: Extents) -> RoutineLoops:
    extents = (x[1], x[0], x[2], cache[0], cache[2], table[1], cache[3])
    head, user, position, page, row, place, channel = map(Dim, range(7))
    return RoutineLoops(
        extents,
        6,
        (
            Access(extents, (user, head, position, channel)),
            Access(extents, (user, place)),
            Access(extents, (page, head, row, channel)),
        ),
    )


def _spelled_fill(cache: Extents, x: Extents, table: Extents) -> tuple[Any, ...]:
    wanted = "[users, heads, positions, channels]"
    _check_ranks(cache, x, wanted)
    if x[1] != cache[1]:
        raise _refuse(cache, x, wanted)
    _check_table(table, x[0])
    if x[2] > table[1] * cache[2]:
        raise ShapeError(f"{x[2]} positions do not fit into {table[1]} pages of {cache[2]}")
    return ()


def _fill_in_torch(_: Any, cache: Any, x: Any, table: Any) -> Any:
    filled, rows = cache.clone(), cache.shape[2]
    for user, pages in enumerate(table.tolist()):
        for place in range(x.shape[2]):
            if 0 <= (page := pages[place // rows]) < len(cache):
                filled[page, :, place % rows] = x[user, :, place]
    return filled


FILL_PAGES = Routine(
    name="paged_fill_cache",
    parameters=(_CACHE, _INPUT, Parameter("page_table", TENSOR)),
    summary="A cache in pages with all positions of users, in the pages that a table names.",
    source="ttnn.experimental.paged_fill_cache",
    loop=_fill_loop,
    loops=_fill_loops,
    spelled=_spelled_fill,
    result=lambda cache, *_: (interleaved(cache),),
    operand_dtypes=(FLOATS, FLOATS, INTEGERS),
    updates=True,
    golden=_fill_in_torch,
    examples=(),
)


def _filled_pages(call: Call, cache: Value, x: Value, table: Value, users: Value | None, user: int) -> Value:
    if len(table.shape) != 2:
        _check_table(table.shape, 1)
    if users is not None:
        return call(FILL_PAGES, [cache, x, call(EMBEDDING, [users, table], table.spec.layout)])
    if not 0 <= user < table.shape[0]:
        raise ShapeError(f"there is no user {user} in a page table of {table.shape[0]}")
    return call(FILL_PAGES, [cache, x, _part(call, table, 0, user, 1)])


def _filled_pages_in_torch(torch: Any, cache: Any, x: Any, table: Any, users: Any, user: int) -> Any:
    return _fill_in_torch(torch, cache, x, table[[user]] if users is None else table[users.long()])


PAGED_FILL_CACHE = Shorthand(
    name="experimental.paged_fill_cache",
    ttnn_name="fill_cache_by_table",
    parameters=(
        _CACHE,
        _INPUT,
        Parameter("page_table", TENSOR),
        Parameter("batch_idx_tensor", OPTIONAL_TENSOR),
        Parameter("batch_idx", DIMENSION, 0),
        Parameter("mesh_coords", IGNORED),
    ),
    summary="A cache in pages with all positions of one user, or of those `batch_idx_tensor` names; it is written.",
    source="ttnn.experimental.paged_fill_cache",
    calls=_filled_pages,
    written_as=("experimental.paged_fill_cache",),
    golden=_filled_pages_in_torch,
    examples=(),
)


# --- Into any tensor ------------------------------------------------------------------------------------------------


def _copied(call: Call, x: Value, into: Value) -> Value:
    if x.shape != into.shape:
        raise ShapeError(f"a tensor of shape {list(x.shape)} is copied into one of shape {list(into.shape)}")
    return _in_dtype_of(call, into, x)


COPY_INTO = Shorthand(
    name="copy",
    parameters=(
        Parameter("input_a", TENSOR, aliases=("input_tensor_a",)),
        Parameter("input_b", TENSOR, aliases=("input_tensor_b",)),
    ),
    summary="The first tensor in the element type of the second, which is written.",
    source="ttnn.copy",
    calls=_copied,
    written_as=("copy",),
    written_operand=1,
    golden=lambda torch, x, into: x.to(into.dtype),  # noqa: ARG005 - goldens are given torch
    examples=((((3, 40), (3, 40)), ()),),
)

ASSIGN = Shorthand(
    name="assign",
    parameters=(OPERAND,),
    summary="A copy of the tensor.",
    source="ttnn.assign",
    calls=lambda call, x: x,  # noqa: ARG005 - what is returned as it came is copied
    golden=lambda torch, x: x.clone(),  # noqa: ARG005 - goldens are given torch
    examples=((((3, 40),), ()),),
)

OPERATIONS = (FILL_CACHE, UPDATE_CACHE, PAGED_UPDATE_CACHE, PAGED_FILL_CACHE, COPY_INTO, ASSIGN)

ROUTINES = (UPDATE_ROWS, UPDATE_PAGES, FILL_PAGES)
"""What programs have in their place where positions are tensors."""
