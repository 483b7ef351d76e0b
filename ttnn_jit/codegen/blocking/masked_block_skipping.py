"""Masked-block skipping: score columns that a mask hides from all rows of a block are not computed.

If all scores of some columns are neutral in the row pass (-infinity under a softmax) and it maps them to 0, the second
product adds nothing for them, so they are skipped. The bits of the other columns do not change: the chains of a row's
reductions restart every `CHAINS` columns, so that a range begins and ends there; behind the first `BLOCK` columns it
only ends there.

The analysis assumes that a row's own results (its largest score, the sum of its exponentials) are finite and not 0, and
that the values of keys are finite. Otherwise a row that includes a masked key is NaN, and one that skips it may not be.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from ttnn_jit.codegen.blocking.value_ranges import FINITE_NOT_ZERO, Box, Range, ValueRanges
from ttnn_jit.codegen.bodies.body_analysis import REDUCTION_OF_TILE
from ttnn_jit.codegen.bodies.steps import Accumulate, Load, Step, Store, operands_of
from ttnn_jit.codegen.fusion.sweeps import wide_steps
from ttnn_jit.codegen.schedules.host_plan import HostLaunch
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.ops.families.reduction import BLOCK, CHAINS, SHORT_ROW

Part = tuple[int, int]
"""A range of columns: the first one, and their number."""


def unmasked_columns(group: Sequence[HostLaunch], launches: Sequence[HostLaunch]) -> Callable[[Part], Part]:
    """A function from a range of rows of a head to its range of unmasked columns.

    Args:
        group: A product, a row pass and a product.
        launches: All launches of the program.
    """
    columns = group[0].bound.loops.extents[-1]
    if columns > SHORT_ROW or not _meet_columns(group, columns):
        return lambda _: (0, columns)
    ranges = ValueRanges(launches, group[0].bound.body.numerics)
    groups = -(-columns // CHAINS)

    def before(end: int) -> int:
        """The number of columns of the first groups."""
        return columns if end == groups else end * CHAINS

    def unmasked(rows: Part) -> Part:
        def masked(begin: int, end: int) -> bool:
            return _take_no_part(group, ranges, rows, (begin * CHAINS, before(end) - begin * CHAINS))

        end = max(_least(groups, lambda begin: masked(begin, groups)), 1)
        begin = end - _least(end, lambda count: masked(0, end - count)) if columns <= BLOCK else 0
        start = min(begin, end - 1) * CHAINS
        return start, before(end) - start

    return unmasked


def _meet_columns(group: Sequence[HostLaunch], columns: int) -> bool:
    """Whether the row pass reduces the columns of the first product, and the second product contracts them."""
    _, between, last = (launch.bound for launch in group)
    factors = {last.inputs[k].value for k in last.product.factors}
    along = [each.loops.extents[-1 - loop] for each in (between, last) for loop in each.loops.reduced]
    return between.loops.uncut == (0,) and along == [columns] * 2 and between.outputs[0].value in factors


def _take_no_part(group: Sequence[HostLaunch], ranges: ValueRanges, rows: Part, columns: Part) -> bool:
    """Whether the result does not depend on a range of columns in a range of rows of every head."""
    first, between = (launch.bound for launch in group[:2])
    box = [(0, extent - 1) for extent in first.loops.extents]
    box[-1] = columns[0], sum(columns) - 1
    box[-2 - len(first.loops.reduced)] = rows[0], sum(rows) - 1
    made = ranges.stored(group[0], box, {})
    if not made.is_only(made.low):
        return False
    beside = [(0, extent - 1) for extent in between.loops.extents]
    beside[-1] = box[-1]
    return _is_not_noticed(group[1], beside, ranges, {first.outputs[0].value: made})


def _least(most: int, holds: Callable[[int], bool]) -> int:
    """The least number for which `holds` is true, by bisection; `holds(most)` is assumed."""
    return bisect_left(range(most), True, key=holds) if holds(most - 1) else most


def _is_not_noticed(launch: HostLaunch, box: Box, ranges: ValueRanges, known: Mapping[PlanValue, Range]) -> bool:
    """Whether a row pass does not depend on these columns and stores 0 for them."""
    body = launch.bound.body
    wide = wide_steps(body)

    def assumed(index: int) -> Range | None:
        step = body.steps[index]
        return None if wide[index] or not (isinstance(step, Load) or operands_of(step)) else FINITE_NOT_ZERO

    found = ranges.steps(launch, box, known, assumed)
    return all(_leaves_alone(step, found, wide) for step in body.steps)


def _leaves_alone(step: Step, found: Sequence[Range], wide: Sequence[bool]) -> bool:
    match step:
        case Accumulate():
            identity = REDUCTION_OF_TILE[step.tile_name].identity
            return wide[step.operand] and found[step.operand].is_only(identity)
        case Store():
            return found[step.operand].is_only(0.0)
        case _:
            return True
