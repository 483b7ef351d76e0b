"""Blocks of scores: two products with a pass over rows between them run for some rows after others.

So runs attention, whose scores and probabilities are as large as positions by positions for every head, and are read
once, by the next launch, row by row: a block of their rows lies in a cache. A row is computed as it is without blocks.
Bound: the bytes of the block, instead of those of all rows, written and read; the products of the columns that take
part (codegen/host/unseen_columns.py).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from ttnn_jit.codegen.bound_kernel import SHARE_OF_LAST_CACHE, BoundKernel, Operand
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan, Places, ScoreBlocks, places_by_value
from ttnn_jit.codegen.host.unseen_columns import seen_columns
from ttnn_jit.codegen.kernel import Contract, LoopNest
from ttnn_jit.codegen.launch import LaunchLoops
from ttnn_jit.codegen.plan_value import PlanValue
from ttnn_jit.runtime.host_costs import last_cache_bytes
from ttnn_jit.specs.target import TILE_HEIGHT
from ttnn_jit.specs.tensor_spec import TensorSpec

BLOCK_BYTES = 1 << 20
"""Of rows that are kept at a time, where that leaves no more than `MOST_BLOCKS`: what a core's second cache holds."""
MOST_BLOCKS = 256
"""About as many at most, and at least one for each head."""
_ROWS = 32
"""Of which a block has a multiple: a product packs its second operand anew for each."""


def least_bytes() -> float:
    """Of all rows that run in blocks: fewer stay in the last cache, and each block is a launch with its own start."""
    return SHARE_OF_LAST_CACHE * last_cache_bytes()


def block_scores(plan: HostPlan) -> HostPlan:
    """Every product, pass over its rows, and product of what that leaves, in blocks of rows."""
    launches = list(plan.launches)
    readers, _ = places_by_value(launches)
    for place in range(len(launches) - 2):
        group = launches[place : place + 3]
        if not _may_run_in_blocks(group):
            continue
        blocks = _blocks_of(group, place, readers, plan.results)
        if blocks is not None:
            blocks = _without_unseen(blocks, group, launches)
            launches[place : place + 3] = [replace(launch, blocks=blocks) for launch in group]
    return replace(plan, launches=tuple(launches))


def _may_run_in_blocks(group: Sequence[HostLaunch]) -> bool:
    """Whether launches are a product, a pass over rows, and a product."""
    first, between, last = (launch.bound.kernel for launch in group)
    passes = isinstance(between, LoopNest) and between.body.reduced is not None
    return (
        passes and isinstance(first, Contract) and isinstance(last, Contract) and not any(each.blocks for each in group)
    )


def _blocks_of(
    group: Sequence[HostLaunch], place: int, readers: Places, returned: Container[PlanValue]
) -> ScoreBlocks | None:
    """The blocks that three launches run in, of which the first stands at `place`; None if they are no such."""
    first, between, last = (launch.bound for launch in group)
    kept = [each.outputs[0] for each in (first, between) if len(each.outputs) == 1]
    own = range(place, place + len(group))
    if len(kept) < 2 or any(each.value in returned or set(readers[each.value]) - set(own) for each in kept):
        return None
    heads, rows = _rows_of(first.loops)
    spans = [_span_of_row(each.value, group, heads * rows) for each in kept]
    if heads < 2 or spans != [each.value.spec.padded_shape[-1] for each in kept]:
        return None
    if not _differs_by_head(first.loops) or not _differs_by_head(last.loops):
        return None
    bytes_of_row = sum(span * each.view.spec.dtype.itemsize for span, each in zip(spans, kept, strict=True))
    if heads * rows * bytes_of_row < least_bytes():
        return None
    size = max(BLOCK_BYTES // bytes_of_row, -(-heads * rows // MOST_BLOCKS), 1)
    size = min(rows, -(-size // _ROWS) * _ROWS)
    columns = first.loops.extents[-1]
    return ScoreBlocks(heads, rows, columns, size, tuple(each.value for each in kept))


def _without_unseen(blocks: ScoreBlocks, group: Sequence[HostLaunch], launches: Sequence[HostLaunch]) -> ScoreBlocks:
    """The blocks with the columns that take part, unless all do."""
    if blocks.rows % TILE_HEIGHT and _has_packed_rows(group[0].bound):
        return blocks  # which end, not begin, at whole tiles
    seen = seen_columns(group, launches)
    every = (0, blocks.columns)
    if seen((0, 1)) == every == seen((blocks.rows - 1, 1)):
        return blocks
    from_last = replace(blocks, seen=(every,))
    return replace(blocks, seen=tuple(map(seen, from_last.of_head)))


def _has_packed_rows(product: BoundKernel) -> bool:
    left, _ = product.product.factors
    return product.kernel.streams[left].dtype.is_block_float


def _rows_of(nest: LaunchLoops) -> tuple[int, int]:
    """How many heads, and rows of one, a product has: its loops before those of a row."""
    outer = [extent for place, extent in enumerate(nest.extents[:-1]) if _loop(nest, place) not in nest.reduced]
    return (math.prod(outer[:-1]), outer[-1]) if outer else (0, 0)


def _loop(nest: LaunchLoops, place: int) -> int:
    return len(nest.extents) - 1 - place


def _differs_by_head(nest: LaunchLoops) -> bool:
    """Whether the operand that no row moves through is another for each head, so that none is packed twice for long."""
    along = max(place for place, _ in enumerate(nest.extents[:-1]) if _loop(nest, place) not in nest.reduced)
    return any(not strides[along] and any(strides[:along]) for strides in nest.strides)


def _span_of_row(value: PlanValue, group: Sequence[HostLaunch], total: int) -> int:
    """The elements from a row of a value to the next, where all launches meet its rows one after the other; else 0."""
    spans = set()
    for launch in group:
        nest = launch.bound.loops
        depth = _outer_loops(nest, total)
        for operand, strides, offset in zip(_operands(launch.bound), nest.strides, nest.offsets, strict=True):
            if operand.value is value:
                spans.add(_span(nest, strides, depth) if depth and not offset else 0)
    return spans.pop() if len(spans) == 1 else 0


def _span(nest: LaunchLoops, strides: Sequence[int], depth: int) -> int:
    """The stride of the last outer loop, where the others follow it and a row lies within it; else 0."""
    span = strides[depth - 1]
    inner = sum((extent - 1) * stride for extent, stride in zip(nest.extents[depth:], strides[depth:], strict=True))
    return span if span > inner and min(strides[depth:], default=0) >= 0 else 0


def _operands(bound: BoundKernel) -> tuple[Operand, ...]:
    return (*bound.inputs, *bound.outputs)


def _outer_loops(nest: LaunchLoops, total: int) -> int:
    """How many loops, the outermost ones, have so many indices together, and are not reduced; 0 if none."""
    count = 1
    for place, extent in enumerate(nest.extents):
        if _loop(nest, place) in nest.reduced:
            return 0
        count *= extent
        if count == total:
            return place + 1
    return 0


def in_order(launches: Sequence[HostLaunch]) -> Iterator[tuple[int, LaunchLoops]]:
    """What runs one after the other: which launch, and over which loops."""
    for blocks, group in itertools.groupby(enumerate(launches), key=lambda each: each[1].blocks):
        own = [[(place, nest) for nest in _nests_of(launch)] for place, launch in group]
        for runs in own if blocks is None else zip(*own, strict=True):
            yield from runs


def _nests_of(launch: HostLaunch) -> Iterator[LaunchLoops]:
    """The loops of a launch, block by block; those that it has, without blocks."""
    nest, blocks = launch.bound.loops, launch.blocks
    if blocks is None:
        yield nest
        return
    kept = set(blocks.kept)
    depth = _outer_loops(nest, blocks.heads * blocks.rows)
    shifts = [operand.value not in kept for operand in _operands(launch.bound)]
    across = _loop_of_columns(launch.bound, kept)
    for start, count, part in blocks.blocks:
        indices = _indices(start, nest.extents[:depth])
        inner = list(nest.extents[depth:])
        first = 0
        if part is not None:
            first, inner[across - depth] = part
        offsets = tuple(
            offset + sum(map(int.__mul__, indices, strides[:depth])) * shifted + first * strides[across]
            for offset, strides, shifted in zip(nest.offsets, nest.strides, shifts, strict=True)
        )
        yield replace(nest, extents=(*(1,) * (depth - 1), count, *inner), offsets=offsets)


def _loop_of_columns(bound: BoundKernel, kept: Container[PlanValue]) -> int:
    """Which loop, of those that blocks do not cut, walks the columns of what is kept."""
    writes = isinstance(bound.kernel, Contract) and bound.outputs[0].value in kept
    return len(bound.loops.extents) - 1 - (0 if writes else bound.loops.reduced[0])


def _indices(flat: int, extents: Sequence[int]) -> tuple[int, ...]:
    """The index of the element at `flat` in row-major order."""
    found: list[int] = []
    for extent in reversed(extents):
        flat, index = divmod(flat, extent)
        found.append(index)
    return tuple(reversed(found))


def kept_specs(launches: Sequence[HostLaunch]) -> dict[PlanValue, TensorSpec]:
    """What is in memory of the values of which a block of rows is kept at a time."""
    blocks = {launch.blocks for launch in launches if launch.blocks is not None}
    return {value: _rows_as_stored(value.spec, each.size) for each in blocks for value in each.kept}


def _rows_as_stored(spec: TensorSpec, count: int) -> TensorSpec:
    """So many rows of a tensor, as far apart as they are in it."""
    return TensorSpec((count, tuple(spec.shape)[-1]), spec.dtype, spec.layout, spec.memory_config.unsharded)
