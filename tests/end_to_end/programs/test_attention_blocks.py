"""Attention blocks of models: whole sequences against torch in float64, and token by token against the whole."""

from __future__ import annotations

import math

import pytest
import torch

from ttnn_jit import jit, ttnn

TARGETS = pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
HEADS, KV_HEADS, WIDTH, TOKENS = 4, 2, 32, 64
CHANNELS = HEADS * WIDTH
ROWS = (HEADS + 2 * KV_HEADS) * WIDTH


def angles(positions):
    frequencies = 10000.0 ** (-torch.arange(0, WIDTH, 2, dtype=torch.float64) / WIDTH)
    return torch.arange(positions, dtype=torch.float64)[:, None] * frequencies


def waves(positions):
    """Cosines and sines, [1, 1, positions, channels]."""
    whole = torch.cat([angles(positions)] * 2, -1)[None, None]
    return whole.cos().float(), whole.sin().float()


def rotated(x):
    """Channels i and i + n/2 as complex numbers, rotated by their position."""
    rotation = torch.polar(torch.ones_like(angles(x.shape[2])), angles(x.shape[2]))
    product = torch.complex(*x.chunk(2, -1)) * rotation
    return torch.cat([product.real, product.imag], -1)


def weights_of(seed=5):
    generator = torch.Generator().manual_seed(seed)
    shapes = (CHANNELS, ROWS), (CHANNELS, CHANNELS)
    return [torch.randn(shape, generator=generator) / math.sqrt(CHANNELS) for shape in shapes]


def in_torch(x, qkv, out, mask=None):
    """The block in float64: [tokens, channels] to the same."""
    rows = (x.double() @ qkv.double()).reshape(len(x), HEADS + 2 * KV_HEADS, WIDTH).transpose(0, 1)[None]
    query, key, value = rows.split([HEADS, KV_HEADS, KV_HEADS], 1)
    attention = torch.nn.functional.scaled_dot_product_attention
    found = attention(rotated(query), rotated(key), value, attn_mask=mask, is_causal=mask is None, enable_gqa=True)
    return found[0].transpose(0, 1).reshape(len(x), CHANNELS) @ out.double()


def block(x, qkv, out, cos, sin):
    """Scores by one ttnn operation."""
    rows = ttnn.linear(x, qkv)
    query, key, value = ttnn.experimental.nlp_create_qkv_heads(
        rows, num_heads=HEADS, num_kv_heads=KV_HEADS, transpose_k_heads=False
    )
    query = ttnn.experimental.rotary_embedding(query, cos, sin)
    key = ttnn.experimental.rotary_embedding(key, cos, sin)
    attended = ttnn.transformer.scaled_dot_product_attention(query, key, value, is_causal=True)
    return ttnn.linear(ttnn.experimental.nlp_concat_heads(attended), out)


def masked_block(x, qkv, out, cos, sin, mask):
    """Scores by hand, as older models write them."""
    query, key, value = ttnn.experimental.nlp_create_qkv_heads(
        ttnn.linear(x, qkv), num_heads=HEADS, num_kv_heads=KV_HEADS, transpose_k_heads=False
    )
    query = ttnn.experimental.rotary_embedding(query, cos, sin)
    key = ttnn.repeat_interleave(ttnn.experimental.rotary_embedding(key, cos, sin), HEADS // KV_HEADS, dim=1)
    value = ttnn.repeat_interleave(value, HEADS // KV_HEADS, dim=1)
    scores = ttnn.matmul(query, ttnn.permute(key, (0, 1, 3, 2)))
    weights = ttnn.transformer.attention_softmax_(scores, head_size=WIDTH, attention_mask=mask)
    return ttnn.linear(ttnn.experimental.nlp_concat_heads(ttnn.matmul(weights, value)), out)


def runs_of(function):
    return function, jit()(function), jit(graph_capture=True)(function)


@TARGETS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_an_attention_block_with_rotary_embeddings_is_torchs_eagerly_and_jitted(target, dtype):
    x, (qkv, out) = torch.randn(TOKENS, CHANNELS).to(dtype), [each.to(dtype) for each in weights_of()]
    mask = torch.randn(1, 1, TOKENS, TOKENS).masked_fill(torch.rand(1, 1, TOKENS, TOKENS) < 0.3, -1e9).to(dtype)
    tables = [each.to(dtype) for each in waves(TOKENS)]
    bound = (2e-4 if target == "cpu" else 5e-3) if dtype is torch.float32 else 0.06
    with ttnn.manage_device(0, target=target) as device:
        given = [
            ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in (x[None, None], qkv, out, *tables)
        ]
        on_device = ttnn.from_torch(mask, layout=ttnn.TILE_LAYOUT, device=device)
        for run in runs_of(block):
            found = ttnn.to_torch(run(*given))[0, 0]
            torch.testing.assert_close(found.double(), in_torch(x, qkv, out), rtol=bound, atol=bound)
        want = in_torch(x, qkv, out, mask[0, 0].double())
        for run in runs_of(masked_block):
            found = ttnn.to_torch(run(*given, on_device))[0, 0]
            torch.testing.assert_close(found.double(), want, rtol=bound, atol=2 * bound)


class Decoder:
    """An attention block with a cache of keys and values: one token per user at a time, [1, 1, users, channels]."""

    def __init__(self, device, weights, users, dtype, *, pages=0):
        def on_device(x, element_type):
            return ttnn.from_torch(x, dtype=element_type, layout=ttnn.TILE_LAYOUT, device=device)

        self.qkv, self.out = (on_device(each, ttnn.float32) for each in weights)
        self.cos, self.sin = (on_device(each, ttnn.float32) for each in waves(TOKENS))
        rows = TOKENS // pages if pages else TOKENS
        shape = (users * max(pages, 1), KV_HEADS, rows, WIDTH)
        self.keys, self.values = (on_device(torch.zeros(shape), dtype) for _ in range(2))
        self.table = None
        if pages:
            order = torch.randperm(users * pages, generator=torch.Generator().manual_seed(1), dtype=torch.int32)
            self.table = ttnn.from_torch(order.reshape(users, pages), device=device)

    def prefill(self, x, user):
        """All tokens so far of one user, [1, 1, tokens, channels]."""
        query, key, value = ttnn.experimental.nlp_create_qkv_heads(
            ttnn.linear(x, self.qkv), num_heads=HEADS, num_kv_heads=KV_HEADS, transpose_k_heads=False
        )
        query = ttnn.experimental.rotary_embedding(query, self.cos, self.sin)
        key = ttnn.experimental.rotary_embedding(key, self.cos, self.sin)
        for cache, rows in ((self.keys, key), (self.values, value)):
            if self.table is None:
                ttnn.fill_cache(cache, rows, user)
            else:
                ttnn.experimental.paged_fill_cache(cache, rows, self.table, batch_idx=user)
        attended = ttnn.transformer.scaled_dot_product_attention(query, key, value)
        return ttnn.linear(ttnn.experimental.nlp_concat_heads(attended), self.out)

    def decode(self, x, cos, sin, positions):
        """The next token of every user, whose angles are [1, users, 1, channels]."""
        query, key, value = ttnn.experimental.nlp_create_qkv_heads_decode(
            ttnn.linear(x, self.qkv), num_heads=HEADS, num_kv_heads=KV_HEADS
        )
        query = ttnn.experimental.rotary_embedding_hf(query, cos, sin, is_decode_mode=True)
        key = ttnn.experimental.rotary_embedding_hf(key, cos, sin, is_decode_mode=True)
        for cache, row in ((self.keys, key), (self.values, value)):
            ttnn.experimental.paged_update_cache(cache, row, update_idxs_tensor=positions, page_table=self.table)
        if self.table is None:
            attended = ttnn.transformer.scaled_dot_product_attention_decode(
                query, self.keys, self.values, cur_pos_tensor=positions
            )
        else:
            attended = ttnn.transformer.paged_scaled_dot_product_attention_decode(
                query, self.keys, self.values, self.table, cur_pos_tensor=positions
            )
        rows = ttnn.experimental.nlp_concat_heads_decode(attended, num_heads=HEADS)
        return ttnn.linear(rows, self.out)


CACHES = {"float32": (ttnn.float32, 0, 3e-4), "pages": (ttnn.bfloat16, 2, 0.03), "bfloat8_b": (ttnn.bfloat8_b, 0, 0.06)}


@TARGETS
@pytest.mark.parametrize(
    ("caches", "graph_capture"), [("pages", False), ("pages", True), ("float32", True), ("bfloat8_b", False)]
)
def test_tokens_decoded_one_at_a_time_equal_the_whole_sequence(target, caches, graph_capture):
    users, present, prompt, dtype, pages, bound = 32, 2, 32, *CACHES[caches]
    bound = max(bound, 0 if target == "cpu" else 5e-3)
    x, weights = torch.randn(present, prompt + 3, CHANNELS, generator=torch.Generator().manual_seed(2)), weights_of()
    whole = [in_torch(each, *weights) for each in x]
    prefill, decode = (jit(graph_capture=graph_capture)(each) for each in (Decoder.prefill, Decoder.decode))
    with ttnn.manage_device(0, target=target) as device:
        kwargs = {"layout": ttnn.TILE_LAYOUT, "device": device}
        decoder = Decoder(device, weights, users, dtype, pages=pages)
        for user in range(present):
            found = ttnn.to_torch(prefill(decoder, ttnn.from_torch(x[user, None, None, :prompt], **kwargs), user))[0, 0]
            torch.testing.assert_close(found.double(), whole[user][:prompt], rtol=bound, atol=bound)
        for position in range(prompt, prompt + 3):
            rows, index = torch.zeros(1, 1, users, CHANNELS), torch.full((users,), -1, dtype=torch.int32)
            rows[0, 0, :present], index[:present] = x[:, position], position
            tables = (each[:, :, position, None].expand(1, users, 1, WIDTH) for each in waves(TOKENS))
            given = [ttnn.from_torch(each, **kwargs) for each in (rows, *tables)]
            found = ttnn.to_torch(decode(decoder, *given, ttnn.from_torch(index, device=device)))[0, 0]
            for user in range(present):
                torch.testing.assert_close(found[user].double(), whole[user][position], rtol=bound, atol=bound)
            assert not found[present:].any()
