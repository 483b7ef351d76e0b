"""The steps of the host's compile in order: from the launches of a scheduled module to the loops of each.

Every step is a function from a plan to a plan. `plan.launches[k].remark`, the stage ``host`` and `explain()` report the
result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ttnn_jit.codegen.blocking.attention_row_blocking import block_attention_rows
from ttnn_jit.codegen.blocking.compute_at import convert_in_loops
from ttnn_jit.codegen.blocking.copy_blocks import block_copies
from ttnn_jit.codegen.blocking.fission import fission_of, requires_pair_order
from ttnn_jit.codegen.blocking.kernel_sharing import share_kernels
from ttnn_jit.codegen.blocking.lookup import best_lookup, looking_up
from ttnn_jit.codegen.blocking.size_classes import decisions_of
from ttnn_jit.codegen.blocking.storage_formats import unpack_in_products
from ttnn_jit.codegen.blocking.tiers import tier_of
from ttnn_jit.codegen.bodies.steps import KernelBody, SizeClass
from ttnn_jit.codegen.fusion.copy_folding import read_through_copies, write_for_copies
from ttnn_jit.codegen.fusion.loop_fusion import fuse_loops
from ttnn_jit.codegen.fusion.padded_reads import read_without_padding
from ttnn_jit.codegen.fusion.register_moves import move_in_registers
from ttnn_jit.codegen.fusion.reshape_propagation import propagate_reshapes
from ttnn_jit.codegen.fusion.sweeps import split_into_sweeps
from ttnn_jit.codegen.meshes.mesh_expansion import mesh_expansion
from ttnn_jit.codegen.reading.contracting import epilogue
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, with_loops_of_copy
from ttnn_jit.codegen.schedules.host_plan import HostPlan
from ttnn_jit.codegen.schedules.kernel import Contract, ContractedLoops, Copy, Kernel, LoopNest, Loops, Table
from ttnn_jit.codegen.schedules.nest_stage import NestStage
from ttnn_jit.codegen.schedules.stages import Stage
from ttnn_jit.codegen.schedules.sweep import Sweep
from ttnn_jit.codegen.schedules.vector_loop import vector_loop
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.ops.families.reduction import CHAINS
from ttnn_jit.process.dataclass import replace
from ttnn_jit.process.memoized import memoized
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS
from ttnn_jit.specs.extents.partial_comparisons import hint_of

HostStep = Callable[[HostPlan], HostPlan]

_CACHED_SCHEDULES = 256
"""Capacity of the cache of each step, in kernels: a cached loop nest holds the text of its loops."""

_VECTORS_OF_CHAINS = 2
"""Vectors of a chunk that hold the chains of a reduction in registers; more than two would spill."""


def choose_loops(kernel: Kernel, isa: HostIsa | None) -> Kernel:
    """Schedule one loop for a body, sweeps for a reducing body, and an epilogue loop for a product."""
    match kernel:
        case LoopNest():
            return _loop_nest(kernel.body, isa)
        case Contract():
            return _product(kernel.body, kernel.contracted, isa)
        case _:
            return kernel


@memoized(maxsize=_CACHED_SCHEDULES)
def _loop_nest(body: KernelBody, isa: HostIsa | None) -> LoopNest:
    if body.reduced is None:
        return LoopNest.over_elements(body, vector_loop(body, isa) if isa else None)
    if isa is None:  # one element at a time, whatever the loop
        sweeps, buffers = split_into_sweeps(replace(body, reduced=replace(body.reduced, loop=0)), reads_bf16=False)
        return LoopNest(body, Loops.ROWS, sweeps, buffers)
    sweeps, buffers = split_into_sweeps(body, in_registers=isa.lanes * _VECTORS_OF_CHAINS == CHAINS)
    in_rows = body.reduced.loop == 0
    stages = (_sweep(each, isa, not in_rows or number == 0) for number, each in enumerate(sweeps))
    return LoopNest(body, Loops.ROWS if in_rows else Loops.COLUMNS, tuple(stages), buffers)


def _sweep(sweep: Sweep, isa: HostIsa, prefetches: bool) -> Sweep:
    """A sweep with its loop over vectors; later sweeps over a row read from the L1 cache."""
    folds = any(fold.in_registers for fold in sweep.folds)
    vectors = _VECTORS_OF_CHAINS if folds else None if sweep.whole_row else 1
    return replace(sweep, stage=sweep.stage.vectorized(isa, vectors, prefetches=prefetches))


@memoized(maxsize=_CACHED_SCHEDULES)
def _product(body: KernelBody, contracted: ContractedLoops, isa: HostIsa | None) -> Contract:
    return Contract(body, contracted, epilogue(body).vectorized(isa))


@memoized(maxsize=_CACHED_SCHEDULES)
def tabulate(kernel: Kernel, isa: HostIsa | None) -> Kernel:
    """Replace a function of 16-bit elements by a lookup table where that is profitable."""
    if isa is None or not isinstance(kernel, LoopNest) or (direct := kernel.one_loop) is None:
        return kernel
    best = best_lookup(kernel.body, isa) if kernel.body.size_class is SizeClass.LARGE else None
    if best is None:
        return kernel
    split, function = best
    picoseconds = direct.picoseconds - function.picoseconds + 1000 / HOST_COSTS.lookups_per_ns
    table = Table(Stage(split.function, (0, 1), function), split.operations, picoseconds)
    return replace(LoopNest.over_elements(kernel.body, looking_up(split, isa)), scratch=(table,))


@memoized(maxsize=_CACHED_SCHEDULES)
def split_loops(kernel: Kernel, isa: HostIsa | None) -> Kernel:
    """Loop fission: split a long body, or one that reads many inputs from memory, into several loops."""
    if not isinstance(kernel, LoopNest) or (direct := kernel.one_loop) is None:
        return kernel
    vectors = direct.loop.unroll
    parts = fission_of(kernel.body, direct.instructions, vectors)
    if parts is None:
        return kernel
    own = vectors if requires_pair_order(kernel.body, vectors) else None
    stages = (each.vectorized(isa, own, fences=False) for each in parts.all_of(NestStage))
    return replace(parts, stages=tuple(stages))


@memoized(maxsize=_CACHED_SCHEDULES)
def choose_tier(kernel: Kernel, isa: HostIsa | None) -> Kernel:
    """Choose the compile tier of a kernel that is one loop."""
    if isa is None or not isinstance(kernel, LoopNest) or (direct := kernel.one_loop) is None:
        return kernel
    tier, constants = tier_of(kernel.body, direct, isa)
    return LoopNest.over_elements(kernel.body, replace(direct, tier=tier, constants=constants))


def choose_loops_of_copies(plan: HostPlan) -> HostPlan:
    """The plan with the loops of copies blocked or interchanged, where that suits them."""
    return plan.with_bound_kernels(with_loops_of_copy)


def choose_size_classes(plan: HostPlan) -> HostPlan:
    """The plan with the size class of every body; a template's holds for all classes that give a kernel the same text.

    Conversions of block floats write other loops of a body later, so that classes are then exact.
    """
    isa = plan.isa
    if isa is None:
        return plan
    kernels = [launch.bound.kernel for launch in plan.launches]
    exact = any(isinstance(kernel, Copy) and kernel.repacks for kernel in kernels)
    return plan.with_bound_kernels(partial(_with_size_class, isa=isa, exact=exact))


def _with_size_class(bound: BoundKernel, isa: HostIsa, *, exact: bool) -> BoundKernel:
    kernel = bound.kernel
    if not isinstance(kernel, LoopNest | Contract) or kernel.body.reduced is not None:
        return bound

    def sized(own: SizeClass) -> LoopNest | Contract:
        return replace(kernel, body=replace(kernel.body, size_class=own))

    def decisions(own: SizeClass) -> object:
        made = choose_loops(sized(SizeClass.of(hint_of(bound.elements))), isa)
        assert isinstance(made, LoopNest | Contract), "choosing loops keeps the kind of a kernel"
        return own if exact else decisions_of(made, own, isa)

    return replace(bound, kernel=sized(SizeClass.of(bound.elements, decisions)))


KernelStep = Callable[[Kernel, HostIsa | None], Kernel]
KERNEL_STEPS: tuple[KernelStep, ...] = (choose_loops, tabulate, split_loops, choose_tier)


def _on_each(step: KernelStep) -> HostStep:
    return lambda plan: plan.with_kernels(lambda kernel: step(kernel, plan.isa))


DEVICE_STEPS: tuple[HostStep, ...] = (
    read_through_copies,
    propagate_reshapes,
    fuse_loops,
    write_for_copies,
    read_without_padding,
    block_copies,
    unpack_in_products,
    choose_loops_of_copies,
    share_kernels,
    choose_size_classes,
    *map(_on_each, KERNEL_STEPS),
    move_in_registers,
    convert_in_loops,
    block_attention_rows,
)
"""The steps on the plan of one device, in order. Steps that choose vectors return a plan without `isa` unchanged."""


def _scheduled(plan: HostPlan) -> HostPlan:
    """The plan after the steps of one device."""
    for step in DEVICE_STEPS:
        plan = step(plan)
    return plan


HOST_STEPS: tuple[HostStep, ...] = (*DEVICE_STEPS, partial(mesh_expansion, scheduled=_scheduled))
"""The steps in order. The launches of a collective are scheduled on their own."""


def schedule_of(body: KernelBody, isa: HostIsa) -> Kernel:
    """The schedule of a single body after all steps."""
    kernel: Kernel = LoopNest(body)
    for step in KERNEL_STEPS:
        kernel = step(kernel, isa)
    return kernel


def forget_loops() -> None:
    """Drop cached schedules after a measurement changed the costs that they depend on."""
    for memo in (_loop_nest, _product, tabulate, split_loops, choose_tier, decisions_of):
        memo.cache_clear()
