"""Memory of the values between launches, by their live ranges.

1. A value takes the *buffer* of a value of equal spec whose live range has ended. Specs with extents of a trace are
   equal if their expressions are: equal numbers would be a coincidence.
2. Buffers whose values are never live at the same time share one *storage*, which has the bytes of the largest one.

A program of many layers so needs the memory of one layer, and its writes hit the cache. A program whose values change
their shapes, as those of an image decoder do, needs the memory of its largest step.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import islice

from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import keys_as_expressions
from ttnn_jit.specs.tensor_spec import TensorSpec

Runs = Sequence[Collection[PlanValue]]
"""The values that each launch reads or writes, in execution order."""

TRIED_STORAGES = 64
"""The most storages, the largest ones, that are tried for a buffer: the time stays linear in the number of buffers."""


@dataclass(frozen=True)
class Demand:
    """The memory that a buffer needs.

    Attributes:
        nbytes: Its bytes; of a spec with extents, those of the compiled size.
        home: What buffers of one storage have in common: the device.
    """

    nbytes: int
    home: Hashable


def buffer_of(runs: Runs, specs: Mapping[PlanValue, tuple[TensorSpec, int | None]]) -> dict[PlanValue, PlanValue]:
    """From each value with a spec to the value that first had its buffer.

    Args:
        runs: The launches.
        specs: The specs of the values that live only from their first to their last launch, and what else distinguishes
            their memory: the device of a value in L1.
    """
    last = {value: run for run, touched in enumerate(runs) for value in touched if value in specs}
    free: defaultdict[tuple[TensorSpec, int | None], list[PlanValue]] = defaultdict(list)
    found: dict[PlanValue, PlanValue] = {}
    for run, touched in enumerate(runs):
        own = [value for value in dict.fromkeys(touched) if value in specs]
        for value in own:
            if value not in found:
                with keys_as_expressions():
                    idle = free[specs[value]]
                found[value] = idle.pop() if idle else value
        for value in own:
            if last[value] == run:
                with keys_as_expressions():
                    free[specs[value]].append(found[value])
    return found


def storage_of(
    runs: Runs, buffers: Mapping[PlanValue, PlanValue], demands: Mapping[PlanValue, Demand]
) -> dict[PlanValue, PlanValue]:
    """From each buffer to the largest one of its storage.

    Greedy by size (Pisarchyk and Lee, Efficient memory management for deep neural net inference, 2020): the buffers, in
    descending order of their bytes, join the first storage that is free while they hold a value. A storage so never
    grows, and all of them together take no more than the buffers would.

    Args:
        runs: The launches.
        buffers: The buffer of each value, as `buffer_of` gives it.
        demands: The memory of the buffers that may share a storage; others have their own.
    """
    found = {buffer: buffer for buffer in buffers.values()}
    if len(demands) < 2:
        return found
    ranges = _live_ranges(runs, buffers)
    busy = {buffer: sum(last - first + 1 for first, last in own) for buffer, own in ranges.items()}
    storages: defaultdict[Hashable, list[tuple[PlanValue, _Occupancy]]] = defaultdict(list)
    for buffer in sorted(demands, key=lambda each: (-demands[each].nbytes, -busy[each])):
        own = storages[demands[buffer].home]
        for first, occupancy in islice(own, TRIED_STORAGES):
            if occupancy.is_free(ranges[buffer]):
                occupancy.occupy(ranges[buffer])
                found[buffer] = first
                break
        else:
            own.append((buffer, made := _Occupancy()))
            made.occupy(ranges[buffer])
    return found


def _live_ranges(runs: Runs, buffers: Mapping[PlanValue, PlanValue]) -> dict[PlanValue, list[tuple[int, int]]]:
    """Per buffer the first and the last launch of each of its values."""
    first: dict[PlanValue, int] = {}
    last: dict[PlanValue, int] = {}
    for run, touched in enumerate(runs):
        for value in touched:
            if value in buffers:
                first.setdefault(value, run)
                last[value] = run
    found: dict[PlanValue, list[tuple[int, int]]] = {}
    for value, begin in first.items():
        found.setdefault(buffers[value], []).append((begin, last[value]))
    return found


class _Occupancy:
    """The disjoint ranges of launches, inclusive, in which a storage holds a value."""

    def __init__(self) -> None:
        self._ends: list[int] = []  # first and last launch of each range, in ascending order

    def is_free(self, ranges: Sequence[tuple[int, int]]) -> bool:
        """Whether it holds no value in any of the ranges."""
        ends = self._ends
        return all(
            (place := bisect_left(ends, first)) % 2 == 0 and place == bisect_right(ends, last) for first, last in ranges
        )

    def occupy(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Hold a value in ranges that are free."""
        for first, last in ranges:
            place = bisect_left(self._ends, first)
            self._ends[place:place] = first, last
