"""Traces: the calls of programs between two points, kept as one list over fixed memory, which one native call replays.

While a device records, nothing runs: programs and copies between its tensors are noted, and what they make is allocated
from a pool of the trace's own. There memory that the captured program frees is used again by its later calls, as it
would be in a run, and by nobody else for as long as the trace lives. Until the first replay nobody is told where that
memory lies, so that nobody reads what was not computed. Only the thread that captures may use the device meanwhile.

Bound: a replay costs a call and a store per operand for each kernel (benchmarks/programs/traces.py).
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ttnn_jit.diagnostics.errors import TraceError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.diagnostics.tracebacks import user_location
from ttnn_jit.runtime.memory.buffer import HOST_POOL, BigBuffer, Buffer, BufferPool, SizeClass, address_of, set_address
from ttnn_jit.runtime.memory.captured_memory import CapturedMemory, CapturedTensor
from ttnn_jit.runtime.native.entry import replay_entry
from ttnn_jit.runtime.native.native_call import NativeCall, copying, int64_array
from ttnn_jit.runtime.native.structures import ReplayedCall
from ttnn_jit.runtime.native.threads import HELPERS
from ttnn_jit.specs.tensor_spec import TensorSpec

LONG_CALLS = 256
"""A trace of so many calls lets other Python threads run: they take longer than to give the lock away."""


class TracePool(BufferPool):
    """Memory that nobody else gets while a trace may run, even where no tensor owns it.

    Args:
        trace_id: Of the trace.

    Attributes:
        is_unread: Whether the trace was captured and did not run: what lies here was not computed.
    """

    is_of_a_trace = True
    is_held = True

    def __init__(self, trace_id: object) -> None:
        self._trace_id = trace_id
        self._buffer_type: Any = type("TraceBuffer", (BigBuffer,), {"__slots__": ()})
        super().__init__()

    def buffer_type(self, nbytes: int) -> type[Buffer]:  # noqa: ARG002 - of whatever class
        """One of this pool's own, which can refuse to say where it lies."""
        kind: type[Buffer] = self._buffer_type
        return kind

    def refuse_reads(self) -> None:
        """Raise a `TraceError` wherever an address is asked for, until `allow_reads`."""
        self.is_unread = True
        trace_id = self._trace_id

        def refuse(_: Buffer) -> NoReturn:
            raise TraceError(
                f"a tensor that {trace_id} makes holds no numbers before the first `ttnn.execute_trace`",
                location=user_location(),
                help="nothing runs while a trace is captured; execute it first",
            )

        self._buffer_type.address = property(refuse, set_address)

    def allow_reads(self) -> None:
        """The trace runs."""
        if self.is_unread:
            self.is_unread = False
            del self._buffer_type.address

    def trim(self, size_class: SizeClass) -> None:  # noqa: ARG002 - of whatever class
        """Keep what may be written by the next replay."""
        if not self.is_held:
            self.release_idle()

    def give_back(self) -> None:
        """Unmap what no tensor owns, now and from now on."""
        self.is_held = False
        for size_class in self._snapshot():
            size_class.trim_above = 0
        self.release_idle()


class Trace:
    """What was captured on one device.

    Attributes:
        kernels: How many a replay launches.
        calls: How many calls of programs, and copies, they belong to.
        nbytes: Of the list of calls: what the trace takes of the trace region.
        pool: The memory of what the captured calls made.
    """

    def __init__(
        self, calls: Sequence[NativeCall], arguments: Sequence[ctypes.Array[ctypes.c_int64]], recorder: TraceRecorder
    ):
        self.kernels = sum(call.kernels for call in calls)
        self.calls = len(calls)
        self.pool = recorder.pool
        self._list = int64_array(list(map(ctypes.addressof, arguments)))
        self._shares = any(call.shares for call in calls)
        own = {id(call): call.nbytes for call in calls}
        self.nbytes = sum(own.values()) + sum(map(ctypes.sizeof, (self._list, *arguments)))
        unlocked = self.calls >= LONG_CALLS or any(call.gives_lock_away for call in calls)
        self._replay = replay_entry(gives_lock_away=unlocked)
        self._trace_id = recorder.trace_id
        self._captured = recorder.captured
        self._memory = recorder.memory
        self._told: set[int] = set()
        self._keeps = tuple(calls), tuple(arguments), tuple(recorder.constants)
        self.pool.refuse_reads()

    def replay(self) -> None:
        """Run every captured call once, in order, by one native call.

        Warns of tensors that it uses and that are gone.
        """
        self._memory.warn(self._trace_id, self._captured, self._told)
        self.pool.allow_reads()
        if self.calls:
            self._replay(ctypes.addressof(self._list), self.calls, HELPERS.lend() if self._shares else 0)

    def release(self) -> None:
        """Give back the memory that no tensor owns; the trace cannot be replayed any more."""
        self._keeps = (), (), ()
        self._memory.release(self._trace_id)
        self.pool.give_back()


class Recorder:
    """What a device has its calls told to, in place of running them: of none of them it takes notice itself.

    Attributes:
        pool: The memory of what the calls make.
        began: The user's line from which on this is so.
    """

    pool: BufferPool

    def __init__(self) -> None:
        self.began: Location | None = user_location()
        self._thread = threading.get_ident()

    def require_own_thread(self, operation: str, device: object) -> None:
        """Refuse `operation` in a thread that did not begin this, for it would become a part of it, or not run.

        Raises:
            TraceError: It is another thread.
        """
        if threading.get_ident() != self._thread:
            raise TraceError(
                f"{operation}: another thread captures what is called on {device}, since {self.began}",
                location=user_location(),
                help="wait until its capture ends, for example by a lock around it; or open a device for each thread",
            )

    def launch(self, call: NativeCall, buffers: Sequence[Buffer], specs: Sequence[TensorSpec]) -> None:
        """A program would run on these buffers, of tensors of these specs."""

    def note_circular_buffers(self, nbytes: int) -> None:
        """On every core the program that comes takes so many bytes of L1 while it runs, beside its tensors."""

    def copy(self, source_spec: TensorSpec, source: Buffer, spec: TensorSpec, target: Buffer) -> None:
        """A tensor of `spec` would get the elements of one that differs in layout and memory config at most."""

    def write(self, constant: Buffer, spec: TensorSpec, target: Buffer) -> None:
        """A tensor of `spec` would get elements that are known now, and that no tensor holds."""

    def refuse(self, operation: str) -> None:
        """The host wants to read or write the device's memory.

        Raises:
            TraceError: It cannot: a trace is captured.
        """


class NothingRuns(Recorder):
    """Results are allocated, and no call runs: what tensors hold is unspecified.

    Args:
        noted: Is told what circular buffers every program would take of a core.
    """

    pool = HOST_POOL

    def __init__(self, noted: Callable[[int], None]) -> None:
        super().__init__()
        self._noted = noted

    def note_circular_buffers(self, nbytes: int) -> None:
        """Tell it."""
        self._noted(nbytes)


class TraceRecorder(Recorder):
    """Notes the calls of one device, from the beginning of a capture to its end.

    Attributes:
        trace_id: Of the trace that is captured.
        memory: The device's, of which its traces use parts.
        captured: The tensors that the calls read or write and that are not made by them, by their address.
        constants: Memory that no tensor has.
    """

    def __init__(self, trace_id: object, memory: CapturedMemory) -> None:
        super().__init__()
        self.trace_id = trace_id
        self.memory = memory
        self.pool: TracePool = TracePool(trace_id)
        self.captured: dict[int, CapturedTensor] = {}
        self.constants: list[Buffer] = []
        self._calls: list[NativeCall] = []
        self._arguments: list[ctypes.Array[ctypes.c_int64]] = []

    def launch(self, call: NativeCall, buffers: Sequence[Buffer], specs: Sequence[TensorSpec]) -> None:
        """Note a run of a program."""
        for buffer, spec in zip(buffers, specs, strict=True):
            self._capture(buffer, spec)
        self._note(call, buffers)

    def _note(self, call: NativeCall, buffers: Sequence[Buffer]) -> None:
        addresses = [int(address_of(buffer)) for buffer in buffers]
        self._arguments.append(int64_array([*ReplayedCall.int64s(table=call.table), *addresses]))
        self._calls.append(call)

    def copy(self, source_spec: TensorSpec, source: Buffer, spec: TensorSpec, target: Buffer) -> None:
        """Note a copy."""
        if spec.volume and source is not target:
            self.launch(_copying(source_spec, spec), (source, target), (source_spec, spec))

    def write(self, constant: Buffer, spec: TensorSpec, target: Buffer) -> None:
        """Note a copy, and keep the constant."""
        if spec.volume:
            self.constants.append(constant)
            self._capture(target, spec)
            self._note(_copying(spec, spec), (constant, target))

    def refuse(self, operation: str) -> NoReturn:
        """Raise that a trace holds no such operation.

        Raises:
            TraceError: Always.
        """
        raise TraceError(
            f"{operation}: a trace, which is captured since {self.began}, holds nothing but operations on "
            "tensors of its device",
            location=user_location(),
            help="do this before `ttnn.begin_trace_capture` or after `ttnn.end_trace_capture`; what a trace reads anew "
            "at each run lies in tensors that `ttnn.copy_host_to_device_tensor` writes",
        )

    def trace(self) -> Trace:
        """What was noted."""
        return Trace(self._calls, self._arguments, self)

    def _capture(self, buffer: Buffer, spec: TensorSpec) -> None:
        """Note that the trace uses a tensor; of another trace's, that its memory lives on."""
        address = address_of(buffer)
        if buffer.pool is self.pool or address in self.captured:
            return
        self.captured[int(address)] = CapturedTensor(spec, user_location())
        self.memory.capture(self.trace_id, buffer, spec)


def _copying(source: TensorSpec, target: TensorSpec) -> NativeCall:
    """The kernel that copies logical elements; padding becomes zero where layouts differ."""
    if source.layout is target.layout or target.dtype.is_block_float:
        steps = ("row_bytes", "source_row", "source_batch", "target_row", "target_batch")
        return copying(batches=1, rows=1, **dict.fromkeys(steps, target.nbytes))
    height, width = (1, 1, *target.shape)[-2:]
    item = target.dtype.itemsize
    (rows, row), (source_rows, source_row) = ((1, 1, *spec.padded_shape)[-2:] for spec in (target, source))
    return copying(
        batches=math.prod(tuple(target.shape)[:-2]),
        rows=height,
        row_bytes=width * item,
        source_row=source_row * item,
        source_batch=source_rows * source_row * item,
        target_row=row * item,
        target_batch=rows * row * item,
    )
