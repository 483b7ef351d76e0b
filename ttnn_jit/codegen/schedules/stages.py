"""A group of a body's steps as a body of its own, with loads and stores for the tiles that cross stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import field
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
from ttnn_jit.process.dataclass import dataclass, replace


@dataclass(frozen=True)
class Stage(NestStage):
    """Steps for every element of a part of a loop nest.

    Attributes:
        body: The steps.
        operands: As in `NestStage`.
        loop: The loop over vectors; None if another compiler chooses it, or there are no steps.
    """

    body: KernelBody
    operands: tuple[int, ...]
    loop: VectorLoop | None = None

    @property
    def picoseconds(self) -> float:
        """Predicted per element of its loop; 0 if another compiler chooses the loop."""
        return self.loop.picoseconds if self.loop else 0

    def functions(self, name: str, module: ModuleText) -> list[str]:
        """The definition of its loop."""
        return [self.loop.define(name, module)] if self.loop else []

    def write(self, builder: PythonScalar, elements: Sequence[str]) -> None:
        """Emit its steps."""
        write_steps(self.body, builder, elements)

    def lines(self) -> Iterator[str]:
        """The lines of its steps."""
        return steps_text(self.body.steps, self.operands)

    def vectorized(self, isa: HostIsa | None, vectors: int | None = None, **options: bool) -> Self:
        """The stage with a loop over its steps, if it has any; `isa` None leaves the loop to another compiler."""
        if isa is None or not self.body.steps:
            return self
        return replace(self, loop=vector_loop(self.body, isa, vectors, **options))


@dataclass
class StageWriter:
    """Makes a body of a group of `body`'s steps.

    Attributes:
        body: The whole body.
        streams: The body's streams and then the buffers, with the accesses of the stage.
        crossing: The buffer number of each step whose tile other stages load.
        accumulated: The buffer number that the operand of each reduction is stored to, unless a stream or buffer holds
            it already.
        folded: The reductions among those that the stage's loop reduces.
        in_place: Whether reduced operands are combined with the contents of their buffer, instead of stored there.
        rank: The rank of the stage.
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
        """The stage of a group of steps: it loads tiles of other stages, and stores tiles that other stages read."""
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
        """The index of the step whose tile is stored to the buffer `number`."""
        term = self._step_of(step.operand)
        if not self.in_place:
            return term
        held = len(self.steps)
        combine = REDUCTION_OF_TILE[step.tile_name].combiner.tile_name
        self.steps.append(Load(self.read.setdefault(number, len(self.read)), None))
        self.steps.append(Apply(combine, (held, term), (), step.dtype, None))
        return held + 1

    def _step_of(self, operand: int) -> int:
        """The stage's step for the whole body's step `operand`; a tile of another stage is loaded."""
        if operand not in self.step_of:
            step = self.body.steps[operand]
            number = step.stream if isinstance(step, Load) else self.crossing[operand]
            self.step_of[operand] = len(self.steps)
            self.steps.append(Load(self.read.setdefault(number, len(self.read)), None))
        return self.step_of[operand]
