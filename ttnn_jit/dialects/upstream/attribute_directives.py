"""The ``custom<...>`` directives in formats of attributes, which C++ parses: each has a parser and a printer here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir.affine import AffineMap
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.dialects.upstream.formats import Element, Literal, Variable
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


def _names(arguments: Sequence[Element]) -> list[str]:
    return [each.name for each in arguments if isinstance(each, Variable)]


def parse_dimensions(parser: AttrParser) -> tuple[int, ...]:
    """``1x2x?``; nothing, or ``[]``, for none."""
    if parser.parse_optional_punctuation("[") is not None:
        parser.parse_punctuation("]")
        return ()
    negative = parser.parse_optional_punctuation("-") is not None
    found = parser.parse_dimension_list()
    return (-found[0], *found[1:]) if negative and found else tuple(found)


def dimensions_text(values: Sequence[int]) -> str:
    """``1x2x?``."""
    return "x".join("?" if value == DYNAMIC_INDEX else str(value) for value in values)


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


_LARGEST_RANK = 1024
"""Of the identity: larger ones are a mistake, and would be written out."""


def _rank(parser: AttrParser) -> int:
    position = parser.pos
    rank = parser.parse_integer(allow_negative=False)
    if rank > _LARGEST_RANK:
        parser.raise_error(f"an affine map has at most {_LARGEST_RANK:,} dimensions here", position, parser.pos)
    return rank


def _parse_identity_map(parser: AttrParser, arguments: Sequence[Element], types: Mapping[str, str]) -> Values:  # noqa: ARG001
    """``map(4)``, the identity of four dimensions, or a map."""
    if parser.parse_optional_keyword("map") is None:
        return {_names(arguments)[0]: parser.parse_affine_map()}
    with parser.in_parens():
        return {_names(arguments)[0]: AffineMap.identity(_rank(parser))}


def _print_identity_map(printer: Printer, arguments: Sequence[Element], values: Mapping[str, Any]) -> None:
    shown = values[_names(arguments)[0]]
    is_identity = shown == AffineMap.identity(shown.num_dims)
    printer.print_string(f"map({shown.num_dims})" if is_identity else affine_map_text(shown))


def _parse_mesh_or_reference(parser: AttrParser, arguments: Sequence[Element], types: Mapping[str, str]) -> Values:  # noqa: ARG001
    if parser.parse_optional_keyword("mesh") is None:
        return {_names(arguments)[0]: parser.parse_attribute()}
    return {_names(arguments)[0]: syntax_of("MeshAttr", "sdy").parse(parser)}


def _print_mesh_or_reference(printer: Printer, arguments: Sequence[Element], values: Mapping[str, Any]) -> None:
    mesh = values[_names(arguments)[0]]
    if mesh.name == "sdy.mesh":
        printer.print_string("mesh")
        print_body(printer, mesh)
    else:
        printer.print_attribute(mesh)


def _parse_axes(parser: AttrParser) -> tuple[Any, ...]:
    one = syntax_of("AxisRefAttr", "sdy")
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.BRACES, lambda: one.parse(parser)))


def _print_axes(printer: Printer, axes: Sequence[Any]) -> None:
    with printer.in_braces():
        printer.print_list(axes, lambda axis: print_body(printer, axis))


def _parse_other_axes(parser: AttrParser, arguments: Sequence[Element], types: Mapping[str, str]) -> Values:  # noqa: ARG001
    """``, replicated={"a"}, unreduced=max{"b"}``; all optional."""
    replicated, unreduced, reduction = _names(arguments)
    values: Values = {reduction: "sum"}
    while parser.parse_optional_punctuation(",") is not None:
        if replicated not in values and parser.parse_optional_keyword("replicated") is not None:
            parser.parse_punctuation("=")
            values[replicated] = _parse_axes(parser)
        elif unreduced not in values and parser.parse_optional_keyword("unreduced") is not None:
            if parser.parse_optional_punctuation("=") is not None:
                values[reduction] = parser.parse_optional_identifier() or "sum"
            values[unreduced] = _parse_axes(parser)
        else:
            parser.raise_error("expected valid named axis list after comma")
    return values


def _print_other_axes(printer: Printer, arguments: Sequence[Element], values: Mapping[str, Any]) -> None:
    replicated, unreduced, reduction = _names(arguments)
    if replicated in values:
        printer.print_string(", replicated=")
        _print_axes(printer, values[replicated])
    if unreduced in values:
        printer.print_string(f", unreduced={values[reduction] if values[reduction] != 'sum' else ''}")
        _print_axes(printer, values[unreduced])


def _factor(parser: AttrParser) -> str:
    return parser.parse_identifier()


def _parse_factor_sizes(parser: AttrParser, arguments: Sequence[Element], types: Mapping[str, str]) -> Values:  # noqa: ARG001
    """``{i=2, j=4}``: the sizes of factors in the order of their letters."""

    def size() -> int:
        _factor(parser)
        parser.parse_punctuation("=")
        return parser.parse_integer()

    found = parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, size)
    return {_names(arguments)[0]: tuple(found or ())}


def _print_factor_sizes(printer: Printer, arguments: Sequence[Element], values: Mapping[str, Any]) -> None:
    sizes = values.get(_names(arguments)[0], ())
    if sizes:
        texts = (f"{_factor_name(index)}={size}" for index, size in enumerate(sizes))
        printer.print_string(f" {{{', '.join(texts)}}}")


def _factor_name(index: int) -> str:
    return chr(ord("i") + index) if index < 18 else f"z_{index - 17}"


def _keyword_of(arguments: Sequence[Element]) -> str:
    return next(each.text for each in arguments if isinstance(each, Literal)).strip('"\\')


def _parse_factors(parser: AttrParser, arguments: Sequence[Element], types: Mapping[str, str]) -> Values:  # noqa: ARG001
    """``reduction={i, j}``, if the keyword follows."""
    if parser.parse_optional_keyword(_keyword_of(arguments)) is None:
        return {}
    parser.parse_punctuation("=")
    found = parser.parse_comma_separated_list(parser.Delimiter.BRACES, lambda: _factor(parser))
    return {_names(arguments)[0]: tuple(found)}


def _print_factors(printer: Printer, arguments: Sequence[Element], values: Mapping[str, Any]) -> None:
    if factors := values.get(_names(arguments)[0]):
        printer.print_string(f" {_keyword_of(arguments)}={{{', '.join(factors)}}}")


def _parse_custom_rule(parser: AttrParser, arguments: Sequence[Element], types: Mapping[str, str]) -> Values:  # noqa: ARG001
    if parser.parse_optional_punctuation(",") is None:
        return {}
    parser.parse_keyword("custom")
    return {_names(arguments)[0]: True}


def _print_custom_rule(printer: Printer, arguments: Sequence[Element], values: Mapping[str, Any]) -> None:
    if values.get(_names(arguments)[0]):
        printer.print_string(", custom")


DIRECTIVES = {
    "IdentityAffineMap": DirectiveSyntax(_parse_identity_map, _print_identity_map),
    "MeshOrRef": DirectiveSyntax(_parse_mesh_or_reference, _print_mesh_or_reference),
    "ReplicatedAndUnreducedAxes": DirectiveSyntax(_parse_other_axes, _print_other_axes),
    "FactorSizes": DirectiveSyntax(_parse_factor_sizes, _print_factor_sizes),
    "FactorsWithType": DirectiveSyntax(_parse_factors, _print_factors),
    "IsCustomRule": DirectiveSyntax(_parse_custom_rule, _print_custom_rule),
    "DimensionList": DirectiveSyntax(_parse_dimension_list, _print_dimension_list),
    "VargDimensionList": DirectiveSyntax(_parse_separate_dimensions, _print_separate_dimensions),
    "CoordBracketStyle": DirectiveSyntax(_parse_bracketed_coordinate, _print_bracketed_coordinate),
    "CoreCoordList": DirectiveSyntax(_parse_coordinates, _print_coordinates),
}
"""Name of a directive -> its syntax."""
