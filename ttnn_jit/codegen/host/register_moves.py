"""Copies whose elements are turned around or repeated in registers: transposes, rows backwards, every second one."""

from __future__ import annotations

from dataclasses import replace

from ttnn_jit.codegen.host.forms import OneLoop, Repeated, Stepped, Transposed
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan
from ttnn_jit.codegen.kernel import Kernel, exceeds_last_cache, is_far_transpose
from ttnn_jit.codegen.launch import LEAST_TRANSPOSED, LoopNest
from ttnn_jit.codegen.steps import Load, Store
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.nest.limits import LINE, STEPS
from ttnn_jit.runtime.buffer import POOLED_RESULT_BYTES
from ttnn_jit.specs.tensor_spec import TensorSpec

MOST_REPEATED = 8
"""How often an element is repeated by shuffles: more often, vectors are made of a few elements each."""
_BLOCK = (0, 1)
"""Rows and columns of a block, which threads do not cut."""


def move_in_registers(plan: HostPlan) -> HostPlan:
    """The launches, with what is only copied moved by vectors of what is read and of what is written."""
    isa = plan.isa
    if isa is None:
        return plan
    launches = tuple(
        _moving(launch, isa) if isinstance(launch.form, OneLoop) and _only_copies(launch.kernel) else launch
        for launch in plan.launches
    )
    return replace(plan, launches=launches)


def _moving(launch: HostLaunch, isa: HostIsa) -> HostLaunch:
    nest = launch.kernel.nest
    read, written = nest.strides
    crosses = nest.rank >= 1 and read[-2] == written[-1] == 1 and read[-1] != 1
    if crosses and min(nest.extents[-2:]) >= LEAST_TRANSPOSED:
        return _transposing(launch, isa)
    repeats = nest.rank >= 1 and read[-2:] == (0, 1) and written[-2:] == (1, nest.extents[-2])
    if repeats and nest.extents[-2] <= MOST_REPEATED and nest.extents[-1] >= LEAST_TRANSPOSED:
        return _repeating(launch, isa)
    return _stepping(launch, isa) if written[-1] == 1 and read[-1] in STEPS and nest.extents[-1] > 1 else launch


def _only_copies(kernel: Kernel) -> bool:
    steps, streams = kernel.body.steps, kernel.body.streams
    if not (len(steps) == len(streams) == 2 and isinstance(steps[0], Load) and isinstance(steps[1], Store)):
        return False
    return streams[0].dtype is streams[1].dtype and streams[0].dtype.itemsize in {1, 2, 4}


def _transposing(launch: HostLaunch, isa: HostIsa) -> HostLaunch:
    kernel, nest, itemsize = launch.kernel, launch.kernel.nest, launch.kernel.body.streams[1].dtype.itemsize
    most = 4 * isa.lanes // itemsize
    columns = _power_below(nest.extents[-2], LINE // itemsize)
    if (around := _of_rows_that_follow(nest, most)) is not None:
        row, nest = nest.extents[-1], _with_next_to_block(nest, around)
        together = _power_below(nest.extents[-3], most // row)
        kernel = replace(kernel, nest=replace(nest, reduced=(*_BLOCK, 2)))
        return replace(launch, kernel=kernel, form=Transposed(kernel.body, row * together, columns, together))
    lanes = _power_below(nest.extents[-1], most)
    kernel = replace(_stored(kernel, lanes, far=is_far_transpose(*_specs(kernel))), nest=replace(nest, reduced=_BLOCK))
    return replace(launch, kernel=kernel, form=Transposed(kernel.body, lanes, columns))


def _of_rows_that_follow(nest: LoopNest, most: int) -> int | None:
    """The loop along which rows that are written, of fewer elements than a vector's `most`, follow each other."""
    row = nest.extents[-1]
    if row * 2 > most or row & (row - 1):
        return None
    loops = range(nest.rank - 1)
    return next((k for k in loops if nest.strides[1][k] == row and nest.extents[k] > 1), None)


def _with_next_to_block(nest: LoopNest, loop: int) -> LoopNest:
    """The loops, `loop` directly around the two of a block."""
    order = [*(k for k in range(nest.rank - 1) if k != loop), loop, nest.rank - 1, nest.rank]
    strides = tuple(tuple(own[k] for k in order) for own in nest.strides)
    return replace(nest, extents=tuple(nest.extents[k] for k in order), strides=strides)


def _stepping(launch: HostLaunch, isa: HostIsa) -> HostLaunch:
    kernel, nest = launch.kernel, launch.kernel.nest
    lanes = _power_below(nest.extents[-1], 4 * isa.lanes // kernel.body.streams[1].dtype.itemsize)
    read, written = _specs(kernel)
    kernel = _stored(kernel, lanes, far=exceeds_last_cache([read], [written]))
    return replace(launch, kernel=kernel, form=Stepped(kernel.body, lanes, nest.strides[0][-1]))


def _repeating(launch: HostLaunch, isa: HostIsa) -> HostLaunch:
    kernel, nest = launch.kernel, launch.kernel.nest
    lanes = _power_below(nest.extents[-1], 4 * isa.lanes // kernel.body.streams[1].dtype.itemsize)
    kernel = replace(kernel, nest=replace(nest, reduced=_BLOCK))
    return replace(launch, kernel=kernel, form=Repeated(kernel.body, lanes, nest.extents[-2]))


def _specs(kernel: Kernel) -> tuple[TensorSpec, TensorSpec]:
    """What is read, and what is written."""
    (read,), (written,) = kernel.inputs, kernel.outputs
    return read.view.spec, written.view.spec


def _stored(kernel: Kernel, lanes: int, *, far: bool) -> Kernel:
    """The kernel, which stores past the caches what is `far`, if its vectors are whole lines where they are written."""
    (read, written), nest = kernel.body.streams, kernel.nest
    begins = (*nest.strides[1][:-1], nest.offsets[1], nest.extents[-1])
    are_lines = lanes * written.dtype.itemsize == LINE and not any(step % lanes for step in begins)
    past = far and are_lines and _specs(kernel)[1].nbytes >= POOLED_RESULT_BYTES
    return replace(kernel, body=replace(kernel.body, streams=(read, replace(written, nontemporal=past))))


def _power_below(extent: int, most: int) -> int:
    """The greatest power of 2 that is neither above `extent` nor above `most`, which is one."""
    return min(most, 1 << extent.bit_length() - 1)
