"""Rows split into heads and concatenated: every head equals that of a reference loop."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError

EXTENTS = st.tuples(*(st.integers(1, most) for most in (3, 35, 3, 3, 40)))
"""Batch, positions, heads of keys, heads of queries for each, channels per head."""
FRONTENDS = pytest.mark.parametrize("graph_capture", [False, True])


def heads_of(extents):
    """Random heads of queries, keys and values."""
    batch, positions, kv_heads, sharing, width = extents
    generator = torch.Generator().manual_seed(sum(extents))
    counts = (kv_heads * sharing, kv_heads, kv_heads)
    return [torch.randn(batch, count, positions, width, generator=generator) for count in counts]


def rows_of(*heads):
    """The heads of each tensor concatenated, and the tensors concatenated."""
    return torch.cat([each[:, head] for each in heads for head in range(each.shape[1])], -1)


def rows_of_groups(query, key, value):
    """Group by group: the queries that share a key, the key and the value."""
    sharing = query.shape[1] // key.shape[1]
    groups = range(key.shape[1])
    parts = [(query[:, g * sharing : (g + 1) * sharing], key[:, g : g + 1], value[:, g : g + 1]) for g in groups]
    return torch.cat([rows_of(*part) for part in parts], -1)


def check(found, query, key, value):
    assert type(found) is tuple
    for got, want in zip(found, (query, key, value), strict=True):
        assert torch.equal(got if isinstance(got, torch.Tensor) else ttnn.to_torch(got), want)


@settings(max_examples=20, deadline=None)
@given(extents=EXTENTS, transposes=st.booleans(), are_separate=st.booleans(), graph_capture=st.booleans())
def test_rows_of_concatenated_heads_are_split(extents, transposes, are_separate, graph_capture):
    query, key, value = heads_of(extents)
    heads, kv_heads = query.shape[1], key.shape[1]
    given = [rows_of(query), rows_of(key, value)] if are_separate else [rows_of(query, key, value)]
    wanted = (query, key.mT if transposes else key, value)

    def three(*rows):
        return ttnn.transformer.split_query_key_value_and_split_heads(
            *rows, num_heads=heads, num_kv_heads=kv_heads, transpose_key=transposes
        )

    def four(*rows):
        return ttnn.experimental.nlp_create_qkv_heads(
            *rows, num_heads=heads, num_kv_heads=kv_heads, transpose_k_heads=transposes
        )

    check(jit(graph_capture=graph_capture)(three)(*given), *wanted)
    check(jit(graph_capture=graph_capture)(four)(*(each[:, None] for each in given)), *wanted)


@settings(max_examples=15, deadline=None)
@given(extents=EXTENTS, transposes=st.booleans(), graph_capture=st.booleans())
def test_rows_of_groups_are_split(extents, transposes, graph_capture):
    query, key, value = heads_of(extents)
    heads, kv_heads = query.shape[1], key.shape[1]

    def split(x):
        return ttnn.experimental.create_qkv_heads(
            x, num_heads=heads, num_kv_heads=kv_heads, transpose_k_heads=transposes
        )

    rows = rows_of_groups(query, key, value)[:, None]
    check(jit(graph_capture=graph_capture)(split)(rows), query, key.mT if transposes else key, value)


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_sharded_rows_hold_groups_as_in_ttnn(target):
    query, key, value = (each.bfloat16() for each in heads_of((1, 64, 2, 1, 32)))
    config = ttnn.create_sharded_memory_config((1, 64, 192), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.WIDTH)
    with ttnn.manage_device(0, target=target) as device:
        keywords = {"layout": ttnn.TILE_LAYOUT, "device": device}
        sharded = ttnn.from_torch(rows_of_groups(query, key, value), **keywords, memory_config=config)
        split = ttnn.transformer.split_query_key_value_and_split_heads
        check(
            split(sharded, num_heads=2, memory_config=ttnn.DRAM_MEMORY_CONFIG, transpose_key=False), query, key, value
        )
        plain = ttnn.from_torch(rows_of(query, key, value), **keywords)
        check(split(plain, num_heads=2), query, key.mT, value)


@settings(max_examples=15, deadline=None)
@given(extents=EXTENTS, padding=st.integers(0, 2), graph_capture=st.booleans())
def test_heads_of_users_are_split_and_concatenated(extents, padding, graph_capture):
    users, kv_heads, sharing, width = extents[1:]
    heads = kv_heads * sharing
    rows = torch.randn(1, 1, users, (heads + 2 * kv_heads) * width)

    @jit(graph_capture=graph_capture)
    def split(x):
        return ttnn.experimental.nlp_create_qkv_heads_decode(x, num_heads=heads, num_kv_heads=kv_heads)

    query, key, value = split(rows)
    assert torch.equal(torch.cat([each.reshape(1, 1, users, -1) for each in (query, key, value)], -1), rows)
    assert query.shape == (1, users, heads, width)
    assert key.shape == value.shape == (1, users, kv_heads, width)
    padded = torch.cat([query, torch.randn(1, users, padding, width)], 2)
    joined = jit(graph_capture=graph_capture)(lambda x: ttnn.experimental.nlp_concat_heads_decode(x, num_heads=heads))(
        padded
    )
    assert joined.shape[2] == max(users, 32)
    assert torch.equal(joined[:, :, :users], rows[..., : heads * width])
    assert not joined[:, :, users:].any()


@settings(max_examples=15, deadline=None)
@given(extents=EXTENTS, graph_capture=st.booleans())
def test_concatenated_heads_are_rows(extents, graph_capture):
    query, *_ = heads_of(extents)

    @jit(graph_capture=graph_capture)
    def rows(x):
        return (
            ttnn.transformer.concatenate_heads(x),
            ttnn.experimental.concatenate_heads(x),
            ttnn.experimental.nlp_concat_heads(x),
        )

    three, four, nlp = rows(query)
    assert torch.equal(three, rows_of(query))
    assert torch.equal(four, three[:, None])
    assert torch.equal(nlp, three[:, None])


@pytest.mark.parametrize("sharded", [False, True])
def test_heads_of_users_have_the_requested_memory_config(device, sharded):
    x = ttnn.from_torch(torch.randn(1, 1, 8, 6 * 32).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device)
    config = ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG if sharded else ttnn.L1_MEMORY_CONFIG
    found = ttnn.experimental.nlp_create_qkv_heads_decode(x, num_heads=4, num_kv_heads=1, memory_config=config)
    assert [each.memory_config().memory_layout for each in found] == [config.memory_layout] * 3
    if sharded:  # one core per user, with its heads padded to whole tiles
        assert [each.memory_config().shard_spec.shape for each in found] == [(32, 32)] * 3
        assert [each.memory_config().shard_spec.num_cores() for each in found] == [8] * 3
    joined = torch.cat([ttnn.to_torch(each).reshape(1, 1, 8, -1) for each in found], -1)
    assert torch.equal(joined, ttnn.to_torch(x))


SPLIT = ttnn.transformer.split_query_key_value_and_split_heads
NLP = ttnn.experimental


@FRONTENDS
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: SPLIT(x, num_heads=5), "rows of 48 channels do not divide into 15 heads"),
        (lambda x: SPLIT(x, num_heads=4, num_kv_heads=3), "4 heads of queries cannot share 3 heads of keys and values"),
        (lambda x: SPLIT(x, num_heads=0), "0 heads of queries cannot share 0"),
        (lambda x: SPLIT(x, x, num_heads=2), r"keys and values of shape \[2, 4, 48\] do not fit queries"),
        (lambda x: SPLIT(x), "lacks its argument `num_heads`"),
        (lambda x: SPLIT(x, num_heads=2.5), "`num_heads` of .* must be a whole number, got 2.5"),
        (lambda x: NLP.nlp_create_qkv_heads(x, num_heads=2), r"`input_tensor` has shape \[2, 4, 48\]"),
        (lambda x: NLP.create_qkv_heads(x, num_heads=2), r"`input_tensor` has shape \[2, 4, 48\]"),
        (lambda x: NLP.nlp_create_qkv_heads_decode(x, num_heads=2), r"`input_tensor` has shape \[2, 4, 48\]"),
        (
            lambda x: NLP.create_qkv_heads_from_separate_tensors(
                ttnn.unsqueeze(x, 1), ttnn.reshape(x, (2, 1, 8, 24)), num_heads=4
            ),
            r"keys and values of shape \[2, 8, 24\] do not fit queries of shape \[2, 4, 48\]",
        ),
        (lambda x: NLP.nlp_concat_heads(x), r"`input_tensor` has shape \[2, 4, 48\]"),
        (
            lambda x: NLP.nlp_concat_heads_decode(ttnn.reshape(x, (1, 2, 4, 48)), num_heads=5),
            r"a tensor of shape \[1, 2, 4, 48\] does not contain 5 heads",
        ),
    ],
)
def test_tensors_without_such_heads_are_refused_at_their_location(call, message, graph_capture):
    with pytest.raises(CompileError, match=message) as caught:
        jit(graph_capture=graph_capture)(call)(torch.zeros(2, 4, 48))
    assert caught.value.location.file == __file__
