"""Copies whose loops are those of a transpose, in blocks that are transposed in registers."""

from __future__ import annotations

from dataclasses import replace

from ttnn_jit.codegen.host.forms import OneLoop, Transposed
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan
from ttnn_jit.codegen.kernel import Kernel, is_far_transpose
from ttnn_jit.codegen.launch import LEAST_TRANSPOSED
from ttnn_jit.codegen.steps import Load, Store
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.transposing_loops import LINE
from ttnn_jit.runtime.buffer import POOLED_RESULT_BYTES

_OWN_LOOPS = (0, 1)
"""Rows and columns of a block, which threads do not cut."""


def transpose_in_registers(plan: HostPlan) -> HostPlan:
    """The launches, with blocks of transposes moved by vectors of what is read and of what is written."""
    isa = plan.isa
    if isa is None:
        return plan
    launches = tuple(
        _transposing(launch, isa) if isinstance(launch.form, OneLoop) and _is_transpose(launch.kernel) else launch
        for launch in plan.launches
    )
    return replace(plan, launches=launches)


def _is_transpose(kernel: Kernel) -> bool:
    """Whether it only copies, reads along the loop around its innermost one and writes along that."""
    steps, nest, streams = kernel.body.steps, kernel.nest, kernel.body.streams
    if not (len(steps) == len(streams) == 2 and isinstance(steps[0], Load) and isinstance(steps[1], Store)):
        return False
    read, written = nest.strides
    crosses = nest.rank >= 1 and read[-2] == written[-1] == 1 and read[-1] != 1
    has_blocks = crosses and min(nest.extents[-2:]) >= LEAST_TRANSPOSED
    return has_blocks and streams[0].dtype is streams[1].dtype and streams[0].dtype.itemsize in {1, 2, 4}


def _transposing(launch: HostLaunch, isa: HostIsa) -> HostLaunch:
    kernel = launch.kernel
    read, written = kernel.body.streams
    columns, rows = kernel.nest.extents[-2:]
    lanes = _power_below(rows, 4 * isa.lanes // written.dtype.itemsize)
    at_once = _power_below(columns, LINE // written.dtype.itemsize)
    far = lanes * written.dtype.itemsize == LINE and _stores_lines(kernel, lanes)
    body = replace(kernel.body, streams=(read, replace(written, nontemporal=far)))
    kernel = replace(kernel, body=body, nest=replace(kernel.nest, reduced=_OWN_LOOPS))
    return replace(launch, kernel=kernel, form=Transposed(body, lanes, at_once))


def _stores_lines(kernel: Kernel, lanes: int) -> bool:
    """Whether what it moves is far away, and its vectors are whole lines where they are written."""
    (read,), (written,) = kernel.inputs, kernel.outputs
    spec, strides = written.view.spec, kernel.nest.strides[1]
    lines = (*strides[:-1], kernel.nest.offsets[1], kernel.nest.extents[-1])
    is_aligned = spec.nbytes >= POOLED_RESULT_BYTES and not any(step % lanes for step in lines)
    return is_aligned and is_far_transpose(read.view.spec, spec)


def _power_below(extent: int, most: int) -> int:
    """The greatest power of 2 that is neither above `extent` nor above `most`, which is one."""
    return min(most, 1 << extent.bit_length() - 1)
