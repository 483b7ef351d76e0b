"""Copies folded into what reads them, or into what writes them: launches that only move elements.

What a kernel reads through a copy has the bits that the copy has, so that no result changes; nor does what it writes in
another shape. A tensor that all its readers read through is in no memory: windows of a pool, slices, transposed
operands of a product.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ttnn_jit.codegen.host.forms import Form
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan
from ttnn_jit.codegen.kernel import Kernel, Operand, kernel_over, readers_of
from ttnn_jit.codegen.launch import View
from ttnn_jit.codegen.steps import Call, Contract, Load, Repack, Store
from ttnn_jit.kernels.tile_loop import InnerAccess
from ttnn_jit.specs.access import Access, NotStridedError, reshaped

_MIN_TERMS = 16
"""Of the innermost contracted loop of a product: fewer are packed one by one, for which a copy pays."""

SHORT_RUN = 128
"""Elements of an innermost loop below which starting it costs as much as running it."""
_FEW = 8
"""A copy is small if its reader has so many times its elements: making it costs next to nothing."""


def read_through_copies(plan: HostPlan) -> HostPlan:
    """The launches without copies that all their readers can read through."""
    return replace(plan, launches=_into_readers(plan.launches))


def write_for_copies(plan: HostPlan) -> HostPlan:
    """The launches without copies of one shape to another that the launch before can write for."""
    return replace(plan, launches=_into_writers(plan.launches))


def only_copies(kernel: Kernel) -> bool:
    """Whether a kernel writes all of a tensor, and computes nothing."""
    moves = all(isinstance(step, Load | Store) for step in kernel.body.steps)
    return moves and len(kernel.inputs) == 1 and kernel.outputs[0].view.access is None


def _changed(kernel: Kernel, inputs: tuple[Operand, ...], outputs: tuple[Operand, ...]) -> Kernel | None:
    """A kernel with other operands; None if no loops walk them, or if it counts on its own."""
    body = kernel.body
    if len(set(inputs)) != len(inputs) or any(isinstance(step, Call | Repack) for step in body.steps):
        return None
    try:
        return kernel_over(inputs, outputs, body.steps, body.numerics, joined=body.joined, axis=kernel.axis)
    except NotStridedError:
        return None


# --- Readers ----------------------------------------------------------------------------------------------------------


def _into_readers(launches: Sequence[HostLaunch]) -> tuple[HostLaunch, ...]:
    rest, found = list(launches), list[HostLaunch]()
    while rest:
        launch = rest.pop(0)
        folded = _folded(launch, rest) if only_copies(launch.kernel) else None
        if folded is None:
            found.append(launch)
        else:
            rest = folded
    return tuple(found)


def _folded(copy: HostLaunch, later: Sequence[HostLaunch]) -> list[HostLaunch] | None:
    """The later launches reading through `copy`; None if one of its readers cannot, or is no launch."""
    value = copy.kernel.outputs[0].value
    places = [place for place, launch in enumerate(later) if _reads(launch, value)]
    ops = {op for place in places for op in later[place].ops}
    if not places or any(_writes(launch, value) for launch in later) or any(op not in ops for op in readers_of(value)):
        return None
    found = list(later)
    for place in places:
        through = _reading_through(copy, later[place])
        if through is None:
            return None
        found[place] = through
    return found


def _reads(launch: HostLaunch, value: object) -> bool:
    return any(operand.value is value for operand in launch.kernel.inputs)


def _writes(launch: HostLaunch, value: object) -> bool:
    return any(operand.value is value for operand in launch.kernel.outputs)


def _reading_through(copy: HostLaunch, reader: HostLaunch) -> HostLaunch | None:
    kernel, source, value = reader.kernel, copy.kernel.inputs[0], copy.kernel.outputs[0].value
    inputs = tuple(_through(source, each) if each.value is value else each for each in kernel.inputs)
    found = _changed(kernel, inputs, kernel.outputs)
    if found is None or _is_cut_short(found, kernel, copy.kernel):
        return None
    if not _is_as_good(found, kernel, [k for k, each in enumerate(inputs) if each != kernel.inputs[k]]):
        return None
    return HostLaunch((*copy.ops, *reader.ops), found, Form(found.body))


def _through(source: Operand, read: Operand) -> Operand:
    """What `read` is of the tensor that was copied."""
    own = read.view.access or Access.identity(read.view.shape)
    inner = source.view.access
    return Operand(source.value, View(source.view.spec, own if inner is None else own.after(inner)))


def _is_cut_short(kernel: Kernel, before: Kernel, copy: Kernel) -> bool:
    """Whether reading through a small copy, of numbers repeated for a group, makes short runs of longer ones."""
    run, small = kernel.nest.extents[-1], math.prod(copy.nest.extents) * _FEW <= math.prod(before.nest.extents)
    return small and run < SHORT_RUN and run < before.nest.extents[-1]


def _is_as_good(kernel: Kernel, before: Kernel, streams: Sequence[int]) -> bool:
    """Whether these streams are read as their cache lines lie; a product packs them along either of its loops.

    A product must not get more loops around it in which one operand stays: it is packed again for each of their steps.
    """
    if any(isinstance(step, Contract) for step in kernel.body.steps):
        near = all(1 in kernel.nest.strides[k][-3:] for k in streams)
        short = len(kernel.nest.reduced) > 1 and kernel.nest.extents[-2] < _MIN_TERMS
        return near and not short and _packed_again(kernel) <= _packed_again(before)
    return all(kernel.body.streams[k].access is not InnerAccess.STRIDED for k in streams)


def _packed_again(kernel: Kernel) -> int:
    """The loops around a product, and around its rows, in which one of its operands stays."""
    steps = kernel.body.steps
    (product,) = (step for step in steps if isinstance(step, Contract))
    loads = (steps[place] for place in (product.left, product.right))
    read = [kernel.nest.strides[load.stream] for load in loads if isinstance(load, Load)]
    around = len(kernel.nest.extents) - len(kernel.nest.reduced) - 2
    return sum(any(strides[loop] == 0 for strides in read) for loop in range(around))


# --- Writers ----------------------------------------------------------------------------------------------------------


def _into_writers(launches: Sequence[HostLaunch]) -> tuple[HostLaunch, ...]:
    found: list[HostLaunch] = []
    for launch in launches:
        writers = [k for k, each in enumerate(found) if only_copies(launch.kernel) and _writes_source_of(each, launch)]
        alone = sum(_writes(each, launch.kernel.outputs[0].value) for each in launches) == 1
        shaped = _writing_for(launch, found[writers[0]]) if len(writers) == 1 and alone else None
        if shaped is None:
            found.append(launch)
        else:
            found[writers[0]] = shaped
    return tuple(found)


def _writes_source_of(launch: HostLaunch, copy: HostLaunch) -> bool:
    return _writes(launch, copy.kernel.inputs[0].value)


def _writing_for(copy: HostLaunch, writer: HostLaunch) -> HostLaunch | None:
    """The launch that writes what `copy` would have; None if another op reads what it writes, or it is no reshape."""
    (source,), (target,), (output, *more) = copy.kernel.inputs, copy.kernel.outputs, writer.kernel.outputs
    access = source.view.access
    if more or access is None or output.view.access is not None or set(readers_of(source.value)) - set(copy.ops):
        return None
    old, new = output.view.shape, target.view.shape
    if math.prod(old) != math.prod(new) or access.simplified != reshaped(old, new):
        return None
    place = View(target.view.spec, reshaped(new, old))
    found = _changed(writer.kernel, writer.kernel.inputs, (Operand(target.value, place),))
    if found is None or found.body.streams[-1].access is not writer.kernel.body.streams[-1].access:
        return None
    return HostLaunch((*writer.ops, *copy.ops), found, Form(found.body))
