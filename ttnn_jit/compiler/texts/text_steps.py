"""Runs a function of a text op by op, calls included."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING

from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ttnn_jit.compiler.texts.host_calls import HostCall
from ttnn_jit.compiler.texts.text_programs import TextModule, require_as_many, zeros
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.op_calls import OpCall, read_op
from ttnn_jit.dialects.text_calls.shards import check_devices, shard_tilings
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor, spec_in_text
from ttnn_jit.dialects.text_calls.text_attributes import name_of, symbol_of
from ttnn_jit.dialects.text_calls.traces_in_texts import TracedCall, executed_ops, first_result
from ttnn_jit.dialects.text_calls.uncomputed_ops import is_only_a_number, is_unread_call
from ttnn_jit.events.listeners import LISTENERS, emit_since
from ttnn_jit.events.run_events import Collective, Event, TensorInfo, TextOperation, tensor_info
from ttnn_jit.frontend.ir.d2m_lowering import D2M_OPS
from ttnn_jit.frontend.ir.lowering import is_host_call
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
        return self._run_function(self._function, self._inputs, is_called=False)

    def _returned(self, function: FuncOp) -> list[OnDevices]:
        last = function.body.block.last_op
        return [self.values[each] for each in last.operands if is_tensor(each.type)] if last else []

    def _run_function(
        self, function: FuncOp, arguments: Sequence[OnDevices], *, is_called: bool = True
    ) -> Iterator[Step]:
        block = function.body.block
        tensors = [each for each in block.args if is_tensor(each.type)]
        require_as_many(len(tensors), len(arguments))
        self.values.update(zip(tensors, arguments, strict=True))
        self._watcher.entered(function.sym_name.data)
        yield from self._run_ops(block, keeps_arguments=is_called)
        self._watcher.left(function.sym_name.data)

    def _run_ops(self, block: Block, *, keeps_arguments: bool = False) -> Iterator[Step]:
        """Every op of a block but the last."""
        *ops, last = executed_ops(block)
        last_uses = _last_uses(block, [*ops, last], keeps_arguments=keeps_arguments) if self._frees else {}
        for index, op in enumerate(ops):
            yield from self._run_op(op)
            for value in last_uses.get(index, ()):
                self.values.pop(value, None)

    def _write_back(self, operands: Sequence[SSAValue], held: Sequence[OnDevices]) -> None:
        """Gives later readers of a call's operands what its function wrote to its parameters."""
        for operand, now in zip(operands, held, strict=True):
            if now is not self.values[operand]:
                self.values[operand] = now

    def _left_by(self, function: FuncOp, first: int, number: int) -> tuple[list[OnDevices], list[OnDevices]]:
        """Some of what a call returned, and what its parameters hold: the caller has both from here on."""
        last = function.body.block.last_op
        returned = [] if last is None else [*last.operands]
        parameters = [each for each in function.body.block.args if is_tensor(each.type)]
        found = [self.values[each] for each in returned[first:][:number]]
        held = [self.values[each] for each in parameters]
        if self._frees:
            for value in (*returned, *parameters):
                self.values.pop(value, None)
        return found, held

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
            if is_host_call(self._module.functions, op):
                yield from self._call_host(op)
            else:
                yield from self._run_call(op, symbol_of(op.callee), op.operands)
            return
        _check_runs_alone(op)
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

    def _run_call(
        self, op: Operation, name: str, operands: Sequence[SSAValue], first: int | None = None
    ) -> Iterator[Step]:
        """A function, of whose results an op has the last ones, or those from `first`."""
        callee = self._module.callee(op, name)
        given = [each for each in operands if is_tensor(each.type)]
        yield from self._run_function(callee, [self.values[each] for each in given])
        begin = len(callee.function_type.outputs) - len(op.results) if first is None else first
        returned, held = self._left_by(callee, begin, len(op.results))
        self._write_back(given, held)
        self.values.update(zip(op.results, returned, strict=True))

    def _run_trace(self, op: Operation, read: OpCall) -> Iterator[Step]:
        """The function that captures a trace and executes it, on slots that another one gives."""
        call = TracedCall.of(read)
        name = read.arguments[read.operation.calls]
        capturing = self._module.callee(op, name)
        if call.allocating is None:
            yield from self._run_call(op, name, call.staged, first_result(op, capturing))
            return
        allocating = self._module.callee(op, call.allocating)
        yield from self._run_function(allocating, [self.values[each] for each in call.resident])
        slots, _ = self._left_by(allocating, 0, len(call.slots) + len(op.results))
        yield from self._run_function(capturing, [*(self.values[each] for each in call.staged), *slots])
        held = self._left_by(capturing, 0, 0)[1][len(call.staged) :]
        for value, slot in zip(call.slots, held, strict=False):
            if value in call.resident:
                self._write_back([value], [slot])
        self.values.update(zip(op.results, held[len(call.slots) :], strict=True))

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
        program = self._module.program_of(op, [*self._operands(read)])
        yield from self._compute_by(op, read, lambda given: program(*given))

    def _call_host(self, op: CallOp) -> Iterator[Step]:
        """The results of a function of the host's module."""
        call = self._module.host_call(op)
        yield from self._compute_by(op, call.read, lambda given: self.host_results(call, given))

    def host_results(self, call: HostCall, operands: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """What a function of the host's module returns."""
        tensors = dict(zip(call.read.operands, operands, strict=True))
        return call([tensors[each] for each in call.operands])

    def _compute_by(
        self, op: Operation, read: OpCall, compute: Callable[[Sequence[torch.Tensor]], list[torch.Tensor]]
    ) -> Iterator[Step]:
        """The results on every device; devices with equal operands share them."""
        operands, started = self._operands(read), perf_counter_ns()
        made: dict[tuple[int, ...], list[torch.Tensor]] = {}
        found = []
        for device in range(self._devices):
            given = [each[device] for each in operands.values()]
            key = tuple(map(id, given))
            if key not in made:
                made[key] = compute(given)
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


def _check_runs_alone(op: Operation) -> None:
    """Refuses operations of d2m, whose kernels write what others make; TTIR has the meaning of none of them.

    Raises:
        CompileError: It is one.
    """
    if op.name in D2M_OPS:
        raise CompileError(
            f"`{op.name}` has no golden: texts of d2m run as a whole, not op by op",
            location=location_of(op),
            help="`ttnn-jit run` without `--golden` runs it; `ttnn-jit compare` compares it with the text before it",
        )


def _release_idle() -> None:
    """Give back memory that earlier programs left idle, if it is much: whoever compares an op takes other memory."""
    if HOST_POOL.statistics().idle_bytes > IDLE_BYTES:
        HOST_POOL.release_idle()


def _last_uses(block: Block, ops: Sequence[Operation], *, keeps_arguments: bool) -> dict[int, list[SSAValue]]:
    """The place among the ops that run -> the values of the block that no later one reads, regions included.

    What a function writes to its parameters is read behind its call: `keeps_arguments`.
    """
    last: dict[SSAValue, int] = {value: index for index, op in enumerate(ops) for value in op.results}
    own = {*last} if keeps_arguments else {*block.args, *last}
    for index, op in enumerate(ops):
        last.update((value, index) for inner in op.walk() for value in inner.operands if value in own)
    found: dict[int, list[SSAValue]] = {}
    for value, index in last.items():
        found.setdefault(index, []).append(value)
    return found


_BY_ROLE = {
    Role.COMPUTES: "_compute",
    Role.CALLS: "_run_decomposition",
    Role.CALLS_ONCE: "_run_callee",
    Role.TRACES: "_run_trace",
    Role.EXCHANGES: "_exchange",
    Role.CHOOSES: "_run_choice",
    Role.REPEATS: "_run_loop",
    Role.SHARDS: "_run_on_shards",
    Role.RUNS_REGION: "_run_once",
}
"""Role -> the method that runs such an op; a run of goldens has its own of those that compute."""
