"""Copies of vectors: transposes, reversed rows, every second element, repeated elements, short rows."""

from __future__ import annotations

from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, exceeds_last_cache, is_far_transpose
from ttnn_jit.codegen.schedules.host_plan import HostLaunch, HostPlan
from ttnn_jit.codegen.schedules.kernel import Copy, Kernel, LoopNest, Move, Repeated, ShortRows, Stepped, Transposed
from ttnn_jit.codegen.schedules.launch import LEAST_TRANSPOSED, LaunchLoops
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.nest.limits import LINE, STEPS
from ttnn_jit.process.dataclass import replace
from ttnn_jit.runtime.memory.buffer import POOLED_RESULT_BYTES
from ttnn_jit.specs.tensor_spec import TensorSpec

MOST_REPEATED = 8
"""Most repetitions of an element by shuffles; with more, a vector holds only a few distinct elements."""
_BLOCK = (0, 1)
"""The loops over rows and columns of a block, which threads do not split."""


def move_in_registers(plan: HostPlan) -> HostPlan:
    """The plan with copies that load and store whole vectors and shuffle in registers."""
    isa = plan.isa
    if isa is None:
        return plan
    return plan.with_launches(
        _moving(launch, isa) if _only_copies(launch.bound.kernel) else launch for launch in plan.launches
    )


def _moving(launch: HostLaunch, isa: HostIsa) -> HostLaunch:
    nest = launch.bound.loops
    read, written = nest.strides
    crosses = nest.rank >= 1 and read[-2] == written[-1] == 1 and read[-1] != 1
    if crosses and min(nest.extents[-2:]) >= LEAST_TRANSPOSED:
        return _transposing(launch, isa)
    repeats = nest.rank >= 1 and read[-2:] == (0, 1) and written[-2:] == (1, nest.extents[-2])
    if repeats and nest.extents[-2] <= MOST_REPEATED and nest.extents[-1] >= LEAST_TRANSPOSED:
        return _repeating(launch, isa)
    if nest.rank >= 1 and read[-1] == written[-1] == 1 and _fills_a_vector(launch, isa):
        return _moved(launch, ShortRows(nest.extents[-1]), replace(nest, whole=(0,)), nontemporal=False)
    return _stepping(launch, isa) if written[-1] == 1 and read[-1] in STEPS and nest.extents[-1] > 1 else launch


def _only_copies(kernel: Kernel) -> bool:
    if not isinstance(kernel, LoopNest) or not kernel.body.only_moves or len(kernel.streams) != 2:
        return False
    read, written = (stream.dtype for stream in kernel.streams)
    return read is written and read.itemsize in {1, 2, 4}


def _transposing(launch: HostLaunch, isa: HostIsa) -> HostLaunch:
    bound, nest, itemsize = launch.bound, launch.bound.loops, launch.bound.kernel.streams[1].dtype.itemsize
    most = 4 * isa.lanes // itemsize
    columns = _power_below(nest.extents[-2], LINE // itemsize)
    if (around := _loop_joining_short_rows(nest, most)) is not None:
        row, nest = _power_below(nest.extents[-1], most), _with_next_to_block(nest, around)
        rows_per_vector = _power_below(nest.extents[-3], most // row)
        return _moved(
            launch, Transposed(row * rows_per_vector, columns, rows_per_vector), replace(nest, whole=(*_BLOCK, 2))
        )
    lanes = _power_below(nest.extents[-1], most)
    past = _passes_caches(bound, lanes, far=is_far_transpose(*_specs(bound)))
    return _moved(launch, Transposed(lanes, columns), replace(nest, whole=_BLOCK), nontemporal=past)


def _moved(launch: HostLaunch, move: Move, loops: LaunchLoops, *, nontemporal: bool | None = None) -> HostLaunch:
    """The launch as a copy through registers; `nontemporal` None keeps the kind of its stores."""
    body = launch.bound.body
    read, written = body.streams
    written = written if nontemporal is None else replace(written, nontemporal=nontemporal)
    copy = Copy((read, written), launch.bound.loops.rank, body.numerics, move)
    return replace(launch, bound=replace(launch.bound, kernel=copy, loops=loops))


def _loop_joining_short_rows(nest: LaunchLoops, most: int) -> int | None:
    """The loop along which written rows of a power of 2 below `most` elements, a vector's, are contiguous."""
    row = nest.extents[-1]
    if row * 2 > most or row != _power_below(row, most):
        return None
    loops = range(nest.rank - 1)
    return next((k for k in loops if nest.strides[1][k] == row and nest.extents[k] > 1), None)


def _with_next_to_block(nest: LaunchLoops, loop: int) -> LaunchLoops:
    """The loops with `loop` moved directly around the two of a block."""
    order = [*(k for k in range(nest.rank - 1) if k != loop), loop, nest.rank - 1, nest.rank]
    strides = tuple(tuple(own[k] for k in order) for own in nest.strides)
    return replace(nest, extents=tuple(nest.extents[k] for k in order), strides=strides)


def _stepping(launch: HostLaunch, isa: HostIsa) -> HostLaunch:
    bound, nest = launch.bound, launch.bound.loops
    lanes = _power_below(nest.extents[-1], 4 * isa.lanes // bound.kernel.streams[1].dtype.itemsize)
    read, written = _specs(bound)
    past = _passes_caches(bound, lanes, far=exceeds_last_cache([read], [written]))
    return _moved(launch, Stepped(lanes, nest.strides[0][-1]), nest, nontemporal=past)


def _repeating(launch: HostLaunch, isa: HostIsa) -> HostLaunch:
    bound, nest = launch.bound, launch.bound.loops
    lanes = _power_below(nest.extents[-1], 4 * isa.lanes // bound.kernel.streams[1].dtype.itemsize)
    return _moved(launch, Repeated(lanes, nest.extents[-2]), replace(nest, whole=_BLOCK))


def _fills_a_vector(launch: HostLaunch, isa: HostIsa) -> bool:
    """Whether a row is a whole vector, of at most the host's width."""
    row, itemsize = launch.bound.loops.extents[-1], launch.bound.kernel.streams[1].dtype.itemsize
    return 1 < row == _power_below(row, 4 * isa.lanes // itemsize)


def _specs(bound: BoundKernel) -> tuple[TensorSpec, TensorSpec]:
    """The specs of the input and of the output."""
    (read,), (written,) = bound.inputs, bound.outputs
    return read.view.spec, written.view.spec


def _passes_caches(bound: BoundKernel, lanes: int, *, far: bool) -> bool:
    """Whether stores to memory (`far`) bypass the caches: the written vectors are whole cache lines."""
    written, nest = bound.outputs[0].view.spec, bound.loops
    if not far or written.nbytes < POOLED_RESULT_BYTES:
        return False
    begins = (*nest.strides[1][:-1], nest.offsets[1], nest.extents[-1])
    return lanes * written.dtype.itemsize == LINE and not any(step % lanes for step in begins)


def _power_below(extent: int, most: int) -> int:
    """The greatest power of 2 that exceeds neither `extent` nor the power of 2 `most`."""
    while most > extent:
        most //= 2
    return most
