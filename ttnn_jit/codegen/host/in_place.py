"""Which arguments a program may write where they lie: those that nothing reads behind the write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import SSAValue

from ttnn_jit.codegen.host.host_plan import HostLaunch
from ttnn_jit.codegen.kernel import Kernel
from ttnn_jit.codegen.steps import Accumulate, Call, Contract
from ttnn_jit.dialects.layout import spec_of


def written_in_place(
    arguments: Sequence[SSAValue],
    returned: Sequence[SSAValue],
    updates: Sequence[tuple[int, int]],
    launches: Sequence[HostLaunch],
) -> Iterator[int]:
    """The arguments whose new value may be made in their memory, as far as other arguments lie elsewhere.

    The new value has the argument's places, one launch makes it and nothing else, element by element, and reads of the
    argument come before it or are of the very element that it writes.
    """
    for argument, result in updates:
        old, new = arguments[argument], returned[result]
        writers = [place for place, launch in enumerate(launches) if _reads_or_writes(launch.kernel, new, written=True)]
        if len(writers) != 1 or returned.count(new) > 1 or spec_of(old.type) is not spec_of(new.type):
            continue
        (writer,) = writers
        later = any(_reads_or_writes(launch.kernel, old) for launch in launches[writer + 1 :])
        if not later and _is_elementwise(launches[writer].kernel, old):
            yield argument


def _reads_or_writes(kernel: Kernel, value: SSAValue, *, written: bool = False) -> bool:
    return any(operand.value is value for operand in (kernel.outputs if written else kernel.inputs))


def _is_elementwise(kernel: Kernel, old: SSAValue) -> bool:
    """Whether a kernel makes one tensor of elements, and reads `old` only where it writes."""
    if len(kernel.outputs) != 1 or any(isinstance(step, Accumulate | Call | Contract) for step in kernel.body.steps):
        return False
    nest = kernel.nest
    places = list(zip(nest.strides, nest.offsets, strict=True))
    read = [place for operand, place in zip(kernel.inputs, places, strict=False) if operand.value is old]
    return all(place == places[-1] for place in read)
