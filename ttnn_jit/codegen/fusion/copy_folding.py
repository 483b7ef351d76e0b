"""Copy folding: launches that only move elements are folded into their readers or their writer.

Reading through a copy gives the bits of the copy, and writing in another shape keeps them, so that no result changes. A
copy that all its readers read through is never materialized: windows of a pool, slices, transposed operands of a
product.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from ttnn_jit.codegen.reading.packing import repacking
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand, with_loops_of_copy
from ttnn_jit.codegen.schedules.host_plan import (
    HostLaunch,
    HostPlan,
    LaunchIndices,
    Readers,
    launch_indices,
    of_several,
)
from ttnn_jit.codegen.schedules.kernel import Contract, Copy, LoopNest, Repack
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.specs.access.access import keeps_order, reshape_access
from ttnn_jit.specs.access.strided_walk import NotStridedError

_MIN_TERMS = 16
"""Least terms of the innermost contracted loop of a product: fewer are packed one by one, so that a copy pays."""

SHORT_RUN = 128
"""Elements of an innermost loop below which its start costs as much as its iterations."""
_FEW = 8
"""A copy is small if its reader visits at least this many times its elements."""


def only_copies(bound: BoundKernel) -> bool:
    """Whether a kernel writes a whole tensor and computes nothing."""
    return only_moves(bound) and bound.outputs[0].view.access is None


def only_moves(bound: BoundKernel) -> bool:
    """Whether a kernel reads one tensor, writes one, and computes nothing."""
    kernel = bound.kernel
    return isinstance(kernel, LoopNest) and kernel.body.only_moves and len(bound.inputs) == len(bound.outputs) == 1


def _changed(bound: BoundKernel, inputs: tuple[Operand, ...], outputs: tuple[Operand, ...]) -> BoundKernel | None:
    """A kernel with other operands; None if no loops walk them, or if it has loops of its own."""
    if len(set(inputs)) != len(inputs):
        return None
    try:
        match bound.kernel:
            case LoopNest() | Contract():
                return bound.over(inputs, outputs)
            case Copy(move=Repack.PACKED) as kernel if outputs == bound.outputs:
                return repacking(inputs[0], outputs[0], kernel.numerics)
            case _:
                return None
    except NotStridedError:
        return None


# --- Readers ----------------------------------------------------------------------------------------------------------


@of_several
def read_through_copies(plan: HostPlan) -> HostPlan:
    """The launches without copies that all their readers can read through."""
    found: list[HostLaunch | None] = list(plan.launches)
    readers, writers = launch_indices(plan.launches)
    for index, copy in enumerate(found):
        is_between = copy and only_copies(copy.bound) and copy.bound.outputs[0].value not in plan.results
        folded = _folded(copy, found, index, readers, writers) if copy and is_between else None
        if copy is None or folded is None:
            continue
        found[index] = None
        for reader, through in folded.items():
            found[reader] = through
            readers[copy.bound.inputs[0].value].append(reader)
    return plan.with_launches(launch for launch in found if launch is not None)


def _folded(
    copy: HostLaunch, launches: Sequence[HostLaunch | None], index: int, readers: LaunchIndices, writers: LaunchIndices
) -> dict[int, HostLaunch] | None:
    """The later launches, by index, rewritten to read through `copy`; None if one of its readers cannot."""
    value = copy.bound.outputs[0].value
    later = {each: launch for each in readers[value] if each > index and (launch := launches[each]) is not None}
    if not later or max(writers[value]) > index:
        return None
    found = {}
    for each, launch in later.items():
        through = _reading_through(copy, launch)
        if through is None:
            return None
        found[each] = through
    return found


def _reading_through(copy: HostLaunch, reader: HostLaunch) -> HostLaunch | None:
    bound, source, value = reader.bound, copy.bound.inputs[0], copy.bound.outputs[0].value
    inputs = tuple(source.through(each.access) if each.value is value else each for each in bound.inputs)
    found = _changed(bound, inputs, bound.outputs)
    if found is None:
        return None
    walked, before = with_loops_of_copy(found), with_loops_of_copy(bound)
    if _is_cut_short(walked, before, copy.bound):
        return None
    if not _keeps_locality(walked, before, [k for k, each in enumerate(inputs) if each != bound.inputs[k]]):
        return None
    return HostLaunch((*copy.ops, *reader.ops), found)


def _is_cut_short(bound: BoundKernel, before: BoundKernel, copy: BoundKernel) -> bool:
    """Whether reading through a small copy with repeated elements shortens the runs of the innermost loop."""
    run, longest = bound.loops.extents[-1], before.loops.extents[-1]
    return run < longest and run < SHORT_RUN <= longest and copy.elements * _FEW <= before.elements


def _keeps_locality(bound: BoundKernel, before: BoundKernel, streams: Sequence[int]) -> bool:
    """Whether these streams are still read along their cache lines; a product packs along either of its loops.

    A product must not get more outer loops in which an operand is invariant: it is packed again in each of their steps.
    """
    if isinstance(bound.kernel, Contract):
        near = all(1 in bound.loops.strides[k][-3:] for k in streams)
        short = len(bound.loops.reduced) > 1 and bound.loops.extents[-2] < _MIN_TERMS
        return near and not short and _packed_again(bound) <= _packed_again(before)
    return all(bound.kernel.streams[k].access is not InnerAccess.STRIDED for k in streams)


def _packed_again(bound: BoundKernel) -> int:
    """The number of loops around a product and its rows in which one of its operands is invariant."""
    product = bound.product
    read = [bound.loops.strides[k] for k in product.factors]
    around = len(bound.loops.extents) - 1 - product.contracted.count - product.contracted.row_loops
    return sum(any(strides[loop] == 0 for strides in read) for loop in range(around))


# --- Writers ----------------------------------------------------------------------------------------------------------


@of_several
def write_for_copies(plan: HostPlan) -> HostPlan:
    """The plan without reshaping copies whose result the launch before can write itself."""
    found: list[HostLaunch] = []
    writers_found: LaunchIndices = defaultdict(list)  # of those found
    _, writers = launch_indices(plan.launches)
    readers = plan.readers
    for launch in plan.launches:
        bound = launch.bound
        before = writers_found[bound.inputs[0].value] if only_copies(bound) else []
        alone = len(writers[bound.outputs[0].value]) == 1
        shaped = _writing_for(launch, found[before[0]], readers) if len(before) == 1 and alone else None
        if shaped is None:
            _note_written(writers_found, launch, len(found))
            found.append(launch)
        else:
            (index,) = before
            before.clear()
            _note_written(writers_found, shaped, index)
            found[index] = shaped
    return plan.with_launches(found)


def _note_written(writers_found: LaunchIndices, launch: HostLaunch, index: int) -> None:
    for output in launch.bound.outputs:
        writers_found[output.value].append(index)


def _writing_for(copy: HostLaunch, writer: HostLaunch, readers: Readers) -> HostLaunch | None:
    """The launch that writes the result of `copy`; None if its own result is read too, or it is no reshape."""
    (source,), (target,), (output, *more) = copy.bound.inputs, copy.bound.outputs, writer.bound.outputs
    access = source.view.access
    if more or access is None or output.view.access is not None or len(readers(source.value)) != 1:
        return None
    old, new = output.view.shape, target.view.shape
    if math.prod(old) != math.prod(new) or not keeps_order(access, old):
        return None
    if access.simplified != reshape_access(old, new):
        return None
    view = View(target.view.spec, reshape_access(new, old))
    found = _changed(writer.bound, writer.bound.inputs, (Operand(target.value, view),))
    if found is None or _written_access(found) is not _written_access(writer.bound):
        return None
    return HostLaunch((*writer.ops, *copy.ops), found)


def _written_access(bound: BoundKernel) -> InnerAccess:
    return with_loops_of_copy(bound).kernel.streams[-1].access
