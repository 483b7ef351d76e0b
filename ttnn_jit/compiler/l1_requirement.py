"""What a program takes of L1 while it runs, against a device that holds nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import OversizedProgramError
from ttnn_jit.runtime.memory.l1 import circular_buffer_bytes, core_bytes, in_l1
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation


def require_l1(plan: ProgramPlan, descriptors: Sequence[Mapping[str, Any]], module: ModuleOp) -> None:
    """Refuse a program whose results, values between kernels and circular buffers no empty device has the L1 for.

    Args:
        plan: Its buffers, of which those are counted that a call leases (runtime/programs/caller.py).
        descriptors: Of its kernels' launches.
        module: Its host program, which knows locations.

    Raises:
        OversizedProgramError: It is one; the location is that of the first operation whose result is too much.
    """
    from ttnn_jit.dialects import system_desc_of
    from ttnn_jit.dialects.locations import location_of

    tensors = list(_leased(plan))
    if not tensors:
        return
    target = system_desc_of(module)
    streamed = max(map(circular_buffer_bytes, descriptors), default=0)
    taken = [sum(lane) for lane in zip(*(core_bytes(spec, target.grid) for spec in tensors), strict=True)]
    if max(taken) + streamed <= target.l1_bytes:
        return
    lane = taken.index(max(taken))
    y, x = divmod(lane, target.grid[1])
    op, spec = _too_much(module, lane, target.grid, target.l1_bytes - streamed)
    raise OversizedProgramError(
        f"`{plan.name}` does not fit into the L1 of {target.name}, even when the device holds nothing else: on core "
        f"(x={x}, y={y}) its results and values between kernels take {taken[lane]:,} bytes, and its circular buffers "
        f"{streamed:,}, of {target.l1_bytes:,}; this result, {spec}, takes {core_bytes(spec, target.grid)[lane]:,}",
        location=location_of(op),
        help="keep values in `ttnn.DRAM_MEMORY_CONFIG`, spread them over more cores, or call the operation outside of "
        "the jitted function",
    )


def _leased(plan: ProgramPlan) -> Iterator[TensorSpec]:
    """What a call enters into the account of its device."""
    for index in range(len(plan.inputs), len(plan.buffers)):
        if in_l1(plan.buffers[index]) and index not in plan.written_over_inputs:
            yield plan.buffers[index]
    yield from plan.elided


def _too_much(module: ModuleOp, lane: int, grid: tuple[int, int], room: int) -> tuple[Operation, TensorSpec]:
    """The first operation with whose result a core holds more than `room`, the last one that makes one there if none.

    Storages that several values share one after the other are counted for each of them.
    """
    held = 0
    found = None
    for op, spec in _made(module):
        nbytes = core_bytes(spec, grid)[lane]
        if nbytes:
            held += nbytes
            found = op, spec
            if held > room:
                break
    assert found is not None, "some operation made what the plan counts"
    return found


def _made(module: ModuleOp) -> Iterator[tuple[Operation, TensorSpec]]:
    """The operations that make tensors in L1, in order, and those."""
    from xdsl.dialects.builtin import TensorType

    from ttnn_jit.dialects.d2m import EmptyOp
    from ttnn_jit.dialects.functions import functions_of
    from ttnn_jit.dialects.layout import spec_of

    for function in functions_of(module):
        for op in function.body.block.ops:
            for result in op.results:
                if isinstance(result.type, TensorType) and not isinstance(op, EmptyOp):
                    spec = spec_of(result.type)
                    if in_l1(spec):
                        yield op, spec
