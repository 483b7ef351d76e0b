"""What a function computes as a trace: functions that compute it, capture it and execute it, and a call of these.

In August 2026 a trace reads and writes slots, tensors that a function of its own allocates once. Before, the function
that captures it allocates them, and gives the results of the run before the capture.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    boolean,
    integer,
    parsed,
    parsed_type,
    shape_of,
    ttnn_shape,
    ui32,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Given, Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import LayoutView, data_type_attribute, has_layout, laid_out
from ttnn_jit.dialects.writing.editing import erase, insert_before, replace_uses
from ttnn_jit.process.dataclass import dataclass

_NAMES = """
empty full zeros ones constant arange rand alloc create_global_semaphore allocate_moe_compute_semaphore
"""
_CREATION = frozenset(f"ttnn.{name}" for name in _NAMES.split())
"""Operations that stay before a trace, whose results are inputs of it."""
_OUTSIDE = _CREATION | {"func.return", "ttcore.load_cached", "ttnn.capture_or_execute_trace", "ttnn.get_device"}
_SCRATCH = frozenset({"ttcore.load_cached", "ttnn.empty", "ttnn.alloc"})
"""Operations whose results stay on the device from one run to the next."""
_CONSTANT = parsed("#ttcore.argument_type<constant>")
_KIND, _OF_FUNCTION, _MARK = "ttcore.argument_type", "tt.function_type", "ttnn.trace"


def is_of_trace(function: FuncOp) -> bool:
    """Whether a function computes, captures or executes a trace."""
    return _MARK in function.attributes or '"trace_' in str(function.attributes.get(_OF_FUNCTION))


@dataclass(frozen=True)
class _Trace:
    """What the functions of a trace have in common.

    Attributes:
        function: The function whose operations are captured.
        name: The name of what computes them.
        inputs: The tensors that they read, in August 2026 those on the device first.
        resident: Of each input, whether it stays on the device from one run to the next.
        semaphores: The semaphores that they read.
        outputs: What others read of them.
    """

    function: FuncOp
    name: str
    inputs: tuple[SSAValue, ...]
    resident: tuple[bool, ...]
    semaphores: tuple[SSAValue, ...]
    outputs: tuple[SSAValue, ...]

    @property
    def staged(self) -> list[SSAValue]:
        """The inputs that the host writes."""
        return [value for value, is_resident in zip(self.inputs, self.resident, strict=True) if not is_resident]

    @property
    def on_device(self) -> list[SSAValue]:
        """The inputs that are their own slots."""
        return [value for value, is_resident in zip(self.inputs, self.resident, strict=True) if is_resident]


def hoist_trace(function: FuncOp, number: int, kept: Collection[int], rewriter: Rewriter) -> bool:
    """Makes a trace of the operations of a function; whether there are any.

    Args:
        function: The function.
        number: That of the trace, which its functions are named after.
        kept: The indices of the arguments that stay on the device: constants, parameters and caches.
        rewriter: Writes the operations.

    Raises:
        CompileError: An operation that stays outside of traces is between others.
    """
    ops = _hoisted(function)
    if not ops:
        return False
    trace = _boundary(function, number, ops, kept, by_residence=rewriter.version == AUGUST)
    _write_computation(trace, ops, rewriter)
    if rewriter.version == AUGUST:
        _write_allocation(trace, rewriter)
        _write_capture(trace, rewriter)
    else:
        _write_capture_of_2025(trace, rewriter)
    _write_execution(trace, rewriter)
    call = _call(trace, ops[0], rewriter)
    for old, new in zip(trace.outputs, call.results, strict=True):
        replace_uses(old, new)
    for op in reversed(ops):
        erase(op)
    rewriter.changes += 1
    if rewriter.version == AUGUST:
        _take_as_laid_out(function)
    return True


def _hoisted(function: FuncOp) -> list[Operation]:
    """The operations from the first to the last that a trace may have; those that make tensors move before them."""
    ops = [*function.body.block.ops]
    places = [index for index, op in enumerate(ops) if op.name not in _OUTSIDE]
    if not places:
        return []
    between = ops[places[0] : places[-1] + 1]
    for op in between:
        if op.name in _CREATION:
            op.detach()
            insert_before(op, ops[places[0]])
        elif op.name in _OUTSIDE:
            raise CompileError("Non-hoistable op found in the middle of hoistable ops", location=location_of(op))
    return [op for op in between if op.name not in _OUTSIDE]


def _boundary(
    function: FuncOp, number: int, ops: Sequence[Operation], kept: Collection[int], *, by_residence: bool
) -> _Trace:
    inside = {*ops}
    place = {op: index for index, op in enumerate(function.body.block.ops)}

    def order(value: SSAValue) -> tuple[int, int]:
        if isinstance(value, OpResult):
            return place[value.owner], value.index
        assert isinstance(value, BlockArgument)
        return -1, value.index

    read = sorted({value for op in ops for value in op.operands if value.owner not in inside}, key=order)
    tensors = [value for value in read if isinstance(value.type, TensorType)]

    def is_resident(value: SSAValue) -> bool:
        if isinstance(value, BlockArgument):
            return value.index in kept
        assert isinstance(value.owner, Operation)
        return value.owner.name == "ttcore.load_cached" or (by_residence and value.owner.name in _SCRATCH)

    if by_residence:
        tensors.sort(key=lambda value: not is_resident(value))
    return _Trace(
        function,
        f"trace_{number}_{function.sym_name.data}",
        tuple(tensors),
        tuple(map(is_resident, tensors)),
        tuple(value for value in read if str(value.type) == "!ttnn.global_semaphore"),
        tuple(result for op in ops for result in op.results if any(use.operation not in inside for use in result.uses)),
    )


# --- Functions --------------------------------------------------------------------------------------------------------


def _function(
    trace: _Trace,
    prefix: str,
    kind: str,
    arguments: Sequence[tuple[Attribute, Mapping[str, Attribute]]],
    results: Sequence[Attribute],
    rewriter: Rewriter,
) -> tuple[FuncOp, ReturnOp]:
    """A private function before that of the user, which returns nothing yet."""
    body = Block(arg_types=[type_ for type_, _ in arguments])
    last = ReturnOp()
    body.add_op(last)
    type_ = FunctionType.from_lists([each for each, _ in arguments], [*results])
    made = FuncOp(prefix + trace.name, type_, Region(body), visibility=StringAttr("private"))
    if rewriter.version == AUGUST:
        made.attributes[_OF_FUNCTION] = StringAttr(kind)
    else:
        made.attributes[_MARK] = UnitAttr()
    if any(notes for _, notes in arguments):
        made.arg_attrs = ArrayAttr(DictionaryAttr({**notes}) for _, notes in arguments)
    made.location = last.location = trace.function.location
    insert_before(made, trace.function)
    return made, last


def _notes(value: SSAValue) -> Mapping[str, Attribute]:
    """The attributes of an argument; of what stays on the device that it is a constant."""
    owner = value.owner
    if isinstance(value, BlockArgument):
        function = owner.parent_op()
        given = function.arg_attrs if isinstance(function, FuncOp) else None
        return {} if given is None else given.data[value.index].data
    return {_KIND: _CONSTANT} if isinstance(owner, Operation) and owner.name in _SCRATCH else {}


def _noted(values: Sequence[SSAValue]) -> list[tuple[Attribute, Mapping[str, Attribute]]]:
    return [(value.type, _notes(value)) for value in values]


def _bare(types: Sequence[Attribute]) -> list[tuple[Attribute, Mapping[str, Attribute]]]:
    return [(type_, {}) for type_ in types]


def _write_computation(trace: _Trace, ops: Sequence[Operation], rewriter: Rewriter) -> None:
    """What the trace computes: results go to slots, or before August 2026 to the caller."""
    types = [value.type for value in trace.outputs]
    into_slots = rewriter.version == AUGUST
    slots = _bare(types) if into_slots else []
    arguments = [*_noted(trace.inputs), *slots, *_noted(trace.semaphores)]
    made, last = _function(trace, "", "trace_main", arguments, [] if into_slots else types, rewriter)
    given = made.body.block.args
    values: dict[SSAValue, SSAValue] = dict(zip(trace.inputs, given, strict=False))
    values |= dict(zip(trace.semaphores, given[len(trace.inputs) + len(slots) :], strict=True))
    for op in ops:
        for value in op.operands:
            if value not in values and str(value.type) == "!ttnn.device":
                values[value] = rewriter.device(last)
        copy = op.clone(values)
        copy.location = op.location
        insert_before(copy, last)
    found = [values[value] for value in trace.outputs]
    if not into_slots:
        last.operands = found
        return
    for value, slot in zip(found, given[len(trace.inputs) :], strict=False):
        rewriter.create("ttnn.copy", {"src": value, "dst": slot}, {}, [], last)


def _in_memory(type_: Attribute, memory: str) -> Attribute:
    """The type of a tensor in another memory."""
    assert isinstance(type_, TensorType)
    if not has_layout(type_):
        return type_
    bare = TensorType(type_.get_element_type(), type_.get_shape())
    view = LayoutView(type_)
    return type_ if view.memory == memory else laid_out(bare, tiled=view.tiled, memory=memory)


def _slot(type_: Attribute, before: Operation, rewriter: Rewriter) -> SSAValue:
    """A tensor without elements."""
    assert isinstance(type_, TensorType)
    properties: dict[str, Attribute | None] = {"shape": ttnn_shape(shape_of(type_))}
    if has_layout(type_):
        view = LayoutView(type_)
        properties |= {
            "dtype": data_type_attribute(type_.get_element_type()),
            "layout": view.layout(),
            "memory_config": view.memory_config(),
        }
    return rewriter.value("ttnn.empty", {"device": rewriter.device(before)}, properties, type_, before)


def _slot_types(trace: _Trace) -> list[Attribute]:
    """The types of the slots of inputs: those on the device are their own."""
    pairs = zip(trace.inputs, trace.resident, strict=True)
    return [value.type if is_resident else _in_memory(value.type, "dram") for value, is_resident in pairs]


def _write_allocation(trace: _Trace, rewriter: Rewriter) -> None:
    outputs = [value.type for value in trace.outputs]
    types = [*_slot_types(trace), *outputs]
    arguments = _noted(trace.on_device)
    made, last = _function(trace, "allocate_slots_", "trace_allocate_slots", arguments, types, rewriter)
    own = [*made.body.block.args]
    last.operands = [*own, *(_slot(type_, last, rewriter) for type_ in types[len(own) :])]


def _write_capture(trace: _Trace, rewriter: Rewriter) -> None:
    staged = [(_in_memory(value.type, "system_memory"), _notes(value)) for value in trace.staged]
    types = _slot_types(trace)[len(trace.on_device) :]
    slots = [*_noted(trace.on_device), *_bare(types), *_bare([value.type for value in trace.outputs])]
    arguments = [*staged, *slots, *_bare([value.type for value in trace.semaphores])]
    made, last = _function(trace, "run_and_capture_", "trace_run_and_capture", arguments, [_number()], rewriter)
    device = rewriter.device(last)
    given = [*made.body.block.args]
    first = len(staged)
    for index in range(first):
        _write(given[index], given[first + len(trace.on_device) + index], last, rewriter)
    _insert_call(trace.name, given[first:], [], last)
    number = _begin(device, last, rewriter)
    _insert_call(trace.name, given[first:], [], last)
    _with_number("ttnn.end_trace_capture", device, number, last, rewriter)
    _with_number("ttnn.execute_trace", device, number, last, rewriter)
    last.operands = [number]


def _write_capture_of_2025(trace: _Trace, rewriter: Rewriter) -> None:
    outputs = [value.type for value in trace.outputs]
    slot_types = _slot_types(trace)
    arguments = _noted([*trace.inputs, *trace.semaphores])
    results = [_number(), *outputs, *slot_types, *outputs]
    made, last = _function(trace, "run_and_capture_", "trace_run_and_capture", arguments, results, rewriter)
    device = rewriter.device(last)
    given = [*made.body.block.args]
    slots: list[SSAValue] = [
        value if is_resident else _slot(type_, last, rewriter)
        for value, type_, is_resident in zip(given, slot_types, trace.resident, strict=False)
    ]
    for value, slot in zip(given, slots, strict=False):
        if value is not slot:
            host = _in_memory(value.type, "system_memory")
            is_on_host = host == value.type
            moved = value if is_on_host else rewriter.value("ttnn.from_device", {"input": value}, {}, host, last)
            _write(moved, slot, last, rewriter)
    semaphores = given[len(slots) :]
    first = _insert_call(trace.name, [*slots, *semaphores], outputs, last)
    number = _begin(device, last, rewriter)
    recorded = _insert_call(trace.name, [*slots, *semaphores], outputs, last)
    _with_number("ttnn.end_trace_capture", device, number, last, rewriter)
    last.operands = [number, *first, *slots, *recorded]


def _write_execution(trace: _Trace, rewriter: Rewriter) -> None:
    made, last = _function(trace, "execute_", "trace_execute", _bare([_number()]), [], rewriter)
    _with_number("ttnn.execute_trace", rewriter.device(last), made.body.block.args[0], last, rewriter)


# --- Operations -------------------------------------------------------------------------------------------------------


def _number() -> Attribute:
    return parsed_type("tensor<ui32, #ttnn.trace_id>")


def _queue() -> dict[str, Attribute | None]:
    return {"cq_id": integer(0, ui32)}


def _begin(device: SSAValue, before: Operation, rewriter: Rewriter) -> SSAValue:
    return rewriter.value("ttnn.begin_trace_capture", {"device": device}, _queue(), _number(), before)


def _with_number(name: str, device: SSAValue, number: SSAValue, before: Operation, rewriter: Rewriter) -> None:
    given = {**_queue(), "blocking": boolean(False)}
    rewriter.create(name, {"device": device, "trace_id": number}, given, [], before)


def _write(source: SSAValue, target: SSAValue, before: Operation, rewriter: Rewriter) -> None:
    given = {**_queue(), "blocking": boolean(False)}
    rewriter.create("ttnn.write_tensor", {"host_tensor": source, "device_tensor": target}, given, [], before)


def _insert_call(
    name: str, operands: Sequence[SSAValue], results: Sequence[Attribute], before: Operation
) -> list[SSAValue]:
    made = CallOp(name, [*operands], [*results])
    made.location = before.location
    insert_before(made, before)
    return [*made.results]


def _call(trace: _Trace, at: Operation, rewriter: Rewriter) -> Operation:
    """The call of a trace before its operations."""
    inputs = [*_passed(trace, at, rewriter)]
    names = {"capture_callee": "run_and_capture_", "execute_callee": "execute_"}
    if rewriter.version == AUGUST:
        names["allocate_slots_callee"] = "allocate_slots_"
    operands: dict[str, Given] = {"device": rewriter.device(at), "inputs": inputs}
    if trace.semaphores:
        operands["semaphore_inputs"] = trace.semaphores
    callees = {name: SymbolRefAttr(prefix + trace.name) for name, prefix in names.items()}
    types = [value.type for value in trace.outputs]
    return rewriter.create("ttnn.capture_or_execute_trace", operands, callees, types, at)


def _passed(trace: _Trace, at: Operation, rewriter: Rewriter) -> Iterator[SSAValue]:
    """The inputs of a trace: in August 2026 those that the host writes are on the host."""
    for value, is_resident in zip(trace.inputs, trace.resident, strict=True):
        host = _in_memory(value.type, "system_memory")
        if is_resident or rewriter.version != AUGUST or host == value.type:
            yield value
        else:
            yield rewriter.value("ttnn.to_tensor_spec", {"input": value}, {}, host, at)


def _take_as_laid_out(function: FuncOp) -> None:
    """Gives arguments that are only read in another layout that layout."""
    for argument in function.body.block.args:
        readers = [use.operation for use in argument.uses]
        if len(readers) == 1 and readers[0].name == "ttnn.to_tensor_spec":
            (value,) = readers[0].results
            argument._type = value.type
            replace_uses(value, argument)
            erase(readers[0])
    types = function.function_type
    inputs = [each.type for each in function.body.block.args]
    function.function_type = FunctionType.from_lists(inputs, types.outputs.data)
