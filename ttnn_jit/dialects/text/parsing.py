"""Parser of modules: it accepts the text of this package's printer and of mlir-opt."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, IntegerType, LocationAttr, ModuleOp
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects.locations import location_attribute
from ttnn_jit.dialects.spelling.text_scan import scan
from ttnn_jit.dialects.verifier import InvalidModule, reason_of
from ttnn_jit.ops.public_names import names_within_one_edit

# mlir-opt defines aliases of op locations after the module that uses them; xDSL requires them before.
_LOCATION_ALIAS = re.compile(r"^#[A-Za-z_][\w$.-]*[ \t]*=[ \t]*loc\(.*\)[ \t\r]*$", re.MULTILINE)


_Parsed = TypeVar("_Parsed")


def _bracketed(depth: int) -> str:
    """A pattern of text in angle brackets, nested up to `depth` deep, without strings and comments."""
    inner = f"|{_bracketed(depth - 1)}" if depth else ""
    return rf'<(?:->|[^<>"/-]|-(?!>){inner})*+>'


_BRACKETED = re.compile(rf"[!#]?[A-Za-z_][\w.$]*+{_bracketed(5)}", re.ASCII)
"""A type or an attribute with a body, as a text spells it."""
_FUNCTION_TYPE = re.compile(rf'\([^()"]*\)\s*->\s*(?:\([^()"]*\)|!?[A-Za-z_][\w.$]*+(?:{_bracketed(3)})?)', re.ASCII)
_PROPERTIES = re.compile(r'<\{[^{}"]*\}>')
_LOCATION = re.compile(r'loc\((?:#[\w.$-]+|unknown|"[^"\\\n]*")\)', re.ASCII)


class SourceText:
    """A text under its name, with the definitions of location aliases moved to the front.

    Attributes:
        hoisted: The text with the definitions moved to its first line; other lines are unchanged.
    """

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]  # offsets of their first characters
        self._starts, self._origins = [], []  # of the pieces of `hoisted`: offsets there and in the text
        pieces: list[str] = []
        end = 0
        for match in _LOCATION_ALIAS.finditer(text):
            self._starts.append(end)
            self._origins.append(match.start())
            pieces.append(match.group().strip())
            end += len(pieces[-1]) + 1
        self._starts.append(end)
        self._origins.append(0)
        self.hoisted = " ".join([*pieces, _LOCATION_ALIAS.sub(lambda match: " " * len(match.group()), text)])

    def location(self, offset: int) -> Location:
        """The location in the original text of an offset of `hoisted`."""
        piece = bisect_right(self._starts, offset) - 1
        return self.location_in_text(self._origins[piece] + offset - self._starts[piece])

    def span(self, start: int, end: int) -> Location:
        """The location in the original text of a range of `hoisted`; its start alone if it spans lines."""
        first, last = self.location(start), self.location(end)
        is_part = first.line == last.line and first.column < last.column
        return replace(first, end_line=last.line, end_column=last.column) if is_part else first

    def location_in_text(self, offset: int) -> Location:
        """The location of an offset of the original text."""
        line = bisect_right(self._lines, offset)
        return Location(self._name, line, offset - self._lines[line - 1] + 1)


class UnknownOperationError(ParseError):
    """An operation that no dialect has.

    Args:
        name: Its name.
        near: Registered names within one typing error.
        span: Its position.
    """

    def __init__(self, name: str, near: Sequence[str], span: Span) -> None:
        super().__init__(span, f"Operation {name} is not registered")
        self.help = f"did you mean {' or '.join(f'`{each}`' for each in near)}?" if near else None


_LARGEST_WIDTH = 2**24 - 1
"""Bits of an integer, as in MLIR."""


class TextParser(Parser):
    """xDSL's parser with strings in UTF-8, and with default locations: an op's position in the text.

    mlir-opt escapes UTF-8 in strings, and gives ops the same locations. Equal texts of a type or an attribute in angle
    brackets are parsed once, which is sound because no alias has two definitions.
    """

    def __init__(self, context: Context, source: SourceText) -> None:
        super().__init__(context, source.hoisted)
        self._source = source
        self._location_was_said = False
        self._types: dict[str, TypeAttribute] = {}
        self._function_types: dict[str, FunctionType] = {}
        self._properties: dict[str, dict[str, Attribute]] = {}
        self._locations: dict[str, LocationAttr] = {}
        self._attributes: dict[str, Attribute] = {}

    def parse_optional_type(self) -> TypeAttribute | None:
        """The type at the parser's position, if there is one."""
        return self._parsed_once(self._types, super().parse_optional_type)

    def parse_optional_attribute(self) -> Attribute | None:
        """The attribute at the parser's position, if there is one."""
        parse = super().parse_optional_attribute
        if self._current_token.kind is not MLIRTokenKind.HASH_IDENT:
            return parse()
        return self._parsed_once(self._attributes, parse)

    def parse_function_type(self) -> FunctionType:
        """The function type at the parser's position."""
        found = self._parsed_once(self._function_types, super().parse_function_type, _FUNCTION_TYPE)
        assert found is not None, "there is one, or an error"
        return found

    def parse_optional_properties_dict(self) -> dict[str, Attribute]:
        """The properties at the parser's position."""
        parse = super().parse_optional_properties_dict
        if self._current_token.kind is not MLIRTokenKind.LESS:
            return parse()
        found = self._parsed_once(self._properties, parse, _PROPERTIES)
        return dict(found or ())

    def _parsed_once(
        self, known: dict[str, _Parsed], parse: Callable[[], _Parsed | None], pattern: re.Pattern[str] = _BRACKETED
    ) -> _Parsed | None:
        """The result of `parse` at the parser's position, cached by text.

        Args:
            known: Texts as `pattern` matches them, and their results.
            parse: Called if the text at the position is not known.
            pattern: What a text begins with; that of a type or an attribute ends where its first bracket is closed.
        """
        match = pattern.match(self.lexer.input.content, self.pos)
        if match is None:
            return parse()
        spelling = match.group()
        found = known.get(spelling)
        if found is not None:
            self._resume_from(match.end())
            return found
        found = parse()
        between = self.lexer.input.content[match.end() : self.pos]
        if found is not None and self.pos >= match.end() and not between.strip():
            known[spelling] = found
        return found

    def forget_texts(self) -> None:
        """Forgets the texts of types and attributes: an alias in them has another definition from here on."""
        for known in (self._types, self._function_types, self._properties, self._locations):
            known.clear()
        self._attributes.clear()

    def module(self) -> ModuleOp:
        """The module of the whole text."""
        try:
            return self.parse_module()
        except ParseError:
            raise
        except Exception as error:
            # xDSL raises various errors for invalid texts: an enum's ValueError, a number's OverflowError.
            raise InvalidModule(reason_of(error), location=self._source.location(self.pos)) from error

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """The op class of that name; xDSL's parser calls it when it has consumed the name."""
        found = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if found is not None:
            return found
        end = self.lexer.input.content.rfind(name, 0, self.pos) + len(name)
        raise UnknownOperationError(name, self._close_names(name), Span(end - len(name), end, self.lexer.input))

    def _close_names(self, name: str) -> list[str]:
        dialect, dot, last = name.partition(".")
        known = [op.name.partition(".")[2] for op in self.ctx.loaded_ops if op.name.partition(".")[0] == dialect]
        return [f"{dialect}{dot}{near}" for near in names_within_one_edit(last, known)]

    def parse_optional_str_literal(self) -> str | None:
        """The string at the parser's position, if there is one."""
        text = super().parse_optional_str_literal()
        if text is not None:
            return text
        position = self.pos
        raw = self.parse_optional_bytes_literal()
        if raw is None:
            return None
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.raise_error("a string is UTF-8", position)

    def parse_optional_location(self) -> LocationAttr | None:
        """The location at the parser's position, if there is one."""
        parse = super().parse_optional_location
        is_said = self._current_token.text == "loc"
        location = self._parsed_once(self._locations, parse, _LOCATION) if is_said else parse()
        self._location_was_said = location is not None
        return location

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        found = super()._parse_optional_integer_or_float_type()
        if isinstance(found, IntegerType) and found.width.data > _LARGEST_WIDTH:
            self.raise_error(f"integer bitwidth is limited to {_LARGEST_WIDTH} bits")
        return found

    def parse_operation(self) -> Operation:
        """The op at the parser's position; its location comes last in the text."""
        position = self.pos
        op = super().parse_operation()
        if not self._location_was_said:
            op.location = location_attribute(self._source.location(position))
        return op


def parse_module_text(text: str, name: str, context: Context) -> ModuleOp:
    """The module of `text`.

    Raises:
        InvalidModule: The text is not MLIR of the context's dialects.
    """
    source = SourceText(text, name)

    def refuse(reason: str, offset: int) -> NoReturn:
        raise InvalidModule(reason, location=source.location_in_text(offset))

    scan(text, refuse)
    try:
        return TextParser(context, source).module()
    except ParseError as error:
        help_text = error.help if isinstance(error, UnknownOperationError) else None
        location = source.span(error.span.start, error.span.end)
        raise InvalidModule(error.msg, location=location, help=help_text) from error
