"""The event of a program's run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from ttnn_jit.events.listeners import measured
from ttnn_jit.events.run_events import Launch, tensor_info
from ttnn_jit.runtime.plans.launches import runs_of
from ttnn_jit.runtime.plans.plan import ProgramPlan

R = TypeVar("R")


def launched(plan: ProgramPlan, run: Callable[..., R], *args: Any) -> R:
    """``run(*args)``, a native call of the program of `plan`, whose event is emitted after it."""
    return measured(
        Launch,
        partial(run, *args),
        name=plan.name,
        operands=tuple(map(tensor_info, plan.inputs)),
        results=tuple(map(tensor_info, plan.outputs)),
        kernels=tuple(launch.kernel for launch, _ in runs_of(plan.launches)),
        scratch_nbytes=sum(spec.nbytes for spec in plan.scratch),
    )
