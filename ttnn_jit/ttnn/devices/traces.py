"""Traces as ttnn has them: what is called between two points is captured, and replayed by one native call.

Nothing runs while a trace is captured, as on a chip: what a captured call gives cannot be read before the first
`execute_trace`, and the same memory gets new numbers at each. See `ttnn_jit.runtime.native.recorder`.
"""

from __future__ import annotations

from itertools import count

from ttnn_jit.diagnostics.errors import TraceError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.diagnostics.tracebacks import user_location
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.native.recorder import Trace, TraceRecorder
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.devices.queues import check_queue

_NUMBERS = count()


class MeshTraceId:
    """A trace of a device, or of every device of a mesh (ttnn.MeshTraceId).

    Attributes:
        device: The device, or the mesh.
        number: Counts the traces of the process.
        began: The user's line where its capture began.
        ended: Where it ended; None: it goes on.
        released: Where the trace was released; None: it was not.
    """

    ended: Location | None = None
    released: Location | None = None

    def __init__(self, device: Device) -> None:
        self.device = device
        self.number = next(_NUMBERS)
        self.began = user_location()

    @property
    def traces(self) -> list[Trace]:
        """What was captured on each device; none before the end, and none once it was released."""
        return [member.traces[self] for member in self.device.members() if self in member.traces]

    @property
    def kernels(self) -> int:
        """How many kernels a replay launches on each device."""
        return max((trace.kernels for trace in self.traces), default=0)

    def __repr__(self) -> str:
        return f"MeshTraceId({self.number})"


@host_function(observed=False)
def begin_trace_capture(mesh_device: Device, cq_id: int | None = None) -> MeshTraceId:
    """Capture what is called on a device up to `end_trace_capture`, without running it (ttnn.begin_trace_capture).

    Captured are operations, jitted functions, writes into tensors, copies between layouts and memory configs, as far as
    this thread calls them; another thread is refused. Tensors of the device that are read keep their address, and their
    memory lives as long as the trace: nobody else gets it but a tensor like one that was freed.

    Raises:
        ArgumentError: The device has no such queue.
        DeviceError: It is closed.
        TraceError: It captures another trace.
    """
    mesh_device.require_open("begin_trace_capture")
    check_queue(mesh_device, cq_id, "begin_trace_capture")
    for member in mesh_device.members():
        if member.recorder is not None:
            raise TraceError(
                f"begin_trace_capture: {member} captures already, since {member.recorder.began}",
                help="end it with `ttnn.end_trace_capture` or `ttnn.graph.end_graph_capture`, or drop it with "
                "`ttnn.release_trace`",
            )
    trace_id = MeshTraceId(mesh_device)
    for member in mesh_device.members():
        member.record(TraceRecorder(trace_id, member.captured))
    return trace_id


@host_function(observed=False)
def end_trace_capture(mesh_device: Device, trace_id: MeshTraceId, cq_id: int | None = None) -> None:
    """End the capture that `begin_trace_capture` began (ttnn.end_trace_capture).

    Raises:
        ArgumentError: The device has no such queue, or `trace_id` is none.
        DeviceError: The device is closed.
        TraceError: The trace is of another device, its capture has ended, or it takes more bytes than the device's
            `trace_region_size` leaves: then it is dropped.
    """
    _check(mesh_device, trace_id, "end_trace_capture", cq_id)
    if trace_id.ended is not None:
        raise TraceError(f"end_trace_capture: the capture of {trace_id} ended at {trace_id.ended}")
    trace_id.ended = user_location()
    captured = [(member, _stopped(member)) for member in mesh_device.members()]
    for member, trace in captured:
        taken = sum(other.nbytes for other in member.traces.values())
        if member.trace_region_size and taken + trace.nbytes > member.trace_region_size:
            trace_id.released = trace_id.ended
            raise TraceError(
                f"end_trace_capture: {trace_id} takes {trace.nbytes:,} bytes of the trace region of {member}, of whose "
                f"{member.trace_region_size:,} bytes {member.trace_region_size - taken:,} are left",
                help="open the device with a larger `trace_region_size`, or release other traces",
            )
    for member, trace in captured:
        member.traces[trace_id] = trace


@host_function(observed=False, without_effect={"every call waits for its work": "blocking"})
def execute_trace(
    mesh_device: Device,
    trace_id: MeshTraceId,
    cq_id: int | None = None,
    blocking: bool = True,
) -> None:
    """Run what was captured, on the tensors as they are now (ttnn.execute_trace).

    Warns of tensors that it uses and that were freed, and of those that took the memory of one, once each.

    Threads take turns: replays of one device, and what the host reads of it or writes to it, happen one after the
    other. Each replay makes its results anew where they lie, in memory that holds other values on the way; a program
    that another thread runs on them does not wait for it.

    Raises:
        ArgumentError: The device has no such queue, or `trace_id` is none.
        DeviceError: The device is closed.
        TraceError: The trace is of another device, was released, or its capture goes on.
    """
    _check(mesh_device, trace_id, "execute_trace", cq_id)
    mesh_device.require_host_access("execute_trace")
    _check_unreleased(trace_id, "execute_trace")
    for member in mesh_device.members():
        with member.order:
            if trace := member.traces.get(trace_id):  # or another thread has released it meanwhile
                trace.replay()


@host_function(observed=False)
def release_trace(mesh_device: Device, trace_id: MeshTraceId) -> None:
    """Give a trace's memory back (ttnn.release_trace); a capture that goes on ends.

    What the captured calls gave stays as it is.

    Raises:
        ArgumentError: `trace_id` is none.
        DeviceError: The device is closed.
        TraceError: The trace is of another device, or was released.
    """
    _check(mesh_device, trace_id, "release_trace", None)
    _check_unreleased(trace_id, "release_trace")
    location = user_location()
    for member in mesh_device.members():
        if isinstance(member.recorder, TraceRecorder) and member.recorder.trace_id is trace_id:
            _stopped(member)
        with member.order:
            if trace := member.traces.pop(trace_id, None):
                trace.release()
    trace_id.ended, trace_id.released = trace_id.ended or location, trace_id.released or location


def _check(device: Device, trace_id: MeshTraceId, name: str, cq_id: int | None) -> None:
    device.require_open(name)
    check_queue(device, cq_id, name)
    if trace_id.device is not device:
        raise TraceError(f"{name}: {trace_id} is a trace of {trace_id.device}, not of {device}")


def _check_unreleased(trace_id: MeshTraceId, name: str) -> None:
    if trace_id.released is not None:
        raise TraceError(f"{name}: {trace_id} was released at {trace_id.released}")


def _stopped(device: Device) -> Trace:
    """What the device has recorded; from now on it runs its calls."""
    recorder = device.recorder
    assert isinstance(recorder, TraceRecorder), "it records from the beginning of a capture to its end"
    device.record(None)
    return recorder.trace()
