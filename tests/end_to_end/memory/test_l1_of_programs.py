"""A program that exceeds every device's L1 does not compile; one that exceeds the free L1 does not run."""

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError, L1CapacityError

SIDE = 2048
BLOCK = ttnn.create_sharded_memory_config((SIDE, SIDE), ttnn.CoreGrid(x=8, y=8), ttnn.ShardStrategy.BLOCK)
SHARD = SIDE * SIDE // 64 * 4  # bytes on each core: of six, five fit


@pytest.fixture
def device():
    opened = ttnn.open_device(device_id=0, target="wormhole_b0")
    yield opened
    ttnn.close_device(opened)


def on(device, config=BLOCK):
    return ttnn.from_torch(torch.zeros(SIDE, SIDE), layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)


def many(x):
    first = ttnn.exp(x)
    second = ttnn.neg(x)
    third = ttnn.abs(x)
    fourth = ttnn.sin(x)
    fifth = ttnn.cos(x)
    sixth = ttnn.tanh(x)
    return first, second, third, fourth, fifth, sixth


@pytest.mark.parametrize("capture", [False, True])
def test_a_program_that_fits_no_empty_device_is_refused_at_the_operation(device, capture, tmp_path, monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(tmp_path))
    x = on(device)
    ttnn_jit.jit()(lambda x: ttnn.exp(x))(
        on(device, ttnn.DRAM_MEMORY_CONFIG)
    )  # so that code shared by all programs is stored
    stored, used = ttnn_jit.cache_info(), device.memory_view().used
    jitted = ttnn_jit.jit(graph_capture=capture)(many)
    for _ in range(2):
        with pytest.raises(CompileError) as raised:
            jitted(x)
        error = raised.value
        assert isinstance(error, L1CapacityError)
        assert error.location.line == many.__code__.co_firstlineno + 6
        assert f"{6 * SHARD:,} bytes" in error.message
        assert f"{device.target.l1_bytes:,}" in error.message
        assert "ttnn.DRAM_MEMORY_CONFIG" in error.help
        assert device.memory_view().used == used
    assert jitted.num_entries == 0
    now = ttnn_jit.cache_info()
    assert (now.entries, now.bytes, now.memory_entries) == (stored.entries, stored.bytes, stored.memory_entries)


def test_a_program_without_room_now_is_kept_and_runs_when_there_is(device):
    x = on(device, ttnn.DRAM_MEMORY_CONFIG)
    jitted = ttnn_jit.jit()(lambda x: ttnn.exp(ttnn.to_memory_config(x, BLOCK)))
    small = ttnn.to_memory_config(x[:64, :64], ttnn.L1_MEMORY_CONFIG)
    kept = [on(device) for _ in range(5)]
    used = device.memory_view().used
    with pytest.raises(L1CapacityError) as raised:
        jitted(x)
    error = raised.value
    assert not isinstance(error, CompileError)
    assert error.message.index(f"{SHARD:,} bytes of {kept[0].spec}") < error.message.index(f"bytes of {small.spec}")
    assert device.memory_view().used == used
    assert jitted.num_entries == 1
    kept.clear()
    assert torch.equal(jitted(x).to_torch(), torch.ones(SIDE, SIDE))
    assert jitted.num_entries == 1


def test_the_smallest_of_many_tensors_are_counted_and_not_named(device):
    x = on(device, ttnn.DRAM_MEMORY_CONFIG)
    tile = x[:32, :32]
    small = [ttnn.to_memory_config(tile, ttnn.L1_MEMORY_CONFIG) for _ in range(20)]
    kept = [on(device) for _ in range(4)]
    with pytest.raises(L1CapacityError, match="; and 16 more"):
        ttnn.to_memory_config(x, BLOCK)
    assert len(small) + len(kept) == 24


def test_help_speaks_of_deallocating_where_there_is_something_to_deallocate(device):
    config = ttnn.create_sharded_memory_config((1024, 1024), ttnn.CoreGrid(x=1, y=1), ttnn.ShardStrategy.BLOCK)

    def refused():
        with pytest.raises(L1CapacityError) as raised:
            ttnn.zeros((1024, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, config)
        return raised.value

    assert "It holds nothing" in refused().message
    assert refused().help == "spread it over more cores, or keep it in `ttnn.DRAM_MEMORY_CONFIG`"
    small = ttnn.create_sharded_memory_config((32, 32), ttnn.CoreGrid(x=1, y=1), ttnn.ShardStrategy.BLOCK)
    held = ttnn.zeros((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, small)
    assert refused().help.startswith("deallocate tensors, ")
    assert held.is_allocated()
