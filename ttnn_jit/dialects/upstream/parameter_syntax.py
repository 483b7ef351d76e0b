"""Values of parameters of attributes and types: how a text spells each type that C++ declares.

A value is an int, a float, a bool, a str (strings, and keywords of enums), an affine map, an attribute, or a tuple of
such.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.ir.affine import AffineMap
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.dialects.spelling.float_text import float_text
from ttnn_jit.dialects.ttcore import parse_keyword
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.process.dataclass import dataclass

_INTEGER = re.compile(r"u?int\d+_t|unsigned|size_t|int|long")
_TEMPLATE = re.compile(r"(ArrayRef|SmallVector|optional)<(.*?)(?:,\d+)?>$")


@dataclass(frozen=True)
class Syntax:
    """How values of one type are parsed and printed."""

    parse: Callable[[AttrParser], Any]
    print: Callable[[Printer, Any], None]


@cache
def syntax_of(cpp_type: str, dialect: str) -> Syntax:
    """The syntax of a type that a dialect's C++ names."""
    if template := _TEMPLATE.match(cpp_type):
        inner = syntax_of(template.group(2), dialect)
        return inner if template.group(1) == "optional" else _list_of(inner)
    if _INTEGER.fullmatch(cpp_type):
        return _INTEGERS
    if (simple := _SIMPLE.get(cpp_type.rpartition("::")[2])) is not None:
        return simple
    if (found := tables.attribute_of_class(cpp_type, dialect)) is not None:
        return _named(*found)
    if (cases := tables.enum_cases(cpp_type, dialect)) is not None:
        return _keyword(cases)
    return _TYPES if cpp_type.endswith("Type") else _ATTRIBUTES


def print_body(printer: Printer, value: Attribute) -> None:
    """Prints what follows an attribute's name."""
    if isinstance(value, ParametrizedAttribute):
        value.print_parameters(printer)
    elif isinstance(value, Data):
        value.print_parameter(printer)
    else:
        printer.print_attribute(value)


def print_stripped(printer: Printer, value: Attribute) -> None:
    """Prints a parameter that is an attribute of a known name: its alias, or what follows the name."""
    with_alias = getattr(printer, "print_alias_or", None)  # a printer of xDSL knows no aliases
    if with_alias is None:
        print_body(printer, value)
    else:
        with_alias(value, lambda: print_body(printer, value))


def _list_of(inner: Syntax) -> Syntax:
    def parse(parser: AttrParser) -> tuple[Any, ...]:
        if parser._current_token.text in {"]", ">", ")", "}"}:
            return ()
        return tuple(parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: inner.parse(parser)))

    def show(printer: Printer, values: tuple[Any, ...]) -> None:
        printer.print_list(values, lambda value: inner.print(printer, value))

    return Syntax(parse, show)


def _named(name: str, is_type: bool) -> Syntax:
    """An attribute that a table names: its body alone, or with the name before it."""

    def parse(parser: AttrParser) -> Attribute:
        if parser._current_token.kind in {MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT}:
            return parser.parse_attribute()
        body: Attribute = parser._parse_dialect_type_or_attribute_body(name, is_type, False, None)
        return body

    def show(printer: Printer, value: Attribute) -> None:
        if value.name == name:
            print_stripped(printer, value)
        else:
            printer.print_attribute(value)

    return Syntax(parse, show)


def _keyword(cases: tuple[str, ...]) -> Syntax:
    def parse(parser: AttrParser) -> str:
        return parse_keyword(parser, cases)

    return Syntax(parse, lambda printer, value: printer.print_string(value))


def _parse_string(parser: AttrParser) -> str:
    return parser.parse_str_literal()


def _print_bool(printer: Printer, value: bool) -> None:
    printer.print_string("true" if value else "false")


def _parse_map(parser: AttrParser) -> AffineMap:
    if parser.parse_optional_keyword("affine_map") is None:
        return parser.parse_affine_map()
    with parser.in_angle_brackets():
        return parser.parse_affine_map()


def _parse_type(parser: AttrParser) -> TypeAttribute:
    return parser.parse_type()


def _parse_string_attribute(parser: AttrParser) -> StringAttr:
    return StringAttr(parser.parse_str_literal())


def _print_float(printer: Printer, value: float) -> None:
    from xdsl.dialects.builtin import f64

    printer.print_string(float_text(float(value), f64))


_INTEGERS = Syntax(lambda parser: parser.parse_integer(), lambda printer, value: printer.print_string(str(value)))
_ATTRIBUTES = Syntax(lambda parser: parser.parse_attribute(), lambda printer, value: printer.print_attribute(value))
_TYPES = Syntax(_parse_type, lambda printer, value: printer.print_attribute(value))
_STRINGS = Syntax(_parse_string, lambda printer, value: printer.print_string_literal(value))
_SIMPLE = {
    "bool": Syntax(lambda parser: parser.parse_boolean(), _print_bool),
    "StringRef": _STRINGS,
    "string": _STRINGS,
    "StringAttr": Syntax(_parse_string_attribute, lambda printer, value: printer.print_string_literal(value.data)),
    "AffineMap": Syntax(_parse_map, lambda printer, value: printer.print_string(affine_map_text(value))),
    "APFloat": Syntax(lambda parser: float(parser.parse_number()), _print_float),
    "Attribute": _ATTRIBUTES,
    "Type": _TYPES,
}
