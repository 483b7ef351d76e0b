"""The host step that makes one plan of a mesh from the plan of one device.

Every launch becomes one for each device, over that device's values; a collective becomes copies and folds. Launches of
equal kernels over equal values are one launch, whose results several devices read: what only replicated values are read
for is computed once. Between two collectives the launches of one device come before those of the next, so that its
values stay in a cache. What only reads results of folds joins their loops.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence

from xdsl.ir import Operation

from ttnn_jit.codegen.meshes.epilogues import Epilogues, may_be_epilogue
from ttnn_jit.codegen.meshes.exchanges import ExchangeLaunches
from ttnn_jit.codegen.reading.copies import copies_of, fill
from ttnn_jit.codegen.reading.packing import packed_into, repacking_whole
from ttnn_jit.codegen.schedules.bound_kernel import Operand
from ttnn_jit.codegen.schedules.device_exchange import Exchange, RankExchange
from ttnn_jit.codegen.schedules.host_plan import Blocks, HostLaunch, HostPlan, launch_indices
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.dialects.declared_ops import CollectiveOp
from ttnn_jit.ops.collectives.rank_stages import Stage, stages_of
from ttnn_jit.ops.families.collective import Shard
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.memory.l1 import in_l1
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.meshes.mesh_devices import ONE_DEVICE

Scheduled = Callable[[HostPlan], HostPlan]
"""Chooses the loops of a plan's launches."""


def mesh_expansion(plan: HostPlan, scheduled: Scheduled) -> HostPlan:
    """The plan of all devices; a plan of one device without collectives is unchanged.

    Arguments and results are those of the first tensor on each device in order, then those of the second, and so on.

    Args:
        plan: The scheduled plan of one device.
        scheduled: Schedules the launches of a collective.
    """
    exchanges = any(isinstance(launch.bound.kernel, Exchange) for launch in plan.launches)
    return _Expansion(plan, scheduled).plan() if plan.devices is not None or exchanges else plan


@dataclass(frozen=True, eq=False)
class _Group:
    """Launches that write parts of the same values.

    Attributes:
        reads: The values that they read, except those that they write.
        writes: The values that they write.
        launches: Their number.
    """

    reads: tuple[PlanValue, ...]
    writes: tuple[PlanValue, ...]
    launches: int


@dataclass(frozen=True, eq=False)
class _Collective:
    """A collective on all devices.

    Attributes:
        outputs: Its results in the plan of one device.
        launches: Its launches, which are not scheduled yet.
    """

    outputs: tuple[PlanValue, ...]
    launches: tuple[HostLaunch, ...]

    @property
    def written(self) -> Iterator[Operand]:
        """What its launches write."""
        return itertools.chain.from_iterable(launch.bound.outputs for launch in self.launches)


class _Expansion:
    """The expansion of one plan.

    On a rank without devices of the plan one position stands in for those of other ranks: its results are zeros, and of
    the launches it has those alone that update tensors of the whole mesh.

    Attributes:
        values: Per position of a device, the value of each value of the plan of one device.
    """

    def __init__(self, plan: HostPlan, scheduled: Scheduled) -> None:
        self._plan = plan
        self._scheduled = scheduled
        self._constants = dict(plan.constants)
        devices = plan.devices or ONE_DEVICE
        self._positions = {number: position for position, number in enumerate(devices.numbers)}
        self._count = len(devices)
        self._stands_in = not devices.numbers
        self._launches: list[HostLaunch] = []
        self._placed: dict[PlanValue, int] = {}
        self._values: list[dict[PlanValue, PlanValue]] = [
            {each: each for each in plan.constants} for _ in range(self._count)
        ]
        self._blocks: dict[tuple[Blocks, int], Blocks] = {}
        groups = _groups(plan.launches)
        self._groups = {id(launch): groups[index] for index, launch in enumerate(plan.launches)}
        self._returned: dict[PlanValue, tuple[PlanValue, int]] = {}
        self._arguments: dict[PlanValue, list[PlanValue]] = {}
        self._copying: list[HostLaunch] = []
        self._copies: dict[tuple[PlanValue, int], PlanValue] = {}
        self._computed: dict[tuple[_Group, tuple[PlanValue, ...]], tuple[PlanValue, ...]] = {}
        self._runs: dict[tuple[_Group, int], bool] = {}
        self._dropped: set[PlanValue] = set()
        self._fused: set[tuple[int, int]] = set()
        self._readers, _ = launch_indices(plan.launches)
        self._computing = {*self._of_the_whole_mesh()} if self._stands_in else {*map(id, plan.launches)}

    def _of_the_whole_mesh(self) -> Iterator[int]:
        """The launches that the updates of tensors of the whole mesh need."""
        plan = self._plan
        needed = {plan.results[result] for argument, result in plan.updates if argument in plan.whole}
        for launch in reversed(plan.launches):
            if not needed.isdisjoint(each.value for each in launch.bound.outputs):
                needed.update(each.value for each in launch.bound.inputs)
                yield id(launch)

    def plan(self) -> HostPlan:
        """The plan of all devices."""
        plan = self._plan
        arguments = [each for index, value in enumerate(plan.arguments) for each in self._argument(index, value)]
        exchanges: list[_Collective] = []
        for is_exchange, segment in itertools.groupby(
            plan.launches, lambda each: isinstance(each.bound.kernel, Exchange)
        ):
            launches = [*segment]
            if is_exchange:
                exchanges = [*map(self._exchange, launches)]
                continue
            launches = [each for each in launches if id(each) in self._computing]
            self._add_with_epilogues(exchanges, launches)
            exchanges = []
            for position in range(self._count):
                for launch in launches:
                    self._launches += self._run(launch, position)
        self._add_with_epilogues(exchanges, ())
        results = [[*self._results(index, {*arguments})] for index in range(len(plan.results))]
        self._add(self._copying, self._copies.values())
        return replace(
            plan,
            launches=tuple(self._launches),
            arguments=tuple(arguments),
            results=tuple(itertools.chain(*results)),
            updates=tuple(self._updates(results)),
            written=tuple(filter(self._is_gone, plan.written)),
            positions=self._placed,
            constants=self._constants,
        )

    def _is_gone(self, value: PlanValue) -> bool:
        """Whether a value of the plan of one device has no memory on the first one."""
        own = self._values[0].get(value)
        return own is None or own in self._dropped

    def _argument(self, index: int, value: PlanValue) -> Iterator[PlanValue]:
        """The argument on each device, or the one of the whole mesh."""
        own = [PlanValue(value.spec) for _ in range(1 if index in self._plan.whole else self._count)]
        is_updated = any(argument == index for argument, _ in self._plan.updates)
        blocks = () if is_updated else self._plan.blocks.get(index, ())
        for position, values in enumerate(self._values):
            values[value] = own[blocks[position] if blocks else min(position, len(own) - 1)]
        self._placed.update({each: position for position, each in enumerate(own)})
        self._arguments[value] = own
        yield from own

    def _new(self, value: PlanValue, position: int) -> PlanValue:
        made = PlanValue(value.spec)
        self._placed[made] = position
        return made

    def _run(self, launch: HostLaunch, position: int) -> Iterator[HostLaunch]:
        """A launch on one device, unless its results are known, or a fold computes them."""
        if (id(launch), position) in self._fused:
            return
        group, values = self._groups[id(launch)], self._values[position]
        if (group, position) not in self._runs:
            reads = tuple(values[each] for each in group.reads if each in values)
            key = (group, reads) if len(reads) == len(group.reads) else None
            known = None if key is None else self._computed.get(key)
            self._runs[group, position] = known is None
            made = known or tuple(self._new(each, position) for each in group.writes)
            values.update(zip(group.writes, made, strict=True))
            if key is not None:
                self._computed[key] = made
        if self._runs[group, position]:
            operands = [replace(each, value=values[each.value]) for each in launch.bound.operands]
            bound = launch.bound.with_operands(operands)
            blocks, converts = (each and self._own(each, position) for each in (launch.blocks, launch.converts))
            yield replace(launch, bound=bound, blocks=blocks, converts=converts)

    def _own(self, blocks: Blocks, position: int) -> Blocks:
        """The blocks on one device: launches in equal blocks run together."""
        return self._blocks.setdefault((blocks, position), replace(blocks))

    def _exchange(self, launch: HostLaunch) -> _Collective:
        """The launches of a collective on all devices of this rank, and its exchanges with other ranks."""
        bound, kernel, devices = launch.bound, launch.bound.kernel, self._plan.devices or ONE_DEVICE
        assert isinstance(kernel, Exchange)

        def shard(source: Shard) -> Operand:
            operand = bound.inputs[source.operand]
            values = self._values[self._positions[source.device]]
            return replace(operand, value=values[operand.value])

        read = bound.inputs[0].view
        shapes = tuple(tuple(each.view.shape) for each in bound.inputs)
        stages: Sequence[Stage] = ()
        spec = read.spec.with_(shape=read.shape)
        if devices.remote:
            spec = kernel.specs[0].interleaved
            stages = stages_of(kernel.results, spec, shapes, devices.owners, devices.rank)
            shapes = stages[-1].shapes
        made = ExchangeLaunches(launch.ops[-1], shard, spec, shapes, self._positions, kernel.numerics)
        results = kernel.results
        for index, (stage, call) in enumerate(zip(stages, kernel.calls, strict=False)):
            if index:
                made.add_operand(results, len(stage.shapes) - 1)
            if stage.is_exchange:
                made.exchange(stage, call)
            results = stage.part.results
        for number, each in results.items():
            position = self._positions[number]
            for output, result in zip(bound.outputs, each, strict=True):
                self._values[position][output.value] = made.value(result, output.value.spec, position)
        self._placed |= made.placed
        return _Collective(tuple(each.value for each in bound.outputs), tuple(made.launches))

    def _add_with_epilogues(self, collectives: Sequence[_Collective], launches: Sequence[HostLaunch]) -> None:
        """Adds collectives, with those of the next launches that may join their loops."""
        outputs = {value for each in collectives for value in each.outputs}
        joining = [*self._joining(outputs, launches)]
        placed = [(launch, position) for position in range(self._count) for launch in joining]
        runs = {id(each): (each, id(launch), at) for launch, at in placed for each in self._run(launch, at)}
        found: Sequence[HostLaunch] = [each for each, *_ in runs.values()]
        needed = {own[value] for value in self._needed(outputs, joining) for own in self._values if value in own}
        for index, each in enumerate(collectives):
            after = {operand.value for more in collectives[index + 1 :] for operand in more.written}
            epilogues = Epilogues(each.launches, found, needed, after)
            found = epilogues.readers
            made = {values[value] for values in self._values for value in each.outputs if value in values}
            results = made - epilogues.dropped
            self._add(epilogues.launches, results | epilogues.written)
            self._dropped |= epilogues.dropped
        apart = {*map(id, found)}
        self._fused |= {(own, position) for key, (_, own, position) in runs.items() if key not in apart}

    def _joining(self, outputs: Container[PlanValue], launches: Sequence[HostLaunch]) -> Iterator[HostLaunch]:
        """The launches that read results of collectives, and nothing that launches between write."""
        written: set[PlanValue] = set()
        for launch in launches:
            read = {each.value for each in launch.bound.inputs}
            is_alone = self._groups[id(launch)].launches == 1
            if may_be_epilogue(launch) and is_alone and not read & written and any(map(outputs.__contains__, read)):
                yield launch
            else:
                written.update(each.value for each in launch.bound.outputs)

    def _needed(self, outputs: Iterable[PlanValue], joining: Sequence[HostLaunch]) -> Iterator[PlanValue]:
        """The results of collectives that others than these launches read; several may be one value on a device."""
        readers, own = self._readers, {id(launch) for launch in joining}
        for value in outputs:
            if value in self._plan.results or any(id(self._plan.launches[at]) not in own for at in readers[value]):
                yield value

    def _add(self, launches: Sequence[HostLaunch], results: Collection[PlanValue]) -> None:
        """Schedules the launches of a collective that has these results, and adds them.

        Launches between two exchanges with other ranks are scheduled together.
        """
        kept = {*results, *(each.value for launch in launches if _is_exchange(launch) for each in launch.bound.inputs)}
        done = 0
        for is_exchange, group in itertools.groupby(launches, _is_exchange):
            own = [*group]
            done += len(own)
            if is_exchange:
                self._launches += own
                continue
            later = {each.value for launch in launches[done:] for each in launch.bound.inputs}
            self._add_segment(own, kept | later)

    def _add_segment(self, launches: Sequence[HostLaunch], results: Collection[PlanValue]) -> None:
        written = dict.fromkeys(operand.value for launch in launches for operand in launch.bound.outputs)
        read = dict.fromkeys(operand.value for launch in launches for operand in launch.bound.inputs)
        plan = self._plan
        # Steps tell the launches that read a value by their ops.
        ops = {_stand_in(launch.ops[0]): launch.ops for launch in launches}
        own = self._scheduled(
            HostPlan(
                plan.name,
                tuple(replace(launch, ops=(op,)) for launch, op in zip(launches, ops, strict=True)),
                arguments=tuple(value for value in read if value not in written),
                results=tuple(value for value in written if value in results),
                updates=(),
                written=(),
                isa=plan.isa,
                numerics=plan.numerics,
            )
        )
        for launch in own.launches:
            own_ops = dict.fromkeys(itertools.chain.from_iterable(ops[op] for op in launch.ops))
            self._launches.append(replace(launch, ops=tuple(own_ops)))
        self._constants |= own.constants

    def _results(self, index: int, arguments: Collection[PlanValue]) -> Iterator[PlanValue]:
        """A result on each device; one for the whole mesh if it updates such an argument.

        A value that several devices have is one tensor, whose block their tensors share until one is written; but new
        values of arguments, and tensors in L1, are copied.
        """
        plan, value = self._plan, self._plan.results[index]
        if value not in self._values[0]:
            yield self._stand_in(value)
            return
        is_copied = in_l1(value.spec) or any(result == index for _, result in plan.updates)
        is_whole = any(argument in plan.whole and result == index for argument, result in plan.updates)
        for position in range(1 if is_whole else self._count):
            own = self._values[position][value]
            if value in plan.arguments:
                own = self._arguments[value][position if len(self._arguments[value]) > 1 else 0]
            else:
                owner, home = self._returned.setdefault(own, (value, position))
                if owner is not value or own in arguments or (is_copied and home != position):
                    own = self._copied(own, value, position)
            yield own

    def _stand_in(self, value: PlanValue) -> PlanValue:
        """A tensor of zeros for a result that only devices of other ranks have."""
        made = self._values[0][value] = self._copies[value, 0] = self._new(value, 0)
        target, numerics = Operand(made, View(made.spec)), self._plan.numerics
        if value.spec.dtype.is_block_float:
            zeros = Operand.new(value.spec.with_(dtype=value.spec.dtype.unpacked))
            self._placed[zeros.value] = 0
            kernels = [fill(zeros, 0.0, numerics), *packed_into(zeros, target, numerics)]
        else:
            kernels = [fill(target, 0.0, numerics)]
        self._copying += [HostLaunch((self._returning,), kernel) for kernel in kernels]
        return made

    def _copied(self, source: PlanValue, value: PlanValue, position: int) -> PlanValue:
        """A copy of a result that has the memory of another."""
        made = self._copies.get((value, position))
        if made is None:
            made = self._copies[value, position] = self._new(value, position)
            read, written = (Operand(each, View(each.spec)) for each in (source, made))
            if value.spec.dtype.is_block_float:
                kernels = [repacking_whole(read, written, self._plan.numerics)]
            else:
                kernels = copies_of(read, Access.identity(read.view.shape), written, self._plan.numerics)
            self._copying += [HostLaunch((self._returning,), kernel) for kernel in kernels]
        return made

    @property
    def _returning(self) -> Operation:
        """The op that returns results: it stands for the copies of results."""
        block = self._plan.launches[0].ops[-1].parent_block()
        assert block is not None
        assert block.last_op is not None
        return block.last_op

    def _updates(self, results: Sequence[Sequence[PlanValue]]) -> Iterator[tuple[int, int]]:
        """The updated arguments on each device, and the results that replace them."""
        counts = [1 if index in self._plan.whole else self._count for index in range(len(self._plan.arguments))]
        starts = [*itertools.accumulate(counts, initial=0)]
        firsts = [*itertools.accumulate(map(len, results), initial=0)]
        for argument, result in self._plan.updates:
            if self._stands_in and argument not in self._plan.whole:
                continue
            for position in range(counts[argument]):
                yield starts[argument] + position, firsts[result] + position


def _stand_in(op: Operation) -> Operation:
    """An op that stands for one launch of a collective or of a return."""
    return op.make((), properties=op.properties) if isinstance(op, CollectiveOp) else type(op).create()


def _is_exchange(launch: HostLaunch) -> bool:
    """Whether a launch is an exchange with other ranks."""
    return isinstance(launch.bound.kernel, RankExchange)


def _groups(launches: Sequence[HostLaunch]) -> dict[int, _Group]:
    """The group of each launch, by its index."""
    writers: dict[PlanValue, list[int]] = defaultdict(list)
    for index, launch in enumerate(launches):
        for output in launch.bound.outputs:
            writers[output.value].append(index)
    found: dict[int, _Group] = {}
    for first in range(len(launches)):
        if first in found:
            continue
        members, pending = {first}, [first]
        while pending:
            outputs = launches[pending.pop()].bound.outputs
            more = {index for output in outputs for index in writers[output.value]} - members
            members |= more
            pending += more
        own = [launches[index].bound for index in sorted(members)]
        writes = dict.fromkeys(output.value for bound in own for output in bound.outputs)
        reads = dict.fromkeys(operand.value for bound in own for operand in bound.inputs if operand.value not in writes)
        found.update(dict.fromkeys(members, _Group(tuple(reads), tuple(writes), len(members))))
    return found
