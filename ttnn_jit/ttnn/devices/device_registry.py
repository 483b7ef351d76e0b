"""Devices by number and by default, in the spelling of ttnn's native functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.device import Device
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.devices.devices import close_device, get_num_devices, open_device

_default: list[Device] = []
_NOT_ASKED = "kept and returned; operations run where their tensors lie"


@host_function(observed=False, no_effect=_NOT_ASKED)
def SetDefaultDevice(device: Device | None = None) -> None:  # noqa: N802 - ttnn's name
    """Keep a device for `GetDefaultDevice` (ttnn.SetDefaultDevice); None keeps none. Operations do not ask for it.

    Raises:
        ArgumentError: It is no device.
    """
    _default[:] = [] if device is None else [device]


@host_function(observed=False, no_effect=_NOT_ASKED)
def GetDefaultDevice() -> Device | None:  # noqa: N802
    """The device that `SetDefaultDevice` was given last; None if there is none, or it is closed."""
    return next((device for device in _default if not device.closed), None)


@host_function(observed=False)
def get_device_ids() -> list[int]:
    """The numbers of all devices there are (ttnn.get_device_ids)."""
    return list(range(get_num_devices()))


@host_function(observed=False)
def GetNumAvailableDevices() -> int:  # noqa: N802
    """How many devices there are (ttnn.GetNumAvailableDevices)."""
    return get_num_devices()


@host_function(observed=False)
def GetNumPCIeDevices() -> int:  # noqa: N802
    """How many devices a program reaches without another one between (ttnn.GetNumPCIeDevices): all."""
    return get_num_devices()


@host_function(observed=False)
def GetPCIeDeviceID(device_id: int) -> int:  # noqa: N802
    """The device through which another is reached (ttnn.GetPCIeDeviceID): itself.

    Raises:
        ArgumentError: There is no such device.
    """
    if device_id not in get_device_ids():
        raise ArgumentError(f"`device_id` must be one of `ttnn.get_device_ids()`, got {device_id!r}")
    return device_id


@host_function(observed=False)
def CreateDevice(device_id: int, num_command_queues: int = 1, **keywords: Any) -> Device:  # noqa: N802
    """`ttnn.open_device` by another name (ttnn.CreateDevice); the arguments are as there."""
    return open_device(device_id=device_id, num_command_queues=num_command_queues, **keywords)


@host_function(observed=False)
def CreateDevices(  # noqa: N802
    device_ids: Iterable[int], num_command_queues: int = 1, **keywords: Any
) -> dict[int, Device]:
    """A device for each number (ttnn.CreateDevices)."""
    return {number: CreateDevice(number, num_command_queues, **keywords) for number in device_ids}


@host_function(observed=False)
def CloseDevice(device: Device) -> None:  # noqa: N802
    """`ttnn.close_device` by another name (ttnn.CloseDevice)."""
    close_device(device)


@host_function(observed=False)
def CloseDevices(devices: Mapping[int, Device]) -> None:  # noqa: N802
    """Close what `CreateDevices` opened (ttnn.CloseDevices).

    Raises:
        ArgumentError: It is something else.
    """
    for device in devices.values():
        close_device(device)


@host_function(in_programs=True, observed=False, no_effect="there is no device profiler; time the calls")
def ReadDeviceProfiler(device: Device) -> None:  # noqa: N802
    """Read nothing: no device keeps a profile (ttnn.ReadDeviceProfiler).

    Raises:
        ArgumentError: It is no device.
        DeviceError: It is closed.
    """
    device.require_open("ReadDeviceProfiler")
