"""Copies whose loops are those of a transpose, in blocks that are transposed in registers."""

from __future__ import annotations

from dataclasses import replace

from ttnn_jit.codegen.host.forms import OneLoop, Transposed
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan
from ttnn_jit.codegen.kernel import Kernel
from ttnn_jit.codegen.launch import BLOCK
from ttnn_jit.codegen.steps import Load, Store

_OWN_LOOPS = (0, 1)
"""Rows and columns of a block, which threads do not cut."""


def transpose_in_registers(plan: HostPlan) -> HostPlan:
    """The launches, with blocks of transposes moved by vectors of what is read and of what is written."""
    isa = plan.isa
    if isa is None:
        return plan
    launches = tuple(
        _transposing(launch) if isinstance(launch.form, OneLoop) and _is_transpose(launch.kernel) else launch
        for launch in plan.launches
    )
    return replace(plan, launches=launches)


def _is_transpose(kernel: Kernel) -> bool:
    """Whether it only copies blocks, read along one of their sides and written along the other."""
    steps, nest, streams = kernel.body.steps, kernel.nest, kernel.body.streams
    if not (len(steps) == len(streams) == 2 and isinstance(steps[0], Load) and isinstance(steps[1], Store)):
        return False
    read, written = nest.strides
    is_block = nest.rank >= 1 and nest.extents[-2:] == (BLOCK, BLOCK) and read[-2] == written[-1] == 1
    return is_block and streams[0].dtype is streams[1].dtype and streams[0].dtype.itemsize in {2, 4}


def _transposing(launch: HostLaunch) -> HostLaunch:
    kernel = replace(launch.kernel, nest=replace(launch.kernel.nest, reduced=_OWN_LOOPS))
    return replace(launch, kernel=kernel, form=Transposed(kernel.body))
