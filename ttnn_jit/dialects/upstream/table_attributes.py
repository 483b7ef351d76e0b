"""Attributes and types of the tables: one class per name, made when a text first names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar, TypeVar

from xdsl.dialects.builtin import MemRefLayoutAttr
from xdsl.ir import Attribute, Data, SpacedOpaqueSyntaxAttribute, TypeAttribute
from xdsl.ir.affine import AffineMap
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttnn_jit.dialects import context as compilers_context
from ttnn_jit.dialects.upstream import attribute_directives, attribute_syntax, tables
from ttnn_jit.dialects.upstream.formats import Directive, Element, Literal, Optional, Space, Variable, parsed_format
from ttnn_jit.dialects.upstream.parameter_syntax import syntax_of
from ttnn_jit.dialects.upstream.tables import AttributeRow

Parsed = TypeVar("Parsed")
_ALIASES = {"ttnn.ttnn_layout": "ttnn_layout", "ttcore.metal_layout": "layout", "ttcore.system_desc": "system_desc"}
"""Attribute -> the stem of its alias in texts."""
Values = tuple[tuple[str, Any], ...]


class TableAttribute(Data[Values]):
    """Base of the attributes and types of the tables: the values of parameters by name.

    A parameter that is absent, or empty where it may be, has no entry.

    Attributes:
        rows: The rows of the name, the newest version first.
    """

    rows: ClassVar[tuple[AttributeRow, ...]]

    def alias_stem(self) -> str:
        """The stem of the alias that tt-mlir prints; "" for none."""
        return _ALIASES.get(self.name, "")

    def value(self, name: str) -> Any:
        """The value of a parameter; None if it is absent."""
        return next((value for key, value in self.data if key == name), None)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Values:
        """The parameters in the syntax of the newest version that fits."""
        by_hand = attribute_syntax.BY_HAND.get((cls.name, issubclass(cls, TypeAttribute)))
        if by_hand is not None:
            return tuple(by_hand.parse(parser).items())
        found = first_that_parses(parser, [partial(_parse_row, parser, row) for row in cls.rows])
        if issubclass(cls, SpacedOpaqueSyntaxAttribute):
            _skip_last_comma(parser)
        return found

    def print_parameter(self, printer: Printer) -> None:
        """The parameters in the syntax of the version that has them all."""
        by_hand = attribute_syntax.BY_HAND.get((self.name, isinstance(self, TypeAttribute)))
        if by_hand is not None:
            by_hand.print(printer, dict(self.data))
            return
        row = self._row()
        _Writer(printer, row, dict(self.data)).elements(_format_of(row))

    def _row(self) -> AttributeRow:
        names = {name for name, _ in self.data}
        holding = [row for row in self.rows if _holds(row, names)]
        return min(holding, key=lambda row: len(row.parameters), default=self.rows[0])


def _holds(row: AttributeRow, names: set[str]) -> bool:
    """Whether a row has all these parameters, and they are all that it needs."""
    needed = {each.name for each in row.parameters if not each.default and not each.cpp_type.startswith("ArrayRef")}
    return needed <= names <= {parameter.name for parameter in row.parameters}


def first_that_parses(parser: AttrParser, ways: Sequence[Callable[[], Parsed]]) -> Parsed:
    """The result of the first way that parses; the parser goes back after each that does not.

    Raises:
        Exception: What the way that came farthest raised.
    """
    start = parser.pos
    farthest, failure = -1, None
    for way in ways:
        try:
            return way()
        except Exception as error:  # noqa: BLE001 - xDSL raises various errors for invalid texts
            if parser.pos > farthest:
                farthest, failure = parser.pos, error
            parser._resume_from(start)
    assert failure is not None
    raise failure


def _skip_last_comma(parser: AttrParser) -> None:
    """Skips a comma before the bracket that ends a body: MLIR does not read on behind the last parameter."""
    start = parser.pos
    if parser.parse_optional_punctuation(",") is not None and parser._current_token.text != ">":
        parser._resume_from(start)


@cache
def attribute_class(name: str, *, is_type: bool) -> type[TableAttribute] | None:
    """The class of an attribute or type; None if the tables have none of that name."""
    rows = tables.attribute_rows(name, is_type=is_type)
    if not rows:
        return None
    bases: list[type] = [TableAttribute]
    if is_type:
        bases.append(TypeAttribute)
    if any("MemRefLayoutAttrInterface" in row.traits for row in rows):
        bases.append(_Layout)
    form = _format_of(rows[0])
    if form and not _starts_with_bracket(form):
        bases.append(SpacedOpaqueSyntaxAttribute)
    return type(rows[0].cpp_class, tuple(bases), {"name": name, "rows": rows, "__doc__": f"``{name}``."})


def type_without_parameters(name: str) -> TypeAttribute:
    """The type of that name, which has no parameters."""
    declared = compilers_context().get_optional_type(name)
    if declared is not None:
        return declared()
    kind = attribute_class(name, is_type=True)
    assert kind is not None
    return kind(())  # type: ignore[return-value]  # a class of types


class _Layout(MemRefLayoutAttr):
    """A layout of a memref whose map is not known here."""

    def get_affine_map(self) -> AffineMap:
        """Refused: the map is C++."""
        raise NotImplementedError(f"the map of {self.name} is not in the tables")


def _starts_with_bracket(form: tuple[Element, ...]) -> bool:
    first = form[0]
    if isinstance(first, Optional):
        first = first.then[0]
    return isinstance(first, Literal) and first.text == "<"


def _format_of(row: AttributeRow) -> tuple[Element, ...]:
    return () if row.format == "C++" else parsed_format(row.format)


def _parse_row(parser: AttrParser, row: AttributeRow) -> Values:
    reader = _Reader(parser, row)
    reader.elements(_format_of(row))
    # A parameter that takes its default says nothing: an absent one and a given one are the same attribute.
    return tuple((name, value) for name, value in reader.values.items() if value is not None)


class _Reader:
    """Parses the body of one attribute by its format."""

    def __init__(self, parser: AttrParser, row: AttributeRow) -> None:
        self.parser = parser
        self.values: dict[str, Any] = {}
        self._types = {parameter.name: parameter.cpp_type for parameter in row.parameters}
        self._dialect = row.name.partition(".")[0]
        self._row = row

    def elements(self, form: Sequence[Element]) -> None:
        for element in form:
            self._element(element)

    def _element(self, element: Element) -> None:
        match element:
            case Literal():
                self.parser.parse_characters(element.text)
            case Variable():
                self._variable(element.name)
            case Optional():
                self._optional(element)
            case Directive():
                self._directive(element)
            case Space():
                pass

    def _variable(self, name: str) -> None:
        value = syntax_of(self._types[name], self._dialect).parse(self.parser)
        if value != ():
            self.values[name] = value

    def _optional(self, group: Optional) -> None:
        start, kept = self.parser.pos, dict(self.values)
        try:
            self.elements(group.then)
        except Exception:  # noqa: BLE001 - the group is absent if it does not parse
            self.parser._resume_from(start)
            self.values = kept
            self.elements(group.otherwise)

    def _directive(self, directive: Directive) -> None:
        names = [each.name for each in directive.arguments if isinstance(each, Variable)]
        if directive.name == "qualified":
            self._variable(names[0])
        elif directive.name == "struct":
            self._struct(directive)
        elif directive.name == "params":
            for index, name in enumerate(self._types):
                if index:
                    self.parser.parse_characters(",")
                self._variable(name)
        else:
            custom = attribute_directives.DIRECTIVES[directive.name.removeprefix("custom<")]
            parsed = custom.parse(self.parser, directive.arguments, self._types)
            self.values.update({name: value for name, value in parsed.items() if value != ()})

    def _struct(self, directive: Directive) -> None:
        """``name = value, ...`` in any order."""
        known = _struct_names(directive, self._types)
        while (name := self.parser.parse_identifier()) in known and name not in self.values:
            self.parser.parse_characters("=")
            self._variable(name)
            if self.parser._current_token.text != "," or not self._name_follows(known):
                return
            self.parser.parse_characters(",")
        self.parser.raise_error(f"expected one of {', '.join(known)}, got {name!r}")

    def _name_follows(self, known: Sequence[str]) -> bool:
        start = self.parser.pos
        self.parser.parse_characters(",")
        follows = self.parser._current_token.text in known
        self.parser._resume_from(start)
        return follows


def _struct_names(directive: Directive, types: Mapping[str, str]) -> list[str]:
    if any(isinstance(each, Directive) and each.name == "params" for each in directive.arguments):
        return [*types]
    found = []
    for each in directive.arguments:
        inner = each.arguments[0] if isinstance(each, Directive) else each
        assert isinstance(inner, Variable)
        found.append(inner.name)
    return found


class _Writer:
    """Prints the body of one attribute by its format."""

    def __init__(self, printer: Printer, row: AttributeRow, values: Mapping[str, Any]) -> None:
        self.printer = printer
        self.values = values
        self._types = {parameter.name: parameter.cpp_type for parameter in row.parameters}
        self._dialect = row.name.partition(".")[0]
        self._after_word = False
        self._after_comma = False
        self._after_value = False

    def elements(self, form: Sequence[Element]) -> None:
        for element in form:
            self._element(element)

    def _element(self, element: Element) -> None:
        match element:
            case Literal():
                self._literal(element.text)
            case Variable():
                self._variable(element.name)
            case Optional():
                anchor = element.anchor
                name = anchor.name if isinstance(anchor, Variable) else _variables(anchor)
                self.elements(element.printed(is_present=name in self.values))
            case Directive():
                self._directive(element)
            case Space():
                self.printer.print_string(element.text)
                self._after_word = False

    def _literal(self, text: str) -> None:
        is_index = text == "[" and self._after_value
        if (self._after_word and not is_index and text not in {">", ")", "]", ",", "}", ":", "<", "("}) or (
            text in {"<", "("} and self._after_comma
        ):
            self.printer.print_string(" ")
        self.printer.print_string(text)
        self._after_value = False
        self._after_comma = text == ","
        self._after_word = text not in {"<", "(", "[", "{"}

    def _variable(self, name: str) -> None:
        if self._after_word:
            self.printer.print_string(" ")
        self._after_word = True
        syntax_of(self._types[name], self._dialect).print(self.printer, self.values.get(name, ()))
        self._after_value = True

    def _directive(self, directive: Directive) -> None:
        if directive.name == "qualified":
            if self._after_word:
                self.printer.print_string(" ")
            self._after_word = True
            value = self.values[_variables(directive)]
            if isinstance(value, Attribute):
                self.printer.print_attribute(value)
            else:
                syntax_of(self._types[_variables(directive)], self._dialect).print(self.printer, value)
        elif directive.name == "struct":
            names = [name for name in _struct_names(directive, self._types) if name in self.values]
            for index, name in enumerate(names):
                self.printer.print_string(f"{', ' if index else ' ' if self._after_word else ''}{name} =")
                self._after_word = True
                self._variable(name)
        elif directive.name == "params":
            for index, name in enumerate(self._types):
                if index:
                    self._literal(",")
                self._variable(name)
        else:
            if self._after_word:
                self.printer.print_string(" ")
            custom = attribute_directives.DIRECTIVES[directive.name.removeprefix("custom<")]
            custom.print(self.printer, directive.arguments, self.values)
            self._after_word = True


def _variables(element: Element | None) -> str:
    """The first variable in a directive."""
    if isinstance(element, Variable):
        return element.name
    if isinstance(element, Directive):
        return next((name for each in element.arguments if (name := _variables(each))), "")
    return ""
