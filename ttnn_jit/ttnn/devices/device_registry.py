"""Devices by number, and the default device, under the names of ttnn's native functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.device import Device
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.devices.devices import close_device, get_num_devices, open_device

_default: list[Device] = []
_NOT_READ = "stored and returned; operations run on the device of their tensors"


@host_function(observed=False, no_effect=_NOT_READ)
def SetDefaultDevice(device: Device | None = None) -> None:  # noqa: N802 - ttnn's name
    """Set the result of `GetDefaultDevice`, which operations do not read (ttnn.SetDefaultDevice); None resets it.

    Raises:
        ArgumentError: `device` is not a device.
    """
    _default[:] = [] if device is None else [device]


@host_function(observed=False, no_effect=_NOT_READ)
def GetDefaultDevice() -> Device | None:  # noqa: N802
    """The device of the last `SetDefaultDevice`; None if there is none, or it is closed."""
    return next((device for device in _default if not device.closed), None)


@host_function(observed=False)
def get_device_ids() -> list[int]:
    """The numbers of all devices (ttnn.get_device_ids)."""
    return list(range(get_num_devices()))


@host_function(observed=False)
def GetNumAvailableDevices() -> int:  # noqa: N802
    """The number of devices (ttnn.GetNumAvailableDevices)."""
    return get_num_devices()


@host_function(observed=False)
def GetNumPCIeDevices() -> int:  # noqa: N802
    """The number of devices on the PCIe bus (ttnn.GetNumPCIeDevices): all devices."""
    return get_num_devices()


@host_function(observed=False)
def GetPCIeDeviceID(device_id: int) -> int:  # noqa: N802
    """The PCIe device that connects a device to the host (ttnn.GetPCIeDeviceID): the device itself.

    Raises:
        ArgumentError: There is no such device.
    """
    if device_id not in get_device_ids():
        raise ArgumentError(f"`device_id` must be one of `ttnn.get_device_ids()`, got {device_id!r}")
    return device_id


@host_function(observed=False)
def CreateDevice(device_id: int, num_command_queues: int = 1, **keywords: Any) -> Device:  # noqa: N802
    """Another name of `ttnn.open_device`, with its arguments (ttnn.CreateDevice)."""
    return open_device(device_id=device_id, num_command_queues=num_command_queues, **keywords)


@host_function(observed=False)
def CreateDevices(  # noqa: N802
    device_ids: Iterable[int], num_command_queues: int = 1, **keywords: Any
) -> dict[int, Device]:
    """Open a device for each number (ttnn.CreateDevices)."""
    return {number: CreateDevice(number, num_command_queues, **keywords) for number in device_ids}


@host_function(observed=False)
def CloseDevice(device: Device) -> None:  # noqa: N802
    """Another name of `ttnn.close_device` (ttnn.CloseDevice)."""
    close_device(device)


@host_function(observed=False)
def CloseDevices(devices: Mapping[int, Device]) -> None:  # noqa: N802
    """Close the devices that `CreateDevices` opened (ttnn.CloseDevices).

    Raises:
        ArgumentError: `devices` is not a mapping.
    """
    for device in devices.values():
        close_device(device)


@host_function(in_programs=True, observed=False, no_effect="there is no device profiler; time the calls")
def ReadDeviceProfiler(device: Device) -> None:  # noqa: N802
    """Do nothing: devices have no profiler (ttnn.ReadDeviceProfiler).

    Raises:
        ArgumentError: `device` is not a device.
        DeviceError: The device is closed.
    """
    device.require_open("ReadDeviceProfiler")
