"""A core, and the threads that run its kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from ttnn_jit.interpreters.kernel_level.circular_buffer import CircularBuffer
from ttnn_jit.interpreters.kernel_level.dst_registers import DstRegisters
from ttnn_jit.interpreters.kernel_level.faults import Place, fail
from ttnn_jit.interpreters.kernel_level.memory import AddressSpace, Pages
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import Numerics

Array = np.ndarray[Any, Any]

SEMAPHORE_BYTES = 16
"""The bytes between semaphores in L1."""


@dataclass(frozen=True)
class Transfer:
    """A read or write of the NoC that no barrier has completed.

    Attributes:
        op: The op that began it.
        source: The bytes that it reads.
        target: The bytes that it writes, one array for each place.
        start: The address in the core's L1 that it reads or writes.
        size: The bytes there.
        by: The thread that began it, whose barriers complete it.
        tag: The transaction to which it belongs; None: to none.
    """

    op: Operation
    source: Array
    target: Sequence[Array]
    start: int
    size: int
    by: object
    tag: int | None = None

    def overlaps(self, start: int, size: int) -> bool:
        """Whether it touches bytes of the core's L1."""
        return self.start < start + size and start < self.start + self.size

    def complete(self) -> None:
        """Moves the bytes."""
        for each in self.target:
            each[...] = self.source


class Core:
    """A core: its L1 and what is in it.

    Args:
        row: Its row in the grid of the chip.
        column: Its column.
        dst: Its DST registers.

    Attributes:
        space: The address space of its L1.
        buffers: Its circular buffers by number.
        reads: Reads into its L1 that no barrier has completed.
        writes: Writes from its L1 that no barrier has completed.
    """

    def __init__(self, row: int, column: int, dst: DstRegisters) -> None:
        self.row = row
        self.column = column
        self.dst = dst
        self.space = AddressSpace()
        self.buffers: dict[int, CircularBuffer] = {}
        self.reads: list[Transfer] = []
        self.writes: list[Transfer] = []


@dataclass(frozen=True)
class CorePlace:
    """A core, as the place of an error that no thread is at fault for."""

    place: tuple[int, int]

    @property
    def text(self) -> str:
        """The place for messages."""
        return f"core {self.place}"


@dataclass(frozen=True)
class Argument:
    """An argument that the host passes to a kernel.

    Attributes:
        kind: Its kind, as `ttkernel.arg_type` names it.
        value: A circular buffer's number, an address, a number, or the pages behind a tensor accessor.
    """

    kind: str
    value: Any


@dataclass(frozen=True)
class Arguments:
    """The arguments of a kernel."""

    common: Sequence[Argument]
    own: Sequence[Argument]
    compile_time: Sequence[Argument]


@dataclass(frozen=True)
class Configuration:
    """How compute kernels compute.

    Attributes:
        numerics: How results are rounded.
        precision: The precision of products, as the IR spells it; None: exact.
        math: The arithmetic.
    """

    numerics: Numerics
    precision: str | None
    math: NumpyVector


class Chip:
    """The cores that a launch runs on, by row and column."""

    def __init__(self, banks: int) -> None:
        self.banks = banks
        self.cores: dict[tuple[int, int], Core] = {}
        self.tensors: list[Pages] = []

    def core(self, row: int, column: int, op: Operation, place: Place) -> Core:
        """The core at a place."""
        found = self.cores.get((row, column))
        if found is None:
            fail(op, place, f"no kernel runs on the core ({row}, {column}), whose L1 it names")
        return found


class Thread:
    """A kernel that runs on a core.

    Args:
        name: The kernel.
        core: The core.
        chip: All cores of the launch.
        arguments: Its arguments.
        configuration: How it computes.

    Attributes:
        values: The values of its ops.
        prepared: What the engines were set up for last: unit -> op.
        resumed: How often it went on after it had to wait.
        trips: The trips of its loops that began.
    """

    def __init__(self, name: str, core: Core, chip: Chip, arguments: Arguments, configuration: Configuration) -> None:
        self.name = name
        self.core = core
        self.chip = chip
        self.arguments = arguments
        self.configuration = configuration
        self.values: dict[SSAValue, Any] = {}
        self.prepared: dict[str, str] = {}
        self.resumed = 0
        self.trips = 0

    @property
    def text(self) -> str:
        """The place for messages."""
        return f"@{self.name} on core ({self.core.row}, {self.core.column})"


def by_name(op: Operation, named: Mapping[str, Sequence[SSAValue]], name: str) -> SSAValue:
    """The operand of a name, which the op has."""
    values = named.get(name, ())
    assert len(values) == 1, f"{op.name} has one operand {name}"
    return values[0]
