"""Key and value caches of block floats: reads and writes of decoders, against float64."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import ttnn

USERS, KV_HEADS, HEADS, POSITIONS, HEAD = 2, 2, 4, 256, 64
BLOCK = 32  # positions in a page
BLOCKS = POSITIONS // BLOCK
SCALE = HEAD**-0.5
LOST = {ttnn.bfloat16: 0.0, ttnn.bfloat8_b: 2.0**-7, ttnn.bfloat4_b: 2.0**-3}
"""The relative rounding error of a bfloat16 element in the element type, at most, by the largest of 16 elements."""

every_dtype = pytest.mark.parametrize("dtype", LOST, ids=lambda dtype: dtype.name.lower())


def float64(tensor) -> torch.Tensor:
    return ttnn.to_torch(tensor).double()


def drawn(generator, dtype, device, *shape):
    return ttnn.from_torch(
        torch.randn(*shape, generator=generator), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device
    )


def of_integers(values, device):
    return ttnn.from_torch(torch.as_tensor(values, dtype=torch.int32), dtype=ttnn.int32, device=device)


def in_pages(cache: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Users' caches as pages: page `table[u, i]` holds positions `32 i` and on of user `u`."""
    pages = torch.empty(USERS * BLOCKS, KV_HEADS, BLOCK, HEAD)
    for user in range(USERS):
        for block in range(BLOCKS):
            pages[table[user, block]] = cache[user, :, block * BLOCK : (block + 1) * BLOCK]
    return pages


def attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
    """Attention in float64 with shared key heads; `seen` lists the positions that a row of `query` attends to."""
    keys, values = (each.repeat_interleave(HEADS // KV_HEADS, -3) for each in (keys, values))
    scores = (query @ keys.transpose(-1, -2) * SCALE).masked_fill(~seen, float("-inf"))
    return scores.softmax(-1) @ values


def assert_close(result: torch.Tensor, expected: torch.Tensor) -> None:
    """Compares a bfloat16 result whose weights may have been rounded to bfloat16 too: at most 2 roundings of 2**-8."""
    assert result.shape == expected.shape
    assert (result - expected).abs().max() <= 2 * 2.0**-8 * expected.abs().max().clamp(min=1)


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


@pytest.fixture
def table(generator):
    return torch.randperm(USERS * BLOCKS, generator=generator).reshape(USERS, BLOCKS)


@every_dtype
def test_a_step_reads_a_cache_and_its_pages(device, generator, table, dtype):
    query = drawn(generator, ttnn.bfloat16, device, 1, USERS, HEADS, HEAD)
    keys, values = (drawn(generator, dtype, device, USERS, KV_HEADS, POSITIONS, HEAD) for _ in range(2))
    at = torch.tensor([17, 200])
    seen = (torch.arange(POSITIONS) <= at[:, None]).reshape(USERS, 1, 1, POSITIONS)
    expected = attention(float64(query)[0, :, :, None], float64(keys), float64(values), seen)[:, :, 0][None]

    result = ttnn.transformer.scaled_dot_product_attention_decode(
        query, keys, values, cur_pos_tensor=of_integers(at, device), scale=SCALE
    )
    assert_close(float64(result)[:, :, :HEADS], expected)

    pages = [
        ttnn.from_torch(in_pages(ttnn.to_torch(each).float(), table), dtype, layout=ttnn.TILE_LAYOUT, device=device)
        for each in (keys, values)
    ]
    paged = ttnn.transformer.paged_scaled_dot_product_attention_decode(
        query,
        *pages,
        page_table_tensor=of_integers(table, device),
        cur_pos_tensor=of_integers(at, device),
        scale=SCALE,
    )
    assert_close(float64(paged)[:, :, :HEADS], expected)


@every_dtype
def test_a_prompt_reads_a_cache_and_a_chunk_its_pages(device, generator, table, dtype):
    keys, values = (drawn(generator, dtype, device, USERS, KV_HEADS, POSITIONS, HEAD) for _ in range(2))
    query = drawn(generator, ttnn.bfloat16, device, USERS, HEADS, POSITIONS, HEAD)
    causal = torch.ones(POSITIONS, POSITIONS, dtype=torch.bool).tril()
    expected = attention(float64(query), float64(keys), float64(values), causal)
    result = ttnn.transformer.scaled_dot_product_attention(query, keys, values, is_causal=True, scale=SCALE)
    assert_close(float64(result), expected)

    start, rows = 128, 64
    pages = [
        ttnn.from_torch(in_pages(ttnn.to_torch(each).float(), table), dtype, layout=ttnn.TILE_LAYOUT, device=device)
        for each in (keys, values)
    ]
    chunk = ttnn.from_torch(ttnn.to_torch(query)[:1, :, start : start + rows], layout=ttnn.TILE_LAYOUT, device=device)
    paged = ttnn.transformer.chunked_scaled_dot_product_attention(chunk, *pages, of_integers(table[:1], device), start)
    assert_close(float64(paged), expected[:1, :, start : start + rows])


@every_dtype
def test_a_step_writes_one_position_of_each_user(device, generator, table, dtype):
    """A block is 16 elements of one row, so that no element of another row changes their exponent."""
    pages = drawn(generator, dtype, device, USERS * BLOCKS, KV_HEADS, BLOCK, HEAD)
    before = float64(pages)
    config = ttnn.create_sharded_memory_config(
        (BLOCK, HEAD), ttnn.CoreGrid(y=1, x=USERS), ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
    )
    new = ttnn.to_memory_config(drawn(generator, ttnn.bfloat16, device, 1, USERS, KV_HEADS, HEAD), config)
    at = [17, 200]
    ttnn.experimental.paged_update_cache(
        pages, new, update_idxs_tensor=of_integers(at, device), page_table=of_integers(table, device)
    )
    after = float64(pages)
    for user, position in enumerate(at):
        page, row = table[user, position // BLOCK], position % BLOCK
        written = float64(new)[0, user]
        assert (after[page, :, row] - written).abs().max() <= LOST[dtype] * written.abs().max()
        after[page, :, row] = before[page, :, row]
    assert torch.equal(after, before)


@every_dtype
def test_a_prompt_fills_pages_of_one_user(device, generator, table, dtype):
    pages = drawn(generator, dtype, device, USERS * BLOCKS, KV_HEADS, BLOCK, HEAD)
    prompt = drawn(generator, dtype, device, 1, KV_HEADS, 4 * BLOCK, HEAD)
    expected = float64(pages)
    for block in range(4):
        expected[table[1, block]] = float64(prompt)[0, :, block * BLOCK : (block + 1) * BLOCK]
    ttnn.experimental.paged_fill_cache(pages, prompt, of_integers(table, device), batch_idx=1)
    assert torch.equal(float64(pages), expected)
