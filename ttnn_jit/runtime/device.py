"""A device: a target whose rules its tensors obey, and the memory that they lie in."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

from ttnn_jit.diagnostics.errors import ArgumentError, DeviceError, DramCapacityError
from ttnn_jit.diagnostics.tracebacks import user_location
from ttnn_jit.ops.host_ops import interpreted_in_programs
from ttnn_jit.runtime.memory.buffer import HOST_POOL, Buffer, BufferPool, default_idle_limit, host_memory_bytes
from ttnn_jit.runtime.memory.captured_memory import CapturedMemory
from ttnn_jit.runtime.memory.l1 import L1Account, MemoryView, in_l1
from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.specs.arch import Arch
from ttnn_jit.specs.checks import check_kind, check_whole_number
from ttnn_jit.specs.cores.memory_config import check_memory_of_device
from ttnn_jit.specs.target import PRESETS, SystemDesc
from ttnn_jit.specs.tensor_spec import CoreCoord, CoreGrid, TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.runtime.native.native_call import NativeCall
    from ttnn_jit.runtime.native.recorder import Recorder, Trace
    from ttnn_jit.specs.cores.sub_devices import SubDevice, SubDeviceId, SubDeviceManagerId

ONE_DEVICE_HELP = (
    "move one: `ttnn.to_device(ttnn.from_device(tensor), device)`; a mesh's tensors meet those of that mesh only,"
    " and every `ttnn.open_device` opens another device, whatever its number"
)


_MOST_NAMED = 5
"""Tensors that an error lists."""
_MANAGERS = count(1)
_DEVICES: weakref.WeakSet[Device] = weakref.WeakSet()


def _forget_other_threads() -> None:
    """In a forked child: drop locks that threads of the parent may have held."""
    for device in list(_DEVICES):
        device.order = threading.RLock()
        device.first_fit.forget_other_threads()


os.register_at_fork(after_in_child=_forget_other_threads)


def open_devices() -> list[Device]:
    """Every device that the user opened and did not close, those of meshes among them."""
    return [device for device in _DEVICES if not device.closed and device is not Device._implicit_cpu]


class _NoPrograms(set[str]):
    """A program cache that is turned off: it never asks for an entry, and has none."""

    def __contains__(self, _: object) -> bool:
        return True


class Device:
    """An open device. Opening and closing take microseconds and compile nothing.

    Attributes:
        target: The system description that its tensors' programs obey.
        device_id: The number it was opened with.
        closed: Whether it was closed; its tensors can then no longer be used.
        open_target: The identity of `target`, 0 once the device is closed and while it records: one comparison tells
            all that to a warm call.
        l1: The account of what lies in the L1 of its cores.
        dram_bytes: What tensors in its DRAM may take together; of the cpu, the host's memory.
        queues: How many command queues it was opened with; on a CPU all of them are one.
        trace_region_size: Bytes that its traces may take; 0: as many as there are.
        traces: Those that were captured and not released, by their id.
        recorder: What records its calls while a trace is captured.
        pool: Memory of what operations make.
        first_fit: Memory of what users allocate on it.
        captured: The memory that its traces use.
        programs: Hashes of the programs that ran on it: its program cache, as ttnn counts it.
        order: Held by a replay of a trace, and by what the host reads or writes, so that no thread sees half of
            either, as in a command queue.
        shape: The mesh that a single device is: (1, 1).
    """

    shape = MeshShape(1, 1)

    _implicit_cpu: ClassVar[Device | None] = None

    def __init__(self, target: SystemDesc, device_id: int = 0, *, queues: int = 1, trace_region_size: int = 0) -> None:
        self.target = target
        self.device_id = device_id
        self.queues = queues
        self.trace_region_size = trace_region_size
        self.traces: dict[object, Trace] = {}
        self.recorder: Recorder | None = None
        self.first_fit = BufferPool(default_idle_limit() // 2)
        self.captured = CapturedMemory()
        self.closed = False
        self.open_target = id(target)
        self.pool: BufferPool = HOST_POOL
        self.l1 = L1Account(target)
        self.dram_bytes = host_memory_bytes() if target.dram_bytes is None else target.dram_bytes
        self.programs: set[str] = set()
        self.order = threading.RLock()
        _DEVICES.add(self)

    @interpreted_in_programs
    def id(self) -> int:
        """The number it was opened with."""
        return self.device_id

    @interpreted_in_programs
    def arch(self) -> Arch:
        """The target's architecture."""
        return Arch(self.target.arch)

    def get_device_ids(self) -> list[int]:
        """The numbers of the devices in the mesh: its own."""
        return [self.device_id]

    @interpreted_in_programs
    def is_blackhole(self) -> bool:
        """Whether the target is a Blackhole chip."""
        return self.target.arch == "blackhole"

    @interpreted_in_programs
    def get_num_devices(self) -> int:
        """Devices in the mesh: one."""
        return 1

    def members(self) -> tuple[Device, ...]:
        """The devices that tensors lie on: itself."""
        return (self,)

    def get_submeshes(self) -> list[Device]:
        """Meshes that were made of parts of this one: none."""
        return []

    def create_submesh(self, submesh_shape: MeshShape | Sequence[int], offset: Sequence[int] | None = None) -> Device:
        """The mesh of some of the devices, from the one at `offset` on; of one device that is the device itself.

        Raises:
            ArgumentError: There are no such devices.
        """
        shape, first = MeshShape(submesh_shape).rows_and_columns, tuple(offset or (0, 0))
        if shape != (1, 1) or any(first):
            raise ArgumentError(f"{self} has no part of shape {shape} at {first}")
        return self

    def create_submeshes(self, submesh_shape: MeshShape | Sequence[int]) -> list[Device]:
        """All parts of one shape, row by row.

        Raises:
            ArgumentError: The mesh is not made up of them.
        """
        shape = MeshShape(submesh_shape).rows_and_columns
        counts = [extent // part for extent, part in zip(self.shape, shape, strict=True)]
        if [count * part for count, part in zip(counts, shape, strict=True)] != list(self.shape):
            raise ArgumentError(f"{self} is not made up of parts of shape {shape}")
        rows, columns = shape
        starts = [(row * rows, column * columns) for row in range(counts[0]) for column in range(counts[1])]
        return [self.create_submesh(shape, start) for start in starts]

    # --- Parts of a chip, of which a CPU has none -----------------------------------------------------------------

    def create_sub_device_manager(self, sub_devices: Sequence[SubDevice], _: int = 0) -> SubDeviceManagerId:
        """The number of a division of the chip into parts; the second argument is the L1 that is set aside for them."""
        from ttnn_jit.specs.cores.sub_devices import SubDevice, SubDeviceManagerId

        for each in sub_devices:
            check_kind(each, SubDevice, "a part of create_sub_device_manager")
        return SubDeviceManagerId(next(_MANAGERS))

    def load_sub_device_manager(self, manager: SubDeviceManagerId) -> None:
        """Divide the chip; a CPU runs programs in order all the same."""
        from ttnn_jit.specs.cores.sub_devices import SubDeviceManagerId

        check_kind(manager, SubDeviceManagerId, "a division of the chip")

    def remove_sub_device_manager(self, manager: SubDeviceManagerId) -> None:
        """Forget a division."""
        self.load_sub_device_manager(manager)

    def clear_loaded_sub_device_manager(self) -> None:
        """Divide the chip no more."""

    def set_sub_device_stall_group(self, sub_device_ids: Sequence[SubDeviceId]) -> None:
        """Wait for the work of these parts alone; every call returns when its own is done."""
        from ttnn_jit.specs.cores.sub_devices import SubDeviceId

        for each in sub_device_ids:
            check_kind(each, SubDeviceId, "a part of set_sub_device_stall_group")

    def reset_sub_device_stall_group(self) -> None:
        """Wait for the work of all parts."""

    @interpreted_in_programs
    def compute_with_storage_grid_size(self) -> CoreCoord:
        """Columns and rows of cores, as ttnn's own code asks for them."""
        rows, columns = self.target.grid
        return CoreCoord(columns, rows)

    @interpreted_in_programs
    def dram_grid_size(self) -> CoreCoord:
        """Columns and rows of the banks of DRAM, which configs shard weights over: one row."""
        return CoreCoord(self.target.dram_banks, 1)

    def num_program_cache_entries(self) -> int:
        """Distinct programs that ran here since the program cache was enabled or cleared: eager and jitted ones."""
        return len(self.programs)

    def enable_program_cache(self) -> None:
        """Count programs (again)."""
        if isinstance(self.programs, _NoPrograms):
            self.programs = set()

    def clear_program_cache(self) -> None:
        """Count from zero. Compiled programs are kept: compiling again would give the same."""
        self.programs.clear()

    def disable_and_clear_program_cache(self) -> None:
        """Stop counting."""
        self.programs = _NoPrograms()

    def memory_view(self) -> MemoryView:
        """L1 core by core: bytes now, high-water marks, and the tensors that lie there."""
        return self.l1.view()

    @property
    def core_grid(self) -> CoreGrid:
        """Columns (x) and rows (y) of cores."""
        rows, columns = self.target.grid
        return CoreGrid(x=columns, y=rows)

    def allocate_tensor(self, spec: TensorSpec, *, again: bool = False) -> Buffer:
        """Memory for a tensor of `spec`, entered into the account of L1 if it is to lie there.

        Args:
            spec: Of the tensor.
            again: Whether nothing writes it now, so that it may take the place of a tensor that is gone, for a trace
                that uses it. While the device records, every other tensor is made by the trace.

        Raises:
            DeviceError: The device is closed.
            LayoutError: It is to lie where no tensor of a device does.
            L1CapacityError: It does not fit.
            DramCapacityError: The host has no memory for it.
        """
        self.require_device_access("allocate")
        check_memory_of_device(spec.memory_config)
        lease = self.l1.lease(spec) if in_l1(spec) else None
        buffer = self._captured_before(spec, again=again) or self._first_fit(spec, again=again)
        if lease is not None:
            buffer.lease = lease
        return buffer

    def _captured_before(self, spec: TensorSpec, *, again: bool) -> Buffer | None:
        """Where a trace of the device found a tensor like this one, which is gone."""
        if not self.captured.freed or not (again or self.recorder is None):
            return None
        return self.captured.take(spec, on_purpose=again, location=user_location())

    def _first_fit(self, spec: TensorSpec, *, again: bool) -> Buffer:
        if self.recorder is not None and not again:
            return self.memory_for(spec)
        return self._allocated(self.first_fit.allocate_first, spec)

    def memory_for(self, spec: TensorSpec) -> Buffer:
        """Memory for a tensor of `spec`, in no account of L1.

        Raises:
            DramCapacityError: DRAM or the host has none; the text names what it is for, and the largest tensors.
        """
        return self._allocated(self.pool.allocate, spec)

    def _allocated(self, allocate: Callable[[int], Buffer], spec: TensorSpec) -> Buffer:
        self.require_dram(spec)
        try:
            return allocate(spec.nbytes)
        except MemoryError as error:
            raise self._without_memory(f"there is no memory for the {spec.nbytes:,} bytes of {spec}: {error}") from None

    def require_dram(self, spec: TensorSpec) -> None:
        """Refuse a tensor of `spec` for which DRAM has no room beside the tensors that lie there.

        Those are counted, a walk over Python's objects, only where the memory mapped for all devices does not show that
        there is room.

        Raises:
            DramCapacityError: There is none; the text names the largest tensors.
        """
        capacity = self.dram_bytes
        pools = {HOST_POOL, self.first_fit, self.pool, *(trace.pool for trace in self.traces.values())}
        if sum(pool.mapped_bytes for pool in pools) + spec.nbytes <= capacity or in_l1(spec):
            return
        for pool in (HOST_POOL, self.first_fit):
            pool.release_idle()
        used = sum(held.nbytes for held in self.live_specs() if not in_l1(held))
        if used + spec.nbytes > capacity:
            raise self._without_memory(
                f"DRAM of {self} is too small: {spec} needs {spec.nbytes:,} bytes, of {capacity:,} there are "
                f"{max(0, capacity - used):,} left"
            )

    def live_specs(self) -> list[TensorSpec]:
        """Of the tensors in its memory, those of a trace's results among them; of several that share it one.

        It keeps no list of them: they are found among what refers to it.
        """
        found = {
            id(buffer): getattr(each, "spec", None)
            for each in gc.get_referrers(self)
            if (buffer := getattr(each, "_buffer", None)) is not None
        }
        return [spec for spec in found.values() if isinstance(spec, TensorSpec)]

    def _without_memory(self, reason: str) -> DramCapacityError:
        held = sorted(self.live_specs(), key=lambda each: each.nbytes, reverse=True)[:_MOST_NAMED]
        listed = "; ".join(f"{each.nbytes:,} bytes of {each}" for each in held) or "nothing"
        return DramCapacityError(
            f"{reason}; the largest tensors on {self} are {listed}",
            help=f"{'deallocate tensors, or ' if held else ''}keep weights as block floats: `dtype=ttnn.bfloat8_b`",
        )

    def require_open(self, operation: str) -> None:
        """Refuse to go on with `operation` on a closed device.

        Raises:
            DeviceError: The device is closed.
        """
        if self.closed:
            raise DeviceError(
                f"{operation}: {self} is closed",
                help="open it again with `ttnn.open_device`, and make the tensors anew",
            )

    def require_host_access(self, operation: str) -> None:
        """Refuse to let the host read or write tensors for `operation`, on a closed device or one that records.

        Raises:
            DeviceError: The device is closed.
            TraceError: It captures a trace, which holds nothing that the host does.
        """
        self.require_device_access(operation)
        if self.recorder is not None:
            self.recorder.refuse(operation)

    def require_device_access(self, operation: str) -> None:
        """Refuse to go on with `operation` on a closed device, or one that records what another thread calls.

        Raises:
            DeviceError: The device is closed.
            TraceError: Another thread captures.
        """
        self.require_open(operation)
        recorder = self.recorder
        if recorder is not None:
            recorder.require_own_thread(operation, self)

    def everywhere(self, make: Callable[[Device], Any]) -> Any:
        """What `make` gives for this device; of a mesh, for each of its devices."""
        return make(self)

    def require_queue(self, queue: int | None, operation: str) -> None:
        """Refuse a command queue that the device does not have; None stands for one that it has.

        Raises:
            ArgumentError: There is no such queue, or it is no number.
        """
        if queue is None:
            return
        check_whole_number(queue, f"{operation}: the command queue")
        if not 0 <= queue < self.queues:
            there = "queue 0 alone" if self.queues == 1 else f"{self.queues} queues"
            raise ArgumentError(
                f"{operation}: {self} has no command queue {int(queue)}; it was opened with {there}",
                help="open it with `num_command_queues=2`" if int(queue) == 1 else "there are queues 0 and 1 at most",
            )

    def launch(self, name: str, call: NativeCall, buffers: Sequence[Buffer], specs: Sequence[TensorSpec]) -> None:
        """Run native code on these buffers, of tensors of these specs, or have it recorded."""
        recorder = self.recorder  # another thread may begin to capture meanwhile
        if recorder is None:
            call.run([buffer.address for buffer in buffers])
        else:
            recorder.require_own_thread(name, self)
            recorder.launch(call, buffers, specs)

    def record(self, recorder: Recorder | None) -> None:
        """Have calls recorded from now on, and what they make allocated by the recorder; None: no more."""
        self.recorder = recorder
        self.pool = HOST_POOL if recorder is None else recorder.pool
        self.open_target = 0 if self.closed or recorder else id(self.target)

    def close(self) -> None:
        """Close the device, whose traces go; a second close does nothing."""
        self.closed = True
        self.record(None)
        with self.order:
            for trace in self.traces.values():
                trace.release()
            self.traces.clear()
        self.first_fit.release_idle()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Device({self.rules}, id={self.device_id})"

    @property
    def rules(self) -> str:
        """Whose rules its tensors obey, and that it is no chip: ``wormhole_b0 rules on cpu``, or ``cpu``."""
        return self.target.name if self.target.arch == "cpu" else f"{self.target.name} rules on cpu"


def implicit_cpu_device() -> Device:
    """The cpu device of calls with torch and numpy arguments; made anew if someone closed it."""
    if Device._implicit_cpu is None or Device._implicit_cpu.closed:
        Device._implicit_cpu = Device(PRESETS["cpu"])
    return Device._implicit_cpu
