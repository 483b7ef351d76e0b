"""The routines that write rows into caches of keys and values, and that gather pages of them.

A cache has the shape [users, heads, positions, channels]. A paged cache has the shape [pages, heads, positions of a
page, channels]; its page table, [users, pages per user], names the pages of each user in the order of positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.routine import NativeLoop, Routine, RoutineLoops
from ttnn_jit.ops.language.parameter import EXTENTS, TENSOR, Parameter
from ttnn_jit.specs.access.index_expressions import Const, Dim, times, total
from ttnn_jit.specs.dtypes import FLOATS, INDICES

Extents = tuple[int, ...]

CACHE = Parameter("cache", TENSOR, aliases=("cache_tensor",))
INPUT = Parameter("input", TENSOR, aliases=("input_tensor",))


def refusal(cache: Extents, x: Extents, wanted: str) -> ShapeError:
    """The error of a tensor that does not fit into a cache."""
    return ShapeError(
        f"a tensor of shape {list(x)} is no part of a cache of shape {list(cache)}", help=f"the tensor is {wanted}"
    )


def check_ranks(cache: Extents, x: Extents, wanted: str) -> None:
    """Refuses tensors that are not four-dimensional, or differ in channels."""
    if len(cache) != 4 or len(x) != 4 or cache[3] != x[3]:
        raise refusal(cache, x, wanted)


# --- Writes -----------------------------------------------------------------------------------------------------------


def _rows_loop(write: Any) -> Any:
    """Writes a row of channels of each user at the user's position; a position out of range is skipped."""

    def loop(x, xu, xc, index, iu, cache, cn, cp, cc, users, parts, positions, width):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for user in range(users):
            position, part = int(index[user * iu]), user if parts > 1 else 0
            if 0 <= position < positions:
                write(cache, part * cn, position, cp, cc, x, user * xu, xc, width)

    return loop


def _rows_loops(cache: Extents, x: Extents, _: Extents) -> RoutineLoops:
    extents = (cache[1], x[1], cache[0], cache[2], cache[3])
    head, user, part, position, channel = map(Dim, range(5))
    return RoutineLoops.over(extents, 4, (Const(0), user, head, channel), (user,), (part, head, position, channel))


def check_users(cache: Extents, x: Extents, index: Extents, *, pages: bool) -> None:
    """Refuses a tensor that does not have one row for each user and head of a cache."""
    wanted = "[1, users, heads, channels], with at least as many heads as the cache"
    check_ranks(cache, x, wanted)
    if x[0] != 1 or x[2] < cache[1] or (not pages and cache[0] not in (1, x[1])):
        raise refusal(cache, x, wanted)
    if index != (x[1],):
        raise ShapeError(f"the positions of {x[1]} users have shape {list(index)}", help="there is one for each user")


def _check_rows(cache: Extents, x: Extents, index: Extents) -> None:
    check_users(cache, x, index, pages=False)


def updated_rows_in_torch(_: Any, cache: Any, x: Any, index: Any) -> Any:
    """What `update_cache_rows` is in torch."""
    updated = cache.clone()
    for user, position in enumerate(index.tolist()):
        if 0 <= position < cache.shape[2]:
            updated[user if len(cache) > 1 else 0, :, position] = x[0, user, : cache.shape[1]]
    return updated


UPDATE_ROWS = Routine(
    name="update_cache_rows",
    parameters=(CACHE, INPUT, Parameter("update_idxs_tensor", TENSOR)),
    summary="A cache with one new row for each user, at the position in `update_idxs_tensor`.",
    source="ttnn.experimental.paged_update_cache",
    loop=_rows_loop,
    loops=_rows_loops,
    canonicalize=_check_rows,
    operand_dtypes=(FLOATS, FLOATS, INDICES),
    updates=True,
    writes_rows=True,
    native=NativeLoop.ROW_UPDATE,
    golden=updated_rows_in_torch,
)


def _pages_loop(write: Any) -> Any:
    """Writes a row of channels of each user into the page that the page table names for the user's position."""

    def loop(x, xu, xc, index, iu, table, tu, tp, cache, cn, cp, cc, users, count, of_user, rows, width):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for user in range(users):
            position = int(index[user * iu])
            if position < 0 or position >= of_user * rows:
                continue
            page = int(table[user * tu + position // rows * tp])
            if 0 <= page < count:
                write(cache, page * cn, position % rows, cp, cc, x, user * xu, xc, width)

    return loop


def _pages_loops(cache: Extents, x: Extents, _: Extents, table: Extents) -> RoutineLoops:
    extents = (cache[1], x[1], cache[0], table[1], cache[2], cache[3])
    head, user, page, entry, row, channel = map(Dim, range(6))
    return RoutineLoops.over(
        extents, 5, (Const(0), user, head, channel), (user,), (user, entry), (page, head, row, channel)
    )


def check_table(table: Extents, users: int) -> None:
    """Refuses a page table that is not one of `users` users."""
    if len(table) != 2 or table[0] != users:
        raise ShapeError(
            f"a page table of shape {list(table)} is not that of {users} users", help="it is [users, pages per user]"
        )


def _check_pages(cache: Extents, x: Extents, index: Extents, table: Extents) -> None:
    check_users(cache, x, index, pages=True)
    check_table(table, x[1])


def updated_pages_in_torch(_: Any, cache: Any, x: Any, index: Any, table: Any) -> Any:
    """What `paged_update_cache` is in torch."""
    updated, rows = cache.clone(), cache.shape[2]
    for user, position in enumerate(index.tolist()):
        if 0 <= position < rows * table.shape[1] and 0 <= (page := int(table[user, position // rows])) < len(cache):
            updated[page, :, position % rows] = x[0, user, : cache.shape[1]]
    return updated


UPDATE_PAGES = Routine(
    name="paged_update_cache",
    parameters=(*UPDATE_ROWS.parameters, Parameter("page_table", TENSOR)),
    summary="A paged cache with one new row for each user, at the position in `update_idxs_tensor`.",
    source="ttnn.experimental.paged_update_cache",
    loop=_pages_loop,
    loops=_pages_loops,
    canonicalize=_check_pages,
    operand_dtypes=(FLOATS, FLOATS, INDICES, INDICES),
    updates=True,
    writes_rows=True,
    golden=updated_pages_in_torch,
)


def _fill_loop(write: Any) -> Any:
    """Writes all positions of users into their pages; a page number out of range is skipped."""

    def loop(x, xu, xp, xc, table, tu, tp, cache, cn, cp, cc, users, positions, count, of_user, rows, width):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for user in range(users):
            for position in range(min(positions, of_user * rows)):
                page = int(table[user * tu + position // rows * tp])
                if 0 <= page < count:
                    write(cache, page * cn, position % rows, cp, cc, x, user * xu + position * xp, xc, width)

    return loop


def _fill_loops(cache: Extents, x: Extents, table: Extents) -> RoutineLoops:
    extents = (x[1], x[0], x[2], cache[0], table[1], cache[2], cache[3])
    head, user, position, page, entry, row, channel = map(Dim, range(7))
    return RoutineLoops.over(extents, 6, (user, head, position, channel), (user, entry), (page, head, row, channel))


def _check_fill(cache: Extents, x: Extents, table: Extents) -> None:
    wanted = "[users, heads, positions, channels]"
    check_ranks(cache, x, wanted)
    if x[1] != cache[1]:
        raise refusal(cache, x, wanted)
    check_table(table, x[0])
    if x[2] > table[1] * cache[2]:
        raise ShapeError(f"{x[2]} positions do not fit into {table[1]} pages of {cache[2]}")


def filled_pages_in_torch(_: Any, cache: Any, x: Any, table: Any) -> Any:
    """What `paged_fill_cache` is in torch."""
    filled, rows = cache.clone(), cache.shape[2]
    for user, pages in enumerate(table.tolist()):
        for position in range(x.shape[2]):
            if 0 <= (page := pages[position // rows]) < len(cache):
                filled[page, :, position % rows] = x[user, :, position]
    return filled


FILL_PAGES = Routine(
    name="paged_fill_cache",
    parameters=(CACHE, INPUT, Parameter("page_table", TENSOR)),
    summary="A paged cache with all positions of users, in the pages that the page table names.",
    source="ttnn.experimental.paged_fill_cache",
    loop=_fill_loop,
    loops=_fill_loops,
    canonicalize=_check_fill,
    operand_dtypes=(FLOATS, FLOATS, INDICES),
    updates=True,
    writes_rows=True,
    golden=filled_pages_in_torch,
)


def _placing_loop(write: Any) -> Any:
    """Writes rows of users, from one user and one position on."""

    def loop(x, xu, xp, xc, cache, cn, cp, cc, users, rows, parts, positions, width, user, position):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for part in range(min(users, parts - user)):
            for row in range(min(rows, positions - position)):
                write(cache, (user + part) * cn, position + row, cp, cc, x, part * xu + row * xp, xc, width)

    return loop


def _placing_loops(cache: Extents, x: Extents, *_: Any) -> RoutineLoops:
    extents = (x[1], x[0], x[2], cache[0], cache[2], cache[3])
    head, user, row, part, position, channel = map(Dim, range(6))
    return RoutineLoops.over(extents, 5, (user, head, row, channel), (part, head, position, channel))


def _canonical_begins(cache: Extents, x: Extents, begins: Sequence[int]) -> tuple[Any, ...]:
    wanted = "[users, heads, positions, channels], and fits into the cache from `begins` on"
    check_ranks(cache, x, wanted)
    user, position = begins
    if x[1] != cache[1] or not 0 <= user <= cache[0] - x[0] or not 0 <= position <= cache[2] - x[2]:
        raise refusal(cache, x, wanted)
    return (tuple(begins),)


def placed_in_torch(_: Any, cache: Any, x: Any, begins: Sequence[int]) -> Any:
    """What `place_cache_rows` is in torch."""
    updated, (user, position) = cache.clone(), begins
    updated[user : user + x.shape[0], :, position : position + x.shape[2]] = x
    return updated


PLACE_ROWS = Routine(
    name="place_cache_rows",
    parameters=(CACHE, INPUT, Parameter("begins", EXTENTS)),
    summary="A cache with the rows of users written from `begins` on, the first user and position.",
    source="ttnn.update_cache",
    loop=_placing_loop,
    loops=_placing_loops,
    canonicalize=_canonical_begins,
    constants=tuple,
    operand_dtypes=(FLOATS, FLOATS),
    updates=True,
    writes_rows=True,
    golden=placed_in_torch,
)


# --- Reads ------------------------------------------------------------------------------------------------------------


def _gathering_loop(_load: Any, _store: Any) -> Any:
    """Copies one page; zeros where the table has a page number out of range."""

    def loop(cache, cn, cr, cc, table, result, rr, rc, count, rows, width):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        page = int(table[0])
        for row in range(rows):
            for i in range(width):
                if 0 <= page < count:
                    result[row * rr + i * rc] = cache[page * cn + row * cr + i * cc]
                else:
                    result[row * rr + i * rc] = 0

    return loop


def _gathering_loops(cache: Extents, table: Extents) -> RoutineLoops:
    extents = (table[0], cache[1], table[1], cache[0], cache[2], cache[3])
    user, head, entry, page, row, channel = map(Dim, range(6))
    position = total((times(entry, cache[2]), row))
    return RoutineLoops.over(extents, 3, (page, head, row, channel), (user, entry), (user, head, position, channel))


def gathered_in_torch(torch: Any, cache: Any, table: Any) -> Any:
    """What `gather_pages` is in torch."""
    pages = cache[table.long().clamp(0, len(cache) - 1)]
    pages = pages * ((table >= 0) & (table < len(cache)))[:, :, None, None, None]
    return torch.flatten(pages.transpose(1, 2), 2, 3)


GATHER_PAGES = Routine(
    name="gather_pages",
    parameters=(Parameter("cache", TENSOR), Parameter("page_table", TENSOR)),
    summary="The pages of each user in the order of the page table; zeros for a page number out of range.",
    source="ttnn.transformer.paged_scaled_dot_product_attention_decode",
    loop=_gathering_loop,
    loops=_gathering_loops,
    result=lambda cache, table: (
        cache.interleaved.with_(
            shape=(table.shape[0], cache.shape[1], table.shape[1] * cache.shape[2], cache.shape[3])
        ),
    ),
    operand_dtypes=(FLOATS, INDICES),
    golden=gathered_in_torch,
)


OPERATIONS = (UPDATE_ROWS, UPDATE_PAGES, FILL_PAGES, PLACE_ROWS, GATHER_PAGES)
"""Operations that ttnn's own operations are decomposed to."""
