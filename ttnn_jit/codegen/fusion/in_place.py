"""In-place updates: the arguments whose memory a program may write, since nothing reads the old value afterwards."""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel
from ttnn_jit.codegen.schedules.host_plan import HostPlan, launch_indices
from ttnn_jit.codegen.schedules.kernel import Copy, Kernel, LoopNest
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class InPlace:
    """An argument whose new value may be computed in its memory, provided that no other argument overlaps it.

    Attributes:
        argument: Its index.
        copy: The launch that copies the argument before parts of the copy are overwritten; an in-place update skips it.
            None if there is no such copy.
    """

    argument: int
    copy: int | None


def written_in_place(plan: HostPlan) -> Iterator[InPlace]:
    """The arguments that may be updated in place.

    The new value has the argument's layout. One launch computes it element by element, or one copies the argument and
    others overwrite parts of the copy. Every read of the argument comes before the write, or reads the very element
    that is written.
    """
    launches = plan.launches
    readers, writers = launch_indices(launches)
    for argument, result in plan.updates:
        old, new = plan.arguments[argument], plan.results[result]
        if not writers[new] or plan.results.count(new) > 1 or old.spec != new.spec:
            continue
        index, *others = writers[new]
        first = launches[index].bound
        if max(readers[old], default=index) > index or not _is_elementwise(first, old):
            continue
        if not others:
            yield InPlace(argument, None)
        elif [operand.value for operand in first.inputs] == [old] and _only_copies(first.kernel):
            yield InPlace(argument, index)


def _only_copies(kernel: Kernel) -> bool:
    return kernel.body.only_moves if isinstance(kernel, LoopNest) else isinstance(kernel, Copy) and not kernel.repacks


def _is_elementwise(bound: BoundKernel, old: PlanValue) -> bool:
    """Whether a kernel computes one tensor element by element, and reads of `old` only the element that it writes."""
    if len(bound.outputs) != 1 or not bound.is_map:
        return False
    nest = bound.loops
    walks = list(zip(nest.strides, nest.offsets, strict=True))
    read = [walk for operand, walk in zip(bound.inputs, walks, strict=False) if operand.value is old]
    return all(walk == walks[-1] for walk in read)
