"""How much LLVM does for a kernel: fewer elements than many never pay back what optimising its loop takes."""

from __future__ import annotations

import enum

from ttnn_jit.codegen.fission import MOST_INPUTS
from ttnn_jit.codegen.steps import Elements, KernelBody
from ttnn_jit.codegen.vector_loop import REGISTERS_TO_SPARE, VectorLoop
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.loop_constants import hoisted
from ttnn_jit.kernels.tile_loop import Access


class Tier(enum.Enum):
    """How a loop is compiled."""

    OPTIMISED = "optimised"
    UNOPTIMISED = "unoptimised"
    FAST_ISEL = "unoptimised, its instructions selected fast"


def choose_tier(body: KernelBody, direct: VectorLoop, isa: HostIsa) -> tuple[Tier, str]:
    """The tier of the loop, and its definition there.

    Untouched by LLVM's passes it takes 1.3 to 7 ms less to assemble, a third, and runs 0 to 7 % longer, as long as its
    constants lie in registers; or else if it is long, as operands in memory cost x86 little beside its length. For few
    elements its instructions are selected quickly, too: half of the time again, and of 32 registers 3 to 13 % longer;
    of 16, half as long again.
    """
    unoptimised = _unoptimised(body, direct, isa) if body.elements is not Elements.MANY else None
    if unoptimised is None:
        return Tier.OPTIMISED, direct.loop.definition()
    fast = body.elements is Elements.FEW and isa.registers >= REGISTERS_TO_SPARE
    return Tier.FAST_ISEL if fast else Tier.UNOPTIMISED, unoptimised


def _unoptimised(body: KernelBody, direct: VectorLoop, isa: HostIsa) -> str | None:
    """The loop for a code generator that does not optimise it; None if it would run much longer so."""
    # Only an optimiser saves registers around rare calls alone.
    if isa.neon or not _is_narrow(body) or direct.module.calls_functions:
        return None
    if not body.rank and isa.registers >= REGISTERS_TO_SPARE:
        in_registers = hoisted(direct.code, _MOST_CONSTANTS_IN_REGISTERS)
        if in_registers is not None:
            return direct.loop.unoptimised_definition(*in_registers)
    if direct.usual >= _LINES_OF_A_LONG_BODY:
        return direct.loop.unoptimised_definition((), direct.loop.lines)
    return None


def _is_narrow(body: KernelBody) -> bool:
    """Whether few streams are read, all in vectors: many would all be loaded first, and elements move in a loop."""
    inputs = sum(not stream.written for stream in body.streams)
    return inputs <= MOST_INPUTS and all(stream.access is not Access.STRIDED for stream in body.streams)


_MOST_CONSTANTS_IN_REGISTERS = 24
"""Of 32 registers; gelu's 23 cost it 4 % of the time there, and in memory a quarter."""
_LINES_OF_A_LONG_BODY = 150
"""Of 100 lines, those with more constants than registers take a quarter longer."""
