"""Builds functions of the ttnn and the ttir dialect by the declarations of operations, and modules of functions.

What a frontend adds to that, such as the rules of ``@jit``, it adds on top (frontend/writing/module_builder.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import FunctionType, LocationAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit import ops
from ttnn_jit.diagnostics.errors import CompileError, LayoutError, OperandDTypeError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects import ttir, ttnn
from ttnn_jit.dialects.argument_notes import ArgumentNotes, argument_attributes
from ttnn_jit.dialects.derive import OpClasses
from ttnn_jit.dialects.layout import spec_of, tensor_type
from ttnn_jit.dialects.locations import call_chain_attribute
from ttnn_jit.dialects.properties import properties_of
from ttnn_jit.dialects.ttcore import data_type_attr, set_system_desc
from ttnn_jit.dialects.writing.creation import create, empty_block, region_of
from ttnn_jit.dialects.writing.editing import append
from ttnn_jit.ops.families.decomposition import Decomposed, Ops, Value
from ttnn_jit.ops.families.decomposition import Operand as Called
from ttnn_jit.ops.language.kinds import as_float32
from ttnn_jit.ops.language.operation import CAST_HELP, OperandSpec
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

TensorOperand: TypeAlias = tuple[SSAValue, TensorSpec]
"""A value of the function and what it is."""

Operand: TypeAlias = TensorOperand | float | None
"""What an operation is given: a tensor, a number, or None where an optional tensor is not."""

Device: TypeAlias = Callable[[LocationAttr], SSAValue]
"""The device of the function, of which the first use makes a value."""


@dataclass(frozen=True)
class TensorDialect:
    """A dialect of operations on tensors.

    Attributes:
        op_of: Declared operation -> its op class.
        has_dtypes: Its ops say the element type of their result where the declaration says so.
        full: Makes a tensor of one number; only ttnn's asks for the device.
    """

    op_of: OpClasses
    has_dtypes: bool
    full: Callable[[Device, float, TensorSpec, LocationAttr], Operation]


TTNN = TensorDialect(
    ttnn.OP_OF,
    has_dtypes=True,
    full=lambda device, number, spec, location: ttnn.FullOp.make(
        device(location), number, spec, tensor_type(spec), location
    ),
)
TTIR = TensorDialect(
    ttir.OP_OF,
    has_dtypes=False,
    full=lambda _, number, spec, location: ttir.FullOp.make(number, tensor_type(spec), location),
)

NO_ATTRIBUTES: Mapping[str, Attribute] = {}


class FunctionBuilder:
    """Builds one function; arguments first, then operations in program order, then `function`.

    Args:
        dialect: `TTNN` or `TTIR`.
        name: The function's symbol.
        numerics: Decides the element type of numbers among operands.
        location: Where the function is defined; None for one that no file holds.

    Attributes:
        block: The body.
        location: As it was given.
    """

    def __init__(self, dialect: TensorDialect, name: str, numerics: Numerics, location: Location | None) -> None:
        self._dialect = dialect
        self._symbol = name
        self._numerics = numerics
        self.location = call_chain_attribute(location)
        self.block = empty_block()
        self._notes: dict[SSAValue, str] = {}
        self._device: SSAValue | None = None

    def argument(self, spec: TensorSpec, note: str | None = None) -> SSAValue:
        """The function's next argument; with a note, which its text gives (argument_notes.py)."""
        value = self.block.insert_arg(tensor_type(spec), len(self.block.args))
        if note is not None:
            self._notes[value] = note
        return value

    def operation(
        self,
        operation: ops.Operation,
        operands: Sequence[Operand],
        attributes: Sequence[Any],
        location: Location | None,
        *,
        dtype: DataType | None = None,
    ) -> TensorOperand:
        """The one result of `operation`; see `results`."""
        (result,) = self.results(operation, operands, attributes, location, dtype=dtype)
        return result

    def results(
        self,
        operation: ops.Operation,
        operands: Sequence[Operand],
        attributes: Sequence[Any],
        location: Location | None,
        *,
        dtype: DataType | None = None,
    ) -> tuple[TensorOperand, ...]:
        """What `operation` results in by its declaration, of element type `dtype` if that is given.

        Numbers become tensors of the result's shape.

        Raises:
            CompileError: The operands do not fit the operation or each other.
        """
        self.check(operation, [each for each in operands if isinstance(each, tuple)], location)
        canonical, statics, results = _by_rule(operation, specs_of(operands), attributes, location, dtype)
        return self.write(canonical, operands, statics, results, location)

    def decomposed(
        self,
        operation: Decomposed,
        operands: Sequence[Operand],
        attributes: Sequence[Any],
        location: Location | None,
    ) -> tuple[TensorOperand, ...]:
        """The results of the operations that `operation` decomposes to.

        Raises:
            CompileError: The operands do not fit the operation or each other.
        """
        called = FunctionOps(self, location)
        values = [called.value(each) if isinstance(each, tuple) else each for each in operands]
        try:
            results = operation.decomposed(called, values, attributes)
        except CompileError as error:
            if location is None:
                raise
            raise CompileError(error.message, location=location, help=error.help) from None
        return tuple((result.handle, result.spec) for result in results)

    def rounded(self, operand: TensorOperand, dtype: DataType, location: Location | None) -> TensorOperand:
        """`operand` as elements of `dtype`."""
        return operand if operand[1].dtype is dtype else self.operation(ops.TYPECAST, [operand], (dtype,), location)

    def location_attribute(self, location: Location | None) -> LocationAttr:
        """That of an op which the user wrote there."""
        return call_chain_attribute(location)

    def check(self, operation: ops.Operation, tensors: Sequence[TensorOperand], location: Location | None) -> None:
        """Refuses element types that the operation does not take.

        Raises:
            CompileError: It is given such tensors.
        """
        for _, spec in tensors:
            if not operation.accepts(spec.dtype):
                allowed = ", ".join(sorted(dtype.name for dtype in operation.dtypes if not dtype.is_foreign))
                kind = OperandDTypeError if location is None else CompileError
                raise kind(
                    f"`{operation.name}` does not take {spec.dtype.name} tensors",
                    location=location,
                    help=CAST_HELP if spec.dtype.is_foreign else f"it takes {allowed}",
                )

    def write(
        self,
        operation: ops.Operation,
        operands: Sequence[Operand],
        attributes: Sequence[Any],
        results: tuple[TensorSpec, ...],
        location: Location | None,
        marks: Mapping[str, Attribute] = NO_ATTRIBUTES,
    ) -> tuple[TensorOperand, ...]:
        """The results of an op of `operation`, which are as `results` says, whatever the declaration has.

        Args:
            operation: One that has an op in the dialect.
            operands: As for `results`.
            attributes: Values of its attributes, in canonical form.
            results: What each result is.
            location: Where the user wrote it.
            marks: Discardable attributes of the op.
        """
        op_location = self.location_attribute(location)
        values = [
            each[0]
            if isinstance(each, tuple)
            else each
            if each is None
            else self._number(each, operands, results, op_location)
            for each in operands
        ]
        properties = properties_of(operation, attributes, values)
        if self._dialect.has_dtypes and operation.has_dtype_property:
            properties["dtype"] = data_type_attr(results[0].dtype)
        op = self._dialect.op_of[operation].make(
            [value for value in values if value is not None],
            *map(tensor_type, results),
            properties=properties,
            attributes={**marks},
            location=op_location,
        )
        append(self.block, (op,))
        return tuple(zip(op.results, results, strict=True))

    def _number(
        self, number: float, operands: Sequence[Operand], results: Sequence[TensorSpec], location: LocationAttr
    ) -> SSAValue:
        """A number among operands: an integer of theirs, or a float, which nothing rounds under IEEE numerics."""
        dtype = next(each[1].dtype for each in operands if isinstance(each, tuple))
        if not dtype.is_integer:
            rounds = self._numerics is Numerics.DEVICE and not results[0].dtype.is_integer
            dtype, number = results[0].dtype if rounds else COMPUTE_TYPE, as_float32(number)
        return self._full(number, results[0].with_(dtype=dtype), location)

    def filled(self, number: float, spec: TensorSpec, location: Location | None) -> TensorOperand:
        """A tensor of `spec` of one number."""
        return self._full(number, spec, self.location_attribute(location)), spec

    def _full(self, number: float, spec: TensorSpec, location: LocationAttr) -> SSAValue:
        op = self._dialect.full(self._device_value, number, spec, location)
        append(self.block, (op,))
        return op.results[0]

    def _device_value(self, location: LocationAttr) -> SSAValue:
        if self._device is None:
            op = ttnn.GetDeviceOp.make(location)
            first = self.block.first_op
            if first is None:
                append(self.block, (op,))
            else:
                self.block.insert_op_before(op, first)
            self._device = op.results[0]
        return self._device

    def call(self, function: FuncOp, operands: Sequence[SSAValue], location: Location | None) -> list[TensorOperand]:
        """The results of a call of another function of the module."""
        op = create(
            CallOp,
            operands=operands,
            result_types=function.function_type.outputs.data,
            properties={"callee": SymbolRefAttr(function.sym_name)},
            location=call_chain_attribute(location),
        )
        append(self.block, (op,))
        return [(result, spec_of(result.type)) for result in op.results]

    def function(
        self, results: Sequence[SSAValue], updates: Mapping[SSAValue, int] | None = None, *, is_private: bool = False
    ) -> FuncOp:
        """The function, valid by construction, which returns `results`.

        Args:
            results: Values of it.
            updates: The arguments that are written, each with the index of the result that it is after the call.
            is_private: Only other functions of the module call it: it is no entry point.
        """
        append(self.block, (create(ReturnOp, operands=results, location=self.location),))
        function_type = FunctionType.from_lists(
            [argument.type for argument in self.block.args], [result.type for result in results]
        )
        properties: dict[str, Attribute] = {"sym_name": StringAttr(self._symbol), "function_type": function_type}
        said = [ArgumentNotes(self._notes.get(each), (updates or {}).get(each)) for each in self.block.args]
        if any(said):
            properties["arg_attrs"] = argument_attributes(said)
        if is_private:
            properties["sym_visibility"] = StringAttr("private")
        return create(FuncOp, properties=properties, regions=(region_of(self.block),), location=self.location)


class FunctionOps(Ops):
    """What a decomposition calls becomes operations of the function that `builder` builds.

    Args:
        builder: Of the function.
        location: Of the call that is decomposed.
    """

    def __init__(self, builder: FunctionBuilder, location: Location | None) -> None:
        self._builder = builder
        self._location = location

    def value(self, made: TensorOperand) -> Value:
        """A value of the function."""
        return Value(self, made[1], made[0])

    def results(self, operation: ops.Operation, operands: Sequence[Called], *statics: Any) -> list[Value]:
        """Those of an operation of the function."""
        own = [(each.handle, each.spec) if isinstance(each, Value) else each for each in operands]
        return [*map(self.value, self._builder.results(operation, own, statics, self._location))]

    def filled(self, number: float, spec: TensorSpec) -> Value:
        """That of a `full`."""
        return self.value(self._builder.filled(number, spec, self._location))

    def rounded(self, x: Value, dtype: DataType) -> Value:
        """`x` as elements of `dtype`, as the builder rounds."""
        handle, spec = self._builder.rounded((x.handle, x.spec), dtype, self._location)
        return x if handle is x.handle else Value(self, spec, handle)


def specs_of(operands: Iterable[Operand]) -> list[OperandSpec]:
    """What is known of each of these operands."""
    return [each[1] if isinstance(each, tuple) else each for each in operands]


def module_of(functions: Iterable[FuncOp], target: SystemDesc, location: LocationAttr | None = None) -> ModuleOp:
    """The module of `functions`, compiled for `target`."""
    body = empty_block()
    append(body, functions)
    module = create(ModuleOp, regions=(region_of(body),), location=location)
    set_system_desc(module, target)
    return module


def _by_rule(
    operation: ops.Operation,
    specs: Sequence[OperandSpec],
    attributes: Sequence[Any],
    location: Location | None,
    dtype: DataType | None,
) -> tuple[ops.Operation, tuple[Any, ...], tuple[TensorSpec, ...]]:
    """The canonical call, and what it results in, of element type `dtype` if that is given."""
    try:
        results = operation.results(specs, attributes)
        if dtype is not None:
            results = tuple(result.with_(dtype=dtype) for result in results)
        return *operation.canonicalized(specs, attributes), results
    except (CompileError, LayoutError) as error:  # of a layout: block floats in rows
        if location is None:
            raise
        raise CompileError(error.message, location=location, help=error.help) from None
