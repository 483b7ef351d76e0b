"""Locations in the user's files, and the source lines that an error shows."""

from __future__ import annotations

import linecache
import types
from collections.abc import Iterator

from ttnn_jit.process.dataclass import dataclass

MAX_SHOWN_COLUMNS = 120
"""The part of a longer source line that an error shows."""

_MAX_DECORATOR_LINES = 100  # lines


@dataclass(frozen=True, slots=True)
class Location:
    """A span of source text: lines count from 1, columns from 1, as editors show them.

    ``column`` 0 means that only the line is known; ``end_column`` is exclusive. ``called_from`` is the location of the
    call of the helper function that has this location.
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    called_from: Location | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


def whole_line(file: str, line: int) -> Location:
    """The location of a line's text, without indentation and comment."""
    text = linecache.getline(file, line).partition("  #")[0].rstrip()
    if not text:
        return Location(file, line)
    return Location(file, line, len(text) - len(text.lstrip()) + 1, line, len(text) + 1)


def line_text(location: Location | None) -> str:
    """The text of a location's line, without indentation; empty if it cannot be read."""
    return "" if location is None else linecache.getline(location.file, location.line).strip()


def definition_of(code: types.CodeType) -> Location:
    """The line of the ``def`` or ``lambda`` that `code` was compiled from, after its decorators."""
    first = code.co_firstlineno
    for line in range(first, first + _MAX_DECORATOR_LINES):
        text = linecache.getline(code.co_filename, line).lstrip()
        if text.startswith(("def ", "async def ")):
            return whole_line(code.co_filename, line)
        if not text.startswith(("@", "#", ")")):
            break
    return whole_line(code.co_filename, first)


def start_of(code: types.CodeType) -> Location:
    """The line where the definition of `code` begins."""
    return Location(code.co_filename, code.co_firstlineno)


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """`code` and, recursively, the code of the functions that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def excerpt(location: Location) -> str:
    """The source line of `location` under its number, with carets below the span; "" if the file cannot be read."""
    text = linecache.getline(location.file, location.line).rstrip("\n")
    if not text:
        return ""
    prefix = f"{location.line:>5} | "
    same_line = location.end_line in {0, location.line}
    end = location.end_column - 1 if same_line and location.end_column else len(text)
    shown, start, end = _shown_part(text, max(0, location.column - 1), end)
    if not location.column:
        return f"{prefix}{shown}"
    # Tabs are kept so that the carets stand under the span whatever a tab's width is.
    lead = "\t".join(" " * _width(part) for part in shown[:start].split("\t"))
    return f"{prefix}{shown}\n{' ' * (len(prefix) - 2)}| {lead}{'^' * max(1, _width(shown[start:end]))}"


def source_text(location: Location) -> str:
    """The source text at `location`, or its first line; "" if the file cannot be read."""
    line = linecache.getline(location.file, location.line).rstrip("\n")
    start = max(0, location.column - 1)
    end = location.end_column - 1 if location.end_column and location.end_line in {0, location.line} else len(line)
    text = line[start:end].strip()
    return text if location.end_line in {0, location.line} else f"{text} ..."


def _width(text: str) -> int:
    """The width of `text` in columns of a terminal: 2 for a wide character, 0 for a combining one."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width  # few errors need it

    joining = {"Mn", "Me", "Cf"}
    return sum(1 + (east_asian_width(c) in {"W", "F"}) for c in text if category(c) not in joining)


def _shown_part(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The shown part of a long line around the span from `start` to `end`, and the span in it."""
    if len(text) <= MAX_SHOWN_COLUMNS:
        return text, start, end
    first = max(0, min(start - MAX_SHOWN_COLUMNS // 4, len(text) - MAX_SHOWN_COLUMNS))
    last = first + MAX_SHOWN_COLUMNS
    before, after = "..." if first else "", "..." if last < len(text) else ""
    moved = len(before) - first
    return f"{before}{text[first:last]}{after}", start + moved, min(end, last) + moved


def call_chain(location: Location) -> list[Location]:
    """`location` and the locations of the calls that lead to it, innermost first."""
    chain = [location]
    while (caller := chain[-1].called_from) is not None:
        chain.append(caller)
    return chain
