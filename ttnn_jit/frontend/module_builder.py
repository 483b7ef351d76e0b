"""Writes the module that a frontend leaves: one function of TTNN ops, every op with the user's place.

The forms are those of the ttnn.jit document, step 1: one `ttnn.get_device`, first, if a number needs one; a
`ttnn.full` for each number, right before the op that uses it; compute ops tagged for D2M, the others not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import CallSiteLoc, FunctionType, LocationAttr, ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, SSAValue

from ttnn_jit.diagnostics.errors import CompileError, LayoutError, OperandDTypeError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects import set_system_desc
from ttnn_jit.dialects.argument_notes import ArgumentNotes, argument_attributes
from ttnn_jit.dialects.creation import create, empty_block, region_of
from ttnn_jit.dialects.editing import append
from ttnn_jit.dialects.layout import spec_of, tensor_type
from ttnn_jit.dialects.locations import UNKNOWN, location_attribute
from ttnn_jit.dialects.properties import properties_of
from ttnn_jit.dialects.ttcore import data_type_attr
from ttnn_jit.dialects.ttnn import HOIST, HOISTED, OP_OF, FullOp, GetDeviceOp
from ttnn_jit.frontend.kernel_operands import KernelOperand, check_kernel_operand, product_config
from ttnn_jit.frontend.promotion import Operand, met
from ttnn_jit.frontend.result_layout import ResultLayout, lay_out_results, wanted_spec
from ttnn_jit.ops import COPY, RELAYOUT, TYPECAST, Elementwise, MacroOperation, Movement, Operation
from ttnn_jit.ops.decomposition import Operand as Called
from ttnn_jit.ops.decomposition import Ops, Value
from ttnn_jit.ops.kinds import as_float32
from ttnn_jit.ops.operation import CAST_HELP, OperandSpec
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, TRUTHS
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.specs.target_rules import keeps_target_rules
from ttnn_jit.specs.tensor_spec import (
    HOST_MEMORY_CONFIG,
    DataType,
    Layout,
    MemoryConfig,
    TensorSpec,
    check_memory_of_device,
    checked,
)

MAX_OPERATIONS = 100_000  # of one program; a loop that never ends stops here

TensorOperand: TypeAlias = tuple[SSAValue, TensorSpec]
"""A value of the function and what it is."""


class ModuleBuilder:
    """Builds one module; arguments first, then operations in program order, then `finish`.

    Args:
        name: The function's name; that of an eager operation has a dot, ``ttnn.exp``, as no Python function's has, so
            that a device counts both.
        target: Decides the element type of numbers, and stands on the module.
        location: Where the function is defined; None for an operation that no file holds.
        jitted: It is a function of the user's, whose kernels obey the rules of the ttnn.jit document on a chip target.
        last_core: The last core (x, y) that products there are sharded over; None: the target's.

    Attributes:
        target: As it was given.
        kernel_operands: Where there are such rules, the arguments that kernels read: their names, and their specs.
    """

    def __init__(
        self,
        name: str,
        target: SystemDesc,
        location: Location | None,
        *,
        jitted: bool = False,
        last_core: tuple[int, int] | None = None,
    ) -> None:
        self._name = re.sub(r"[^\w.]", "", name) or "main"
        self.target = target
        self._location = _attribute(location)
        self._has_rules = jitted and target.tile_aligned_only
        self._last_core = last_core or (target.grid[1] - 1, target.grid[0] - 1)
        self._names: dict[SSAValue, str] = {}
        self._hidden: dict[SSAValue, str] = {}
        self.kernel_operands: dict[tuple[str, TensorSpec], None] = {}
        self._block = empty_block()
        self._device: SSAValue | None = None
        self._count = 0

    def argument(self, spec: TensorSpec, name: str = "") -> SSAValue:
        """The function's next argument, or the next tensor of the argument `name`."""
        value = self._block.insert_arg(tensor_type(spec), len(self._block.args))
        self._names[value] = name
        return value

    def hidden_input(self, spec: TensorSpec, name: str) -> SSAValue:
        """The function's next argument, a tensor that stands at `name` in the user's world, as its text says."""
        value = self.argument(spec, name)
        self._hidden[value] = name
        return value

    def operation(
        self,
        operation: Operation,
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
        operation: Operation,
        operands: Sequence[Operand],
        attributes: Sequence[Any],
        location: Location | None,
        *,
        dtype: DataType | None = None,
    ) -> tuple[TensorOperand, ...]:
        """What `operation` results in, of element type `dtype` if that is given; numbers become tensors of its shape.

        Raises:
            CompileError: The operands do not fit the operation or each other.
        """
        if isinstance(operation, MacroOperation):
            return self._written_out(operation, operands, attributes, location)
        self._count += 1
        if self._count > MAX_OPERATIONS:
            raise CompileError(f"the program has more than {MAX_OPERATIONS} operations", location=location)
        operands = met(operation, operands, lambda each, to: self.operation(TYPECAST, [each], (to,), location))
        tensors = [operand for operand in operands if isinstance(operand, tuple)]
        self._check(operation, tensors, location)
        written, attributes, results = _results(
            operation, [o[1] if isinstance(o, tuple) else o for o in operands], attributes, location, dtype
        )
        if self._has_rules:
            specs = [each[1] for each in tensors]
            configs = (product_config(written, specs, attributes, each, self._last_core) for each in results)
            results = tuple(each.with_(memory_config=config) for each, config in zip(results, configs, strict=True))
        values = self._write(written, operands, attributes, results, location)
        return tuple(zip(values, results, strict=True))

    def _written_out(
        self,
        operation: MacroOperation,
        operands: Sequence[Operand],
        attributes: Sequence[Any],
        location: Location | None,
    ) -> tuple[TensorOperand, ...]:
        """The results of the operations that it stands for."""
        ops = ProgramOps(self, location)
        values = [ops.value(each) if isinstance(each, tuple) else each for each in operands]
        self._check(operation, [each for each in operands if isinstance(each, tuple)], location)
        try:
            results = operation.written_out(ops, values, attributes)
        except CompileError as error:
            if location is None:
                raise
            raise CompileError(error.message, location=location, help=error.help) from None
        return tuple((result.handle, result.spec) for result in results)

    def _write(
        self,
        operation: Operation,
        operands: Sequence[Operand],
        attributes: Sequence[Any],
        results: tuple[TensorSpec, ...],
        location: Location | None,
    ) -> Sequence[SSAValue]:
        (result, *_) = results
        place = _attribute(location)
        (first, *_) = (o[1].dtype for o in operands if isinstance(o, tuple))
        values = [
            o[0] if isinstance(o, tuple) else o if o is None else self._full(o, result, first, place) for o in operands
        ]
        properties = properties_of(operation, attributes, values)
        if operation.has_dtype_property:
            properties["dtype"] = data_type_attr(result.dtype)
        hoisted = dict(HOISTED) if self._is_hoisted(operation, operands) else {}
        op_class = OP_OF[operation]
        types = map(tensor_type, results)
        given = [value for value in values if value is not None]
        op = op_class.make(given, *types, properties=properties, attributes=hoisted, location=place)
        append(self._block, (op,))
        return op.results

    def _is_hoisted(self, operation: Operation, operands: Sequence[Operand]) -> bool:
        """Whether a kernel runs it: a chip's read no partial tiles, nor rows, of what other operations made."""
        if not isinstance(operation, Elementwise):
            return False
        specs = (each[1] for each in operands if isinstance(each, tuple))
        return not self._has_rules or all(keeps_target_rules(spec, self.target) for spec in specs)

    def updated(self, operand: TensorOperand, wanted: TensorSpec, location: Location | None) -> TensorOperand:
        """What an operation in place stores, as `stored` does.

        Raises:
            CompileError: It computes floats, and the tensor holds integers; or numbers, and it holds bools; or it is
                laid out otherwise.
        """
        lost = wanted.dtype in TRUTHS and operand[1].dtype not in TRUTHS
        if lost or (wanted.dtype.is_integer and not operand[1].dtype.is_integer):
            raise CompileError(
                f"a result of {operand[1].dtype.name} is not written into a tensor of {wanted.dtype.name} in place",
                location=location,
                help="cast the result with `ttnn.typecast`, or divide with `rounding_mode`",
            )
        return self.stored(operand, wanted, location)

    def stored(self, operand: TensorOperand, wanted: TensorSpec, location: Location | None) -> TensorOperand:
        """`operand` as a value of the program's own that is `wanted`, of which it has the shape.

        Raises:
            CompileError: It is laid out otherwise.
        """
        value, spec = operand
        if spec is wanted and not isinstance(value, BlockArgument):
            return operand
        if spec.layout is not wanted.layout:
            raise CompileError(
                f"a tensor in {wanted.layout.name} layout cannot be written from one in {spec.layout.name} layout",
                location=location,
                help="bring one of them to the other's with `ttnn.to_layout` before the call",
            )
        same = spec.dtype is wanted.dtype
        written, attributes = (COPY, ()) if same else (TYPECAST, (wanted.dtype,))
        self._check(written, [operand], location)
        (copied,) = self._write(written, [operand], attributes, (wanted,), location)
        return copied, wanted

    def laid_out(self, operand: TensorOperand, wanted: TensorSpec, location: Location | None) -> TensorOperand:
        """`operand` in the layout and the memory of `wanted`; arrays of the host stay where they are."""
        value, spec = operand
        if spec is wanted or spec.memory_config == HOST_MEMORY_CONFIG:
            return operand
        check_memory_of_device(wanted.memory_config)
        # What computes a value may store it so; what reads a movement reads through this one too.
        computed = self.target.fuses_movement and value and getattr(value.owner, "operation", None)
        operation = RELAYOUT if not computed or isinstance(computed, Movement) else COPY
        (moved,) = self._write(operation, [operand], (), (checked(wanted),), location)
        return moved, wanted

    def finish(
        self,
        results: Sequence[SSAValue],
        layout: ResultLayout | None = None,
        updates: Mapping[SSAValue, int] | None = None,
    ) -> ModuleOp:
        """The module, valid by construction; the function returns `results`, laid out as `layout` says if it is given.

        Args:
            results: Values of the function.
            layout: Where those lie that update nothing.
            updates: The arguments that are written, each with the index of the result that it is after the call.

        Raises:
            GridError: A config of `layout` does not hold its result.
        """
        updates = updates or {}
        if layout is not None:
            returned = [value for place, value in enumerate(results) if place not in updates.values()]
            copies = {value: self._copied(value, layout) for value in returned}
            laid_out = iter(lay_out_results(self._block, [copies[value] for value in returned], layout))
            results = [value if place in updates.values() else next(laid_out) for place, value in enumerate(results)]
        append(self._block, (create(func.ReturnOp, operands=results, location=self._location),))
        function_type = FunctionType.from_lists(
            [argument.type for argument in self._block.args], [result.type for result in results]
        )
        said = [ArgumentNotes(self._hidden.get(value), updates.get(value)) for value in self._block.args]
        names = {"arg_attrs": argument_attributes(said)} if any(said) else {}
        function = create(
            func.FuncOp,
            properties={"sym_name": StringAttr(self._name), "function_type": function_type, **names},
            regions=(region_of(self._block),),
            location=self._location,
        )
        body = empty_block()
        append(body, (function,))
        module = create(ModuleOp, regions=(region_of(body),), location=self._location)
        set_system_desc(module, self.target)
        return module

    def _copied(self, value: SSAValue, layout: ResultLayout) -> SSAValue:
        """A copy of an argument that shall lie elsewhere as a result; every other value is returned as it is."""
        spec = spec_of(value.type)
        if not isinstance(value, BlockArgument) or wanted_spec(spec, layout) is spec:
            return value
        op = OP_OF[COPY].make((value,), tensor_type(spec), attributes=dict(HOISTED), location=self._location)
        append(self._block, (op,))
        return op.results[0]

    def _check(self, operation: Operation, tensors: Sequence[TensorOperand], location: Location | None) -> None:
        """Refuses dtypes that the operation does not take, and what a kernel of the target's does not."""
        for _, spec in tensors:
            if not operation.accepts(spec.dtype):
                allowed = ", ".join(sorted(dtype.name for dtype in operation.dtypes if not dtype.is_foreign))
                kind = OperandDTypeError if location is None else CompileError
                raise kind(
                    f"`{operation.name}` does not take {spec.dtype.name} tensors",
                    location=location,
                    help=CAST_HELP if spec.dtype.is_foreign else f"it takes {allowed}",
                )
        if not self._has_rules:
            return
        if isinstance(operation, Elementwise):
            self._check_kernel(operation, tensors, location)
        for place, (value, spec) in enumerate(tensors):
            if value in self._names or _is_hoisted(value):
                operand = KernelOperand(spec, self._names.get(value, ""), place)
                check_kernel_operand(operation, operand, self.target, location)

    def _check_kernel(self, operation: Operation, tensors: Sequence[TensorOperand], location: Location | None) -> None:
        for value, spec in tensors:
            if value in self._names:
                self.kernel_operands[self._names[value], spec] = None
        sharded = [spec for _, spec in tensors if spec.memory_config.is_sharded()]
        for spec in sharded[1:]:
            if not spec.lies_as(sharded[0]):
                raise CompileError(
                    f"`{operation.name}` got operands that are sharded differently: {sharded[0].memory_config} and "
                    f"{spec.memory_config}",
                    location=location,
                    help="bring one of them to the other's memory config with `ttnn.to_memory_config` before the call",
                )

    def _full(self, value: float, result: TensorSpec, beside: DataType, place: LocationAttr) -> SSAValue:
        if beside.is_integer:
            dtype, number = beside, value
        else:
            # Under IEEE numerics nothing rounds between the user's float and the arithmetic, which is float32.
            rounds = self.target.numerics is Numerics.DEVICE and not result.dtype.is_integer
            dtype, number = result.dtype if rounds else COMPUTE_TYPE, as_float32(value)
        spec = result.with_(dtype=dtype)
        op = FullOp.make(self._device_value(place), number, spec, tensor_type(spec), place)
        append(self._block, (op,))
        return op.results[0]

    def filled(self, number: float, spec: TensorSpec, location: Location | None) -> TensorOperand:
        """A tensor of `spec`, which is on the host where the arguments are, of one number."""
        place, spec = _attribute(location), self._at_home(spec)
        op = FullOp.make(self._device_value(place), number, spec, tensor_type(spec), place)
        append(self._block, (op,))
        return op.results[0], spec

    def made(
        self, operation: Operation, attributes: Sequence[Any], spec: TensorSpec, location: Location | None
    ) -> TensorOperand:
        """The result of `operation`, which has no operands, as `spec` says; see `filled`."""
        spec = self._at_home(spec)
        properties = properties_of(operation, attributes, ())
        op = OP_OF[operation].make((), tensor_type(spec), properties=properties, location=_attribute(location))
        append(self._block, (op,))
        return op.results[0], spec

    def _at_home(self, spec: TensorSpec) -> TensorSpec:
        """`spec`, in device memory unless the arguments lie on the host: torch and numpy, which know rows alone."""
        if any(spec_of(own.type).memory_config == HOST_MEMORY_CONFIG for own in self._block.args):
            return spec.with_(memory_config=HOST_MEMORY_CONFIG, layout=Layout.ROW_MAJOR)
        return spec if spec.memory_config != HOST_MEMORY_CONFIG else spec.with_(memory_config=MemoryConfig())

    def _device_value(self, place: LocationAttr) -> SSAValue:
        if self._device is None:
            op = GetDeviceOp.make(place)
            first = self._block.first_op
            if first is None:
                append(self._block, (op,))
            else:
                self._block.insert_op_before(op, first)
            self._device = op.results[0]
        return self._device


class ProgramOps(Ops):
    """What a decomposition calls becomes operations of a program.

    Args:
        builder: Of the program.
        location: Of the call that is decomposed.
    """

    def __init__(self, builder: ModuleBuilder, location: Location | None) -> None:
        self._builder = builder
        self._location = location

    def value(self, made: TensorOperand) -> Value:
        """A value of the program."""
        return Value(self, made[1], made[0])

    def results(self, operation: Operation, operands: Sequence[Called], *statics: Any) -> list[Value]:
        """Those of an operation of the program."""
        own = [(each.handle, each.spec) if isinstance(each, Value) else each for each in operands]
        return [*map(self.value, self._builder.results(operation, own, statics, self._location))]

    def filled(self, number: float, spec: TensorSpec) -> Value:
        """That of a `ttnn.full`."""
        return self.value(self._builder.filled(number, spec, self._location))


class SpecBuilder(ModuleBuilder):
    """Says what the result of each operation is, or what is wrong with it, and writes no module."""

    def argument(self, spec: TensorSpec, name: str = "") -> Any:
        """Nothing stands for a value."""

    def hidden_input(self, spec: TensorSpec, name: str) -> Any:
        """Nothing stands for a value."""

    def _write(self, operation: Operation, *_: Any) -> Any:
        return (None,) * operation.result_count


def _is_hoisted(value: SSAValue | None) -> bool:
    """Whether a kernel makes it."""
    return value is not None and not isinstance(value.owner, Block) and HOIST in value.owner.attributes


def _results(
    operation: Operation,
    specs: Sequence[OperandSpec],
    attributes: Sequence[Any],
    location: Location | None,
    dtype: DataType | None,
) -> tuple[Operation, tuple[Any, ...], tuple[TensorSpec, ...]]:
    """What the IR writes for a call, and what it results in, of element type `dtype` if that is given."""
    try:
        results = operation.results(specs, attributes)
        if dtype is not None:
            results = tuple(result.with_(dtype=dtype) for result in results)
        return *operation.written(specs, attributes), results
    except (CompileError, LayoutError) as error:  # of a layout: block floats in rows
        if location is None:
            raise
        raise CompileError(error.message, location=location, help=error.help) from None


def _attribute(location: Location | None) -> LocationAttr:
    return UNKNOWN if location is None else _known_attribute(location)


@cache
def _known_attribute(location: Location) -> LocationAttr:
    place: LocationAttr = location_attribute(Location(location.file, location.line, location.column))
    if location.called_from is None:
        return place
    return CallSiteLoc(place, _known_attribute(location.called_from))
