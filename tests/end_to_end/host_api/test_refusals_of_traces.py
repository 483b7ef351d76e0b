"""Calls that are refused while a trace is captured, and captures that continue afterwards."""

from __future__ import annotations

import pytest
import torch

from tests.end_to_end.host_api.traced import captured, host, jitted, on, same
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DeviceError, TraceError
from ttnn_jit.runtime.memory.buffer import HOST_POOL


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
def test_a_result_of_a_trace_cannot_be_read_before_its_first_execution(device, read):
    x = on(device)
    for _ in range(4):
        read(ttnn.exp(x))
    trace, result = captured(device, ttnn.exp, x)
    address = result.buffer_address()
    for _ in range(4):
        with pytest.raises(TraceError, match=r"has no elements before the first `ttnn.execute_trace`") as refused:
            read(result)
        assert "test_refusals_of_traces.py" in str(refused.value)
    assert "the trace that makes it has not run" in repr(result)
    ttnn.execute_trace(device, trace)
    assert same(result, ttnn.exp(x))
    assert address == result.buffer_address()
    read(result)


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
        (lambda x: ttnn.from_torch(torch.ones(1), device=x.device()), "making a tensor on the host"),
        (lambda x: ttnn.nonzero(ttnn.reshape(x, (1, 4096))), "to_torch"),
        (lambda x: ttnn.record_event(x.device(), 0), "record_event"),
        (lambda x: ttnn.synchronize_device(x.device()), "synchronize_device"),
    ],
)
def test_host_accesses_are_refused_by_name_and_line_and_the_capture_continues(device, operation, named):
    x = on(device)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    with pytest.raises(
        TraceError,
        match=rf"test_refusals_of_traces\.py:\d+:\d+: {named}: a trace.*since .*test_refusals_of_traces\.py:\d+",
    ):
        operation(x)
    result = ttnn.exp(x)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.execute_trace(device, trace)
    assert same(result, ttnn.exp(x))


def test_a_tensor_prints_without_its_elements_while_a_trace_is_captured(device):
    x = on(device)
    trace = ttnn.begin_trace_capture(device)
    assert repr(x).startswith("ttnn.Tensor(<calls are captured and do not run>, shape=Shape([64, 64])")
    assert "calls are captured" in x._repr_html_()
    ttnn.end_trace_capture(device, trace)


def test_unknown_traces_are_refused_by_name(device):
    x = on(device)
    other = ttnn.open_device(device_id=1)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    with pytest.raises(TraceError, match=r"captures already, since .*test_refusals_of_traces\.py"):
        ttnn.begin_trace_capture(device, cq_id=0)
    with pytest.raises(TraceError, match="execute_trace: a trace"):
        ttnn.execute_trace(device, trace, cq_id=0)
    result = ttnn.exp(x)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    with pytest.raises(TraceError, match=r"the capture of MeshTraceId\(\d+\) ended at .*test_refusals_of_traces\.py"):
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
    with pytest.raises(TraceError, match=r"was released at .*test_refusals_of_traces\.py:\d+"):
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
