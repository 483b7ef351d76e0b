"""What a scheduled module's function does on the host, launch by launch: what every step of host_steps.py takes."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from xdsl.ir import Operation

from ttnn_jit.codegen.bound_kernel import BoundKernel
from ttnn_jit.codegen.kernel import Kernel
from ttnn_jit.codegen.plan_value import PlanValue
from ttnn_jit.dialects.d2m import GenericOp
from ttnn_jit.dialects.declared_ops import DeclaredOp
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.ops import COPY
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class ScoreBlocks:
    """That launches which follow each other run for some rows after others (codegen/host/score_blocks.py).

    Attributes:
        heads: How many times there are `rows`.
        rows: Of one head; no block has rows of two.
        columns: Of a row.
        size: Rows of a block, of the last one of a head the rest.
        kept: The values of which a block is in memory at a time.
        seen: Per block of a head, last rows first, the first of the columns that take part, and how many they are;
            none: all do, and first rows are first.
    """

    heads: int
    rows: int
    columns: int
    size: int
    kept: tuple[PlanValue, ...]
    seen: tuple[tuple[int, int], ...] = ()

    @property
    def of_head(self) -> list[tuple[int, int]]:
        """Per block of a head its first row and how many it has.

        The first one has as many as any: it writes all that the others read, or did not write.
        """
        if not self.seen:
            return [(row, min(self.size, self.rows - row)) for row in range(0, self.rows, self.size)]
        ends = range(self.rows, 0, -self.size)
        return [(max(0, end - self.size), min(end, self.size)) for end in ends]

    @property
    def blocks(self) -> Iterator[tuple[int, int, tuple[int, int] | None]]:
        """Per block its first row, of all of them, how many it has, and which columns take part; None: all."""
        for head in range(self.heads):
            for number, (row, count) in enumerate(self.of_head):
                whole = not self.seen or (head == 0 and number == 0)
                yield head * self.rows + row, count, None if whole else self.seen[number]

    @property
    def remark(self) -> str:
        """What `explain()` says of it."""
        text = f"in {self.heads * len(self.of_head)} blocks of {self.size} rows"
        if not self.seen:
            return text
        met = sum(count * own for (_, count), (_, own) in zip(self.of_head, self.seen, strict=True))
        return f"{text}, {met / (self.rows * self.columns):.0%} of their columns"


@dataclass(frozen=True)
class HostLaunch:
    """One launch, or one for each of several blocks of rows.

    Attributes:
        ops: The module's ops that it runs, in order.
        kernel: What it reads, computes and writes, over which loops.
        blocks: The blocks of rows that it runs in, with launches beside it; None: all at once.
    """

    ops: tuple[Operation, ...]
    bound: BoundKernel
    blocks: ScoreBlocks | None = None

    @property
    def remark(self) -> str:
        """What became of its loops; "" for one loop over all elements."""
        return ", ".join(filter(None, (self.bound.kernel.remark, self.blocks.remark if self.blocks else "")))

    @property
    def operations(self) -> tuple[str, ...]:
        """Python names of what it runs; a copy, where it only moves elements."""
        names = (name for op in self.ops for name in _names_in(op))
        return tuple(names) or (COPY.name,)


Places = Mapping[PlanValue, list[int]]
"""Where launches stand, by a value that they read, or that they write; of others, nowhere."""


def places_by_value(launches: Sequence[HostLaunch]) -> tuple[Places, Places]:
    """The places of what reads each value, and of what writes it, in order.

    Steps that would ask every launch for every value take quadratic time.
    """
    readers, writers = defaultdict[PlanValue, list[int]](list), defaultdict[PlanValue, list[int]](list)
    for place, launch in enumerate(launches):
        for places, operands in ((readers, launch.bound.inputs), (writers, launch.bound.outputs)):
            for value in dict.fromkeys(operand.value for operand in operands):
                places[value].append(place)
    return readers, writers


class Caller(enum.Enum):
    """What reads the values that a function returns."""

    CALLER = enum.auto()


Readers = Callable[[PlanValue], set[Operation | Caller]]


def _names_in(op: Operation) -> Iterator[str]:
    for inner in (op.lowered_as if isinstance(op, GenericOp) else op).walk():
        if isinstance(inner, DeclaredOp):
            yield inner.operation.name


@dataclass(frozen=True)
class HostPlan:
    """The launches of a program, in order.

    Attributes:
        name: Of the function.
        launches: What runs.
        arguments: The tensors that the caller passes.
        results: Those that it gets, arguments among them.
        updates: Per argument that the function writes into, its index and that of the result that it becomes.
        written: Every tensor that a kernel of the module writes; where launches were joined, some are in no memory.
        isa: The vectors that it is made for; None where another compiler chooses.
    """

    name: str
    launches: tuple[HostLaunch, ...]
    arguments: tuple[PlanValue, ...]
    results: tuple[PlanValue, ...]
    updates: tuple[tuple[int, int], ...]
    written: tuple[PlanValue, ...]
    isa: HostIsa | None = None

    @property
    def readers(self) -> Readers:
        """By value, what reads it: launches, each as its last op, and the caller.

        The ops before its last are copies that a launch reads through, as others may too.
        """
        places, _ = places_by_value(self.launches)
        returned = set(self.results)

        def read(value: PlanValue) -> set[Operation | Caller]:
            found: set[Operation | Caller] = {self.launches[place].ops[-1] for place in places[value]}
            return found | {Caller.CALLER} if value in returned else found

        return read

    def with_kernels(self, changed: Callable[[Kernel], Kernel]) -> HostPlan:
        """Every launch with the kernel that `changed` gives for its own."""
        bound = (replace(each.bound, kernel=changed(each.bound.kernel)) for each in self.launches)
        launches = zip(self.launches, bound, strict=True)
        return replace(self, launches=tuple(replace(launch, bound=own) for launch, own in launches))
