"""The module `ttnn.device`: the device class, and what kind of chip the target is."""

from __future__ import annotations

from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.ttnn.devices import close_device, open_device, synchronize_device

__all__ = ["Device", "close_device", "is_blackhole", "is_wormhole_b0", "open_device", "synchronize_device"]


def is_blackhole(device: Device | None = None) -> bool:
    """Whether a device, or the one that `open_device` would open, is a Blackhole chip."""
    return _arch(device) == "blackhole"


def is_wormhole_b0(device: Device | None = None) -> bool:
    """Whether a device, or the one that `open_device` would open, is a Wormhole chip."""
    return _arch(device) == "wormhole_b0"


def _arch(device: Device | None) -> str:
    return (resolve_target(None) if device is None else device.target).arch
