"""Functions of texts as modules of this package: every op becomes calls of declared operations.

A function is written with the calls of other functions inlined. What it needs besides its arguments becomes further
inputs: constant tensors, and the results of functions that run once (``ttcore.load_cached``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError, DTypeError, TtnnJitError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects.function_builder import FunctionOps
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.frontend.ir.tensor_types import is_tensor, spec_in_text
from ttnn_jit.frontend.ir.text_attributes import SEGMENTS, attributes_of, name_of, symbol_of
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.ops.families.decomposition import Value
from ttnn_jit.ops.families.text_operation import F64, DenseNumbers, OpInText, Role, TextCall, TextOperation, TextOps
from ttnn_jit.ops.public_names import names_within_one_edit
from ttnn_jit.ops.texts import text_operations
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class Argument:
    """An argument of the function."""

    index: int


@dataclass(frozen=True)
class Constant:
    """A tensor of the text."""

    numbers: DenseNumbers


@dataclass(frozen=True)
class KeptResult:
    """A result of a function that runs once.

    Attributes:
        callee: Its name.
        operands: Its arguments: inputs of the function that calls it.
        index: Which result.
    """

    callee: str
    operands: tuple[Source, ...]
    index: int


Source: TypeAlias = Argument | Constant | KeptResult
"""What an input of a program is."""


@dataclass(frozen=True)
class LoweredText:
    """A function of a text as a module of this package.

    Attributes:
        module: The module, of one function.
        inputs: Its inputs: the function's arguments, then others.
        specs: The spec of each input.
        results: The spec of each result.
    """

    module: ModuleOp
    inputs: tuple[Source, ...]
    specs: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]


@dataclass(frozen=True)
class OpCall:
    """An op of a text, read by its declaration.

    Attributes:
        operation: What it computes.
        operands: The values that it reads.
        arguments: Operand or attribute -> value.
        results: The specs of its results.
        element_types: See `TextCall`.
    """

    operation: TextOperation
    operands: tuple[SSAValue, ...]
    arguments: Mapping[str, Any]
    results: tuple[TensorSpec, ...]
    element_types: Mapping[str, str] = field(default_factory=dict)

    def call(self, value_of: Callable[[SSAValue], Any]) -> TextCall:
        """The call with `value_of` every operand."""

        def valued(given: Any) -> Any:
            if isinstance(given, SSAValue):
                return value_of(given)
            return [*map(valued, given)] if isinstance(given, list) else given

        call = TextCall({name: valued(given) for name, given in self.arguments.items()}, self.results)
        call.element_types = self.element_types
        return call

    def written(self, op: Operation) -> list[SSAValue]:
        """The values that get its results: those of `op`, or the operand that it updates."""
        tensors: list[SSAValue] = [each for each in op.results if is_tensor(each.type)]
        return [self.arguments[self.operation.updates]] if self.operation.updates and not tensors else tensors


def is_allocated(value: SSAValue) -> bool:
    """Whether a tensor has no elements of its own: the ops that it is the last operand of write it."""
    owner = value.owner
    found = text_operations().get(name_of(owner)) if isinstance(owner, Operation) else None
    return found is not None and found.role is Role.ALLOCATES


def read_op(op: Operation) -> OpCall:
    """An op of a text by its declaration.

    Raises:
        CompileError: There is no declaration of it, or it does not fit that.
    """
    location = location_of(op)
    operation = operation_in_text(op)
    if operation.role is Role.NOTHING:
        return OpCall(operation, (), {}, ())
    try:
        attributes = attributes_of(op)
        sizes = attributes.pop(SEGMENTS, None)
        operands = _read_operands(operation.form, op, sizes)
        bound = operation.bound(operands, sizes, attributes)
        results = tuple(spec_in_text(each.type) for each in op.results if is_tensor(each.type))
        element_types = _element_types(op, bound)
        quantized = [each for each in element_types.values() if each.startswith("!quant")]
        if quantized and not operation.takes_quantized:
            raise DTypeError(f"it does not compute with {quantized[0]}", help="dequantize the tensor first")
        # Numbers that are compared stay what they are.
        if F64 in element_types.values() and not operation.takes_f64 and element_types.get("result") != "i1":
            raise DTypeError("it does not compute with f64", help="tensors of f64 are compared and moved")
        if operation.updates and not results:
            results = (spec_in_text(bound[operation.updates].type),)
    except TtnnJitError as error:
        raise _located(error, op, location) from error
    return OpCall(operation, tuple(operands), bound, results, element_types)


def _element_types(op: Operation, bound: Mapping[str, Any]) -> dict[str, str]:
    """The element type of each operand with one value, and of the first result, as the text says it."""
    values = {name: each for name, each in bound.items() if isinstance(each, SSAValue)}
    for name, listed in bound.items():
        if isinstance(listed, list):
            values |= {f"{name}[{index}]": each for index, each in enumerate(listed) if isinstance(each, SSAValue)}
    values |= {"result": op.results[0]} if op.results else {}
    types = {name: each.type for name, each in values.items()}
    return {name: str(type_.get_element_type()) for name, type_ in types.items() if isinstance(type_, TensorType)}


def operation_in_text(op: Operation) -> TextOperation:
    """The declaration of an op.

    Raises:
        CompileError: There is none.
    """
    name = name_of(op)
    found = text_operations().get(name)
    if found is None:
        near = [f"`{each}`" for each in names_within_one_edit(name, text_operations())]
        help_text = f"did you mean {' or '.join(near)}?" if near else None
        raise CompileError(f"`{name}` is not executed here", location=location_of(op), help=help_text)
    return found


def _read_operands(
    form: OpInText,
    op: Operation,
    sizes: Sequence[int] | None,
) -> list[SSAValue]:
    """The operands without devices, and without tensors that the op only writes."""
    operands, types = op.operands, {each.type for each in op.results}
    if sizes is not None and sum(sizes) == len(operands) and len(sizes) >= len(form.operands):
        return [*operands[: sum(sizes[: len(form.operands)])]]
    tensors = [each for each in operands if is_tensor(each.type)]
    while len(tensors) > form.required and tensors[-1].type in types and is_allocated(tensors[-1]):
        tensors.pop()
    return tensors


def _located(error: TtnnJitError, op: Operation, location: Location | None) -> CompileError:
    """`error` at the place of an op, by whose name it begins."""
    if isinstance(error, CompileError) and error.location is not None:
        return error
    return CompileError(f"`{name_of(op)}`: {error.message}", location=location, help=error.help)


class _Builder(ModuleBuilder):
    """A builder without the rules of ``@jit``, whose tensors are dense rows on the host."""

    def _in_argument_memory(self, spec: TensorSpec) -> TensorSpec:
        return spec


class _Ops(FunctionOps, TextOps):
    """The calls of one op."""

    def __init__(self, lowering: FunctionLowering, location: Location | None) -> None:
        super().__init__(lowering.builder, location)
        self._lowering = lowering

    def constant(self, numbers: DenseNumbers, spec: TensorSpec) -> Value:
        """An input of the program, or a fill."""
        if numbers.splat is not None:
            return self.filled(numbers.splat, spec)
        return self._lowering.input(Constant(numbers), spec)

    def rebound(self, value: Value) -> Value:
        """`value` with calls at the place of this op."""
        return Value(self, value.spec, value.handle)


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
        self.builder = _Builder(name, target, None)
        self._functions = functions
        self._mesh = tuple(mesh)
        self._devices = math.prod(mesh)
        self._values: dict[SSAValue, tuple[Value, ...]] = {}
        self._sources: list[Source] = []
        self._specs: list[TensorSpec] = []
        self._source_of: dict[Any, Source] = {}
        self._kept: dict[KeptResult, Value] = {}
        self._open: list[str] = []

    def input(self, source: Source, spec: TensorSpec) -> Value:
        """The next input of the program."""
        handle = self.builder.argument(spec)
        self._sources.append(source)
        self._specs.append(spec)
        self._source_of[handle] = source
        return Value(_Ops(self, None), spec, handle)

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
        return LoweredText(module, (*self._sources,), (*self._specs,), tuple(each.spec for each in results))

    def lower_function(self, function: FuncOp) -> LoweredText:
        """The program of a function.

        Raises:
            CompileError: As `lower`.
        """
        self._open.append(function.sym_name.data)
        block = function.body.block
        outputs = block.last_op.operands if isinstance(block.last_op, ReturnOp) else ()
        inputs = [each for each in block.args if is_tensor(each.type)]
        for value in (*inputs, *outputs):
            if _is_f64(value):
                raise CompileError(
                    f"tensors of f64 are not computed here: @{function.sym_name.data} takes or returns {value.type}",
                    location=location_of(function),
                    help="inside a function they are compared and moved, where every number is a float32",
                )
        return self.lower(inputs, block.ops, [each for each in outputs if is_tensor(each.type)])

    def _lower_op(self, op: Operation) -> None:
        if isinstance(op, ReturnOp):
            return
        if isinstance(op, CallOp):
            self._inline(op, symbol_of(op.callee))
            return
        read = read_op(op)
        match read.operation.role:
            case Role.NOTHING | Role.ALLOCATES:
                return
            case Role.CALLS:
                self._inline(op, read.arguments["decomposition"])
            case Role.CALLS_ONCE:
                self._call_once(op, read.arguments["callee"])
            case Role.EXCHANGES:
                self._exchange(op, read)
            case Role.COMPUTES:
                self._compute(op, read)

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
        ops = _Ops(self, location_of(op))
        try:
            widens = _is_widened(read, self._spec_of)
            call = read.call(lambda value: _widened(ops, ops.rebound(self._read(value)[device]), widens))
            found = read.operation.write(ops, call)
            results = [*found] if isinstance(found, list | tuple) else [found]
            made = [ops.rounded(each, spec.dtype) for each, spec in zip(results, read.results, strict=True)]
        except TtnnJitError as error:
            raise _located(error, op, location_of(op)) from error
        # A text writes the result of a product of two vectors as a tensor of one element.
        made = [
            each if each.shape else ops.reshaped(each, (1,) * len(spec.shape))
            for each, spec in zip(made, read.results, strict=True)
        ]
        for result, spec in zip(made, read.results, strict=True):
            _check_shape(op, result, spec)
        return made

    def _exchange(self, op: Operation, read: OpCall) -> None:
        """The results of an op that reads tensors of other devices."""
        ops = _Ops(self, location_of(op))
        try:
            call = read.call(lambda value: [ops.rebound(each) for each in self._read(value)])
            call.mesh = self._mesh
            found = read.operation.write(ops, call)
            made = [ops.rounded(each, read.results[0].dtype) for each in found]
        except TtnnJitError as error:
            raise _located(error, op, location_of(op)) from error
        for each in made:
            _check_shape(op, each, read.results[0])
        self._values[op.results[0]] = tuple(made)

    def _spec_of(self, value: SSAValue) -> TensorSpec:
        return self._read(value)[0].spec

    def _read(self, value: SSAValue) -> tuple[Value, ...]:
        """The tensors of a value, one for each device; zeros of one that nothing has written."""
        if value not in self._values and is_allocated(value):
            self._values[value] = (_Ops(self, None).filled(0, _spec_at(value)),) * self._devices
        return self._values[value]

    def _callee(self, op: Operation, name: str) -> FuncOp:
        found = callee_of(self._functions, op, name)
        if name in self._open:
            raise CompileError(f"@{name} calls itself", location=location_of(op))
        return found

    def _inline(self, op: Operation, name: str) -> None:
        callee = self._callee(op, name)
        block = callee.body.block
        self._open.append(name)
        for parameter, operand in zip(block.args, op.operands, strict=True):
            if is_tensor(operand.type):
                self._values[parameter] = self._read(operand)
        for each in block.ops:
            self._lower_op(each)
        self._open.pop()
        assert block.last_op is not None, "a function ends with its return"
        for result, returned in zip(op.results, block.last_op.operands, strict=True):
            if is_tensor(result.type):
                self._values[result] = self._read(returned)

    def _call_once(self, op: Operation, name: str) -> None:
        """The results of a function that runs once: inputs, if its arguments are inputs; else it is inlined."""
        tensors = [each for each in op.operands if is_tensor(each.type)]
        sources = [self._source_of.get(self._read(each)[0].handle) for each in tensors]
        if None in sources or name in self._open or self._devices > 1:
            self._inline(op, name)
            return
        self._callee(op, name)
        for index, result in enumerate(op.results):
            kept = KeptResult(name, tuple(each for each in sources if each is not None), index)
            if kept not in self._kept:
                self._kept[kept] = self.input(kept, _spec_at(result))
            self._values[result] = (self._kept[kept],)


def _check_shape(op: Operation, result: Value, spec: TensorSpec) -> None:
    """Refuses a result of another shape than the text says."""
    if tuple(result.spec.shape) != tuple(spec.shape):
        raise CompileError(
            f"`{name_of(op)}` results in {list(result.spec.shape)}, and the text says {list(spec.shape)}",
            location=location_of(op),
        )


def callee_of(functions: Mapping[str, FuncOp], op: Operation, name: str) -> FuncOp:
    """The function that `op` calls.

    Raises:
        CompileError: There is none with a body.
    """
    found = functions.get(name)
    if found is None:
        raise CompileError(f"the module has no function @{name} with a body", location=location_of(op))
    return found


def _is_f64(value: SSAValue) -> bool:
    """Whether a value is a tensor of f64."""
    return isinstance(value.type, TensorType) and str(value.type.get_element_type()) == F64


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


def _is_widened(read: OpCall, spec_of: Callable[[SSAValue], TensorSpec]) -> bool:
    """Whether the floats of an op are computed as float32: it mixes them with narrower ones, or has several steps."""
    dtypes = {spec_of(each).dtype for each in read.operands} | {each.dtype for each in read.results}
    floats = {dtype for dtype in dtypes if not dtype.is_integer}
    return (COMPUTE_TYPE in floats and len(floats) > 1) or (read.operation.in_float32 and bool(floats))


def _widened(ops: _Ops, value: Value, widens: bool) -> Value:
    return ops.rounded(value, COMPUTE_TYPE) if widens and not value.spec.dtype.is_integer else value
