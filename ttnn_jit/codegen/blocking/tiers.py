"""The compile tier of a kernel: all but large kernels skip LLVM's optimiser, which costs them more than it saves."""

from __future__ import annotations

from ttnn_jit.codegen.blocking.fission import MAX_STAGE_INPUTS
from ttnn_jit.codegen.bodies.steps import KernelBody, SizeClass
from ttnn_jit.codegen.schedules.vector_loop import REGISTERS_TO_SPARE, Tier, VectorLoop
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.loops.loop_constants import Constants, constants_of
from ttnn_jit.nest.streams import InnerAccess


def tier_of(body: KernelBody, direct: VectorLoop, isa: HostIsa) -> tuple[Tier, Constants]:
    """The tier of the loop, and the constants that it keeps in registers.

    An unoptimised loop compiles faster. It runs about as fast if its constants are in registers, or if it is so long
    that memory operands hardly count. Fast instruction selection trades more run time for less compile time, which
    hardly matters for small kernels on hosts with many registers (benchmarks/kernels/choices.py: `unoptimised`, `fast
    isel`).
    """
    constants = _unoptimised(body, direct, isa) if body.size_class is not SizeClass.LARGE else None
    if constants is None:
        return Tier.OPTIMISED, ()
    fast = body.size_class is SizeClass.SMALL and isa.registers >= REGISTERS_TO_SPARE
    return Tier.FAST_ISEL if fast else Tier.UNOPTIMISED, constants


def _unoptimised(body: KernelBody, direct: VectorLoop, isa: HostIsa) -> Constants | None:
    """The constants to keep in registers without the optimiser; None if the loop would run much slower without it."""
    # Without the optimiser the common path spills registers around calls of rare paths.
    if isa.neon or not _is_narrow(body) or direct.module.calls_functions:
        return None
    if not body.rank and isa.registers >= REGISTERS_TO_SPARE:
        constants = constants_of(direct.loop.code, _MAX_CONSTANTS_IN_REGISTERS)
        if constants is not None:
            return constants
    return () if direct.usual >= _LINES_OF_A_LONG_BODY else None


def _is_narrow(body: KernelBody) -> bool:
    """Whether the body reads few streams, none strided; without the optimiser all loads come first and spill."""
    inputs = sum(not stream.written for stream in body.streams)
    return inputs <= MAX_STAGE_INPUTS and all(stream.access is not InnerAccess.STRIDED for stream in body.streams)


_MAX_CONSTANTS_IN_REGISTERS = 24
"""Most constants in 32 registers; the other registers hold values."""
_LINES_OF_A_LONG_BODY = 150
"""Least instructions of a chunk for which constants in memory hardly count."""
