"""Loop fusion: kernels that the target's rules do not fuse run as one loop on the host.

Every step of a kernel is rounded by its target's rules, stored tiles included, so that a consumer that takes a tile
from its producer's registers gets the bits that it would have loaded. A tensor without other readers is not stored.
Bound: the bytes of the distinct tensors that the loop reads and writes. A loop has at most `MOST_FUSED_OPS` ops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Operation

from ttnn_jit.codegen.bodies.steps import Load, Step, Store, with_operands
from ttnn_jit.codegen.fusion.copy_folding import SHORT_RUN
from ttnn_jit.codegen.fusion.sweeps import fits_stack
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand, is_elementwise, kernel_over
from ttnn_jit.codegen.schedules.host_plan import HostLaunch, HostPlan, Readers, of_several
from ttnn_jit.codegen.schedules.kernel import Contract, Copy, LoopNest
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.nest.limits import MOST_FUSED_OPS
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.ops.language.axes import without_axes
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.process.memoized import hash_of
from ttnn_jit.specs.access.strided_walk import NotStridedError
from ttnn_jit.specs.target import PRESETS

_MAX_LIVE_TILES = PRESETS["cpu"].dst_tiles
"""Most live tiles of a loop: the limit of the ``cpu`` target."""


@dataclass(frozen=True, slots=True)
class _Space:
    """An iteration space, equal for tensors that are traversed in one order; loops may include padding or not."""

    shape: tuple[int, ...]
    strides: tuple[int, ...] | None

    def __hash__(self) -> int:
        return hash((hash_of(*self.shape), hash_of(*(self.strides or ()))))


@dataclass(frozen=True, slots=True)
class _Frame:
    """The iteration space of a reduction."""

    shape: tuple[int, ...]
    axis: int

    def __hash__(self) -> int:
        return hash((hash_of(*self.shape), self.axis))

    def holds(self, space: _Space | Operation | int) -> bool:
        """Whether `space` has the elements of the reduced rows, or one element per row."""
        return isinstance(space, _Space) and (space.shape == self.shape or self.is_row(space.shape))

    def is_row(self, shape: tuple[int, ...]) -> bool:
        """Whether a shape has one element per row."""
        return shape == without_axes(self.shape, (self.axis,), keep=True)


@dataclass(eq=False)
class _FusedLoop:
    """Launches that run as one loop.

    Attributes:
        number: Increases in program order.
        launches: The launches in execution order.
        spaces: The iteration spaces of launches that reduce nothing.
        frames: The iteration spaces of launches that reduce, with the reduced dimension.
        contractions: The number of contractions among them.
        ops: The number of ops among their steps.
        reads: The values of other loops that it reads.
        producers: The loops that write those values.
        within: A known legal loop that contains all of this one; None if there is none.
        readers: The number of loops found so far that read the values of this one.
        fused: The memoized result of `launch`.
    """

    number: int
    launches: tuple[HostLaunch, ...]
    spaces: frozenset[_Space | Operation | int]
    frames: frozenset[_Frame]
    contractions: int
    ops: int
    reads: tuple[Operand, ...]
    producers: set[_FusedLoop]
    within: _FusedLoop | None
    readers: int = 0
    fused: HostLaunch | None = None

    @property
    def kernels(self) -> list[BoundKernel]:
        """The kernels of the launches."""
        return [launch.bound for launch in self.launches]

    def launch(self, readers: Readers) -> HostLaunch:
        """The launches fused into one."""
        if self.fused is None:
            self.fused = self.launches[0] if len(self.launches) == 1 else self._as_one(readers)
        return self.fused

    def _as_one(self, readers: Readers) -> HostLaunch:
        ops = dict.fromkeys(op for launch in self.launches for op in launch.ops)
        bound = _concatenated(self.kernels, lambda value: not readers(value) <= ops.keys())
        return HostLaunch(tuple(ops), bound)


@of_several
def fuse_loops(plan: HostPlan) -> HostPlan:
    """The plan with producers and consumers fused; tensors that only a fused launch reads are no longer written."""
    # Fusing never lowers the number of live tiles, so an elementwise loop that fits in the end fit at every step. To
    # check every step of a long loop would take quadratic time.
    readers = plan.readers
    found = _fused_where(plan.launches, _is_short, {})
    fitting = [loop for loop in found if _fits(loop, readers)]
    if len(fitting) < len(found):
        within = {id(launch): loop for loop in fitting if not loop.frames for launch in loop.launches}
        found = _fused_where(
            plan.launches, lambda loop: _is_short(loop) and (loop.within is not None or _fits(loop, readers)), within
        )
    return plan.with_launches(loop.launch(readers) for loop in found)


def _is_short(loop: _FusedLoop) -> bool:
    return loop.ops <= MOST_FUSED_OPS


def _ops_of(bound: BoundKernel) -> int:
    """The number of ops among a kernel's steps."""
    return sum(not isinstance(step, Load | Store) for step in bound.steps)


def _fits(loop: _FusedLoop, readers: Readers) -> bool:
    if len(loop.launches) == 1:
        return True
    try:
        return _fits_as_one(loop.launch(readers).bound, loop.kernels)
    except NotStridedError:
        return False


def _fits_as_one(bound: BoundKernel, kernels: Sequence[BoundKernel]) -> bool:
    """Whether kernels that are fused into `bound` run as one loop at no loss."""
    body = bound.body
    if body.reduced is None:
        return body.live_tiles <= _MAX_LIVE_TILES
    run = bound.loops.extents[-1]
    if all(run < each.loops.extents[-1] for each in kernels if each.axis is not None) and run < SHORT_RUN:
        return False  # fusion would split its columns into short runs
    strided = any(stream.access is InnerAccess.STRIDED for stream in body.streams)
    return not strided and fits_stack(body, body.reduced)


def fused_with_reader(producer: BoundKernel, reader: HostLaunch, *, keeps: bool) -> BoundKernel | None:
    """A kernel whose one result a launch reads, and that launch, as one kernel; None if they are not one loop.

    Args:
        producer: A kernel that computes its result element by element.
        reader: The launch, which is scheduled.
        keeps: Whether the result is stored too.
    """
    (written,) = producer.outputs
    bound = reader.bound
    if _ops_of(producer) + _ops_of(bound) > MOST_FUSED_OPS:
        return None
    if any(each.value is written.value and each != written for each in bound.inputs):
        return None
    space = _space(written.view)
    if bound.axis is not None:
        if not _Frame(bound.shape, bound.axis).holds(space):
            return None
    elif not is_elementwise(reader.ops[-1]) or any(_space(each.view) != space for each in bound.outputs):
        return None
    kernels = producer, bound
    try:
        fused = _concatenated(kernels, lambda value: keeps or value is not written.value)
    except NotStridedError:
        return None
    return fused if _fits_as_one(fused, kernels) else None


class _Writers:
    """From a value to the loop that writes it: a union-find over the numbers of loops' last launches."""

    def __init__(self) -> None:
        self.loops: dict[int, _FusedLoop] = {}
        self._written: dict[PlanValue, tuple[int, Operand]] = {}
        self._fused_into: dict[int, int] = {}
        self._converted: set[PlanValue] = set()

    def loop_of(self, value: PlanValue) -> _FusedLoop | None:
        """The loop that writes `value`; None if no fusible loop does."""
        if value not in self._written:
            return None
        number, _ = self._written[value]
        passed = []
        while number in self._fused_into:
            passed.append(number)
            number = self._fused_into[number]
        self._fused_into.update(dict.fromkeys(passed, number))
        return self.loops[number]

    def is_read_as_written(self, operand: Operand) -> bool:
        """Whether an operand is read in the order in which one of the loops writes it."""
        return self._written[operand.value][1] == operand

    def write(self, number: int, bound: BoundKernel) -> None:
        """Record the values that the launch `number` writes."""
        self._written.update((output.value, (number, output)) for output in bound.outputs)

    def convert(self, bound: BoundKernel) -> None:
        """Record the values that a conversion of block floats writes, which is not fused.

        It depends on nothing that its readers do not depend on, so that no loop depends on it.
        """
        self._converted.update(output.value for output in bound.outputs)

    def reads_converted(self, loop: _FusedLoop) -> bool:
        """Whether a loop reads what a conversion writes."""
        return any(each.value in self._converted for bound in loop.kernels for each in bound.inputs)

    def join(self, last: _FusedLoop, into: _FusedLoop) -> None:
        """Record that a loop is now a part of another."""
        del self.loops[last.number]
        self._fused_into[last.number] = into.number

    def hoist(self, reader: _FusedLoop, into: _FusedLoop, fused: _FusedLoop) -> None:
        """Record that a loop that is not among the loops runs as a part of an earlier one: `fused` is both."""
        for producer in fused.producers - into.producers:
            producer.readers += 1
        into.launches, into.spaces, into.frames, into.within = fused.launches, fused.spaces, fused.frames, fused.within
        into.reads, into.producers, into.fused = fused.reads, fused.producers, fused.fused
        into.ops, into.contractions = fused.ops, fused.contractions
        self._fused_into[reader.number] = into.number


def _fused_where(
    launches: Sequence[HostLaunch], allowed: Callable[[_FusedLoop], bool], within: Mapping[int, _FusedLoop]
) -> list[_FusedLoop]:
    """The loops of `launches` after fusing producers into consumers wherever `allowed` is true."""
    writers = _Writers()
    for number, launch in enumerate(launches):
        bound = launch.bound
        spaces, frames = frozenset[_Space | Operation | int](), frozenset[_Frame]()
        contracts = isinstance(bound.kernel, Contract)
        if contracts:
            spaces = frozenset(_space(each.view) for each in bound.outputs)
        elif bound.axis is not None:
            frames = frozenset([_Frame(bound.shape, bound.axis)])
        else:
            op = launch.ops[-1]  # the copies that it reads through come before it
            own = op if isinstance(bound.kernel, LoopNest) else number  # a kernel without steps is not fused
            spaces = frozenset(_space(each.view) if is_elementwise(op) else own for each in bound.outputs)
        written = [(each, loop) for each in bound.inputs if (loop := writers.loop_of(each.value)) is not None]
        reads, producers = tuple(operand for operand, _ in written), {loop for _, loop in written}
        home = within.get(id(launch))
        found = _FusedLoop(number, (launch,), spaces, frames, int(contracts), _ops_of(bound), reads, producers, home)
        while (fused := _with_last_producer(found, writers)) is not None and allowed(fused[1]):
            last, found = fused
            for producer in last.producers:
                producer.readers -= 1
            writers.join(last, found)
        if (fused := _with_earlier_reduction(found, writers)) is not None and allowed(fused[1]):
            writers.hoist(found, *fused)
        else:
            for producer in found.producers:
                producer.readers += 1
            writers.loops[number] = found
        if isinstance(bound.kernel, Copy) and bound.kernel.repacks:
            writers.convert(bound)
        else:
            writers.write(number, bound)
    return [*writers.loops.values()]


def _with_last_producer(reader: _FusedLoop, writers: _Writers) -> tuple[_FusedLoop, _FusedLoop] | None:
    """The last unvisited producer of a loop, and the two fused.

    None if there is none, if another loop depends on it in between, or if their iteration spaces differ.
    """
    last = max(reader.producers, key=lambda loop: loop.number, default=None)
    if last is None or last.readers:
        return None
    fused = _fused(last, reader, writers)
    return None if fused is None else (last, fused)


def _with_earlier_reduction(reader: _FusedLoop, writers: _Writers) -> tuple[_FusedLoop, _FusedLoop] | None:
    """The last producer of a loop, on which others depend, and the two fused, if the reader may run there.

    Its other producers come earlier. Only results of reductions are computed earlier than in program order: they are
    small, and what they are made of is then read once.
    """
    last = max(reader.producers, key=lambda loop: loop.number, default=None)
    if last is None or not last.readers or not last.frames or writers.reads_converted(reader):
        return None
    (frame, *_) = last.frames
    if not all(frame.is_row(each.view.shape) for each in reader.launches[-1].bound.outputs):
        return None
    fused = _fused(last, reader, writers)
    return None if fused is None else (last, fused)


def _fused(last: _FusedLoop, reader: _FusedLoop, writers: _Writers) -> _FusedLoop | None:
    """A loop and its last producer as one; None if their iteration spaces differ."""
    of_last = [operand for operand in reader.reads if writers.loop_of(operand.value) is last]
    if not all(map(writers.is_read_as_written, of_last)) or not _are_fusible(last, reader):
        return None
    reads = (*last.reads, *(operand for operand in reader.reads if operand not in of_last))
    producers = (last.producers | reader.producers) - {last}
    spaces, frames = last.spaces | reader.spaces, last.frames | reader.frames
    launches, contractions = last.launches + reader.launches, last.contractions + reader.contractions
    ops = last.ops + reader.ops
    within = last.within if last.within is reader.within else None
    return _FusedLoop(reader.number, launches, spaces, frames, contractions, ops, reads, producers, within)


def _are_fusible(one: _FusedLoop, other: _FusedLoop) -> bool:
    """Whether one loop can visit the elements of both in the order of each."""
    spaces, frames = one.spaces | other.spaces, one.frames | other.frames
    contractions = one.contractions + other.contractions
    if contractions > 1 or (contractions and frames):
        return False
    if not frames:
        return len(spaces) == 1
    return len(frames) == 1 and all(frame.holds(space) for frame in frames for space in spaces)


def _space(view: View) -> _Space:
    return _Space(view.shape, view.spec.strides)


def _concatenated(kernels: Sequence[BoundKernel], is_read: Callable[[PlanValue], bool]) -> BoundKernel:
    """A kernel with the steps of all; it loads a tensor once, and stores it only if other launches read it."""
    steps: list[Step] = []
    tile_of: dict[Operand, int] = {}
    stored: dict[Operand, int] = {}
    for bound in kernels:
        tensors = bound.operands
        step_of: dict[int, int] = {}
        for index, step in enumerate(bound.steps):
            match step:
                case Store():
                    stored[tensors[step.stream]] = tile_of[tensors[step.stream]] = step_of[step.operand]
                case Load() if tensors[step.stream] in tile_of:
                    step_of[index] = tile_of[tensors[step.stream]]
                case _:
                    step_of[index] = len(steps)
                    if isinstance(step, Load):
                        tile_of[tensors[step.stream]] = len(steps)
                    steps.append(with_operands(step, step_of.__getitem__))
    read = dict.fromkeys(operand for bound in kernels for operand in bound.inputs)
    inputs = tuple(operand for operand in read if operand not in stored)
    outputs = tuple(output for output in stored if is_read(output.value))
    streams = {operand: k for k, operand in enumerate((*inputs, *outputs))}
    # A load still names the stream number of its own kernel.
    loaded = {tile_of[operand]: streams[operand] for operand in inputs}
    steps = [replace(step, stream=loaded[k]) if isinstance(step, Load) else step for k, step in enumerate(steps)]
    steps += [Store(stored[output], streams[output]) for output in outputs]
    axis = next((bound.axis for bound in kernels if bound.axis is not None), None)
    return kernel_over(inputs, outputs, steps, kernels[0].body.numerics, is_fused=True, axis=axis)
