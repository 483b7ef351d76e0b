"""``_ttmlir_runtime.runtime``: devices, tensors, and the submission of programs."""

from __future__ import annotations

import ctypes
import enum
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

from ttnn_jit.sessions.text_runs import compare_run, run_text
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.ttmlir.ttmlir_runtime import chosen_layouts as test
from ttnn_jit.ttmlir.ttmlir_runtime.data_types import TORCH_DTYPES, DataType, device_dtype, on_device, program_dtype
from ttnn_jit.ttmlir.ttmlir_runtime.debug_hooks import (
    CallbackContext,
    DebugHooks,
    OpContext,
    TensorRef,
    get_debug_info_golden,
    get_op_debug_str,
    get_op_input_refs,
    get_op_loc_info,
    get_op_output_refs,
    get_op_output_tensor,
    get_program_index,
    retrieve_tensor_from_pool,
    unregister_hooks,
    update_tensor_in_pool,
    walk_program,
)
from ttnn_jit.ttmlir.ttmlir_runtime.environments import (
    DebugEnv,
    DebugStats,
    DistributedMode,
    DistributedOptions,
    Event,
    HostRuntime,
    MemoryLogLevel,
    MultiProcessArgs,
    PerfEnv,
    TensorDesc,
    WorkaroundEnv,
    get_available_host_runtimes,
    get_current_host_runtime,
    get_current_system_desc,
    get_worker_debug_stats,
    invoke_cpu_op,
    launch_distributed_runtime,
    set_current_host_runtime,
    set_metal_home,
    set_mlir_home,
    shutdown_distributed_runtime,
)
from ttnn_jit.ttmlir.ttmlir_runtime.memory_log import log_program, set_memory_log_level, with_log
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary
from ttnn_jit.ttmlir.ttmlir_runtime.runtime_tensors import Tensor, borrowed
from ttnn_jit.ttmlir.ttmlir_runtime.tensor_layouts import (
    HOST,
    Conversions,
    Layout,
    get_num_layout_conversions,
    layout_of_reference,
)


class DeviceRuntime(enum.Enum):
    """Which runtime a binary is for."""

    Disabled = 0
    TTNN = 1
    TTMetal = 2


class DispatchCoreType(enum.Enum):
    """Which cores dispatch; of no effect here."""

    WORKER = 0
    ETH = 1


class FabricConfig(enum.Enum):
    """How chips are linked; of no effect here.

    The numbers are those of tt-mlir's runtime (its types.fbs), which has no neighbour exchange; those of tt-metal are
    `ttnn.FabricConfig`'s.
    """

    DISABLED = 0
    FABRIC_1D = 1
    FABRIC_1D_RING = 2
    FABRIC_2D = 3
    FABRIC_2D_TORUS_X = 4
    FABRIC_2D_TORUS_Y = 5
    FABRIC_2D_TORUS_XY = 6
    CUSTOM = 7


class MemoryBufferType(enum.Enum):
    """Kinds of memory."""

    DRAM = 0
    L1 = 1
    L1_SMALL = 2
    TRACE = 3


class MemoryView(NamedTuple):
    """The banks of one memory; bytes are those of one bank."""

    num_banks: int
    total_bytes_per_bank: int
    total_bytes_allocated_per_bank: int
    total_bytes_free_per_bank: int
    largest_contiguous_bytes_free_per_bank: int
    block_table: list[dict[str, str]]


class MeshDeviceOptions:
    """What a mesh is opened with.

    Attributes:
        mesh_shape: Its extents.
    """

    def __init__(self) -> None:
        self.mesh_shape: Sequence[int] = (1, 1)
        self.mesh_offset: Sequence[int] = (0, 0)
        self.device_ids: Sequence[int] = ()
        self.num_hw_cqs = 1
        self.enable_program_cache = True
        self.l1_small_size: int | None = None
        self.trace_region_size: int | None = None
        self.dispatch_core_type: DispatchCoreType | None = None


class Device:
    """A mesh of virtual devices, of which all are the CPU.

    Args:
        shape: The extents of the mesh.
        options: What it is opened with; settings of a chip are kept and choose nothing.
    """

    def __init__(self, shape: Sequence[int], options: MeshDeviceOptions | None = None) -> None:
        self._shape = list(shape)
        self._options = options or MeshDeviceOptions()

    def get_num_hw_cqs(self) -> int:
        """The queues that it was opened with."""
        return self._options.num_hw_cqs

    def is_program_cache_enabled(self) -> bool:
        """Whether it was opened with a cache of programs."""
        return self._options.enable_program_cache

    def get_l1_small_size(self) -> int:
        """The bytes of small buffers that it was opened with."""
        return self._options.l1_small_size or 0

    def get_trace_region_size(self) -> int:
        """The bytes of traces that it was opened with."""
        return self._options.trace_region_size or 0

    def get_num_dram_channels(self) -> int:
        """The banks of DRAM of a chip of this system."""
        return resolve_target(None).dram_banks

    def get_dram_size_per_channel(self) -> int:
        """The bytes of a bank of DRAM of a chip of this system."""
        target = resolve_target(None)
        return (target.dram_bytes or 0) // target.dram_banks

    def get_l1_size_per_core(self) -> int:
        """The bytes of L1 of a core of this system."""
        return resolve_target(None).l1_bytes

    def get_mesh_shape(self) -> list[int]:
        """The extents of the mesh."""
        return list(self._shape)

    def get_device_ids(self) -> list[int]:
        """The numbers of its devices."""
        count = 1
        for extent in self._shape:
            count *= extent
        return list(range(count))

    def clear_program_cache(self) -> None:
        """Nothing: programs belong to binaries."""

    def read_device_profiler_results(self) -> None:
        """Nothing: no device writes a profile."""

    def get_memory_view(self) -> dict[MemoryBufferType, MemoryView]:
        """The memory behind the operation around which a hook is called, by the rules of the binary's chip.

        Raises:
            RuntimeError: No hook is being called.
        """
        running = DebugHooks.running
        if running is None:
            raise RuntimeError("the memory of a device is known in hooks, behind an operation")
        context, op_context = running
        view = context.memory.behind(op_context.op).view()
        return {kind: MemoryView(**view[kind.name.lower()]) for kind in MemoryBufferType}


def open_mesh_device(options: MeshDeviceOptions | None = None, *_: Any) -> Device:
    """A mesh."""
    chosen = options or MeshDeviceOptions()
    return Device(chosen.mesh_shape, chosen)


def close_mesh_device(device: Device) -> None:
    """Ends the use of a mesh."""


def create_sub_mesh_device(
    parent: Device,  # noqa: ARG001 - all devices are this processor
    mesh_shape: Sequence[int],
    mesh_offset: Sequence[int] | None = None,  # noqa: ARG001 - all devices are this processor
) -> Device:
    """A part of a mesh."""
    return Device(mesh_shape)


def release_sub_mesh_device(device: Device) -> None:
    """Ends the use of a part of a mesh."""


def reshape_mesh_device(device: Device, mesh_shape: Sequence[int]) -> None:
    """Gives a mesh other extents.

    Raises:
        ValueError: They have another number of devices.
    """
    if math.prod(mesh_shape) != len(device.get_device_ids()):
        raise ValueError(f"a mesh of {device.get_mesh_shape()} has not the devices of one of {list(mesh_shape)}")
    device._shape = list(mesh_shape)


def set_current_device_runtime(runtime: DeviceRuntime) -> None:
    """Says for which runtime binaries are."""
    _current["runtime"] = runtime


def get_current_device_runtime() -> DeviceRuntime:
    """For which runtime binaries are."""
    return _current["runtime"]


def set_compatible_device_runtime(binary: Binary) -> None:  # noqa: ARG001 - all are of one runtime
    """Says that binaries are for ttnn."""
    _current["runtime"] = DeviceRuntime.TTNN


_current = {"runtime": DeviceRuntime.TTNN}


def set_fabric_config(config: FabricConfig) -> None:
    """Nothing: devices of one process exchange by copies."""


def get_num_available_devices() -> int:
    """The devices of the system of ``SYSTEM_DESC_PATH``; without it those of the largest mesh.

    Raises:
        ArgumentError: The file is no system description.
    """
    return math.prod(resolve_target(None).mesh) if os.environ.get("SYSTEM_DESC_PATH") else 32


def create_borrowed_host_tensor(
    pointer: int,
    shape: Sequence[int],
    strides: Sequence[int],
    itemsize: int,
    dtype: DataType,
) -> Tensor:
    """A tensor over the memory of a caller, who keeps it."""
    return Tensor([borrowed(pointer, shape, strides, itemsize, dtype)])


def create_owned_host_tensor(
    pointer: int,
    shape: Sequence[int],
    strides: Sequence[int],
    itemsize: int,
    dtype: DataType,
) -> Tensor:
    """A copy of the memory of a caller."""
    return Tensor([borrowed(pointer, shape, strides, itemsize, dtype).clone()])


def create_multi_device_borrowed_host_tensor(
    pointers: Sequence[int],
    shape: Sequence[int],
    strides: Sequence[int],
    itemsize: int,
    dtype: DataType,
    strategy: Mapping[str, str],  # noqa: ARG001 - one part per device
    mesh_shape: Sequence[int],  # noqa: ARG001 - as many as pointers
) -> Tensor:
    """A tensor of a part per device over the memory of a caller, who keeps it."""
    return Tensor([borrowed(pointer, shape, strides, itemsize, dtype) for pointer in pointers])


def create_multi_device_host_tensor(
    pointers: Sequence[int],
    shape: Sequence[int],
    strides: Sequence[int],
    itemsize: int,
    dtype: DataType,
    strategy: Mapping[str, str],  # noqa: ARG001 - one part per device
    mesh_shape: Sequence[int],  # noqa: ARG001 - as many as pointers
) -> Tensor:
    """A tensor of a part per device, which are copies of the memory of a caller."""
    return Tensor([borrowed(pointer, shape, strides, itemsize, dtype).clone() for pointer in pointers])


def create_multi_device_host_tensor_from_shards(
    shards: Sequence[Tensor],
    strategy: Mapping[str, str],  # noqa: ARG001 - one part per device
    mesh_shape: Sequence[int],  # noqa: ARG001 - as many as parts
) -> Tensor:
    """A tensor whose parts are those of other tensors."""
    return Tensor([each.first for each in shards])


def create_unsafe_borrowed_host_tensor(tensor: Tensor) -> Tensor:
    """A tensor over the memory of another."""
    return Tensor(tensor.shards)


def create_empty_tensor(
    device: Device,  # noqa: ARG001 - tensors are in host memory
    layout: Layout,
    shape: Sequence[int],
    strides: Sequence[int],
    itemsize: int,  # noqa: ARG001 - of the dtype
) -> Tensor:
    """A tensor of zeros in the dtype of a layout, which a program may replace."""
    zeros = torch.zeros(list(shape), dtype=TORCH_DTYPES.get(layout.dtype, torch.float32))
    return Tensor([zeros.as_strided(list(shape), list(strides))], layout)


def get_layout(executable: Binary, program_index: int, input_index: int) -> Layout:
    """The layout that a program wants of an input."""
    return layout_of_reference(executable.inputs(program_index)[input_index])


def to_layout(tensor: Tensor, device: Device, layout: Layout, retain: bool | None = None) -> Tensor:  # noqa: ARG001
    """The tensor itself if it has that layout, else a copy that has it, which is counted."""
    if tensor.has_layout(layout):
        return tensor
    Conversions.count += 1
    wanted = program_dtype(layout.dtype)
    # A program may take more dtypes than tensors of ttnn have: a tensor of one of these stays as it is.
    is_same = wanted is None or not wanted.is_floating_point or device_dtype(tensor.first.dtype) == wanted
    moved = Tensor([each.clone() if is_same else each.to(wanted) for each in tensor.shards], layout)
    if layout.buffer_type != HOST:
        moved.devices = math.prod(device.get_mesh_shape())
    return moved


def to_host(tensor: Tensor, untilize: bool = False, blocking: bool = True) -> list[Tensor]:  # noqa: ARG001
    """A tensor per device."""
    return [Tensor([shard]) for shard in tensor.shards]


def get_device_tensors(tensor: Tensor) -> list[Tensor]:
    """A tensor per device, over the same memory."""
    parts = tensor.shards * tensor.devices if len(tensor.shards) == 1 else tensor.shards
    return [Tensor([part], tensor.get_layout()) for part in parts]


def get_num_shards(tensor: Tensor) -> int:
    """How many devices have a part, or the whole."""
    return max(len(tensor.shards), tensor.devices)


def memcpy(target: Any, source: Any, *_: Any) -> None:
    """Copies the elements of a tensor into another, or from or to an address.

    Raises:
        ValueError: They have other sizes in bytes.
    """
    if isinstance(target, Tensor) and isinstance(source, Tensor):
        data = source.get_data_buffer()
        if len(data) != target.get_volume() * target.get_element_size():
            raise ValueError("Tensor sizes must match")
        if target.get_dtype() is source.get_dtype():
            target.first.copy_(source.first.reshape(target.first.shape))
        else:
            ctypes.memmove(target.first.data_ptr(), data, len(data))
        return
    if isinstance(source, Tensor):
        data = source.get_data_buffer()
        ctypes.memmove(target, data, len(data))
        return
    ctypes.memmove(target.first.data_ptr(), source, target.get_volume() * target.get_element_size())


def deallocate_tensor(tensor: Tensor, force: bool = False) -> None:
    """Nothing: memory is freed with the last user."""


def submit(device: Device, binary: Binary, program_index: int, inputs: Sequence[Tensor]) -> list[Tensor]:  # noqa: ARG001
    """The outputs of a program on inputs; a result that is said to be presharded has a part per device.

    Raises:
        CompileError: An operation is not executed here.
        ArgumentError, ShapeError, DTypeError: The inputs are not those of the program.
        ValueError: There is no such program, or an input has neither one part nor one per device.
    """
    found = outputs_of(binary, program_index, [tensor.shards for tensor in inputs])
    layouts = [layout_of_reference(each) for each in binary.outputs(program_index)]
    return [Tensor([*map(on_device, parts)], layout) for parts, layout in zip(found, layouts, strict=True)]


def outputs_of(
    binary: Binary, program_index: int, inputs: Sequence[Sequence[torch.Tensor]]
) -> list[tuple[torch.Tensor, ...]]:
    """The outputs of a program, each a part per device or one for all, in the dtypes of its text.

    Args:
        binary: The binary.
        program_index: The number of the program.
        inputs: Of each input, one tensor for all devices, or a tensor of each.

    Raises:
        CompileError: An operation is not executed here.
        ArgumentError, ShapeError, DTypeError: The inputs are not those of the program.
        ValueError: There is no such program, or an input has neither one part nor one per device.
    """
    programs = binary.get_num_programs()
    if not 0 <= program_index < programs:
        raise ValueError(f"the binary has {programs} programs, and none of the number {program_index}")
    devices = math.prod(binary.text_module.mesh)
    for index, parts in enumerate(inputs):
        if len(parts) not in {1, devices}:
            raise ValueError(f"input {index} has {len(parts)} parts, and the mesh {devices} devices")
    given = [parts[0] if len(parts) == 1 else tuple(parts) for parts in inputs]
    sharded = binary.presharded_results(program_index)
    whole = [each for each in given if isinstance(each, torch.Tensor)]
    hooks = with_log(DebugHooks.current)
    log_program("before", binary, program_index)
    if hooks is None and not any(sharded) and len(whole) == len(given):
        results = run_text(binary.text_module, binary.names[program_index], whole, (binary, program_index))
        log_program("after", binary, program_index)
        return [(each,) for each in results]
    found = (hooks or DebugHooks()).run(binary, program_index, given)
    log_program("after", binary, program_index)
    compare_run(binary.text_module, binary.names[program_index], given, found, (binary, program_index))
    return [tensors if is_sharded else tensors[:1] for tensors, is_sharded in zip(found, sharded, strict=True)]


def wait(tensors: Tensor | Sequence[Tensor]) -> None:
    """Nothing: a submission ends with its results."""


def create_scalar_tensor(value: float | int, dtype: DataType) -> Tensor:
    """A tensor of one element."""
    return Tensor([torch.tensor(value, dtype=TORCH_DTYPES[dtype])])


__all__ = [
    "CallbackContext", "DataType", "DebugEnv", "DebugHooks", "DebugStats", "Device", "DeviceRuntime",
    "DispatchCoreType", "DistributedMode", "DistributedOptions", "Event", "FabricConfig", "HostRuntime", "Layout",
    "MemoryBufferType", "MemoryLogLevel", "MemoryView", "MeshDeviceOptions", "MultiProcessArgs", "OpContext",
    "PerfEnv", "Tensor", "TensorDesc", "TensorRef", "WorkaroundEnv", "close_mesh_device",
    "create_borrowed_host_tensor", "create_empty_tensor", "create_multi_device_borrowed_host_tensor",
    "create_multi_device_host_tensor", "create_multi_device_host_tensor_from_shards", "create_owned_host_tensor",
    "create_scalar_tensor", "create_sub_mesh_device", "create_unsafe_borrowed_host_tensor", "deallocate_tensor",
    "get_available_host_runtimes", "get_current_device_runtime", "get_current_host_runtime", "get_current_system_desc",
    "get_debug_info_golden", "get_device_tensors", "get_layout", "get_num_available_devices",
    "get_num_layout_conversions", "get_num_shards", "get_op_debug_str", "get_op_input_refs", "get_op_loc_info",
    "get_op_output_refs", "get_op_output_tensor", "get_program_index", "get_worker_debug_stats", "invoke_cpu_op",
    "launch_distributed_runtime", "memcpy", "open_mesh_device", "release_sub_mesh_device", "reshape_mesh_device",
    "retrieve_tensor_from_pool", "set_compatible_device_runtime", "set_current_device_runtime",
    "set_current_host_runtime", "set_fabric_config", "set_memory_log_level", "set_metal_home", "set_mlir_home",
    "shutdown_distributed_runtime", "submit", "test", "to_host", "to_layout", "unregister_hooks",
    "update_tensor_in_pool", "wait", "walk_program",
]  # fmt: skip
