"""Directives of types: one type where several are equal, and the like."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ComplexType,
    FunctionType,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute, TypeAttribute

from ttnn_jit.dialects.upstream.directives.directive import (
    OperationDirective,
    OperationReader,
    OperationWriter,
    names_of,
)
from ttnn_jit.dialects.upstream.formats import Element


def _function_types(found: TypeAttribute) -> tuple[list[Attribute], list[Attribute]] | None:
    """Inputs and outputs of a function type; None for another type."""
    return ([*found.inputs.data], [*found.outputs.data]) if isinstance(found, FunctionType) else None


def _function_type(reader: OperationReader, arguments: Sequence[Element], found: TypeAttribute) -> bool:
    """Assigns the types of a function type to the names of a directive, the last of which is the result."""
    if (types := _function_types(found)) is None:
        return False
    *operands, result = names_of(arguments)
    inputs, outputs = types
    if len(operands) == 1 and len(inputs) != 1:
        reader.types[operands[0]] = inputs
    else:
        reader.assign_types(operands, inputs)
    reader.assign_types([result], outputs)
    return True


def _parse_same_types(reader: OperationReader, arguments: Sequence[Element]) -> None:
    found = reader.parser.parse_type()
    if _function_type(reader, arguments, found):
        return
    for name in names_of(arguments):
        reader.types[name] = [found]


def _parse_variadic_same_types(reader: OperationReader, arguments: Sequence[Element]) -> None:
    found = reader.parser.parse_type()
    operands, result = names_of(arguments)[-2:]
    if not _function_type(reader, arguments[-2:], found):
        given = reader.operands.get(operands, reader.operands.get("*operands", []))
        reader.types[operands] = [found] * len(given)
        reader.types[result] = [found]


def _print_same_types(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    types = [type_ for name in names_of(arguments) for type_ in writer.types_of(name)]
    if any(type_ != types[0] for type_ in types):
        writer.function_type()
    else:
        writer.printer.print_attribute(types[0])


def _parse_complex_types(reader: OperationReader, arguments: Sequence[Element]) -> None:
    found = reader.parser.parse_type()
    if _function_type(reader, arguments, found):
        return
    if not isinstance(found, TensorType) or not isinstance(found.element_type, ComplexType):
        reader.parser.raise_error("expected tensor with complex element type")
    real = TensorType(found.element_type.element_type, found.get_shape(), found.encoding)
    lhs, rhs, result = names_of(arguments)
    reader.assign_types([lhs, rhs, result], [real, real, found])


def _print_function_type(writer: OperationWriter, arguments: Sequence[Element]) -> None:  # noqa: ARG001
    writer.function_type()


def _parse_select_types(reader: OperationReader, arguments: Sequence[Element]) -> None:
    first = reader.parser.parse_type()
    if _function_type(reader, arguments, first):
        return
    reader.parser.parse_punctuation(",", " in the types of predicate and result")
    second = reader.parser.parse_type()
    reader.assign_types(names_of(arguments), [first, second, second, second])


def _print_select_types(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    predicate, *others = (writer.types_of(name)[0] for name in names_of(arguments))
    if any(type_ != others[0] for type_ in others):
        writer.function_type()
    else:
        writer.printer.print_list([predicate, others[0]], writer.printer.print_attribute)


def _parse_tuple_type(reader: OperationReader, arguments: Sequence[Element]) -> None:
    operands, result = names_of(arguments)
    found = reader.parser.parse_type()
    if not isinstance(found, TupleType):
        reader.parser.raise_error("expected tuple type")
    reader.types[operands] = [*found.types]
    reader.types[result] = [found]


def _print_result_type(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    writer.printer.print_attribute(writer.types_of(names_of(arguments)[-1])[0])


def _parse_pairwise_types(reader: OperationReader, arguments: Sequence[Element]) -> None:
    found = reader.parser.parse_comma_separated_list(reader.parser.Delimiter.NONE, reader.parser.parse_type)
    for name in names_of(arguments):
        reader.types[name] = [*found]


def _print_pairwise_types(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    writer.printer.print_list(writer.types_of(names_of(arguments)[0]), writer.printer.print_attribute)


TYPES = {
    "SameOperandsAndResultType": OperationDirective(_parse_same_types, _print_same_types),
    "VariadicSameOperandsAndResultType": OperationDirective(_parse_variadic_same_types, _print_same_types),
    "ComplexOpType": OperationDirective(_parse_complex_types, _print_function_type),
    "SelectOpType": OperationDirective(_parse_select_types, _print_select_types),
    "TupleOpType": OperationDirective(_parse_tuple_type, _print_result_type),
    "PairwiseOpType": OperationDirective(_parse_pairwise_types, _print_pairwise_types),
}
"""Name of a directive -> its parser and printer."""
