"""What a scheduled module's function does on the host, launch by launch: what every step of host_steps.py takes."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from xdsl.ir import Operation

from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel
from ttnn_jit.codegen.schedules.kernel import Kernel
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.dialects.d2m import GenericOp
from ttnn_jit.dialects.declared_ops import DeclaredOp
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.ops import COPY
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Again:
    """Rounds of a launch, in which it does the same further on, or for more: its part in a `Repeat` of the plan.

    Attributes:
        count: Of rounds, at least one.
        steps: Per operand, the elements from one round to the next.
        rounds: What a round is; (): its loops, once.
        growth: Per loop of the kernel, outermost first, how much longer it is in the next round.
    """

    count: int
    steps: tuple[int, ...]
    rounds: Rounds = ()
    growth: tuple[int, ...] = ()


Rounds = tuple[LaunchLoops | Again, ...]
"""What a launch runs, one after the other: loops of its kernel that start elsewhere or are shorter, and repeats."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """That what makes tensors for others runs for one block after the other; what a block is of stays in a cache.

    Attributes:
        producers: What makes a block for others, by their operations; or packs what these have made.
        consumer: Likewise, in whose loop it does.
        loop: What of the consumer's there are blocks of.
        size: How many a block has at most.
        count: Of blocks; 0 where the consumer's kernel chooses these.
        share: Of their elements, what is computed; 1: all.
    """

    producers: tuple[str, ...]
    consumer: str
    loop: str
    size: int = 0
    count: int = 0
    share: float = 1

    @property
    def remark(self) -> str:
        """What `explain()` says of it."""
        loop = f"({', '.join(self.producers)}) in the loop of ({self.consumer}) over {self.loop}"
        if not self.count:
            return loop
        part = "" if self.share == 1 else f", {self.share:.0%} of their columns"
        return f"{loop}, in {self.count} blocks of {self.size} {self.loop}{part}"


@dataclass(frozen=True)
class HostLaunch:
    """One launch, or one for each of several blocks.

    Attributes:
        ops: The module's ops that it runs, in order.
        bound: What it reads, computes and writes, over which loops.
        blocks: The blocks that it runs in, with launches beside it; None: all at once.
        rounds: What it runs for them, alike in number to the others'; (): its kernel's loops, once.
        converts: The blocks for which it unpacks, and packs, block floats itself; None: it does not.
    """

    ops: tuple[Operation, ...]
    bound: BoundKernel
    blocks: Blocks | None = None
    rounds: Rounds = ()
    converts: Blocks | None = None

    @property
    def remark(self) -> str:
        """What became of its loops; "" for one loop over all elements."""
        blocks = (each.remark for each in (self.converts, self.blocks) if each)
        return ", ".join(filter(None, (self.bound.kernel.remark, *blocks)))

    @property
    def operations(self) -> tuple[str, ...]:
        """Python names of what it runs; a copy, where it only moves elements."""
        names = (name for op in self.ops for name in _names_in(op))
        return tuple(names) or (COPY.name,)

    @property
    def name(self) -> str:
        """Its operations as one name."""
        return " -> ".join(self.operations)


LaunchIndices = Mapping[PlanValue, list[int]]
"""Where launches stand, by a value that they read, or that they write; of others, nowhere."""


def launch_indices(launches: Sequence[HostLaunch]) -> tuple[LaunchIndices, LaunchIndices]:
    """The indices of what reads each value, and of what writes it, in order.

    Steps that would ask every launch for every value take quadratic time.
    """
    readers, writers = defaultdict[PlanValue, list[int]](list), defaultdict[PlanValue, list[int]](list)
    for index, launch in enumerate(launches):
        for indices, operands in ((readers, launch.bound.inputs), (writers, launch.bound.outputs)):
            for value in dict.fromkeys(operand.value for operand in operands):
                indices[value].append(index)
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
        indices, _ = launch_indices(self.launches)
        returned = set(self.results)

        def read(value: PlanValue) -> set[Operation | Caller]:
            found: set[Operation | Caller] = {self.launches[index].ops[-1] for index in indices[value]}
            return found | {Caller.CALLER} if value in returned else found

        return read

    def with_kernels(self, changed: Callable[[Kernel], Kernel]) -> HostPlan:
        """Every launch with the kernel that `changed` gives for its own."""
        made = ((each, replace(each.bound, kernel=changed(each.bound.kernel))) for each in self.launches)
        return replace(self, launches=tuple(replace(launch, bound=bound) for launch, bound in made))
