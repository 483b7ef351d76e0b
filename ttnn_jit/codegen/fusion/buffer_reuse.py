"""Values that lie in one buffer one after the other: what a value is last read of serves the next of its spec.

So a program of many layers needs the memory of one, and finds what it writes in the cache.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.specs.tensor_spec import TensorSpec


def buffer_of(
    runs: Sequence[Collection[PlanValue]], specs: Mapping[PlanValue, TensorSpec]
) -> dict[PlanValue, PlanValue]:
    """Of each value with a spec, the first of those that lie where it does.

    Args:
        runs: The values that each launch reads or writes, in the order in which launches run.
        specs: Of the values that live from their first launch to their last one.
    """
    last = {value: run for run, touched in enumerate(runs) for value in touched if value in specs}
    free: defaultdict[TensorSpec, list[PlanValue]] = defaultdict(list)
    found: dict[PlanValue, PlanValue] = {}
    for run, touched in enumerate(runs):
        own = [value for value in dict.fromkeys(touched) if value in specs]
        for value in own:
            if value not in found:
                idle = free[specs[value]]
                found[value] = idle.pop() if idle else value
        for value in own:
            if last[value] == run:
                free[specs[value]].append(found[value])
    return found
