"""Translates the ops of a kernel to steps, once for all cores, and runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.affine import ForOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ttnn_jit.dialects.region_loops import affine_bounds, refusal
from ttnn_jit.dialects.upstream.rewriting.rewriter import name_in_text
from ttnn_jit.interpreters.kernel_level.faults import Wait, fail
from ttnn_jit.interpreters.kernel_level.kernel_core import Thread
from ttnn_jit.process.dataclass import dataclass

Execute: TypeAlias = Callable[[Thread], Wait | None]
"""Runs an op; what the thread waits for if it cannot run yet, and then it is run again."""

Maker: TypeAlias = Callable[[Operation], Execute]
"""Translates an op."""

MAX_TRIPS = 1 << 18
"""The limit of the trips of all loops of a thread: four times the tiles of the largest tensor that is interpreted."""


@dataclass(frozen=True)
class Loop:
    """A loop.

    Attributes:
        op: The op.
        bounds: Its bounds and step: values, or numbers.
        body: Its steps.
        carried: Initial values, their names in the body, the values that the body yields, the results.
    """

    op: Operation
    bounds: tuple[SSAValue | int, ...]
    argument: SSAValue
    body: Sequence[Step]
    carried: tuple[Sequence[SSAValue], Sequence[SSAValue], Sequence[SSAValue], Sequence[SSAValue]]


@dataclass(frozen=True)
class Branch:
    """A condition, the steps of both sides, what each yields, and the results."""

    condition: SSAValue
    sides: tuple[Sequence[Step], Sequence[Step]]
    yields: tuple[Sequence[SSAValue], Sequence[SSAValue]]
    results: Sequence[SSAValue]


Step: TypeAlias = Loop | Branch | Execute


class Translation:
    """Translates blocks.

    Args:
        makers: Name of an op -> what translates it.
    """

    def __init__(self, makers: Mapping[str, Maker]) -> None:
        self._makers = makers

    def steps(self, block: Block) -> list[Step]:
        """The steps of a block.

        Raises:
            CompileError: An op is unknown.
        """
        return [step for op in block.ops if (step := self._step(op)) is not None]

    def _step(self, op: Operation) -> Step | None:
        match op:
            case scf.ForOp():
                body = op.body.block
                yielded = body.last_op
                assert yielded is not None, "a loop has a terminator"
                carried = (op.iter_args, body.args[1:], yielded.operands, op.results)
                return Loop(op, (op.lb, op.ub, op.step), body.args[0], self.steps(body), carried)
            case ForOp():
                body = op.body.block
                return Loop(op, affine_bounds(op), body.args[0], self.steps(body), ((), (), (), ()))
            case scf.IfOp():
                sides = [[*region.blocks] for region in (op.true_region, op.false_region)]
                steps = [self.steps(blocks[0]) if blocks else [] for blocks in sides]
                ends = [blocks[0].last_op if blocks else None for blocks in sides]
                yields = [() if end is None else end.operands for end in ends]
                return Branch(op.cond, (steps[0], steps[1]), (yields[0], yields[1]), op.results)
            case scf.YieldOp() | ReturnOp():
                return None
        if op.name == "affine.yield":
            return None
        maker = self._makers.get(op.name)
        if maker is None:
            raise refusal(op, f"the interpreter of kernels does not know `{name_in_text(op)}`")
        return maker(op)


def run(thread: Thread, steps: Sequence[Step]) -> Iterator[Wait]:
    """Runs steps; yields what the thread waits for until it can go on."""
    for step in steps:
        if isinstance(step, Loop):
            yield from _loop(thread, step)
        elif isinstance(step, Branch):
            side = 0 if thread.values[step.condition] else 1
            yield from run(thread, step.sides[side])
            _assign(thread, step.results, step.yields[side])
        else:
            wait = step(thread)
            if wait is not None:
                while wait is not None:
                    yield wait
                    wait = step(thread)
                thread.resumed += 1


def _loop(thread: Thread, loop: Loop) -> Iterator[Wait]:
    values = thread.values
    lower, upper, step = (each if isinstance(each, int) else values[each] for each in loop.bounds)
    if step < 1:
        fail(loop.op, thread, f"its step is {step}")
    thread.trips += len(range(lower, upper, step))
    if thread.trips > MAX_TRIPS:
        fail(
            loop.op, thread, f"its loops make more than {MAX_TRIPS:,} trips, the last from {lower} to {upper} by {step}"
        )
    initial, names, yielded, results = loop.carried
    _assign(thread, names, initial)
    for trip in range(lower, upper, step):
        values[loop.argument] = trip
        yield from run(thread, loop.body)
        _assign(thread, names, yielded)
    _assign(thread, results, names)


def _assign(thread: Thread, names: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
    if names:
        current = [thread.values[value] for value in values]
        thread.values.update(zip(names, current, strict=True))
