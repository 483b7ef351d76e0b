"""The launch table of a program in memory, from which native code runs it."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterator, Mapping, Sequence

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native import native
from ttnn_jit.runtime.native.launch_groups import LaunchGroup
from ttnn_jit.runtime.native.launch_symbols import LAUNCH_EACH_SYMBOL
from ttnn_jit.runtime.native.structures import (
    BUFFERS,
    FIELD_BYTES,
    TABLE,
    GroupChunk,
    GroupParams,
    LaunchEntry,
    LaunchTable,
)
from ttnn_jit.runtime.plans.launches import Launch
from ttnn_jit.runtime.plans.plan import ProgramPlan

UNSHARED = {"chunks": 1, "chunk_params": 0, "last_params": 0, "steps": 0, "wakes": 0}
"""Fields of the `LaunchEntry` of a launch that runs on one thread."""


@dataclass(frozen=True)
class TableEntry:
    """What a launch shares with others that differ in their buffers.

    Attributes:
        fields: Fields of its `LaunchEntry`.
        itemsizes: Bytes per stride of its operands.
        nanoseconds: As in `TimedLaunch`.
    """

    fields: Mapping[str, int]
    itemsizes: Sequence[int]
    nanoseconds: float

    @property
    def is_cut(self) -> bool:
        """Whether it has chunks."""
        return self.fields["chunks"] > 1


class Arrays:
    """The arrays of a launch table; equal ones are one."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, ...], tuple[int, array[int]]] = {}

    def address(self, values: tuple[int, ...]) -> int:
        """The address of an array with these numbers."""
        found = self._made.get(values)
        if found is None:
            # Made in half the time of an array of ctypes. An extra element gives an empty one an address.
            made = array("q", (*values, 0))
            found = self._made[values] = made.buffer_info()[0], made
        return found[0]

    def kept(self) -> Iterator[array[int]]:
        """Every array."""
        return (made for _, made in self._made.values())


class LaunchTableWriter:
    """Writes the table of some launches of a plan.

    Args:
        plan: The plan.
        runs: The launches and their rounds, in order.
        entries: What each of them shares with others.
        arrays: The arrays of the table.
    """

    def __init__(
        self,
        plan: ProgramPlan,
        runs: Sequence[tuple[Launch, tuple[int, ...]]],
        entries: Sequence[TableEntry],
        arrays: Arrays,
    ) -> None:
        self._plan, self._runs, self._entries, self._arrays = plan, runs, entries, arrays
        self._widest = max(2, *(len(launch.operands) for launch, _ in runs))

    def table(self, groups: Sequence[LaunchGroup]) -> ctypes.Array[ctypes.c_int64]:
        """The table, as structures.py defines it."""
        count = len(self._runs) + len(groups)
        kernels = count - sum(len(group.launches) for group in groups)
        chunks_at = LaunchTable.nbytes + count * LaunchEntry.nbytes
        chunks = [*_chunks(groups, chunks_at, LaunchTable.nbytes + kernels * LaunchEntry.nbytes)]
        constants_at = chunks_at + len(chunks) * FIELD_BYTES
        found = [*LaunchTable.int64s(kernels=kernels, widest=self._widest)]
        begin, place = 0, chunks_at
        for group in groups:
            found += self._int64s(range(begin, group.launches.start), constants_at)
            found += map(self._fields_of_group(group, place).__getitem__, _ENTRY_FIELDS)
            place += len(group.chunks) * GroupChunk.nbytes
            begin = group.launches.stop
        found += self._int64s(range(begin, len(self._runs)), constants_at)
        for group in groups:
            for chunk in group.chunks:
                found += self._int64s(chunk, constants_at)
        return int64_array([*found, *chunks, *(constant.bits for constant in self._plan.constants)])

    def _int64s(self, numbers: Sequence[int], constants_at: int) -> Iterator[int]:
        """The entries of launches."""
        buffers, memory_of = len(self._plan.buffers), self._plan.memory_of
        for number in numbers:
            (launch, rounds), own = self._runs[number], self._entries[number]
            offsets, indices = launch.offsets_in(rounds), launch.operands
            moves = tuple(map(int.__mul__, offsets, own.itemsizes)) if any(offsets) else offsets
            if self._plan.constants:  # a word each, in order
                pairs = list(zip(indices, moves, strict=True))
                first = constants_at - buffers * FIELD_BYTES
                moves = tuple([move if index < buffers else first + index * FIELD_BYTES for index, move in pairs])
                indices = tuple([memory_of[index] if index < buffers else TABLE for index in indices])
            elif self._plan.storages:
                indices = tuple([memory_of[index] for index in indices])
            start = self._arrays.address(moves)
            fields = {**own.fields, "indices": self._arrays.address(indices), "offsets": start}
            yield from map(fields.__getitem__, _ENTRY_FIELDS)

    def _fields_of_group(self, group: LaunchGroup, place: int) -> Mapping[str, int]:
        """Fields of the `LaunchEntry` of a group whose chunks are at a byte offset in the table."""
        address, count = self._arrays.address, len(group.chunks)
        whole, one = (address(tuple(GroupParams.int64s(chunks=own, widest=self._widest))) for own in (count, 1))
        return {
            "function": native.launch_address(LAUNCH_EACH_SYMBOL),
            "operands": 2,
            "indices": address((BUFFERS, TABLE)),
            "offsets": address((0, place)),
            "params": whole,
            "chunks": count,
            "chunk_params": one,
            "last_params": one,
            "steps": address((0, GroupChunk.nbytes)),
            "wakes": int(group.wakes),
        }


_ENTRY_FIELDS = tuple(LaunchEntry.fields)


def _chunks(groups: Sequence[LaunchGroup], place: int, entries: int) -> Iterator[int]:
    """The `GroupChunk`s at a byte offset in a table, whose entries of groups are at another one."""
    for group in groups:
        for chunk in group.chunks:
            yield from GroupChunk.int64s(launches=len(chunk), entries=entries - place)
            place += GroupChunk.nbytes
            entries += len(chunk) * LaunchEntry.nbytes


def int64_array(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    """An array of the numbers, with one extra element so that an empty list has an address too."""
    return (ctypes.c_int64 * (len(values) + 1))(*values)
