"""Elements keep their bits through any change of layout, config, type and memory."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ttnn_jit import ttnn

WIDER = {ttnn.bfloat16: ttnn.float32, ttnn.uint8: ttnn.int32, ttnn.uint16: ttnn.uint32, ttnn.int32: ttnn.uint32}
BLOCKS = (ttnn.bfloat8_b, ttnn.bfloat4_b)
DTYPES = (ttnn.float32, ttnn.uint32, *WIDER, *BLOCKS)
STRATEGIES = st.sampled_from([ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.WIDTH, ttnn.ShardStrategy.BLOCK])
STEPS = st.sampled_from(["layout", "config", "type", "file", "host", "clone"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tensors")


def config_for(tensor, data):
    """Interleaved, or shards of whole tiles on the most cores of a row or a square that divide the tensor."""
    buffer = data.draw(st.sampled_from([ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG]))
    height, width = (extent // 32 for extent in (tensor.volume() // tensor.shape[-1], tensor.shape[-1]))
    if any(extent % 32 for extent in tensor.shape[-2:]) or data.draw(st.booleans()):
        return buffer
    strategy = data.draw(STRATEGIES)
    down = 1 if strategy is ttnn.ShardStrategy.WIDTH else data.draw(st.sampled_from(divisors(height)))
    across = 1 if strategy is ttnn.ShardStrategy.HEIGHT else data.draw(st.sampled_from(divisors(width)))
    cores = (
        ttnn.CoreGrid(x=across, y=down) if strategy is ttnn.ShardStrategy.BLOCK else ttnn.CoreGrid(x=down * across, y=1)
    )
    return ttnn.create_sharded_memory_config(tensor.shape, cores, strategy)


def divisors(count):
    return [each for each in range(1, min(count, 8) + 1) if count % each == 0]


def step_of(kind, tensor, data, device, folder):
    if kind == "layout" and tensor.dtype not in BLOCKS and not tensor.is_sharded():
        return ttnn.to_layout(tensor, data.draw(st.sampled_from([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])))
    if kind == "config":
        return ttnn.to_memory_config(tensor, config_for(tensor, data))
    if kind == "type" and tensor.dtype in WIDER:
        return ttnn.typecast(ttnn.typecast(tensor, WIDER[tensor.dtype]), tensor.dtype)
    if kind == "file":
        ttnn.dump_tensor(folder / "kept.tensorbin", tensor)
        return ttnn.load_tensor(folder / "kept.tensorbin", device=device)
    if kind == "host":
        return tensor.cpu().to(device, tensor.memory_config())
    return ttnn.clone(tensor)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shape=st.tuples(st.integers(1, 3), *[st.sampled_from([1, 2, 5, 31, 32, 33, 64, 96])] * 2).map(list),
    dtype=st.sampled_from(DTYPES),
    steps=st.lists(STEPS, min_size=3, max_size=8),
    seed=st.integers(0, 2**16),
    data=st.data(),
)
def test_elements_keep_their_bits_in_any_movement(shape, dtype, steps, seed, data, device, folder):
    patterns = torch.randint(0, 2**16, shape, generator=torch.Generator().manual_seed(seed))
    values = patterns.to(torch.int32) if dtype.is_integer else (patterns.float() - 2**15) / 2**9
    tensor = ttnn.from_torch(values, dtype, layout=ttnn.TILE_LAYOUT, device=device)
    expected = tensor.to_torch()
    for number, kind in enumerate(steps):
        before, tensor = tensor, step_of(kind, tensor, data, device, folder)
        said = f"step {number}, {kind}, of {before.spec} to {tensor.spec}"
        assert (tensor.dtype, tensor.shape) == (dtype, shape), said
        assert torch.equal(tensor.to_torch(), expected), said
