"""A device: a target with its rules, and the memory of its tensors."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar

from ttnn_jit.diagnostics.errors import ArgumentError, DeviceError, DramCapacityError
from ttnn_jit.diagnostics.tracebacks import user_location
from ttnn_jit.ops.host_ops import interpreted_in_programs
from ttnn_jit.runtime.memory.buffer import HOST_POOL, Buffer, BufferPool, default_idle_limit, host_memory_bytes
from ttnn_jit.runtime.memory.captured_memory import CapturedMemory
from ttnn_jit.runtime.memory.l1 import L1Account, MemoryView, in_l1
from ttnn_jit.runtime.memory.replicas import replica_of
from ttnn_jit.specs.arch import Arch
from ttnn_jit.specs.checks import check_kind, check_whole_number
from ttnn_jit.specs.cores.memory_config import check_memory_of_device
from ttnn_jit.specs.meshes.mesh_shape import MeshDeviceView, MeshShape
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


_MAX_LISTED = 5
"""The most tensors that an error lists."""
_MANAGERS = count(1)
_DEVICES: weakref.WeakSet[Device] = weakref.WeakSet()


def _forget_other_threads() -> None:
    """In a forked child: drop locks that threads of the parent may have held; devices of a mesh share one."""
    orders: dict[int, threading.RLock] = {}
    for device in list(_DEVICES):
        device.order = orders.setdefault(id(device.order), threading.RLock())
        device.first_fit.forget_other_threads()


os.register_at_fork(after_in_child=_forget_other_threads)


def open_devices() -> list[Device]:
    """Every open device that the user opened, including the devices of meshes."""
    return [device for device in _DEVICES if not device.closed and device is not Device._implicit_cpu]


class _DisabledProgramCache(set[str]):
    """A disabled program cache: it claims to contain every program, so none is added, and it stays empty."""

    def __contains__(self, _: object) -> bool:
        return True

    def add(self, _: str) -> None:
        """Add nothing."""


class Device:
    """An open device. Opening and closing take microseconds and compile nothing.

    Attributes:
        target: The system description whose rules its programs obey.
        device_id: The number that it was opened with.
        closed: Whether it was closed; its tensors can then no longer be used.
        open_target: The identity of `target`; 0 once the device is closed and while it records. A warm call checks all
            of this in one comparison.
        l1: The account of the L1 of its cores.
        dram_bytes: Capacity of its DRAM; on the cpu, the host's memory.
        queues: The number of command queues that it was opened with; on a CPU all of them are one.
        trace_region_size: Bytes that its traces may take; 0: no limit.
        traces: Captured traces that were not released, by id.
        recorder: Records its calls while a trace is captured; None otherwise.
        pool: Memory of the results of operations.
        first_fit: Memory of tensors that users allocate.
        captured: The memory that its traces use; devices of a mesh share it.
        programs: Hashes of the programs that ran on it: its program cache, as ttnn counts it.
        order: A lock held by replays of traces and by host reads and writes, so that no thread sees a partial result of
            either, as in a command queue; devices of a mesh share it.
        collectives: The steps of recent collectives of its mesh, by what they depend on.
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
        self.collectives: dict[object, Callable[..., Any]] = {}
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
        """The number that it was opened with."""
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
        """The devices of the mesh: itself."""
        return (self,)

    def get_submeshes(self) -> list[Device]:
        """The submeshes of this mesh: none."""
        return []

    def create_submesh(self, submesh_shape: MeshShape | Sequence[int], offset: Sequence[int] | None = None) -> Device:
        """The submesh of `submesh_shape` that starts at `offset`; for one device, the device itself.

        Raises:
            ArgumentError: There are no such devices.
        """
        shape, first = MeshShape(submesh_shape), tuple(offset or (0, 0))
        if shape.mesh_size() != 1 or any(first):
            raise ArgumentError(f"{self} has no part of shape {tuple(shape)} at {first}")
        return self

    def reshape(self, new_shape: MeshShape | Sequence[int]) -> None:
        """Arrange the devices of the mesh in another shape; one device has one only.

        Raises:
            ArgumentError: The shape has several devices.
        """
        if MeshShape(new_shape).mesh_size() != 1:
            raise ArgumentError(f"{self} is one device, and {MeshShape(new_shape)} has several")

    def get_view(self) -> MeshDeviceView:
        """The coordinates of the mesh."""
        return MeshDeviceView(self.shape)

    def get_device_id(self, coord: Sequence[int]) -> int:
        """The number of the device at a coordinate.

        Raises:
            ArgumentError: There is no such device.
        """
        return self.device_id + self.shape.number(coord)

    def create_submeshes(self, submesh_shape: MeshShape | Sequence[int]) -> list[Device]:
        """All submeshes of one shape, row by row.

        Raises:
            ArgumentError: The mesh cannot be divided into them.
        """
        shape = MeshShape(submesh_shape).with_rows
        if len(shape) != len(self.shape) or any(own % part for own, part in zip(self.shape, shape, strict=True)):
            raise ArgumentError(f"{self} is not made up of parts of shape {tuple(shape)}")
        counts = MeshShape(own // part for own, part in zip(self.shape, shape, strict=True))
        starts = (tuple(map(mul, at, shape)) for at in counts.coordinates())
        return [self.create_submesh(shape, start) for start in starts]

    # --- Parts of a chip, of which a CPU has none -----------------------------------------------------------------

    def create_sub_device_manager(self, sub_devices: Sequence[SubDevice], _: int = 0) -> SubDeviceManagerId:
        """Register a division of the chip into parts and return its number; the second argument is reserved L1."""
        from ttnn_jit.specs.cores.sub_devices import SubDevice, SubDeviceManagerId

        for each in sub_devices:
            check_kind(each, SubDevice, "a part of create_sub_device_manager")
        return SubDeviceManagerId(next(_MANAGERS))

    def load_sub_device_manager(self, manager: SubDeviceManagerId) -> None:
        """Divide the chip. A CPU still runs programs in order."""
        from ttnn_jit.specs.cores.sub_devices import SubDeviceManagerId

        check_kind(manager, SubDeviceManagerId, "a division of the chip")

    def remove_sub_device_manager(self, manager: SubDeviceManagerId) -> None:
        """Forget a division."""
        self.load_sub_device_manager(manager)

    def clear_loaded_sub_device_manager(self) -> None:
        """Undo the division of the chip."""

    def set_sub_device_stall_group(self, sub_device_ids: Sequence[SubDeviceId]) -> None:
        """Wait only for the work of these parts. On a CPU every call returns when its own work is done."""
        from ttnn_jit.specs.cores.sub_devices import SubDeviceId

        for each in sub_device_ids:
            check_kind(each, SubDeviceId, "a part of set_sub_device_stall_group")

    def reset_sub_device_stall_group(self) -> None:
        """Wait for the work of all parts."""

    @interpreted_in_programs
    def compute_with_storage_grid_size(self) -> CoreCoord:
        """Columns and rows of cores, under ttnn's name."""
        rows, columns = self.target.grid
        return CoreCoord(columns, rows)

    @interpreted_in_programs
    def dram_grid_size(self) -> CoreCoord:
        """Columns and rows of the DRAM banks, over which configs shard weights: one row."""
        return CoreCoord(self.target.dram_banks, 1)

    def num_program_cache_entries(self) -> int:
        """Distinct eager and jitted programs that ran here since the program cache was enabled or cleared."""
        return len(self.programs)

    def enable_program_cache(self) -> None:
        """Count programs (reuse_captured)."""
        if isinstance(self.programs, _DisabledProgramCache):
            self.programs = set()

    def clear_program_cache(self) -> None:
        """Count from zero. Compiled programs are kept, because compiling again would give the same programs."""
        self.programs.clear()

    def disable_and_clear_program_cache(self) -> None:
        """Stop counting."""
        self.programs = _DisabledProgramCache()

    def memory_view(self) -> MemoryView:
        """L1 core by core: current bytes, high-water marks, and the live tensors."""
        return self.l1.view()

    @property
    def core_grid(self) -> CoreGrid:
        """Columns (x) and rows (y) of cores."""
        rows, columns = self.target.grid
        return CoreGrid(x=columns, y=rows)

    def allocate_tensor(self, spec: TensorSpec, *, reuse_captured: bool = False) -> Buffer:
        """Memory for a tensor of `spec`, which is charged to the L1 account if its memory config says L1.

        Args:
            spec: The spec of the tensor.
            reuse_captured: Whether nothing writes the tensor now, so that it may take over captured memory of a freed
                tensor. While the device records, every other tensor is made by the trace.

        Raises:
            DeviceError: The device is closed.
            LayoutError: The memory config is not one of a device.
            L1CapacityError: L1 has no room.
            DramCapacityError: The host has no memory for it.
        """
        self.require_device_access("allocate")
        check_memory_of_device(spec.memory_config)
        lease = self.l1.lease(spec) if in_l1(spec) else None
        buffer = self._reused_memory(spec, reuse_captured=reuse_captured) or self._first_fit(
            spec, reuse_captured=reuse_captured
        )
        if lease is not None:
            buffer.lease = lease
        return buffer

    def allocate_replica(self, spec: TensorSpec, original: Buffer) -> Buffer | None:
        """The memory `original` of another tensor of `spec`, for a tensor with the same elements on this device.

        It is charged as by `allocate_tensor`. None if the memory cannot be shared.

        Raises:
            DeviceError, LayoutError, L1CapacityError, DramCapacityError: As `allocate_tensor` does.
        """
        self.require_device_access("allocate")
        check_memory_of_device(spec.memory_config)
        self.require_dram(spec)
        lease = self.l1.lease(spec) if in_l1(spec) else None
        buffer = replica_of(original) if self.recorder is None else None
        if buffer is not None and lease is not None:
            buffer.lease = lease
        return buffer

    def _reused_memory(self, spec: TensorSpec, *, reuse_captured: bool) -> Buffer | None:
        """Captured memory of a freed tensor of this spec, if there is any."""
        if not self.captured.freed or not (reuse_captured or self.recorder is None):
            return None
        return self.captured.take(spec, on_purpose=reuse_captured, location=user_location())

    def _first_fit(self, spec: TensorSpec, *, reuse_captured: bool) -> Buffer:
        if self.recorder is not None and not reuse_captured:
            return self.memory_for(spec)
        return self._allocated(self.first_fit.allocate_first, spec)

    def memory_for(self, spec: TensorSpec) -> Buffer:
        """Memory for a tensor of `spec`, which is not charged to the L1 account.

        Raises:
            DramCapacityError: DRAM or the host has none; the text names the spec and the largest tensors.
        """
        return self._allocated(self.pool.allocate, spec)

    def _allocated(self, allocate: Callable[[int], Buffer], spec: TensorSpec) -> Buffer:
        self.require_dram(spec)
        try:
            return allocate(spec.nbytes)
        except MemoryError as error:
            raise self._capacity_error(f"there is no memory for the {spec.nbytes:,} bytes of {spec}: {error}") from None

    def require_dram(self, spec: TensorSpec) -> None:
        """Refuse a tensor of `spec` for which DRAM has no room beside the live tensors.

        Counting the live tensors walks Python's objects. It happens only if the memory mapped for all devices does not
        prove that there is room.

        Raises:
            DramCapacityError: There is no room; the text names the largest tensors.
        """
        capacity = self.dram_bytes
        pools = {HOST_POOL, self.first_fit, self.pool, *(trace.pool for trace in self.traces.values())}
        if sum(pool.mapped_bytes for pool in pools) + spec.nbytes <= capacity or in_l1(spec):
            return
        for pool in (HOST_POOL, self.first_fit):
            pool.release_idle()
        used = sum(held.nbytes for held in self.live_specs() if not in_l1(held))
        if used + spec.nbytes > capacity:
            raise self._capacity_error(
                f"DRAM of {self} is too small: {spec} needs {spec.nbytes:,} bytes, of {capacity:,} there are "
                f"{max(0, capacity - used):,} left"
            )

    def live_specs(self) -> list[TensorSpec]:
        """Specs of the live tensors, including results of traces; one for tensors that share a buffer.

        The device keeps no list: the garbage collector finds the objects that refer to it.
        """
        found = {
            id(buffer): getattr(each, "spec", None)
            for each in gc.get_referrers(self)
            if (buffer := getattr(each, "_buffer", None)) is not None
        }
        return [spec for spec in found.values() if isinstance(spec, TensorSpec)]

    def _capacity_error(self, reason: str) -> DramCapacityError:
        held = sorted(self.live_specs(), key=lambda each: each.nbytes, reverse=True)[:_MAX_LISTED]
        listed = "; ".join(f"{each.nbytes:,} bytes of {each}" for each in held) or "nothing"
        return DramCapacityError(
            f"{reason}; the largest tensors on {self} are {listed}",
            help=f"{'deallocate tensors, or ' if held else ''}keep weights as block floats: `dtype=ttnn.bfloat8_b`",
        )

    def require_open(self, operation: str) -> None:
        """Refuse `operation` on a closed device.

        Raises:
            DeviceError: The device is closed.
        """
        if self.closed:
            raise DeviceError(
                f"{operation}: {self} is closed",
                help="open it again with `ttnn.open_device`, and make the tensors anew",
            )

    def require_host_access(self, operation: str) -> None:
        """Refuse host reads and writes of tensors for `operation` on a closed or recording device.

        Raises:
            DeviceError: The device is closed.
            TraceError: It captures a trace, which cannot contain host work.
        """
        self.require_device_access(operation)
        if self.recorder is not None:
            self.recorder.refuse(operation)

    def require_device_access(self, operation: str) -> None:
        """Refuse `operation` on a closed device, or on one that records the calls of another thread.

        Raises:
            DeviceError: The device is closed.
            TraceError: Another thread captures a trace.
        """
        self.require_open(operation)
        recorder = self.recorder
        if recorder is not None:
            recorder.require_own_thread(operation, self)

    def map_devices(self, make: Callable[[Device], Any]) -> Any:
        """The result of `make` for this device; a mesh calls it for each of its devices."""
        return make(self)

    def require_queue(self, queue: int | None, operation: str) -> None:
        """Refuse a command queue that the device does not have; None is accepted.

        Raises:
            ArgumentError: There is no such queue, or it is not a number.
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
        """Run native code on buffers of tensors of these specs, or record the run."""
        recorder = self.recorder  # read once: another thread may begin to capture
        if recorder is None:
            call.run([buffer.address for buffer in buffers])
        else:
            recorder.require_own_thread(name, self)
            recorder.launch(call, buffers, specs)

    def record(self, recorder: Recorder | None) -> None:
        """Record calls from now on and allocate their results from the recorder's pool; None stops recording."""
        self.recorder = recorder
        self.pool = HOST_POOL if recorder is None else recorder.pool
        self.open_target = 0 if self.closed or recorder else id(self.target)

    def close(self) -> None:
        """Close the device and release its traces; a second close does nothing."""
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
        """The target's rules, and that the device is not a chip: ``wormhole_b0 rules on cpu``, or ``cpu``."""
        return self.target.rules


def implicit_cpu_device() -> Device:
    """The cpu device of calls with torch and numpy arguments; a new one if it was closed."""
    if Device._implicit_cpu is None or Device._implicit_cpu.closed:
        Device._implicit_cpu = Device(PRESETS["cpu"])
    return Device._implicit_cpu
