"""Buffer reuse: a value takes the buffer of a value of equal spec whose live range has ended.

A program of many layers so needs the memory of one layer, and its writes hit the cache. Specs with extents of a trace
are equal if their expressions are: equal numbers would be a coincidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.process.memoized import keys_as_expressions
from ttnn_jit.specs.tensor_spec import TensorSpec


def buffer_of(
    runs: Sequence[Collection[PlanValue]], specs: Mapping[PlanValue, tuple[TensorSpec, int | None]]
) -> dict[PlanValue, PlanValue]:
    """From each value with a spec to the value that first had its buffer.

    Args:
        runs: The values that each launch reads or writes, in execution order.
        specs: The specs of the values that live only from their first to their last launch, and what else distinguishes
            their memory: the device of a value in L1.
    """
    last = {value: run for run, touched in enumerate(runs) for value in touched if value in specs}
    free: defaultdict[tuple[TensorSpec, int | None], list[PlanValue]] = defaultdict(list)
    found: dict[PlanValue, PlanValue] = {}
    for run, touched in enumerate(runs):
        own = [value for value in dict.fromkeys(touched) if value in specs]
        for value in own:
            if value not in found:
                with keys_as_expressions():
                    idle = free[specs[value]]
                found[value] = idle.pop() if idle else value
        for value in own:
            if last[value] == run:
                with keys_as_expressions():
                    free[specs[value]].append(found[value])
    return found
