"""A launch: kernels on a rectangle of cores, with what the host passes to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.interpreters.kernel_level import dataflow_steps, engine_steps, scalar_steps, semaphore_steps
from ttnn_jit.interpreters.kernel_level.circular_buffer import CircularBuffer
from ttnn_jit.interpreters.kernel_level.dst_registers import DstRegisters
from ttnn_jit.interpreters.kernel_level.kernel_core import Arguments, Chip, Configuration, Core, CorePlace, Thread
from ttnn_jit.interpreters.kernel_level.kernel_steps import Step, Translation
from ttnn_jit.interpreters.kernel_level.memory import Pages, TileFormat
from ttnn_jit.interpreters.kernel_level.scheduler import Started, run_all
from ttnn_jit.interpreters.kernel_level.tile_steps import steps_of_tiles
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType
from ttnn_jit.specs.target import L1_BASE, SystemDesc

SEMAPHORES = 64
"""Where semaphores begin in L1: below everything that programs place there."""


@dataclass(frozen=True)
class HostBuffer:
    """A circular buffer that the host allocates on every core.

    Attributes:
        address: Where it lies.
        pages: The pages that it holds.
        page_bytes: The size of a page.
        dtype: The element type of its tiles; None if its pages are no tiles.
        alias: The tensor whose shard on each core it is; None: it has memory of its own.
    """

    address: int
    pages: int
    page_bytes: int
    dtype: DataType | None
    alias: Pages | None = None


@dataclass(frozen=True)
class KernelConfig:
    """A kernel of a launch.

    Attributes:
        name: Its function.
        origin: The first row and column of the cores that run it.
        size: Their rows and columns.
        arguments: What the host passes to it.
        computes: Whether it runs on the engines.
        is_wide: Whether tiles of DST have 32 bits.
        is_full: Whether DST is one section.
        fidelity: The name of the fidelity of products.
    """

    name: str
    origin: tuple[int, int]
    size: tuple[int, int]
    arguments: Arguments
    computes: bool
    is_wide: bool = False
    is_full: bool = False
    fidelity: str = "HiFi4"


class Kernels:
    """The kernel functions of a module, translated when one first runs.

    Args:
        functions: The functions by name.
        target: The target.
    """

    def __init__(self, functions: Mapping[str, FuncOp], target: SystemDesc) -> None:
        self._functions = functions
        self._target = target
        self._steps: dict[str, tuple[list[Step], Operation]] = {}
        engine = engine_steps.STEPS
        makers = {**scalar_steps.STEPS, **dataflow_steps.STEPS, **semaphore_steps.STEPS, **engine}
        makers |= steps_of_tiles(engine)
        self._translation = Translation(makers)
        self._math = NumpyVector()

    def run(
        self,
        op: Operation,
        configs: Sequence[KernelConfig],
        buffers: Mapping[int, HostBuffer],
        tensors: Sequence[Pages],
        semaphores: Mapping[int, int],
    ) -> None:
        """Runs a launch.

        Args:
            op: The launch.
            configs: Its kernels.
            buffers: Its circular buffers by number.
            tensors: The tensors on the device.
            semaphores: The initial value of each semaphore, by its address.

        Raises:
            KernelError: A kernel breaks the protocol, or they wait for each other.
            CompileError: A kernel has an op that the interpreter does not know, or there is no such kernel.
        """
        chip = Chip(self._target.dram_banks)
        chip.tensors = [*tensors]
        wide = {config.is_wide for config in configs if config.computes}
        full = {config.is_full for config in configs if config.computes}
        dst = _DstShape.of(self._target, is_wide=True in wide, is_full=True in full)
        for config in configs:
            for row, column in _cores(config):
                if (row, column) not in chip.cores:
                    chip.cores[row, column] = self._core(op, (row, column), dst, buffers, tensors, semaphores)
        started = [
            Started.of(
                self._thread(config, chip.cores[place], chip), *self._translated(config, op), computes=config.computes
            )
            for config in configs
            for place in _cores(config)
        ]
        run_all(started)
        for place, core in chip.cores.items():
            for buffer in core.buffers.values():
                buffer.require_empty(CorePlace(place))

    def function(self, name: str, op: Operation) -> FuncOp:
        """The function of a kernel that a launch names.

        Raises:
            CompileError: There is none.
        """
        if name not in self._functions:
            raise refusal(op, f"there is no kernel @{name}")
        return self._functions[name]

    def _translated(self, config: KernelConfig, op: Operation) -> tuple[list[Step], Operation]:
        known = self._steps.get(config.name)
        if known is None:
            block = self.function(config.name, op).body.block
            end = block.last_op
            assert end is not None, "a function has a terminator"
            known = self._steps[config.name] = self._translation.steps(block), end
        return known

    def _thread(self, config: KernelConfig, core: Core, chip: Chip) -> Thread:
        precision = f"{config.fidelity}, fp32_dest_acc_en" if config.is_wide else config.fidelity
        exact = not self._target.tile_aligned_only
        configuration = Configuration(self._target.numerics, None if exact else precision, self._math)
        return Thread(config.name, core, chip, config.arguments, configuration)

    def _place(self, op: Operation, core: Core, address: int, buffer: CircularBuffer) -> None:
        """Puts a circular buffer into the L1 of a core.

        Raises:
            CompileError: It does not lie in what programs may use, or where something else lies.
        """
        end, size = L1_BASE + self._target.l1_bytes, buffer.data.size
        if not L1_BASE <= address <= end - size:
            raise refusal(
                op, f"cb {buffer.port} takes {size:,} bytes from {address} on, and L1 is from {L1_BASE} to {end}"
            )
        other = core.space.add(address, buffer.data.reshape(-1), buffer)
        if other is not None:
            what = f"cb {other.owner.port}" if isinstance(other.owner, CircularBuffer) else "a tensor"
            raise refusal(op, f"cb {buffer.port}, {size:,} bytes from {address} on, overlaps {what} at {other.start}")

    def _core(
        self,
        op: Operation,
        place: tuple[int, int],
        dst: _DstShape,
        buffers: Mapping[int, HostBuffer],
        tensors: Sequence[Pages],
        semaphores: Mapping[int, int],
    ) -> Core:
        row, column = place
        core = Core(row, column, DstRegisters(dst.capacity, dst.sections, dst.dtype))
        for each in tensors:
            if each.space == "l1" and row < each.data.shape[0] and column < each.data.shape[1]:
                core.space.add(each.address, each.data[row, column].reshape(-1), each)
        for number, buffer in buffers.items():
            core.buffers[number] = made = _made(op, buffer, number, place)
            if buffer.alias is None:
                self._place(op, core, buffer.address, made)
        for address, value in semaphores.items():
            core.space.add(address, np.frombuffer(bytearray(value.to_bytes(4, "little")), np.uint8), "a semaphore")
        return core


@dataclass(frozen=True)
class _DstShape:
    """The tiles of a section of DST, the sections, and the element type of floats."""

    capacity: int
    sections: int
    dtype: DataType

    @staticmethod
    def of(target: SystemDesc, *, is_wide: bool, is_full: bool) -> _DstShape:
        capacity = target.dst_capacity(wide=is_wide)
        halved = target.dst_double_buffered and not is_full
        dtype = COMPUTE_TYPE if is_wide else DataType.BFLOAT16
        return _DstShape(
            capacity if halved or not target.dst_double_buffered else 2 * capacity, 2 if halved else 1, dtype
        )


def _cores(config: KernelConfig) -> list[tuple[int, int]]:
    (row, column), (rows, columns) = config.origin, config.size
    return [(row + y, column + x) for y in range(rows) for x in range(columns)]


def _made(op: Operation, buffer: HostBuffer, number: int, place: tuple[int, int]) -> CircularBuffer:
    tile = None if buffer.dtype is None else TileFormat(buffer.dtype)
    if buffer.alias is None:
        data = np.full((buffer.pages, buffer.page_bytes), 255, np.uint8)
        return CircularBuffer(number, buffer.address, data, tile)
    shards = buffer.alias.data
    if place[0] >= shards.shape[0] or place[1] >= shards.shape[1]:
        raise refusal(op, f"the tensor of cb {number} has no shard on core {place}")
    made = CircularBuffer(number, buffer.address, shards[place], tile)
    made.is_alias = True
    return made
