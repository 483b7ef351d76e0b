"""The device of a program: what it says is the target's, for a program runs on every device of that target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.frontend.tensors.program_tensor import AbstractEmitter
from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.arch import Arch
from ttnn_jit.specs.tensor_spec import CoreCoord, CoreGrid


class ProgramDevice:
    """What ``x.device()`` is while a function is compiled.

    Attributes:
        recorder: What its calls are written down by, as those of a device that captures: elements are of a later time.
    """

    def __init__(self, emitter: AbstractEmitter) -> None:
        self._emitter = self.recorder = emitter
        self._rows, self._columns = emitter.builder.target.grid

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """So that ``isinstance(x.device(), ttnn.Device)`` says what it says at run time."""
        return Device

    def arch(self) -> Arch:
        """The target's architecture."""
        return Arch(self._emitter.builder.target.arch)

    def is_blackhole(self) -> bool:
        """Whether the target is a Blackhole chip."""
        return self._emitter.builder.target.arch == "blackhole"

    def get_num_devices(self) -> int:
        """Devices that the program runs on: one."""
        return 1

    def compute_with_storage_grid_size(self) -> CoreCoord:
        """Columns and rows of cores."""
        return CoreCoord(self._columns, self._rows)

    def dram_grid_size(self) -> CoreCoord:
        """Columns and rows of the banks of DRAM."""
        return CoreCoord(self._emitter.builder.target.dram_banks, 1)

    @property
    def core_grid(self) -> CoreGrid:
        """Columns (x) and rows (y) of cores."""
        return CoreGrid(x=self._columns, y=self._rows)

    def __eq__(self, other: object) -> bool:
        """Whether both are the program's.

        Raises:
            CompileError: `other` is a device, and the program runs on every one of its target.
        """
        if isinstance(other, Device):
            raise CompileError(
                "whether the program runs on this device is not known before the call",
                location=self._emitter.location(),
                help="compare devices outside of the function",
            )
        return isinstance(other, ProgramDevice)

    __hash__ = object.__hash__

    def __ttnn_call__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Write what `function` makes on this device into the program."""
        return self._emitter.call(function, args, kwargs)

    def require_open(self, *_: object) -> None:
        """Nothing: whether it is open, which queues it has, and what it waits for, are matters of the call."""

    require_host_access = require_queue = require_open

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise CompileError(
            f"a device says no `{name}` while a function is compiled: the program runs on every device of its target",
            location=self._emitter.location(),
            help="it has `arch`, `core_grid`, `compute_with_storage_grid_size`, `dram_grid_size`, `is_blackhole` and "
            "`get_num_devices`; "
            "ask for others before the call",
        )


def as_program_argument(emitter: AbstractEmitter, value: Any) -> Any:
    """An argument of a function of the host API; a device is that of the program."""
    return ProgramDevice(emitter) if isinstance(value, Device) else value
