"""What the size class of a launch decides in the schedule of its kernel; a template records classes that differ in it.

These are the decisions of the steps that read `KernelBody.size_class`, for a kernel that is one loop or a product.
Sweeps have no class.
"""

from __future__ import annotations

from collections.abc import Hashable

from ttnn_jit.codegen.blocking.fission import fission_of
from ttnn_jit.codegen.blocking.lookup import best_lookup
from ttnn_jit.codegen.blocking.tiers import tier_of
from ttnn_jit.codegen.bodies.steps import SizeClass
from ttnn_jit.codegen.schedules.kernel import Contract, LoopNest
from ttnn_jit.codegen.schedules.stages import Stage
from ttnn_jit.codegen.schedules.vector_loop import pipelines_loads
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.process.dataclass import replace
from ttnn_jit.process.memoized import memoized


@memoized(maxsize=1024)
def decisions_of(kernel: LoopNest | Contract, size_class: SizeClass, isa: HostIsa) -> Hashable:
    """The decisions for a size class; classes with equal ones give a kernel the same text.

    Args:
        kernel: The kernel with the loop that its body has in one piece, which is the same for all classes.
        size_class: The class.
        isa: The ISA of that loop.
    """
    body = replace(kernel.body, size_class=size_class)
    if isinstance(kernel, Contract):
        loop = None if kernel.epilogue is None else kernel.epilogue.loop
        return loop is not None and pipelines_loads(body, isa, loop.loop.unroll)
    direct = kernel.one_loop
    if direct is None:
        return None
    unroll = direct.loop.unroll
    if size_class is SizeClass.LARGE and best_lookup(body, isa) is not None:
        return "looked up"
    parts = fission_of(body, direct.instructions, unroll)
    if parts is not None:
        return tuple((stage.body, stage.operands) for stage in parts.all_of(Stage)), parts.block
    return pipelines_loads(body, isa, unroll), *tier_of(body, direct, isa)
