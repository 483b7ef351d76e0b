"""The module `ttnn.device`: the class `Device`, and the architecture of the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.arch import Arch
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.names_on_demand import host_function_names, submodule_getattr

if TYPE_CHECKING:
    from ttnn_jit.ttnn.namespace.lazy_names import *  # noqa: F403 - the names that are not defined here

_REEXPORTED_LAZILY = (
    "CloseDevice",
    "CloseDevices",
    "CreateDevice",
    "CreateDevices",
    "GetDefaultDevice",
    "GetNumAvailableDevices",
    "GetNumPCIeDevices",
    "GetPCIeDeviceID",
    "SetDefaultDevice",
    "SubDevice",
    "SubDeviceId",
    "SubDeviceManagerId",
    "dump_device_memory_state",
    "get_memory_view",
    "init_device_compute_kernel_config",
    "pad_to_tile_shape",
)
"""Names that the module re-exports from `ttnn`, whose modules load on first access."""

_REEXPORTED = (
    "DispatchCoreAxis DispatchCoreConfig DispatchCoreType close_device get_arch_name manage_device open_device "
    "synchronize_device"
)
"""Names that the module re-exports from `ttnn`."""

__all__ = ["Arch", "Device", *host_function_names("device"), *_REEXPORTED.split()]  # noqa: PLE0604 - the names are the declarations' and the table's


__getattr__ = submodule_getattr("device", [*__all__, *_REEXPORTED_LAZILY])


@host_function(name="device.is_blackhole", observed=False)
def is_blackhole(device: Device | None = None) -> bool:
    """Whether a device is a Blackhole chip; without one, whether `open_device` would open one."""
    return _arch(device) is Arch.BLACKHOLE


@host_function(name="device.is_wormhole_b0", observed=False)
def is_wormhole_b0(device: Device | None = None) -> bool:
    """Whether a device is a Wormhole chip; without one, whether `open_device` would open one."""
    return _arch(device) is Arch.WORMHOLE_B0


@host_function(name="device.is_grayskull", observed=False)
def is_grayskull(device: Device | None = None) -> bool:
    """Whether a device is a Grayskull chip: always False."""
    return _arch(device) is Arch.GRAYSKULL


def _arch(device: Device | None) -> Arch:
    return Arch(resolve_target(None).arch) if device is None else device.arch()


# --- Settings of the hardware, accepted without effect ----------------------------------------------------------------

_HARDWARE_SETTING = "a setting of hardware that a CPU lacks"


@host_function(name="device.EnableMemoryReports", observed=False, no_effect=_HARDWARE_SETTING)
def EnableMemoryReports() -> None:  # noqa: N802 - ttnn's name
    """No effect: `dump_device_memory_state` writes reports of memory at any time."""


@host_function(name="device.DisableMemoryReports", observed=False, no_effect=_HARDWARE_SETTING)
def DisableMemoryReports() -> None:  # noqa: N802 - ttnn's name
    """No effect: only `dump_device_memory_state` writes reports of memory."""


@host_function(name="device.EnablePersistentKernelCache", observed=False, no_effect=_HARDWARE_SETTING)
def EnablePersistentKernelCache() -> None:  # noqa: N802 - ttnn's name
    """No effect: ``TTNN_JIT_CACHE`` controls the disk cache, which is on by default."""


@host_function(name="device.DisablePersistentKernelCache", observed=False, no_effect=_HARDWARE_SETTING)
def DisablePersistentKernelCache() -> None:  # noqa: N802 - ttnn's name
    """No effect: ``TTNN_JIT_CACHE`` controls the disk cache; stored kernels are checked before use."""
