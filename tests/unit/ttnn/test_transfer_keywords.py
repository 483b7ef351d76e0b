"""Keywords of ttnn's transfers, and transfers that free their operand."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DeallocatedError, L1CapacityError, ShapeError

X = torch.randn(64, 64)
BLOCK = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
HEIGHT = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=1), ttnn.ShardStrategy.HEIGHT)


@pytest.fixture
def x(device):
    return ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device)


def test_keywords_of_queues_and_waiting_change_nothing():
    device = ttnn.open_device(device_id=0, num_command_queues=2)
    x = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device)
    host = ttnn.from_device(x, blocking=False, cq_id=1)
    assert torch.equal(host.to_torch(), X)
    again = ttnn.to_device(host, device, ttnn.L1_MEMORY_CONFIG, cq_id=0)
    assert torch.equal(again.to_torch(), X)
    ttnn.copy_host_to_device_tensor(ttnn.from_torch(-X, layout=ttnn.TILE_LAYOUT), again, cq_id=1)
    ttnn.copy_device_to_host_tensor(again, host, blocking=False, cq_id=1)
    assert torch.equal(host.to_torch(), -X)
    assert torch.equal(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT, device=device).to_torch(), X)
    cores = ttnn.CoreRangeSet(ttnn.CoreRange((0, 0), (1, 1)))
    assert ttnn.typecast(x, ttnn.bfloat16, sub_core_grids=cores).dtype is ttnn.bfloat16


def test_a_result_is_written_into_the_output_tensor_that_is_given(device, x):
    output = ttnn.allocate_tensor_on_device((64, 64), ttnn.float32, ttnn.TILE_LAYOUT, device, BLOCK)
    address = output.buffer_address()
    assert ttnn.to_memory_config(x, BLOCK, output_tensor=output) is output
    assert (output.buffer_address(), torch.equal(output.to_torch(), X)) == (address, True)
    sharded = ttnn.to_memory_config(x, HEIGHT)
    assert ttnn.reshard(ttnn.add(sharded, sharded), BLOCK, output) is output
    assert torch.equal(output.to_torch(), X + X)
    with pytest.raises(ShapeError, match=r"to_memory_config: `output_tensor` is .*, the result"):
        ttnn.to_memory_config(x, HEIGHT, output_tensor=output)


@pytest.mark.parametrize("function", [ttnn.reallocate, ttnn.move])
def test_a_tensor_is_moved_and_its_old_memory_is_freed(device, function):
    x = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device, memory_config=BLOCK)
    moved = function(x)
    assert (moved.memory_config(), torch.equal(moved.to_torch(), X)) == (BLOCK, True)
    with pytest.raises(DeallocatedError):
        x.to_torch()
    in_dram = function(moved, memory_config=ttnn.DRAM_MEMORY_CONFIG)
    assert in_dram.memory_config() == ttnn.DRAM_MEMORY_CONFIG
    assert not device.memory_view().tensors
    with pytest.raises(ArgumentError, match="reallocate: the tensor is on the host"):
        function(ttnn.ones((2, 2)))


def test_a_tensor_that_does_not_fit_twice_is_not_moved(device):
    big = ttnn.zeros((1024, 800), ttnn.float32, ttnn.TILE_LAYOUT, device)
    one_core = ttnn.create_sharded_memory_config((1024, 800), ttnn.CoreGrid(x=1, y=1), ttnn.ShardStrategy.BLOCK)
    with pytest.raises(L1CapacityError):
        ttnn.reallocate(big, one_core)
    assert big.is_allocated()


def test_a_host_tensor_is_cast_on_the_host(x):
    host = ttnn.from_torch(X)
    assert torch.equal(ttnn.to_dtype(host, ttnn.bfloat16).to_torch(), X.bfloat16())
    assert torch.equal(ttnn.to_dtype(host, ttnn.int32).to_torch(), X.int())
    with pytest.raises(ArgumentError, match=r"to_dtype takes a tensor on the host, .*\nhelp: use `ttnn.typecast`"):
        ttnn.to_dtype(x, ttnn.int32)


def test_a_host_tensor_is_allocated_with_the_layout_of_a_device(device):
    spec = ttnn.TensorSpec((5, 5), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    for tensor in (
        ttnn.allocate_tensor_on_host(spec, device),
        ttnn.allocate_tensor_on_host((5, 5), ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh_device=device),
    ):
        assert (tensor.spec, tensor.device(), tensor.storage_type()) == (spec, None, ttnn.StorageType.HOST)
    mesh = ttnn.open_mesh_device((1, 2))
    assert len(ttnn.get_device_tensors(ttnn.allocate_tensor_on_host(spec, mesh))) == 2
    ttnn.close_mesh_device(mesh)
    with pytest.raises(ArgumentError, match="allocate_tensor_on_host: missing a required argument: 'dtype'"):
        ttnn.allocate_tensor_on_host((5, 5))


@pytest.mark.parametrize("device_name", ["device", None])
def test_rows_become_block_float_tiles_and_back(request, device_name):
    rows = ttnn.from_torch(X, device=device_name and request.getfixturevalue(device_name))
    tiles = ttnn.to_layout(rows, layout=ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)
    assert (tiles.dtype, tiles.layout) == (ttnn.bfloat8_b, ttnn.TILE_LAYOUT)
    assert torch.equal(tiles.to_torch(), ttnn.from_torch(X, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT).to_torch())
    again = ttnn.to_layout(tiles, layout=ttnn.ROW_MAJOR_LAYOUT, dtype=ttnn.float32)
    assert again.layout is ttnn.ROW_MAJOR_LAYOUT
    assert torch.equal(again.to_torch(), tiles.to_torch().float())
