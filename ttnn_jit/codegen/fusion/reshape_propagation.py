"""Reshape propagation: elementwise launches take the shapes of their producers and readers, so that they can fuse.

A program may keep a reduced dimension or restore it by a reshape, before or after other operations on a row's results.
It may leave broadcasting to an operation or repeat elements first. The loops and the bits are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.codegen.fusion.copy_folding import only_copies
from ttnn_jit.codegen.schedules.bound_kernel import Operand, is_elementwise
from ttnn_jit.codegen.schedules.host_plan import HostLaunch, HostPlan, launch_indices
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.process.dataclass import replace
from ttnn_jit.specs.access.access import Access, reshape_access
from ttnn_jit.specs.access.index_expressions import Const, Dim, dims_of
from ttnn_jit.specs.access.strided_walk import NotStridedError


def propagate_reshapes(plan: HostPlan) -> HostPlan:
    """The plan with elementwise launches that broadcast repeated operands and write in the shape of their readers."""
    launches = [_with_inputs_broadcast(launch) for launch in plan.launches]
    readers, _ = launch_indices(launches)
    for index, launch in reversed([*enumerate(launches)]):
        value = launch.bound.outputs[0].value
        if value not in plan.results:
            later = [launches[each] for each in readers[value] if each > index]
            launches[index] = _in_shape_of_readers(launch, later)
    return plan.with_launches(launches)


def _runs_in_any_shape(launch: HostLaunch) -> bool:
    return all(map(is_elementwise, launch.ops[-1:])) and len(launch.bound.outputs) == 1


def _with_inputs_broadcast(launch: HostLaunch) -> HostLaunch:
    if not _runs_in_any_shape(launch) or all(each.view.access is None for each in launch.bound.inputs):
        return launch
    inputs = tuple(Operand(each.value, _broadcast(each.view)) for each in launch.bound.inputs)
    return _changed(launch, inputs, launch.bound.outputs)


def _broadcast(view: View) -> View:
    """A view without repetitions that broadcasting replaces."""
    if view.access is None:
        return view
    access = view.access.simplified
    used = frozenset[int]().union(*map(dims_of, access.coordinates))
    extents = tuple(extent if axis in used else 1 for axis, extent in enumerate(access.extents))
    if extents == access.extents:
        return view
    own = tuple(view.spec.shape)
    plain = all(
        expr == (Const(0) if extent == 1 else Dim(axis))
        for axis, (expr, extent) in enumerate(zip(access.coordinates, own, strict=True))
    )
    return View(view.spec, None if plain and extents == own else Access(extents, access.coordinates))


def _in_shape_of_readers(launch: HostLaunch, readers: Sequence[HostLaunch]) -> HostLaunch:
    """The launch with the shape of the reshape through which all its readers read; unchanged if there is none."""
    if not _runs_in_any_shape(launch) or launch.bound.outputs[0].view.access is not None:
        return launch
    (output,) = launch.bound.outputs
    access, shape = _read_as(output.value, readers), output.view.shape
    if access is None or not _adds_or_drops_ones(access, shape) or access.extents == tuple(shape):
        return launch
    inputs = tuple(_through(access, each, shape) for each in launch.bound.inputs)
    return _changed(launch, inputs, (output.viewed(access),))


def _read_as(value: PlanValue, readers: Sequence[HostLaunch]) -> Access | None:
    """The access by which these launches read a value; None if accesses differ, or a copy reads it."""
    if any(only_copies(launch.bound) for launch in readers):
        return None
    found = {each.view.access for launch in readers for each in launch.bound.inputs if each.value is value}
    return found.pop() if len(found) == 1 else None


def _adds_or_drops_ones(access: Access, shape: Sequence[int]) -> bool:
    """Whether an access is a reshape that only adds or drops dimensions of extent 1."""
    read = [expr.position for expr in access.coordinates if isinstance(expr, Dim)]
    if len(read) + access.coordinates.count(Const(0)) < len(access.coordinates) or read != sorted(read):
        return False  # whatever the extents
    longer, shorter = ([extent for extent in extents if extent != 1] for extents in (access.extents, shape))
    return longer == shorter and access == reshape_access(shape, access.extents)


def _through(access: Access, operand: Operand, shape: Sequence[int]) -> Operand:
    """An operand that broadcasts to `shape`, viewed through `access` to that shape."""
    own = operand.access
    missing = len(shape) - len(own.extents)
    spread = tuple(Const(0) if extent == 1 else Dim(missing + axis) for axis, extent in enumerate(own.extents))
    through = access.compose(Access(tuple(shape), spread)).compose(own)
    return Operand(operand.value, _broadcast(View(operand.view.spec, through)))


def _changed(launch: HostLaunch, inputs: tuple[Operand, ...], outputs: tuple[Operand, ...]) -> HostLaunch:
    bound = launch.bound
    if (inputs, outputs) == (bound.inputs, bound.outputs) or len(set(inputs)) != len(inputs):
        return launch
    try:
        return replace(launch, bound=bound.over(inputs, outputs))
    except NotStridedError:
        return launch
