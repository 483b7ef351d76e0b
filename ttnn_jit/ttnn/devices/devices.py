"""Opening, closing and counting devices; settings of hardware are accepted without effect."""

from __future__ import annotations

import contextlib
import enum
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.meshes.mesh import MeshDevice
from ttnn_jit.runtime.ranks.mesh_ranks import MeshRanks, RemoteDevice
from ttnn_jit.runtime.ranks.rank_environment import there_are_ranks
from ttnn_jit.runtime.ranks.world import join_world
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.target import SystemDesc, resolve_target
from ttnn_jit.ttnn.calling.host_function import host_function

if TYPE_CHECKING:
    from ttnn_jit.ttnn.fabric import FabricTensixConfig

HARDWARE_SETTINGS = frozenset(
    {
        "dispatch_core_config",
        "dispatch_core_type",
        "l1_small_size",
        "offset",
        "physical_device_ids",
        "worker_l1_size",
    }
)
"""Keywords of ttnn's `open_device` that have no meaning on a CPU; accepted and ignored."""


@host_function(observed=False)
def open_device(
    *,
    device_id: int = 0,
    target: SystemDesc | str | None = None,
    num_command_queues: int = 1,
    trace_region_size: int = 0,
    **hardware: Any,
) -> Device:
    """Open a device with the rules of `target` (ttnn.open_device).

    Args:
        device_id: Number of the device, for messages.
        target: Name of a preset, or a description; by default the file in ``SYSTEM_DESC_PATH``, or ``wormhole_b0``.
        num_command_queues: 1 or 2, the number of queues that calls may name; they are one queue here, in order.
        trace_region_size: Bytes that traces may take; 0 for no limit.
        **hardware: Keywords of ttnn that have no meaning on a CPU; accepted and ignored.

    Raises:
        ArgumentError: An unknown target or keyword, or an invalid number.
    """
    _refuse_unknown("open_device", hardware)
    _check_settings(num_command_queues, trace_region_size)
    if device_id < 0:
        raise ArgumentError(f"`device_id` must be a whole number of at least 0, got {device_id!r}")
    return Device(
        resolve_target(target).chip, device_id, queues=num_command_queues, trace_region_size=trace_region_size
    )


@host_function(observed=False)
def close_device(device: Device) -> None:
    """Close a device and free its memory; closing twice is allowed (ttnn.close_device)."""
    device.close()


@host_function(observed=False)
@contextlib.contextmanager
def manage_device(device_id: int = 0, **keywords: Any) -> Iterator[Device]:
    """Open a device for the body of a ``with`` (ttnn.manage_device); the arguments are those of `open_device`."""
    device = open_device(device_id=device_id, **keywords)
    try:
        yield device
    finally:
        device.close()


@host_function(observed=False)
def enable_program_cache(device: Device) -> None:
    """Count the device's programs (ttnn.enable_program_cache)."""
    device.enable_program_cache()


@host_function(observed=False)
def disable_and_clear_program_cache(device: Device) -> None:
    """Stop counting the device's programs (ttnn.disable_and_clear_program_cache)."""
    device.disable_and_clear_program_cache()


@host_function(observed=False)
def open_mesh_device(
    mesh_shape: MeshShape | Sequence[int] | int | None = None,
    *,
    target: SystemDesc | str | None = None,
    num_command_queues: int = 1,
    trace_region_size: int = 0,
    **hardware: Any,
) -> Device:
    """Open a mesh of devices (ttnn.open_mesh_device); a mesh of one device is that device.

    Without a shape it is the mesh of the system that `target` describes, or one device. The other keywords are those
    of `open_device`.

    Raises:
        ArgumentError: More devices are requested than there are, or an unknown target or keyword.
    """
    _refuse_unknown("open_mesh_device", hardware)
    _check_settings(num_command_queues, trace_region_size)
    system = resolve_target(target)
    shape = MeshShape(system.mesh if mesh_shape is None else mesh_shape)
    there = math.prod(system.mesh) if math.prod(system.mesh) > 1 else MAX_DEVICES
    if shape.mesh_size() > there:
        raise ArgumentError(f"a mesh of {shape.mesh_size()} devices is more than the {there} that there are")
    settings = {"queues": num_command_queues, "trace_region_size": trace_region_size}
    ranks = _ranks_sharing(shape)
    if ranks is None:
        devices = [Device(system.chip, number, **settings) for number in range(shape.mesh_size())]
        return devices[0] if len(devices) == 1 else MeshDevice(shape, devices)
    shared = [
        Device(system.chip, number, **settings) if owner == ranks.rank else RemoteDevice(system.chip, number, owner)
        for number, owner in enumerate(ranks.owners)
    ]
    return MeshDevice(shape, shared, ranks)


def _ranks_sharing(shape: MeshShape) -> MeshRanks | None:
    """The ranks that share a mesh of this shape; None if it is this process's alone."""
    return MeshRanks.sharing(join_world(), shape.mesh_size())


MAX_DEVICES = 32
"""The most devices of a mesh, unless the target describes a system of several chips: those of a Galaxy."""


@host_function(observed=False)
def close_mesh_device(mesh_device: Device) -> None:
    """Close every device of a mesh; closing twice is allowed (ttnn.close_mesh_device)."""
    mesh_device.close()


@host_function(observed=False)
@contextlib.contextmanager
def create_mesh_device(*args: Any, **keywords: Any) -> Iterator[Device]:
    """Open a mesh for the body of a ``with`` (ttnn.create_mesh_device), with the arguments of `open_mesh_device`."""
    mesh_device = open_mesh_device(*args, **keywords)
    try:
        yield mesh_device
    finally:
        mesh_device.close()


@host_function(
    in_programs=True,
    observed=False,
    no_effect="every call returns when its work is done",
    without_effect={"a CPU has no sub-devices": "sub_device_ids"},
)
def synchronize_device(
    device: Device,
    cq_id: int | None = None,
    sub_device_ids: Sequence[Any] = (),
) -> None:
    """Wait for the work of a device; returns at once, since every call returns when its work is done.

    Raises:
        ArgumentError: The device has no such queue.
        DeviceError: The device is closed.
        TraceError: The device captures a trace.
    """
    device.require_host_access("synchronize_device")
    device.require_queue(cq_id, "synchronize_device")


@host_function(observed=False)
def get_num_devices() -> int:
    """The number of devices: those of the system that `SYSTEM_DESC_PATH` describes, or eight; all are this CPU.

    A mesh may have up to 32 devices if the description is not that of several chips.
    """
    described = math.prod(resolve_target(None).mesh)
    return described if described > 1 else 8


@host_function(observed=False)
def get_arch_name() -> str:
    """The architecture of the device that `open_device` would open."""
    return resolve_target(None).arch


@host_function(observed=False)
def get_num_pcie_devices() -> int:
    """The number of devices on the PCIe bus (ttnn.get_num_pcie_devices): all devices."""
    return get_num_devices()


@host_function(observed=False)
def get_pcie_device_ids() -> list[int]:
    """The device ids, from 0."""
    return list(range(get_num_devices()))


@host_function(observed=False)
def using_distributed_env() -> bool:
    """Whether this process is one of several ranks (ttnn.using_distributed_env)."""
    return there_are_ranks()


def _check_settings(num_command_queues: int, trace_region_size: int) -> None:
    if num_command_queues not in {1, 2}:
        raise ArgumentError(f"`num_command_queues` must be 1 or 2, got {num_command_queues}")
    if trace_region_size < 0:
        raise ArgumentError(f"`trace_region_size` must be a number of bytes, got {trace_region_size}")


def _refuse_unknown(name: str, keywords: dict[str, Any]) -> None:
    if unknown := set(keywords) - HARDWARE_SETTINGS:
        raise ArgumentError(
            f"{name} has no keyword {', '.join(f'`{keyword}`' for keyword in sorted(unknown))}",
            help=f"keywords of hardware that it ignores are {', '.join(f'`{k}`' for k in sorted(HARDWARE_SETTINGS))}",
        )


# --- Settings of the hardware ---------------------------------------------------------------------------------------


class DispatchCoreType(enum.Enum):
    """Which cores dispatch work."""

    WORKER = 0
    ETH = 1


class DispatchCoreAxis(enum.Enum):
    """Whether dispatch cores take a row or a column."""

    ROW = 0
    COL = 1


@dataclass(frozen=True)
class DispatchCoreConfig:
    """Which cores dispatch work; accepted wherever ttnn takes it, without effect on a CPU."""

    type: DispatchCoreType | None = None
    axis: DispatchCoreAxis | None = None
    fabric_tensix_config: FabricTensixConfig | None = None
