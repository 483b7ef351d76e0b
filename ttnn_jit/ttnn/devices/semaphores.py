"""Semaphores by which cores of chips wait for each other: kept and checked, of no use to a CPU."""

from __future__ import annotations

from itertools import count

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.tensor_spec import BufferType, CoreRangeSet
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.lazy_names import NO_LINKS

_NUMBERS = count(1)


class GlobalSemaphore:
    """A number that cores of a device wait for; nobody does on a CPU (ttnn.GlobalSemaphore).

    Attributes:
        device: The device.
        cores: That wait for it.
        value: What it was set to last.
    """

    def __init__(self, device: Device, cores: CoreRangeSet, value: int) -> None:
        self.device = device
        self.cores = cores
        self.value = value
        self._number = next(_NUMBERS)

    def __repr__(self) -> str:
        return f"GlobalSemaphore({self._number} of {self.device}, value={self.value})"


@host_function(observed=False, aliases={"mesh_device": "device"}, no_effect=NO_LINKS)
def create_global_semaphore(
    mesh_device: Device,
    cores: CoreRangeSet,
    initial_value: int,
    buffer_type: BufferType = BufferType.L1,
) -> GlobalSemaphore:
    """A semaphore of these cores (ttnn.create_global_semaphore).

    Raises:
        ArgumentError: An argument is of another kind.
        DeviceError: The device is closed.
    """
    mesh_device.require_open("create_global_semaphore")
    return GlobalSemaphore(mesh_device, cores, _value(initial_value, "`initial_value`"))


@host_function(observed=False, no_effect=NO_LINKS)
def reset_global_semaphore_value(global_semaphore: GlobalSemaphore, reset_value: int = 0) -> None:
    """Set a semaphore (ttnn.reset_global_semaphore_value).

    Raises:
        ArgumentError: An argument is of another kind.
    """
    global_semaphore.value = _value(reset_value, "`reset_value`")


def _value(value: int, what: str) -> int:
    if not 0 <= value < 1 << 32:
        raise ArgumentError(f"{what} must be a number of 32 bits, got {value}")
    return value
