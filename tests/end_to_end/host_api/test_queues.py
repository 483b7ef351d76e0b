"""Command queues and events: every call has completed when it returns; a missing queue is an error."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DeviceError


@pytest.fixture
def two_queues():
    device = ttnn.open_device(device_id=0, num_command_queues=2)
    yield device
    ttnn.close_device(device)


def test_a_program_of_two_queues_runs_in_order(two_queues):
    # As in public programs: writes on queue 1, operations on queue 0, events between them.
    device = two_queues
    host = [ttnn.from_torch(torch.full((32, 32), float(i)), layout=ttnn.TILE_LAYOUT) for i in range(3)]
    x = ttnn.allocate_tensor_on_device(ttnn.Shape([32, 32]), ttnn.float32, ttnn.TILE_LAYOUT, device)
    outputs = []
    done = ttnn.record_event(device, 0)
    for each in host:
        ttnn.wait_for_event(1, done)
        ttnn.copy_host_to_device_tensor(each, x, cq_id=1)
        written = ttnn.record_event(device, 1)
        ttnn.wait_for_event(0, written)
        y = ttnn.add(x, 1.0, queue_id=0)
        done = ttnn.record_event(device, 0)
        outputs.append(y.cpu(blocking=False, cq_id=1))
    ttnn.event_synchronize(done)
    ttnn.synchronize_device(device)
    assert [ttnn.to_torch(each)[0, 0].item() for each in outputs] == [1.0, 2.0, 3.0]


def test_events_are_numbered_and_print_their_queue(two_queues):
    first, second = ttnn.record_event(two_queues, 0), ttnn.record_event(two_queues, cq_id=1)
    assert first.number < second.number
    assert isinstance(first, ttnn.MeshEvent)
    assert repr(second) == f"MeshEvent({second.number} of queue 1 of Device(wormhole_b0 rules on cpu, id=0))"


@pytest.mark.parametrize(
    "call",
    [
        lambda x, q: ttnn.record_event(x.device(), q),
        lambda x, q: ttnn.wait_for_event(q, ttnn.record_event(x.device(), 0)),
        lambda x, q: ttnn.synchronize_device(x.device(), q),
        lambda x, q: ttnn.begin_trace_capture(x.device(), cq_id=q),
        lambda x, q: ttnn.copy_host_to_device_tensor(ttnn.from_device(x), x, cq_id=q),
        lambda x, q: ttnn.copy_device_to_host_tensor(x, ttnn.from_device(x), cq_id=q),
        lambda x, q: ttnn.from_device(x, cq_id=q),
        lambda x, q: ttnn.from_device(x, queue_id=q),
        lambda x, q: ttnn.to_device(ttnn.from_device(x), x.device(), cq_id=q),
        lambda x, q: x.cpu(cq_id=q),
        lambda x, q: ttnn.to_torch(x, cq_id=q),
        lambda x, q: ttnn.from_torch(torch.ones(1), device=x.device(), cq_id=q),
        lambda x, q: x.to(x.device(), cq_id=q),
        lambda x, q: ttnn.exp(x, queue_id=q),
        lambda x, q: ttnn.matmul(x, x, queue_id=q),
        lambda x, q: ttnn.exp(x, cq_id=q),
        lambda x, q: ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG, queue_id=q),
        lambda x, q: ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT, cq_id=q),
        lambda x, q: ttnn.nonzero(ttnn.reshape(x, (1, 1, 1, 1024)), queue_id=q),
        lambda x, q: ttnn.clone(x, queue_id=q),
    ],
)
def test_a_queue_that_does_not_exist_is_an_error_by_name(device, two_queues, call):
    x = ttnn.full((32, 32), 1.0, ttnn.float32, ttnn.TILE_LAYOUT, device)
    y = ttnn.full((32, 32), 1.0, ttnn.float32, ttnn.TILE_LAYOUT, two_queues)
    for _ in range(3):  # the second and later calls of an operation use another path
        if "begin_trace_capture" not in call.__code__.co_names:
            call(y, 1)
            call(x, 0)
        with pytest.raises(
            ArgumentError, match=r"has no command queue 1; it was opened with queue 0 alone\nhelp: open it"
        ):
            call(x, 1)
        with pytest.raises(
            ArgumentError, match=r"has no command queue 2; .* with 2 queues\nhelp: there are queues 0 and"
        ):
            call(y, 2)
    with pytest.raises(ArgumentError, match=r"(command queue|_id` of \w+) must be a whole number, got 'one'"):
        call(x, "one")


def test_a_thread_has_a_queue_of_its_own_in_a_block(two_queues, device):
    assert ttnn.get_current_command_queue_id_for_thread() == 0
    with ttnn.command_queue(1):
        assert ttnn.get_current_command_queue_id_for_thread() == 1
        assert ttnn.record_event(two_queues).cq_id == 1
        with pytest.raises(ArgumentError, match="has no command queue 1"):
            ttnn.record_event(device)
    assert ttnn.record_event(two_queues, ttnn.QueueId(1)).cq_id == 1
    assert ttnn.record_event(two_queues).cq_id == 0


@pytest.mark.parametrize(
    "settings",
    [
        {"num_command_queues": 0},
        {"num_command_queues": 3},
        {"num_command_queues": "2"},
        {"trace_region_size": -1},
        {"trace_region_size": 1.5},
    ],
)
def test_settings_that_no_device_has_are_refused(settings):
    for opened in (ttnn.open_device, ttnn.open_mesh_device):
        with pytest.raises(ArgumentError, match=next(iter(settings))):
            opened(**settings)


def test_events_of_a_closed_device_are_refused(two_queues):
    event = ttnn.record_event(two_queues, 0)
    ttnn.close_device(two_queues)
    for call in (lambda: ttnn.event_synchronize(event), lambda: ttnn.wait_for_event(0, event)):
        with pytest.raises(DeviceError, match="is closed"):
            call()
    with pytest.raises(ArgumentError, match=r"`mesh_event` of event_synchronize must be a ttnn\.MeshEvent, got 0"):
        ttnn.event_synchronize(0)
