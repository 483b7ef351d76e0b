"""Runs a function of a text op by op, and compares every result with its golden on equal operands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.compiler.texts.text_steps import Step, SteppedRun
from ttnn_jit.golden.verdict import Verdict
from ttnn_jit.module_builders.goldens.judged_op import JudgedOp
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import Numerics

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class ComparedOp:
    """An op whose results were compared.

    Attributes:
        op: The op.
        verdicts: The verdict on each result; empty if the results are drawn.
    """

    op: Operation
    verdicts: tuple[Verdict, ...]

    @property
    def matches(self) -> bool:
        """Whether every result is right."""
        return all(each.matches for each in self.verdicts)


class GoldenRun:
    """A run of one function.

    Args:
        module: The module.
        name: The function.
        inputs: Its arguments.
    """

    def __init__(self, module: TextModule, name: str, inputs: Sequence[torch.Tensor]) -> None:
        self._module = module
        self._run = SteppedRun(module, name, inputs)

    @property
    def results(self) -> list[torch.Tensor]:
        """The results, after the last op was compared."""
        return self._run.results

    def compared(self) -> Iterator[ComparedOp]:
        """Every op that computes, in the order of the run, calls included.

        Raises:
            CompileError: An op is not executed here.
        """
        return (ComparedOp(step.op, tuple(self._verdicts(step))) for step in self._run.steps())

    def _verdicts(self, step: Step) -> Iterator[Verdict]:
        if step.is_exchange:
            (got,) = step.results.values()
            yield from JudgedOp(step.read, step.operands, self._is_on_chip, self._module.mesh).verdicts(got)
        elif not step.read.operation.is_random:
            yield from self._verdicts_on_devices(step)

    def _verdicts_on_devices(self, step: Step) -> Iterator[Verdict]:
        """The verdicts on each device; those with the same operands have the same results."""
        judged = set()
        for device in range(math.prod(self._module.mesh)):
            given = {value: tensors[device] for value, tensors in step.operands.items()}
            key = tuple(map(id, given.values()))
            if key not in judged:
                judged.add(key)
                got = [tensors[device] for tensors in step.results.values()]
                yield from JudgedOp(step.read, given, self._is_on_chip).verdicts(got)

    @property
    def _is_on_chip(self) -> bool:
        return self._module.target.numerics is Numerics.DEVICE
