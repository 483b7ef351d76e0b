"""Command queues and events: on a CPU the queues of a device are one queue, which is empty when a call returns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from itertools import count
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.cores.sub_devices import SubDeviceId
from ttnn_jit.ttnn.calling.host_function import host_function

_CURRENT: ContextVar[int] = ContextVar("command queue of the thread", default=0)
_NUMBERS = count(1)


class QueueId(int):
    """The number of a command queue (ttnn.QueueId)."""

    def __repr__(self) -> str:
        return f"QueueId({int(self)})"


def check_queue(device: Device, cq_id: int | None, name: str) -> int:
    """The queue of a call of the function `name`: `cq_id`, or the current queue of the thread if that is None.

    Raises:
        ArgumentError: The device has no such queue, or `cq_id` is not a number.
    """
    queue = _CURRENT.get() if cq_id is None else cq_id
    device.require_queue(queue, name)
    return queue


@host_function(observed=False)
@contextlib.contextmanager
def command_queue(cq_id: int) -> Iterator[None]:
    """Make `cq_id` the current queue of this thread for the body of a ``with`` (ttnn.command_queue).

    Raises:
        ArgumentError: `cq_id` is not a number.
    """
    token = _CURRENT.set(cq_id)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@host_function(observed=False)
def get_current_command_queue_id_for_thread() -> int:
    """The queue of calls that name none: that of `command_queue`, else 0."""
    return _CURRENT.get()


class MeshEvent:
    """An event in a device's queue; it is complete as soon as it is recorded (ttnn.MeshEvent).

    Attributes:
        device: The device.
        cq_id: The queue.
        number: Sequence number in the process.
    """

    def __init__(self, device: Device, cq_id: int) -> None:
        self.device = device
        self.cq_id = cq_id
        self.number = next(_NUMBERS)

    def __repr__(self) -> str:
        return f"MeshEvent({self.number} of queue {int(self.cq_id)} of {self.device})"


@host_function(observed=False, without_effect={"a CPU has no sub-devices": "sub_device_ids device_range"})
def record_event(
    mesh_device: Device,
    cq_id: int | None = None,
    sub_device_ids: Sequence[Any] = (),
    device_range: Any = None,
) -> MeshEvent:
    """Record an event after all work in a queue (ttnn.record_event); it is complete.

    Raises:
        ArgumentError: The device has no such queue.
        DeviceError: The device is closed.
        TraceError: The device captures a trace, which cannot contain events.
    """
    mesh_device.require_host_access("record_event")
    return MeshEvent(mesh_device, check_queue(mesh_device, cq_id, "record_event"))


@host_function(observed=False)
def wait_for_event(cq_id: int | None = None, mesh_event: MeshEvent | None = None) -> None:
    """Let a queue, by default the current one, wait for an event, which is complete (ttnn.wait_for_event).

    Raises:
        ArgumentError: `mesh_event` is not an event, or its device has no such queue.
        DeviceError: The device is closed.
        TraceError: The device captures a trace.
    """
    if mesh_event is None:
        raise ArgumentError("wait_for_event lacks its argument `mesh_event`")
    mesh_event.device.require_host_access("wait_for_event")
    check_queue(mesh_event.device, cq_id, "wait_for_event")


@host_function(observed=False)
def event_synchronize(mesh_event: MeshEvent) -> None:
    """Wait for an event, which is complete (ttnn.event_synchronize).

    Raises:
        ArgumentError: `mesh_event` is not an event.
        DeviceError: Its device is closed.
        TraceError: Its device captures a trace.
    """
    mesh_event.device.require_host_access("event_synchronize")


@host_function(observed=False, no_effect="work of a CPU is done when a call returns: nothing is skewed")
def apply_device_delay(
    mesh_device: Device, delays: Sequence[Sequence[int]], *, subdevice_id: SubDeviceId | None = None
) -> None:
    """Check the delays of devices, and skew nothing; it counts as a program (ttnn.apply_device_delay).

    Args:
        mesh_device: The mesh, of two axes.
        delays: Cycles for each device, rows x columns of the mesh.
        subdevice_id: The sub-device whose core spins.

    Raises:
        ArgumentError: The rows and columns are not those of the mesh.
    """
    shape = tuple(mesh_device.shape)
    if (len(delays), *{len(row) for row in delays}) != shape:
        raise ArgumentError(f"apply_device_delay: `delays` must have the rows and columns of {mesh_device}")
    for member in mesh_device.members():
        if apply_device_delay.__name__ not in member.programs:  # a disabled cache holds everything
            member.programs.add(apply_device_delay.__name__)
