"""Attention row blocking: two products with a row pass between them run one block of rows at a time.

Attention has this shape. Its scores and probabilities are positions by positions per head, and the next launch reads
each of them once, row by row, so a block of rows stays in a cache. Each row is computed as without blocks. Bound: the
bytes of one block, instead of all rows, written and read; products of the unmasked columns only
(codegen/blocking/masked_block_skipping.py).
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Container, Iterator, Mapping, Sequence

from ttnn_jit.codegen.blocking.masked_block_skipping import unmasked_columns
from ttnn_jit.codegen.schedules.bound_kernel import SHARE_OF_LAST_CACHE, BoundKernel, Operand
from ttnn_jit.codegen.schedules.host_plan import (
    Blocks,
    HostLaunch,
    HostPlan,
    LaunchIndices,
    RepeatedRounds,
    Rounds,
    launch_indices,
    of_several,
)
from ttnn_jit.codegen.schedules.kernel import Contract, LoopNest
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.plans.host_costs import last_cache_bytes
from ttnn_jit.specs.extents.divisors import greatest_of, least_of
from ttnn_jit.specs.extents.extent import computed
from ttnn_jit.specs.target import TILE_HEIGHT
from ttnn_jit.specs.tensor_spec import TensorSpec

# --- Cost -------------------------------------------------------------------------------------------------------------

BLOCK_BYTES = 1 << 20
"""Bytes of a block of rows, about a core's L2 cache, unless that makes more than `MOST_BLOCKS` blocks."""
MOST_BLOCKS = 256
"""The approximate maximum number of blocks; each head has at least one."""
_ROWS = 32
"""The rows of a block are a multiple of this, since a product packs its second operand again for each block."""


def least_bytes() -> float:
    """The least bytes of all rows for which blocks pay; fewer stay in the last-level cache anyway."""
    return SHARE_OF_LAST_CACHE * last_cache_bytes()


def _rows_per_block(scores: _Scores) -> int | None:
    """The rows of a block; None where blocking is not profitable."""
    bytes_of_row = sum(each.spec.padded_shape[-1] * each.spec.dtype.itemsize for each in scores.kept)
    if scores.count * bytes_of_row < least_bytes():
        return None
    size = computed(greatest_of, BLOCK_BYTES // bytes_of_row, -(-scores.count // MOST_BLOCKS))
    rows: int = computed(least_of, scores.rows, -(-size // _ROWS) * _ROWS)
    return rows


@dataclass(frozen=True)
class _Scores:
    """The rows that three launches share.

    Attributes:
        heads: Loops around the rows of one head: the extent of each, and the rows that one of its steps advances.
        rows: Rows of one head; a block never spans two heads.
        columns: Columns of a row.
        kept: The intermediate values, each read only by the next launch, row by row.
    """

    heads: tuple[tuple[int, int], ...]
    rows: int
    columns: int
    kept: tuple[PlanValue, ...]

    @property
    def count(self) -> int:
        """The number of rows of all heads."""
        return math.prod(count for count, _ in self.heads) * self.rows


# --- Legality ---------------------------------------------------------------------------------------------------------


@of_several
def block_attention_rows(plan: HostPlan) -> HostPlan:
    """The plan with each product, row pass and product of its result in blocks of rows."""
    launches = list(plan.launches)
    readers, _ = launch_indices(launches)
    renamed: dict[PlanValue, PlanValue] = {}
    for index in range(len(launches) - 2):
        group = launches[index : index + 3]
        scores = _scores_of(group, index, readers, plan.results) if _may_run_in_blocks(group) else None
        size = _rows_per_block(scores) if scores else None
        if scores and size:
            blocks = {each: PlanValue(_rows_as_stored(each.spec, size)) for each in scores.kept}
            launches[index : index + 3] = _in_blocks(group, scores, _split(scores, size, group, launches), blocks)
            renamed |= blocks
    written = tuple(renamed.get(value, value) for value in plan.written)
    return replace(plan, launches=tuple(launches), written=written)


def _may_run_in_blocks(group: Sequence[HostLaunch]) -> bool:
    """Whether three launches are a product, a row pass and a product."""
    first, between, last = (launch.bound.kernel for launch in group)
    passes = isinstance(between, LoopNest) and between.body.reduced is not None
    return (
        passes and isinstance(first, Contract) and isinstance(last, Contract) and not any(each.blocks for each in group)
    )


def _scores_of(
    group: Sequence[HostLaunch], index: int, readers: LaunchIndices, returned: Container[PlanValue]
) -> _Scores | None:
    """The rows of the three launches from `index` on; None if they do not visit rows in one order."""
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
    """The loops over heads that refine those of all launches; empty where a launch has its rows in several loops."""
    spans = [total, rows]
    for launch in group:
        extents = launch.bound.loops.extents[: _outer_loops(launch.bound.loops, total)]
        spans += itertools.accumulate(reversed(extents), operator.mul)
    ordered = [span for span, _ in itertools.groupby(sorted(spans))]
    if any(above % below for below, above in itertools.pairwise(ordered)) or ordered[0] != rows:
        return ()
    return tuple((above // below, below) for below, above in itertools.pairwise(ordered))[::-1]


def _has_packed_rows(product: BoundKernel) -> bool:
    left, _ = product.product.factors
    return product.kernel.streams[left].dtype.is_block_float


def _rows_of(nest: LaunchLoops) -> tuple[int, int]:
    """The number of heads of a product and the rows of each: the extents of the loops around a row."""
    outer = [extent for index, extent in enumerate(nest.extents[:-1]) if _loop(nest, index) not in nest.reduced]
    return (math.prod(outer[:-1]), outer[-1]) if outer else (0, 0)


def _loop(nest: LaunchLoops, index: int) -> int:
    return len(nest.extents) - 1 - index


def _differs_by_head(nest: LaunchLoops) -> bool:
    """Whether the operand that is invariant in rows differs by head, so that little is packed twice."""
    along = max(index for index, _ in enumerate(nest.extents[:-1]) if _loop(nest, index) not in nest.reduced)
    return any(not strides[along] and any(strides[:along]) for strides in nest.strides)


def _span_of_row(value: PlanValue, group: Sequence[HostLaunch], total: int) -> int:
    """The stride between rows of a value, in elements, if all launches visit its rows in sequence; else 0."""
    spans: list[int] = []
    for launch in group:
        nest = launch.bound.loops
        depth = _outer_loops(nest, total)
        for operand, strides, offset in zip(launch.bound.operands, nest.strides, nest.offsets, strict=True):
            if operand.value is value:
                spans.append(_span(nest, strides, depth) if depth and not offset else 0)
    return spans[0] if spans and all(span == spans[0] for span in spans) else 0


def _span(nest: LaunchLoops, strides: Sequence[int], depth: int) -> int:
    """The stride of the last outer loop, if the outer loops are dense over it and a row fits within it; else 0."""
    span = strides[depth - 1]
    inner = sum((extent - 1) * stride for extent, stride in zip(nest.extents[depth:], strides[depth:], strict=True))
    return span if span > inner and min(strides[depth:], default=0) >= 0 else 0


def _outer_loops(nest: LaunchLoops, total: int) -> int:
    """The number of outermost loops whose extents multiply to `total` and that may be split; 0 if there are none."""
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
    """A range of rows of a head.

    Attributes:
        first: The first row.
        count: The number of rows.
        columns: The first unmasked column and the number of unmasked columns; None: no column is masked.
    """

    first: int
    count: int
    columns: tuple[int, int] | None = None

    def offset_to(self, other: _Part) -> tuple[int, ...] | None:
        """The offsets of another part's first row and first column, and how many more columns it has.

        None where the parts are not comparable: their row counts differ, or one of them has all columns.
        """
        if self.count != other.count or (self.columns is None) is not (other.columns is None):
            return None
        own, others = ((each.first, *(each.columns or (0, 0))) for each in (self, other))
        return tuple(map(operator.sub, others, own))


@dataclass(frozen=True)
class _Run:
    """Parts in order that are evenly spaced.

    Attributes:
        first: The first part.
        second: The second part; None if there is one part.
        count: The number of parts.
    """

    first: _Part
    second: _Part | None = None
    count: int = 1


@dataclass(frozen=True)
class _Split:
    """The blocks of heads.

    Attributes:
        first: The blocks of the first head.
        others: Those of every other head.
        count: The number of blocks of a head.
        share: The share of elements in their columns.
    """

    first: tuple[_Run, ...]
    others: tuple[_Run, ...]
    count: int
    share: float = 1


def _split(scores: _Scores, size: int, group: Sequence[HostLaunch], launches: Sequence[HostLaunch]) -> _Split:
    """The blocks of a head; with masked columns, the last rows come first.

    The first block has the largest number of rows: it writes every element that later blocks read without writing it.
    """
    rows, every = scores.rows, (0, scores.columns)
    plain = _in_equal_parts(rows, size)
    if _has_packed_rows(group[0].bound) and rows % TILE_HEIGHT:
        return plain  # the ends of blocks, not their beginnings, are aligned to tiles
    unmasked = unmasked_columns(group, launches)
    if unmasked((0, 1)) == every == unmasked((rows - 1, 1)):
        return plain
    from_last = [(max(0, end - size), min(end, size)) for end in range(rows, 0, -size)]
    parts = [_Part(*part, columns if columns != every else None) for part in from_last for columns in [unmasked(part)]]
    met = sum(part.count * (part.columns or every)[1] for part in parts)
    # The very first block has all columns, so that every column that is read was written.
    first = [replace(parts[0], columns=None), *parts[1:]]
    return _Split(tuple(_evenly_spaced(first)), tuple(_evenly_spaced(parts)), len(parts), met / (rows * scores.columns))


def _in_equal_parts(rows: int, size: int) -> _Split:
    """Blocks of `size` rows, but for the last one; the number of rows may be an extent of a trace."""
    whole, rest = divmod(rows, size)
    runs = [_Run(_Part(0, size), _Part(size, size) if whole > 1 else None, whole)]
    if rest:
        runs.append(_Run(_Part(whole * size, rest)))
    return _Split(tuple(runs), tuple(runs), -(-rows // size))


def _in_blocks(
    group: Sequence[HostLaunch], scores: _Scores, split: _Split, kept: Mapping[PlanValue, PlanValue]
) -> list[HostLaunch]:
    """The launches block by block; values in `kept` are replaced by buffers of one block."""
    *producers, consumer = (launch.name for launch in group)
    count = split.count * scores.count // scores.rows
    blocks = Blocks(tuple(producers), consumer, "rows", split.others[0].first.count, count, split.share)
    return [
        replace(
            launch,
            bound=_with_values(launch.bound, kept),
            blocks=blocks,
            rounds=_Rows(launch.bound, scores.count, kept).of_heads(scores.heads, 0, split.first, split.others),
        )
        for launch in group
    ]


def _with_values(bound: BoundKernel, others: Mapping[PlanValue, PlanValue]) -> BoundKernel:
    """A kernel with some of its values replaced."""
    return bound.with_operands([Operand(others.get(each.value, each.value), each.view) for each in bound.operands])


@dataclass(frozen=True)
class _Rows:
    """The rows that a kernel visits.

    Attributes:
        bound: The kernel with its operands.
        count: The number of rows.
        kept: Values of which only a block is in memory.
    """

    bound: BoundKernel
    count: int
    kept: Container[PlanValue]

    def of_heads(
        self, heads: Sequence[tuple[int, int]], start: int, first: Sequence[_Run], others: Sequence[_Run]
    ) -> Rounds:
        """The rounds of all heads from row `start` on; the first head is split into other parts than the rest."""
        if not heads:
            return tuple(self._of_head(start, first))
        (count, span), *inner = heads
        if first == others:
            return (RepeatedRounds(count, self._moves(span), self.of_heads(inner, start, first, others)),)
        rest = self.of_heads(inner, start + span, others, others)
        return (*self.of_heads(inner, start, first, others), RepeatedRounds(count - 1, self._moves(span), rest))

    def _of_head(self, start: int, runs: Sequence[_Run]) -> Iterator[LaunchLoops | RepeatedRounds]:
        """The rounds of one head; evenly spaced parts become one repeated part."""
        for run in runs:
            nest = self._nest(start, run.first)
            if run.second is None:
                yield nest
                continue
            following = self._nest(start, run.second)
            steps, growth = (
                tuple(map(operator.sub, after, before))
                for after, before in ((following.offsets, nest.offsets), (following.extents, nest.extents))
            )
            yield RepeatedRounds(run.count, steps, (nest,), growth if any(growth) else ())

    def _nest(self, start: int, part: _Part) -> LaunchLoops:
        nest, depth = self.bound.loops, _outer_loops(self.bound.loops, self.count)
        inner, offsets = list(nest.extents[depth:]), [*map(operator.add, nest.offsets, self._moves(start + part.first))]
        if part.columns is not None:
            across = _loop_of_columns(self.bound, self.kept)
            first, inner[across - depth] = part.columns
            offsets = [offset + first * strides[across] for offset, strides in zip(offsets, nest.strides, strict=True)]
        return replace(nest, extents=(*(1,) * (depth - 1), part.count, *inner), offsets=tuple(offsets))

    def _moves(self, rows: int) -> tuple[int, ...]:
        """Per operand, the distance in elements between a row and the one `rows` rows later."""
        nest, depth = self.bound.loops, _outer_loops(self.bound.loops, self.count)
        indices = list[int]()
        for extent in reversed(nest.extents[1:depth]):
            rows, index = divmod(rows, extent)
            indices.insert(0, index)
        operands = zip(self.bound.operands, nest.strides, strict=True)
        return tuple(
            0 if operand.value in self.kept else sum(map(operator.mul, (rows, *indices), strides))
            for operand, strides in operands
        )


def _evenly_spaced(parts: Sequence[_Part]) -> Iterator[_Run]:
    """Parts in order, grouped into runs of equal distance; parts with different column ranges stay apart."""
    while parts:
        apart, alike = next(
            itertools.groupby(itertools.starmap(_Part.offset_to, itertools.pairwise(parts))), (None, ())
        )
        following = len([*alike]) if apart else 0
        count = 1 + following if apart and (following > 1 or not any(apart[1:])) else 1
        yield _Run(parts[0], parts[1] if count > 1 else None, count)
        parts = parts[count:]


def _loop_of_columns(bound: BoundKernel, kept: Container[PlanValue]) -> int:
    """The index of the loop over columns of the kept values, among the loops that blocks do not split."""
    writes = isinstance(bound.kernel, Contract) and bound.outputs[0].value in kept
    return len(bound.loops.extents) - 1 - (0 if writes else bound.loops.reduced[0])


def _rows_as_stored(spec: TensorSpec, count: int) -> TensorSpec:
    """`count` rows of a tensor, with the row stride of the whole."""
    return TensorSpec((count, tuple(spec.shape)[-1]), spec.dtype, spec.layout, spec.memory_config.unsharded)
