"""A device: a target whose rules its tensors obey, and the memory that they lie in."""

from __future__ import annotations

from typing import ClassVar

from ttnn_jit.errors import DeviceError
from ttnn_jit.runtime.buffer import HOST_POOL, Buffer
from ttnn_jit.target import PRESETS, SystemDesc
from ttnn_jit.tensor_spec import CoreGrid


class Device:
    """An open device. Opening and closing take microseconds and compile nothing.

    Attributes:
        target: The system description that its tensors' programs obey.
        device_id: The number it was opened with.
        closed: Whether it was closed; its tensors can then no longer be used.
        open_target: The identity of `target`, 0 once the device is closed: one comparison tells both to a warm call.
    """

    _implicit_cpu: ClassVar[Device | None] = None

    def __init__(self, target: SystemDesc, device_id: int = 0) -> None:
        self.target = target
        self.device_id = device_id
        self.closed = False
        self.open_target = id(target)
        self.pool = HOST_POOL

    @property
    def core_grid(self) -> CoreGrid:
        """Columns (x) and rows (y) of cores."""
        rows, columns = self.target.grid
        return CoreGrid(x=columns, y=rows)

    def allocate(self, nbytes: int) -> Buffer:
        """Memory with unspecified contents.

        Raises:
            DeviceError: The device is closed.
        """
        self.require_open("allocate")
        return self.pool.allocate(nbytes)

    def require_open(self, operation: str) -> None:
        """Refuse to go on with `operation` on a closed device.

        Raises:
            DeviceError: The device is closed.
        """
        if self.closed:
            raise DeviceError(
                f"{operation}: {self} is closed",
                help="open it again with `ttnn.open_device`, and make the tensors anew",
            )

    def close(self) -> None:
        """Close the device; a second close does nothing."""
        self.closed = True
        self.open_target = 0

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Device({self.target.name}, id={self.device_id})"

    @classmethod
    def implicit_cpu(cls) -> Device:
        """The cpu device of calls with torch and numpy arguments; made anew if someone closed it."""
        if cls._implicit_cpu is None or cls._implicit_cpu.closed:
            cls._implicit_cpu = Device(PRESETS["cpu"])
        return cls._implicit_cpu


def implicit_cpu_device() -> Device:
    """The cpu device of calls with torch and numpy arguments."""
    return Device.implicit_cpu()
