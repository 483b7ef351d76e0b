"""Parsers and printers by hand, where C++ parses attributes: directives of formats, and whole bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttnn_jit.dialects.upstream.formats import Element, Variable
from ttnn_jit.dialects.upstream.parameter_syntax import print_body, syntax_of
from ttnn_jit.process.dataclass import dataclass

Values = dict[str, Any]


@dataclass(frozen=True)
class DirectiveSyntax:
    """A ``custom<...>`` directive in the format of an attribute.

    Attributes:
        parse: The parser, the arguments and the C++ types of parameters -> values of parameters.
        print: Prints the values.
    """

    parse: Callable[[AttrParser, Sequence[Element], Mapping[str, str]], Values]
    print: Callable[[Printer, Sequence[Element], Mapping[str, Any]], None]


@dataclass(frozen=True)
class BodySyntax:
    """The body of an attribute or type.

    Attributes:
        parse: The values of its parameters.
        print: Prints them.
    """

    parse: Callable[[AttrParser], Values]
    print: Callable[[Printer, Values], None]


def _names(arguments: Sequence[Element]) -> list[str]:
    return [each.name for each in arguments if isinstance(each, Variable)]


def parse_dimensions(parser: AttrParser) -> tuple[int, ...]:
    """``1x2x?``, or ``[]`` for none."""
    if parser.parse_optional_punctuation("[") is not None:
        parser.parse_punctuation("]")
        return ()
    negative = parser.parse_optional_punctuation("-") is not None
    found = parser.parse_dimension_list()
    if not found:
        parser.raise_error("expected a list of dimensions, as `1x2`")
    return (-found[0], *found[1:]) if negative else tuple(found)


def dimensions_text(values: Sequence[int]) -> str:
    """``1x2x?``."""
    return "x".join("?" if value == DYNAMIC_INDEX else str(value) for value in values) or "[]"


def _parse_dimension_list(parser: AttrParser, arguments: Sequence[Element], types: Mapping[str, str]) -> Values:  # noqa: ARG001
    return {_names(arguments)[0]: parse_dimensions(parser)}


def _print_dimension_list(printer: Printer, arguments: Sequence[Element], values: Mapping[str, Any]) -> None:
    printer.print_string(dimensions_text(values.get(_names(arguments)[0], ())))


def _parse_separate_dimensions(parser: AttrParser, arguments: Sequence[Element], types: Mapping[str, str]) -> Values:  # noqa: ARG001
    names, position = _names(arguments), parser.pos
    found = parse_dimensions(parser)
    if len(found) != len(names):
        parser.raise_error(f"expected {len(names)} numbers, got {len(found)}", position)
    return dict(zip(names, found, strict=True))


def _print_separate_dimensions(printer: Printer, arguments: Sequence[Element], values: Mapping[str, Any]) -> None:
    printer.print_string("x".join(str(values[name]) for name in _names(arguments)))


def parse_coordinate(parser: AttrParser) -> tuple[int, int]:
    """``(y, x)``."""
    with parser.in_parens():
        first = parser.parse_integer()
        parser.parse_punctuation(",")
        return first, parser.parse_integer()


def _parse_bracketed_coordinate(parser: AttrParser, arguments: Sequence[Element], types: Mapping[str, str]) -> Values:  # noqa: ARG001
    return {_names(arguments)[0]: parse_coordinate(parser)}


def _print_bracketed_coordinate(printer: Printer, arguments: Sequence[Element], values: Mapping[str, Any]) -> None:
    first, second = values[_names(arguments)[0]]
    printer.print_string(f"({first},{second})")


def _parse_coordinates(parser: AttrParser, arguments: Sequence[Element], types: Mapping[str, str]) -> Values:  # noqa: ARG001
    found = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_coordinate(parser))
    return {_names(arguments)[0]: tuple(found)}


def _print_coordinates(printer: Printer, arguments: Sequence[Element], values: Mapping[str, Any]) -> None:
    pairs = values.get(_names(arguments)[0], ())
    printer.print_string(f"[{', '.join(f'({first}, {second})' for first, second in pairs)}]")


DIRECTIVES = {
    "DimensionList": DirectiveSyntax(_parse_dimension_list, _print_dimension_list),
    "VargDimensionList": DirectiveSyntax(_parse_separate_dimensions, _print_separate_dimensions),
    "CoordBracketStyle": DirectiveSyntax(_parse_bracketed_coordinate, _print_bracketed_coordinate),
    "CoreCoordList": DirectiveSyntax(_parse_coordinates, _print_coordinates),
}
"""Name of a directive -> its syntax."""


def _parse_memory_config(parser: AttrParser) -> Values:
    """``<buffer type, memory layout, shard spec>``, all but the first optional."""
    values: Values = {}
    with parser.in_angle_brackets():
        values["bufferType"] = syntax_of("BufferTypeAttr", "ttnn").parse(parser)
        while parser.parse_optional_punctuation(",") is not None:
            if parser.parse_optional_keyword("ndShardSpec") is not None:
                parser.parse_punctuation("=")
                values["ndShardSpec"] = syntax_of("NDShardSpecAttr", "ttnn").parse(parser)
            elif "tensorMemoryLayout" not in values and _is_memory_layout(parser):
                values["tensorMemoryLayout"] = syntax_of("TensorMemoryLayoutAttr", "ttnn").parse(parser)
            else:
                values["shardSpec"] = syntax_of("ShardSpecAttr", "ttnn").parse(parser)
    return values


def _is_memory_layout(parser: AttrParser) -> bool:
    """Whether ``<keyword>`` or an attribute of memory layouts follows."""
    start = parser.pos
    try:
        found = syntax_of("TensorMemoryLayoutAttr", "ttnn").parse(parser)
    except Exception:  # noqa: BLE001 - xDSL raises various errors for invalid texts
        return False
    finally:
        parser._resume_from(start)
    return bool(found.name == "ttnn.tensor_memory_layout")


def _print_memory_config(printer: Printer, values: Values) -> None:
    with printer.in_angle_brackets():
        print_body(printer, values["bufferType"])
        for name in ("tensorMemoryLayout", "shardSpec"):
            if name in values:
                printer.print_string(", ")
                print_body(printer, values[name])
        if "ndShardSpec" in values:
            printer.print_string(", ndShardSpec = ")
            print_body(printer, values["ndShardSpec"])


def _parse_thread(parser: AttrParser) -> Values:
    """``<kind, @kernel, dm_core = N>``; the kernel and the core are optional."""
    values: Values = {}
    with parser.in_angle_brackets():
        values["threadType"] = syntax_of("ThreadType", "d2m").parse(parser)
        while parser.parse_optional_punctuation(",") is not None:
            if parser.parse_optional_keyword("dm_core") is not None:
                parser.parse_punctuation("=")
                values["dmCoreIndex"] = parser.parse_integer()
            else:
                values["kernelSymbol"] = parser.parse_attribute()
    return values


def _print_thread(printer: Printer, values: Values) -> None:
    with printer.in_angle_brackets():
        printer.print_string(values["threadType"])
        if "kernelSymbol" in values:
            printer.print_string(", ")
            printer.print_attribute(values["kernelSymbol"])
        if "dmCoreIndex" in values:
            printer.print_string(f", dm_core = {values['dmCoreIndex']}")


BY_HAND = {
    ("ttnn.memory_config", False): BodySyntax(_parse_memory_config, _print_memory_config),
    ("d2m.thread", False): BodySyntax(_parse_thread, _print_thread),
}
"""Name, and whether it is a type -> the syntax of its body."""
