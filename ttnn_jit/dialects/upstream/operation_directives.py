"""The ``custom<...>`` directives of operations, which C++ parses: each has a parser and a printer here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from xdsl.dialects.builtin import (
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    TensorType,
    TupleType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Region, SSAValue, TypeAttribute
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from ttnn_jit.dialects.upstream.attribute_syntax import convolution_dimensions_text, parse_convolution_dimensions
from ttnn_jit.dialects.upstream.formats import Directive, Element, Variable
from ttnn_jit.dialects.upstream.parameter_syntax import print_body, syntax_of
from ttnn_jit.dialects.upstream.table_attributes import attribute_class
from ttnn_jit.process.dataclass import dataclass


class OperationReader(Protocol):
    """The state of parsing an operation, as `operation_reader.py` has it."""

    parser: Parser
    operands: dict[str, list[UnresolvedOperand]]
    types: dict[str, list[Attribute]]
    attributes: dict[str, Attribute]

    def assign_types(self, names: Sequence[str], types: Sequence[Attribute]) -> None:
        """Gives one type to each name."""

    def set_regions(self, name: str, regions: Sequence[Region]) -> None:
        """Gives the regions of a name of the row."""


class OperationWriter(Protocol):
    """The state of printing an operation, as `operation_writer.py` has it."""

    printer: Printer

    def operands_of(self, name: str) -> Sequence[SSAValue]:
        """The operands of a name."""

    def types_of(self, name: str) -> list[Attribute]:
        """The types of the operands or results of a name."""

    def attribute(self, name: str) -> Attribute | None:
        """An attribute of the row."""

    def regions_of(self, name: str) -> Sequence[Region]:
        """The regions of a name of the row."""

    def function_type(self) -> None:
        """Prints the type of all operands and results."""


def function_types(found: TypeAttribute) -> tuple[list[Attribute], list[Attribute]] | None:
    """Inputs and outputs of a function type; None for another type."""
    return ([*found.inputs.data], [*found.outputs.data]) if isinstance(found, FunctionType) else None


@dataclass(frozen=True)
class OperationDirective:
    """A directive: it parses into a reader, and prints from a writer."""

    parse: Callable[[OperationReader, Sequence[Element]], None]
    print: Callable[[OperationWriter, Sequence[Element]], None]


def names_of(arguments: Sequence[Element]) -> list[str]:
    """The variables of a directive; of ``type($x)``, x."""
    found = []
    for each in arguments:
        inner = each.arguments[0] if isinstance(each, Directive) and each.name in {"type", "ref"} else each
        if isinstance(inner, Variable):
            found.append(inner.name)
    return found


def _function_type(reader: OperationReader, arguments: Sequence[Element], found: TypeAttribute) -> bool:
    """Assigns the types of a function type to the names of a directive, the last of which is the result."""
    if (types := function_types(found)) is None:
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


def _parse_operands_and_commas(reader: OperationReader, arguments: Sequence[Element]) -> None:
    found = []
    while (operand := reader.parser.parse_optional_unresolved_operand()) is not None:
        found.append(operand)
        reader.parser.parse_punctuation(",")
    reader.operands[names_of(arguments)[0]] = found


def _print_operands_and_commas(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    writer.printer.print_list(writer.operands_of(names_of(arguments)[0]), writer.printer.print_ssa_value)
    writer.printer.print_string(",")


def _parse_symbol(reader: OperationReader, arguments: Sequence[Element]) -> None:
    reader.attributes[names_of(arguments)[0]] = reader.parser.parse_symbol_name()


def _print_symbol(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    attribute = writer.attribute(names_of(arguments)[0])
    assert isinstance(attribute, StringAttr)
    writer.printer.print_symbol_name(attribute.data)


def _integers(values: Sequence[int]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, values)


def numbers(attribute: Attribute | None) -> list[int]:
    """The numbers of a dense array."""
    assert isinstance(attribute, DenseArrayBase)
    return [int(value) for value in attribute.get_values()]


def _parse_slices(reader: OperationReader, arguments: Sequence[Element]) -> None:
    parser = reader.parser

    def parse() -> tuple[int, int, int]:
        start = parser.parse_integer()
        parser.parse_punctuation(":")
        limit = parser.parse_integer()
        return start, limit, parser.parse_integer() if parser.parse_optional_punctuation(":") else 1

    found = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse)
    for name, values in zip(names_of(arguments), [*zip(*found, strict=True)] or [(), (), ()], strict=True):
        reader.attributes[name] = _integers(values)


def _print_slices(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    starts, limits, strides = (numbers(writer.attribute(name)) for name in names_of(arguments))
    texts = [
        f"{start}:{limit}" + (f":{stride}" if stride != 1 else "")
        for start, limit, stride in zip(starts, limits, strides, strict=True)
    ]
    writer.printer.print_string(f"[{', '.join(texts)}]")


def _parse_precision(reader: OperationReader, arguments: Sequence[Element]) -> None:
    parser = reader.parser
    name, *algorithm = names_of(arguments)
    while parser.parse_optional_punctuation(",") is not None:
        if algorithm and parser.parse_optional_keyword("algorithm") is not None:
            parser.parse_punctuation("=")
            body = parser._parse_dialect_type_or_attribute_body("stablehlo.dot_algorithm", False, False, None)
            reader.attributes[algorithm[0]] = body
            continue
        parser.parse_keyword("precision")
        parser.parse_punctuation("=")

        def parse() -> Attribute:
            if parser._current_token.text.startswith("#"):
                return parser.parse_attribute()
            body: Attribute = parser._parse_dialect_type_or_attribute_body("stablehlo.precision", False, False, None)
            return body

        reader.attributes[name] = ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse))


def _print_precision(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    name, *algorithm = names_of(arguments)
    printer = writer.printer
    if isinstance(precision := writer.attribute(name), ArrayAttr) and precision.data:
        printer.print_string(", precision = ")
        with printer.in_square_brackets():
            printer.print_list(precision.data, lambda each: print_body(printer, each))
    if algorithm and (found := writer.attribute(algorithm[0])) is not None:
        printer.print_string(", algorithm = ")
        print_body(printer, found)


def _parse_dot_dimensions(reader: OperationReader, arguments: Sequence[Element]) -> None:

    parser = reader.parser

    def pair() -> tuple[tuple[int, ...], tuple[int, ...]]:
        parser.parse_punctuation("=")
        lists = []
        for index in range(2):
            if index:
                parser.parse_keyword("x")
            lists.append(tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)))
        return lists[0], lists[1]

    values: dict[str, tuple[int, ...]] = {}
    if parser.parse_optional_keyword("batching_dims") or parser.parse_optional_keyword("batch_dims"):
        values["lhsBatchingDimensions"], values["rhsBatchingDimensions"] = pair()
        parser.parse_punctuation(",")
    parser.parse_keyword("contracting_dims")
    values["lhsContractingDimensions"], values["rhsContractingDimensions"] = pair()
    kind = attribute_class("stablehlo.dot", is_type=False)
    assert kind is not None
    order = [parameter.name for parameter in kind.rows[0].parameters]
    reader.attributes[names_of(arguments)[0]] = kind(tuple((key, values[key]) for key in order if values.get(key)))


def _print_dot_dimensions(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    attribute: Any = writer.attribute(names_of(arguments)[0])

    def pair(kind: str) -> str:
        return " x ".join(str([*(attribute.value(f"{side}{kind}Dimensions") or ())]) for side in ("lhs", "rhs"))

    if attribute.value("lhsBatchingDimensions"):
        writer.printer.print_string(f"batching_dims = {pair('Batching')}, ")
    writer.printer.print_string(f"contracting_dims = {pair('Contracting')}")


def _parse_convolution_dimensions(reader: OperationReader, arguments: Sequence[Element]) -> None:

    kind = attribute_class("stablehlo.conv", is_type=False)
    assert kind is not None
    reader.attributes[names_of(arguments)[0]] = kind(tuple(parse_convolution_dimensions(reader.parser).items()))


def _print_convolution_dimensions(writer: OperationWriter, arguments: Sequence[Element]) -> None:

    attribute: Any = writer.attribute(names_of(arguments)[0])
    writer.printer.print_string(convolution_dimensions_text(dict(attribute.data)))


_WINDOW_KEYWORDS = ("stride", "pad", "lhs_dilate", "rhs_dilate", "reverse")


def _parse_window(reader: OperationReader, arguments: Sequence[Element]) -> None:
    parser, names = reader.parser, dict(zip(_WINDOW_KEYWORDS, names_of(arguments), strict=True))
    while (keyword := parser.parse_optional_identifier()) is not None:
        if keyword not in names:
            parser.raise_error(f"Unexpected keyword {keyword}")
        parser.parse_punctuation("=")
        reader.attributes[names.pop(keyword)] = _window_value(parser, keyword)
        if parser.parse_optional_punctuation(",") is None:
            return


def _window_value(parser: Any, keyword: str) -> Attribute:
    def integers() -> list[int]:
        return [*parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)]

    if keyword == "pad":
        rows = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, integers)
        if any(len(row) != 2 for row in rows):
            parser.raise_error("Expected array with 2 elements")
        type_ = TensorType(i64, [len(rows), 2])
        return DenseIntOrFPElementsAttr.from_list(type_, [value for row in rows for value in row])
    return DenseArrayBase.from_list(i1 if keyword == "reverse" else i64, integers())


def _print_window(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    texts = []
    for keyword, name in zip(_WINDOW_KEYWORDS, names_of(arguments), strict=True):
        attribute = writer.attribute(name)
        if attribute is None:
            continue
        if isinstance(attribute, DenseArrayBase):
            values: list[Any] = [
                abs(int(value)) if keyword == "reverse" else int(value) for value in numbers(attribute)
            ]
        else:
            flat = [*_elements(attribute)]
            values = [flat[at : at + 2] for at in range(0, len(flat), 2)]
        texts.append(f"{keyword} = {values}")
    writer.printer.print_string(", ".join(texts))


def _elements(attribute: Attribute) -> Sequence[int]:
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        return [int(value) for value in attribute.get_values()]
    splat: Any = attribute
    return [splat.element.value.data] * splat.type.get_shape()[0] * 2


def _parse_exponent_mantissa(reader: OperationReader, arguments: Sequence[Element]) -> None:
    position = reader.parser.pos
    word = reader.parser.parse_identifier()
    if (match := re.fullmatch(r"e(\d+)m(\d+)", word)) is None:
        reader.parser.raise_error(f"expected exponent mantissa in format e#m#, saw {word}", position)
    for name, digits in zip(names_of(arguments), match.groups(), strict=True):
        reader.attributes[name] = IntegerAttr(int(digits), i32)


def _print_exponent_mantissa(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    exponent, mantissa = (writer.attribute(name) for name in names_of(arguments))
    assert isinstance(exponent, IntegerAttr)
    assert isinstance(mantissa, IntegerAttr)
    writer.printer.print_string(f"e{exponent.value.data}m{mantissa.value.data}")


def _parse_stripped_shardings(reader: OperationReader, arguments: Sequence[Element]) -> None:
    """``[<@mesh, ...>, ...]``: a sharding per value without its brackets."""
    parser = reader.parser
    kind = attribute_class("sdy.sharding_per_value", is_type=False)
    assert kind is not None
    one = syntax_of("TensorShardingAttr", "sdy")
    found = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: one.parse(parser))
    reader.attributes[names_of(arguments)[0]] = kind((("shardings", tuple(found)),) if found else ())


def _print_stripped_shardings(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    attribute: Any = writer.attribute(names_of(arguments)[0])
    with writer.printer.in_square_brackets():
        writer.printer.print_list(attribute.value("shardings") or (), lambda each: print_body(writer.printer, each))


def _parse_region_without_label(reader: OperationReader, arguments: Sequence[Element]) -> None:
    parser = reader.parser
    found = parser.parse_comma_separated_list(parser.Delimiter.PAREN, _argument(parser))
    reader.set_regions(names_of(arguments)[0], [parser.parse_region(found)])


def _argument(parser: Any) -> Callable[[], Any]:
    def parse() -> Any:
        argument = parser.parse_argument()
        argument.location = parser.parse_optional_location()
        return argument

    return parse


def _print_region_without_label(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    region = writer.regions_of(names_of(arguments)[0])[0]
    with writer.printer.in_parens():
        writer.printer.print_list(region.block.args, writer.printer.print_block_argument)
    writer.printer.print_string(" ")
    writer.printer.print_region(region, print_entry_block_args=False)


def _parse_initial_value(reader: OperationReader, arguments: Sequence[Element]) -> None:
    reader.parser.parse_punctuation("=", " after symbol name")
    reader.attributes[names_of(arguments)[-1]] = reader.parser.parse_attribute()
    if reader.parser.parse_optional_punctuation(":") is not None:
        reader.parser.parse_type()  # MLIR reads one behind an attribute of a dialect, and this attribute keeps none


def _print_initial_value(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    writer.printer.print_string("= ")
    value = writer.attribute(names_of(arguments)[-1])
    assert value is not None
    writer.printer.print_attribute(value)


def _parse_type_and_value(reader: OperationReader, arguments: Sequence[Element]) -> None:
    type_name, value_name = names_of(arguments)
    found = reader.parser.parse_type()
    reader.attributes[type_name] = found
    if reader.parser.parse_optional_punctuation("=") is None:
        return
    value = reader.parser.parse_attribute()
    if isinstance(value, IntegerAttr) and value.type == i64:
        integer_type: Any = found
        value = IntegerAttr(value.value.data, integer_type)
    reader.attributes[value_name] = value


def _print_type_and_value(writer: OperationWriter, arguments: Sequence[Element]) -> None:
    type_, value = (writer.attribute(name) for name in names_of(arguments))
    assert type_ is not None
    writer.printer.print_attribute(type_)
    if value is not None:
        writer.printer.print_string(" = ")
        writer.printer.print_attribute(value)


DIRECTIVES = {
    "SameOperandsAndResultType": OperationDirective(_parse_same_types, _print_same_types),
    "VariadicSameOperandsAndResultType": OperationDirective(_parse_variadic_same_types, _print_same_types),
    "ComplexOpType": OperationDirective(_parse_complex_types, _print_function_type),
    "SelectOpType": OperationDirective(_parse_select_types, _print_select_types),
    "TupleOpType": OperationDirective(_parse_tuple_type, _print_result_type),
    "PairwiseOpType": OperationDirective(_parse_pairwise_types, _print_pairwise_types),
    "VariadicOperandWithAttribute": OperationDirective(_parse_operands_and_commas, _print_operands_and_commas),
    "CustomCallTarget": OperationDirective(_parse_symbol, _print_symbol),
    "SliceRanges": OperationDirective(_parse_slices, _print_slices),
    "PrecisionConfig": OperationDirective(_parse_precision, _print_precision),
    "PrecisionConfigAndAlgorithm": OperationDirective(_parse_precision, _print_precision),
    "DotDimensionNumbers": OperationDirective(_parse_dot_dimensions, _print_dot_dimensions),
    "ConvolutionDimensions": OperationDirective(_parse_convolution_dimensions, _print_convolution_dimensions),
    "WindowAttributes": OperationDirective(_parse_window, _print_window),
    "ExponentMantissa": OperationDirective(_parse_exponent_mantissa, _print_exponent_mantissa),
    "StrippedTensorShardingPerValueAttr": OperationDirective(_parse_stripped_shardings, _print_stripped_shardings),
    "SingleBlockRegionNoBlockId": OperationDirective(_parse_region_without_label, _print_region_without_label),
    "EmitPyGlobalOpInitialValue": OperationDirective(_parse_initial_value, _print_initial_value),
    "EmitCGlobalOpTypeAndInitialValue": OperationDirective(_parse_type_and_value, _print_type_and_value),
}
"""Name of a directive -> its parser and printer."""
