"""Which arguments a program may write where they lie: those that nothing reads behind the write."""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.codegen.bound_kernel import BoundKernel
from ttnn_jit.codegen.host.host_plan import HostPlan
from ttnn_jit.codegen.kernel import Copy, Kernel, LoopNest
from ttnn_jit.codegen.plan_value import PlanValue
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class InPlace:
    """An argument whose new value may be made in its memory, as far as other arguments lie elsewhere.

    Attributes:
        argument: Its index.
        copy: The launch that copies it to where the new value is made, of which parts are written then; in its own
            memory there is nothing to copy. None if there is none.
    """

    argument: int
    copy: int | None


def written_in_place(plan: HostPlan) -> Iterator[InPlace]:
    """The arguments that may be written where they lie.

    The new value has the argument's places. One launch makes it, element by element, or one copies the argument and
    others write parts of the copy. Reads of the argument come before, or are of the very element that is written.
    """
    launches = plan.launches
    for argument, result in plan.updates:
        old, new = plan.arguments[argument], plan.results[result]
        writers = [place for place, launch in enumerate(launches) if _reads_or_writes(launch.bound, new, written=True)]
        if not writers or plan.results.count(new) > 1 or old.spec is not new.spec:
            continue
        first, later = launches[writers[0]].bound, launches[writers[0] + 1 :]
        if any(_reads_or_writes(launch.bound, old) for launch in later) or not _is_elementwise(first, old):
            continue
        if len(writers) == 1:
            yield InPlace(argument, None)
        elif [operand.value for operand in first.inputs] == [old] and _only_copies(first.kernel):
            yield InPlace(argument, writers[0])


def _only_copies(kernel: Kernel) -> bool:
    return kernel.body.only_moves if isinstance(kernel, LoopNest) else isinstance(kernel, Copy) and not kernel.repacks


def _reads_or_writes(bound: BoundKernel, value: PlanValue, *, written: bool = False) -> bool:
    return any(operand.value is value for operand in (bound.outputs if written else bound.inputs))


def _is_elementwise(bound: BoundKernel, old: PlanValue) -> bool:
    """Whether a kernel makes one tensor of elements, and reads `old` only where it writes."""
    if len(bound.outputs) != 1 or not bound.is_map:
        return False
    nest = bound.loops
    places = list(zip(nest.strides, nest.offsets, strict=True))
    read = [place for operand, place in zip(bound.inputs, places, strict=False) if operand.value is old]
    return all(place == places[-1] for place in read)
