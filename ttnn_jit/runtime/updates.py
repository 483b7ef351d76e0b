"""Writes of a program into its inputs: checked before it runs, done when all of it has run.

So a call that is refused, or fails, has written nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError

if TYPE_CHECKING:
    from ttnn_jit.runtime.families.family import Family
    from ttnn_jit.runtime.plan import ProgramPlan


def check_updates(plan: ProgramPlan, family: Family, tensors: Sequence[Any]) -> None:
    """Refuse inputs that the program cannot write into, or where that would change another input.

    Raises:
        ArgumentError: One is read-only, has several elements at one address, or shares memory with another that the
            program reads or writes.
    """
    for index, _ in plan.updates:
        family.require_writable(tensors[index], plan.inputs[index], f"{plan.name}: argument {index}")
        for other in plan.used_inputs:
            specs = plan.inputs[index], plan.inputs[other]
            if other != index and family.share_memory(tensors[index], tensors[other], *specs):
                raise ArgumentError(
                    f"{plan.name}: argument {index}, which the function writes into, shares memory with argument "
                    f"{other}",
                    help="pass a copy of one of them",
                )


def after_updates(plan: ProgramPlan, family: Family, tensors: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Write what the program made of its inputs; what it returns, with these inputs in its place."""
    results = [values[index] for index in plan.results]
    for index, result in plan.updates:
        if results[result] is not tensors[index]:
            family.write(tensors[index], results[result])
    for index, result in plan.updates:
        results[result] = tensors[index]
    return results


def same_memory(family: Family, tensors: Sequence[Any]) -> tuple[int, ...]:
    """Per tensor, the first one that has the same elements at the same addresses; () if each is the first."""
    places: dict[object, int] = {}
    first = [
        places.setdefault((family.address(tensor), family.spec_of(tensor)), at) for at, tensor in enumerate(tensors)
    ]
    return () if len(places) == len(tensors) else tuple(first)
