"""Tensors that the devices of a mesh have alike are one block of memory, until one of them is written."""

from __future__ import annotations

import gc
import warnings

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.runtime.memory.buffer import address_of

SHAPE = (64, 96)


@pytest.fixture
def mesh():
    opened = ttnn.open_mesh_device(ttnn.MeshShape(2, 2), target="cpu", trace_region_size=1 << 20)
    yield opened
    ttnn.close_mesh_device(opened)


def replicated(mesh, data, **options):
    options = {"dtype": ttnn.float32, "layout": ttnn.TILE_LAYOUT, "device": mesh} | options
    return ttnn.from_torch(data, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh), **options)


def blocks(tensor):
    """The number of blocks of memory that the tensors of a mesh have."""
    return len({int(address_of(each.memory("test"))) for each in ttnn.get_device_tensors(tensor)})


def values(tensor):
    return [ttnn.to_torch(each) for each in ttnn.get_device_tensors(tensor)]


def expect(tensor, *expected):
    for found, each in zip(values(tensor), expected, strict=True):
        assert torch.equal(found, each)


def test_what_is_alike_is_stored_once(mesh):
    data = torch.randn(SHAPE)
    x = replicated(mesh, data)
    on_host = replicated(mesh, data, device=None)
    rows = ttnn.from_torch(
        data, device=mesh, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT,
        mesh_mapper=ttnn.ShardTensor2dMesh(mesh, (2, 2), (0, None)),
    )  # fmt: skip
    single = ttnn.from_torch(data, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT)
    made = {
        "from_torch": x, "on the host": on_host, "to_device": ttnn.to_device(on_host, mesh), "to": single.to(mesh),
        "from_device": ttnn.from_device(x), "cpu": x.cpu(), "full": ttnn.full(SHAPE, 2.5, device=mesh),
        "zeros_like": ttnn.zeros_like(x), "all_gather": ttnn.all_gather(rows, dim=1),
        "all_reduce": ttnn.all_reduce(rows), "all_broadcast": ttnn.all_broadcast(rows)[3],
    }  # fmt: skip
    assert {name: blocks(tensor) for name, tensor in made.items()} == dict.fromkeys(made, 1)
    assert blocks(rows) == 2
    expect(rows, data[:32], data[:32], data[32:], data[32:])
    expect(made["to_device"], *[data] * 4)
    expect(made["all_reduce"], *[2 * (data[:32] + data[32:])] * 4)


def test_a_write_copies_the_shard_that_is_written(mesh):
    data, other = torch.randn(SHAPE), torch.randn(SHAPE)
    x, second = replicated(mesh, data), replicated(mesh, other, device=None)
    alias = ttnn.get_device_tensors(x)[1]
    ttnn.copy_host_to_device_tensor(ttnn.get_device_tensors(second)[0], alias)
    expect(x, data, other, data, data)

    @ttnn_jit.jit()
    def update(x, y):
        ttnn.add_(x, y)

    for _ in range(2):  # the slow path, then a warm call
        shard = ttnn.get_device_tensors(x)[3]
        before = ttnn.to_torch(shard)
        y = ttnn.to_device(ttnn.get_device_tensors(second)[0], shard.device())
        update(shard, y)
        expect(x, data, other, data, before + other)
    first, _, third, _ = ttnn.get_device_tensors(x)
    ttnn.multiply(third, 2.0, output_tensor=third)
    ttnn.multiply(first, 4.0, output_tensor=first)
    expect(x, 4 * data, other, 2 * data, data + other + other)
    shards = ttnn.from_torch(
        torch.arange(4.0).reshape(4, 1).expand(4, 32).contiguous(), dtype=ttnn.float32,
        mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0),
    )  # fmt: skip
    target = ttnn.full((1, 32), 7, dtype=ttnn.float32, device=mesh)
    ttnn.copy_host_to_device_tensor(shards, target)
    expect(target, *torch.arange(4.0).reshape(4, 1, 1).expand(4, 1, 32))
    ttnn.add_(target, 1.0)
    expect(target, *(1 + torch.arange(4.0)).reshape(4, 1, 1).expand(4, 1, 32))


def test_a_cache_that_was_replicated_is_updated_on_each_device(mesh):
    cache = replicated(mesh, torch.zeros(1, 1, 64, 32))
    rows = torch.randn(4, 1, 1, 32)
    row = ttnn.from_torch(
        rows, device=mesh, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0)
    )
    ttnn.update_cache(cache, row, 3)
    for found, own in zip(values(cache), rows, strict=True):
        assert torch.equal(found[0, 0, 3], own[0, 0])
        assert found.count_nonzero() == own.count_nonzero()


def test_freeing_one_shard_keeps_the_others(mesh):
    data = torch.randn(SHAPE)
    x = replicated(mesh, data)
    shards = ttnn.get_device_tensors(x)
    ttnn.deallocate(shards[0])
    assert torch.equal(ttnn.to_torch(shards[2]), data)
    pool = shards[1].memory("test").pool
    live = pool.statistics().live_bytes
    del x, shards
    gc.collect()
    assert pool.statistics().live_bytes < live


def test_an_address_that_is_known_is_of_one_tensor(mesh):
    data = torch.randn(SHAPE)
    x = replicated(mesh, data)
    addresses = [each.buffer_address() for each in ttnn.get_device_tensors(x)]
    assert len({*addresses}) == 4
    ttnn.add_(x, 1.0)
    assert [each.buffer_address() for each in ttnn.get_device_tensors(x)] == addresses
    again = ttnn.all_broadcast(x)[0]
    ttnn.add_(again, 1.0)
    expect(x, *[data + 1] * 4)
    expect(again, *[data + 1 + 1] * 4)


def test_l1_is_charged_on_every_device():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), target="wormhole_b0")
    before = [device.memory_view() for device in mesh.devices]
    x = replicated(mesh, torch.randn(SHAPE), memory_config=ttnn.L1_MEMORY_CONFIG)
    assert blocks(x) == 1
    assert all(device.memory_view() != view for device, view in zip(mesh.devices, before, strict=True))
    ttnn.deallocate(ttnn.get_device_tensors(x)[0])
    assert mesh.devices[0].memory_view().tensors == before[0].tensors
    assert mesh.devices[1].memory_view().tensors != before[1].tensors
    ttnn.close_mesh_device(mesh)


def test_a_trace_follows_a_tensor_that_gets_memory_of_its_own(mesh):
    data = torch.randn(SHAPE)
    x, weight = replicated(mesh, data), replicated(mesh, torch.ones(SHAPE))
    ttnn.add(x, weight)  # compiled
    trace = ttnn.begin_trace_capture(mesh)
    result = ttnn.add(x, weight)
    ttnn.end_trace_capture(mesh, trace)
    assert blocks(x) == 1
    ttnn.execute_trace(mesh, trace)
    expect(result, *[data + 1] * 4)
    parts = [torch.randn(SHAPE) for _ in range(4)]
    shards = ttnn.from_host_shards(
        [ttnn.from_torch(part, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT) for part in parts], mesh.shape
    )
    ttnn.copy_host_to_device_tensor(shards, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ttnn.execute_trace(mesh, trace)
    expect(result, *[part + 1 for part in parts])
    ttnn.release_trace(mesh, trace)
