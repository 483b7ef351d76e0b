"""Groups of launches that threads share as whole launches, because some of them do not depend on others.

Between two collectives a mesh's program has some launches for each device. Each launch may be too short to be cut into
chunks, where all of them together are long enough to be shared (benchmarks/programs/meshes.py: threads). A *chain* is
launches of one device that depend on each other; it stays on one thread, so that its values stay in a cache. No launch
of a chain touches what another chain of the group writes, so results do not depend on the number of threads. Groups
keep the order of launches: all of one end before the next begins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.chunks import min_parallel_extent, share_of_a_chunk
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS
from ttnn_jit.runtime.plans.launches import Launch
from ttnn_jit.runtime.plans.plan import ProgramPlan

MAX_LAUNCHES = 256
"""The most launches of a group: each is compared with those before it that touch the same buffers."""


@dataclass(frozen=True)
class TimedLaunch:
    """A run of a launch, and its time.

    Attributes:
        launch: The launch.
        rounds: The round of each of its repeats.
        nanoseconds: Its predicted time on one thread; 0 if it does not belong in a group. On one device few launches
            are independent, so that one that can be shared by itself does not.
        is_cut: Whether it can be shared by itself. It joins a group of so many chains that all threads are busy.
    """

    launch: Launch
    rounds: tuple[int, ...]
    nanoseconds: float
    is_cut: bool


@dataclass(frozen=True)
class LaunchGroup:
    """Consecutive launches in chunks that may run at the same time.

    Attributes:
        launches: Their numbers.
        chunks: The numbers of the launches of each chunk, which run in this order.
        wakes: Whether they are long enough to wake a thread.
    """

    launches: range
    chunks: tuple[tuple[int, ...], ...]
    wakes: bool


@dataclass(frozen=True)
class Memories:
    """The operands of the launches of a program.

    Attributes:
        buffers: The number of buffers; operands behind them are constants.
        memory_of: Per buffer the number of its memory, which others may share.
        mixed: The memory that buffers of several specs share: their elements are not comparable.
        positions: Per buffer the position of its device; () for a program of one device, which has no chains.
    """

    buffers: int
    memory_of: Sequence[int]
    mixed: Container[int] = ()
    positions: Sequence[int] = ()

    @staticmethod
    def of(plan: ProgramPlan) -> Memories:
        """Those of a plan, some of whose buffers may be made in the memory of inputs."""
        memory_of = [plan.made_in_place.get(index, memory) for index, memory in enumerate(plan.memory_of)]
        return Memories(len(plan.buffers), memory_of, plan.mixed_memory, plan.positions)


def groups_of(launches: Sequence[TimedLaunch], memories: Memories) -> Iterator[LaunchGroup]:
    """The groups that are worth sharing."""
    if sum(each.nanoseconds for each in launches) < HOST_COSTS.shared_from_ns:
        return
    touched = _Touched(launches, memories)
    begin = 0
    while begin < len(launches):
        if not launches[begin].nanoseconds:
            begin += 1
            continue
        chains, end = _chains(touched, begin)
        own = launches[begin:end]
        time = sum(each.nanoseconds for each in own)
        is_whole = len(chains) >= min_parallel_extent() or not any(each.is_cut for each in own)
        if len(chains) > 1 and is_whole and time >= HOST_COSTS.shared_from_ns:
            size = share_of_a_chunk(len(chains))
            chunks = (sorted(chain.from_iterable(chains[at : at + size])) for at in range(0, len(chains), size))
            yield LaunchGroup(range(begin, end), tuple(map(tuple, chunks)), time >= HOST_COSTS.wakes_from_ns)
        begin = max(end, begin + 1)


def _chains(touched: _Touched, begin: int) -> tuple[list[list[int]], int]:
    """The chains of a group that begins with a launch, and the number behind its last launch.

    The group ends before a launch that depends on chains of other devices, or on all chains. A single chain ends behind
    what that launch needs: the rest of it belongs with the next chains.
    """
    found: list[list[int]] = []
    chain_of: dict[int, list[int]] = {}
    position_of = touched.positions
    for number in range(begin, min(len(touched.launches), begin + MAX_LAUNCHES)):
        if not touched.launches[number].nanoseconds:
            return found, number
        before = touched.needed(number, begin)
        chains = {id(chain_of[each]): chain_of[each] for each in before}
        own = position_of[number]
        apart = own is None or any(position_of[each] != own for each in before)
        if before and (apart or 1 < len(chains) == len(found)):
            end = max(before) + 1 if len(found) == 1 else number
            return [kept for each in found if (kept := [own for own in each if own < end])], end
        joined = [*sorted(chain.from_iterable(chains.values())), number]
        chain_of.update(dict.fromkeys(joined, joined))
        found = [*(each for each in found if id(each) not in chains), joined] if chains else [*found, joined]
    return found, begin + len(chain_of)


class _Touched:
    """What the launches of a program touch.

    Attributes:
        launches: The launches.
        positions: Per launch the position of the device that it writes for; None without chains.
    """

    def __init__(self, launches: Sequence[TimedLaunch], memories: Memories) -> None:
        positions = memories.positions
        self.launches = launches
        self.positions = [positions[each.launch.operands[-1]] if positions else None for each in launches]
        self._memories = memories
        self._needed: list[tuple[int, ...]] = []
        # By memory and by elements: the launches that read them since they were written, and the last that wrote them.
        self._readers: dict[int, dict[_Elements, list[int]]] = defaultdict(dict)
        self._writers: dict[int, dict[_Elements, list[int]]] = defaultdict(dict)
        self._loops: dict[tuple[int, ...], list[_Loops]] = {}

    def needed(self, number: int, begin: int) -> list[int]:
        """The launches from `begin` on that have to end before a launch, and on which no other one of them depends.

        It may have others too.
        """
        while len(self._needed) <= number:
            self._needed.append(tuple(self._dependences(len(self._needed))))
        return [each for each in self._needed[number] if each >= begin]

    def _dependences(self, number: int) -> Iterator[int]:
        own = self.launches[number]
        if not own.nanoseconds:  # no group has it and a later launch
            self._readers.clear()
            self._writers.clear()
            return
        launch, memories = own.launch, self._memories
        offsets, first_written = launch.offsets_in(own.rounds), len(launch.operands) - launch.written
        touched = [
            (memory, _ALL if memory in memories.mixed else (offset + loops.back, loops), operand >= first_written)
            for operand, (index, offset, loops) in enumerate(
                zip(launch.operands, offsets, self._loops_of(own), strict=True)
            )
            if index < memories.buffers
            for memory in (memories.memory_of[index],)
        ]
        for memory, elements, writes in touched:
            yield from _meeting(elements, self._writers[memory])
            if writes:
                yield from _meeting(elements, self._readers[memory])
        for memory, elements, writes in touched:
            if writes:
                self._writers[memory][elements] = [number]
                self._readers[memory].pop(elements, None)
        for memory, elements, writes in touched:
            if not writes:
                self._readers[memory].setdefault(elements, []).append(number)

    def _loops_of(self, own: TimedLaunch) -> list[_Loops]:
        launch, params = own.launch, own.launch.params_in(own.rounds)
        if launch.whole:
            return [_ANYWHERE] * len(launch.operands)
        found = self._loops.get(params)
        if found is None:
            starts = range(launch.loops, len(params), launch.loops)
            found = self._loops[params] = [_loops(params, params[at : at + launch.loops]) for at in starts]
        return found


class _Loops(NamedTuple):
    """How an operand moves along the loops of a launch.

    Attributes:
        back: The elements by which it moves back, not positive.
        span: The elements from the first to the last one that it touches.
        forward: The stride, the greatest first, and the extent of each loop along which it moves.
    """

    back: int
    span: int
    forward: tuple[tuple[int, int], ...]


_ANYWHERE = _Loops(-(1 << 62), 1 << 63, ())
"""Of a kernel with loops of its own, such as a routine, which finds rows by their indices."""

_Elements = tuple[int, _Loops]
"""The elements of a buffer that a launch touches: the first one, and how it moves."""

_ALL: _Elements = (_ANYWHERE.back, _ANYWHERE)
"""All elements of a buffer."""


def _loops(extents: Sequence[int], strides: Sequence[int]) -> _Loops:
    moving = [(stride, extent) for stride, extent in zip(strides, extents, strict=False) if stride and extent > 1]
    back = sum(stride * (extent - 1) for stride, extent in moving if stride < 0)
    forward = tuple(sorted(((abs(stride), extent) for stride, extent in moving), reverse=True))
    return _Loops(back, _span(forward), forward)


def _span(loops: tuple[tuple[int, int], ...]) -> int:
    return 1 + sum(stride * (extent - 1) for stride, extent in loops)


def _meeting(own: _Elements, others: Mapping[_Elements, list[int]]) -> Iterator[int]:
    """The launches whose elements may be among these."""
    for each, numbers in others.items():
        if each == own or not _are_disjoint(own, each):
            yield from numbers


def _are_disjoint(one: _Elements, other: _Elements) -> bool:
    """Whether two sets of elements of a buffer have none in common; False if that is not clear.

    They have none if one ends before the other begins, or if they are columns of one matrix and that holds in each row.
    """
    (start, own), (other_start, others) = one, other
    if start + own.span <= other_start or other_start + others.span <= start:
        return True
    if not own.forward or not others.forward or own.forward[0][0] != others.forward[0][0]:
        return False
    row = own.forward[0][0]
    begin, other_begin = start % row, other_start % row
    end, other_end = begin + _span(own.forward[1:]), other_begin + _span(others.forward[1:])
    return end <= row and other_end <= row and (end <= other_begin or other_end <= begin)
