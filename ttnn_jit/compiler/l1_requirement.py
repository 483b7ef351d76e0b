"""The L1 that a program needs while it runs, checked against an empty device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import OversizedProgramError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.memory.l1 import circular_buffer_bytes, core_bytes, in_l1
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.specs.extents.extent import terms_of
from ttnn_jit.specs.extents.polynomials import Terms, terms_from_json, terms_to_json, value_of
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation


@dataclass(frozen=True)
class StreamedBytes:
    """The bytes of a core that the circular buffers of a template's launches take, which do not alias shards.

    Attributes:
        launches: The bytes of each launch.
    """

    launches: tuple[Terms, ...]

    @staticmethod
    def of(descriptors: Sequence[Mapping[str, Any]]) -> StreamedBytes:
        """Those of descriptors with extents of a trace."""
        return StreamedBytes(tuple(dict.fromkeys(terms_of(circular_buffer_bytes(each)) for each in descriptors)))

    def at(self, atoms: Sequence[int]) -> int:
        """The most bytes of a launch for values of the atoms."""
        return max((value_of(terms, atoms) for terms in self.launches), default=0)

    def to_json(self) -> list[Any]:
        """JSON values."""
        return [*map(terms_to_json, self.launches)]

    @staticmethod
    def from_json(value: Any, atoms: int) -> StreamedBytes | None:
        """The inverse of `to_json`, for so many atoms; None of null.

        Raises:
            TypeError, ValueError: The value does not describe bytes in such atoms.
        """
        if value is None:
            return None
        launches = tuple(map(terms_from_json, value))
        if any(atom not in range(atoms) for terms in launches for monomial, _ in terms for atom in monomial):
            raise ValueError("a number of bytes has an atom that does not exist")
        return StreamedBytes(launches)


class ExceedsL1Error(Exception):
    """A template holds for a size whose program does not fit into the L1; a compile of that size says what does not."""


def fits_l1(plan: ProgramPlan, streamed: int | None, target: SystemDesc) -> bool:
    """Whether a program fits into the L1 of an empty device.

    Args:
        plan: The program's plan; buffers that a call allocates count (runtime/programs/caller.py).
        streamed: The bytes of a core that its circular buffers take; they are needed if a call allocates buffers.
        target: The target.
    """
    taken = max(_taken(plan, target), default=None)
    if taken is None:
        return True
    assert streamed is not None, "a compile of a plan with tensors in L1 counts its circular buffers"
    return taken + streamed <= target.l1_bytes


def _leased(plan: ProgramPlan) -> Iterator[TensorSpec]:
    """The specs of the buffers that a call allocates in the L1 of its device."""
    for index in range(len(plan.inputs), len(plan.buffers)):
        if in_l1(plan.buffers[index]) and index not in plan.written_over_inputs:
            yield plan.buffers[index]
    yield from plan.elided


def _taken(plan: ProgramPlan, target: SystemDesc) -> list[int]:
    """The bytes of these buffers on every core."""
    return [*map(sum, zip(*(core_bytes(spec, target.grid) for spec in _leased(plan)), strict=True))]


def require_l1(plan: ProgramPlan, descriptors: Sequence[Mapping[str, Any]], module: ModuleOp) -> None:
    """Refuses a program whose results, intermediates and circular buffers exceed the L1 of an empty device.

    Args:
        plan: The program's plan; buffers that a call allocates count (runtime/programs/caller.py).
        descriptors: Descriptors of its kernels' launches.
        module: Its host program, for locations.

    Raises:
        OversizedProgramError: They do; the location is that of the first operation whose result does not fit.
    """
    from ttnn_jit.dialects import system_desc_of
    from ttnn_jit.dialects.locations import location_of

    target = system_desc_of(module)
    streamed = max(map(circular_buffer_bytes, descriptors), default=0)
    if fits_l1(plan, streamed, target):
        return
    taken = _taken(plan, target)
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


def _too_much(module: ModuleOp, lane: int, grid: tuple[int, int], room: int) -> tuple[Operation, TensorSpec]:
    """The first operation whose result exceeds the `room` of a core, or else the last with a result on it.

    A buffer that several values share in turn is counted for each of them.
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
    assert found is not None, "some operation makes the buffers of the plan"
    return found


def _made(module: ModuleOp) -> Iterator[tuple[Operation, TensorSpec]]:
    """The operations with results in L1, in order, and the specs of these."""
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
