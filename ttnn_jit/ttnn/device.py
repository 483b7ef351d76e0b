"""The module `ttnn.device`: the device class, and what kind of chip the target is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.arch import Arch
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.names_on_demand import declared_names_of, names_of

if TYPE_CHECKING:
    from ttnn_jit.ttnn.namespace.lazy_names import *  # noqa: F403 - which has the names that are not defined here

_LATER = (
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
"""Names of `ttnn` itself, whose modules are loaded when they are asked for."""

_OF_TTNN = (
    "DispatchCoreAxis DispatchCoreConfig DispatchCoreType close_device get_arch_name manage_device open_device "
    "synchronize_device"
)
"""Names of `ttnn` itself."""

__all__ = ["Arch", "Device", *declared_names_of("device"), *_OF_TTNN.split()]  # noqa: PLE0604 - the names are the declarations' and the table's


__getattr__ = names_of("device", [*__all__, *_LATER])


@host_function(name="device.is_blackhole", observed=False)
def is_blackhole(device: Device | None = None) -> bool:
    """Whether a device, or the one that `open_device` would open, is a Blackhole chip."""
    return _arch(device) is Arch.BLACKHOLE


@host_function(name="device.is_wormhole_b0", observed=False)
def is_wormhole_b0(device: Device | None = None) -> bool:
    """Whether a device, or the one that `open_device` would open, is a Wormhole chip."""
    return _arch(device) is Arch.WORMHOLE_B0


@host_function(name="device.is_grayskull", observed=False)
def is_grayskull(device: Device | None = None) -> bool:
    """Whether a device is a Grayskull chip, which none is."""
    return _arch(device) is Arch.GRAYSKULL


def _arch(device: Device | None) -> Arch:
    return Arch(resolve_target(None).arch) if device is None else device.arch()


# --- Settings of the hardware: taken, and without effect --------------------------------------------------------------

_OF_HARDWARE = "a setting of hardware that a CPU has not"


@host_function(name="device.EnableMemoryReports", observed=False, no_effect=_OF_HARDWARE)
def EnableMemoryReports() -> None:  # noqa: N802 - ttnn's name
    """Reports of memory are written whenever `dump_device_memory_state` asks for them."""


@host_function(name="device.DisableMemoryReports", observed=False, no_effect=_OF_HARDWARE)
def DisableMemoryReports() -> None:  # noqa: N802 - ttnn's name
    """No report of memory is written but by `dump_device_memory_state`."""


@host_function(name="device.EnablePersistentKernelCache", observed=False, no_effect=_OF_HARDWARE)
def EnablePersistentKernelCache() -> None:  # noqa: N802 - ttnn's name
    """Kernels are kept on disk already; ``TTNN_JIT_CACHE`` decides it."""


@host_function(name="device.DisablePersistentKernelCache", observed=False, no_effect=_OF_HARDWARE)
def DisablePersistentKernelCache() -> None:  # noqa: N802 - ttnn's name
    """Kernels stay on disk, where they are checked before they are used; ``TTNN_JIT_CACHE`` decides it."""
