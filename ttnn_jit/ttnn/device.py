"""The module `ttnn.device`: the device class, and what kind of chip the target is."""

from __future__ import annotations

from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.arch import Arch
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.ttnn.devices import (
    DispatchCoreAxis,
    DispatchCoreConfig,
    DispatchCoreType,
    close_device,
    get_arch_name,
    manage_device,
    open_device,
    synchronize_device,
)
from ttnn_jit.ttnn.memory_banks import get_memory_view

__all__ = [
    "Arch",
    "Device",
    "DispatchCoreAxis",
    "DispatchCoreConfig",
    "DispatchCoreType",
    "close_device",
    "get_arch_name",
    "get_memory_view",
    "is_blackhole",
    "is_grayskull",
    "is_wormhole_b0",
    "manage_device",
    "open_device",
    "synchronize_device",
]


def is_blackhole(device: Device | None = None) -> bool:
    """Whether a device, or the one that `open_device` would open, is a Blackhole chip."""
    return _arch(device) is Arch.BLACKHOLE


def is_wormhole_b0(device: Device | None = None) -> bool:
    """Whether a device, or the one that `open_device` would open, is a Wormhole chip."""
    return _arch(device) is Arch.WORMHOLE_B0


def is_grayskull(device: Device | None = None) -> bool:
    """Whether a device is a Grayskull chip, which none is."""
    return _arch(device) is Arch.GRAYSKULL


def _arch(device: Device | None) -> Arch:
    return Arch(resolve_target(None).arch) if device is None else device.arch()
