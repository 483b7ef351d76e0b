"""Positions that change with every token, given as numbers: one program serves all of them."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError

DECODE = ttnn.transformer.scaled_dot_product_attention_decode
UPDATE = ttnn.experimental.paged_update_cache
USERS, HEADS, POSITIONS, WIDTH = 2, 4, 64, 32


def tensor(device, *shape, dtype=ttnn.bfloat16):
    return ttnn.from_torch(torch.randn(shape), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def indices(device, numbers):
    return ttnn.from_torch(torch.tensor(numbers), dtype=ttnn.int32, device=device)


def decoded(device, cache, **positions):
    torch.manual_seed(0)
    return ttnn.to_torch(DECODE(tensor(device, 1, USERS, HEADS, WIDTH), cache, cache, **positions))


def updated(device, cache, **positions):
    torch.manual_seed(0)
    kept = ttnn.clone(cache)
    UPDATE(kept, tensor(device, 1, USERS, HEADS, WIDTH), **positions)
    return ttnn.to_torch(kept)


@pytest.mark.parametrize("users", [1, 3])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b], ids=["bf16", "bfp8"])
def test_one_program_writes_every_position_of_a_cache(users, dtype, device):
    start = torch.randn(users, HEADS, POSITIONS, WIDTH)
    cache = ttnn.from_torch(start, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)
    wanted = ttnn.to_torch(cache)
    for step, position in enumerate((5, 0, 63, 31, 31, 32)):
        rows = torch.randn(1, HEADS, users + 2, WIDTH).to(wanted.dtype)
        x = ttnn.from_torch(rows, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)
        ttnn.update_cache(cache, x, position, batch_offset=2)
        wanted[:, :, position] = ttnn.to_torch(x)[0, :, 2:].transpose(0, 1)
        if step == 0:
            before = ttnn_jit.cache_info().compiles
    assert ttnn_jit.cache_info().compiles == before
    assert torch.equal(ttnn.to_torch(cache), wanted)


def test_a_jitted_function_takes_the_position_of_a_cache_in_a_tensor(cpu_device):
    cache, x = tensor(cpu_device, 2, HEADS, POSITIONS, WIDTH), tensor(cpu_device, 1, HEADS, 2, WIDTH)
    update = ttnn_jit.jit()(lambda cache, x, at: ttnn.update_cache(cache, x, update_idx_tensor=at))
    for position in (3, 9):
        update(cache, x, indices(cpu_device, [position]))
        found = ttnn.to_torch(cache)[:, :, position]
        assert torch.equal(found, ttnn.to_torch(x)[0].transpose(0, 1))
    assert update.num_entries == 1
    for given in ({}, {"update_idx": 1, "update_idx_tensor": indices(cpu_device, [1])}):
        with pytest.raises(TtnnJitError, match="exactly one of `update_idx` and `update_idx_tensor` is given"):
            ttnn.update_cache(cache, x, **given)


CALLS = {"cur_pos": decoded, "update_idxs": updated}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_other_positions_are_no_other_program_and_give_what_a_tensor_of_them_gives(name, target):
    device = ttnn.open_device(device_id=0, target=target)
    cache = tensor(device, USERS, HEADS, POSITIONS, WIDTH)
    CALLS[name](device, cache, **{name: [0, 5]})
    before = ttnn_jit.cache_info().compiles
    for positions in ([0, 6], [31, 32], [31, 32], [31, 32], [63, 0], [0, 6]):
        found = CALLS[name](device, cache, **{name: positions})
        assert ttnn_jit.cache_info().compiles == before
        keywords = {f"{name}_tensor": indices(device, positions)}
        assert torch.equal(found, CALLS[name](device, cache, **keywords))


def test_a_position_that_the_cache_lacks_is_refused_after_others_were_written(cpu_device):
    cache = tensor(cpu_device, USERS, HEADS, POSITIONS, WIDTH)
    for known in ([3, 4], [5, 6]):
        updated(cpu_device, cache, update_idxs=known)
    for lacking in ([0, POSITIONS], [-1, 0], [1]):
        with pytest.raises(TtnnJitError, match="position"):
            updated(cpu_device, cache, update_idxs=lacking)


def test_positions_of_a_trace_are_those_that_it_was_captured_with(device):
    cache, x = tensor(device, USERS, HEADS, POSITIONS, WIDTH), tensor(device, 1, USERS, HEADS, WIDTH)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    found = DECODE(x, cache, cache, cur_pos=[7, 9])
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    assert torch.equal(ttnn.to_torch(found), ttnn.to_torch(DECODE(x, cache, cache, cur_pos=[7, 9])))
