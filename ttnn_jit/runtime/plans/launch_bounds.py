"""Checks, before a program runs, that its launches stay inside their operands and are those its kernels were made for.

A kernel knows neither the sizes of its operands nor their types; both are the plan's, which may come from a file.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterator, Sequence
from typing import Any

from ttnn_jit.ops.families.reduction import SHORT_ROW
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.launches import Launch, Repeat, launches_in, with_given
from ttnn_jit.specs.dtypes import STRIDES_OF_A_TILE
from ttnn_jit.specs.tensor_spec import TensorSpec

_LEAST_INT64, _GREATEST_INT64 = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class Signature:
    """What native code of a kernel was made for.

    Attributes:
        loops: Their number.
        operands: Per operand its element type, as MLIR spells it, and its stride along the innermost loop where the
            code does not ask the launch for it: 1 or 0.
        written: How many operands, the last ones, it writes.
        reduced: Which loops are reduced; 0 is the innermost.
        has_short_rows: Whether those that threads do not cut have at most `SHORT_ROW` elements, which a kernel may have
            memory for.
        panels: As `Launch` has it.
        whole: Likewise.
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
        return with_given(fields, list(self.panels), list(self.whole))


def signature_of(launch: Launch, buffers: Sequence[TensorSpec]) -> Signature:
    """What the kernel of a launch that was checked must have been made for."""
    loops = launch.loops
    inner = launch.params[loops::loops]
    dtypes = (buffers[index].dtype.mlir for index in launch.operands)
    operands = tuple((dtype, step if step in {0, 1} else None) for dtype, step in zip(dtypes, inner, strict=True))
    own = launch.reduced, _has_short_rows(launch), launch.panels, launch.whole
    return Signature(loops, operands, launch.written, *own)


def _has_short_rows(launch: Launch) -> bool:
    return all(launch.params[loop] <= SHORT_ROW for loop in launch.uncut)


def faults_of(launches: Sequence[Launch | Repeat], buffers: Sequence[TensorSpec], inputs: int) -> Iterator[str]:
    """What is wrong with launches over `buffers`, of which the first are `inputs`: each check assumes those before it.

    They leave an operand's memory, or read or return what nothing has written.
    """
    for spec in buffers[inputs:]:
        if spec.strides is not None and spec.span != (0, max(0, spec.volume - 1)):
            yield f"{spec} would not lie in the memory that it gets"
    missing = {index: min(spec.volume, spec.items) for index, spec in enumerate(buffers) if index >= inputs}
    yield from _faults_in(launches, buffers, (), missing)
    if launches and missing:
        yield f"no launch writes buffer {min(missing)}, or not all of it"


def _faults_in(
    launches: Sequence[Launch | Repeat],
    buffers: Sequence[TensorSpec],
    counts: tuple[int, ...],
    missing: dict[int, int],
) -> Iterator[str]:
    """The same of launches that stand in repeats of so many rounds; `missing` is what is so in the first of these."""
    for each in launches:
        if isinstance(each, Launch):
            for fault in _faults_in_rounds(each, buffers, counts, missing):
                yield f"a launch of {each.kernel} {fault}"
            _note_written(each, buffers, missing)
            continue
        if each.count < 1 or not each.launches:
            yield f"it repeats {len(each.launches)} launches {each.count} times"
        yield from _faults_in(each.launches, buffers, (*counts, each.count), missing)
        for launch, around in launches_in(each.launches, (*counts, each.count)):
            times = (each.count - 1) * math.prod(around[1 + len(counts) :])
            shortest = min((own for own, _ in launch.ends(around)), key=lambda own: math.prod(own.params[: own.loops]))
            _note_written(shortest, buffers, missing, times)


def _note_written(launch: Launch, buffers: Sequence[TensorSpec], missing: dict[int, int], times: int = 1) -> None:
    """Count what runs of `launch` write; a buffer of which all is written is not `missing` any more."""
    for operand, index in enumerate(launch.operands[-launch.written :], len(launch.operands) - launch.written):
        missing[index] = missing.get(index, 0) - times * _items_written(launch, operand, buffers[index])
        if missing[index] <= 0:
            del missing[index]


def _faults_in_rounds(
    launch: Launch, buffers: Sequence[TensorSpec], counts: Sequence[int], missing: Container[int]
) -> Iterator[str]:
    """What is wrong with a launch in repeats of `counts`, whatever it is as long as in each of their rounds."""
    if not launch.growth:
        yield from _faults(launch, buffers, counts, missing)
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
    yield from itertools.chain.from_iterable(_faults(own, buffers, others, missing) for own, others in ends)


def _faults(
    launch: Launch, buffers: Sequence[TensorSpec], counts: Sequence[int], missing: Container[int]
) -> Iterator[str]:
    """What is wrong with a launch in repeats of `counts`; each check assumes that those before it passed."""
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
    if unread := [index for index in operands[: -launch.written] if index in missing]:
        yield f"reads buffer {unread[0]} before it is written"
    for operand, index in enumerate(operands):
        strides = launch.params[loops * (1 + operand) : loops * (2 + operand)]
        if launch.panels and operand == launch.panels[0] and any(strides[2:3]):
            yield f"has operand {operand} move along rows, which says that it is in panels"
        steps = [own[operand] for own in launch.steps]
        yield from _operand_faults(launch, operand, (*extents, *counts), (*strides, *steps), buffers[index])


def _operand_faults(
    launch: Launch, operand: int, extents: Sequence[int], strides: Sequence[int], spec: TensorSpec
) -> Iterator[str]:
    """What is wrong with an operand that moves by `strides` along loops, and around them from round to round."""
    by_tiles = _loops_by_tiles(launch, strides) if spec.dtype.is_block_float else ()
    if not _stays_inside(extents, strides, launch.offsets[operand], spec, by_tiles):
        yield f"leaves the memory of operand {operand}, {spec}"
    if operand < len(launch.operands) - launch.written:
        return
    if (count := _items_written(launch, operand, spec)) > spec.items:
        yield f"writes {count} elements of operand {operand}, {spec}"


def _loops_by_tiles(launch: Launch, strides: Sequence[int]) -> Container[int]:
    """The loops along which block floats are walked tile by tile: columns and rows of a tile, or of all tiles.

    They are the innermost two, or in the left operand of a contraction that which it contracts and that of rows.
    """
    contracts = bool(launch.reduced) and 0 not in launch.reduced
    return (1, 1 + len(launch.reduced)) if contracts and not strides[0] else (0, 1)


def _items_written(launch: Launch, operand: int, spec: TensorSpec) -> int:
    """How many items of a result a launch writes; one that stays along a loop which is not cut is written once."""
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
    """Whether loops from the element at `offset` of a tensor access its elements only, along some tile by tile."""
    if extents[0] == 0 and strides[0] != 0:
        return True  # it loads nothing; a scalar is loaded once a row, however short
    lowest = highest = offset
    for loop, (extent, stride) in enumerate(zip(extents, strides, strict=True)):
        last = max(0, extent - 1)
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
