"""The vectorized loop of a kernel's body (kernels/loops/tile_loop.py): its unroll factor and predicted cost."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial

from ttnn_jit.codegen.bodies.body_analysis import REDUCTION_OF_TILE, both_signs
from ttnn_jit.codegen.bodies.body_emitter import BodyEmitter
from ttnn_jit.codegen.bodies.steps import Accumulate, Apply, KernelBody, SizeClass, Store
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.values import InstructionCost, Literal, costs, usual_instructions
from ttnn_jit.kernels.loops.chunk_folds import ChunkFold
from ttnn_jit.kernels.loops.tile_loop import TileLoop
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS

# Chunks of two vectors keep 128 bytes per stream in flight, which bodies bound by memory need. With many live tiles
# they spill; long bodies are bound by arithmetic, gain nothing and take twice the compile time. In bodies of bfloat16
# alone, however, two vectors are one load without a shuffle and are rounded by one instruction, so that longer bodies
# gain too where registers hold both (benchmarks/kernels/choices.py: `two vectors`).
_MAX_LIVE_FOR_TWO_VECTORS = 10
_MAX_LINES_FOR_TWO_VECTORS = 24
_MAX_LINES_FOR_A_PAIR = {16: 64, 32: 200}
"""By the number of vector registers; doubled for short ops, since their chains leave execution units idle."""
_MAX_LINES_OF_A_SHORT_OP = 10

REGISTERS_TO_SPARE = 32
"""Least vector registers for software-pipelined loads, and for f(x) and f(-x) in chunks of two vectors
(benchmarks/kernels/choices.py: `software pipelining`, `both signs`)."""

_INSTRUCTIONS_OF_A_DIVISION = 8


class Tier(enum.Enum):
    """The compile tier of a loop."""

    OPTIMISED = "optimised"
    UNOPTIMISED = "unoptimised"
    FAST_ISEL = "unoptimised, its instructions selected fast"


@dataclass(frozen=True)
class VectorLoop:
    """A body's loop.

    Attributes:
        loop: The loop's text.
        usual: Instructions of a chunk, without rare paths.
        instructions: The same by step.
        module: Declarations, tables and rare paths that the loop uses.
        tier: The compile tier if the loop is a whole kernel.
        constants: The constants that such a kernel keeps in registers.
    """

    loop: TileLoop
    usual: int
    instructions: Mapping[int, int]
    module: ModuleText
    tier: Tier = Tier.OPTIMISED
    constants: Sequence[Literal] = field(default=(), repr=False)

    def define(self, name: str, module: ModuleText) -> str:
        """The loop's definition as a function of `module`; declarations that it uses are added there."""
        definition = self.loop.definition(name)
        module.add(self.module)
        return definition

    @property
    def kernel(self) -> str:
        """The loop's definition as a whole kernel."""
        if self.tier is Tier.OPTIMISED:
            return self.loop.definition()
        return self.loop.unoptimised_definition(self.constants)

    @property
    def picoseconds(self) -> float:
        """The predicted arithmetic per element, with equal weight for every instruction."""
        elements = self.loop.unroll * self.loop.lanes
        return 1000 * self.usual / (elements * HOST_COSTS.vector_instructions_per_ns)

    @property
    def weighed_instructions(self) -> float:
        """Instructions per vector; a division counts as the instructions that fit in its latency."""
        divisions = sum(cost is InstructionCost.DIVISION for cost in costs(self.loop.code))
        return (self.usual + (_INSTRUCTIONS_OF_A_DIVISION - 1) * divisions) / self.loop.unroll


def vector_loop(
    body: KernelBody, isa: HostIsa, unroll: int | None = None, *, fences: bool = True, prefetches: bool = True
) -> VectorLoop:
    """The body in chunks of `unroll` vectors; None chooses the number."""
    if unroll is None:
        one = vector_loop(body, isa, 1, fences=fences, prefetches=prefetches)
        suits_two = one.usual <= _most_lines_for_two(body, one, isa)
        two = suits_two and body.live_tiles <= _MAX_LIVE_FOR_TWO_VECTORS
        return vector_loop(body, isa, 2, fences=fences, prefetches=prefetches) if two else one
    module = ModuleText()
    emitter = BodyEmitter(body, LlvmVector(isa, module), unroll)
    early = pipelines_loads(body, isa, unroll)
    region = emitter.region()
    loop = TileLoop(
        body.streams,
        body.rank,
        region,
        isa.lanes,
        unroll,
        early,
        module,
        fences,
        prefetches,
        _folds(body, isa, module),
        isa.avx512,
    )
    return VectorLoop(loop, usual_instructions(loop.code), emitter.instructions, module)


def pipelines_loads(body: KernelBody, isa: HostIsa, unroll: int) -> bool:
    """Whether a loop loads the next chunk early."""
    return unroll == 1 and isa.registers >= REGISTERS_TO_SPARE and body.size_class is not SizeClass.SMALL


def _folds(body: KernelBody, isa: HostIsa, module: ModuleText) -> dict[int, ChunkFold]:
    """The fold of each stream that the loop reduces."""
    found = {}
    for step in body.steps:
        if isinstance(step, Store) and isinstance(reduced := body.steps[step.operand], Accumulate):
            operation = REDUCTION_OF_TILE[reduced.tile_name]
            builder = partial(LlvmVector, isa, module)
            found[step.stream] = ChunkFold(operation.combine, operation.identity, builder)
    return found


def _most_lines_for_two(body: KernelBody, one: VectorLoop, isa: HostIsa) -> int:
    if body.has_tails:
        return 0
    if not body.is_all_bfloat16:
        return _MAX_LINES_FOR_TWO_VECTORS
    if isa.registers < REGISTERS_TO_SPARE and both_signs(body):
        return 0  # f(x) and f(-x) of one vector need as many registers as two vectors
    ops = sum(isinstance(step, Apply) for step in body.steps)
    return _MAX_LINES_FOR_A_PAIR[isa.registers] * (2 if one.usual <= _MAX_LINES_OF_A_SHORT_OP * ops else 1)
