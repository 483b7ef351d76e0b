"""Permutations and reshapes in steps, each of which moves the last two dimensions, or leaves the last one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.made_attributes import integers_in, shape_of
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import permute, reshape

_DONE = "decomposed"
Order = list[int]


def _inner(rank: int) -> Order:
    """The permutation that swaps the last two dimensions."""
    return [*range(rank - 2), rank - 1, rank - 2]


def _swapped(shape: Sequence[int]) -> Order:
    return [shape[each] for each in _inner(len(shape))]


def steps_of_permutation(order: Sequence[int]) -> list[Order]:
    """Permutations that together are `order`: each swaps the last two dimensions, or leaves the last one in its place.

    Empty if `order` is one such permutation itself.
    """
    rank = len(order)
    last = rank - 1
    if rank < 2 or order[last] == last or [*order] == _inner(rank):
        return []
    if order[last - 1] == last:  # the last dimension comes next to its place
        steps = [[*order[: last - 1], order[last], last], _inner(rank)]
    else:
        moved = order[last]
        first = [*range(rank)]
        first[last - 1], first[moved] = moved, last - 1
        place = {last - 1: moved, last: last - 1}
        steps = [first, _inner(rank), [*(place.get(each, each) for each in order[:last]), last]]
    return [each for each in steps if each != [*range(rank)]]


def permute_in_steps(op: Operation, rewriter: Rewriter) -> bool:
    """A permutation that swaps the last dimension with another than its neighbour is several that do not."""
    steps = [] if _DONE in op.attributes else steps_of_permutation(integers_in(op.properties["permutation"]))
    value = op.operands[0]
    for order in steps:
        value = permute(value, order, rewriter, op)
        assert isinstance(value.owner, Operation)
        value.owner.attributes[_DONE] = UnitAttr()
    if steps:
        rewriter.replace(op, [value])
    return bool(steps)


# --- Reshapes ---------------------------------------------------------------------------------------------------------


def reshape_in_steps(op: Operation, rewriter: Rewriter) -> bool:
    """A reshape between (..., n) and (..., n, 1) swaps the last two dimensions, of which one is 1.

    One that also joins or splits dimensions goes through (n, 1) and (1, n).
    """
    source, target = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if not source or not target:
        return False
    if _without_ones(source) == _without_ones(target):
        found = _with_swap(op.operands[0], target, rewriter, op) if (source[-1] == 1) != (target[-1] == 1) else None
    elif _leading_ones(target) > _leading_ones(source) and source[-1] == 1:
        column = _reshaped(op.operands[0], [math.prod(source), 1], rewriter, op)
        found = _reshaped(permute(column, [1, 0], rewriter, op), target, rewriter, op)
    else:
        found = None
    if found is None:
        return False
    rewriter.replace(op, [found])
    return True


def _without_ones(shape: Sequence[int]) -> Order:
    return [extent for extent in shape if extent != 1]


def _leading_ones(shape: Sequence[int]) -> int:
    return next((index for index, extent in enumerate(shape) if extent != 1), len(shape))


def _with_swap(value: SSAValue, target: Sequence[int], rewriter: Rewriter, at: Operation) -> SSAValue | None:
    """A value in a shape that has its dimensions and other ones, by a reshape and a swap; None if no swap helps."""
    source = shape_of(value.type)
    before, after = _can_swap(source), _can_swap(target)
    if source[-1] != 1 and not after and not before:
        value = reshape(value, [*source[:-1], 1, source[-1]], rewriter, at)
        before = True
    if before and (source[-1] == 1 or not after):
        swapped = permute(value, _inner(len(shape_of(value.type))), rewriter, at)
        return _reshaped(swapped, target, rewriter, at)
    if not after:
        return None
    return permute(_reshaped(value, _swapped(target), rewriter, at), _inner(len(target)), rewriter, at)


def _can_swap(shape: Sequence[int]) -> bool:
    """Whether one of the last two dimensions is 1, so that a swap of them moves no element."""
    return len(shape) > 1 and (shape[-1] == 1) != (shape[-2] == 1)


def _reshaped(value: SSAValue, shape: Sequence[int], rewriter: Rewriter, at: Operation) -> SSAValue:
    return value if shape_of(value.type) == tuple(shape) else reshape(value, shape, rewriter, at)


PERMUTED_IN_STEPS = {"ttir.permute": [permute_in_steps]}
RESHAPED_IN_STEPS = {"ttir.reshape": [reshape_in_steps]}
