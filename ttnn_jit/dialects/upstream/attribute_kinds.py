"""Attributes of operations in formats, by the kinds that ODS gives them; types that a constraint implies."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    f16,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.table_attributes import type_without_parameters

NAME_TOKENS = {MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT}
NUMBER_TYPES: dict[str, Any] = {
    "I1": i1,
    "I8": IntegerType(8),
    "I16": IntegerType(16),
    "I32": i32,
    "I64": i64,
    "SI8": IntegerType(8, Signedness.SIGNED),
    "SI16": IntegerType(16, Signedness.SIGNED),
    "SI32": IntegerType(32, Signedness.SIGNED),
    "SI64": IntegerType(64, Signedness.SIGNED),
    "UI8": IntegerType(8, Signedness.UNSIGNED),
    "UI16": IntegerType(16, Signedness.UNSIGNED),
    "UI32": IntegerType(32, Signedness.UNSIGNED),
    "UI64": IntegerType(64, Signedness.UNSIGNED),
    "F16": f16,
    "F32": f32,
    "F64": f64,
    "Index": IndexType(),
}
"""Constraint of ODS -> the only type that it takes."""

DENSE_ARRAYS = {"DenseBoolArrayAttr": i1, "DenseI8ArrayAttr": IntegerType(8), "DenseI16ArrayAttr": IntegerType(16)} | {
    "DenseI32ArrayAttr": i32,
    "DenseI64ArrayAttr": i64,
    "DenseF32ArrayAttr": f32,
    "DenseF64ArrayAttr": f64,
}


def implied_type(constraint: str) -> Attribute | None:
    """The only type that a constraint takes; None if it takes several."""
    if constraint in NUMBER_TYPES:
        known: Attribute = NUMBER_TYPES[constraint]
        return known
    builder = tables.constraint(constraint)[1]
    if "getType<" not in builder or not constraint.startswith("!"):
        return None
    return type_without_parameters(constraint[1:])


def attribute_of_kind(parser: Parser, kind: str, dialect: str) -> Attribute | None:
    """The attribute at the parser's position, in the syntax that formats give its kind; None for one without text."""
    kind = kind.partition("&")[0]
    if kind == "UnitAttr":
        return None
    if kind.startswith("#"):
        return _dialect_attribute(parser, kind[1:])
    if kind.startswith("enum:"):
        return _enum_value(parser, kind.removeprefix("enum:"), dialect)
    if kind in DENSE_ARRAYS and parser._current_token.text == "[":
        return _dense_array(parser, DENSE_ARRAYS[kind])
    if (number := NUMBER_TYPES.get(kind.removesuffix("Attr"))) is not None:
        return _number(parser, number)
    return _simple_attribute(parser, kind)


def _simple_attribute(parser: Parser, kind: str) -> Attribute:
    if kind == "SymbolNameAttr":
        return parser.parse_symbol_name()
    return parser.parse_type() if kind.startswith("Type") else parser.parse_attribute()


def _dialect_attribute(parser: Parser, name: str) -> Attribute:
    """An attribute of a dialect: its body alone, or with its name."""
    if parser._current_token.kind in NAME_TOKENS or name.startswith("builtin."):
        return parser.parse_attribute()
    body: Attribute = parser._parse_dialect_type_or_attribute_body(name, False, False, None)
    return body


def _enum_value(parser: Parser, cpp_name: str, dialect: str) -> Attribute:
    cases = tables.enum_values(cpp_name, dialect)
    position = parser.pos
    word = parser.parse_identifier_or_str_literal()
    if word not in cases:
        parser.raise_error(f"expected one of {', '.join(cases)}, got {word!r}", position)
    return IntegerAttr(cases[word], i32)


def _dense_array(parser: Parser, element: Any) -> Attribute:
    parse = parser.parse_number if element in {f32, f64} else parser.parse_integer
    values = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse)
    return DenseArrayBase.from_list(element, values)


def _number(parser: Parser, type_: Any) -> Attribute:
    """A number or boolean of a type that the format implies."""
    start = parser.pos
    value = parser.parse_number(allow_boolean=True)
    if type_ in {f16, f32, f64}:
        return FloatAttr(float(value), type_)
    if isinstance(value, float):
        parser.raise_error(f"expected a number of {type_}, got {value}", start)
    return IntegerAttr(value, type_)
