"""Ops of texts bound to their declarations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import BlockArgument, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.diagnostics.errors import CompileError, DTypeError, ShapeError, TtnnJitError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.tensor_types import element_in_text, is_tensor, spec_in_text
from ttnn_jit.dialects.text_calls.text_attributes import SEGMENTS, attributes_of, name_of, value_of
from ttnn_jit.dialects.text_calls.unexecuted_operations import UNEXECUTED
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.ops.conversions.converted_shards import PRODUCER
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import Conversion, RegionInText
from ttnn_jit.ops.families.text_operation import DenseNumbers, OpInText, Role, TextCall, TextOperation
from ttnn_jit.ops.public_names import names_within_one_edit
from ttnn_jit.ops.texts import former_attributes, text_operations
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class OpCall:
    """An op of a text, read by its declaration.

    Attributes:
        operation: What it computes.
        operands: The values that it reads.
        arguments: Operand or attribute -> value.
        results: The specs of its results.
        element_types: See `TextCall`.
        numbers: See `TextCall`.
    """

    operation: TextOperation
    operands: tuple[SSAValue, ...]
    arguments: Mapping[str, Any]
    results: tuple[TensorSpec, ...]
    element_types: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)

    def call(self, value_of: Callable[[SSAValue], Any]) -> TextCall:
        """The call with `value_of` every operand."""

        def valued(given: Any) -> Any:
            if isinstance(given, SSAValue):
                return value_of(given) if is_tensor(given.type) else None
            return [*map(valued, given)] if isinstance(given, list) else given

        call = TextCall({name: valued(given) for name, given in self.arguments.items()}, self.results)
        call.element_types, call.numbers = self.element_types, self.numbers
        return call

    def written(self, op: Operation) -> list[SSAValue]:
        """The values that get its results: those of `op`, and the operands that it updates."""
        tensors: list[SSAValue] = [each for each in op.results if is_tensor(each.type)]
        return [*tensors, *self.updated(has_results=bool(tensors))]

    def updated(self, *, has_results: bool) -> list[SSAValue]:
        """The operands that it updates: of an op without results the one that takes its place."""
        names = self.operation.also_updates
        if self.operation.updates and not has_results:
            names = (self.operation.updates, *names)
        return [value for value in map(self.arguments.get, names) if isinstance(value, SSAValue)]


def updated_operands(op: Operation) -> list[int]:
    """The indices of the operands that an op writes to; none of an op that has no declaration."""
    found = text_operations().get(name_of(op))
    if found is None or not (found.updates or found.also_updates):
        return []
    read = read_op(op)
    updated = {read.arguments.get(name) for name in (found.updates, *found.also_updates) if name}
    return [index for index, value in enumerate(op.operands) if value in updated]


def is_allocated(value: SSAValue) -> bool:
    """Whether a tensor has no elements of its own: the ops that it is the last operand of write it."""
    owner = value.owner
    found = text_operations().get(name_of(owner)) if isinstance(owner, Operation) else None
    return found is not None and found.role is Role.ALLOCATES


def bound_op(op: Operation, chosen: TextOperation | None = None) -> OpCall:
    """An op of a text by its declaration, or a chosen one, without the specs of its results.

    Raises:
        CompileError: There is no declaration of it, or it does not fit that.
    """
    location = location_of(op)
    operation = operation_in_text(op) if chosen is None else chosen
    if operation.role is Role.NOTHING:
        return OpCall(operation, (), {}, ())
    try:
        if operation.refusal:
            raise CompileError(f"it is not executed here: {operation.refusal}")
        attributes = attributes_of(op)
        sizes = attributes.pop(SEGMENTS, None)
        if isinstance(operation, Conversion):
            operands = [*op.operands]
            sizes = sizes or _sizes_by_table(op)
        else:
            operands, sizes = _read_operands(operation.form, op, sizes)
        bound = operation.bound(operands, sizes, attributes) | _around(op, operation)
    except TtnnJitError as error:
        raise located(error, op, location) from error
    numbers = {name: each for name, value in values_by_name(bound).items() if (each := _number(value)) is not None}
    if isinstance(operation, Conversion):
        for name in operation.as_numbers:
            if bound[name] is not None and name not in numbers:
                raise located(ShapeError(f"`{name}` is no constant of the text"), op, location)
            bound[name] = None
    read = {*values_by_name(bound).values()}
    tensors = tuple(each for each in operands if is_tensor(each.type) and each in read)
    return OpCall(operation, tensors, bound, (), _element_types(op, bound), numbers)


def _around(op: Operation, operation: TextOperation) -> dict[str, Any]:
    """What an op reads besides its operands and attributes: regions, meshes, attributes of the op before it."""
    found: dict[str, Any] = {}
    producer = op.operands[0].owner if op.operands else None
    if isinstance(producer, Operation) and any(name.startswith(PRODUCER) for name in operation.attribute_names):
        found |= {PRODUCER + name: each for name, each in attributes_of(producer).items()}
    if operation.role is Role.SHARDS:
        found["meshes"] = _meshes_around(op)
    if isinstance(operation, Conversion) and operation.regions:
        found |= {name: TextRegion(each) for name, each in zip(operation.regions, op.regions, strict=True)}
    return found


def tensor_at(value: SSAValue) -> Tensor:
    """A value of a text in a conversion."""
    shape = tuple(value.type.get_shape()) if isinstance(value.type, TensorType) else ()
    return Tensor(shape, element_in_text(value.type), value)


def conversion_call(op: Operation, read: OpCall) -> ConversionCall:
    """An op in a conversion, whose operands are values of the text."""
    kinds = [replace(tensor_at(each), handle=None) for each in op.results if is_tensor(each.type)]
    call = read.call(tensor_at)
    return ConversionCall.of(vars(call) | {"results": tuple(kinds)}, kinds)


def read_op(op: Operation) -> OpCall:
    """An op of a text by its declaration.

    Raises:
        CompileError: There is no declaration of it, or it does not fit that.
    """
    read = bound_op(op)
    operation = read.operation
    if operation.role is Role.NOTHING:
        return read
    try:
        results = tuple(spec_in_text(each.type) for each in op.results if is_tensor(each.type))
        element_types = read.element_types
        quantized = [each for each in element_types.values() if each.startswith("!quant")]
        if quantized and not operation.takes_quantized:
            raise DTypeError(f"it does not compute with {quantized[0]}", help="dequantize the tensor first")
        results += tuple(spec_in_text(each.type) for each in read.updated(has_results=bool(results)))
    except TtnnJitError as error:
        raise located(error, op, location_of(op)) from error
    return replace(read, results=results)


def _sizes_by_table(op: Operation) -> list[int] | None:
    """How many values each operand has; None of an op that the tables do not have so."""
    try:
        return [len(each) for each in named_operands(op).values()]
    except ValueError:
        return None


def _meshes_around(op: Operation) -> dict[str, Any]:
    """Every mesh of the module that holds an op, by name."""
    parent = op
    while (above := parent.parent_op()) is not None:
        parent = above
    named = [attributes_of(each) for each in parent.walk() if "mesh" in each.properties]
    return {each["sym_name"]: each["mesh"] for each in named if "sym_name" in each}


def _number(value: SSAValue) -> float | None:
    """The number of a tensor that a text makes of one number."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    if len(owner.operands) == 1:
        declared = text_operations().get(name_of(owner))
        keeps = isinstance(declared, Conversion) and declared.keeps_number
        same = element_in_text(owner.operands[0].type) == element_in_text(value.type)
        return _number(owner.operands[0]) if keeps and same else None
    given = {} if owner.operands else {**owner.properties, **owner.attributes}
    found = given.get("value") or given.get("values")
    if found is None:
        return None
    numbers = value_of(found)
    return numbers.splat if isinstance(numbers, DenseNumbers) else None


def values_by_name(bound: Mapping[str, Any]) -> dict[str, SSAValue]:
    """The values among arguments; those of a list by name and index."""
    values = {name: each for name, each in bound.items() if isinstance(each, SSAValue)}
    for name, listed in bound.items():
        if isinstance(listed, list):
            values |= {f"{name}[{index}]": each for index, each in enumerate(listed) if isinstance(each, SSAValue)}
    return values


def _element_types(op: Operation, bound: Mapping[str, Any]) -> dict[str, str]:
    """The element type of each operand with one value, and of the first result, as the text says it."""
    values = values_by_name(bound)
    values |= {"result": op.results[0]} if op.results else {}
    types = {name: each.type for name, each in values.items()}
    return {name: str(type_.get_element_type()) for name, type_ in types.items() if isinstance(type_, TensorType)}


def declared_name(op: Operation) -> str:
    """The name under which an op is declared: of a call of a named target, and of a former form, with what tells it."""
    name = name_of(op)
    for told in former_attributes().get(name, ()):
        if told in op.properties or told in op.attributes:
            return f"{name}@{told}"
    target = op.properties.get("call_target_name") or op.attributes.get("call_target_name")
    return name if target is None else f"{name}@{value_of(target)}"


def operation_in_text(op: Operation) -> TextOperation:
    """The declaration of an op.

    Raises:
        CompileError: There is none.
    """
    name = declared_name(op)
    found = text_operations().get(name)
    if found is None:
        near = [f"`{each}`" for each in names_within_one_edit(name, text_operations())]
        help_text = UNEXECUTED.get(name) or (f"did you mean {' or '.join(near)}?" if near else None)
        raise CompileError(f"`{name}` is not executed here", location=location_of(op), help=help_text)
    return found


def _read_operands(
    form: OpInText, op: Operation, sizes: Sequence[int] | None
) -> tuple[list[SSAValue], Sequence[int] | None]:
    """The operands without devices, and without tensors that the op only writes; and how many there are of each."""
    operands, types = op.operands, {each.type for each in op.results}
    if sizes is not None and sum(sizes) == len(operands):
        starts = (sum(sizes[:index]) for index in range(len(sizes)))
        given = [operands[start : start + size] for start, size in zip(starts, sizes, strict=True)]
        given = [each for each in given if not each or is_tensor(each[0].type)][: len(form.operands)]
        if form.fits(counts := [*map(len, given)], sum(counts)):
            return [each for own in given for each in own], counts
    tensors = [each for each in operands if is_tensor(each.type)]
    while len(tensors) > form.required and tensors[-1].type in types and is_allocated(tensors[-1]):
        tensors.pop()
    if form.at_most is not None and len(tensors) == form.at_most + 1 and tensors[-1].type in types:
        tensors.pop()  # a destination that has elements, which are not read
    return tensors, sizes


def located(error: TtnnJitError, op: Operation, location: Location | None) -> CompileError:
    """`error` at the place of an op, by whose name it begins."""
    if isinstance(error, CompileError) and error.location is not None:
        return error
    return CompileError(f"`{name_of(op)}`: {error.message}", location=location, help=error.help)


OF_UNCHECKED_ATTRIBUTES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    VerifyException,
)
"""What declarations raise if attributes of an op contradict one another: the verifier does not check every op."""


@contextmanager
def errors_at(op: Operation) -> Iterator[None]:
    """Errors inside have the place of an op.

    Raises:
        CompileError: The op is not executed here, or its attributes do not fit its operands or one another.
    """
    try:
        yield
    except TtnnJitError as error:
        raise located(error, op, location_of(op)) from error
    except OF_UNCHECKED_ATTRIBUTES as error:
        said = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
        raise CompileError(
            f"`{name_of(op)}`: its operands, attributes and results do not fit one another",
            location=location_of(op),
            help=f"if they do, please report this: `{said}`, and what TTNN_JIT_DEBUG=1 prints",
        ) from error


# --- Regions ----------------------------------------------------------------------------------------------------------


class TextRegion(RegionInText):
    """A region of a text.

    Args:
        region: The region, of one block.
    """

    def __init__(self, region: Region) -> None:
        self._block = region.block

    @cached_property
    def _ops(self) -> tuple[tuple[Operation, OpCall], ...]:
        """Every op before the last, by its declaration.

        Raises:
            CompileError: One is not computed element by element.
        """
        found = []
        for op in [*self._block.ops][:-1]:
            read = bound_op(op)
            if not (isinstance(read.operation, Conversion) and read.operation.is_elementwise):
                raise CompileError(
                    f"`{name_of(op)}` is not computed element by element, as a region of scalars is",
                    location=location_of(op),
                )
            found.append((op, read))
        return tuple(found)

    @cached_property
    def _numbers(self) -> Mapping[SSAValue, float]:
        """The numbers of the function around it that it reads."""
        read = captured_by(self._block.ops)
        return {value: number for value in read if (number := _number(value)) is not None}

    @property
    def _returned(self) -> Sequence[SSAValue]:
        last = self._block.last_op
        assert last is not None, "a region ends with what it returns"
        return last.operands

    @cached_property
    def single(self) -> Conversion | None:
        """The operation that it applies to its two arguments, in order, and returns; None of another region."""
        if len(self._returned) != 1 or len(self._block.args) != 2:
            return None
        op = _flag_itself(self._returned[0]).owner
        if not isinstance(op, Operation) or tuple(op.operands) != tuple(self._block.args) or len(op.results) != 1:
            return None
        operation = next(read.operation for each, read in self._ops if each is op)
        return operation if isinstance(operation, Conversion) else None

    def returned_argument(self, number: int) -> int | None:
        """The argument that a result is as it is; None if the result is computed."""
        value = self._returned[number]
        return value.index if isinstance(value, BlockArgument) else None

    def convert(self, ops: TtirOps, *arguments: Tensor) -> list[Tensor]:
        """What it returns, element by element."""
        values: dict[SSAValue, Tensor] = dict(zip(self._block.args, arguments, strict=True))
        for value, number in self._numbers.items():
            values[value] = ops.filled(number, (), element_in_text(value.type))
        for op, read in self._ops:
            values |= zip(op.results, self._converted(ops, op, read, values), strict=True)
        wide = arguments[0].shape
        return [ops.spread(values[each], wide) for each in self._returned]

    def _converted(self, ops: TtirOps, op: Operation, read: OpCall, values: Mapping[SSAValue, Tensor]) -> list[Tensor]:
        given = [_outer(values, op, each) for each in read.operands]
        shape = max((each.shape for each in given), key=len, default=())
        stated = [element_in_text(each.type) for each in read.operands]
        # Operands may be wider floats than the text says: those of one type there are of one type.
        widest = {
            element: max((each.element for each, own in zip(given, stated, strict=True) if own == element), key=_width)
            for element in stated
        }
        spread = {
            value: ops.cast(ops.spread(each, shape), widest[element])
            for value, each, element in zip(read.operands, given, stated, strict=True)
        }
        elements = [element_in_text(each.type) for each in op.results]
        kinds = [Tensor(shape, widest.get(each, each)) for each in elements]
        call = ConversionCall.of(vars(read.call(spread.__getitem__)) | {"results": kinds}, kinds)
        assert isinstance(read.operation, Conversion), "regions have no other ops"
        return read.operation.converted(ops, call)

    def golden(self, torch: Any, *arguments: Any) -> list[Any]:
        """What it returns, by the goldens of its ops."""
        values: dict[SSAValue, Any] = dict(zip(self._block.args, arguments, strict=True))
        for value, number in self._numbers.items():
            dtype = spec_in_text(value.type).dtype
            values[value] = torch.tensor(number, dtype=dtype.torch if dtype.is_integer else torch.float64)
        for op, read in self._ops:
            call = read.call(partial(_outer, values, op))
            call.results = tuple(spec_in_text(each.type) for each in op.results)
            found = read.operation.golden(torch, call)
            values |= zip(op.results, found if isinstance(found, list | tuple) else [found], strict=True)
        return [values[each] for each in self._returned]

    def compares(self) -> tuple[int, str] | None:
        """Of a comparator of a sort: the operand that it compares and ``LT`` or ``GT``; None if it does more."""
        (value,) = self._returned
        if not isinstance(value.owner, Operation):
            return None
        read = bound_op(value.owner)
        direction = read.arguments.get("comparison_direction")
        sides = [self._argument_behind(each) for each in read.operands]
        if direction not in _ASCENDING or None in sides or len(sides) != 2:
            return None
        first, second = (each for each in sides if each is not None)
        if first // 2 != second // 2 or first == second:
            return None
        ascends = _ASCENDING[direction] == (first < second)
        return first // 2, "LT" if ascends else "GT"

    def _argument_behind(self, value: SSAValue) -> int | None:
        """The one argument that a value is, up to the choice of one zero and of one NaN; None of another value."""
        if isinstance(value, BlockArgument):
            return value.index
        if not isinstance(value.owner, Operation):
            return None
        read = bound_op(value.owner)
        chosen = read.arguments.get("on_false")
        if chosen is None or read.arguments.get("on_true") is None:
            return None
        number, flags = read.numbers.get("on_true"), read.arguments["pred"].owner
        if number is None or not (number == 0 or math.isnan(number)) or not isinstance(flags, Operation):
            return None
        compared = bound_op(flags).operands
        return self._argument_behind(chosen) if compared and compared[0] in {chosen, *_operands(chosen)} else None


def captured_by(ops: Iterable[Operation]) -> list[SSAValue]:
    """The values that ops of a region read of those around it, in order."""
    ops = [*ops]
    own = {value for op in ops for value in (*op.results, *(op.parent.args if op.parent is not None else ()))}
    return [*dict.fromkeys(value for op in ops for value in op.operands if value not in own)]


def _flag_itself(value: SSAValue) -> SSAValue:
    """A flag, where a value is the choice of true if it is set, else of false."""
    while isinstance(value.owner, Operation) and element_in_text(value.type) == "i1":
        read = bound_op(value.owner) if len(value.owner.operands) == 3 else None
        if read is None or (read.numbers.get("on_true"), read.numbers.get("on_false")) != (True, False):
            return value
        value = read.arguments["pred"]
    return value


def _operands(value: SSAValue) -> tuple[SSAValue, ...]:
    return tuple(value.owner.operands) if isinstance(value.owner, Operation) else ()


def _width(element: str) -> int:
    return Tensor((), element).bits


_ASCENDING = {"LT": True, "LE": True, "GT": False, "GE": False}


def _outer(values: Mapping[SSAValue, Any], op: Operation, value: SSAValue) -> Any:
    """A value of a region.

    Raises:
        CompileError: It is of the function around.
    """
    if value not in values:
        raise CompileError("its region reads a value of the function around it", location=location_of(op))
    return values[value]
