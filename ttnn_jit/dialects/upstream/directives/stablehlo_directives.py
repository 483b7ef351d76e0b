"""Directives of the attributes of StableHLO: slices, precision, dimensions and windows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute

from ttnn_jit.dialects.upstream.attribute_syntax import convolution_dimensions_text, parse_convolution_dimensions
from ttnn_jit.dialects.upstream.directives.directive import (
    OperationDirective,
    OperationReader,
    OperationWriter,
    names_of,
    numbers,
)
from ttnn_jit.dialects.upstream.formats import Element
from ttnn_jit.dialects.upstream.parameter_syntax import print_body
from ttnn_jit.dialects.upstream.table_attributes import attribute_class


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


OF_STABLEHLO = {
    "VariadicOperandWithAttribute": OperationDirective(_parse_operands_and_commas, _print_operands_and_commas),
    "CustomCallTarget": OperationDirective(_parse_symbol, _print_symbol),
    "SliceRanges": OperationDirective(_parse_slices, _print_slices),
    "PrecisionConfig": OperationDirective(_parse_precision, _print_precision),
    "PrecisionConfigAndAlgorithm": OperationDirective(_parse_precision, _print_precision),
    "DotDimensionNumbers": OperationDirective(_parse_dot_dimensions, _print_dot_dimensions),
    "ConvolutionDimensions": OperationDirective(_parse_convolution_dimensions, _print_convolution_dimensions),
    "WindowAttributes": OperationDirective(_parse_window, _print_window),
    "ExponentMantissa": OperationDirective(_parse_exponent_mantissa, _print_exponent_mantissa),
}
"""Name of a directive -> its parser and printer."""
