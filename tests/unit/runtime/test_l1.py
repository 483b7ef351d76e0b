"""The account of L1: the content of each core, overflow, and the high-water mark."""

from __future__ import annotations

import gc
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttnn_jit.diagnostics.errors import L1CapacityError
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.l1 import LANE_BITS, L1Account, _lanewise_max, circular_buffer_bytes
from ttnn_jit.specs.cores.cores import CoreCoord, CoreGrid, CoreRange, CoreRangeSet
from ttnn_jit.specs.cores.memory_config import BufferType, ShardStrategy
from ttnn_jit.specs.cores.sharding import create_sharded_memory_config
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, NdShardSpec, TensorSpec

WORMHOLE = PRESETS["wormhole_b0"]
L1 = MemoryConfig(buffer_type=BufferType.L1)


def spec(shape, config=L1, layout=Layout.TILE, dtype=DataType.BFLOAT16):
    return TensorSpec(shape, dtype, layout, config)


def sharded(shape, x, y, strategy=ShardStrategy.BLOCK):
    return spec(shape, create_sharded_memory_config(shape, CoreGrid(x=x, y=y), strategy))


def used(account):
    return {core.core: core.used for core in account.view().cores if core.used}


def test_a_shard_is_charged_to_its_core():
    account = L1Account(WORMHOLE)
    lease = account.lease(sharded((64, 128), 4, 2))
    assert used(account) == {CoreCoord(x, y): 2048 for x in range(4) for y in range(2)}
    del lease
    assert used(account) == {}


def test_l1_small_is_charged_to_the_cores():
    account = L1Account(WORMHOLE)
    lease = account.lease(spec((32, 32), MemoryConfig(buffer_type=BufferType.L1_SMALL)))
    assert used(account) == {CoreCoord(0, 0): 2048}
    del lease


def test_two_shards_on_one_core_are_charged_twice():
    account = L1Account(WORMHOLE)
    config = MemoryConfig(
        buffer_type=BufferType.L1,
        nd_shard_spec=NdShardSpec((1, 32, 32), CoreRangeSet([CoreRange((0, 0), (1, 3))])),
    )
    lease = account.lease(spec((4, 64, 64), config))
    assert used(account) == {CoreCoord(x, y): 4096 for x in range(2) for y in range(4)}
    assert account.view().tensors[0][1] == 4096
    del lease


def test_pages_of_an_interleaved_tensor_are_charged_round_robin():
    account = L1Account(WORMHOLE)
    tiles = account.lease(spec((32, 32 * 66)))
    assert [used(account)[CoreCoord(x, 0)] for x in range(3)] == [4096, 4096, 2048]
    del tiles
    rows = account.lease(spec((65, 100), layout=Layout.ROW_MAJOR, dtype=DataType.FLOAT32))
    assert [used(account)[CoreCoord(x, 0)] for x in range(2)] == [800, 400]
    del rows


def test_memory_outside_l1_costs_nothing():
    account = L1Account(WORMHOLE)
    lease = account.lease(spec((1024, 1024), MemoryConfig()))
    assert used(account) == {}
    del lease


LANES = st.lists(st.sampled_from([0, 1, 2048, 1_499_136, (1 << 46) - 1]), min_size=4, max_size=4)


@given(LANES, LANES)
def test_the_larger_number_of_every_lane(first, second):
    one, other, guards = (
        sum(number << (LANE_BITS * lane) for lane, number in enumerate(numbers))
        for numbers in (first, second, [1 << (LANE_BITS - 1)] * 4)
    )
    found = _lanewise_max(one, other, guards)
    assert [found >> (LANE_BITS * lane) & ((1 << LANE_BITS) - 1) for lane in range(4)] == [*map(max, first, second)]


def test_the_high_water_mark_is_kept_and_includes_the_needs_of_a_call():
    account = L1Account(WORMHOLE)
    lease = account.lease(sharded((32, 32), 1, 1))
    account.require(10_000, "a call")
    del lease
    view = account.view()
    assert (view.used, view.high_water) == (0, 12_048)
    assert (view.cores[0].high_water, view.cores[1].high_water) == (12_048, 10_000)


def test_a_core_is_full_to_the_last_byte_and_not_beyond():
    account = L1Account(WORMHOLE)
    lease = account.lease(sharded((32, 32), 1, 1))
    account.require(WORMHOLE.l1_bytes - 2048, "a call")
    with pytest.raises(
        L1CapacityError,
        match=r"core \(x=0, y=0\).*a call needs 1,367,073 bytes.*1,367,072 left.*2,048",
    ):
        account.require(WORMHOLE.l1_bytes - 2047, "a call")
    assert used(account) == {CoreCoord(0, 0): 2048}
    del lease


def test_a_cpu_target_counts_without_a_relevant_limit():
    account = L1Account(PRESETS["cpu"])
    lease = account.lease(sharded((1 << 16, 1 << 12), 1, 1))
    assert account.view().used == 1 << 29
    del lease


def test_a_device_tensor_freed_in_a_cycle_returns_its_bytes():
    with Device(WORMHOLE) as device:
        cycle = [device.allocate_tensor(sharded((32, 32), 1, 1))]
        cycle.append(cycle)
        assert device.memory_view().used == 2048
        del cycle
        gc.collect()
        assert device.memory_view().used == 0


def test_leases_of_many_threads_add_up():
    account = L1Account(WORMHOLE)
    tensor = sharded((64, 64), 2, 2)

    def work():
        for _ in range(300):
            held = [account.lease(tensor) for _ in range(3)]
            account.require(64, "a call")
            del held

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert used(account) == {}
    assert 3 * 2048 <= account.view().high_water <= 4 * 3 * 2048 + 4 * 64


def test_a_buffer_that_is_a_shard_costs_nothing_more():
    shard = {"access": "alias", "num_pages": 16, "page_size": 2048}
    streamed = {"access": "stream", "num_pages": 8, "page_size": 4096}
    assert circular_buffer_bytes({"cbs": [shard, streamed, streamed]}) == 2 * (32 << 10)
