"""Replicated tensors of a mesh: one block of memory for all devices, until a device's part is written."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from tests.end_to_end.meshes.test_exchanges import on, opened, shards_of
from tests.end_to_end.meshes.test_jitted_collectives import assert_equal, random_shards
from ttnn_jit import ttnn

VALUES = torch.arange(512.0).reshape(16, 32)


@pytest.fixture
def mesh():
    return opened((2, 4))


def replicated(mesh, values=VALUES):
    return ttnn.from_torch(values, device=mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh))


def blocks(tensor):
    """The number of distinct blocks; the user does not see addresses by it."""
    return len({each._buffer.address for each in ttnn.get_device_tensors(tensor)})


def add_in_place(x):
    ttnn.add_(x, 1.0)


def jitted_add_in_place(x):
    ttnn_jit.jit()(lambda x: ttnn.add_(x, 1.0))(x)


def write_from_host(x):
    ttnn.copy_host_to_device_tensor(ttnn.from_torch(VALUES + 1.0), x)


def write_result(x):
    ttnn.add(x, 1.0, output_tensor=x)


WRITES = [add_in_place, jitted_add_in_place, write_from_host, write_result]


@pytest.mark.parametrize("write", WRITES, ids=lambda each: each.__name__)
def test_a_write_to_one_part_leaves_the_others(mesh, write):
    x = replicated(mesh)
    assert blocks(x) == 1
    parts = ttnn.get_device_tensors(x)
    for _ in range(2):
        write(parts[3])
    expected = [VALUES] * 8
    expected[3] = VALUES + (1.0 if write is write_from_host else 2.0)
    assert all(torch.equal(own, each) for own, each in zip(shards_of(x), expected, strict=True))
    assert blocks(x) == 2


def test_a_warm_update_of_one_part_leaves_the_others(mesh):
    update = ttnn_jit.jit()(lambda x: ttnn.add_(x, 1.0))
    parts = ttnn.get_device_tensors(replicated(mesh))
    for part in parts[:4]:
        update(part)
    assert [ttnn.to_torch(part)[0, 0].item() for part in parts] == [1.0] * 4 + [0.0] * 4


def test_an_update_of_the_whole_tensor_updates_every_part(mesh):
    update, x = ttnn_jit.jit()(lambda x: ttnn.add_(x, 1.0)), replicated(mesh)
    for count in range(1, 4):
        update(x)
        assert all(torch.equal(own, VALUES + count) for own in shards_of(x))


def test_freeing_one_part_leaves_the_others_and_addresses_are_distinct(mesh):
    x = replicated(mesh)
    parts = ttnn.get_device_tensors(x)
    parts[0].deallocate()
    assert torch.equal(ttnn.to_torch(parts[1]), VALUES)
    assert len({part.buffer_address() for part in parts[1:]}) == 7
    del x
    parts = parts[:2]
    assert torch.equal(ttnn.to_torch(parts[1]), VALUES)


def test_results_that_several_devices_get_are_one_block_per_group(mesh):
    jitted = ttnn_jit.jit()(lambda x: ttnn.all_reduce(x, cluster_axis=1))
    for _ in range(3):
        x = on(mesh, random_shards(8))
        found = jitted(x)
        assert blocks(found) == 2
        assert_equal(found, ttnn.all_reduce(x, cluster_axis=1))
        before = shards_of(found)
        ttnn.add_(ttnn.get_device_tensors(found)[5], 1.0)
        assert [torch.equal(*pair) for pair in zip(shards_of(found), before, strict=True)] == [
            number != 5 for number in range(8)
        ]


def test_work_on_shared_parts_runs_once_and_distinct_parts_are_another_program(mesh):
    weight = replicated(mesh, torch.randn(16, 32))
    jitted = ttnn_jit.jit()(lambda x: ttnn.exp(x) * weight)
    x, y = replicated(mesh), on(mesh, random_shards(8, (16, 32)))
    for tensor, launches in ((x, 1), (y, 8), (x, 1)):
        for _ in range(2):
            assert_equal(jitted(tensor), ttnn.exp(tensor) * weight)
        assert len(jitted.explain(tensor).launches) == launches
    ttnn.add_(ttnn.get_device_tensors(weight)[6], 1.0)
    assert_equal(jitted(x), ttnn.exp(x) * weight)


def test_a_replay_sees_distinct_parts_where_the_capture_saw_equal_ones(mesh):
    x, weight = replicated(mesh), replicated(mesh, torch.randn(16, 32))
    jitted = ttnn_jit.jit()(lambda x: ttnn.exp(x) * weight)
    jitted(x)
    trace = ttnn.begin_trace_capture(mesh, cq_id=0)
    result = jitted(x)
    ttnn.end_trace_capture(mesh, trace, cq_id=0)
    for tensor in (x, weight):
        shards = torch.cat(random_shards(8, (16, 32)))
        ttnn.copy_host_to_device_tensor(ttnn.from_torch(shards, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0)), tensor)
        ttnn.execute_trace(mesh, trace, cq_id=0, blocking=True)
        assert_equal(result, ttnn.exp(x) * weight)
    ttnn.release_trace(mesh, trace)


def test_many_uses_of_a_shared_weight_keep_the_bits(mesh):
    weight, x = replicated(mesh, torch.randn(256, 128)), on(mesh, random_shards(8, (64, 256)))
    jitted = ttnn_jit.jit()(lambda x, w: ttnn.matmul(x, w))
    alone = ttnn_jit.jit()(lambda x, w: ttnn.matmul(x, w))
    expected = shards_of(ttnn.matmul(x, weight))
    for _ in range(6):
        assert all(torch.equal(*pair) for pair in zip(shards_of(jitted(x, weight)), expected, strict=True))
        parts = zip(ttnn.get_device_tensors(x), ttnn.get_device_tensors(weight), expected, strict=True)
        assert all(torch.equal(ttnn.to_torch(alone(own, factor)), each) for own, factor, each in parts)
