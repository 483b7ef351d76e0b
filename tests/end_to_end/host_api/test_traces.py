"""Traces: what is called while one is captured runs when it is executed, by one native call, on the same tensors."""

from __future__ import annotations

import copy
import gc
import itertools
import re
import threading

import pytest
import torch

import ttnn_jit
from benchmarks.programs.model_programs import module_of
from tests import programs
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DeviceError, L1CapacityError, TraceError
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.runtime.native import recorder


def host(shape=(64, 64), dtype=torch.float32):
    return ttnn.from_torch(torch.randn(shape, dtype=dtype), layout=ttnn.TILE_LAYOUT)


def on(device, shape=(64, 64), **keywords):
    return ttnn.to_device(host(shape), device, **keywords)


def overwrite(*tensors):
    for tensor in tensors:
        ttnn.copy_host_to_device_tensor(host(tuple(tensor.shape)), tensor)


def captured(device, function, *args):
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    result = function(*args)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    return trace, result


def same(a, b):
    return torch.equal(ttnn.to_torch(a), ttnn.to_torch(b))


jitted = ttnn_jit.jit()(programs.add_mul_exp_sigmoid)


def layers(x, y):
    z = jitted(x, y)
    z = ttnn.matmul(z, ttnn.permute(x, (1, 0)))
    return ttnn.softmax(ttnn.to_layout(ttnn.to_layout(z, ttnn.ROW_MAJOR_LAYOUT), ttnn.TILE_LAYOUT), dim=-1)


def test_a_replay_computes_with_the_inputs_as_they_are_now_and_into_the_same_tensors(device):
    x, y = on(device), on(device)
    trace, result = captured(device, layers, x, y)
    address = ttnn.Tensor.buffer_address(result)
    for _ in range(3):
        overwrite(x, y)
        ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
        assert same(result, layers(x, y))
    assert result.buffer_address() == address


def test_nothing_runs_while_a_trace_is_captured(device):
    x, y = on(device), on(device)
    before = ttnn.to_torch(x)
    trace, _ = captured(device, lambda: (ttnn.add_(x, y), ttnn.add(x, y, output_tensor=y)))
    assert torch.equal(ttnn.to_torch(x), before)
    ttnn.execute_trace(device, trace)
    assert not torch.equal(ttnn.to_torch(x), before)


def test_a_replay_is_one_native_call_of_all_kernels(device, monkeypatch):
    calls = []

    def counted(*, gives_lock_away):
        entry = recorder_entry(gives_lock_away=gives_lock_away)
        return lambda *words: (calls.append(words), entry(*words))

    recorder_entry = recorder.replay_entry
    monkeypatch.setattr(recorder, "replay_entry", counted)
    x = on(device)

    def chain(value):
        for _ in range(100):
            value = ttnn.add(value, x)
        return jitted(value, x)

    trace, result = captured(device, chain, x)
    assert trace.kernels == 101
    fixed = result.buffer_address(), trace.traces[0].pool.statistics()
    for _ in range(3):
        ttnn.execute_trace(device, trace)
    assert len(calls) == 3
    assert len(set(calls)) == 1  # the same list of calls, whose buffers stay where they are:
    assert (result.buffer_address(), trace.traces[0].pool.statistics()) == fixed
    assert same(result, chain(x))


def test_calls_after_a_capture_run_at_once_and_as_fast_as_before(device):
    x, y = on(device), on(device)
    expected = jitted(x, y), ttnn.add(x, y)
    jitted(x, y), ttnn.add(x, y)
    remembered = dict(jitted._warm), jitted._latest, dict(ttnn.add._warm)
    captured(device, lambda: [(jitted(x, y), ttnn.add(x, y)) for _ in range(6)])
    assert (dict(jitted._warm), jitted._latest, dict(ttnn.add._warm)) == remembered
    assert same(jitted(x, y), expected[0])
    assert same(ttnn.add(x, y), expected[1])


def test_a_first_call_may_compile_while_a_trace_is_captured(device):
    @ttnn_jit.jit()
    def fresh(x):
        return ttnn.cos(ttnn.sin(x))

    x = on(device)
    trace, result = captured(device, fresh, x)
    ttnn.execute_trace(device, trace)
    assert same(result, fresh(x))


def test_tensors_that_die_in_a_trace_keep_their_memory_for_it_alone(device):
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


def test_memory_that_is_freed_in_a_trace_is_used_again_in_it(device):
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
def test_a_replay_says_which_tensors_are_gone_that_it_reads_and_nobody_else_has_their_memory(device, free, when):
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
    gone = r"memory of a tensor that was freed, TensorSpec\(\[64, 64\], f32.*met at .*test_traces.py:\d+.*what was last"
    with pytest.warns(UserWarning, match=gone):
        ttnn.execute_trace(device, trace)
    assert same(result, expected)
    ttnn.execute_trace(device, trace)  # it is said once
    assert same(result, expected)


def test_a_replay_says_that_it_uses_a_tensor_that_lies_where_another_one_was(device):
    x, y = on(device), on(device)
    address = y.buffer_address()
    trace, result = captured(device, ttnn.add, x, y)
    ttnn.deallocate(y)
    again = on(device)
    assert again.buffer_address() == address
    with pytest.warns(UserWarning, match=r"lies now that was made at .*test_traces.py:\d+:\d+: a replay uses that one"):
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


@pytest.mark.parametrize(
    "read",
    [
        ttnn.to_torch,
        lambda x: x.cpu(),
        lambda x: x.to_list(),
        ttnn.exp,
        lambda x: ttnn.add(x, x),
        lambda x: jitted(x, x),
        lambda x: ttnn.matmul(x, x),
        lambda x: ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT),
        ttnn.clone,
        lambda x: ttnn.add_(x, 1.0),
    ],
)
def test_what_a_trace_makes_is_not_read_before_it_ran(device, read):
    x = on(device)
    for _ in range(4):
        read(ttnn.exp(x))
    trace, result = captured(device, ttnn.exp, x)
    address = result.buffer_address()
    for _ in range(4):
        with pytest.raises(TraceError, match=r"holds no numbers before the first `ttnn.execute_trace`") as refused:
            read(result)
        assert "test_traces.py" in str(refused.value)
    assert "a trace makes it that did not run" in repr(result)
    ttnn.execute_trace(device, trace)
    assert same(result, ttnn.exp(x))
    assert address == result.buffer_address()
    read(result)


def test_a_trace_may_read_what_another_one_makes_before_it_ran(device):
    x = on(device)
    first, made = captured(device, ttnn.exp, x)
    second, result = captured(device, ttnn.neg, made)
    ttnn.execute_trace(device, first)
    ttnn.execute_trace(device, second)
    assert same(result, ttnn.neg(ttnn.exp(x)))


def in_another_thread(call):
    outcome = []

    def run():
        try:
            outcome.append(call())
        except TraceError as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return outcome[0]


@pytest.mark.parametrize(
    "call",
    [
        ttnn.exp,
        lambda x: jitted(x, x),
        lambda x: ttnn.add_(x, 1.0),
        ttnn.clone,
        lambda x: ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT),
        lambda x: ttnn.zeros_like(x),
        lambda x: ttnn.allocate_tensor_on_device(x.spec, x.device()),
        lambda x: ttnn.to_device(host(), x.device()),
        ttnn.to_torch,
    ],
)
def test_what_another_thread_calls_meanwhile_is_refused_and_is_no_part_of_the_trace(device, call):
    x = on(device)
    before = ttnn.to_torch(x)
    call(x), call(x)
    ttnn.copy_host_to_device_tensor(ttnn.from_torch(before, layout=ttnn.TILE_LAYOUT), x)
    trace = ttnn.begin_trace_capture(device)
    result = ttnn.exp(x)
    refused = in_another_thread(lambda: call(x))
    assert isinstance(refused, TraceError)
    assert re.search(r"another thread captures what is called on Device\(.*since .*test_traces.py:\d+", str(refused))
    ttnn.end_trace_capture(device, trace)
    assert trace.kernels == 1
    ttnn.execute_trace(device, trace)
    assert same(result, ttnn.exp(x))
    assert torch.equal(ttnn.to_torch(x), before)


def test_another_thread_may_end_a_capture(device):
    x = on(device)
    trace = ttnn.begin_trace_capture(device)
    result = ttnn.exp(x)
    assert in_another_thread(lambda: ttnn.end_trace_capture(device, trace)) is None
    ttnn.execute_trace(device, trace)
    assert same(result, ttnn.exp(x))


def test_released_memory_goes_back_and_results_stay(device):
    x = on(device, (512, 512))
    trace, result = captured(device, lambda: ttnn.add(ttnn.exp(x), x))
    (captured_there,) = trace.traces
    ttnn.execute_trace(device, trace)
    ttnn.release_trace(device, trace)
    with pytest.raises(TraceError, match=r"release_trace: MeshTraceId\(\d+\) was released at .*test_traces\.py:\d+"):
        ttnn.release_trace(device, trace)
    assert captured_there.pool.statistics().idle_bytes == 0
    assert same(result, ttnn.add(ttnn.exp(x), x))
    ttnn.deallocate(result)
    gc.collect()
    assert captured_there.pool.statistics().mapped_bytes == 0


def test_an_input_that_is_freed_in_a_trace_is_allocated_again_where_the_trace_reads_it(device):
    # As models do whose first operation frees its input in L1: the trace reads what is written there before each run.
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


def test_writes_into_inputs_happen_once_per_replay(device):
    cache, row = on(device), on(device)
    expected = ttnn.clone(cache)
    trace, _ = captured(device, lambda: ttnn.add_(cache, row))
    for _ in range(3):
        ttnn.execute_trace(device, trace)
        ttnn.add_(expected, row)
        assert same(cache, expected)


@pytest.mark.parametrize(
    "copied",
    [
        ttnn.clone,
        copy.deepcopy,
        lambda x: ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG),
        lambda x: ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT),
        lambda x: x.to(ttnn.ROW_MAJOR_LAYOUT),
        lambda x: ttnn.to_layout(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), ttnn.TILE_LAYOUT),
        lambda x: ttnn.move(ttnn.clone(x)),
        lambda x: ttnn.full_like(x, 2.0),
        lambda x: ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG, output_tensor=ttnn.zeros_like(x)),
    ],
)
@pytest.mark.parametrize("shape", [(64, 64), (1, 1), (3, 2, 33, 70), (5,), (2, 7, 31)])
def test_copies_between_tensors_of_the_device_are_part_of_a_trace_padding_included(device, copied, shape):
    x = on(device, shape)
    trace, result = captured(device, copied, x)
    overwrite(x)
    ttnn.execute_trace(device, trace)
    expected = copied(x)
    assert same(result, expected)
    assert (result.spec, result.stored_bytes()) == (expected.spec, expected.stored_bytes())


@pytest.mark.parametrize(
    ("operation", "named"),
    [
        (ttnn.to_torch, "to_torch"),
        (ttnn.from_device, "from_device"),
        (lambda x: x.cpu(), "cpu"),
        (lambda x: x.to_list(), "to_list"),
        (lambda x: x[0, 0].item(), "item"),
        (lambda x: ttnn.copy_host_to_device_tensor(host(), x), "copy_host_to_device_tensor"),
        (lambda x: ttnn.copy_device_to_host_tensor(x, host()), "copy_device_to_host_tensor"),
        (lambda x: ttnn.to_device(host(), x.device()), "to_device"),
        (lambda x: ttnn.from_torch(torch.ones(1), device=x.device()), "a tensor that the host makes"),
        (lambda x: ttnn.nonzero(ttnn.reshape(x, (1, 4096))), "to_torch"),
        (lambda x: ttnn.record_event(x.device(), 0), "record_event"),
        (lambda x: ttnn.synchronize_device(x.device()), "synchronize_device"),
    ],
)
def test_what_the_host_does_is_refused_by_name_and_line_and_the_capture_goes_on(device, operation, named):
    x = on(device)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    with pytest.raises(TraceError, match=rf"test_traces\.py:\d+:\d+: {named}: a trace.*since .*test_traces\.py:\d+"):
        operation(x)
    result = ttnn.exp(x)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.execute_trace(device, trace)
    assert same(result, ttnn.exp(x))


def test_a_tensor_prints_without_its_elements_while_a_trace_is_captured(device):
    x = on(device)
    trace = ttnn.begin_trace_capture(device)
    assert repr(x).startswith("ttnn.Tensor(<calls are captured, and do not run>, shape=Shape([64, 64])")
    assert "calls are captured" in x._repr_html_()
    ttnn.end_trace_capture(device, trace)


def test_indices_of_a_trace_are_not_looked_at_before_there_are_any(device):
    table, indices = on(device, (32, 32)), ttnn.from_torch(torch.tensor([[3, 1]]), dtype=ttnn.uint32, device=device)
    trace, result = captured(device, lambda: ttnn.embedding(ttnn.add(indices, 1), table))
    ttnn.execute_trace(device, trace)
    assert same(result, ttnn.embedding(ttnn.add(indices, 1), table))


def test_traces_that_are_not_there_are_refused_by_name(device):
    x = on(device)
    other = ttnn.open_device(device_id=1)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    with pytest.raises(TraceError, match=r"captures already, since .*test_traces\.py"):
        ttnn.begin_trace_capture(device, cq_id=0)
    with pytest.raises(TraceError, match="execute_trace: a trace"):
        ttnn.execute_trace(device, trace, cq_id=0)
    result = ttnn.exp(x)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    with pytest.raises(TraceError, match=r"the capture of MeshTraceId\(\d+\) ended at .*test_traces\.py"):
        ttnn.end_trace_capture(device, trace, cq_id=0)
    with pytest.raises(
        TraceError, match=r"is a trace of Device\(wormhole_b0 rules on cpu, id=0\), not of Device\(.*id=1\)"
    ):
        ttnn.execute_trace(other, trace, cq_id=0)
    with pytest.raises(ArgumentError, match=r"`trace_id` of execute_trace must be a ttnn\.MeshTraceId"):
        ttnn.execute_trace(device, 3, cq_id=0)
    with pytest.raises(ArgumentError, match="has no command queue 1; it was opened with queue 0 alone"):
        ttnn.execute_trace(device, trace, cq_id=1)
    ttnn.execute_trace(device, trace, cq_id=0)
    assert same(result, ttnn.exp(x))
    ttnn.release_trace(device, trace)
    with pytest.raises(TraceError, match=r"was released at .*test_traces\.py:\d+"):
        ttnn.execute_trace(device, trace, cq_id=0)
    ttnn.close_device(device)
    with pytest.raises(DeviceError, match="execute_trace"):
        ttnn.execute_trace(device, trace, cq_id=0)


def test_a_capture_can_be_dropped(device):
    x = on(device)
    trace = ttnn.begin_trace_capture(device)
    ttnn.exp(x)
    ttnn.release_trace(device, trace)
    assert same(ttnn.exp(x), ttnn.exp(x))
    with pytest.raises(TraceError, match="was released"):
        ttnn.execute_trace(device, trace)


def test_closing_a_device_ends_its_capture():
    device = ttnn.open_device(device_id=0)
    x = on(device)
    ttnn.begin_trace_capture(device)
    ttnn.exp(x)
    ttnn.close_device(device)
    with pytest.raises(DeviceError, match="closed"):
        ttnn.exp(x)
    assert device.pool is HOST_POOL


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

    program()  # so that views come from the warm path eagerly
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


def test_a_trace_of_nothing_runs_nothing(device):
    trace, _ = captured(device, lambda: None)
    ttnn.execute_trace(device, trace)
    assert trace.kernels == 0


def test_traces_lie_in_the_trace_region_and_what_does_not_fit_is_refused_with_its_bytes():
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


def test_what_a_trace_makes_in_l1_must_fit(device):
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


def test_a_trace_of_a_mesh_runs_on_every_device():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), num_command_queues=2)
    x = ttnn.from_torch(
        torch.randn(64, 64), layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0)
    )
    trace, result = captured(mesh, lambda: jitted(x, ttnn.exp(x)))
    ttnn.execute_trace(mesh, trace, cq_id=1)
    expected = jitted(x, ttnn.exp(x))
    for own, wanted in zip(ttnn.get_device_tensors(result), ttnn.get_device_tensors(expected), strict=True):
        assert same(own, wanted)
    ttnn.release_trace(mesh, trace)
    with pytest.raises(TraceError, match="released"):
        ttnn.execute_trace(mesh, trace)


def test_another_device_runs_while_one_captures(device, cpu_device):
    x, y = on(device), on(cpu_device)
    trace = ttnn.begin_trace_capture(device)
    result = ttnn.exp(x)
    expected = ttnn.to_torch(ttnn.exp(y))
    with pytest.raises(TraceError):
        ttnn.to_device(x, cpu_device)
    ttnn.end_trace_capture(device, trace)
    ttnn.execute_trace(device, trace)
    assert torch.equal(expected, ttnn.to_torch(ttnn.exp(y)))
    assert same(result, ttnn.exp(x))


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_a_model_in_a_trace_gives_what_it_gives_alone(target):
    device = ttnn.open_device(device_id=0, target=target, trace_region_size=1 << 20)
    model = module_of("bert")
    run, _ = model.build(model.SMALL, device)
    trace, result = captured(device, run)
    for _ in range(2):
        ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
        assert same(result, run())
    ttnn.close_device(device)


def repeated(x):
    """Its steps lie in one another's memory in a trace, and in that of the result."""
    for _ in range(4):
        x = ttnn.softmax(ttnn.matmul(ttnn.exp(x), x), dim=-1)
    return x


def test_threads_that_replay_traces_of_one_device_and_of_several_read_nothing_but_results(device, cpu_device):
    traces, inputs = [], []
    for each, extent, function in ((device, 64, layers), (cpu_device, 128, layers), (cpu_device, 512, repeated)):
        given = [on(each, (extent, extent))] * (2 if function is layers else 1)
        inputs += given
        traces.append((each, *captured(each, function, *given), function(*given)))
    ttnn.execute_trace(*traces[-1][:2])
    failures = []

    def replay(device, trace, result, expected):
        for _ in range(15):
            ttnn.execute_trace(device, trace)
            if not same(result, expected):
                failures.append(trace)

    threads = [threading.Thread(target=replay, args=each) for each in traces * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_trace_is_not_released_while_another_thread_replays_it(cpu_device):
    x = on(cpu_device, (512, 512))
    expected = repeated(x)
    trace, result = captured(cpu_device, repeated, x)
    started, refused = threading.Event(), []

    def replay():
        while not refused:
            try:
                ttnn.execute_trace(cpu_device, trace)
                started.set()
            except TraceError as error:
                refused.append(str(error))

    thread = threading.Thread(target=replay)
    thread.start()
    started.wait(10)
    ttnn.release_trace(cpu_device, trace)
    thread.join()
    assert "was released" in refused[0]
    assert same(result, expected)


def test_captures_that_are_released_leave_no_memory(device):
    x = on(device, (256, 256))
    pools = []
    for _ in range(5):
        trace, result = captured(device, lambda: ttnn.add(ttnn.exp(x), x))
        pools.append(trace.traces[0].pool)
        ttnn.release_trace(device, trace)
        del result
    assert [pool.statistics().mapped_bytes for pool in pools] == [0] * 5
