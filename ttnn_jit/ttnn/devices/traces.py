"""Traces of ttnn: calls are captured, and replayed by one native call. A trace of a mesh is one of all its devices.

As on a chip, nothing runs during the capture. The results of captured calls cannot be read before the first
`execute_trace`, and each replay overwrites them. See `ttnn_jit.runtime.native.recorder`.
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
        number: Sequence number in the process.
        began: Location in the user's program where the capture began.
        ended: Location where the capture ended; None while it is active.
        released: Location where the trace was released; None before.
    """

    ended: Location | None = None
    released: Location | None = None

    def __init__(self, device: Device) -> None:
        self.device = device
        self.number = next(_NUMBERS)
        self.began = user_location()

    @property
    def traces(self) -> list[Trace]:
        """The captured trace of the device or of all devices; empty before the end of the capture and after release."""
        return [*dict.fromkeys(member.traces[self] for member in self.device.members() if self in member.traces)]

    @property
    def kernels(self) -> int:
        """The number of kernels that a replay launches per device."""
        return max((trace.kernels for trace in self.traces), default=0)

    def __repr__(self) -> str:
        return f"MeshTraceId({self.number})"


@host_function(observed=False)
def begin_trace_capture(mesh_device: Device, cq_id: int | None = None) -> MeshTraceId:
    """Capture the calls on a device until `end_trace_capture`, without running them (ttnn.begin_trace_capture).

    The trace captures operations, jitted functions, writes into tensors, and copies between layouts and memory configs
    of this thread; calls of other threads are refused. Tensors that the trace reads keep their addresses. Their memory
    stays allocated as long as the trace; if such a tensor is freed, only a tensor of the same spec can get its memory.

    Raises:
        ArgumentError: The device has no such queue.
        DeviceError: The device is closed.
        TraceError: The device captures another trace.
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
    recorder = TraceRecorder(trace_id, mesh_device.captured, len(mesh_device.members()))
    for member in mesh_device.members():
        member.record(recorder)
    return trace_id


@host_function(observed=False)
def end_trace_capture(mesh_device: Device, trace_id: MeshTraceId, cq_id: int | None = None) -> None:
    """End the capture that `begin_trace_capture` began (ttnn.end_trace_capture).

    Raises:
        ArgumentError: The device has no such queue, or `trace_id` is not a trace id.
        DeviceError: The device is closed.
        TraceError: The trace is of another device, its capture has ended, or it exceeds the free bytes of the device's
            `trace_region_size`, in which case it is released.
    """
    _check(mesh_device, trace_id, "end_trace_capture", cq_id)
    if trace_id.ended is not None:
        raise TraceError(f"end_trace_capture: the capture of {trace_id} ended at {trace_id.ended}")
    trace_id.ended = user_location()
    trace = _stop_recording(mesh_device)
    for member in mesh_device.members():
        taken = sum(other.nbytes for other in member.traces.values())
        if member.trace_region_size and taken + trace.nbytes > member.trace_region_size:
            trace_id.released = trace_id.ended
            raise TraceError(
                f"end_trace_capture: {trace_id} takes {trace.nbytes:,} bytes of the trace region of {member}, of whose "
                f"{member.trace_region_size:,} bytes {member.trace_region_size - taken:,} are left",
                help="open the device with a larger `trace_region_size`, or release other traces",
            )
    for member in mesh_device.members():
        member.traces[trace_id] = trace


@host_function(observed=False, without_effect={"every call waits for its work": "blocking"})
def execute_trace(
    mesh_device: Device,
    trace_id: MeshTraceId,
    cq_id: int | None = None,
    blocking: bool = True,
) -> None:
    """Run the captured calls on the current contents of their tensors (ttnn.execute_trace).

    Warns once for each tensor of the trace that was freed, and for each tensor that reuses such memory.

    Replays of a device or mesh, and host reads and writes of its tensors, are serialized across threads. A replay
    recomputes its results in place, and their memory holds intermediate values meanwhile; programs that other threads
    run on these tensors are not serialized with it.

    Raises:
        ArgumentError: The device has no such queue, or `trace_id` is not a trace id.
        DeviceError: The device is closed.
        TraceError: The trace is of another device, was released, or its capture is active.
    """
    _check(mesh_device, trace_id, "execute_trace", cq_id)
    mesh_device.require_host_access("execute_trace")
    _check_unreleased(trace_id, "execute_trace")
    with mesh_device.order:
        for trace in trace_id.traces:  # none if another thread has released it meanwhile
            trace.replay()


@host_function(observed=False)
def release_trace(mesh_device: Device, trace_id: MeshTraceId) -> None:
    """Free the memory of a trace (ttnn.release_trace); an active capture ends.

    The results of the captured calls keep their contents.

    Raises:
        ArgumentError: `trace_id` is not a trace id.
        DeviceError: The device is closed.
        TraceError: The trace is of another device, or was released.
    """
    _check(mesh_device, trace_id, "release_trace", None)
    _check_unreleased(trace_id, "release_trace")
    location = user_location()
    recorder = mesh_device.members()[0].recorder
    if isinstance(recorder, TraceRecorder) and recorder.trace_id is trace_id:
        _stop_recording(mesh_device)
    with mesh_device.order:
        for trace in trace_id.traces:
            trace.release()
        for member in mesh_device.members():
            member.traces.pop(trace_id, None)
    trace_id.ended, trace_id.released = trace_id.ended or location, trace_id.released or location


def _check(device: Device, trace_id: MeshTraceId, name: str, cq_id: int | None) -> None:
    device.require_open(name)
    check_queue(device, cq_id, name)
    if trace_id.device is not device:
        raise TraceError(f"{name}: {trace_id} is a trace of {trace_id.device}, not of {device}")


def _check_unreleased(trace_id: MeshTraceId, name: str) -> None:
    if trace_id.released is not None:
        raise TraceError(f"{name}: {trace_id} was released at {trace_id.released}")


def _stop_recording(device: Device) -> Trace:
    """The trace that the device or the devices of a mesh have recorded; later calls run again."""
    recorder = device.members()[0].recorder
    assert isinstance(recorder, TraceRecorder), "it records from the beginning of a capture to its end"
    for member in device.members():
        member.record(None)
    return recorder.trace()
