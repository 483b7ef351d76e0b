"""How much LLVM does for a kernel: all but large ones skip its optimiser, whose time they would never pay back."""

from __future__ import annotations

import enum

from ttnn_jit.codegen.fission import MOST_INPUTS
from ttnn_jit.codegen.steps import KernelBody, SizeClass
from ttnn_jit.codegen.vector_loop import REGISTERS_TO_SPARE, VectorLoop
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.loop_constants import hoisted
from ttnn_jit.kernels.tile_loop import InnerAccess


class Tier(enum.Enum):
    """How a loop is compiled."""

    OPTIMISED = "optimised"
    UNOPTIMISED = "unoptimised"
    FAST_ISEL = "unoptimised, its instructions selected fast"


def choose_tier(body: KernelBody, direct: VectorLoop, isa: HostIsa) -> tuple[Tier, str]:
    """The tier of the loop, and its definition there.

    An unoptimised loop compiles faster and runs as well if its constants lie in registers, or if it is long: operands
    in memory cost x86 little beside its length. Fast instruction selection trades more run time, which small kernels
    do not notice where registers are many. What each gives and takes: benchmarks/choices.py, `unoptimised` and
    `fast isel`.
    """
    unoptimised = _unoptimised(body, direct, isa) if body.size_class is not SizeClass.LARGE else None
    if unoptimised is None:
        return Tier.OPTIMISED, direct.loop.definition()
    fast = body.size_class is SizeClass.SMALL and isa.registers >= REGISTERS_TO_SPARE
    return Tier.FAST_ISEL if fast else Tier.UNOPTIMISED, unoptimised


def _unoptimised(body: KernelBody, direct: VectorLoop, isa: HostIsa) -> str | None:
    """The loop for a code generator that does not optimise it; None if it would run much longer so."""
    # Only an optimiser saves registers around rare calls alone.
    if isa.neon or not _is_narrow(body) or direct.module.calls_functions:
        return None
    if not body.rank and isa.registers >= REGISTERS_TO_SPARE:
        in_registers = hoisted(direct.loop.code, _MOST_CONSTANTS_IN_REGISTERS)
        if in_registers is not None:
            return direct.loop.unoptimised_definition(*in_registers)
    if direct.usual >= _LINES_OF_A_LONG_BODY:
        return direct.loop.unoptimised_definition((), direct.loop.lines)
    return None


def _is_narrow(body: KernelBody) -> bool:
    """Whether few streams are read, all in vectors: unoptimised, many would all be loaded first."""
    inputs = sum(not stream.written for stream in body.streams)
    return inputs <= MOST_INPUTS and all(stream.access is not InnerAccess.STRIDED for stream in body.streams)


_MOST_CONSTANTS_IN_REGISTERS = 24
"""Of 32 registers: the rest hold values."""
_LINES_OF_A_LONG_BODY = 150
"""From here on, constants in memory do not matter."""
