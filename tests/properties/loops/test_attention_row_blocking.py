"""Attention in blocks of rows: the same bits as all rows at once, and a block of the scores in memory.

Blocks run before the whole: its result may lie where theirs did, so that what they did not write would not show.
"""

from __future__ import annotations

import math
import re

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.codegen.blocking import attention_row_blocking

SDPA = ttnn.transformer.scaled_dot_product_attention
SIZES = st.tuples(*(st.integers(1, most) for most in (2, 2, 2, 70, 40)))
"""Users, heads of keys, heads of queries for each, positions, channels."""


def in_blocks(monkeypatch, rows):
    """Makes every attention run in blocks of about this many rows; with None, without blocks."""
    monkeypatch.setattr(attention_row_blocking, "least_bytes", lambda: 0 if rows else math.inf)
    monkeypatch.setattr(attention_row_blocking, "BLOCK_BYTES", 0)
    monkeypatch.setattr(attention_row_blocking, "MOST_BLOCKS", 1 << 30)
    monkeypatch.setattr(attention_row_blocking, "_ROWS", rows or 1)


def blocks_of(function, *tensors):
    """The number of blocks of each launch, and their largest number of rows."""
    return [
        tuple(map(int, each)) for each in re.findall(r"in (\d+) blocks of (\d+) rows", str(function.explain(*tensors)))
    ]


def compiled(**keywords):
    return jit(enable_cache=False)(
        lambda *given: SDPA(*given[:3], attn_mask=given[3] if given[3:] else None, **keywords)
    )


@settings(max_examples=12, deadline=None)
@given(
    sizes=SIZES,
    rows=st.integers(1, 80),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    kind=st.sampled_from(["causal", "mask", "all"]),
    window=st.none() | st.integers(1, 60),
)
@example(sizes=(1, 2, 1, 1, 1), rows=1, dtype=torch.float32, kind="causal", window=None)
def test_a_row_has_the_same_bits_in_blocks_of_any_size(sizes, rows, dtype, kind, window):
    users, kv_heads, sharing, positions, width = sizes
    heads = kv_heads * sharing
    tensors = [torch.randn(users, each, positions, width).to(dtype) for each in (heads, kv_heads, kv_heads)]
    if kind == "mask":
        tensors.append(torch.randn(users, 1, positions, positions).to(dtype))
    found = []
    for size in (rows, None):
        with pytest.MonkeyPatch.context() as monkeypatch:
            in_blocks(monkeypatch, size)
            attend = compiled(is_causal=kind == "causal", sliding_window_size=window)
            found.append(attend(*tensors))
    assert torch.equal(*found)


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16])
@pytest.mark.parametrize("positions", [40, 70, 64])
def test_scores_of_partial_tiles_have_the_same_bits_in_blocks(positions, dtype, cpu_device):
    shape = (1, 3, positions, 32)
    given = [
        ttnn.from_torch(torch.randn(shape), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=cpu_device) for _ in range(3)
    ]
    found, blocks = [], []
    for rows in (32, None):
        with pytest.MonkeyPatch.context() as monkeypatch:
            in_blocks(monkeypatch, rows)
            attend = jit(enable_cache=False)(by_hand(lambda scores: scores))
            found.append(ttnn.to_torch(attend(*given)))
            blocks.append(blocks_of(attend, *given))
    assert blocks[0]
    assert torch.equal(*found)


def columns_of(function, *tensors):
    """The share of the columns that are computed, in percent."""
    return [int(each) for each in re.findall(r"(\d+)% of their columns", str(function.explain(*tensors)))]


@settings(max_examples=8, deadline=None)
@given(
    sharing=st.integers(1, 3),
    rows=st.sampled_from([32, 64]),
    queries=st.integers(130, 260),
    keys=st.integers(130, 260),
    causal=st.booleans(),
    window=st.none() | st.integers(1, 90),
    sink=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    in_tiles=st.booleans(),
)
@example(1, 32, 150, 170, True, None, False, torch.bfloat16, True)
def test_columns_that_are_masked_for_a_whole_block_are_skipped_and_no_bit_changes(
    sharing, rows, queries, keys, causal, window, sink, dtype, in_tiles
):
    shapes = (2 * sharing, queries), (2, keys), (2, keys)
    tensors = [torch.randn(1, heads, extent, 16).to(dtype) for heads, extent in shapes]
    sinks = [torch.randn(1, 2 * sharing, 1, 1).to(dtype)] if sink else []
    if in_tiles:
        device = ttnn.open_device(device_id=0, target="cpu")
        tensors, sinks = (
            [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in part]
            for part in (tensors, sinks)
        )

    def attend(q, k, v, *sinks):
        return SDPA(q, k, v, is_causal=causal, sliding_window_size=window, attention_sink=sinks[0] if sinks else None)

    found, shares = [], []
    for size in (rows, None):
        with pytest.MonkeyPatch.context() as monkeypatch:
            in_blocks(monkeypatch, size)
            function = jit(enable_cache=False)(attend)
            result = function(*tensors, *sinks)
            found.append(ttnn.to_torch(result) if in_tiles else result)
            shares += columns_of(function, *tensors, *sinks) if size else []
    torch.testing.assert_close(*found, rtol=0, atol=0, equal_nan=True)
    assert len(shares) == (3 if causal or window is not None else 0)
    assert all(share < 100 for share in shares)


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16])
def test_any_number_of_causal_blocks_needs_the_same_number_of_launches_in_the_plan(dtype, monkeypatch, cpu_device):
    """Each block of rows attends to that many more columns than the one before it, in every head."""
    in_blocks(monkeypatch, 32)
    launches, runs = [], []
    for positions in (256, 512):
        shape = 1, 2, positions, 32
        given = [
            ttnn.from_torch(torch.randn(shape), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=cpu_device)
            for _ in range(3)
        ]
        plan = jit(compile_only=True)(lambda *given: SDPA(*given, is_causal=True))(*given).plan
        launches.append(len(plan.each_launch))
        runs.append(plan.runs)
    assert launches[0] == launches[1]
    assert runs[1] - runs[0] == 3 * 2 * (256 // 32)


def by_hand(masked):
    """Attention whose scores are `masked` before their softmax."""

    def attend(q, k, v, *others):
        scores = ttnn.multiply(ttnn.matmul(q, k, transpose_b=True), 0.25)
        return ttnn.matmul(ttnn.softmax(masked(scores, *others)), v)

    return attend


def test_columns_that_may_be_unmasked_are_computed(monkeypatch):
    """A mask that is an argument, numbers that are merely large, and a pass that uses the columns."""
    in_blocks(monkeypatch, 32)
    tensors = [torch.randn(1, 4, 128, 16) for _ in range(3)]
    mask = torch.zeros(1, 1, 128, 128).masked_fill(torch.ones(128, 128).triu(1).bool(), -math.inf)
    given_mask = jit(enable_cache=False)(by_hand(ttnn.add))
    assert blocks_of(given_mask, *tensors, mask)
    assert columns_of(given_mask, *tensors, mask) == []
    assert columns_of(compiled(is_causal=False), *tensors) == []


def test_rows_with_infinite_or_nan_scores_are_the_same_without_their_masked_columns(monkeypatch):
    tensors = [torch.randn(1, 2, 128, 16) for _ in range(3)]
    tensors[0][0, 0, 5], tensors[0][0, 0, 40] = math.inf, math.nan
    tensors[1][0, 0, 77] = -math.inf
    found = []
    for size in (None, 32):
        in_blocks(monkeypatch, size)
        found.append(compiled()(*tensors))
    assert found[0].isnan().any()
    torch.testing.assert_close(*found, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("positions", [96, 100])
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_rows_of_tiles_are_blocked_too(monkeypatch, target, positions):
    tensors = [torch.randn(1, 3, positions, 32).bfloat16() for _ in range(3)]
    with ttnn.manage_device(0, target=target) as device:
        on_device = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in tensors]
        in_blocks(monkeypatch, 40)
        blocked = ttnn.to_torch(compiled()(*on_device))
        in_blocks(monkeypatch, None)
        assert torch.equal(ttnn.to_torch(compiled()(*on_device)), blocked)


def test_three_launches_share_blocks_and_only_one_block_is_in_memory(monkeypatch):
    tensors = [torch.randn(1, 4, 100, 16) for _ in range(3)]
    in_blocks(monkeypatch, 40)
    attend = compiled(is_causal=False)
    assert blocks_of(attend, *tensors) == [(12, 40)] * 3
    program = jit(enable_cache=False, compile_only=True)(lambda *given: SDPA(*given, is_causal=False))(*tensors)
    assert [spec.nbytes for spec in program.plan.intermediates] == [40 * 100 * 4] * 2
    in_blocks(monkeypatch, None)
    assert blocks_of(compiled(is_causal=False), *tensors) == []


def test_an_extent_of_heads_equal_to_the_rows_is_not_mistaken_for_them(monkeypatch):
    in_blocks(monkeypatch, 4)
    assert blocks_of(compiled(), *(torch.randn(1, 8, 8, 16) for _ in range(3))) == [(16, 4)] * 3


def scores_returned(q, k, v):
    scores = ttnn.matmul(q, k, transpose_b=True)
    return ttnn.matmul(ttnn.softmax(scores), v), scores


def one_head(q, k, v):
    return ttnn.matmul(ttnn.softmax(ttnn.matmul(q[:, :1], k[:, :1], transpose_b=True)), v[:, :1])


def one_matrix(q, k, v):
    return ttnn.matmul(ttnn.softmax(ttnn.matmul(q, k[0, 0], transpose_b=True)), v[0, 0])


@pytest.mark.parametrize("program", [scores_returned, one_head, one_matrix])
def test_scores_with_other_readers_or_packed_for_all_heads_are_not_blocked(monkeypatch, program):
    tensors = [torch.randn(1, 4, 100, 16) for _ in range(3)]
    in_blocks(monkeypatch, 40)
    assert blocks_of(jit(enable_cache=False)(program), *tensors) == []


def test_small_scores_are_not_blocked_and_large_ones_are_in_no_more_blocks_than_the_limit():
    small, large = ([torch.zeros(1, 32, positions, 8) for _ in range(3)] for positions in (64, 1024))
    assert blocks_of(compiled(), *small) == []
    (count, rows), *_ = blocks_of(compiled(), *large)
    assert count <= attention_row_blocking.MOST_BLOCKS
    assert count * rows >= 32 * 1024


def packed_as(dtype, tensors):
    """These tensors tiled on a device without a chip's rules, each of its type."""
    device = ttnn.open_device(device_id=0, target="cpu")
    on_device = zip(tensors, dtype, strict=True)
    return [ttnn.from_torch(each, dtype=own, layout=ttnn.TILE_LAYOUT, device=device) for each, own in on_device]


def attend_by_hand(q, k, v):
    """Causal attention whose queries are multiplied unchanged."""
    scores = ttnn.matmul(q, k, transpose_b=True)
    mask = ttnn.triu(ttnn.full((1, 1, q.shape[2], q.shape[2]), -math.inf, dtype=ttnn.float32), 1)
    return ttnn.matmul(ttnn.softmax(ttnn.add(scores, mask)), v)


@settings(max_examples=6, deadline=None)
@given(
    positions=st.integers(130, 260),
    packed=st.tuples(*[st.sampled_from([ttnn.bfloat8_b, ttnn.bfloat4_b, ttnn.bfloat16])] * 3),
    attend=st.sampled_from([attend_by_hand, SDPA]),
)
@example(positions=164, packed=(ttnn.bfloat8_b,) * 3, attend=attend_by_hand)
@example(positions=192, packed=(ttnn.bfloat8_b,) * 3, attend=SDPA)
def test_blocks_of_packed_queries_keys_and_values_have_the_bits_of_all_rows_at_once(positions, packed, attend):
    tensors = packed_as(packed, [torch.randn(1, 2, positions, 64) for _ in range(3)])
    found = []
    for size in (32, None):
        with pytest.MonkeyPatch.context() as monkeypatch:
            in_blocks(monkeypatch, size)
            function = jit(enable_cache=False)(lambda *given: attend(*given))
            found.append(ttnn.to_torch(function(*tensors)))
    assert torch.equal(*found)


@settings(max_examples=10, deadline=None)
@given(
    heads=st.integers(2, 4),
    parts=st.sampled_from([(4, 16), (2, 32), (8, 8), (1, 64), (5, 12)]),
    rows=st.sampled_from([4, 16, 32, 64]),
    layout=st.sampled_from([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT]),
    merged=st.booleans(),
)
@example(heads=4, parts=(4, 16), rows=32, layout=ttnn.TILE_LAYOUT, merged=True)
def test_rows_that_the_result_stores_in_several_loops_are_all_written(heads, parts, rows, layout, merged):
    """A launch that writes in another shape with padded tiles traverses rows of a head in two loops."""
    device = ttnn.open_device(device_id=0, target="cpu")
    positions = math.prod(parts)
    tensors = [torch.randn(1, heads, positions, 32) for _ in range(3)]
    shape = (heads * parts[0], parts[1], 32) if merged else (heads, *parts, 32)

    def attend(q, k, v):
        return ttnn.reshape(ttnn.matmul(ttnn.softmax(ttnn.matmul(q, k, transpose_b=True)), v), shape)

    on_device = [ttnn.from_torch(each, layout=layout, device=device) for each in tensors]
    with pytest.MonkeyPatch.context() as monkeypatch:
        in_blocks(monkeypatch, rows)
        got = ttnn.to_torch(jit(enable_cache=False)(attend)(*on_device))
    q, k, v = (each.double() for each in tensors)
    want = ((q @ k.mT).softmax(-1) @ v).reshape(shape)
    torch.testing.assert_close(got.double(), want, rtol=1e-4, atol=1e-4)
