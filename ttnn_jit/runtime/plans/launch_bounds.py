"""Checks, before a program runs, that launches stay inside their operands and match the signatures of their kernels.

A kernel knows neither the sizes nor the types of its operands. Both come from the plan, which may come from a file.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Container, Iterator, Sequence
from dataclasses import fields
from typing import Any

from ttnn_jit.ops.families.reduction import SHORT_ROW
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.launches import Launch, Repeat, launches_in, without_empty_tail
from ttnn_jit.runtime.plans.rank_exchanges import PlanExchange, parts_of_launches
from ttnn_jit.specs.dtypes import STRIDES_OF_A_TILE
from ttnn_jit.specs.tensor_spec import TensorSpec

_LEAST_INT64, _GREATEST_INT64 = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class Signature:
    """The launches that native code of a kernel supports.

    Attributes:
        loops: Number of loops.
        operands: Per operand its `memory_type`, and its stride along the innermost loop if the code
            assumes it: 1 or 0; None if the code reads it from the launch.
        written: How many operands, the last ones, it writes.
        reduced: Which loops are reduced; 0 is the innermost.
        has_short_rows: Whether loops that threads do not cut have at most `SHORT_ROW` iterations; a kernel may have
            stack memory for so many elements.
        panels: As in `Launch`.
        whole: As in `Launch`.
    """

    loops: int
    operands: tuple[tuple[str, int | None], ...]
    written: int
    reduced: tuple[int, ...] = ()
    has_short_rows: bool = True
    panels: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()

    def to_json(self) -> list[Any]:
        """JSON values."""
        operands = [list(operand) for operand in self.operands]
        fields = [self.loops, operands, self.written, list(self.reduced), self.has_short_rows]
        return without_empty_tail(fields, list(self.panels), list(self.whole))


def signature_of(launch: Launch, specs: Sequence[TensorSpec]) -> Signature:
    """The signature that the kernel of a checked launch over operands of `specs` must have."""
    loops = launch.loops
    inner = launch.params[loops::loops]
    types = [specs[index].dtype.memory_type for index in launch.operands]
    operands = tuple([(own, step if step in (0, 1) else None) for own, step in zip(types, inner, strict=True)])
    own = launch.reduced, _has_short_rows(launch), launch.panels, launch.whole
    return Signature(loops, operands, launch.written, *own)


def _has_short_rows(launch: Launch) -> bool:
    return all(launch.params[loop] <= SHORT_ROW for loop in launch.uncut)


def faults_of(
    launches: Sequence[Launch | Repeat],
    buffers: Sequence[TensorSpec],
    made: range,
    exchanges: Sequence[PlanExchange] = (),
    memory_of: Sequence[int] = (),
) -> Iterator[str]:
    """Errors in launches over `buffers`, of which those of `made` are made; each check assumes the earlier ones.

    A launch must stay inside of its operands' memory, and every buffer that is made must be written before it is read
    or returned, by launches or by `exchanges` with other ranks. The buffers before `made` are inputs, those behind are
    constants, which no launch may write. A buffer loses its elements when another one with the same memory is written;
    `memory_of` numbers the memory of the buffers, () if each has its own.
    """
    for spec in buffers[made.start : made.stop]:
        if spec.strides is not None and spec.span != (0, max(spec.volume - 1, 0)):
            yield f"{spec} would not fit in the memory that it gets"
    unwritten = {index: _items_to_write(buffers[index]) for index in made}
    for launch, _ in launches_in(launches) if made.stop < len(buffers) else ():
        if launch.written > 0 and max(launch.operands[-launch.written :], default=0) >= made.stop:
            yield f"a launch of {launch.kernel} writes a constant"
    checker = _Checker(buffers, unwritten, memory_of)
    for number, part in enumerate(parts_of_launches(exchanges, len(launches))):
        yield from checker.faults_in(launches[part.start : part.stop], ())
        yield from checker.faults_of_exchange(exchanges[number], made) if number < len(exchanges) else ()
    if missing := unwritten.keys() - checker.lost if launches or exchanges else ():
        yield f"no launch writes buffer {min(missing)}, or not all of it"


def _items_to_write(spec: TensorSpec) -> int:
    """The items that launches must have written before a buffer is read."""
    return min(spec.volume, spec.items)


class _Checker:
    """Checks launches in order.

    Launches that differ only in which buffers they take, as those of the layers of a model, are checked once.

    Args:
        buffers: The specs of the buffers.
        unwritten: The unwritten items by buffer.
        memory_of: Per buffer the number of its memory; () if each has its own.

    Attributes:
        lost: The buffers that were written, and lost their elements since.
    """

    def __init__(self, buffers: Sequence[TensorSpec], unwritten: dict[int, int], memory_of: Sequence[int]) -> None:
        self._buffers = buffers
        self._unwritten = unwritten
        self._memory_of = memory_of
        self._holders: dict[int, int] = {}  # by memory: the buffer that was written last
        self.lost: set[int] = set()
        self._written: dict[object, tuple[int, ...]] = {}  # by launches without faults: items by operand written

    def faults_in(self, launches: Sequence[Launch | Repeat], counts: tuple[int, ...]) -> Iterator[str]:
        """Errors in launches inside of repeats of `counts` rounds."""
        for each in launches:
            if isinstance(each, Launch):
                yield from self._faults_of(each, counts)
                continue
            if each.count < 1 or not each.launches:
                yield f"it repeats {len(each.launches)} launches {each.count} times"
            yield from self.faults_in(each.launches, (*counts, each.count))
            for launch, around in launches_in(each.launches, (*counts, each.count)):
                times = (each.count - 1) * math.prod(around[1 + len(counts) :])
                ends = (own for own, _ in launch.ends(around))
                shortest = min(ends, key=lambda own: math.prod(own.params[: own.loops]))
                self._count_written(launch, _items_of(shortest, self._buffers), times)

    def faults_of_exchange(self, exchange: PlanExchange, made: range) -> Iterator[str]:
        """Errors of an exchange with other ranks."""
        yield from exchange.faults(self._buffers[: made.stop])
        for piece in exchange.read:
            if piece.buffer in self._unwritten:
                yield f"an exchange sends buffer {piece.buffer} before it is written"
        for piece in exchange.written:
            if piece.buffer < made.start:
                yield f"an exchange writes input {piece.buffer}"
            self._count(piece.buffer, piece.nbytes // self._buffers[piece.buffer].dtype.itemsize)

    def _faults_of(self, launch: Launch, counts: tuple[int, ...]) -> Iterator[str]:
        buffers = self._buffers
        key = (counts, _all_but_buffers(launch), *[buffers[index] for index in launch.operands])
        written = self._written.get(key)
        if written is None:
            for fault in _faults_in_rounds(launch, self._buffers, counts, self._unwritten):
                yield f"a launch of {launch.kernel} {fault}"
            written = self._written[key] = _items_of(launch, self._buffers)
        elif unread := _read_too_early(launch, self._unwritten):
            yield f"a launch of {launch.kernel} {unread}"
        self._count_written(launch, written)

    def _count_written(self, launch: Launch, written: Sequence[int], times: int = 1) -> None:
        """Subtract the items that `times` runs write; a completely written buffer leaves `unwritten`."""
        for index, items in zip(launch.operands[-launch.written :], written, strict=True):
            self._count(index, times * items)

    def _count(self, index: int, items: int) -> None:
        unwritten = self._unwritten
        if self._memory_of and self._holders.setdefault(self._memory_of[index], index) != index:
            self._give_memory_to(index)
        unwritten[index] = unwritten.get(index, 0) - items
        if unwritten[index] <= 0:
            del unwritten[index]

    def _give_memory_to(self, index: int) -> None:
        """A buffer is written whose memory another one holds, which loses its elements."""
        memory = self._memory_of[index]
        other = self._holders[memory]
        self._holders[memory] = index
        if other not in self._unwritten:
            self.lost.add(other)
        self._unwritten[other] = _items_to_write(self._buffers[other])


_all_but_buffers = operator.attrgetter(*(field.name for field in fields(Launch) if field.name != "operands"))


def _items_of(launch: Launch, buffers: Sequence[TensorSpec]) -> tuple[int, ...]:
    """The items that a run writes, per operand that it writes."""
    first = len(launch.operands) - launch.written
    written = enumerate(launch.operands[-launch.written :], first)
    return tuple(_items_written(launch, operand, buffers[index]) for operand, index in written)


def _read_too_early(launch: Launch, unwritten: Container[int]) -> str | None:
    """The error of a launch that reads a buffer before it is written; None if it does not."""
    read = [index for index in launch.operands[: -launch.written] if index in unwritten]
    return f"reads buffer {read[0]} before it is written" if read else None


def _faults_in_rounds(
    launch: Launch, buffers: Sequence[TensorSpec], counts: Sequence[int], unwritten: Container[int]
) -> Iterator[str]:
    """Errors of a launch inside of repeats of `counts`, in every round, even if its loops grow."""
    if not launch.growth:
        yield from _faults(launch, buffers, counts, unwritten)
        return
    loops, moves = [len(own) for own in launch.growth], [len(own) for own in launch.steps]
    if loops != [launch.loops] * len(counts) or moves != [len(launch.operands)] * len(counts):
        yield f"has loops that grow by {list(map(list, launch.growth))} in {len(counts)} repeats"
    in_tiles = any(buffers[index].dtype.is_block_float for index in launch.operands)
    if in_tiles and any(each % STRIDES_OF_A_TILE for own in launch.growth for each in own):
        yield "has loops over block floats that grow by parts of tiles"
    ends = [*launch.ends(counts)]
    if any(own.params[0] == 0 for own, _ in ends):
        yield "has rounds without elements, and others that have some"
    if len({_has_short_rows(own) for own, _ in ends}) > 1:
        yield f"has rows of at most {SHORT_ROW} elements in some rounds, and of more in others"
    yield from itertools.chain.from_iterable(_faults(own, buffers, others, unwritten) for own, others in ends)


def _faults(
    launch: Launch, buffers: Sequence[TensorSpec], counts: Sequence[int], unwritten: Container[int]
) -> Iterator[str]:
    """Errors of a launch inside of repeats of `counts` without growing loops; each check assumes the earlier ones."""
    operands = launch.operands
    loops, rest = divmod(len(launch.params), 1 + len(operands))
    if not operands or not loops or rest:
        yield f"has {len(launch.params)} params for {len(operands)} operands"
    if not 0 < launch.written <= len(operands):
        yield f"writes {launch.written} of {len(operands)} operands"
    starts = (launch.offsets, *launch.steps)
    if [len(own) for own in starts] != [len(operands)] * (1 + len(counts)):
        yield f"has offsets and steps {list(map(list, starts))} for {len(operands)} operands in {len(counts)} repeats"
    numbers = (*launch.params, *itertools.chain(*starts))
    if min(numbers) < _LEAST_INT64 or max(numbers) > _GREATEST_INT64:
        yield "has numbers of more than 64 bits"
    if launch.picoseconds not in range(1 << 40) or not all(0 <= loop < loops for loop in launch.uncut):
        own = list(launch.uncut)
        yield f"takes {launch.picoseconds} picoseconds an element and reduces, or walks whole, loops {own} of {loops}"
    inner, *outer = extents = launch.params[:loops]
    if inner < 0 or min(outer, default=1) < 1:
        yield f"loops over {list(extents)}"
    if unread := _read_too_early(launch, unwritten):
        yield unread
    for operand, index in enumerate(operands):
        strides = launch.params[loops * (1 + operand) : loops * (2 + operand)]
        if launch.panels and operand == launch.panels[0] and any(strides[2:3]):
            yield f"has operand {operand} move along rows, which says that it is in panels"
        steps = [own[operand] for own in launch.steps]
        yield from _operand_faults(launch, operand, (*extents, *counts), (*strides, *steps), buffers[index])


def _operand_faults(
    launch: Launch, operand: int, extents: Sequence[int], strides: Sequence[int], spec: TensorSpec
) -> Iterator[str]:
    """Errors of an operand with `strides` along the loops, then along the rounds of the repeats."""
    by_tiles = _loops_by_tiles(launch, strides) if spec.dtype.is_block_float else ()
    if not _stays_inside(extents, strides, launch.offsets[operand], spec, by_tiles):
        yield f"leaves the memory of operand {operand}, {spec}"
    if operand < len(launch.operands) - launch.written:
        return
    if (count := _items_written(launch, operand, spec)) > spec.items:
        yield f"writes {count} elements of operand {operand}, {spec}"


def _loops_by_tiles(launch: Launch, strides: Sequence[int]) -> Container[int]:
    """The loops over columns and rows, along which block floats are accessed tile by tile.

    They are the two innermost loops; for the left operand of a contraction, the contracted loop and the loop over rows.
    """
    contracts = bool(launch.reduced) and 0 not in launch.reduced
    return (1, 1 + len(launch.reduced)) if contracts and not strides[0] else (0, 1)


def _items_written(launch: Launch, operand: int, spec: TensorSpec) -> int:
    """The number of items of a result that a launch writes; uncut loops with stride 0 write the same items again."""
    loops = launch.loops
    extents = launch.params[:loops]
    if not launch.uncut:
        return math.prod(extents)
    strides = launch.params[loops * (1 + operand) : loops * (2 + operand)]
    if spec.dtype.is_block_float:
        by_tiles = _loops_by_tiles(launch, strides)
        extents = tuple(-(-each // STRIDES_OF_A_TILE) if k in by_tiles else each for k, each in enumerate(extents))
    return math.prod(extent for loop, extent in enumerate(extents) if loop not in launch.uncut or strides[loop])


def _stays_inside(
    extents: Sequence[int], strides: Sequence[int], offset: int, spec: TensorSpec, by_tiles: Container[int]
) -> bool:
    """Whether loops that start at the element at `offset` access only elements of the tensor; some step by tiles."""
    if extents[0] == 0 and strides[0] != 0:
        return True  # it loads nothing; a scalar is loaded once per row, even if the row is empty
    lowest = highest = offset
    for loop, (extent, stride) in enumerate(zip(extents, strides, strict=True)):
        last = extent - 1
        if last <= 0 or not stride:
            continue
        move = (last - last % STRIDES_OF_A_TILE if loop in by_tiles else last) * stride
        if move < 0:
            lowest += move
        else:
            highest += move
    if spec.dtype.is_block_float:
        return lowest >= 0 and highest <= (spec.items - 1) * STRIDES_OF_A_TILE
    if spec.strides is None:
        return lowest >= 0 and highest < spec.items
    return spec.volume > 0 and spec.span[0] <= lowest and highest <= spec.span[1]
