"""Idioms of public encoders, Falcon-7B and convolutional networks with layouts and heads."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError

HEIGHT, BLOCK = ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.BLOCK


def on(device, tensor, dtype=ttnn.bfloat16, **keywords):
    return ttnn.from_torch(tensor, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device, **keywords)


def same(tensor, expected):
    return torch.equal(ttnn.to_torch(tensor), expected)


def test_movements_of_host_tensors_stay_on_the_host():
    x = torch.randn(2, 64, 32)
    host = ttnn.from_torch(x)
    moved = {
        "reshape": (ttnn.reshape(host, (2, 4, 16, 32)), x.reshape(2, 4, 16, 32)),
        "permute": (ttnn.permute(host, (0, 2, 1)), x.permute(0, 2, 1)),
        "slice": (host[:, 3:5], x[:, 3:5]),
        "pad": (ttnn.pad(host, ((0, 0), (0, 1), (0, 0)), 1.0), torch.nn.functional.pad(x, (0, 0, 0, 1), value=1.0)),
        "unsqueeze": (ttnn.unsqueeze_to_4D(host), x[None]),
        "pad to": (ttnn.pad(host, (2, 65, 32), (0, 1, 0), 1.0), torch.nn.functional.pad(x, (0, 0, 1, 0), value=1.0)),
        "pad with itself": (
            ttnn.pad(host, ((0, 0), (0, 0), (3, 0)), mode="reflect"),
            torch.nn.functional.pad(x, (3, 0), mode="reflect"),
        ),
        "roll": (ttnn.roll(host, 3, 1), x.roll(3, 1)),
        "stack": (ttnn.stack([host, host], 1), torch.stack([x, x], 1)),
        "split": (ttnn.split(host, 16, 2)[1], x[..., 16:]),
    }
    for result, expected in moved.values():
        assert result.storage_type() is ttnn.StorageType.HOST
        assert result.layout is ttnn.ROW_MAJOR_LAYOUT
        assert same(result, expected)
    with pytest.raises(ArgumentError, match=r"`grad_tensor` is on the host\nhelp: move it to a device"):
        ttnn.exp_bw(host, host)


def test_movements_of_tensors_on_the_host_are_written_into_tensors_there(device):
    x = torch.randn(2, 64, 32)
    host, target, copy = ttnn.from_torch(x), *(ttnn.zeros(s, ttnn.float32) for s in ((2, 32, 64), (2, 64, 32)))
    assert ttnn.permute(host, (0, 2, 1), output_tensor=target) is target
    assert ttnn.copy(host, copy) is copy
    assert same(target, x.permute(0, 2, 1))
    assert same(copy, x)
    with pytest.raises(ArgumentError, match=r"`output_tensor` is on Device.*, the operands on the host\nhelp: move"):
        ttnn.permute(host, (0, 2, 1), output_tensor=target.to(device))


@pytest.mark.parametrize("memory", ["host", "device"])
@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b])
def test_block_floats_are_bfloat16_in_rows(device, memory, dtype):
    x = on(device, torch.randn(33, 64), dtype)
    given = x if memory == "device" else ttnn.from_device(x)
    rows = ttnn.to_layout(given, ttnn.ROW_MAJOR_LAYOUT)
    assert (rows.dtype, rows.layout) == (ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT)
    assert torch.equal(ttnn.to_torch(rows).float(), ttnn.to_torch(x))


def test_shards_of_whole_rows_stay_so_in_both_layouts(device):
    x = torch.randn(1, 1, 256, 16).bfloat16()
    config = ttnn.create_sharded_memory_config((1, 1, 256, 32), core_grid=ttnn.CoreGrid(y=8, x=1), strategy=HEIGHT)
    tiles = ttnn.to_memory_config(on(device, x), config)
    rows = ttnn.to_layout(tiles, ttnn.ROW_MAJOR_LAYOUT)
    again = ttnn.to_layout(rows, ttnn.TILE_LAYOUT)
    assert list(rows.memory_config().shard_spec.shape) == [32, 16]
    assert again.memory_config() == tiles.memory_config()
    assert same(rows, x)
    assert same(again, x)


def test_heads_of_shards_are_those_of_each_shard(device):
    users, positions, heads, width, across = 2, 64, 4, 32, 2
    parts = [torch.randn(users, 1, positions, heads * width).bfloat16() for _ in range(3)]
    grouped = [part.reshape(users, 1, positions, across, -1) for part in parts]
    fused = torch.cat(grouped, -1).reshape(users, 1, positions, -1)
    grid = ttnn.CoreGrid(y=users, x=across)
    config = ttnn.create_sharded_memory_config(fused.shape, core_grid=grid, strategy=BLOCK)
    found = ttnn.experimental.split_query_key_value_and_split_heads(
        ttnn.to_memory_config(on(device, fused), config), num_heads=heads
    )
    query, key, value = (part.reshape(users, positions, heads, width).transpose(1, 2) for part in parts)
    assert all(map(same, found, (query, key.transpose(-1, -2), value)))


def test_scores_of_several_stacked_heads_share_the_mask_of_one(device):
    scores, mask = torch.randn(1, 1, 3 * 64, 64), torch.triu(torch.full((64, 64), -1e4), 1)
    found = ttnn.scale_causal_mask_hw_dims_softmax_in_place(
        on(device, scores, ttnn.float32), 0.125, on(device, mask[None, None], ttnn.float32)
    )
    expected = torch.softmax(scores.reshape(3, 64, 64) * 0.125 + mask, -1).reshape(scores.shape)
    assert torch.allclose(ttnn.to_torch(found), expected, atol=1e-6)


def test_softmax_of_packed_shards_needs_no_l1_for_unpacked_elements(device):
    shape = 1, 2, 384, 384
    config = ttnn.create_sharded_memory_config(shape, core_grid=ttnn.CoreGrid(y=2, x=1), strategy=HEIGHT)
    scores = ttnn.to_memory_config(on(device, torch.randn(shape), ttnn.bfloat8_b), config)
    held = device.memory_view().used
    mask = on(device, torch.zeros(1, 1, 1, 384))
    found = ttnn.transformer.attention_softmax_(scores, attention_mask=mask, head_size=64)
    assert device.memory_view().used == held
    assert device.memory_view().high_water < held + 384 * 384 * 4
    assert torch.allclose(ttnn.to_torch(found).sum(-1), torch.ones(()), atol=0.05)
