"""Parts of a chip, and the semaphores by which its cores wait for each other: kept and checked, of no use to a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.tensor_spec import BufferType, CoreRangeSet, check_kind, check_whole_number

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
    check_kind(mesh_device, Device, "`mesh_device`")
    check_kind(cores, CoreRangeSet, "`cores`")
    check_kind(buffer_type, BufferType, "`buffer_type`")
    mesh_device.require_open("create_global_semaphore")
    return GlobalSemaphore(mesh_device, cores, _value(initial_value, "`initial_value`"))


def reset_global_semaphore_value(global_semaphore: GlobalSemaphore, reset_value: int = 0) -> None:
    """Set a semaphore (ttnn.reset_global_semaphore_value).

    Raises:
        ArgumentError: An argument is of another kind.
    """
    check_kind(global_semaphore, GlobalSemaphore, "`global_semaphore`")
    global_semaphore.value = _value(reset_value, "`reset_value`")


def _value(value: int, what: str) -> int:
    check_whole_number(value, what)
    if not 0 <= value < 1 << 32:
        raise ArgumentError(f"{what} must be a number of 32 bits, got {value}")
    return value


@dataclass(frozen=True)
class SubDeviceId:
    """The number of a part of a chip (ttnn.SubDeviceId)."""

    number: int

    def __post_init__(self) -> None:
        check_whole_number(self.number, "the number of SubDeviceId")


@dataclass(frozen=True)
class SubDeviceManagerId:
    """The number of a division of a chip into parts (ttnn.SubDeviceManagerId)."""

    number: int


@dataclass(frozen=True)
class SubDevice:
    """Cores that run programs of their own; on a CPU all programs run in order (ttnn.SubDevice)."""

    cores: tuple[CoreRangeSet, ...]

    def __init__(self, cores: Sequence[CoreRangeSet]) -> None:
        for each in cores:
            check_kind(each, CoreRangeSet, "the cores of SubDevice")
        object.__setattr__(self, "cores", tuple(cores))
