"""Runs a function of a text op by op, calls included."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING

from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ttnn_jit.compiler.texts.text_programs import TextModule, require_as_many, zeros
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.op_calls import OpCall, read_op
from ttnn_jit.dialects.text_calls.shards import check_devices, shard_tilings
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor, spec_in_text
from ttnn_jit.dialects.text_calls.text_attributes import name_of, symbol_of
from ttnn_jit.dialects.text_calls.uncomputed_ops import is_only_a_number, is_unread_call
from ttnn_jit.events.listeners import LISTENERS, emit_since
from ttnn_jit.events.run_events import Collective, Event, TensorInfo, TextOperation, tensor_info
from ttnn_jit.ops.conversions.shardings import narrowed
from ttnn_jit.ops.families.text_operation import Role
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.memory.buffer import HOST_POOL

if TYPE_CHECKING:
    import torch

IDLE_BYTES = 64 << 20
"""The memory of earlier programs that stays idle between two ops: more of it is for the goldens."""

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


class OpWatcher:
    """The base of those who are told of every op of a run, whether it computes or not, but for returns."""

    def entered(self, function: str) -> None:
        """The ops of a function begin."""

    def left(self, function: str) -> None:
        """The ops of a function have run."""

    def before(self, op: Operation) -> None:
        """An op is about to run; the ops of what it calls and of its regions follow."""

    def after(self, op: Operation) -> None:
        """An op has run."""


class SteppedRun:
    """A run of one function.

    Args:
        module: The module.
        name: The function.
        inputs: Its arguments: one tensor for all devices, or a tensor of each.
        frees: Whether a value is forgotten after the last op that reads it.

    Attributes:
        values: The tensors of every value so far; what is replaced between two steps is what later ones read.
    """

    def __init__(
        self, module: TextModule, name: str, inputs: Sequence[torch.Tensor | OnDevices], *, frees: bool = False
    ) -> None:
        self._frees = frees
        self._module = module
        self._function: FuncOp = module.functions[name]
        self._devices = math.prod(module.mesh)
        self._inputs = [each if isinstance(each, tuple) else (each,) * self._devices for each in inputs]
        self.values: dict[SSAValue, OnDevices] = {}
        self._of_region: list[OnDevices] = []
        self._watcher = OpWatcher()

    @property
    def results(self) -> list[torch.Tensor]:
        """The results on the first device, after the last step."""
        return [each[0] for each in self.results_on_devices]

    @property
    def results_on_devices(self) -> list[OnDevices]:
        """The results on every device, after the last step."""
        return self._returned(self._function)

    def steps(self, watcher: OpWatcher | None = None) -> Iterator[Step]:
        """Every op that computes, after it ran, in the order of the run.

        Args:
            watcher: Told of every op.

        Raises:
            CompileError: An op is not executed here.
        """
        self._watcher = watcher or self._watcher
        return self._run_function(self._function, self._inputs)

    def _returned(self, function: FuncOp) -> list[OnDevices]:
        last = function.body.block.last_op
        return [self.values[each] for each in last.operands if is_tensor(each.type)] if last else []

    def _run_function(self, function: FuncOp, arguments: Sequence[OnDevices]) -> Iterator[Step]:
        block = function.body.block
        tensors = [each for each in block.args if is_tensor(each.type)]
        require_as_many(len(tensors), len(arguments))
        self.values.update(zip(tensors, arguments, strict=True))
        self._watcher.entered(function.sym_name.data)
        yield from self._run_ops(block)
        self._watcher.left(function.sym_name.data)

    def _run_ops(self, block: Block) -> Iterator[Step]:
        """Every op of a block but the last."""
        last_uses = _last_uses(block) if self._frees else {}
        for op in [*block.ops][:-1]:
            yield from self._run_op(op)
            for value in last_uses.get(op, ()):
                self.values.pop(value, None)

    def _returned_once(self, function: FuncOp) -> list[OnDevices]:
        """What a call returned, which the values of the caller hold from here on."""
        found, last = self._returned(function), function.body.block.last_op
        if self._frees and last is not None:
            for value in last.operands:
                self.values.pop(value, None)
        return found

    def _run_op(self, op: Operation) -> Iterator[Step]:
        if isinstance(op, ReturnOp):
            return
        self._watcher.before(op)
        yield from self._run_one(op)
        self._watcher.after(op)

    def _run_one(self, op: Operation) -> Iterator[Step]:
        if is_only_a_number(op) or is_unread_call(op):
            return
        if isinstance(op, CallOp):
            yield from self._run_call(op, symbol_of(op.callee), op.operands)
            return
        read = read_op(op)
        role = read.operation.role
        if role is Role.ALLOCATES:
            self.values[op.results[0]] = (zeros(read.results[0]),) * self._devices
        elif role is not Role.NOTHING:
            yield from getattr(self, _BY_ROLE[role])(op, read)

    def _run_decomposition(self, op: Operation, read: OpCall) -> Iterator[Step]:
        yield from self._run_call(op, read.arguments[read.operation.calls], read.arguments["inputs"])

    def _run_callee(self, op: Operation, read: OpCall) -> Iterator[Step]:
        yield from self._run_call(op, read.arguments["callee"], op.operands)

    def _run_once(self, op: Operation, _: OpCall) -> Iterator[Step]:
        yield from self._run_region(op.regions[0], [self.values[each] for each in op.operands])
        self.values.update(zip(op.results, self._of_region, strict=True))

    def _run_call(self, op: Operation, name: str, operands: Sequence[SSAValue]) -> Iterator[Step]:
        callee = self._module.callee(op, name)
        yield from self._run_function(callee, [self.values[each] for each in operands if is_tensor(each.type)])
        tensors = [each for each in op.results if is_tensor(each.type)]
        returned = self._returned_once(callee)
        self.values.update(zip(tensors, returned[len(returned) - len(tensors) :], strict=True))

    def _run_region(self, region: Region, arguments: Sequence[OnDevices]) -> Iterator[Step]:
        """Every op of a region; what it returns is `_of_region` afterwards."""
        block = region.block
        self.values.update(zip(block.args, arguments, strict=True))
        yield from self._run_ops(block)
        last = block.last_op
        assert last is not None, "a region ends with what it returns"
        self._of_region = [self.values[each] for each in last.operands]

    def _run_choice(self, op: Operation, _: OpCall) -> Iterator[Step]:
        """All regions, as the program does."""
        found = []
        for region in op.regions:
            yield from self._run_region(region, [])
            found.append(self._of_region)
        index = self.values[op.operands[0]][0]
        number = int(index) if str(index.dtype) != "torch.bool" else 1 - int(index)
        chosen = found[number] if 0 <= number < len(found) else found[-1]
        self.values.update(zip(op.results, chosen, strict=True))

    def _run_loop(self, op: Operation, _: OpCall) -> Iterator[Step]:
        condition, body = op.regions
        carried = [self.values[each] for each in op.operands]
        while True:
            yield from self._run_region(condition, carried)
            if not bool(self._of_region[0][0]):
                break
            yield from self._run_region(body, carried)
            carried = self._of_region
        self.values.update(zip(op.results, carried, strict=True))

    def _run_on_shards(self, op: Operation, read: OpCall) -> Iterator[Step]:
        import torch

        given, wanted = shard_tilings(read)
        shards = []
        for value, tiling in zip(op.operands, given, strict=True):
            check_devices(tiling, self._devices)
            wholes = enumerate(self.values[value])
            shards.append(tuple(tiling.part_of(each, device, narrowed).contiguous() for device, each in wholes))
        yield from self._run_region(op.regions[0], shards)
        for value, parts, tiling in zip(op.results, self._of_region, wanted, strict=True):
            self.values[value] = (tiling.whole(parts, torch.cat),) * self._devices

    def _compute(self, op: Operation, read: OpCall) -> Iterator[Step]:
        """The results on every device; devices with equal operands share them."""
        operands, started = self._operands(read), perf_counter_ns()
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
        if LISTENERS:
            self._emit(TextOperation, op, started, operands, results)
        _release_idle()
        yield Step(op, read, operands, results)

    def _exchange(self, op: Operation, read: OpCall) -> Iterator[Step]:
        operands, started = self._operands(read), perf_counter_ns()
        given = [each for tensors in operands.values() for each in tensors]
        got = self._module.program_of(op, [*operands], on_mesh=True)(*given)
        own = (tuple(got[at : at + self._devices]) for at in range(0, len(got), self._devices))
        results: dict[SSAValue, OnDevices] = dict(zip(op.results, own, strict=True))
        self.values.update(results)
        if LISTENERS:
            self._emit(Collective, op, started, operands, results)
        _release_idle()
        yield Step(op, read, operands, results)

    def _emit(
        self,
        kind: type[Event],
        op: Operation,
        started_ns: int,
        operands: Mapping[SSAValue, OnDevices],
        results: Mapping[SSAValue, OnDevices],
    ) -> None:
        emit_since(
            kind,
            started_ns,
            name=name_of(op),
            location=str(location_of(op) or ""),
            operands=tuple(map(self._info, operands)),
            results=tuple(map(self._info, results)),
            device=self._module.target.rules,
        )

    def _info(self, value: SSAValue) -> TensorInfo:
        return tensor_info(spec_in_text(value.type), self._devices)

    def _operands(self, read: OpCall) -> dict[SSAValue, OnDevices]:
        return {each: self.values[each] for each in dict.fromkeys(read.operands) if is_tensor(each.type)}


def _release_idle() -> None:
    """Give back memory that earlier programs left idle, if it is much: whoever compares an op takes other memory."""
    if HOST_POOL.statistics().idle_bytes > IDLE_BYTES:
        HOST_POOL.release_idle()


def _last_uses(block: Block) -> dict[Operation, list[SSAValue]]:
    """Op -> the values of the block that no later one reads, regions included."""
    ops = [*block.ops]
    last = {value: op for op in ops for value in op.results}
    own = {*block.args, *last}
    last.update((value, op) for op in ops for inner in op.walk() for value in inner.operands if value in own)
    found: dict[Operation, list[SSAValue]] = {}
    for value, op in last.items():
        found.setdefault(op, []).append(value)
    return found


_BY_ROLE = {
    Role.COMPUTES: "_compute",
    Role.CALLS: "_run_decomposition",
    Role.CALLS_ONCE: "_run_callee",
    Role.EXCHANGES: "_exchange",
    Role.CHOOSES: "_run_choice",
    Role.REPEATS: "_run_loop",
    Role.SHARDS: "_run_on_shards",
    Role.RUNS_REGION: "_run_once",
}
"""Role -> the method that runs such an op; a run of goldens has its own of those that compute."""
