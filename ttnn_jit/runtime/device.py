"""A device: a target whose rules its tensors obey, and the memory that they lie in."""

from __future__ import annotations

from typing import ClassVar

from ttnn_jit.diagnostics.errors import DeviceError
from ttnn_jit.runtime.buffer import HOST_POOL, Buffer
from ttnn_jit.runtime.l1 import L1Account, MemoryView, in_l1
from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.specs.arch import Arch
from ttnn_jit.specs.target import PRESETS, SystemDesc
from ttnn_jit.specs.tensor_spec import CoreCoord, CoreGrid, TensorSpec, check_memory_of_device

ONE_DEVICE_HELP = (
    "move one: `ttnn.to_device(ttnn.from_device(tensor), device)`; a mesh's tensors meet those of that mesh only"
)


class _NoPrograms(set[str]):
    """A program cache that is turned off: it never asks for an entry, and has none."""

    def __contains__(self, _: object) -> bool:
        return True


class Device:
    """An open device. Opening and closing take microseconds and compile nothing.

    Attributes:
        target: The system description that its tensors' programs obey.
        device_id: The number it was opened with.
        closed: Whether it was closed; its tensors can then no longer be used.
        open_target: The identity of `target`, 0 once the device is closed: one comparison tells both to a warm call.
        l1: The account of what lies in the L1 of its cores.
        programs: Hashes of the programs that ran on it: its program cache, as ttnn counts it.
        shape: The mesh that a single device is: (1, 1).
    """

    shape = MeshShape(1, 1)

    _implicit_cpu: ClassVar[Device | None] = None

    def __init__(self, target: SystemDesc, device_id: int = 0) -> None:
        self.target = target
        self.device_id = device_id
        self.closed = False
        self.open_target = id(target)
        self.pool = HOST_POOL
        self.l1 = L1Account(target)
        self.programs: set[str] = set()

    def id(self) -> int:
        """The number it was opened with."""
        return self.device_id

    def arch(self) -> Arch:
        """The target's architecture."""
        return Arch(self.target.arch)

    def get_device_ids(self) -> list[int]:
        """The numbers of the devices in the mesh: its own."""
        return [self.device_id]

    def is_blackhole(self) -> bool:
        """Whether the target is a Blackhole chip."""
        return self.target.arch == "blackhole"

    def get_num_devices(self) -> int:
        """Devices in the mesh: one."""
        return 1

    def get_submeshes(self) -> list[Device]:
        """Meshes that were made of parts of this one: none."""
        return []

    def compute_with_storage_grid_size(self) -> CoreCoord:
        """Columns and rows of cores, as ttnn's own code asks for them."""
        rows, columns = self.target.grid
        return CoreCoord(columns, rows)

    def num_program_cache_entries(self) -> int:
        """Distinct programs that ran here since the program cache was enabled or cleared: eager and jitted ones."""
        return len(self.programs)

    def enable_program_cache(self) -> None:
        """Count programs (again)."""
        if isinstance(self.programs, _NoPrograms):
            self.programs = set()

    def clear_program_cache(self) -> None:
        """Count from zero. Compiled programs are kept: compiling again would give the same."""
        self.programs.clear()

    def disable_and_clear_program_cache(self) -> None:
        """Stop counting."""
        self.programs = _NoPrograms()

    def memory_view(self) -> MemoryView:
        """L1 core by core: bytes now, high-water marks, and the tensors that lie there."""
        return self.l1.view()

    @property
    def core_grid(self) -> CoreGrid:
        """Columns (x) and rows (y) of cores."""
        rows, columns = self.target.grid
        return CoreGrid(x=columns, y=rows)

    def allocate_tensor(self, spec: TensorSpec) -> Buffer:
        """Memory for a tensor of `spec`, entered into the account of L1 if it is to lie there.

        Raises:
            DeviceError: The device is closed.
            LayoutError: It is to lie where no tensor of a device does.
            L1CapacityError: It does not fit.
        """
        self.require_open("allocate")
        check_memory_of_device(spec.memory_config)
        if not in_l1(spec):
            return self.pool.allocate(spec.nbytes)
        lease = self.l1.lease(spec)
        buffer = self.pool.allocate(spec.nbytes)
        buffer.lease = lease
        return buffer

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
