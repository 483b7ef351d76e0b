"""Padded tensors that are never materialized: their readers are split by which operands read padding.

Windows of a pool or of a depthwise convolution read padding only at the edges of a tensor. The launch is split along
its loops where an operand begins or ceases to read padding. Each part reads the tensor itself or one row of the padding
value, so that there is neither a copy nor a mask, and the bits are those of the whole.

Bound: the bytes of the tensor and of the result; one launch per part, nine for windows that cross all edges.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from ttnn_jit.codegen.fusion.copy_folding import only_moves
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand, filled_with, kernel_over
from ttnn_jit.codegen.schedules.host_plan import HostLaunch, HostPlan, launch_indices, of_several
from ttnn_jit.codegen.schedules.kernel import LoopNest
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.dialects.declared_ops import MovementOp
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Const, Dim, Expr, dims_of, evaluated, is_affine, substitute, total
from ttnn_jit.specs.access.interval import Interval
from ttnn_jit.specs.access.strided_walk import NotStridedError
from ttnn_jit.specs.tensor_spec import TensorSpec

LEAST_ELEMENTS = 1024
"""Least elements of a part on average; with fewer, launches cost more than a copy of the tensor
(benchmarks/kernels/convolution.py)."""

MOST_PARTS = 32
"""Most parts of a launch; each costs some hundred microseconds to compile."""

Intervals = tuple[Interval, ...]


@dataclass(frozen=True)
class _Padded:
    """A tensor padded with one number.

    Attributes:
        op: The operation that pads it.
        value: The padded tensor.
        spec: The spec of the padded tensor.
        number: The padding value.
        inner: The tensor that is padded, with its elements in order.
        intervals: Per dimension of the padded tensor, the indices of the inner elements.
    """

    op: Operation
    value: PlanValue
    spec: TensorSpec
    number: float
    inner: Operand
    intervals: Intervals

    @property
    def axes(self) -> list[int]:
        """The dimensions that have padding."""
        dims = enumerate(zip(self.intervals, self.spec.shape, strict=True))
        return [axis for axis, (own, whole) in dims if own.count != whole]


@of_several
def read_without_padding(plan: HostPlan) -> HostPlan:
    """The plan without launches that pad for elementwise readers; the readers are split where they read padding."""
    found: list[Sequence[HostLaunch]] = [(launch,) for launch in plan.launches]
    readers, writers = launch_indices(plan.launches)
    untouched = set(range(len(found)))
    for value, indices in writers.items():
        padded = _padded([plan.launches[index] for index in indices], value)
        if padded is None or value in plan.results or not untouched.issuperset((*indices, *readers[value])):
            continue  # or another split changed one of these launches
        cut = _all_cut(padded, [plan.launches[index] for index in readers[value]])
        if cut is None:
            continue
        fill, parts = cut
        found[indices[0] : indices[-1] + 1] = [(fill,), *((),) * (len(indices) - 1)]
        for index, own in zip(readers[value], parts, strict=True):
            found[index] = own
        untouched.difference_update(indices, readers[value])
    return plan.with_launches(itertools.chain.from_iterable(found))


def _padded(writers: Sequence[HostLaunch], value: PlanValue) -> _Padded | None:
    """The padding that these launches, all writers of `value`, perform; None if they do anything else."""
    op = writers[0].ops[-1]
    if not isinstance(op, MovementOp) or op.background is None or any(each.ops[-1] is not op for each in writers):
        return None
    moves = [each.bound for each in writers if each.bound.inputs]
    if len(moves) != 1 or not only_moves(moves[0]):
        return None
    (part,) = op.parts
    (inner,), (output,) = moves[0].inputs, moves[0].outputs
    found = _Padded(op, value, output.view.spec, op.background.number, inner, part.intervals)
    last = len(found.spec.shape) - 1
    return found if found.axes and last not in found.axes else None


def _all_cut(padded: _Padded, readers: Sequence[HostLaunch]) -> tuple[HostLaunch, list[Sequence[HostLaunch]]] | None:
    """The launch that writes a row of padding, and the parts of each reader; None if a reader cannot be split."""
    if not readers:
        return None
    row = Operand.new(TensorSpec(tuple(padded.spec.shape)[-1:], padded.spec.dtype))
    try:
        parts: list[Sequence[HostLaunch]] = [tuple(_parts(padded, row, launch)) for launch in readers]
    except NotStridedError:
        return None
    steps = filled_with(padded.number, padded.spec.dtype)
    fill = kernel_over((), (row,), steps, readers[0].bound.body.numerics)
    return HostLaunch((padded.op,), fill), parts


def _parts(padded: _Padded, row: Operand, launch: HostLaunch) -> Iterator[HostLaunch]:
    """The parts of the launch, the largest first.

    Raises:
        NotStridedError: It cannot be split, or has too many parts.
    """
    bound = launch.bound
    if not isinstance(bound.kernel, LoopNest) or not bound.is_map:
        raise NotStridedError
    shape = bound.shape
    runs = [_runs(extent, _cuts(padded, bound, dim)) for dim, extent in enumerate(shape)]
    count = math.prod(map(len, runs))
    if count > MOST_PARTS or math.prod(shape) < count * LEAST_ELEMENTS:
        raise NotStridedError
    for intervals in sorted(itertools.product(*runs), key=lambda own: -math.prod(each.count for each in own)):
        inputs = [_part_of(each, intervals) for each in bound.inputs]
        inputs = [_without_padding(padded, row, each) if each.value is padded.value else each for each in inputs]
        outputs = tuple(_part_of(each, intervals) for each in bound.outputs)
        yield HostLaunch((padded.op, *launch.ops), bound.over(tuple(inputs), outputs))


def _runs(extent: int, cuts: Sequence[int]) -> list[Interval]:
    bounds = [0, *sorted(cut for cut in cuts if 0 < cut < extent), extent]
    return [Interval(first, end) for first, end in itertools.pairwise(bounds) if first != end]


def _cuts(padded: _Padded, bound: BoundKernel, dim: int) -> list[int]:
    """The indices along a dimension of a kernel at which an operand begins or ceases to read padding.

    Raises:
        NotStridedError: For an operand, they depend on several dimensions.
    """
    found: list[int] = []
    for operand in bound.inputs:
        own = dim - len(bound.shape) + len(operand.view.shape)
        if operand.value is not padded.value or own < 0:
            continue
        access = operand.access
        for axis in padded.axes:
            first, step = _line(access.coordinates[axis], own, len(access.extents))
            if step:
                inside = padded.intervals[axis]
                found += (-((first - edge) // step) for edge in (inside.start, inside.stop))
    return found


def _line(expr: Expr, dim: int, rank: int) -> tuple[int, int]:
    """The value of an expression at index 0 of a dimension, and its slope along the dimension.

    Raises:
        NotStridedError: The slope is negative, or the expression depends on another dimension.
    """
    if not is_affine(expr) or len(dims_of(expr)) > 1:
        raise NotStridedError
    first = evaluated(expr, (0,) * rank)
    step = evaluated(expr, [int(each == dim) for each in range(rank)]) - first
    if step < 0:
        raise NotStridedError
    return first, step


def _part_of(operand: Operand, intervals: Intervals) -> Operand:
    """The operand of a part of a kernel; a broadcast dimension is not split."""
    access = operand.access
    own = intervals[len(intervals) - len(access.extents) :]
    kept = [part if extent != 1 else Interval(0, 1) for extent, part in zip(access.extents, own, strict=True)]
    indices = [total((Dim(axis), Const(part.start))) for axis, part in enumerate(kept)]
    coordinates = tuple(substitute(expr, indices) for expr in access.coordinates)
    return operand.viewed(Access(tuple(part.count for part in kept), coordinates))


def _without_padding(padded: _Padded, row: Operand, operand: Operand) -> Operand:
    """An operand that is entirely inside, or entirely padding, as elements of the tensor or of the padding row."""
    access = operand.access
    first = (0,) * len(access.extents)
    if any(evaluated(access.coordinates[axis], first) not in padded.intervals[axis] for axis in padded.axes):
        return row.viewed(Access(access.extents, access.coordinates[-1:]))
    moved = zip(access.coordinates, padded.intervals, strict=True)
    inside = [total((expr, Const(-own.start))) for expr, own in moved]
    coordinates = tuple(substitute(expr, inside) for expr in padded.inner.access.coordinates)
    return padded.inner.viewed(Access(access.extents, coordinates))
