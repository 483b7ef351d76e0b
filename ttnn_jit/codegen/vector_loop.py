"""A kernel's body in the loop of kernels/tile_loop.py: how many vectors a chunk takes, and what the loop costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ttnn_jit.codegen.body_analysis import both_signs
from ttnn_jit.codegen.body_emitter import BodyEmitter
from ttnn_jit.codegen.steps import Apply, KernelBody, SizeClass
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_line import Work, usual_lines
from ttnn_jit.kernels.llvm_module import ModuleText
from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.kernels.tile_loop import BODY_BLOCK, TileLoop
from ttnn_jit.runtime.host_costs import HOST_COSTS

# Two vectors a chunk keep 128 bytes per stream in flight, which bodies bound by memory need. With more live tiles they
# would spill; and the longer ones are bound by arithmetic, where two vectors gain nothing and double the compile time.
# Of bfloat16 alone, though, two vectors are one load without a shuffle, and one instruction rounds both, which longer
# bodies gain by where registers hold both (benchmarks/choices.py: `two vectors`).
_MOST_LIVE_FOR_TWO_VECTORS = 10
_MOST_LINES_FOR_TWO_VECTORS = 24
_MOST_LINES_FOR_A_PAIR = {16: 64, 32: 200}
"""By the number of vector registers. Twice as many where ops are short: what waits for the op before it leaves the
units idle."""
_MOST_LINES_OF_A_SHORT_OP = 10

REGISTERS_TO_SPARE = 32
"""From here on, inputs are loaded early, and f(x) and f(-x) are taken of two vectors (benchmarks/choices.py: `early
loads`, `both signs`)."""

_INSTRUCTIONS_OF_A_DIVISION = 8

KERNEL = "kernel"
"""Symbol of a kernel until its text, which its name is a hash of, is known."""


@dataclass(frozen=True)
class VectorLoop:
    """A body's loop.

    Attributes:
        loop: Its text.
        usual: Instructions of a chunk off the rare paths.
        instructions: The same by step.
        module: What they need of their module.
    """

    loop: TileLoop
    usual: int
    instructions: Mapping[int, int]
    module: ModuleText

    @property
    def picoseconds(self) -> float:
        """The predicted arithmetic per element, as every instruction takes as long."""
        elements = self.loop.unroll * self.loop.lanes
        return 1000 * self.usual / (elements * HOST_COSTS.vector_instructions_per_ns)

    @property
    def weighed_instructions(self) -> float:
        """Of a vector; a division counts as what can be done beside it."""
        divisions = sum(line.work is Work.DIVISION for line in self.loop.code)
        return (self.usual + (_INSTRUCTIONS_OF_A_DIVISION - 1) * divisions) / self.loop.unroll


def vector_loop(body: KernelBody, isa: HostIsa, unroll: int | None = None, *, fences: bool = True) -> VectorLoop:
    """The body with `unroll` vectors a chunk: those that suit it, if None."""
    if unroll is None:
        one = vector_loop(body, isa, 1, fences=fences)
        suits_two = one.usual <= _most_lines_for_two(body, one, isa)
        two = suits_two and body.live_tiles <= _MOST_LIVE_FOR_TWO_VECTORS
        return vector_loop(body, isa, 2, fences=fences) if two else one
    module = ModuleText()
    builder = LlvmVector(isa, module, prefix="v", block=BODY_BLOCK)
    emitter = BodyEmitter(body, builder, unroll)
    early = unroll == 1 and isa.registers >= REGISTERS_TO_SPARE and body.size_class is not SizeClass.SMALL
    loop = TileLoop(KERNEL, body.streams, body.rank, emitter, isa.lanes, unroll, early, fences)
    usual = usual_lines(loop.code)  # which the emitter writes now
    return VectorLoop(loop, usual, emitter.instructions, module)


def _most_lines_for_two(body: KernelBody, one: VectorLoop, isa: HostIsa) -> int:
    if not body.is_all_bfloat16:
        return _MOST_LINES_FOR_TWO_VECTORS
    if isa.registers < REGISTERS_TO_SPARE and both_signs(body):
        return 0  # f(x) and f(-x) of one vector hold as much as two vectors
    ops = sum(isinstance(step, Apply) for step in body.steps)
    return _MOST_LINES_FOR_A_PAIR[isa.registers] * (2 if one.usual <= _MOST_LINES_OF_A_SHORT_OP * ops else 1)
