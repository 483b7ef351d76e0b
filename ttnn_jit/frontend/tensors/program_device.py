"""The device of a program: it describes the target, because a program runs on every device of that target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.frontend.tensors.program_tensor import AbstractEmitter
from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.arch import Arch
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.tensor_spec import CoreCoord, CoreGrid


class ProgramDevice:
    """The value of ``x.device()`` while a function is compiled.

    Attributes:
        recorder: Records calls on the device, as for a device that captures a trace: elements exist only later.
    """

    def __init__(self, emitter: AbstractEmitter) -> None:
        self._emitter = self.recorder = emitter
        self._rows, self._columns = emitter.builder.target.grid

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """`Device`, so that ``isinstance(x.device(), ttnn.Device)`` is true, as at run time."""
        return Device

    def arch(self) -> Arch:
        """The target's architecture."""
        return Arch(self._emitter.builder.target.arch)

    def is_blackhole(self) -> bool:
        """Whether the target is a Blackhole chip."""
        return self._emitter.builder.target.arch == "blackhole"

    def get_num_devices(self) -> int:
        """The number of devices of the mesh."""
        return self.shape.mesh_size()

    @property
    def shape(self) -> MeshShape:
        """The shape of the mesh."""
        return self.devices.shape

    @property
    def devices(self) -> MeshDevices:
        """The devices that run the program."""
        return self._emitter.builder.devices

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
        """Whether `other` is the program's device too.

        Raises:
            CompileError: `other` is a real device; the program runs on every device of its target.
        """
        if type(other) is ProgramDevice:  # whose class is `Device` too, for `isinstance`
            return True
        if isinstance(other, Device):
            raise CompileError(
                "whether the program runs on this device is not known before the call",
                location=self._emitter.location(),
                help="compare devices outside of the function",
            )
        return False

    __hash__ = object.__hash__

    def __ttnn_call__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Write the call of `function` on this device into the program."""
        return self._emitter.call(function, args, kwargs)

    def require_open(self, *_: object) -> None:
        """Does nothing: open devices, queues and events are checked at the call."""

    require_host_access = require_queue = require_open

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise CompileError(
            f"`{name}` of a device is not known while a function is compiled: the program runs on every device of its "
            "target",
            location=self._emitter.location(),
            help="it has `arch`, `core_grid`, `compute_with_storage_grid_size`, `dram_grid_size`, `is_blackhole`, "
            "`shape` and `get_num_devices`; read others before the call",
        )


def as_program_argument(emitter: AbstractEmitter, value: Any) -> Any:
    """`value` as an argument of a host API function in a program: a device becomes the program's device."""
    return ProgramDevice(emitter) if isinstance(value, Device) else value
