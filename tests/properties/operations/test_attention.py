"""Attention in every form against torch in float64: sequences, single positions, pages, chunks, two sequences."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import parse_module, print_module

FRONTENDS = pytest.mark.parametrize("graph_capture", [False, True])
TARGETS = pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
SIZES = st.tuples(*(st.integers(1, most) for most in (2, 2, 3, 33, 40)))
"""Users, heads of keys, heads of queries for each, positions, channels."""
SDPA, DECODE = ttnn.transformer.scaled_dot_product_attention, ttnn.transformer.scaled_dot_product_attention_decode
PAGED, CHUNKED = (
    ttnn.transformer.paged_scaled_dot_product_attention_decode,
    ttnn.transformer.chunked_scaled_dot_product_attention,
)


def tensors_of(sizes, keys=None):
    users, kv_heads, sharing, positions, width = sizes
    keys = positions if keys is None else keys
    shapes = (users, kv_heads * sharing, positions, width), *[(users, kv_heads, keys, width)] * 2
    return [torch.randn(shape) for shape in shapes]


def attention(query, key, value, *, mask=None, causal=False, scale=None):
    """Attention of torch with shared key heads."""
    query, key, value = (each.double() for each in (query, key, value))
    mask = mask.double() if mask is not None and mask.dtype is not torch.bool else mask
    function = torch.nn.functional.scaled_dot_product_attention
    return function(query, key, value, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=True)


def with_sink(query, key, value, sink, mask, scale):
    """Row by row; the weight of the sink is dropped."""
    sharing = query.shape[1] // key.shape[1]
    key, value = (each.double().repeat_interleave(sharing, 1) for each in (key, value))
    scores = query.double() @ key.mT * scale + torch.zeros(mask.shape).double().masked_fill(~mask, -math.inf)
    weights = torch.exp(scores)
    return weights @ value / (weights.sum(-1, keepdim=True) + torch.exp(sink.double() * scale))


def assert_near(got, want, bound=3e-5):
    torch.testing.assert_close(got.double(), want, rtol=bound, atol=bound)


@settings(max_examples=12, deadline=None)
@given(sizes=SIZES, scale=st.sampled_from([None, 0.3]), data=st.data())
def test_causal_attention_within_any_window_is_torchs(sizes, scale, data):
    query, key, value = tensors_of(sizes)
    rows = torch.arange(sizes[3])[:, None]
    window, causal = data.draw(st.none() | st.integers(1, 40)), data.draw(st.booleans())
    seen = rows >= rows.T if causal else math.inf > rows.T
    if window is not None:
        seen = seen & (rows - window < rows.T if causal else (rows.T - rows).abs() <= window // 2)

    @jit(graph_capture=data.draw(st.booleans()))
    def attend(query, key, value):
        return SDPA(query, key, value, is_causal=causal, scale=scale, sliding_window_size=window)

    want = attention(query, key, value, mask=seen, scale=scale)
    assert_near(attend(query, key, value), want)


@settings(max_examples=12, deadline=None)
@given(sizes=SIZES, keys=st.integers(1, 40), data=st.data())
def test_masks_that_broadcast_are_added(sizes, keys, data):
    query, key, value = tensors_of(sizes, keys)
    whole = (*query.shape[:3], keys)
    kept = data.draw(st.lists(st.booleans(), min_size=4, max_size=4))
    mask = torch.randn([extent if keep else 1 for extent, keep in zip(whole, kept, strict=True)])

    @jit(graph_capture=data.draw(st.booleans()))
    def attend(query, key, value, mask):
        return SDPA(query, key, value, attn_mask=mask, is_causal=False)

    assert_near(attend(query, key, value, mask), attention(query, key, value, mask=mask.expand(whole)))


@settings(max_examples=8, deadline=None)
@given(
    users=st.integers(1, 3), heads=st.integers(1, 4), keys=st.integers(1, 40), scale=st.sampled_from([None, 0.1, 3.0])
)
def test_a_mask_of_a_decode_is_added_to_scaled_scores(users, heads, keys, scale):
    query, key, value = torch.randn(1, users, heads, 8), *(torch.randn(users, 1, keys, 8) for _ in range(2))
    mask = torch.randn(users, 1, heads, keys) * 4

    @jit
    def attend(query, key, value, mask):
        return DECODE(query, key, value, is_causal=False, attn_mask=mask, scale=scale)

    want = attention(query[0].unsqueeze(2), key, value, mask=mask.transpose(1, 2), scale=scale)
    assert_near(attend(query, key, value, mask), want[:, :, 0][None])


@settings(max_examples=6, deadline=None)
@given(sizes=SIZES, data=st.data())
def test_a_sink_adds_its_weight_to_every_row(sizes, data):
    query, key, value = tensors_of(sizes)
    sink, positions = torch.randn(1, query.shape[1], 1, 1), sizes[3]
    scale, rows = sizes[4] ** -0.5, torch.arange(sizes[3])[:, None]
    want = with_sink(query, key, value, sink, rows >= rows.T, scale)

    @jit(graph_capture=data.draw(st.booleans()))
    def attend(query, key, value, sink):
        return SDPA(query, key, value, attention_sink=sink)

    assert_near(attend(query, key, value, sink), want)
    last = query[:, :, -1].unsqueeze(0)
    columns = torch.nn.functional.pad(sink.reshape(-1, 1), (0, 31))
    decoded = jit()(lambda *each: DECODE(*each[:3], cur_pos=[positions - 1] * sizes[0], attention_sink=each[3]))
    assert_near(decoded(last, key, value, columns)[0], want[:, :, -1])


@settings(max_examples=12, deadline=None)
@given(sizes=SIZES, keys=st.integers(1, 40), window=st.none() | st.integers(1, 9), data=st.data())
def test_one_position_of_every_user_attends_to_earlier_ones(sizes, keys, window, data):
    users = sizes[0]
    query, key, value = tensors_of((*sizes[:3], 1, sizes[4]), keys)
    positions = data.draw(st.lists(st.integers(-1, keys - 1), min_size=users, max_size=users))
    listed = all(position >= 0 for position in positions) and data.draw(st.booleans())
    at = torch.tensor(positions)[:, None, None, None]
    seen = (torch.arange(keys) <= at) & (torch.arange(keys) > at - (window or math.inf))
    want = attention(query, key, value, mask=seen | (at < 0)).where(at >= 0, 0.0)

    @jit(graph_capture=data.draw(st.booleans()))
    def attend(query, key, value, index):
        given = {"cur_pos": positions} if listed else {"cur_pos_tensor": index}
        return DECODE(query, key, value, sliding_window_size=window, **given)

    found = attend(query[:, :, 0][None], key, value, torch.tensor(positions, dtype=torch.int32))
    assert_near(found[0], want[:, :, 0])


@settings(max_examples=6, deadline=None)
@given(sizes=SIZES, pages=st.integers(1, 3), data=st.data())
def test_keys_in_pages_are_found_by_the_page_table(sizes, pages, data):
    users, kv_heads, _, rows, width = sizes
    count = users * pages + 1
    table = torch.tensor(data.draw(st.permutations(range(count)))[:-1], dtype=torch.int32).reshape(users, pages)
    caches = [torch.randn(count, kv_heads, rows, width) for _ in range(2)]
    key, value = (torch.stack([torch.cat([*cache[own]], 1) for own in table.long()]) for cache in caches)
    first = data.draw(st.integers(0, rows * (pages - 1)))
    query, *_ = tensors_of(sizes)
    positions = torch.arange(rows)[:, None] + first
    seen = torch.arange(rows * pages) <= positions
    start = torch.tensor([first], dtype=torch.int32)

    @jit(graph_capture=data.draw(st.booleans()))
    def chunks(query, key, value, table, start):
        return (
            CHUNKED(query, key, value, table, first),
            CHUNKED(query, key, value, table, chunk_start_idx_tensor=start, scale=0.5),
        )

    by_number, by_tensor = chunks(query, *caches, table, start)
    assert_near(by_number, attention(query, key, value, mask=seen))
    assert_near(by_tensor, attention(query, key, value, mask=seen, scale=0.5))
    one = torch.full((users,), first + rows - 1, dtype=torch.int32)
    paged = jit()(lambda *each: PAGED(*each[:4], cur_pos_tensor=each[4]))(query[:, :, -1][None], *caches, table, one)
    assert_near(paged[0], by_number[:, :, -1].double())


@FRONTENDS
def test_two_sequences_attend_to_each_other(graph_capture):
    own, other = tensors_of((1, 2, 1, 7, 16)), tensors_of((1, 2, 1, 5, 16))

    @jit(graph_capture=graph_capture)
    def attend(*tensors):
        return ttnn.transformer.joint_scaled_dot_product_attention(*tensors, joint_strategy="rear")

    first, second = attend(*own, *other)
    want = attention(*(torch.cat(pair, 2) for pair in zip(own, other, strict=True)))
    assert_near(first, want[:, :, :7])
    assert_near(second, want[:, :, 7:])


@TARGETS
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_attention_on_devices_is_near_torch_and_compiled_equals_eager(target, dtype):
    query, key, value = (each.bfloat16() for each in tensors_of((1, 2, 2, 64, 64)))
    one, at = query[:, :, -1][None], torch.tensor([63], dtype=torch.int32)

    config = ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 8), q_chunk_size=32, k_chunk_size=32)

    def both(query, key, value, one, at):
        return (
            SDPA(query, key, value, program_config=config),
            DECODE(one, key, value, cur_pos_tensor=at, program_config=config),
        )

    with ttnn.manage_device(0, target=target) as device:
        keywords = {"layout": ttnn.TILE_LAYOUT, "device": device}
        on_device = [
            ttnn.from_torch(query, **keywords),
            *(ttnn.from_torch(each, dtype=dtype, **keywords) for each in (key, value)),
        ]
        on_device += [ttnn.from_torch(one, **keywords), ttnn.from_torch(at, device=device)]
        used = [ttnn.to_torch(each).float() for each in on_device[:3]]
        want = attention(*used, causal=True)
        eager = [ttnn.to_torch(each) for each in both(*on_device)]
        assert_near(eager[0], want, 0.01)
        assert_near(eager[1][0], want[:, :, -1], 0.01)
        for graph_capture in (False, True):
            jitted = jit(graph_capture=graph_capture)(both)(*on_device)
            assert all(torch.equal(ttnn.to_torch(one), other) for one, other in zip(jitted, eager, strict=True))


@FRONTENDS
@TARGETS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_row_that_sees_no_key_is_zeros_as_in_torch(dtype, target, graph_capture):
    device = ttnn.open_device(device_id=0, target=target)
    tensors = [each.to(dtype) for each in tensors_of((2, 1, 2, 33, 40))]
    mask = torch.zeros(2, 1, 33, 33).masked_fill(torch.rand(2, 1, 33, 33) < 0.4, -math.inf)
    mask[0, 0, 5], mask[1, 0, 32] = -math.inf, -math.inf
    on_device = [
        ttnn.from_torch(each.to(dtype), layout=ttnn.TILE_LAYOUT, device=device)
        for each in (*tensors, mask, *tensors_of((1, 1, 1, 1, 40), 4))
    ]

    def attend(query, key, value, mask, far, keys, values):
        masked = SDPA(query, key, value, attn_mask=mask, is_causal=False)
        return masked, DECODE(far, keys, values, cur_pos=[9], sliding_window_size=3)

    want = attention(*tensors, mask=mask)
    want[0, :, 5], want[1, :, 32] = 0.0, 0.0
    for called in (attend, jit(graph_capture=graph_capture)(attend)):
        masked, beyond = (ttnn.to_torch(each) for each in called(*on_device))
        assert_near(masked, want, 3e-5 if dtype is torch.float32 else 4e-2)
        assert not masked[0, :, 5].any()
        assert not masked[1, :, 32].any()
        assert not beyond.any()


def test_probabilities_are_multiplied_by_values_in_the_type_of_the_values():
    query, key = torch.zeros(1, 1, 1, 2), torch.zeros(1, 1, 3, 2)
    value = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])[None, None]
    found = jit()(lambda *each: SDPA(*each, is_causal=False))(query, key, value.bfloat16())
    assert found[0, 0, 0, 0] == 3 * torch.tensor(1 / 3).bfloat16().float()


def test_a_row_has_the_same_bits_whichever_rows_are_computed_with_it():
    query, key, value = tensors_of((3, 2, 2, 33, 40))
    attend = jit()(lambda *each: SDPA(*each))
    whole = attend(query, key, value)
    assert torch.equal(attend(query[1:2], key[1:2], value[1:2]), whole[1:2])


@pytest.mark.parametrize(
    "call",
    [
        lambda q, k, _, i: DECODE(q, k, k, cur_pos_tensor=i),
        lambda q, k, t, i: PAGED(q, k, k, t, cur_pos_tensor=i),
        lambda q, k, t, i: CHUNKED(ttnn.permute(q, (1, 2, 0, 3)), k, k, t, chunk_start_idx_tensor=i[:1]),
    ],
    ids=["decode", "paged", "chunked"],
)
def test_integer_positions_and_tables_are_in_dumps_that_are_verified(call):
    query, key, table = torch.zeros(1, 2, 4, 16), torch.zeros(2, 2, 8, 16), torch.zeros(2, 1, dtype=torch.int32)
    program = jit(enable_cache=False)(lambda *each: call(*each))
    for stage in ("frontend", "convert-ttnn-to-ttir", "d2m-op-scheduler"):
        text = program.ir(query, key, table, INDEX, stage=stage)
        assert print_module(parse_module(text)) == text
    with pytest.raises(CompileError, match=r"`(cur_pos|chunk_start_idx)_tensor` of .* does not take FLOAT32 tensors"):
        program(query, key, table, INDEX.float())


X, K = torch.zeros(2, 4, 8, 16), torch.zeros(2, 2, 8, 16)
INDEX = torch.zeros(2, dtype=torch.int32)


@FRONTENDS
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, k, _: SDPA(x, k[:, :, :, :8], k), "queries and keys have as many channels|keys and values"),
        (lambda x, k, _: SDPA(x, k, k[:, :, 1:]), "keys and values have the same users, heads and positions"),
        (lambda x, k, _: SDPA(x[:, :3], k, k), "3 heads of queries cannot share 2 heads of keys and values"),
        (lambda x, k, _: SDPA(x[0], k, k), "all have four dimensions"),
        (lambda x, k, _: SDPA(x, k, k, attn_mask=x), "`attn_mask` is given, and `is_causal` is True"),
        (lambda x, k, _: SDPA(x, k, k, attn_mask=x, is_causal=False), r"`attn_mask` has shape \[2, 4, 8, 16\]"),
        (lambda x, k, _: SDPA(x, k, k, sliding_window_size=0), "a window has at least one position"),
        (lambda x, k, _: SDPA(x, k, k, attention_sink=x), r"`attention_sink` has shape \[2, 4, 8, 16\]"),
        (lambda x, k, _: DECODE(x, k, k, cur_pos=[1, 2]), r"queries of one position have shape \[2, 4, 8, 16\]"),
        (lambda x, k, _: DECODE(x[:1, :2, :2], k, k), r"the positions of 2 users have shape \[0\]"),
        (lambda x, k, i: DECODE(x[:1, :2, :2], k, k, cur_pos_tensor=i[:1]), r"of 2 users have shape \[1\]"),
        (lambda x, k, i: DECODE(x[:1, :2, :2], k, k, cur_pos=[1], cur_pos_tensor=i), "positions are given twice"),
        (
            lambda x, k, i: PAGED(x[:1, :2, :2], k, k, i, cur_pos_tensor=i),
            r"a page table of shape \[2\] names no pages",
        ),
        (
            lambda x, k, i: CHUNKED(x, k, k, ttnn.reshape(i, (2, 1)), 1),
            "positions 1 to 9 exceed the 8 positions of the pages",
        ),
        (
            lambda x, k, i: CHUNKED(x, k, k, ttnn.reshape(i, (2, 1))),
            "exactly one of `chunk_start_idx` and `chunk_start_idx_tensor` is given",
        ),
        (
            lambda x, k, _: ttnn.transformer.joint_scaled_dot_product_attention(
                x, x, x, k, k, k, joint_strategy="rear"
            ),
            "differ in more than dimension 2",
        ),
    ],
)
def test_invalid_attention_is_refused_at_its_location(call, message, graph_capture):
    with pytest.raises(CompileError, match=message) as caught:
        jit(graph_capture=graph_capture)(call)(X, K, INDEX)
    assert caught.value.location.file == __file__
