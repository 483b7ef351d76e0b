"""Memory that a trace reads and writes: freed, reused, shared by views, and returned."""

from __future__ import annotations

import gc
import itertools

import pytest
import torch

from tests.end_to_end.host_api.traced import captured, on, overwrite, same
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import L1CapacityError, TraceError


def test_tensors_that_are_freed_in_a_trace_keep_their_memory_for_it_alone(device):
    x = on(device)

    def chain():
        value = ttnn.exp(x)
        freed = ttnn.multiply(value, 0.5)
        result = ttnn.add(freed, x)
        ttnn.deallocate(freed)
        return result

    trace, result = captured(device, chain)
    others = [ttnn.full((64, 64), 7.0, ttnn.float32, ttnn.TILE_LAYOUT, device) for _ in range(32)]
    for _ in range(2):
        ttnn.execute_trace(device, trace)
        assert same(result, chain())
    assert all((ttnn.to_torch(other) == 7.0).all() for other in others)


def test_memory_that_is_freed_in_a_trace_is_reused_in_it(device):
    x = on(device, (512, 512))

    def chain():
        value = x
        for _ in range(50):
            value = ttnn.add(value, x)
        return value

    trace, result = captured(device, chain)
    statistics = trace.traces[0].pool.statistics()
    assert statistics.live_bytes == 512 * 512 * 4
    assert statistics.live_bytes + statistics.idle_bytes <= 3 * 512 * 512 * 4
    ttnn.execute_trace(device, trace)
    assert same(result, chain())


def gone_by_name(tensors, which):
    ttnn.deallocate(tensors.pop(which))


def gone_by_itself(tensors, which):
    del tensors[which]


@pytest.mark.parametrize("free", [gone_by_name, gone_by_itself])
@pytest.mark.parametrize("when", ["inside", "behind"])
def test_a_replay_warns_of_freed_tensors_that_it_reads_whose_memory_nobody_reuses(device, free, when):
    tensors = [on(device), on(device)]
    expected = ttnn.add(*tensors)

    def program():
        result = ttnn.add(*tensors)
        if when == "inside":
            free(tensors, 1)
        return result

    trace, result = captured(device, program)
    if when == "behind":
        free(tensors, 1)
    others = [ttnn.full((64, 64), 7.0, ttnn.bfloat16, ttnn.TILE_LAYOUT, device) for _ in range(8)]
    others += [ttnn.exp(tensors[0]) for _ in range(8)]
    gone = r"tensor that was freed, TensorSpec\(\[64, 64\], f32.*captured at .*_traces.py:\d+.*values last written"
    with pytest.warns(UserWarning, match=gone):
        ttnn.execute_trace(device, trace)
    assert same(result, expected)
    ttnn.execute_trace(device, trace)  # the warning comes once
    assert same(result, expected)


def test_a_replay_warns_of_a_tensor_in_the_memory_of_another_one(device):
    x, y = on(device), on(device)
    address = y.buffer_address()
    trace, result = captured(device, ttnn.add, x, y)
    ttnn.deallocate(y)
    again = on(device)
    assert again.buffer_address() == address
    with pytest.warns(
        UserWarning, match=r"tensor made at .*traced.py:\d+:\d+ now has this memory, and a replay uses it"
    ):
        ttnn.execute_trace(device, trace)
    assert same(result, ttnn.add(x, again))
    ttnn.deallocate(again)
    again = ttnn.allocate_tensor_on_device(x.spec, device)
    overwrite(again)
    ttnn.execute_trace(device, trace)
    assert same(result, ttnn.add(x, again))


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("memory_config", [ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG])
def test_inputs_that_are_freed_in_any_order_and_allocated_again_are_what_a_replay_reads(
    device, order, inside, memory_config
):
    idle = [on(device, memory_config=memory_config) for _ in range(4)]
    del idle
    inputs = [on(device, memory_config=memory_config) for _ in range(3)]
    addresses = [tensor.buffer_address() for tensor in inputs]
    spec, again = inputs[0].spec, []

    def allocated_again():
        for which in order:
            ttnn.deallocate(inputs[which])
        again.extend(ttnn.allocate_tensor_on_device(spec, device) for _ in range(3))

    def model():
        result = ttnn.subtract(ttnn.multiply(inputs[0], inputs[1]), inputs[2])
        if inside:
            allocated_again()
        return result

    trace, result = captured(device, model)
    if not inside:
        allocated_again()
    assert [tensor.buffer_address() for tensor in again] == addresses
    for _ in range(2):
        overwrite(*again)
        ttnn.execute_trace(device, trace)
        assert same(result, ttnn.subtract(ttnn.multiply(again[0], again[1]), again[2]))


def test_an_input_that_is_freed_in_a_trace_is_allocated_again_at_the_address_that_the_trace_reads(device):
    # As in models whose first operation frees its input in L1: the trace reads new data at that address in each run.
    x = on(device, memory_config=ttnn.L1_MEMORY_CONFIG)
    address, spec = x.buffer_address(), x.spec

    def model():
        result = ttnn.exp(x)
        ttnn.deallocate(x)
        return result, ttnn.allocate_tensor_on_device(spec, device)

    trace, (result, again) = captured(device, model)
    assert again.buffer_address() == address
    for _ in range(2):
        overwrite(again)
        ttnn.execute_trace(device, trace)
        assert same(result, ttnn.exp(again))


@pytest.mark.parametrize("made_inside", [False, True])
def test_views_of_captured_tensors_share_their_memory_as_they_do_eagerly(device, made_inside):
    def numbers(value, device=None):
        return ttnn.from_torch(torch.full((64, 64), value), layout=ttnn.TILE_LAYOUT, device=device)

    x, twos = numbers(1.0, device), numbers(2.0, device)

    def program():
        base = ttnn.add(x, twos) if made_inside else x
        view = ttnn.unsqueeze(ttnn.reshape(base, (2, 32, 64)), 0)
        ttnn.add_(view, twos[:32])
        return base, view, ttnn.multiply(base, 2.0)

    program()  # so that eager views use the warm path
    ttnn.copy_host_to_device_tensor(numbers(1.0), x)
    trace, (base, view, doubled) = captured(device, program)
    assert base.buffer_address() == view.buffer_address() != doubled.buffer_address()
    for runs in (1, 2):
        ttnn.execute_trace(device, trace)
        expected = 5.0 if made_inside else 1.0 + 2.0 * runs
        for each, number in ((base, expected), (view, expected), (doubled, 2 * expected)):
            assert torch.equal(ttnn.to_torch(each), torch.full(tuple(each.shape), number))
    ttnn.release_trace(device, trace)
    del base
    assert torch.equal(ttnn.to_torch(view), torch.full((1, 2, 32, 64), expected))


def test_released_memory_is_returned_and_results_stay(device):
    x = on(device, (512, 512))
    trace, result = captured(device, lambda: ttnn.add(ttnn.exp(x), x))
    (captured_there,) = trace.traces
    ttnn.execute_trace(device, trace)
    ttnn.release_trace(device, trace)
    with pytest.raises(
        TraceError, match=r"release_trace: MeshTraceId\(\d+\) was released at .*memory_of_traces\.py:\d+"
    ):
        ttnn.release_trace(device, trace)
    assert captured_there.pool.statistics().idle_bytes == 0
    assert same(result, ttnn.add(ttnn.exp(x), x))
    ttnn.deallocate(result)
    gc.collect()
    assert captured_there.pool.statistics().mapped_bytes == 0


def test_captures_that_are_released_leave_no_memory(device):
    x = on(device, (256, 256))
    pools = []
    for _ in range(5):
        trace, result = captured(device, lambda: ttnn.add(ttnn.exp(x), x))
        pools.append(trace.traces[0].pool)
        ttnn.release_trace(device, trace)
        del result
    assert [pool.statistics().mapped_bytes for pool in pools] == [0] * 5


def test_traces_are_charged_to_the_trace_region_and_overflow_is_refused_with_its_bytes():
    device = ttnn.open_device(device_id=0, trace_region_size=1000)
    x = on(device)
    first, result = captured(device, ttnn.exp, x)
    (there,) = first.traces
    assert 0 < there.nbytes < 1000
    with pytest.raises(
        TraceError, match=rf"takes [\d,]+ bytes of the trace region .*1,000 bytes {1000 - there.nbytes:,} are left"
    ):
        captured(device, lambda: [ttnn.exp(x) for _ in range(50)])
    ttnn.execute_trace(device, first)
    assert same(result, ttnn.exp(x))
    ttnn.release_trace(device, first)
    captured(device, ttnn.exp, x)


def test_tensors_in_l1_that_a_trace_creates_must_fit(device):
    x = on(device, (2048, 2048))
    trace = ttnn.begin_trace_capture(device)
    kept = []

    def fill_l1():
        while True:
            kept.append(ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG))

    with pytest.raises(L1CapacityError, match="is too small"):
        fill_l1()
    ttnn.end_trace_capture(device, trace)
    ttnn.execute_trace(device, trace)
    assert same(kept[0], x)
