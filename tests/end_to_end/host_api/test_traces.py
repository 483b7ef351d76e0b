"""Traces: captured calls run when the trace is executed, by one native call, on the same tensors."""

from __future__ import annotations

import copy

import pytest
import torch

import ttnn_jit
from benchmarks.programs.model_programs import module_of
from tests.end_to_end.host_api.traced import captured, jitted, layers, on, overwrite, same
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TraceError
from ttnn_jit.runtime.native import recorder


def test_a_replay_reads_the_current_inputs_and_writes_the_same_tensors(device):
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

    def counted(*, releases_gil):
        entry = recorder_entry(releases_gil=releases_gil)
        return lambda *arguments: (calls.append(arguments), entry(*arguments))

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


def test_a_trace_may_be_captured_on_results_of_another_that_has_not_run(device):
    x = on(device)
    first, made = captured(device, ttnn.exp, x)
    second, result = captured(device, ttnn.neg, made)
    ttnn.execute_trace(device, first)
    ttnn.execute_trace(device, second)
    assert same(result, ttnn.neg(ttnn.exp(x)))


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


def test_indices_are_not_checked_while_a_trace_is_captured(device):
    table, indices = on(device, (32, 32)), ttnn.from_torch(torch.tensor([[3, 1]]), dtype=ttnn.uint32, device=device)
    trace, result = captured(device, lambda: ttnn.embedding(ttnn.add(indices, 1), table))
    ttnn.execute_trace(device, trace)
    assert same(result, ttnn.embedding(ttnn.add(indices, 1), table))


def test_a_trace_of_nothing_runs_nothing(device):
    trace, _ = captured(device, lambda: None)
    ttnn.execute_trace(device, trace)
    assert trace.kernels == 0


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


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_a_model_in_a_trace_returns_what_it_returns_alone(target):
    device = ttnn.open_device(device_id=0, target=target, trace_region_size=1 << 20)
    model = module_of("bert")
    run, _ = model.build(model.SMALL, device)
    trace, result = captured(device, run)
    for _ in range(2):
        ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
        assert same(result, run())
    ttnn.close_device(device)
