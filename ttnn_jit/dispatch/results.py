"""From a program's native run to what the user's function returns, for each family of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.dispatch.placement import Placement
from ttnn_jit.foreign.pytrees import NOTHING, flatten
from ttnn_jit.guards.reads import GuardText
from ttnn_jit.runtime.families import Family, WarmCall

if TYPE_CHECKING:
    from ttnn_jit.runtime.program import Program
    from ttnn_jit.runtime.warm_caller import Rebuild


def runner_for(family: Family, program: Program, structure: Any) -> Callable[..., Any]:
    """The function from a call's tensors to what the user's function returns.

    Args:
        family: Whose tensors the call has.
        program: The compiled program.
        structure: None for one result, else a pytree with result indices as leaves.
    """
    run = partial(family.run, program)
    if structure is None:
        return run
    rebuild = rebuilder(structure)
    return lambda *tensors: rebuild(_as_tuple(run(*tensors)))


def warm_runner_for(
    where: Placement, program: Program, structure: Any, guard: GuardText, hidden: Sequence[Any]
) -> WarmCall:
    """The function that runs a program again on tensors of the same metadata, or returns `STALE`.

    Args:
        where: Whose tensors the call has, and its target.
        program: The compiled program, of at least one tensor.
        structure: As for `runner_for`.
        guard: When the program still is that of the user's function.
        hidden: The hidden inputs as they are now, which those of later calls are compared with; none is kept.
    """
    from ttnn_jit.runtime.warm_caller import warm_caller

    rebuild = None if structure is None else rebuilder(structure)
    return warm_caller(
        program, where.family, guard=guard, hidden=hidden, rebuild=rebuild, counters=COUNTERS, target=where.target
    )


def rebuilder(structure: Any) -> Rebuild:
    """From results to the pytree `structure` with every index replaced by that result."""
    if type(structure) is str and structure == NOTHING:
        return lambda _: None
    indices, treedef = flatten(structure)
    return lambda results: treedef.unflatten([results[i] if isinstance(i, int) else i for i in indices])


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
