"""Builds functions of the ttnn and ttir dialects from the declarations of operations, and modules of functions.

The frontend adds the rules of ``@jit`` on top (frontend/writing/module_builder.py).
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
from ttnn_jit.dialects.meshes import set_mesh_devices
from ttnn_jit.dialects.properties import properties_of
from ttnn_jit.dialects.ttcore import data_type_attr, set_system_desc
from ttnn_jit.dialects.writing.creation import create, empty_block, region_of
from ttnn_jit.dialects.writing.editing import append
from ttnn_jit.ops.families.decomposition import Decomposed, Ops, Value
from ttnn_jit.ops.families.decomposition import Operand as Called
from ttnn_jit.ops.language.kinds import as_float32
from ttnn_jit.ops.language.operation import CAST_HELP, OperandSpec
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, WIDE_FLOATS
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

TensorOperand: TypeAlias = tuple[SSAValue, TensorSpec]
"""A value of the function and its spec."""

Operand: TypeAlias = TensorOperand | float | None
"""An operand of an operation: a tensor, a number, or None for an optional tensor that is not given."""

Device: TypeAlias = Callable[[LocationAttr], SSAValue]
"""Returns the function's device; the first call creates the value."""


@dataclass(frozen=True)
class TensorDialect:
    """A dialect of operations on tensors.

    Attributes:
        op_of: Declared operation -> its op class.
        has_dtypes: Its ops have a ``dtype`` property where the declaration has one.
        full: Makes a tensor of one number; only ttnn uses the device.
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
    """Builds one function: first the arguments, then operations in program order, last `function`.

    Args:
        dialect: `TTNN` or `TTIR`.
        name: The function's symbol.
        numerics: Decides the element type of numbers among operands.
        location: The definition of the function; None if no file holds it.

    Attributes:
        block: The body.
        location: Its MLIR form.
    """

    def __init__(self, dialect: TensorDialect, name: str, numerics: Numerics, location: Location | None) -> None:
        self._dialect = dialect
        self._symbol = name
        self._numerics = numerics
        self.location = call_chain_attribute(location)
        self.block = empty_block()
        self._notes: dict[SSAValue, str] = {}
        self._whole: set[SSAValue] = set()
        self._blocks: dict[SSAValue, tuple[int, ...]] = {}
        self._device: SSAValue | None = None

    def argument(
        self, spec: TensorSpec, note: str | None = None, *, blocks: tuple[int, ...] = (), is_whole: bool = False
    ) -> SSAValue:
        """Adds an argument; `note` is its ``ttir.name``, `blocks` and `is_whole` as in `ArgumentNotes`."""
        value = self.block.insert_arg(tensor_type(spec), len(self.block.args))
        if note is not None:
            self._notes[value] = note
        if is_whole:
            self._whole.add(value)
        if blocks:
            self._blocks[value] = blocks
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
        """The results of `operation` as its declaration infers them, of element type `dtype` if that is given.

        Numbers become tensors of the result's shape.

        Raises:
            CompileError: The operands do not fit the operation or each other.
        """
        self.check(operation, [each for each in operands if isinstance(each, tuple)], location)
        canonical, statics, results = _infer_results(operation, specs_of(operands), attributes, location, dtype)
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
        """The location of an op at that place of the user's file."""
        return call_chain_attribute(location)

    def check(self, operation: ops.Operation, tensors: Sequence[TensorOperand], location: Location | None) -> None:
        """Checks that the operation takes the element types of its tensors.

        Raises:
            CompileError: It does not take one of them.
        """
        for _, spec in tensors:
            if not operation.accepts(spec.dtype):
                raise self._refusal(operation, spec.dtype, location)

    def _refusal(self, operation: ops.Operation, dtype: DataType, location: Location | None) -> CompileError:
        """The error for an element type that an operation does not take."""
        allowed = ", ".join(sorted(each.name for each in operation.dtypes if not each.is_foreign))
        kind = OperandDTypeError if location is None else CompileError
        return kind(
            f"`{operation.name}` does not take {dtype.name} tensors",
            location=location,
            help=CAST_HELP if dtype.is_foreign else f"it takes {allowed}",
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
        """Appends an op of `operation` whose results have the specs `results`, and returns them.

        Args:
            operation: An operation that has an op in the dialect.
            operands: Tensors, numbers, None for optional tensors that are not given.
            attributes: Values of its attributes, in canonical form.
            results: The spec of each result; it is not checked against the declaration.
            location: The user's call.
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
        """A number operand as a tensor: of the operands' integer dtype, or a float, not rounded under IEEE numerics."""
        dtype = next(each[1].dtype for each in operands if isinstance(each, tuple))
        if dtype in WIDE_FLOATS and as_float32(number) != number:
            raise OperandDTypeError(
                f"{number} is no float32, and numbers beside tensors of {dtype.mlir} are", help="pass it as a tensor"
            )
        if not dtype.is_integer and dtype not in WIDE_FLOATS:
            rounds = self._numerics is Numerics.DEVICE and not results[0].dtype.is_integer
            dtype, number = results[0].dtype if rounds else COMPUTE_TYPE, as_float32(number)
        return self._full(number, results[0].with_(dtype=dtype), location)

    def filled(self, number: float, spec: TensorSpec, location: Location | None) -> TensorOperand:
        """A tensor of `spec` filled with one number."""
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
            results: Values that it returns.
            updates: Updated argument -> the index of the result that is stored to it.
            is_private: Whether only other functions of the module call it.
        """
        append(self.block, (create(ReturnOp, operands=results, location=self.location),))
        function_type = FunctionType.from_lists(
            [argument.type for argument in self.block.args], [result.type for result in results]
        )
        properties: dict[str, Attribute] = {"sym_name": StringAttr(self._symbol), "function_type": function_type}
        said = [
            ArgumentNotes(
                self._notes.get(each), (updates or {}).get(each), each in self._whole, self._blocks.get(each, ())
            )
            for each in self.block.args
        ]
        if any(said):
            properties["arg_attrs"] = argument_attributes(said)
        if is_private:
            properties["sym_visibility"] = StringAttr("private")
        return create(FuncOp, properties=properties, regions=(region_of(self.block),), location=self.location)


class FunctionOps(Ops):
    """Appends the operations that a decomposition calls to the function that `builder` builds.

    Args:
        builder: Builder of the function.
        location: Location of the decomposed call.
    """

    def __init__(self, builder: FunctionBuilder, location: Location | None) -> None:
        self._builder = builder
        self._location = location

    def value(self, made: TensorOperand) -> Value:
        """A value of the function."""
        return Value(self, made[1], made[0])

    def results(self, operation: ops.Operation, operands: Sequence[Called], *statics: Any) -> list[Value]:
        """The results of an operation that is appended to the function."""
        own = [(each.handle, each.spec) if isinstance(each, Value) else each for each in operands]
        return [*map(self.value, self._builder.results(operation, own, statics, self._location))]

    def filled(self, number: float, spec: TensorSpec) -> Value:
        """The result of a `full` that is appended to the function."""
        return self.value(self._builder.filled(number, spec, self._location))

    def rounded(self, x: Value, dtype: DataType) -> Value:
        """`x` as elements of `dtype`, as the builder rounds."""
        handle, spec = self._builder.rounded((x.handle, x.spec), dtype, self._location)
        return x if handle is x.handle else Value(self, spec, handle)


def specs_of(operands: Iterable[Operand]) -> list[OperandSpec]:
    """The specs of tensor operands; numbers and None as they are."""
    return [each[1] if isinstance(each, tuple) else each for each in operands]


def module_of(
    functions: Iterable[FuncOp],
    target: SystemDesc,
    location: LocationAttr | None = None,
    devices: MeshDevices | None = None,
) -> ModuleOp:
    """The module of `functions`, compiled for `target` and these devices of a mesh; None: one device."""
    body = empty_block()
    append(body, functions)
    module = create(ModuleOp, regions=(region_of(body),), location=location)
    set_system_desc(module, target)
    set_mesh_devices(module, devices)
    return module


def _infer_results(
    operation: ops.Operation,
    specs: Sequence[OperandSpec],
    attributes: Sequence[Any],
    location: Location | None,
    dtype: DataType | None,
) -> tuple[ops.Operation, tuple[Any, ...], tuple[TensorSpec, ...]]:
    """The canonical call and the specs of its results, of element type `dtype` if that is given."""
    try:
        results = operation.results(specs, attributes)
        if dtype is not None:
            results = tuple(result.with_(dtype=dtype) for result in results)
        return *operation.canonicalized(specs, attributes), results
    except (CompileError, LayoutError) as error:  # LayoutError: block floats in row-major layout
        if location is None:
            raise
        raise CompileError(error.message, location=location, help=error.help) from None
