"""Writes into key and value caches: the position of every user is selected by number, index or page."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.modules import scheduled_module
from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.interpreters.tile_interpreter import interpret

FRONTENDS = pytest.mark.parametrize("graph_capture", [False, True])
TARGETS = pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
SIZES = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 9), st.integers(1, 40))
"""Users, heads, positions, channels."""
UPDATE, FILL = ttnn.experimental.paged_update_cache, ttnn.experimental.paged_fill_cache


def numbers(*shape):
    """Numbers of few bits, which every element type represents."""
    return torch.randint(-7, 8, shape).float()


@settings(max_examples=20, deadline=None)
@given(sizes=SIZES, padding=st.integers(0, 3), data=st.data())
def test_numbers_select_the_user_and_the_position_to_write(sizes, padding, data):
    users, heads, positions, width = sizes
    user, position = data.draw(st.integers(0, users - 1)), data.draw(st.integers(0, positions - 1))
    length, offset = data.draw(st.integers(1, positions)), data.draw(st.integers(0, padding))
    cache, prompt, token = (
        numbers(users, heads, positions, width),
        numbers(1, heads, length, width),
        numbers(1, heads, users + padding, width),
    )
    want = cache.clone()
    want[user, :, :length] = prompt[0]
    for each in range(users):
        want[each, :, position] = token[0, :, each + offset]

    @jit(graph_capture=data.draw(st.booleans()))
    def write(cache, prompt, token):
        ttnn.fill_cache(cache, prompt, batch_idx=user)
        return ttnn.update_cache(cache, token, position, batch_offset=offset)

    assert write(cache, prompt, token) is cache
    assert torch.equal(cache, want)


@settings(max_examples=20, deadline=None)
@given(sizes=SIZES, shares=st.booleans(), data=st.data())
def test_an_index_tensor_selects_the_position_of_each_user_if_there_is_one(sizes, shares, data):
    users, heads, positions, width = sizes
    index = data.draw(st.lists(st.integers(-1, positions + users), min_size=users, max_size=users, unique=shares))
    cache, token = numbers(1 if shares else users, heads, positions, width), numbers(1, users, heads + 1, width)
    want = cache.clone()
    for user, position in enumerate(index):
        if 0 <= position < positions:
            want[0 if shares else user, :, position] = token[0, user, :heads]

    @jit(graph_capture=data.draw(st.booleans()))
    def write(cache, token, index):
        return UPDATE(cache, token, update_idxs_tensor=index, page_table=None)

    assert write(cache, token, torch.tensor(index, dtype=torch.int32)) is cache
    assert torch.equal(cache, want)


@settings(max_examples=20, deadline=None)
@given(sizes=SIZES, pages=st.integers(1, 3), missing=st.booleans(), data=st.data())
def test_a_page_table_selects_the_page_of_a_position(sizes, pages, missing, data):
    users, heads, rows, width = sizes
    count = users * pages + 1
    table = torch.tensor(data.draw(st.permutations(range(count)))[:-1], dtype=torch.int32).reshape(users, pages)
    index = data.draw(st.lists(st.integers(-1, pages * rows - 1), min_size=users, max_size=users))
    length, user = data.draw(st.integers(1, pages * rows)), data.draw(st.integers(0, users - 1))
    if missing:
        table[0, 0] = -1
    cache, token, prompt = (
        numbers(count, heads, rows, width),
        numbers(1, users, heads, width),
        numbers(1, heads, length, width),
    )
    want = cache.clone()

    def put(user, position, values):
        page = int(table[user, position // rows])
        if page >= 0:
            want[page, :, position % rows] = values

    for position in range(length):
        put(user, position, prompt[0, :, position])
    for each, position in enumerate(index):
        if position >= 0:
            put(each, position, token[0, each])

    @jit(graph_capture=data.draw(st.booleans()))
    def write(cache, prompt, token, table, index):
        FILL(cache, prompt, table, batch_idx=user)
        return UPDATE(cache, token, update_idxs_tensor=index, page_table=table)

    assert write(cache, prompt, token, table, torch.tensor(index, dtype=torch.int32)) is cache
    assert torch.equal(cache, want)


def test_a_tensor_selects_the_users_that_fill_their_pages():
    cache, prompt, table = numbers(8, 2, 4, 5), numbers(2, 2, 7, 5), torch.randperm(8, dtype=torch.int32).reshape(4, 2)
    want = cache.clone()
    for index, user in enumerate((3, 1)):
        rows = torch.cat([want[table[user, 0]], want[table[user, 1]]], 1)
        rows[:, :7] = prompt[index]
        want[table[user, 0]], want[table[user, 1]] = rows[:, :4], rows[:, 4:]
    jit()(lambda *given: FILL(*given[:3], batch_idx_tensor=given[3]))(cache, prompt, table, torch.tensor([3, 1]).int())
    assert torch.equal(cache, want)


@TARGETS
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.bfloat4_b])
def test_a_cache_of_any_float_type_is_updated_in_place(target, dtype):
    cache, prompt, token = numbers(4, 2, 64, 32), numbers(1, 2, 32, 32), numbers(1, 4, 2, 32)
    index, want = [5, 63, -1, 40], cache.clone()
    want[1, :, :32] = prompt[0]
    for user, position in enumerate(index):
        if position >= 0:
            want[user, :, position] = token[0, user]

    def write(cache, prompt, token, index):
        ttnn.kv_cache.fill_cache_for_user_(cache, prompt, 1)
        return UPDATE(cache, token, update_idxs_tensor=index)

    with ttnn.manage_device(0, target=target) as device:
        keywords = {"layout": ttnn.TILE_LAYOUT, "device": device}
        others = [ttnn.from_torch(each.bfloat16(), **keywords) for each in (prompt, token)]
        others.append(ttnn.from_torch(torch.tensor(index, dtype=torch.int32), device=device))
        for run in (write, jit()(write), jit(graph_capture=True)(write)):
            on_device = ttnn.from_torch(cache, dtype=dtype, **keywords)
            assert run(on_device, *others) is on_device
            assert torch.equal(ttnn.to_torch(on_device).float(), want)


def test_only_the_row_moves_if_a_cache_may_be_overwritten():
    report = jit()(lambda cache, x, index: UPDATE(cache, x, update_idxs_tensor=index)).explain(
        numbers(4, 2, 64, 32), numbers(1, 4, 2, 32), torch.zeros(4, dtype=torch.int32)
    )
    assert "writes argument 0 where it lies" in str(report)


def of_any_bits(dtype, *shape):
    """Random bits, and NaN, infinities, zeros and subnormals."""
    bits = {torch.float32: torch.int32, torch.bfloat16: torch.int16}[dtype]
    x = torch.randint(torch.iinfo(bits).min, torch.iinfo(bits).max, shape).to(bits).view(dtype)
    x.view(-1)[:5] = torch.tensor([torch.nan, -torch.inf, -0.0, 1e-39, -1e-39]).to(dtype)
    return x


@TARGETS
@pytest.mark.parametrize("width", [5, 37, 64])
@pytest.mark.parametrize(
    ("kept", "given"), [("bfloat16", "float32"), ("float32", "bfloat16"), ("bfloat16", "bfloat16")]
)
def test_rows_of_any_bits_and_strides_are_written_as_numba_writes_them(target, width, kept, given):
    torch.manual_seed(width)
    cache, token = of_any_bits(getattr(torch, kept), 3, 2, 4, width), of_any_bits(getattr(torch, given), 1, 3, width, 2)

    def write(cache, token, index):
        return UPDATE(cache, ttnn.permute(token, (0, 1, 3, 2)), update_idxs_tensor=index)

    with ttnn.manage_device(0, target=target) as device:
        index = ttnn.from_torch(torch.tensor([3, -1, 0], dtype=torch.int32), device=device)
        x = ttnn.from_torch(token, layout=ttnn.TILE_LAYOUT, device=device)
        found = []
        for function in (jit()(write), jit(backend="numba")(write)):
            on_device = ttnn.from_torch(cache, layout=ttnn.TILE_LAYOUT, device=device)
            found.append(ttnn.to_torch(function(on_device, x, index)))
    assert torch.equal(*(each.isnan() for each in found))
    assert torch.equal(*(torch.where(each.isnan(), 7.0, each).view(torch.uint8) for each in found))


def test_rows_of_floats_are_written_without_numba():
    write = jit()(lambda cache, token, index: UPDATE(cache, token, update_idxs_tensor=index))
    for dtype in (torch.float32, torch.bfloat16):
        given = numbers(2, 1, 8, 5).to(dtype), numbers(1, 2, 1, 5).to(dtype), torch.zeros(2, dtype=torch.int32)
        assert "rows updated" in write.ir(*given, stage="host")


def test_the_interpreter_and_numba_write_the_same():
    cache, token, table = numbers(6, 2, 4, 5), numbers(1, 3, 2, 5), torch.randperm(6, dtype=torch.int32).reshape(3, 2)
    index = torch.tensor([0, 7, -1], dtype=torch.int32)

    def write(cache, token, index, table):
        return UPDATE(cache, token, update_idxs_tensor=index, page_table=table)

    given = (token, index, table)
    (found, other), jitted = (cache.clone() for _ in range(2)), jit()(write)
    module = scheduled_module(jitted, cache, *given)
    (interpreted,) = interpret(module, [each.numpy() for each in (cache, *given)])
    jitted(found, *given)
    jit(backend="numba")(write)(other, *given)
    assert torch.equal(found, torch.from_numpy(interpreted.copy()).reshape(found.shape))
    assert torch.equal(found, other)
    assert not torch.equal(found, cache)


@TARGETS
def test_copy_writes_its_second_operand_and_assign_creates_a_tensor(target):
    x = torch.randn(32, 64)
    with ttnn.manage_device(0, target=target) as device:
        keywords = {"layout": ttnn.TILE_LAYOUT, "device": device}
        source = ttnn.from_torch(x, **keywords)
        for copy in (
            ttnn.copy,
            jit()(lambda x, y: ttnn.copy(x, y)),
            jit(graph_capture=True)(lambda x, y: ttnn.copy(x, y)),
        ):
            into = ttnn.from_torch(torch.zeros(32, 64), dtype=ttnn.bfloat16, **keywords)
            assert copy(source, into) is into
            assert torch.equal(ttnn.to_torch(into), x.bfloat16())
        assigned = ttnn.assign(source, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16)
        assert assigned is not source
        assert assigned.memory_config() == ttnn.L1_MEMORY_CONFIG
        assert torch.equal(ttnn.to_torch(assigned), x.bfloat16())
        assert torch.equal(ttnn.to_torch(source), x)


CACHE, INDEX = torch.zeros(3, 2, 8, 5), torch.zeros(3, dtype=torch.int32)


@FRONTENDS
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, _: ttnn.fill_cache(c, c[:1], 3), "there is no user 3 in a cache of 3"),
        (lambda c, _: ttnn.fill_cache(c, c[:2], 0), r"of shape \[2, 2, 8, 5\] is no part of a cache of shape"),
        (lambda c, _: ttnn.fill_cache(c, c[:1, :1], 0), r"of shape \[1, 1, 8, 5\] is no part"),
        (lambda c, _: ttnn.update_cache(c, c[:1], 8), "there is no position 8 in a cache of 8"),
        (lambda c, _: ttnn.update_cache(c, c[:1], 0, batch_offset=6), "is no part of a cache"),
        (lambda c, i: UPDATE(c, c[:1, :1], update_idxs_tensor=i), r"of shape \[1, 1, 8, 5\] is no part"),
        (
            lambda c, i: UPDATE(c, ttnn.reshape(c, (1, 3, 16, 5)), update_idxs_tensor=i[:2]),
            r"the positions of 3 users have shape \[2\]",
        ),
        (lambda c, _: UPDATE(c, ttnn.reshape(c, (1, 3, 16, 5)), update_idxs=[0, 1]), r"have shape \[2\]"),
        (lambda c, i: UPDATE(c, c[:1], update_idxs_tensor=i, update_idxs=[1]), "positions are given twice"),
        (lambda c, i: UPDATE(c, c[:1], page_table=i), "at the positions in `update_idxs_tensor`, which is not given"),
        (
            lambda c, i: UPDATE(c, ttnn.reshape(c, (1, 3, 16, 5)), update_idxs_tensor=i, page_table=i),
            r"a page table of shape \[3\] is not that of 3 users",
        ),
        (lambda c, i: FILL(c, c[:1], ttnn.reshape(i, (3, 1)), batch_idx=3), "no user 3 in a page table of 3"),
        (
            lambda c, i: FILL(c, ttnn.reshape(c, (1, 2, 24, 5)), ttnn.reshape(i, (3, 1))),
            "24 positions do not fit into 1 pages of 8",
        ),
        (lambda c, i: ttnn.copy(c, i), r"of shape \[3, 2, 8, 5\] cannot be copied into one of shape \[3\]"),
        (lambda c, _: ttnn.copy(c, 1.0), "writes into its argument `input_b`, which is float"),
    ],
)
def test_rows_that_do_not_fit_into_a_cache_are_refused_at_their_location(call, message, graph_capture):
    with pytest.raises(CompileError, match=message) as caught:
        jit(graph_capture=graph_capture)(call)(CACHE.clone(), INDEX.clone())
    assert caught.value.location.file == __file__
