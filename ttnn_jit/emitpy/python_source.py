"""Functions of TTNN ops as Python source: one call of ttnn for each op.

A number that an op takes as a `ttnn.full` of its operand's shape is written as the number. Options of a call are
written where the result is not what the call gives without them. A value has the name of the variable to which the
user's line assigns it, where the source of that line can be read.
"""

from __future__ import annotations

import ast
import keyword
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NoReturn

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation as IROperation
from xdsl.ir import SSAValue

from ttnn_jit.diagnostics.errors import CompileError, ShapeError
from ttnn_jit.dialects.argument_notes import argument_notes, updates_of
from ttnn_jit.dialects.declared_ops import TensorOp
from ttnn_jit.dialects.functions import single_function
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.meshes import mesh_devices_of, mesh_of_op
from ttnn_jit.dialects.ttnn import DeallocateOp, FullOp, GetDeviceOp
from ttnn_jit.emitpy.value_text import Source, call_text, float_text, precision_text, value_text
from ttnn_jit.ops import COPY, OVERLOADS, RELAYOUT, TYPECAST, Operation
from ttnn_jit.ops.families.collective import AXIS, REDUCE_SUM, Collective
from ttnn_jit.ops.language.config_kinds import PrecisionKind
from ttnn_jit.ops.language.host_call import HostCall
from ttnn_jit.ops.language.kinds import MemberKind, TensorsKind
from ttnn_jit.ops.language.parameter import REDUCE_TYPE, Parameter
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import BOOLS, DataType
from ttnn_jit.specs.tensor_spec import DRAM_MEMORY_CONFIG, HOST_MEMORY_CONFIG, Layout, TensorSpec

INDENT = "    "


def python_of(module: ModuleOp) -> str:
    """The source of a Python module with a function for each function of `module`.

    Raises:
        CompileError: An op has no call in ttnn; the error has its location.
    """
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    return "\n\n\n".join(["import ttnn", *map(_function_source, functions)]) + "\n"


def program_of(module: ModuleOp) -> str:
    """The source of a program: `python_of`, and a main function that calls the entry point with tensors of ones.

    Raises:
        CompileError: An op has no call in ttnn, or the module has several entry points.
    """
    entry = single_function(module)
    devices = mesh_devices_of(module)
    arguments = [_ones(_spec(value)) for value in entry.body.block.args]
    made = [f"{INDENT}{INDENT}{each}," for each in arguments]
    passed = ["    arguments = [", *made, "    ]"] if arguments else ["    arguments = [device]"]
    main = [
        "def main():",
        f"{INDENT}device = {opened(() if devices is None else devices.shape)}",
        *passed,
        f"    print({identifier(entry.sym_name.data)}(*arguments))",
        f"{INDENT}ttnn.close_{'device' if devices is None else 'mesh_device'}(device)",
        "",
        "",
        'if __name__ == "__main__":',
        "    main()",
    ]
    return "\n".join([python_of(module), "", *main]) + "\n"


def opened(mesh: Sequence[int]) -> str:
    """The call that opens a mesh of this shape, or of () a device."""
    if not mesh:
        return "ttnn.open_device(device_id=0)"
    return f"ttnn.open_mesh_device(ttnn.MeshShape({', '.join(map(str, mesh))}))"


def _ones(spec: TensorSpec) -> str:
    return f"ttnn.ones({list(spec.shape)}, {placement(spec)}, device=device)"


def placement(spec: TensorSpec) -> str:
    """The element type, the layout and the memory of a created tensor; tiles, if it lies beside tensors of torch."""
    layout = Layout.TILE if spec.memory_config == HOST_MEMORY_CONFIG else spec.layout
    options: dict[str, Any] = {"dtype": spec.dtype, "layout": layout}
    if spec.memory_config not in {DRAM_MEMORY_CONFIG, HOST_MEMORY_CONFIG}:
        options["memory_config"] = spec.memory_config
    return ", ".join(f"{name}={value_text(value)}" for name, value in options.items())


def _function_source(function: FuncOp) -> str:
    return write_function(function).source


@dataclass(frozen=True)
class WrittenFunction:
    """A function in Python.

    Attributes:
        name: Its name.
        parameters: The names of its parameters.
        source: Its source.
    """

    name: str
    parameters: tuple[str, ...]
    source: str


def write_function(
    function: FuncOp, names: Mapping[SSAValue, str] | None = None, called: str | None = None, used: Sequence[str] = ()
) -> WrittenFunction:
    """A function in Python.

    Args:
        function: The function, of TTNN ops.
        names: Names that values should have; of others, the variables of the user's lines.
        called: The name of the function; None: its symbol.
        used: Names that no value may have.

    Raises:
        CompileError: An op has no call in ttnn; the error has its location.
    """
    return _FunctionWriter(function, names or {}, called or identifier(function.sym_name.data), used).written()


class _FunctionWriter:
    """Writes one function.

    Args:
        function: The function.
        hints: Names that values should have.
        called: The name of the function.
        used: Names that no value may have.

    Attributes:
        names: The variable of each value.
    """

    def __init__(self, function: FuncOp, hints: Mapping[SSAValue, str], called: str, used: Sequence[str]) -> None:
        self.function = function
        self.names: dict[SSAValue, str] = {}
        self._hints = hints
        self._called = called
        self._used: set[str] = {"ttnn", "device", called, *used}

    def written(self) -> WrittenFunction:
        """The function in Python."""
        function = self.function
        arguments = [*function.body.block.args]
        for value, notes in zip(arguments, argument_notes(function), strict=True):
            self._name(value, notes.name or self._hints.get(value) or value.name_hint or "arg")
        parameters = [self.names[value] for value in arguments]
        lines = []
        for value in arguments:
            _require_element_type(value, function)
        if not arguments:
            parameters = ["device"]
        elif any(map(_needs_device, function.body.block.ops)):
            lines.append(f"device = {parameters[0]}.device()")
        lines += [line for op in function.body.block.ops for line in self._statements(op)]
        head = f"def {self._called}({', '.join(parameters)}):"
        source = "\n".join([head, *(indented(line) for line in lines or ["pass"])])
        return WrittenFunction(self._called, (*parameters,), source)

    def _statements(self, op: IROperation) -> Iterator[str]:
        """The lines of an op; those of a number are empty, for it is written where it is used."""
        match op:
            case GetDeviceOp():
                pass
            case FullOp():
                if not _is_number(op):
                    _require_element_type(op.results[0], op)
                    yield self._assigned(op, self._full(op))
            case DeallocateOp():
                yield f"ttnn.deallocate({self.names[op.operands[0]]})"
            case CallOp():
                called = identifier(op.callee.root_reference.data)
                yield self._assigned(op, f"{called}({', '.join(self.names[each] for each in op.operands)})")
            case ReturnOp():
                yield from self._return(op)
            case TensorOp():
                for value in op.results:
                    _require_element_type(value, op)
                yield self._assigned(op, self._call(op))
            case _:
                _refuse(op)

    def _return(self, op: ReturnOp) -> Iterator[str]:
        """Writes of updated arguments, and the results that are none."""
        updates = updates_of(self.function)
        arguments = self.function.body.block.args
        for argument, result in updates:
            yield f"ttnn.copy({self.names[op.operands[result]]}, {self.names[arguments[argument]]})"
        updated = {result: self.names[arguments[argument]] for argument, result in updates}
        returned = [updated.get(index) or self.names[each] for index, each in enumerate(op.operands)]
        if returned:
            yield f"return {', '.join(returned)}"

    def _assigned(self, op: IROperation, call: str) -> str:
        if not op.results:
            return call
        default = _assigned_names(op) or [_default_name(op)] * len(op.results)
        hints = [self._hints.get(value, name) for value, name in zip(op.results, default, strict=True)]
        for value, hint in zip(op.results, hints, strict=True):
            self._name(value, hint)
        return f"{', '.join(self.names[value] for value in op.results)} = {call}"

    def _name(self, value: SSAValue, hint: str) -> None:
        hint = identifier(hint)
        free = hint if not (hint in self._used or (value.name_hint is None and hint == "arg")) else None
        name = free or next(each for index in count() if (each := f"{hint}_{index}") not in self._used)
        self._used.add(name)
        self.names[value] = name

    # --- Calls --------------------------------------------------------------------------------------------------------

    def _full(self, op: FullOp) -> str:
        spec = _spec(op.results[0])
        return f"ttnn.full({list(spec.shape)}, {_number_text(op)}, {placement(spec)}, device=device)"

    def _call(self, op: TensorOp) -> str:
        operation = op.operation
        if operation in {RELAYOUT, COPY} and _spec(op.operands[0]) != _spec(op.results[0]):
            return self._relayout(op)
        if operation.source == TYPECAST.source and _spec(op.results[0]).dtype in BOOLS:
            return f"ttnn.ne({self._operand(op.operands[0])}, 0, dtype={value_text(DataType.BOOL)})"
        own = iter(op.operands)
        statics = dict(zip((each.name for each in operation.attributes), op.statics, strict=True))
        given = dict(zip((each.name for each in operation.operands), op.declared_operands, strict=False))
        if isinstance(operation, Collective):
            return self._exchange(op, operation, statics)
        if operation.host_call is not None:
            return self._call_of_host(op, operation.host_call, given, statics)
        called = _called(op)
        arguments: list[str] = []
        is_positional = True
        for parameter in operation.parameters:
            text = self._argument(parameter, given, statics, own)
            is_positional = is_positional and parameter.is_positional and parameter.is_required and text is not None
            if text is not None:
                arguments.append(text if is_positional else f"{parameter.name}={text}")
        arguments += [f"{name}={value_text(value)}" for name, value in _options(op).items()]
        arguments += [f"{name}={value_text(value)}" for name, value in called.fixed_keywords.items()]
        return call_text(f"ttnn.{called.name}", arguments)

    def _exchange(self, op: TensorOp, operation: Collective, statics: Mapping[str, Any]) -> str:
        """A call of a collective."""
        devices = mesh_of_op(op)
        groups_follow = operation.attributes[-1] is AXIS or operation.asked is not None
        if devices is None or not groups_follow or not operation.source.startswith("ttnn.") or len(op.operands) != 1:
            _refuse(op)
        asked = operation.asked or tuple(each.name for each in operation.attributes[:-1])
        given, kinds = [self._operand(op.operands[0])], {each.name: each.kind for each in operation.attributes}
        for name in asked:
            value = statics[name]
            if kinds[name] is REDUCE_TYPE:
                given += [] if value == REDUCE_SUM else [f"math_op=ttnn.ReduceType.{value.capitalize()}"]
            else:
                given.append(f"{name}={value_text(value)}")
        axis = operation.axis_asked(devices, op.statics)
        given += [] if axis is None else [f"cluster_axis={axis}"]
        (by_rule,) = operation.results_on(devices, [_spec(op.operands[0])], op.statics)
        memory = _spec(op.results[0]).memory_config
        if memory not in {by_rule.memory_config, HOST_MEMORY_CONFIG}:
            given.append(f"memory_config={value_text(memory)}")
        return call_text(operation.source.split(" ")[0], given)

    def _call_of_host(
        self, op: TensorOp, call: HostCall, operands: Mapping[str, SSAValue | None], statics: Mapping[str, Any]
    ) -> str:
        """A call of a function of the host API, by keywords."""
        values: dict[str, Any] = {
            name: None if each is None else Source(self._operand(each)) for name, each in operands.items()
        }
        for parameter in op.operation.attributes:
            value = statics[parameter.name]
            is_precision = value is not None and isinstance(parameter.kind, PrecisionKind)
            values[parameter.name] = Source(precision_text(value)) if is_precision else value
        try:
            keywords = dict(call.keywords(values))
        except ShapeError as error:
            raise CompileError(f"`{op.name}`: {error.message}", location=location_of(op)) from error
        found = _options(op)
        if "memory_config" in found:
            keywords["memory_config"] = found["memory_config"]
        if call.takes_device:
            keywords["device"] = Source("device")
        given = [f"{name}={value_text(value)}" for name, value in keywords.items() if value is not None]
        text = call_text(f"ttnn.{op.operation.source.removeprefix('ttnn.')}", given)
        return text if call.result is None else f"{text}[{call.result}]"

    def _argument(
        self,
        parameter: Parameter,
        operands: dict[str, SSAValue | None],
        statics: dict[str, Any],
        own: Iterator[SSAValue],
    ) -> str | None:
        """The source of one argument; None if it is left out."""
        if isinstance(parameter.kind, TensorsKind):
            return f"[{', '.join(map(self._operand, own))}]"
        if parameter.is_operand:
            value = operands.get(parameter.name)
            return None if value is None else self._operand(value)
        value = statics.get(parameter.name)
        if value is None or (type(value) is type(parameter.default) and value == parameter.default):
            return None
        if isinstance(parameter.kind, PrecisionKind):
            return precision_text(value)
        if isinstance(parameter.kind, MemberKind):
            return value_text(parameter.kind.members[value])
        return value_text(value)

    def _operand(self, value: SSAValue) -> str:
        if isinstance(value.owner, FullOp) and _is_number(value.owner):
            return _number_text(value.owner)
        return self.names[value]

    def _relayout(self, op: TensorOp) -> str:
        before, after = _spec(op.operands[0]), _spec(op.results[0])
        source = self.names[op.operands[0]]
        if before.layout is after.layout:
            return f"ttnn.to_memory_config({source}, {value_text(after.memory_config)})"
        memory = after.memory_config
        option = "" if memory == before.memory_config else f", memory_config={value_text(memory)}"
        return f"ttnn.to_layout({source}, {value_text(after.layout)}{option})"


def _called(op: TensorOp) -> Operation:
    """The operation of ttnn that an op is a call of; programs have further ops for some element types of one.

    Raises:
        CompileError: There is none with the same parameters.
    """
    operation = op.operation
    if operation.body:
        _refuse(op)
    if operation.name in OVERLOADS:
        return operation
    public = _BY_SOURCE.get(operation.source.removeprefix("ttnn."))
    if public is None or not {each.name for each in operation.parameters} <= {each.name for each in public.parameters}:
        _refuse(op)
    return public


_BY_SOURCE = {each.ttnn_name: each for overloads in OVERLOADS.values() for each in overloads}
_BY_SOURCE |= {name: overloads[0] for name, overloads in OVERLOADS.items()}


def _options(op: TensorOp) -> dict[str, Any]:
    """The keywords without which the call has another result."""
    specs = [None if value is None else _spec(value) for value in op.declared_operands]
    by_rule, actual = op.operation.results(specs, op.statics)[0], _spec(op.results[0])
    found: dict[str, Any] = {}
    if actual.memory_config not in {by_rule.memory_config, HOST_MEMORY_CONFIG}:
        found["memory_config"] = actual.memory_config
    if actual.dtype is not by_rule.dtype:
        found["dtype"] = actual.dtype
    return found


def _is_number(op: FullOp) -> bool:
    """Whether the op that follows is its only user, and takes a number there."""
    users = [use.operation for use in op.results[0].uses]
    if len(users) != 1 or users[0] is not op.next_op or not isinstance(users[0], TensorOp):
        return False
    user = users[0]
    if user.operation.is_variadic:
        return False
    beside = [value for value in user.declared_operands if value is not None and value is not op.results[0]]
    if beside and _spec(beside[0]).dtype is not _spec(op.results[0]).dtype:
        return False  # the call would make the number one of the tensor's element type
    return any(
        value is op.results[0] and getattr(parameter.kind, "or_number", False)
        for parameter, value in zip(user.operation.operands, user.declared_operands, strict=True)
    )


def _number_text(op: FullOp) -> str:
    value, dtype = op.fill_value.value.data, _spec(op.results[0]).dtype
    if isinstance(value, int) and value < 0 and dtype.is_integer and dtype.values[0] == 0:
        value += dtype.values[-1] + 1  # the same bits
    return float_text(value) if isinstance(value, float) else repr(value)


def _needs_device(op: IROperation) -> bool:
    """Whether the line of an op names the device."""
    if isinstance(op, FullOp):
        return not _is_number(op)
    call = op.operation.host_call if isinstance(op, TensorOp) else None
    return call is not None and call.takes_device


def _spec(value: SSAValue) -> TensorSpec:
    if not isinstance(value.type, TensorType):
        op = value.owner if isinstance(value.owner, IROperation) else value.owner.parent_op()
        raise CompileError(f"ttnn has no values of the type {value.type}", location=location_of(op) if op else None)
    return spec_of(value.type)


def _require_element_type(value: SSAValue, op: IROperation) -> None:
    """Refuses a tensor of a type that ttnn does not have; flags are numbers of another one.

    Raises:
        CompileError: It is one.
    """
    dtype = _spec(value).dtype
    if dtype.held_as.is_foreign:
        raise CompileError(
            f"`{op.name}`: ttnn has no tensors of {dtype.name.lower()}",
            location=location_of(op),
            help="run the module itself: it is computed in that type",
        )


def _refuse(op: IROperation) -> NoReturn:
    raise CompileError(f"`{op.name}` has no call in ttnn", location=location_of(op))


# --- Names ------------------------------------------------------------------------------------------------------------


def indented(lines: str) -> str:
    """A statement in the body of a function."""
    return INDENT + lines.replace("\n", f"\n{INDENT}")


def identifier(text: str) -> str:
    """A Python name that is as near to `text` as possible."""
    name = re.sub(r"\W+", "_", text).strip("_") or "value"
    return f"{name}_" if keyword.iskeyword(name) or name[0].isdigit() else name


def _default_name(op: IROperation) -> str:
    return op.name.rpartition(".")[2]


def _assigned_names(op: IROperation) -> Sequence[str]:
    """The variables that the user's line assigns the results of `op` to; empty if that is not known.

    An op has them if it is the last of its line.
    """
    location = location_of(op)
    following = op.next_op
    if location is None or (following is not None and _line(following) == _line(op)):
        return ()
    try:
        (statement,) = ast.parse(linecache.getline(location.file, location.line).strip()).body
    except (SyntaxError, ValueError):
        return ()
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ()
    target = statement.targets[0]
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [each.id for each in targets if isinstance(each, ast.Name)]
    return names if len(names) == len(op.results) == len(targets) else ()


def _line(op: IROperation) -> tuple[str, int] | None:
    location = location_of(op)
    return None if location is None else (location.file, location.line)
