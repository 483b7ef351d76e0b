"""Products read what a kernel only copies for them where it lies: packing takes any strides.

Bound: the copy's bytes, written and read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xdsl.ir import SSAValue

from ttnn_jit.codegen.host.forms import Form
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan
from ttnn_jit.codegen.kernel import Kernel, Operand, kernel_over, readers_of
from ttnn_jit.codegen.launch import View
from ttnn_jit.codegen.steps import Load, Store
from ttnn_jit.specs.access import NotStridedError

_MIN_TERMS = 16
"""Of the innermost contracted loop: fewer are packed one by one, for which a copy pays."""


def fold_copies(plan: HostPlan) -> HostPlan:
    """The plan without the copies that products alone read, which read through them instead."""
    copies = {launch.kernel.outputs[0].value: launch for launch in plan.launches if _only_copies(launch.kernel)}
    if not copies:
        return plan
    folded = {launch: _through_copies(launch, copies) for launch in plan.launches if _contracts(launch)}
    left = {operand.value for launch in plan.launches for operand in folded.get(launch, launch).kernel.inputs}
    kept = {value for value in copies if value in left or not _feeds_only(value, folded)}
    if len(kept) == len(copies):
        return plan
    # A copy that is kept is read by all.
    dropped = {value: launch for value, launch in copies.items() if value not in kept}
    launches = (_through_copies(each, dropped) if _contracts(each) else each for each in plan.launches)
    gone = {id(launch) for launch in dropped.values()}
    return replace(plan, launches=tuple(launch for launch in launches if id(launch) not in gone))


def _contracts(launch: HostLaunch) -> bool:
    return launch.kernel.body.contraction is not None


def _only_copies(kernel: Kernel) -> bool:
    streams = kernel.body.streams
    match kernel.body.steps:
        case (Load(), Store(operand=0)):
            return streams[0].dtype is streams[1].dtype
        case _:
            return False


def _feeds_only(value: SSAValue, products: Mapping[HostLaunch, HostLaunch]) -> bool:
    """Whether nothing but these products reads a tensor."""
    ops = {op for launch in products for op in launch.ops}
    return all(op in ops for op in readers_of(value))


def _through_copies(launch: HostLaunch, copies: Mapping[SSAValue, HostLaunch]) -> HostLaunch:
    """The product with operands read where copies have them from; as it is where no loops can do that."""
    ops = list(launch.ops)
    kernel = launch.kernel
    for place, operand in enumerate(kernel.inputs):
        if (copy := copies.get(operand.value)) is None:
            continue
        source = _read_through(operand, copy.kernel)
        inputs = (*kernel.inputs[:place], source, *kernel.inputs[place + 1 :])
        if (found := _over(kernel, inputs)) is not None:
            kernel, ops = found, [*copy.ops, *ops]
    return launch if kernel is launch.kernel else HostLaunch(tuple(dict.fromkeys(ops)), kernel, Form(kernel.body))


def _read_through(operand: Operand, copy: Kernel) -> Operand:
    """What a copy reads for an operand."""
    (source,) = copy.inputs
    through = source.view.access
    own = operand.view.access
    if own is not None:
        through = own if through is None else own.after(through)
    return Operand(source.value, View(source.view.spec, through))


def _over(kernel: Kernel, inputs: tuple[Operand, ...]) -> Kernel | None:
    """The same product of other operands; None where it would not be walked well."""
    if len(set(inputs)) < len(inputs):
        return None
    body = kernel.body
    try:
        found = kernel_over(inputs, kernel.outputs, body.steps, body.numerics, axis=kernel.axis)
    except NotStridedError:
        return None
    innermost = found.nest.extents[-2] if found.nest.reduced else 0
    return found if len(found.nest.reduced) == 1 or innermost >= _MIN_TERMS else None
