"""Results of convolutions in L1 have the memory config of their config and the values of results in DRAM."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import L1CapacityError

LAYOUTS = [
    ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
    ttnn.TensorMemoryLayout.WIDTH_SHARDED,
    ttnn.TensorMemoryLayout.BLOCK_SHARDED,
]
SIZES = {"in_channels": 32, "out_channels": 64, "batch_size": 2, "input_height": 14, "input_width": 14}


@pytest.fixture(params=["wormhole_b0", "cpu"])
def device(request):
    return ttnn.open_device(device_id=0, target=request.param)


def tensors(device, kernel=3):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn((1, 1, 2 * 14 * 14, 32), generator=generator).bfloat16()
    weight = torch.randn((64, 32, kernel, kernel), generator=generator).bfloat16()
    return ttnn.from_torch(x, device=device), ttnn.from_torch(weight)


def convolved(device, x, weight, *, function=ttnn.conv2d, memory_config=None, slice_config=None, **config):
    slices = {"dram_slice_config" if function is ttnn.conv_transpose2d else "slice_config": slice_config}
    return function(
        input_tensor=x, weight_tensor=weight, device=device, kernel_size=(3, 3), padding=(1, 1),
        conv_config=ttnn.Conv2dConfig(**config), memory_config=memory_config, **slices, **SIZES,
    )  # fmt: skip


@pytest.mark.parametrize("output_layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_result_has_the_memory_config_of_its_config_and_the_bits_of_one_in_dram(device, layout, output_layout):
    x, weight = tensors(device)
    want = convolved(device, x, weight, output_layout=output_layout)
    got = convolved(device, x, weight, shard_layout=layout, output_layout=output_layout)
    assert got.memory_config().memory_layout is layout
    assert got.memory_config().shard_spec.num_cores() > 1
    assert got.is_sharded()
    assert not want.is_sharded()
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(want))


def test_operations_on_a_sharded_result_have_its_layout(device):
    x, weight = tensors(device)
    first = convolved(device, x, weight, shard_layout=LAYOUTS[0])
    rest = ttnn.relu(ttnn.add(first, first))
    assert rest.memory_config() == first.memory_config()
    alone = ttnn.sharded_to_interleaved(first, ttnn.DRAM_MEMORY_CONFIG)
    assert torch.equal(ttnn.to_torch(rest), ttnn.to_torch(ttnn.relu(ttnn.add(alone, alone))))


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("function", [ttnn.conv2d, ttnn.conv_transpose2d])
def test_inside_a_program_a_result_reports_the_memory_config_of_the_eager_result(device, function, graph_capture):
    x, weight = tensors(device)
    shape = (64, 32, 3, 3) if function is ttnn.conv2d else (32, 64, 3, 3)
    weight = ttnn.to_device(ttnn.from_torch(ttnn.to_torch(weight).reshape(shape)), device)
    eager = convolved(device, x, weight, function=function, shard_layout=LAYOUTS[2])

    def rest(x, weight):
        y = ttnn.abs(convolved(device, x, weight, function=function, shard_layout=LAYOUTS[2]))
        return ttnn.neg(y) if y.memory_config() == eager.memory_config() else y

    got = ttnn_jit.jit(graph_capture=graph_capture)(rest)(x, weight)
    assert torch.equal(ttnn.to_torch(got), -ttnn.to_torch(eager).abs())


def test_a_sharded_input_gives_its_cores_to_the_result(device):
    x, weight = tensors(device)
    grid = ttnn.CoreGrid(x=4, y=1)
    config = ttnn.create_sharded_memory_config((1, 1, 512, 32), grid, ttnn.ShardStrategy.HEIGHT)
    x = ttnn.to_memory_config(ttnn.to_layout(x, ttnn.TILE_LAYOUT), config)
    got = convolved(device, x, weight)
    assert got.memory_config().shard_spec.grid == config.shard_spec.grid


def test_a_memory_config_and_dram_slices_take_precedence(device):
    x, weight = tensors(device)
    for keywords in (
        {"memory_config": ttnn.DRAM_MEMORY_CONFIG},
        {"slice_config": ttnn.Conv2dSliceConfig(slice_type=ttnn.Conv2dDRAMSliceHeight, num_slices=2)},
    ):
        got = convolved(device, x, weight, shard_layout=LAYOUTS[0], **keywords)
        assert got.memory_config() == ttnn.DRAM_MEMORY_CONFIG


def test_a_transposed_convolution_is_sharded_likewise(device):
    x, weight = tensors(device)
    weight = ttnn.from_torch(ttnn.to_torch(weight).permute(1, 0, 2, 3).contiguous())
    got = convolved(device, x, weight, function=ttnn.conv_transpose2d, shard_layout=LAYOUTS[0])
    assert got.memory_config().shard_spec.shape[1] == 64


def test_shards_that_do_not_fit_on_a_core_are_refused(wormhole):
    x = ttnn.from_torch(torch.zeros((1, 1, 8, 32)).bfloat16(), device=wormhole)
    weight = ttnn.from_torch(torch.zeros((40960, 32, 1, 1)).bfloat16(), device=wormhole)
    one = ttnn.CoreRangeSet({ttnn.CoreRange((0, 0), (0, 0))})
    config = ttnn.Conv2dConfig(shard_layout=LAYOUTS[0], override_sharding_config=True, core_grid=one)
    with pytest.raises(L1CapacityError, match="core"):
        ttnn.conv2d(
            input_tensor=x, weight_tensor=weight, device=wormhole, in_channels=32, out_channels=40960,
            batch_size=1, input_height=2, input_width=4, kernel_size=(1, 1), conv_config=config,
        )  # fmt: skip


@pytest.fixture
def wormhole():
    return ttnn.open_device(device_id=0, target="wormhole_b0")
