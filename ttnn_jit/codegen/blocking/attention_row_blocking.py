"""Attention row blocking: two products with a pass over rows between them run block of rows by block of rows.

So runs attention, whose scores and probabilities are as large as positions by positions for every head, and are read
once, by the next launch, row by row: a block of their rows lies in a cache. A row is computed as it is without blocks.
Bound: the bytes of the block, instead of those of all rows, written and read; the products of the columns that take
part (codegen/blocking/masked_block_skipping.py).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ttnn_jit.codegen.blocking.masked_block_skipping import unmasked_columns
from ttnn_jit.codegen.schedules.bound_kernel import SHARE_OF_LAST_CACHE, BoundKernel, Operand
from ttnn_jit.codegen.schedules.host_plan import (
    Again,
    Blocks,
    HostLaunch,
    HostPlan,
    LaunchIndices,
    Rounds,
    launch_indices,
)
from ttnn_jit.codegen.schedules.kernel import Contract, LoopNest
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.host_costs import last_cache_bytes
from ttnn_jit.specs.target import TILE_HEIGHT
from ttnn_jit.specs.tensor_spec import TensorSpec

# --- Cost -------------------------------------------------------------------------------------------------------------

BLOCK_BYTES = 1 << 20
"""Of rows that are kept at a time, where that leaves no more than `MOST_BLOCKS`: what a core's second cache holds."""
MOST_BLOCKS = 256
"""About as many at most, and at least one for each head."""
_ROWS = 32
"""Of which a block has a multiple: a product packs its second operand anew for each."""


def least_bytes() -> float:
    """Of all rows that run in blocks: fewer stay in the last cache, and each block is a launch with its own start."""
    return SHARE_OF_LAST_CACHE * last_cache_bytes()


def _rows_per_block(scores: _Scores) -> int | None:
    """The rows of a block; None where blocks do not pay."""
    bytes_of_row = sum(each.spec.padded_shape[-1] * each.spec.dtype.itemsize for each in scores.kept)
    if scores.count * bytes_of_row < least_bytes():
        return None
    size = max(BLOCK_BYTES // bytes_of_row, -(-scores.count // MOST_BLOCKS), 1)
    return min(scores.rows, -(-size // _ROWS) * _ROWS)


@dataclass(frozen=True)
class _Scores:
    """What rows three launches have.

    Attributes:
        heads: Loops around the rows of one head: how often each runs, and how many rows one step of it passes.
        rows: Of one head; no block has rows of two.
        columns: Of a row.
        kept: What is read by the next of the launches alone, row by row.
    """

    heads: tuple[tuple[int, int], ...]
    rows: int
    columns: int
    kept: tuple[PlanValue, ...]

    @property
    def count(self) -> int:
        """Of all rows."""
        return math.prod(count for count, _ in self.heads) * self.rows


# --- Legality ---------------------------------------------------------------------------------------------------------


def block_attention_rows(plan: HostPlan) -> HostPlan:
    """Every product, pass over its rows, and product of what that leaves, in blocks of rows."""
    launches = list(plan.launches)
    readers, _ = launch_indices(launches)
    renamed: dict[PlanValue, PlanValue] = {}
    for index in range(len(launches) - 2):
        group = launches[index : index + 3]
        scores = _scores_of(group, index, readers, plan.results) if _may_run_in_blocks(group) else None
        size = _rows_per_block(scores) if scores else None
        if scores and size:
            blocks = {each: PlanValue(_rows_as_stored(each.spec, size)) for each in scores.kept}
            launches[index : index + 3] = _in_blocks(group, scores, _parts(scores, size, group, launches), blocks)
            renamed |= blocks
    written = tuple(renamed.get(value, value) for value in plan.written)
    return replace(plan, launches=tuple(launches), written=written)


def _may_run_in_blocks(group: Sequence[HostLaunch]) -> bool:
    """Whether launches are a product, a pass over rows, and a product."""
    first, between, last = (launch.bound.kernel for launch in group)
    passes = isinstance(between, LoopNest) and between.body.reduced is not None
    return (
        passes and isinstance(first, Contract) and isinstance(last, Contract) and not any(each.blocks for each in group)
    )


def _scores_of(
    group: Sequence[HostLaunch], index: int, readers: LaunchIndices, returned: Container[PlanValue]
) -> _Scores | None:
    """What three launches have, of which the first stands at `index`; None if they do not meet rows in one order."""
    first, between, last = (launch.bound for launch in group)
    kept = [each.outputs[0].value for each in (first, between) if len(each.outputs) == 1]
    own = range(index, index + len(group))
    if len(kept) < 2 or any(each in returned or set(readers[each]) - set(own) for each in kept):
        return None
    heads, rows = _rows_of(first.loops)
    spans = [_span_of_row(each, group, heads * rows) for each in kept]
    if heads < 2 or spans != [each.spec.padded_shape[-1] for each in kept]:
        return None
    loops = _loops_around_rows(group, heads * rows, rows)
    if not loops or not _differs_by_head(first.loops) or not _differs_by_head(last.loops):
        return None
    return _Scores(loops, rows, first.loops.extents[-1], tuple(kept))


def _loops_around_rows(group: Sequence[HostLaunch], total: int, rows: int) -> tuple[tuple[int, int], ...]:
    """The loops over heads that those of all launches are made of; none where one has rows in several loops."""
    spans = {total, rows}
    for launch in group:
        extents = launch.bound.loops.extents[: _outer_loops(launch.bound.loops, total)]
        spans.update(itertools.accumulate(reversed(extents), int.__mul__))
    ordered = sorted(spans)
    if any(above % below for below, above in itertools.pairwise(ordered)) or ordered[0] != rows:
        return ()
    return tuple((above // below, below) for below, above in itertools.pairwise(ordered))[::-1]


def _has_packed_rows(product: BoundKernel) -> bool:
    left, _ = product.product.factors
    return product.kernel.streams[left].dtype.is_block_float


def _rows_of(nest: LaunchLoops) -> tuple[int, int]:
    """How many heads, and rows of one, a product has: its loops before those of a row."""
    outer = [extent for index, extent in enumerate(nest.extents[:-1]) if _loop(nest, index) not in nest.reduced]
    return (math.prod(outer[:-1]), outer[-1]) if outer else (0, 0)


def _loop(nest: LaunchLoops, index: int) -> int:
    return len(nest.extents) - 1 - index


def _differs_by_head(nest: LaunchLoops) -> bool:
    """Whether the operand that no row moves through is another for each head, so that none is packed twice for long."""
    along = max(index for index, _ in enumerate(nest.extents[:-1]) if _loop(nest, index) not in nest.reduced)
    return any(not strides[along] and any(strides[:along]) for strides in nest.strides)


def _span_of_row(value: PlanValue, group: Sequence[HostLaunch], total: int) -> int:
    """The elements from a row of a value to the next, where all launches meet its rows one after the other; else 0."""
    spans = set()
    for launch in group:
        nest = launch.bound.loops
        depth = _outer_loops(nest, total)
        for operand, strides, offset in zip(launch.bound.operands, nest.strides, nest.offsets, strict=True):
            if operand.value is value:
                spans.add(_span(nest, strides, depth) if depth and not offset else 0)
    return spans.pop() if len(spans) == 1 else 0


def _span(nest: LaunchLoops, strides: Sequence[int], depth: int) -> int:
    """The stride of the last outer loop, where the others follow it and a row lies within it; else 0."""
    span = strides[depth - 1]
    inner = sum((extent - 1) * stride for extent, stride in zip(nest.extents[depth:], strides[depth:], strict=True))
    return span if span > inner and min(strides[depth:], default=0) >= 0 else 0


def _outer_loops(nest: LaunchLoops, total: int) -> int:
    """How many loops, the outermost ones, have so many indices together, and may be cut; 0 if none."""
    count = 1
    for index, extent in enumerate(nest.extents):
        if _loop(nest, index) in nest.uncut:
            return 0
        count *= extent
        if count == total:
            return index + 1
    return 0


# --- Blocks -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """Some rows of a head.

    Attributes:
        first: Of them.
        count: How many there are.
        columns: The first of the columns that take part, and how many they are; None: all do.
    """

    first: int
    count: int
    columns: tuple[int, int] | None = None

    def apart(self, other: _Part) -> tuple[int, ...] | None:
        """How much later the rows and columns of another part begin, and how many more columns it has.

        None where they are not to be compared: they have another number of rows, or one of them has all columns.
        """
        if self.count != other.count or (self.columns is None) is not (other.columns is None):
            return None
        own, others = ((each.first, *(each.columns or (0, 0))) for each in (self, other))
        return tuple(map(int.__sub__, others, own))


def _parts(scores: _Scores, size: int, group: Sequence[HostLaunch], launches: Sequence[HostLaunch]) -> list[_Part]:
    """The blocks of a head; if not all columns take part, last rows first.

    The first one has as many rows as any: it writes all that the others read, or did not write.
    """
    rows, every = scores.rows, (0, scores.columns)
    plain = [_Part(row, min(size, rows - row)) for row in range(0, rows, size)]
    if rows % TILE_HEIGHT and _has_packed_rows(group[0].bound):
        return plain  # which end, not begin, at whole tiles
    unmasked = unmasked_columns(group, launches)
    if unmasked((0, 1)) == every == unmasked((rows - 1, 1)):
        return plain
    from_last = [(max(0, end - size), min(end, size)) for end in range(rows, 0, -size)]
    return [_Part(*part, columns if columns != every else None) for part in from_last for columns in [unmasked(part)]]


def _in_blocks(
    group: Sequence[HostLaunch], scores: _Scores, parts: Sequence[_Part], kept: Mapping[PlanValue, PlanValue]
) -> list[HostLaunch]:
    """The launches block by block; what is `kept` is in memory as another value, of one block."""
    met = sum(part.count * (part.columns or (0, scores.columns))[1] for part in parts)
    *producers, consumer = (launch.name for launch in group)
    count, share = len(parts) * scores.count // scores.rows, met / (scores.rows * scores.columns)
    blocks = Blocks(tuple(producers), consumer, "rows", parts[0].count, count, share)
    # The very first block has all columns, so that none that is read is not written.
    first = [replace(parts[0], columns=None), *parts[1:]]
    return [
        replace(
            launch,
            bound=_with_values(launch.bound, kept),
            blocks=blocks,
            rounds=_Rows(launch.bound, scores.count, kept).of_heads(scores.heads, 0, first, parts),
        )
        for launch in group
    ]


def _with_values(bound: BoundKernel, others: Mapping[PlanValue, PlanValue]) -> BoundKernel:
    """A kernel with other values in the place of some."""
    return bound.with_operands([Operand(others.get(each.value, each.value), each.view) for each in bound.operands])


@dataclass(frozen=True)
class _Rows:
    """The rows that a kernel meets.

    Attributes:
        bound: What meets them.
        count: Of all.
        kept: Values of which a block is in memory.
    """

    bound: BoundKernel
    count: int
    kept: Container[PlanValue]

    def of_heads(
        self, heads: Sequence[tuple[int, int]], start: int, first: Sequence[_Part], others: Sequence[_Part]
    ) -> Rounds:
        """The rounds of heads, from row `start` on, of which the first one has other parts than the others."""
        if not heads:
            return tuple(self._of_head(start, first))
        (count, span), *inner = heads
        if first == others:
            return (Again(count, self._moves(span), self.of_heads(inner, start, first, others)),)
        rest = self.of_heads(inner, start + span, others, others)
        return (*self.of_heads(inner, start, first, others), Again(count - 1, self._moves(span), rest))

    def _of_head(self, start: int, parts: Sequence[_Part]) -> Iterator[LaunchLoops | Again]:
        """The rounds of one head; of parts from one of which to the next it is as far, one is repeated."""
        for alike in _evenly_apart(parts):
            nest, *following = (self._nest(start, part) for part in alike)
            if following:
                steps, growth = (
                    tuple(map(int.__sub__, after, before))
                    for after, before in ((following[0].offsets, nest.offsets), (following[0].extents, nest.extents))
                )
                yield Again(len(alike), steps, (nest,), growth if any(growth) else ())
            else:
                yield nest

    def _nest(self, start: int, part: _Part) -> LaunchLoops:
        nest, depth = self.bound.loops, _outer_loops(self.bound.loops, self.count)
        inner, offsets = list(nest.extents[depth:]), [*map(int.__add__, nest.offsets, self._moves(start + part.first))]
        if part.columns is not None:
            across = _loop_of_columns(self.bound, self.kept)
            first, inner[across - depth] = part.columns
            offsets = [offset + first * strides[across] for offset, strides in zip(offsets, nest.strides, strict=True)]
        return replace(nest, extents=(*(1,) * (depth - 1), part.count, *inner), offsets=tuple(offsets))

    def _moves(self, rows: int) -> tuple[int, ...]:
        """Per operand, the elements from one row to what is so many rows behind it."""
        nest, depth = self.bound.loops, _outer_loops(self.bound.loops, self.count)
        indices = [*map(int, np.unravel_index(rows, nest.extents[:depth]))]
        operands = zip(self.bound.operands, nest.strides, strict=True)
        return tuple(
            0 if operand.value in self.kept else sum(map(int.__mul__, indices, strides))
            for operand, strides in operands
        )


def _evenly_apart(parts: Sequence[_Part]) -> Iterator[Sequence[_Part]]:
    """Parts in order, together where each is as far behind the one before; two that differ in their columns are not."""
    while parts:
        apart, alike = next(itertools.groupby(itertools.starmap(_Part.apart, itertools.pairwise(parts))), (None, ()))
        following = len([*alike]) if apart else 0
        count = 1 + following if apart and (following > 1 or not any(apart[1:])) else 1
        yield parts[:count]
        parts = parts[count:]


def _loop_of_columns(bound: BoundKernel, kept: Container[PlanValue]) -> int:
    """Which loop, of those that blocks do not cut, walks the columns of what is kept."""
    writes = isinstance(bound.kernel, Contract) and bound.outputs[0].value in kept
    return len(bound.loops.extents) - 1 - (0 if writes else bound.loops.reduced[0])


def _rows_as_stored(spec: TensorSpec, count: int) -> TensorSpec:
    """So many rows of a tensor, as far apart as they are in it."""
    return TensorSpec((count, tuple(spec.shape)[-1]), spec.dtype, spec.layout, spec.memory_config.unsharded)
