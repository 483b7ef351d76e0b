"""Traces with several threads or several devices."""

from __future__ import annotations

import re
import threading

import pytest
import torch

from tests.end_to_end.host_api.traced import captured, host, jitted, layers, on, same
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TraceError


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
def test_a_concurrent_call_of_another_thread_is_refused_and_not_recorded(device, call):
    x = on(device)
    before = ttnn.to_torch(x)
    call(x), call(x)
    ttnn.copy_host_to_device_tensor(ttnn.from_torch(before, layout=ttnn.TILE_LAYOUT), x)
    trace = ttnn.begin_trace_capture(device)
    result = ttnn.exp(x)
    refused = in_another_thread(lambda: call(x))
    assert isinstance(refused, TraceError)
    assert re.search(
        r"another thread captures the calls on Device\(.*since .*test_traces_in_threads.py:\d+", str(refused)
    )
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


def repeated(x):
    """Its intermediates share memory in a trace, and so does the result."""
    for _ in range(4):
        x = ttnn.softmax(ttnn.matmul(ttnn.exp(x), x), dim=-1)
    return x


def test_threads_that_replay_traces_see_only_complete_results(device, cpu_device):
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
