"""Runs a function of a text op by op, calls included."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.compiler.text_programs import TextModule, zeros
from ttnn_jit.frontend.ir.lowering import OpCall, read_op
from ttnn_jit.frontend.ir.tensor_types import is_tensor
from ttnn_jit.frontend.ir.text_attributes import symbol_of
from ttnn_jit.ops.families.text_operation import Role
from ttnn_jit.process.dataclass import dataclass

if TYPE_CHECKING:
    import torch

OnDevices = tuple["torch.Tensor", ...]
"""A value's tensor on each device."""


@dataclass(frozen=True)
class Step:
    """An op that computed.

    Attributes:
        op: The op.
        read: What it means.
        operands: The tensors that it read.
        results: The tensors that it gave, by the values that it defines or writes.
    """

    op: Operation
    read: OpCall
    operands: Mapping[SSAValue, OnDevices]
    results: Mapping[SSAValue, OnDevices]

    @property
    def is_exchange(self) -> bool:
        """Whether devices exchanged data."""
        return self.read.operation.role is Role.EXCHANGES


class SteppedRun:
    """A run of one function.

    Args:
        module: The module.
        name: The function.
        inputs: Its arguments, the same on every device.

    Attributes:
        values: The tensors of every value so far; what is replaced between two steps is what later ones read.
    """

    def __init__(self, module: TextModule, name: str, inputs: Sequence[torch.Tensor]) -> None:
        self._module = module
        self._function: FuncOp = module.functions[name]
        self._devices = math.prod(module.mesh)
        self._inputs = [(each,) * self._devices for each in inputs]
        self.values: dict[SSAValue, OnDevices] = {}
        self._before: Callable[[Operation, OpCall], None] | None = None

    @property
    def results(self) -> list[torch.Tensor]:
        """The results on the first device, after the last step."""
        return [each[0] for each in self._returned(self._function)]

    def steps(self, before: Callable[[Operation, OpCall], None] | None = None) -> Iterator[Step]:
        """Every op that computes, after it ran, in the order of the run.

        Args:
            before: Called with each of them before it runs.

        Raises:
            CompileError: An op is not executed here.
        """
        self._before = before
        return self._run_function(self._function, self._inputs)

    def _returned(self, function: FuncOp) -> list[OnDevices]:
        last = function.body.block.last_op
        return [self.values[each] for each in last.operands if is_tensor(each.type)] if last else []

    def _run_function(self, function: FuncOp, arguments: Sequence[OnDevices]) -> Iterator[Step]:
        block = function.body.block
        tensors = [each for each in block.args if is_tensor(each.type)]
        self.values.update(zip(tensors, arguments, strict=True))
        for op in block.ops:
            yield from self._run_op(op)

    def _run_op(self, op: Operation) -> Iterator[Step]:
        if isinstance(op, ReturnOp):
            return
        if isinstance(op, CallOp):
            yield from self._run_call(op, symbol_of(op.callee))
            return
        read = read_op(op)
        if self._before is not None and read.operation.role in {Role.EXCHANGES, Role.COMPUTES}:
            self._before(op, read)
        match read.operation.role:
            case Role.NOTHING:
                return
            case Role.ALLOCATES:
                self.values[op.results[0]] = (zeros(read.results[0]),) * self._devices
            case Role.CALLS:
                yield from self._run_call(op, read.arguments["decomposition"])
            case Role.CALLS_ONCE:
                yield from self._run_call(op, read.arguments["callee"])
            case Role.EXCHANGES:
                yield self._exchanged(op, read)
            case Role.COMPUTES:
                yield self._computed(op, read)

    def _run_call(self, op: Operation, name: str) -> Iterator[Step]:
        callee = self._module.callee(op, name)
        yield from self._run_function(callee, [self.values[each] for each in op.operands if is_tensor(each.type)])
        tensors = [each for each in op.results if is_tensor(each.type)]
        self.values.update(zip(tensors, self._returned(callee), strict=True))

    def _computed(self, op: Operation, read: OpCall) -> Step:
        """The results on every device; devices with equal operands share them."""
        operands = self._operands(read)
        program = self._module.program_of(op, [*operands])
        made: dict[tuple[int, ...], list[torch.Tensor]] = {}
        found = []
        for device in range(self._devices):
            given = [each[device] for each in operands.values()]
            key = tuple(map(id, given))
            if key not in made:
                made[key] = program(*given)
            found.append(made[key])
        written = read.written(op)
        results: dict[SSAValue, OnDevices] = {
            value: tuple(each[index] for each in found) for index, value in enumerate(written)
        }
        self.values.update(results)
        return Step(op, read, operands, results)

    def _exchanged(self, op: Operation, read: OpCall) -> Step:
        operands = self._operands(read)
        given = [each for tensors in operands.values() for each in tensors]
        got = self._module.program_of(op, [*operands], on_mesh=True)(*given)
        results: dict[SSAValue, OnDevices] = {op.results[0]: tuple(got)}
        self.values.update(results)
        return Step(op, read, operands, results)

    def _operands(self, read: OpCall) -> dict[SSAValue, OnDevices]:
        return {each: self.values[each] for each in dict.fromkeys(read.operands) if is_tensor(each.type)}
