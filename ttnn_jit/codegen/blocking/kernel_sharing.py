"""Kernel sharing: launches whose kernels differ only in constants run one kernel, which loads these as operands.

Constants that are numbers of a trace become operands too: programs for other numbers then share the kernel.

A model of many layers with a number of its own in each would otherwise compile a kernel for each layer. A constant that
is the same in all of these launches stays in the text, so that programs without such kernels do not change.

The results have the same bits: a constant becomes an operand only where its value chooses no instruction, neither of
the operation's body nor of LLVM's simplifications of it (`is_ordinary`). Bound: a load and a broadcast per row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from ttnn_jit.codegen.blocking.lookup import best_lookup
from ttnn_jit.codegen.blocking.routine_constants import without_symbolic_constants
from ttnn_jit.codegen.blocking.unknown_numbers import takes_any_number
from ttnn_jit.codegen.bodies.steps import (
    MANY_STREAMS,
    Apply,
    Constant,
    KernelBody,
    Load,
    SizeClass,
    Step,
    Store,
    SymbolicConstant,
    with_operands,
)
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand
from ttnn_jit.codegen.schedules.host_plan import HostLaunch, HostPlan
from ttnn_jit.codegen.schedules.kernel import Contract, LoopNest
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.values import MAX_FLOAT32
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.dataclass import replace
from ttnn_jit.process.memoized import KEYS
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, INTEGERS
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

LEAST_KERNELS = 2
"""The least number of different kernels that become one: each costs a compile, and operands instead of constants cost
little (benchmarks/kernels/choices.py: `kernel sharing`)."""

Place = tuple[int, int]
"""A step and the number of its operand; behind these, its parameters."""

_ANY = Constant(-1)
"""Stands for a constant in a comparison of kernels; no constant has these bits."""

_THREE = Constant.of(3.0)
"""Stands for an ordinary parameter."""

_LEAST_NORMAL = 2.0**-126


def share_kernels(plan: HostPlan) -> HostPlan:
    """The plan with kernels that are equal but for constants replaced by one that loads them."""
    values: dict[tuple[DataType, Constant], PlanValue] = {}
    launches = [*plan.launches]
    if KEYS.memos is not None:  # in a trace
        launches = [replace(each, bound=_without_symbolic(each.bound, values, plan.isa)) for each in launches]
    for group in _groups(launches, plan.isa) if len(launches) >= LEAST_KERNELS else ():
        first = launches[group[0]].bound
        columns = _varying([launches[index].bound.body for index in group], plan.isa)
        if len(first.kernel.streams) + len(columns) > MANY_STREAMS or _is_looked_up(first, plan.isa):
            continue
        for index in group:
            launches[index] = replace(launches[index], bound=_loading(launches[index].bound, columns, values))
    constants = {value: constant for (_, constant), value in values.items()}
    changed = plan.with_launches(launches)
    return replace(changed, constants=constants) if constants else changed


def _without_symbolic(
    bound: BoundKernel, values: dict[tuple[DataType, Constant], PlanValue], isa: HostIsa | None
) -> BoundKernel:
    """The launch with operands for constants that are numbers of a trace.

    Constants that choose instructions, or that are more than a kernel takes as operands, are fixed.
    """
    bound = without_symbolic_constants(bound, values)
    if not isinstance(bound.kernel, LoopNest | Contract) or not _has_symbolic(bound.body):
        return bound
    columns: dict[tuple[DataType, Constant], list[Place]] = {}
    for place in _places(bound.body, isa):
        constant = _constant(bound.body, place)
        if isinstance(constant, SymbolicConstant):
            columns.setdefault((_dtype_at(bound.body, place), constant), []).append(place)
    room = MANY_STREAMS - len(bound.kernel.streams)
    taken = [(dtype, places) for (dtype, _), places in itertools.islice(columns.items(), max(room, 0))]
    return _with_fixed(_loading(bound, taken, values) if taken else bound)


def _has_symbolic(body: KernelBody) -> bool:
    constants = (each for step in body.steps if isinstance(step, Apply) for each in step.values)
    return any(isinstance(each, SymbolicConstant) for each in constants)


def _with_fixed(bound: BoundKernel) -> BoundKernel:
    """The launch with the constants of this compile in place of numbers of a trace."""
    kernel = bound.kernel
    if not isinstance(kernel, LoopNest | Contract) or not _has_symbolic(kernel.body):
        return bound

    def fixed(values: Sequence[int | Constant]) -> list[int | Constant]:
        return [each.fixed if isinstance(each, SymbolicConstant) else each for each in values]

    steps = tuple(
        step.with_values(fixed(step.values)) if isinstance(step, Apply) else step for step in kernel.body.steps
    )
    return replace(bound, kernel=replace(kernel, body=replace(kernel.body, steps=steps)))


def _groups(launches: Sequence[HostLaunch], isa: HostIsa | None) -> Iterator[list[int]]:
    """The launches, by index, whose kernels are equal but for constants that may become operands."""
    for group in _alike(launches):
        bodies = [launches[index].bound.body for index in group]
        sharing: dict[KernelBody, dict[int, KernelBody]] = {}
        places = _places(bodies[0], isa)
        for index, body in zip(group, bodies, strict=True):
            sharing.setdefault(_with(body, dict.fromkeys(places, _ANY)), {})[index] = body
        yield from ([*own] for own in sharing.values() if len({*own.values()}) >= LEAST_KERNELS)


def _alike(launches: Sequence[HostLaunch]) -> Iterator[list[int]]:
    """The launches, by index, of one size class whose kernels are equal but for ordinary constants, which differ."""

    def differ(group: Sequence[int]) -> bool:
        return len({launches[index].bound.body for index in group}) >= LEAST_KERNELS

    alike: dict[object, list[int]] = {}
    for index, launch in enumerate(launches):
        kernel = launch.bound.kernel
        if isinstance(kernel, LoopNest | Contract) and (places := _ordinary_constants(kernel.body)):
            others = _with(kernel.body, dict.fromkeys(places, _ANY)), getattr(kernel, "contracted", None)
            alike.setdefault(others, []).append(index)
    # Most programs have no such kernels, and depend neither on the sizes of launches nor on emitted operations.
    several = {index: others for others, group in alike.items() if differ(group) for index in group}
    of_a_class: dict[object, list[int]] = {}
    for index in sorted(several):
        own = several[index], SizeClass.of(launches[index].bound.elements)
        of_a_class.setdefault(own, []).append(index)
    return filter(differ, of_a_class.values())


def is_ordinary(constant: Constant, dtype: DataType) -> bool:
    """Whether arithmetic with a number is not simplified by its value, in a way that changes even bits of a NaN.

    Zeros, ones, infinities, NaN and denormal numbers are simplified so. The largest number is no bound of a clamp.
    """
    if dtype.is_integer:
        return True
    magnitude = abs(constant.value)
    return _LEAST_NORMAL <= magnitude < MAX_FLOAT32 and magnitude != 1.0


def _ordinary_constants(body: KernelBody) -> list[Place]:
    """The ordinary constants of a body."""
    return [
        (index, number)
        for index, step in enumerate(body.steps)
        if isinstance(step, Apply)
        for number, each in enumerate(step.values)
        if isinstance(each, Constant) and (dtype := _DTYPES.get(step.dtype.compute)) and is_ordinary(each, dtype)
        if number < len(step.operands) or not dtype.is_integer  # parameters are float32
    ]


def _places(body: KernelBody, isa: HostIsa | None) -> list[Place]:
    """The constants of a body that may become operands."""
    found = []
    for index, number in _ordinary_constants(body):
        step = _apply(body, index)
        others = tuple(_THREE if isinstance(each, Constant) else each for each in step.numbers)
        if takes_any_number(replace(step, operands=(0,) * len(step.operands), numbers=others, slot=None), number, isa):
            found.append((index, number))
    return found


def _apply(body: KernelBody, index: int) -> Apply:
    step = body.steps[index]
    assert isinstance(step, Apply), "constants are operands of operations"
    return step


def _dtype_at(body: KernelBody, place: Place) -> DataType:
    """The element type of an operand for the constant at `place`."""
    return _DTYPES[_apply(body, place[0]).dtype.compute]


def _constant(body: KernelBody, place: Place) -> Constant:
    each = _apply(body, place[0]).values[place[1]]
    assert isinstance(each, Constant), "it is a place of a constant"
    return each


_DTYPES = {dtype.compute: dtype for dtype in (COMPUTE_TYPE, *INTEGERS) if dtype.itemsize == COMPUTE_TYPE.itemsize}
"""The element types of operands, by compute type."""


def _with(body: KernelBody, constants: Mapping[Place, Constant]) -> KernelBody:
    """The body with other constants."""
    steps = list(body.steps)
    for (index, number), constant in constants.items():
        step = steps[index]
        assert isinstance(step, Apply), "constants are operands of operations"
        steps[index] = step.with_values((*step.values[:number], constant, *step.values[number + 1 :]))
    return replace(body, steps=tuple(steps))


def _varying(bodies: Sequence[KernelBody], isa: HostIsa | None) -> list[tuple[DataType, list[Place]]]:
    """The element type and the places of each operand: places whose constants are not all equal.

    Places that have the same constant as another one, in every body, share its operand.
    """
    found: dict[tuple[DataType, tuple[Constant, ...]], list[Place]] = {}
    for place in _places(bodies[0], isa):
        column = tuple(_constant(body, place) for body in bodies)
        if len({*column}) > 1:
            found.setdefault((_dtype_at(bodies[0], place), column), []).append(place)
    return [(dtype, own) for (dtype, _), own in found.items()]


def _is_looked_up(bound: BoundKernel, isa: HostIsa | None) -> bool:
    """Whether a table of the kernel's results is profitable; it holds those of one constant."""
    body = bound.body
    if isa is None or not isinstance(bound.kernel, LoopNest) or body.reduced is not None:
        return False
    return SizeClass.of(bound.elements) is SizeClass.LARGE and best_lookup(body, isa) is not None


def _loading(
    bound: BoundKernel,
    columns: Sequence[tuple[DataType, list[Place]]],
    values: dict[tuple[DataType, Constant], PlanValue],
) -> BoundKernel:
    """The launch with operands for its constants at some places; `values` has the tensors of constants so far."""
    body, count, kernel = bound.body, len(bound.inputs), bound.kernel
    operands = []
    for dtype, places in columns:
        value = values.setdefault((dtype, _constant(body, places[0])), PlanValue(TensorSpec((1,), dtype)))
        operands.append(Operand(value, View(value.spec)))
    added = len(operands)
    streams = [*body.streams]
    streams[count:count] = [Stream(dtype, InnerAccess.SCALAR, is_ordinary=not dtype.is_integer) for dtype, _ in columns]
    reduced = body.reduced
    if reduced is not None:
        moving = (*reduced.moving[:count], *(False,) * added, *reduced.moving[count:])
        reduced = replace(reduced, moving=moving)
    stream_of = {place: count + k for k, (_, places) in enumerate(columns) for place in places}
    steps = _loading_steps(body.steps, stream_of, count, added)
    assert isinstance(kernel, LoopNest | Contract), "it has a body"
    return replace(
        bound,
        kernel=replace(kernel, body=replace(body, streams=tuple(streams), steps=steps, reduced=reduced)),
        inputs=(*bound.inputs, *operands),
        loops=bound.loops.with_scalars(count, added),
    )


def _loading_steps(steps: Sequence[Step], stream_of: Mapping[Place, int], inputs: int, added: int) -> tuple[Step, ...]:
    """The steps with a load before the first use of each new stream; outputs have higher numbers than before."""
    made: list[Step] = []
    renamed: dict[int, int] = {}
    loads: dict[int, int] = {}
    for index, step in enumerate(steps):
        own: Step = with_operands(step, renamed.__getitem__)
        if isinstance(own, Store):
            own = replace(own, stream=own.stream + added if own.stream >= inputs else own.stream)
        if isinstance(own, Apply):
            operands = list(own.values)
            for number, _ in enumerate(operands):
                stream = stream_of.get((index, number))
                if stream is None:
                    continue
                if stream not in loads:
                    loads[stream] = len(made)
                    made.append(Load(stream, None))
                operands[number] = loads[stream]
            own = own.with_values(operands)
        renamed[index] = len(made)
        made.append(own)
    return tuple(made)
