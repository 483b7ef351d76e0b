"""From the results of a program to the return value of the user's function, for each library of tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.foreign.pytrees import NOTHING, flatten
from ttnn_jit.runtime.libraries import TensorLibrary

if TYPE_CHECKING:
    from ttnn_jit.runtime.programs.program import Program
    from ttnn_jit.runtime.programs.warm_caller import Rebuild


def runner_for(library: TensorLibrary, program: Program, rebuild: Rebuild | None) -> Callable[..., Any]:
    """The function that runs `program` on tensors of `library` and returns the user's results."""
    run = partial(library.run, program)
    return run if rebuild is None else lambda *tensors: rebuild(_as_tuple(run(*tensors)))


def rebuilder(structure: Any) -> Rebuild | None:
    """The function from results to the pytree `structure`, with results in place of indices; None for one result."""
    if structure is None:
        return None
    if type(structure) is str and structure == NOTHING:
        return lambda _: None
    indices, treedef = flatten(structure)
    return lambda results: treedef.unflatten([results[i] if isinstance(i, int) else i for i in indices])


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
