"""Semaphores of chips, by which cores wait for each other; created and checked, but without effect on a CPU."""

from __future__ import annotations

from itertools import count

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.tensor_spec import BufferType, CoreRangeSet
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.lazy_names import NO_LINKS

_NUMBERS = count(1)


class GlobalSemaphore:
    """A semaphore of the cores of a device, for which nothing waits on a CPU (ttnn.GlobalSemaphore).

    Attributes:
        device: The device.
        cores: The cores that share the semaphore.
        value: The current value.
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
    """Create a semaphore of these cores (ttnn.create_global_semaphore).

    Raises:
        ArgumentError: An argument has the wrong type.
        DeviceError: The device is closed.
    """
    mesh_device.require_open("create_global_semaphore")
    return GlobalSemaphore(mesh_device, cores, _value(initial_value, "`initial_value`"))


@host_function(observed=False, no_effect=NO_LINKS)
def reset_global_semaphore_value(global_semaphore: GlobalSemaphore, reset_value: int = 0) -> None:
    """Set the value of a semaphore (ttnn.reset_global_semaphore_value).

    Raises:
        ArgumentError: An argument has the wrong type.
    """
    global_semaphore.value = _value(reset_value, "`reset_value`")


def _value(value: int, what: str) -> int:
    if not 0 <= value < 1 << 32:
        raise ArgumentError(f"{what} must be a number of 32 bits, got {value}")
    return value
