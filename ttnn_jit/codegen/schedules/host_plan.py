"""The plan of a scheduled function on the host, launch by launch; each step of host_steps.py takes and gives one."""

from __future__ import annotations

import enum
import functools
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from xdsl.ir import Operation

from ttnn_jit.codegen.bodies.steps import Constant
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel
from ttnn_jit.codegen.schedules.device_exchange import RankExchange
from ttnn_jit.codegen.schedules.kernel import Kernel
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.dialects.d2m import GenericOp
from ttnn_jit.dialects.declared_ops import DeclaredOp
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.ops import COPY
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.target import Numerics


@dataclass(frozen=True)
class RepeatedRounds:
    """Repeated rounds of a launch, its part in a `Repeat` of the plan: each round moves the operands or extends loops.

    Attributes:
        count: The number of rounds, at least one.
        steps: Per operand, the offset in elements from one round to the next.
        rounds: The contents of a round; (): the launch's loops, once.
        growth: Per loop of the kernel, outermost first, the growth of its extent per round.
    """

    count: int
    steps: tuple[int, ...]
    rounds: Rounds = ()
    growth: tuple[int, ...] = ()


Rounds = tuple[LaunchLoops | RepeatedRounds, ...]
"""The rounds of a launch in order: loops with other offsets or shorter extents, and repeated rounds."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Producers that run block by block inside a consumer's loop, so that a block stays in a cache.

    Attributes:
        producers: The names of the operations that compute a block, or pack it.
        consumer: The name of the consumer.
        loop: The name of the consumer's loop that is split into blocks.
        size: The most iterations of a block.
        count: The number of blocks; 0 where the consumer's kernel chooses it.
        share: The share of elements that is computed; 1: all.
    """

    producers: tuple[str, ...]
    consumer: str
    loop: str
    size: int = 0
    count: int = 0
    share: float = 1

    @property
    def remark(self) -> str:
        """The text for `explain()`."""
        loop = f"({', '.join(self.producers)}) in the loop of ({self.consumer}) over {self.loop}"
        if not self.count:
            return loop
        part = "" if self.share == 1 else f", {self.share:.0%} of their columns"
        return f"{loop}, in {self.count} blocks of {self.size} {self.loop}{part}"


@dataclass(frozen=True)
class HostLaunch:
    """One launch, or one launch per block.

    Attributes:
        ops: The module's ops that it runs, in order.
        bound: The kernel with its operands and loops.
        blocks: The blocks in which it runs together with other launches; None: it is not split.
        rounds: Its rounds, as many as those of the other launches in its blocks; (): its loops, once.
        converts: The blocks for which its kernel unpacks or packs block floats itself; None: it does not.
    """

    ops: tuple[Operation, ...]
    bound: BoundKernel
    blocks: Blocks | None = None
    rounds: Rounds = ()
    converts: Blocks | None = None

    @property
    def remark(self) -> str:
        """How its loops are scheduled; "" for one loop over all elements."""
        blocks = (each.remark for each in (self.converts, self.blocks) if each)
        return ", ".join(filter(None, (self.bound.kernel.remark, *blocks)))

    @property
    def operations(self) -> tuple[str, ...]:
        """The Python names of its operations; "copy" where it only moves elements."""
        names = (name for op in self.ops for name in _names_in(op))
        return tuple(names) or (COPY.name,)

    @property
    def name(self) -> str:
        """The names of its operations, joined."""
        return " -> ".join(self.operations)


LaunchIndices = Mapping[PlanValue, list[int]]
"""The indices of launches by a value that they read or write; empty for other values."""


def launch_indices(launches: Sequence[HostLaunch]) -> tuple[LaunchIndices, LaunchIndices]:
    """The indices of the readers and of the writers of each value, in order.

    One pass over the launches: asking every launch for every value would take quadratic time.
    """
    readers, writers = defaultdict[PlanValue, list[int]](list), defaultdict[PlanValue, list[int]](list)
    for index, launch in enumerate(launches):
        for indices, operands in ((readers, launch.bound.inputs), (writers, launch.bound.outputs)):
            for value in dict.fromkeys(operand.value for operand in operands):
                indices[value].append(index)
    return readers, writers


class Caller(enum.Enum):
    """The reader of the values that a function returns."""

    CALLER = enum.auto()


Readers = Callable[[PlanValue], set[Operation | Caller]]


def _names_in(op: Operation) -> Iterator[str]:
    for inner in (op.canonical_kernel if isinstance(op, GenericOp) else op).walk():
        if isinstance(inner, DeclaredOp):
            yield inner.operation.name


@dataclass(frozen=True)
class HostPlan:
    """The launches of a program, in order.

    Attributes:
        name: The name of the function.
        launches: The launches in execution order.
        arguments: The tensors that the caller passes.
        results: The tensors that the caller gets, which may be arguments.
        updates: Per argument that the function updates, its index and that of the result that replaces it.
        written: Every tensor that a kernel of the module writes; fusion leaves some of them without memory.
        isa: The vector ISA of the schedule; None where another compiler chooses.
        constants: The tensors of one element that launches read and that belong to the program.
        numerics: The numerics of the target.
        devices: The devices of a mesh that run the program; None for one device.
        whole: The indices of arguments of one device's plan that are one tensor for the whole mesh.
        blocks: Argument index of one device's plan -> per device the first one whose part has the same memory.
        positions: Of a mesh's plan, the position among `devices` of each value's device; empty before
            `mesh_expansion`.
    """

    name: str
    launches: tuple[HostLaunch, ...]
    arguments: tuple[PlanValue, ...]
    results: tuple[PlanValue, ...]
    updates: tuple[tuple[int, int], ...]
    written: tuple[PlanValue, ...]
    isa: HostIsa | None = None
    constants: Mapping[PlanValue, Constant] = field(default_factory=dict)
    numerics: Numerics = Numerics.IEEE
    devices: MeshDevices | None = None
    whole: frozenset[int] = frozenset()
    blocks: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    positions: Mapping[PlanValue, int] = field(default_factory=dict)

    @property
    def launches_with_code(self) -> Sequence[HostLaunch]:
        """The launches that are no exchanges with other ranks."""
        return [each for each in self.launches if not isinstance(each.bound.kernel, RankExchange)]

    @property
    def readers(self) -> Readers:
        """The readers of each value: launches, each named by its last op, and the caller.

        The ops before the last one are copies that a launch reads through; several launches may share them.
        """
        indices, _ = launch_indices(self.launches)
        returned = set(self.results)

        def read(value: PlanValue) -> set[Operation | Caller]:
            found: set[Operation | Caller] = {self.launches[index].ops[-1] for index in indices[value]}
            return found | {Caller.CALLER} if value in returned else found

        return read

    def with_kernels(self, changed: Callable[[Kernel], Kernel]) -> HostPlan:
        """The plan with every kernel replaced by the result of `changed`."""

        def with_kernel(bound: BoundKernel) -> BoundKernel:
            kernel = changed(bound.kernel)
            return bound if kernel is bound.kernel else replace(bound, kernel=kernel)

        return self.with_bound_kernels(with_kernel)

    def with_bound_kernels(self, changed: Callable[[BoundKernel], BoundKernel]) -> HostPlan:
        """The plan with the kernel, the operands and the loops of every launch replaced by the result of `changed`."""

        def with_bound(launch: HostLaunch) -> HostLaunch:
            bound = changed(launch.bound)
            return launch if bound is launch.bound else replace(launch, bound=bound)

        return self.with_launches(map(with_bound, self.launches))

    def with_launches(self, launches: Iterable[HostLaunch]) -> HostPlan:
        """The plan with these launches; itself if it has them."""
        made = tuple(launches)
        same = len(made) == len(self.launches) and all(map(operator.is_, made, self.launches))
        return self if same else replace(self, launches=made)


def of_several(step: Callable[[HostPlan], HostPlan]) -> Callable[[HostPlan], HostPlan]:
    """A decorator of steps that change launches together: such a step leaves a plan of one launch as it is."""

    @functools.wraps(step)
    def changed(plan: HostPlan) -> HostPlan:
        return step(plan) if len(plan.launches) > 1 else plan

    return changed
