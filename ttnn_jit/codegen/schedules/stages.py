"""A group of a body's steps as a body of its own, which loads what others computed and stores what others need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from typing import Self

from ttnn_jit.codegen.bodies.body_analysis import REDUCTION_OF_TILE
from ttnn_jit.codegen.bodies.numba_steps import write_steps
from ttnn_jit.codegen.bodies.steps import Accumulate, Apply, KernelBody, Load, Step, Store, with_operands
from ttnn_jit.codegen.bodies.steps_text import steps_text
from ttnn_jit.codegen.schedules.nest_stage import NestStage
from ttnn_jit.codegen.schedules.vector_loop import VectorLoop, vector_loop
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.numba.python_scalar import PythonScalar
from ttnn_jit.nest.streams import Stream
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Stage(NestStage):
    """Steps for every element of a part of a loop nest.

    Attributes:
        body: What it computes.
        operands: As `NestStage` has them.
        loop: Over vectors of these elements; None where another compiler chooses, or nothing is computed.
    """

    body: KernelBody
    operands: tuple[int, ...]
    loop: VectorLoop | None = None

    @property
    def picoseconds(self) -> float:
        """Of its loop; of another compiler's nothing is predicted."""
        return self.loop.picoseconds if self.loop else 0

    def functions(self, name: str, module: ModuleText) -> list[str]:
        """Its loop's."""
        return [self.loop.define(name, module)] if self.loop else []

    def write(self, builder: PythonScalar, elements: Sequence[str]) -> None:
        """Those of its steps."""
        write_steps(self.body, builder, elements)

    def lines(self) -> Iterator[str]:
        """Its steps."""
        return steps_text(self.body.steps, self.operands)

    def vectorized(self, isa: HostIsa | None, vectors: int | None = None, **options: bool) -> Self:
        """With the loop over its steps, if it has any; None leaves it to another compiler."""
        if isa is None or not self.body.steps:
            return self
        return replace(self, loop=vector_loop(self.body, isa, vectors, **options))


@dataclass
class StageWriter:
    """Writes a group of `body`'s steps as a body.

    Attributes:
        body: The whole.
        streams: As the stage accesses them: the body's, then the buffers.
        crossing: Steps whose tiles other stages load, with the numbers of their buffers.
        accumulated: Reductions, with the numbers of the buffers that their operands are stored to; without those whose
            operand is held elsewhere.
        folded: Those of them that the stage's loop reduces.
        in_place: Whether what is reduced is combined with what its buffer holds, instead of stored there.
        rank: Of the stage.
    """

    body: KernelBody
    streams: Sequence[Stream]
    crossing: Mapping[int, int]
    accumulated: Mapping[int, int] = field(default_factory=dict)
    folded: Set[int] = frozenset()
    in_place: bool = False
    rank: int = 0
    steps: list[Step] = field(default_factory=list)
    step_of: dict[int, int] = field(default_factory=dict)
    read: dict[int, int] = field(default_factory=dict)

    def stage(self, group: Sequence[int]) -> Stage:
        """The stage: it loads tiles from elsewhere, and stores those that others need."""
        stored: list[tuple[int, int]] = []
        for index in group:
            match step := self.body.steps[index]:
                case Store():
                    stored.append((self._step_of(step.operand), step.stream))
                    continue
                case Accumulate():
                    if index in self.folded:
                        self.steps.append(replace(step, operand=self._step_of(step.operand)))
                        stored.append((len(self.steps) - 1, self.accumulated[index]))
                    elif index in self.accumulated:
                        stored.append((self._accumulate(step, self.accumulated[index]), self.accumulated[index]))
                    continue
                case _:
                    renamed = with_operands(step, self._step_of)
                    self.step_of[index] = len(self.steps)
                    self.steps.append(renamed)
            if index in self.crossing:
                stored.append((self.step_of[index], self.crossing[index]))
        stores = [Store(source, len(self.read) + k) for k, (source, _) in enumerate(stored)]
        streams = [self.streams[number] for number in self.read]
        streams += [replace(self.streams[number], written=True) for _, number in stored]
        steps = (*self.steps, *stores)
        body = KernelBody(tuple(streams), self.rank, steps, self.body.numerics)
        return Stage(body, (*self.read, *(number for _, number in stored)))

    def _accumulate(self, step: Accumulate, number: int) -> int:
        """Where what the buffer shall hold is."""
        term = self._step_of(step.operand)
        if not self.in_place:
            return term
        held = len(self.steps)
        combine = REDUCTION_OF_TILE[step.tile_name].combiner.tile_name
        self.steps.append(Load(self.read.setdefault(number, len(self.read)), None))
        self.steps.append(Apply(combine, (held, term), (), step.dtype, None))
        return held + 1

    def _step_of(self, operand: int) -> int:
        """Where the tile of the whole's step `operand` is, loaded if it is from elsewhere."""
        if operand not in self.step_of:
            step = self.body.steps[operand]
            number = step.stream if isinstance(step, Load) else self.crossing[operand]
            self.step_of[operand] = len(self.steps)
            self.steps.append(Load(self.read.setdefault(number, len(self.read)), None))
        return self.step_of[operand]
