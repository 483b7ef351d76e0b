"""Traces: a recorded list of program calls over fixed memory, which one native call replays.

While a device records, nothing runs: calls of programs and copies between tensors are recorded, and their results are
allocated from the trace's own pool. Later calls of the trace reuse memory that the captured program frees, as they
would in a run; nothing else uses it while the trace lives. The addresses of that memory are refused until the first
replay, so that nobody reads uncomputed elements. Only the capturing thread may use the device.

Bound: a replay costs a call and a store per operand for each kernel (benchmarks/programs/traces.py).
"""

from __future__ import annotations

import ctypes
import math
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ttnn_jit.diagnostics.errors import TraceError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.diagnostics.tracebacks import user_location
from ttnn_jit.runtime.memory.buffer import HOST_POOL, BigBuffer, Buffer, BufferPool, SizeClass, address_of, set_address
from ttnn_jit.runtime.memory.captured_memory import CapturedMemory, CapturedTensor
from ttnn_jit.runtime.memory.replicas import replica_in
from ttnn_jit.runtime.native.entry import replay_entry
from ttnn_jit.runtime.native.launch_table import int64_array
from ttnn_jit.runtime.native.native_call import NativeCall, copy_call
from ttnn_jit.runtime.native.structures import ReplayedCall
from ttnn_jit.runtime.native.threads import HELPERS
from ttnn_jit.specs.tensor_spec import TensorSpec

LONG_CALLS = 256
"""A trace of at least this many calls releases the GIL, because its replay takes longer than the release."""


class TracePool(BufferPool):
    """The memory of a trace, which stays reserved while the trace may run, even if no tensor owns it.

    Args:
        trace_id: The id of the trace.

    Attributes:
        is_unread: Whether the trace was captured and has not run, so that the elements are not computed.
    """

    is_of_a_trace = True
    is_held = True

    def __init__(self, trace_id: object) -> None:
        self._trace_id = trace_id
        self._buffer_type: Any = type("TraceBuffer", (BigBuffer,), {"__slots__": ()})
        super().__init__()

    def buffer_type(self, nbytes: int) -> type[Buffer]:  # noqa: ARG002 - one type for all size classes
        """The pool's own buffer type, whose address can be refused."""
        kind: type[Buffer] = self._buffer_type
        return kind

    def refuse_reads(self) -> None:
        """Raise a `TraceError` when an address is read, until `allow_reads`."""
        self.is_unread = True
        trace_id = self._trace_id

        def refuse(_: Buffer) -> NoReturn:
            raise TraceError(
                f"a tensor that {trace_id} makes has no elements before the first `ttnn.execute_trace`",
                location=user_location(),
                help="nothing runs while a trace is captured; execute it first",
            )

        self._buffer_type.address = property(refuse, set_address)

    def allow_reads(self) -> None:
        """Allow reads, because the trace runs."""
        if self.is_unread:
            self.is_unread = False
            del self._buffer_type.address

    def trim(self, size_class: SizeClass) -> None:  # noqa: ARG002 - the same for all size classes
        """Trim only after `release_unowned`: the next replay may write to any block."""
        if not self.is_held:
            self.release_idle()

    def release_unowned(self) -> None:
        """Unmap memory that no tensor owns, now and whenever a tensor dies."""
        self.is_held = False
        for size_class in self._snapshot():
            size_class.trim_above = 0
        self.release_idle()


class Trace:
    """A captured trace of a device, or of the devices of a mesh, whose calls it holds in the order of the capture.

    Attributes:
        kernels: Number of kernel launches of a replay, per device.
        calls: Number of program calls and copies on all devices.
        nbytes: Bytes of the list of calls per device, which count against its trace region.
        pool: The memory of the results of the captured calls.
    """

    def __init__(
        self, calls: Sequence[NativeCall], arguments: Sequence[ctypes.Array[ctypes.c_int64]], recorder: TraceRecorder
    ):
        self.kernels = -(-sum(call.kernels for call in calls) // recorder.devices)
        self.calls = len(calls)
        self.pool = recorder.pool
        self._list = int64_array(list(map(ctypes.addressof, arguments)))
        self._is_parallel = any(call.is_parallel for call in calls)
        own = {id(call): call.nbytes for call in calls}
        nbytes = sum(own.values()) + sum(map(ctypes.sizeof, (self._list, *arguments)))
        self.nbytes = -(-nbytes // recorder.devices)
        unlocked = self.calls >= LONG_CALLS or any(call.releases_gil for call in calls)
        self._replay = replay_entry(releases_gil=unlocked)
        self._trace_id = recorder.trace_id
        self._captured = recorder.captured
        self._memory = recorder.memory
        self._warned: set[int] = set()
        self._keeps = tuple(calls), tuple(arguments), tuple(recorder.constants)
        self._exchanges = tuple(recorder.exchanges)
        self.pool.refuse_reads()

    def replay(self) -> None:
        """Run every captured call once, in order: one native call, or one between two exchanges with other ranks.

        Warns about freed tensors that it uses.
        """
        self._memory.warn(self._trace_id, self._captured, self._warned)
        self.pool.allow_reads()
        begin = 0
        for end, exchange in self._exchanges:
            self._replay_calls(begin, end)
            exchange()
            begin = end
        self._replay_calls(begin, self.calls)

    def _replay_calls(self, begin: int, end: int) -> None:
        if begin < end:
            first = ctypes.addressof(self._list) + begin * ctypes.sizeof(ctypes.c_int64)
            self._replay(first, end - begin, HELPERS.pool_address() if self._is_parallel else 0)

    def release(self) -> None:
        """Release memory that no tensor owns; the trace cannot be replayed afterwards."""
        self._keeps, self._exchanges = ((), (), ()), ()
        self._memory.release(self._trace_id)
        self.pool.release_unowned()


class Recorder:
    """Receives the calls of a device instead of running them; this base class ignores them.

    Attributes:
        pool: The memory of the results of the calls.
        began: The user's line that started the recording.
    """

    pool: BufferPool

    def __init__(self) -> None:
        self.began: Location | None = user_location()
        self._thread = threading.get_ident()

    def require_own_thread(self, operation: str, device: object) -> None:
        """Refuse `operation` in another thread than the recording one, because it would be recorded or not run.

        Raises:
            TraceError: The calling thread did not start the recording.
        """
        if threading.get_ident() != self._thread:
            raise TraceError(
                f"{operation}: another thread captures the calls on {device}, since {self.began}",
                location=user_location(),
                help="wait until its capture ends, for example by a lock around it; or open a device for each thread",
            )

    def launch(self, call: NativeCall, buffers: Sequence[Buffer], specs: Sequence[TensorSpec]) -> None:
        """Receive a run of a program on these buffers, of tensors of these specs."""

    def note_circular_buffers(self, nbytes: int) -> None:
        """Receive the L1 bytes per core that the circular buffers of the next program take."""

    def copy(self, source_spec: TensorSpec, source: Buffer, spec: TensorSpec, target: Buffer) -> None:
        """Receive a copy to a tensor of `spec` from one that differs in layout and memory config at most."""

    def write(self, constant: Buffer, spec: TensorSpec, target: Buffer) -> None:
        """Receive a write of constant elements, which no tensor owns, to a tensor of `spec`."""

    def exchange(self, exchange: Callable[[], None], memory: Sequence[tuple[Buffer, TensorSpec]]) -> None:
        """Receive an exchange with other ranks, which reads and writes the memory of these tensors."""

    def refuse(self, operation: str) -> None:
        """Receive an `operation` by which the host would read or write the device's memory.

        Raises:
            TraceError: A trace is captured, which cannot contain it.
        """


class DryRunRecorder(Recorder):
    """Allocates results without running calls; elements are unspecified.

    Args:
        noted: Receives the bytes of circular buffers of every program, per core.
    """

    pool = HOST_POOL

    def __init__(self, noted: Callable[[int], None]) -> None:
        super().__init__()
        self._noted = noted

    def note_circular_buffers(self, nbytes: int) -> None:
        """Pass them on."""
        self._noted(nbytes)


class TraceRecorder(Recorder):
    """Records the calls of a device, or of the devices of a mesh, during a capture.

    Attributes:
        trace_id: The id of the captured trace.
        memory: The memory that traces of the devices use.
        devices: The number of devices.
        captured: The tensors that the calls use and that they did not make, by address.
        constants: Buffers of constants, which no tensor owns.
        exchanges: Exchanges with other ranks, each with the number of calls before it.
        shared_uses: How many arguments of the calls have an address that several tensors share.
    """

    def __init__(self, trace_id: object, memory: CapturedMemory, devices: int = 1) -> None:
        super().__init__()
        self.trace_id = trace_id
        self.memory = memory
        self.devices = devices
        self.pool: TracePool = TracePool(trace_id)
        self.captured: dict[int, CapturedTensor] = {}
        self.constants: list[Buffer] = []
        self.exchanges: list[tuple[int, Callable[[], None]]] = []
        self.shared_uses: Counter[int] = Counter()
        self._calls: list[NativeCall] = []
        self._arguments: list[ctypes.Array[ctypes.c_int64]] = []

    def launch(self, call: NativeCall, buffers: Sequence[Buffer], specs: Sequence[TensorSpec]) -> None:
        """Record a run of a program."""
        for buffer, spec in zip(buffers, specs, strict=True):
            self._capture(buffer, spec)
        self._note(call, buffers)

    def _note(self, call: NativeCall, buffers: Sequence[Buffer]) -> None:
        header = ReplayedCall.int64s(buffers=0, table=call.table)
        arguments = int64_array([*header, *(int(address_of(buffer)) for buffer in buffers)])
        for place, buffer in enumerate(buffers, len(header)):
            if replica := replica_in(buffer):
                replica.relocations.append(_Relocation(self, arguments, place))
        self._arguments.append(arguments)
        self._calls.append(call)

    def copy(self, source_spec: TensorSpec, source: Buffer, spec: TensorSpec, target: Buffer) -> None:
        """Record a copy."""
        if spec.volume and source is not target:
            self.launch(_copy_call(source_spec, spec), (source, target), (source_spec, spec))

    def write(self, constant: Buffer, spec: TensorSpec, target: Buffer) -> None:
        """Record a copy from the constant, and keep it."""
        if spec.volume:
            self.constants.append(constant)
            self._capture(target, spec)
            self._note(_copy_call(spec, spec), (constant, target))

    def exchange(self, exchange: Callable[[], None], memory: Sequence[tuple[Buffer, TensorSpec]]) -> None:
        """Record an exchange with other ranks, which reads and writes the memory of these tensors."""
        for buffer, spec in memory:
            self._capture(buffer, spec)
        self.exchanges.append((len(self._calls), exchange))

    def refuse(self, operation: str) -> NoReturn:
        """Refuse an operation that a trace cannot contain.

        Raises:
            TraceError: Always.
        """
        raise TraceError(
            f"{operation}: a trace, which is captured since {self.began}, contains only operations on "
            "tensors of its device",
            location=user_location(),
            help="do this before `ttnn.begin_trace_capture` or after `ttnn.end_trace_capture`; to give a trace new "
            "inputs at each run, write to its input tensors by `ttnn.copy_host_to_device_tensor`",
        )

    def trace(self) -> Trace:
        """The trace of the recorded calls."""
        return Trace(self._calls, self._arguments, self)

    def _capture(self, buffer: Buffer, spec: TensorSpec) -> None:
        """Record that the trace uses a tensor, so that its memory stays reserved."""
        address = address_of(buffer)
        if buffer.pool is self.pool or address in self.captured:
            return
        self.captured[int(address)] = CapturedTensor(spec, user_location())
        self.memory.capture(self.trace_id, buffer, spec)


class _Relocation:
    """Replaces an address in the arguments of a captured call, after a shared block was copied before a write."""

    def __init__(self, recorder: TraceRecorder, arguments: ctypes.Array[ctypes.c_int64], index: int) -> None:
        self._arguments = weakref.ref(arguments)  # a trace that was released has none
        self._index = index
        self._captured = recorder.captured
        self._shared_uses = recorder.shared_uses
        self._memory, self._trace_id = recorder.memory, recorder.trace_id
        self._shared_uses[arguments[index]] += 1

    def __call__(self, buffer: Buffer) -> None:
        arguments = self._arguments()
        if arguments is None:
            return
        old, new = arguments[self._index], int(address_of(buffer))
        self._captured[new] = self._captured[old]
        self._memory.capture(self._trace_id, buffer, self._captured[old].spec)
        arguments[self._index] = new
        self._shared_uses[old] -= 1
        if not self._shared_uses[old]:
            del self._captured[old]
            self._memory.discard(self._trace_id, old)


def _copy_call(source: TensorSpec, target: TensorSpec) -> NativeCall:
    """The call of the kernel that copies logical elements; padding becomes zero if layouts differ."""
    if source.layout is target.layout or target.dtype.is_block_float:
        steps = ("row_bytes", "source_row", "source_batch", "target_row", "target_batch")
        return copy_call(batches=1, rows=1, **dict.fromkeys(steps, target.nbytes))
    height, width = (1, 1, *target.shape)[-2:]
    item = target.dtype.itemsize
    (rows, row), (source_rows, source_row) = ((1, 1, *spec.padded_shape)[-2:] for spec in (target, source))
    return copy_call(
        batches=math.prod(tuple(target.shape)[:-2]),
        rows=height,
        row_bytes=width * item,
        source_row=source_row * item,
        source_batch=source_rows * source_row * item,
        target_row=row * item,
        target_batch=rows * row * item,
    )
