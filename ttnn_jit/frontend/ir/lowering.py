"""Functions of texts as modules of this package: every op becomes calls of declared operations.

A function is written with the calls of other functions inlined. What it needs besides its arguments becomes further
inputs: constant tensors, and the results of functions that run once (``ttcore.load_cached``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation, Region, SSAValue

from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError
from ttnn_jit.dialects.cpu_module.cpu_functions import cpu_function, has_cpu_function
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.op_calls import OpCall, errors_at, is_allocated, read_op
from ttnn_jit.dialects.text_calls.shards import check_devices, shard_tilings
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor, spec_in_text
from ttnn_jit.dialects.text_calls.text_attributes import name_of, symbol_of
from ttnn_jit.dialects.text_calls.traces_in_texts import TracedCall, executed_ops, first_result
from ttnn_jit.dialects.text_calls.uncomputed_ops import is_only_a_number, is_unread_call
from ttnn_jit.frontend.ir.d2m_lowering import DeviceOps, is_of_device
from ttnn_jit.frontend.ir.known_values import trip_count
from ttnn_jit.frontend.ir.lowered_text import Argument, Constant, HostResult, KeptResult, LoweredText, Source
from ttnn_jit.frontend.ir.ops_of_text import OpsOfText, TextBuilder, check_shape, computed
from ttnn_jit.frontend.ir.program_parts import ProgramPart
from ttnn_jit.frontend.ir.texts import returned_by
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import Role
from ttnn_jit.specs.dtypes import BOOLS
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec


class FunctionLowering:
    """Writes one function.

    Args:
        functions: The functions of the module by name.
        target: The target.
        name: The name of the program.
        mesh: The extents of the mesh; every device runs the function.

    Attributes:
        builder: The function under construction.
    """

    def __init__(
        self, functions: Mapping[str, FuncOp], target: SystemDesc, name: str, mesh: Sequence[int] = (1,)
    ) -> None:
        self.builder = TextBuilder(name, target, None)
        self._name = name
        self._parts: list[ProgramPart] = []
        self._regions = 0
        self._functions = functions
        self._mesh = tuple(mesh)
        self._devices = math.prod(mesh)
        self._values: dict[SSAValue, tuple[Value, ...]] = {}
        self._sources: list[Source] = []
        self._specs: list[TensorSpec] = []
        self._source_of: dict[Any, Source] = {}
        self._kept: dict[KeptResult, Value] = {}
        self._open: list[str] = []
        self._count = 0

    def input(self, source: Source, spec: TensorSpec) -> Value:
        """The next input of the program."""
        handle = self.builder.argument(spec)
        self._sources.append(source)
        self._specs.append(spec)
        self._source_of[handle] = source
        return Value(OpsOfText(self, None), spec, handle)

    def lower(
        self, inputs: Sequence[SSAValue], ops: Iterable[Operation], outputs: Sequence[SSAValue], *, apart: bool = False
    ) -> LoweredText:
        """The program of `ops`, which read `inputs` and compute `outputs`.

        Args:
            inputs: Values that the program gets.
            ops: In order.
            outputs: Values that it returns.
            apart: Whether the program gets and returns a tensor of every device; else all devices get one, and the
                program returns that of the first device.

        Raises:
            CompileError: An op is not executed here, or does not fit its operands.
        """
        index = 0
        for value in inputs:
            spec = _spec_at(value)
            given = [self.input(Argument(index + each), spec) for each in range(self._devices if apart else 1)]
            index += len(given)
            self._values[value] = tuple(given) if apart else (given[0],) * self._devices
        for op in ops:
            self._lower_op(op)
        results = [each for value in outputs for each in self._read(value)[: None if apart else 1]]
        module = self.builder.finish([each.handle for each in results])
        specs = tuple(each.spec for each in results)
        parts = tuple(each.finished() for each in self._parts)
        return LoweredText(module, (*self._sources,), (*self._specs,), specs, self._names(), parts)

    def _names(self) -> dict[SSAValue, str]:
        """The text's names of values; of two, the first."""
        found: dict[SSAValue, str] = {}
        for value, made in self._values.items():
            if made and (name := text_name(value)):
                found.setdefault(made[0].handle, name)
        return found

    def lower_function(self, function: FuncOp) -> LoweredText:
        """The program of a function.

        Raises:
            CompileError: As `lower`; or it does not return what its type says.
        """
        self._open.append(function.sym_name.data)
        block = function.body.block
        outputs = returned_by(function)
        inputs = [each for each in block.args if is_tensor(each.type)]
        return self.lower(inputs, executed_ops(block), [each for each in outputs if is_tensor(each.type)])

    def _lower_op(self, op: Operation) -> None:
        if isinstance(op, ReturnOp) or is_only_a_number(op) or is_unread_call(op):
            return
        if isinstance(op, CallOp):
            if is_host_call(self._functions, op):
                self._call_host(op)
            else:
                self._inline(op, symbol_of(op.callee), op.operands)
            return
        if is_of_device(op):
            self._run_on_device(op)
            return
        if op.name == "d2m.spatial":
            self._run_side_by_side(op)
            return
        read = read_op(op)
        if read.operation.role not in {Role.NOTHING, Role.ALLOCATES}:
            _BY_ROLE[read.operation.role](self, op, read)

    def _run_on_device(self, op: Operation) -> None:
        """The results of an operation of d2m on each device of the mesh."""
        found = []
        for device in range(self._devices):
            ops = OpsOfText(self, location_of(op))
            given = {each: ops.rebound(self._read(each)[device]) for each in op.operands if is_tensor(each.type)}
            with errors_at(op):
                found.append(DeviceOps(ops, given).results(op))
        self._set_results(op, [*zip(*found, strict=True)])

    def _run_side_by_side(self, op: Operation) -> None:
        """The results of regions that run on ranges of cores of one device."""
        found = [each for region in op.regions for each in self._run_region(region, [])]
        self._set_results(op, found)

    def _decompose(self, op: Operation, read: OpCall) -> None:
        self._inline(op, read.arguments[read.operation.calls], read.arguments["inputs"])

    def _compute(self, op: Operation, read: OpCall) -> None:
        """The results on every device; devices with equal operands share them."""
        made: dict[tuple[Any, ...], list[Value]] = {}
        found = []
        for device in range(self._devices):
            key = tuple(id(self._read(each)[device].handle) for each in read.operands)
            if key not in made:
                made[key] = self._computed(op, read, device)
            found.append(made[key])
        for index, value in enumerate(read.written(op)):
            self._values[value] = tuple(results[index] for results in found)

    def _computed(self, op: Operation, read: OpCall, device: int) -> list[Value]:
        ops = OpsOfText(self, location_of(op))
        given = [ops.rebound(self._read(value)[device]) for value in read.operands]
        values = dict(zip(read.operands, given, strict=True))
        with errors_at(op):
            return computed(ops, read.operation, read.call(values.__getitem__), given)

    def exchange(self, op: Operation, read: OpCall) -> None:
        """The results of an op that reads tensors of other devices."""
        ops = OpsOfText(self, location_of(op))
        with errors_at(op):
            call = read.call(lambda value: [ops.rebound(each) for each in self._read(value)])
            call.mesh = self._mesh
            found = iter(read.operation.write(ops, call))
            for value, spec in zip(op.results, read.results, strict=True):
                made = [ops.rounded(next(found), spec.dtype) for _ in range(self._devices)]
                for each in made:
                    check_shape(each, spec)
                self._values[value] = tuple(made)

    def _read(self, value: SSAValue) -> tuple[Value, ...]:
        """The tensors of a value, one for each device; zeros of one that nothing has written."""
        part = self._part_of(value)
        if part is not None:
            before = part.values[value]
            inputs = {
                each.handle: self.input(part.source(each), each.spec)
                for each in {each.handle: each for each in before}.values()
            }
            self._values[value] = tuple(inputs[each.handle] for each in before)
        elif value not in self._values and is_allocated(value):
            self._values[value] = (OpsOfText(self, None).filled(0, _spec_at(value)),) * self._devices
        found = self._values.get(value)
        if found is None:
            owner = value.owner
            raise CompileError(
                "a value is read before it is computed",
                location=location_of(owner) if isinstance(owner, Operation) else None,
            )
        return found

    def _callee(self, op: Operation, name: str) -> FuncOp:
        found = callee_of(self._functions, op, name)
        if name in self._open:
            raise CompileError(f"@{name} calls itself", location=location_of(op))
        return found

    def _inline(self, op: Operation, name: str, operands: Sequence[SSAValue], first: int | None = None) -> None:
        """The results of a function, of which an op has the last ones, or those from `first`."""
        callee, given = self._callee(op, name), [each for each in operands if is_tensor(each.type)]
        require_fitting_call(op, callee, len(given), len(op.results))
        self._write_back(given, self._call(callee, [self._read(each) for each in given]))
        outputs = returned_by(callee)
        begin = len(outputs) - len(op.results) if first is None else first
        for result, returned in zip(op.results, outputs[begin:], strict=False):
            if is_tensor(result.type):
                self._values[result] = self._read(returned)

    def _part_of(self, value: SSAValue) -> ProgramPart | None:
        """The last part before this one that has a value which this one has not."""
        if value in self._values:
            return None
        return next((each for each in reversed(self._parts) if value in each.values), None)

    def _call_host(self, op: CallOp) -> None:
        """The results of a function of the host's module: inputs of the part of the program that follows the call."""
        cpu_function(op, symbol_of(op.callee))
        if self._regions:
            raise CompileError("a function of the host's module is called in a region", location=location_of(op))
        operands = [each for each in op.operands if is_tensor(each.type)]
        if any(None in self._known_sources(each) for each in operands):
            self._end_part()
        made: dict[tuple[Source, ...], list[Value]] = {}
        found = []
        results = [each for each in op.results if is_tensor(each.type)]
        for device in range(self._devices):
            given = tuple(self._sources_of(each)[device] for each in operands)
            if given not in made:
                made[given] = [
                    self.input(HostResult(op, given, index), _spec_at(value)) for index, value in enumerate(results)
                ]
            found.append(made[given])
        for index, value in enumerate(results):
            self._values[value] = tuple(each[index] for each in found)

    def _known_sources(self, value: SSAValue) -> list[Source | None]:
        """What the tensors of a value are before this part has run; None: it computes them."""
        part = self._part_of(value)
        if part is not None:
            return [part.source(each) for each in part.values[value]]
        return [self._source_of.get(each.handle) for each in self._read(value)]

    def _sources_of(self, value: SSAValue) -> list[Source]:
        return [each for each in self._known_sources(value) if each is not None]

    def _end_part(self) -> None:
        """Begin the next part of the program, whose inputs are what it reads of earlier ones."""
        old = self.builder
        part = (old, self._values, self._sources, self._specs, self._source_of)
        self._parts.append(ProgramPart(len(self._parts), *part))
        self.builder = TextBuilder(self._name, old.target, None, devices=old.devices)
        self._values, self._sources, self._specs, self._source_of, self._kept = {}, [], [], {}, {}

    def _call(self, callee: FuncOp, given: Sequence[tuple[Value, ...]]) -> Sequence[SSAValue]:
        """Writes the ops of a function; its parameters."""
        block, name = callee.body.block, callee.sym_name.data
        parameters = [each for each in block.args if is_tensor(each.type)]
        self._open.append(name)
        self._values.update(zip(parameters, given, strict=True))
        for each in executed_ops(block):
            self._lower_op(each)
        self._open.pop()
        return parameters

    def _write_back(self, operands: Sequence[SSAValue], parameters: Sequence[SSAValue]) -> None:
        """Gives later readers of a call's operands what its function wrote to its parameters."""
        for operand, parameter in zip(operands, parameters, strict=True):
            if self._last(parameter) is not self._last(operand):
                self._values[operand] = self._read(parameter)

    def _last(self, value: SSAValue) -> tuple[Value, ...]:
        """The tensors of a value in the last part that has some."""
        part = self._part_of(value)
        return self._values[value] if part is None else part.values[value]

    def _trace(self, op: Operation, read: OpCall) -> None:
        """The results of a trace that is captured and executed."""
        call = TracedCall.of(read)
        capturing = self._callee(op, read.arguments[read.operation.calls])
        if call.allocating is None:
            self._inline(op, capturing.sym_name.data, call.staged, first_result(op, capturing))
            return
        allocating = self._callee(op, call.allocating)
        require_fitting_call(op, allocating, len(call.resident), len(call.slots) + len(op.results))
        self._call(allocating, [self._read(each) for each in call.resident])
        staged = [self._read(each) for each in call.staged]
        slots = [self._read(each) for each in returned_by(allocating)]
        require_fitting_call(op, capturing, len(staged) + len(slots), 0)
        traced = self._call(capturing, [*staged, *slots])[len(staged) :]
        for value, slot in zip(call.slots, traced, strict=False):
            if value in call.resident:
                self._write_back([value], [slot])
        self._set_results(op, [self._read(each) for each in traced[len(call.slots) :]])

    def _run_region(self, region: Region, arguments: Sequence[tuple[Value, ...]]) -> list[tuple[Value, ...]]:
        """What a region returns, on every device."""
        block = region.block
        self._values.update(zip(block.args, arguments, strict=True))
        *ops, last = block.ops
        self._regions += 1
        for each in ops:
            self._lower_op(each)
        self._regions -= 1
        return [self._read(each) for each in last.operands]

    def _set_results(self, op: Operation, found: Sequence[tuple[Value, ...]]) -> None:
        self._values.update(zip(op.results, found, strict=True))

    def _choose(self, op: Operation, _: OpCall) -> None:
        """All regions, and of each result the one that the index names; the last, if it names none."""
        index = self._read(op.operands[0])
        found = [self._run_region(each, []) for each in op.regions]
        ops = OpsOfText(self, location_of(op))
        chosen = found[-1]
        for number, own in reversed([*enumerate(found[:-1])]):
            flags = []
            for each in index:
                flag = ops.rebound(each)
                flags.append(flag if flag.spec.dtype in BOOLS else ops.eq(flag, number))
            chosen = [
                tuple(_chosen(ops, *each) for each in zip(flags, first, second, strict=True))
                for first, second in zip(own, chosen, strict=True)
            ]
        self._set_results(op, chosen)

    def _repeat(self, op: Operation, _: OpCall) -> None:
        """The body as often as the condition holds, which is known before the program runs."""
        body = op.regions[1]
        carried = [self._read(each) for each in op.operands]
        for _trip in range(trip_count(op)):
            carried = self._run_region(body, carried)
            self._count += len([*body.block.ops])
            if self._count > MAX_REPEATED_OPS:
                raise CompileError(
                    f"`{name_of(op)}` is written out, and has more than {MAX_REPEATED_OPS:,} ops",
                    location=location_of(op),
                )
        self._set_results(op, carried)

    def _run_on_shards(self, op: Operation, read: OpCall) -> None:
        """A region on the shards of every device, whose results are joined."""
        ops = OpsOfText(self, location_of(op))
        with errors_at(op):
            given, wanted = shard_tilings(read)
            shards = []
            for value, tiling in zip(op.operands, given, strict=True):
                wholes = [ops.rebound(each) for each in self._read(value)]
                check_devices(tiling, len(wholes))
                shards.append(tuple(tiling.part_of(each, device, ops.part) for device, each in enumerate(wholes)))
            found = self._run_region(op.regions[0], shards)
            results = []
            for value, parts, tiling in zip(op.results, found, wanted, strict=True):
                whole = tiling.whole([ops.rebound(each) for each in parts], ops.concat)
                check_shape(whole, _spec_at(value))
                results.append((whole,) * self._devices)
        self._set_results(op, results)

    def _run_once(self, op: Operation, _: OpCall) -> None:
        self._set_results(op, self._run_region(op.regions[0], [self._read(each) for each in op.operands]))

    def _call_once(self, op: Operation, read: OpCall) -> None:
        """The results of a function that runs once: inputs, if its arguments are inputs; else it is inlined."""
        name = read.arguments["callee"]
        tensors = [each for each in op.operands if is_tensor(each.type)]
        sources = [self._source_of.get(self._read(each)[0].handle) for each in tensors]
        if not all(isinstance(each, Argument | Constant | KeptResult) for each in sources) or (
            name in self._open or self._devices > 1
        ):
            self._inline(op, name, op.operands)
            return
        self._callee(op, name)
        for index, result in enumerate(op.results):
            kept = KeptResult(name, tuple(each for each in sources if each is not None), index)
            if kept not in self._kept:
                self._kept[kept] = self.input(kept, _spec_at(result))
            self._values[result] = (self._kept[kept],)


_BY_ROLE: Mapping[Role, Callable[[FunctionLowering, Operation, OpCall], None]] = {
    Role.COMPUTES: FunctionLowering._compute,
    Role.CALLS: FunctionLowering._decompose,
    Role.CALLS_ONCE: FunctionLowering._call_once,
    Role.TRACES: FunctionLowering._trace,
    Role.EXCHANGES: lambda lowering, op, read: lowering.exchange(op, read),  # of the subclass
    Role.CHOOSES: FunctionLowering._choose,
    Role.REPEATS: FunctionLowering._repeat,
    Role.SHARDS: FunctionLowering._run_on_shards,
    Role.RUNS_REGION: FunctionLowering._run_once,
}

MAX_REPEATED_OPS = 100_000
"""A loop that is longer written out is refused."""


def text_name(value: SSAValue) -> str:
    """The name that a text gives a value: that of an argument, or ``total`` of ``%total``; "" of a number."""
    owner = value.owner
    function = owner.parent_op() if isinstance(value, BlockArgument) else None
    if isinstance(function, FuncOp) and function.arg_attrs is not None and value in function.args:
        noted = function.arg_attrs.data[function.args.index(value)].data.get("ttir.name")
        if isinstance(noted, StringAttr):
            return noted.data
    return value.name_hint or ""


def _chosen(ops: Ops, flag: Value, first: Value, second: Value) -> Value:
    wide = ops.reshaped(flag, (1,) * len(first.shape))
    wide = wide if wide.shape == first.shape else ops.expand(wide, first.shape)
    return ops.where(wide, first, second)


def is_host_call(functions: Mapping[str, FuncOp], op: CallOp) -> bool:
    """Whether a call is one of a function of the host's module, in LLVM's dialect."""
    name = symbol_of(op.callee)
    return name not in functions and has_cpu_function(op, name)


def callee_of(functions: Mapping[str, FuncOp], op: Operation, name: str) -> FuncOp:
    """The function that `op` calls.

    Raises:
        CompileError: There is none with a body.
    """
    found = functions.get(name)
    if found is None:
        raise CompileError(f"the module has no function @{name} with a body", location=location_of(op))
    return found


def require_fitting_call(op: Operation, callee: FuncOp, given: int, wanted: int) -> None:
    """Refuses a call of a function that takes another number of tensors than `given`, or returns fewer than `wanted`.

    Raises:
        CompileError: It does.
    """
    taken = sum(is_tensor(each.type) for each in callee.body.block.args)
    if taken != given or len(callee.function_type.outputs) < wanted:
        name = callee.sym_name.data
        raise CompileError(
            f"`{name_of(op)}`: @{name} takes {taken} tensors and returns {len(callee.function_type.outputs)} values, "
            f"got {given} and {wanted}",
            location=location_of(op),
        )


def _spec_at(value: SSAValue) -> TensorSpec:
    """The spec of a value.

    Raises:
        CompileError: There is no tensor of its type here.
    """
    try:
        return spec_in_text(value.type)
    except TtnnJitError as error:
        owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
        location = None if owner is None else location_of(owner)
        raise CompileError(error.message, location=location, help=error.help) from error
