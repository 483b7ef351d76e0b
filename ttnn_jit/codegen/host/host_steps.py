"""The host's own compile, in order, on one page: from the launches of a scheduled module to the forms of their loops.

Every step is a function from a plan to a plan. `plan.launches[k].form.remark` says what came of it, as do the stage
``host`` and `explain()`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from ttnn_jit.codegen.contracting import epilogue
from ttnn_jit.codegen.host.common_shapes import meet_in_one_shape
from ttnn_jit.codegen.host.compute_at import convert_in_loops
from ttnn_jit.codegen.host.copy_blocks import block_copies
from ttnn_jit.codegen.host.copy_folding import read_through_copies, write_for_copies
from ttnn_jit.codegen.host.fission import fission_of
from ttnn_jit.codegen.host.forms import Contracted, Form, OneLoop, Repacked, RoutineForm, Staged, Swept, Tabulated
from ttnn_jit.codegen.host.host_plan import HostPlan
from ttnn_jit.codegen.host.lookup import best_lookup, looking_up
from ttnn_jit.codegen.host.loop_fusion import join_loops
from ttnn_jit.codegen.host.padded_reads import read_without_padding
from ttnn_jit.codegen.host.register_moves import move_in_registers
from ttnn_jit.codegen.host.score_blocks import block_scores
from ttnn_jit.codegen.host.storage_formats import unpack_in_products
from ttnn_jit.codegen.host.sweeps import Sweep, swept
from ttnn_jit.codegen.host.tiers import tier_of
from ttnn_jit.codegen.steps import Call, KernelBody, Repack, SizeClass
from ttnn_jit.codegen.vector_loop import VectorLoop, vector_loop
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.ops.reduction import CHAINS
from ttnn_jit.process.memoized import memoized

FormStep = Callable[[Form, HostIsa], Form]
HostStep = Callable[[HostPlan], HostPlan]

_KEPT = 256
"""Bodies whose forms are kept for other programs; a form holds all lines of its loops."""


_VECTORS_OF_CHAINS = 2
"""Of a chunk: where they are all chains of a reduction, these stay in registers; more than two would not leave room."""


def vectorize(form: Form, isa: HostIsa) -> Form:
    """The body as loops over vectors: one loop, sweeps where it reduces, a microkernel where it contracts."""
    return _vectorized(form.body, isa)


@memoized(maxsize=_KEPT)
def _vectorized(body: KernelBody, isa: HostIsa) -> Form:
    if isinstance(body.steps[0], Call):
        return RoutineForm(body)
    if isinstance(body.steps[0], Repack):
        return Repacked(body)
    if body.contraction is not None:
        stage = epilogue(body)
        return Contracted(body, stage, vector_loop(stage.body, isa))
    if body.reduced is not None:
        parts = swept(body, in_registers=isa.lanes * _VECTORS_OF_CHAINS == CHAINS)
        in_rows = body.reduced.loop == 0
        loops = (_loop_of_sweep(sweep, isa, not in_rows or number == 0) for number, sweep in enumerate(parts.sweeps))
        return Swept(body, parts, tuple(loops))
    return OneLoop(body, vector_loop(body, isa))


def _loop_of_sweep(sweep: Sweep, isa: HostIsa, prefetches: bool) -> VectorLoop | None:
    """What a sweep computes element by element; the later ones over a row find in the first cache what they read."""
    body = sweep.stage.body
    folds = any(fold.in_registers for fold in sweep.folds)
    vectors = _VECTORS_OF_CHAINS if folds else None if sweep.whole_row else 1
    return vector_loop(body, isa, vectors, prefetches=prefetches) if body.steps else None


@memoized(maxsize=_KEPT)
def tabulate(form: Form, isa: HostIsa) -> Form:
    """A function of 16-bit elements as look-ups, where a table pays for a loop over many elements."""
    if not isinstance(form, OneLoop) or form.body.size_class is not SizeClass.LARGE:
        return form
    best = best_lookup(form.body, isa)
    if best is None:
        return form
    split, function = best
    return Tabulated(form.body, form.loop, split, function, looking_up(split, isa))


@memoized(maxsize=_KEPT)
def split_loops(form: Form, isa: HostIsa) -> Form:
    """Loop fission: a long body, or one that reads many inputs from memory, as several loops."""
    if not isinstance(form, OneLoop):
        return form
    fission = fission_of(form.body, form.loop.instructions, form.loop.loop.unroll)
    if fission is None:
        return form
    loops = (vector_loop(stage.body, isa, fission.vectors, fences=False) for stage in fission.stages)
    return Staged(form.body, fission, tuple(loops))


@memoized(maxsize=_KEPT)
def choose_tier(form: Form, isa: HostIsa) -> Form:
    """How much LLVM does for what is left as one loop."""
    if not isinstance(form, OneLoop):
        return form
    return OneLoop(form.body, form.loop, *tier_of(form.body, form.loop, isa))


FORM_STEPS: tuple[FormStep, ...] = (vectorize, tabulate, split_loops, choose_tier)


def _on_each(step: FormStep) -> HostStep:
    return lambda plan: plan.with_forms(step)


HOST_STEPS: tuple[HostStep, ...] = (
    read_through_copies,
    meet_in_one_shape,
    join_loops,
    write_for_copies,
    read_without_padding,
    block_copies,
    unpack_in_products,
    *map(_on_each, FORM_STEPS),
    move_in_registers,
    convert_in_loops,
    block_scores,
)
"""The compile. Without vectors to choose for, all but the first five and the last leave a plan as it is."""


def chosen_form(body: KernelBody, isa: HostIsa) -> Form:
    """The form of a body by itself, after all steps."""
    return reduce(lambda form, step: step(form, isa), FORM_STEPS, Form(body))


def forget_forms() -> None:
    """Choose anew from here on: a measurement changed what choices depend on."""
    for step in (_vectorized, tabulate, split_loops, choose_tier):
        step.cache_clear()
