"""Assembly formats of ODS: their text as a list of elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TypeAlias

from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Literal:
    """A keyword or punctuation."""

    text: str


@dataclass(frozen=True)
class Space:
    """Whitespace that is printed; "" for none where there would be some."""

    text: str


@dataclass(frozen=True)
class Variable:
    """``$name``."""

    name: str


@dataclass(frozen=True)
class Directive:
    """``attr-dict``, ``type(...)``, ``custom<name>(...)``.

    Attributes:
        name: Its name; for a custom one, the name in angle brackets with ``custom<`` before it.
    """

    name: str
    arguments: tuple[Element, ...] = ()


@dataclass(frozen=True)
class Optional:
    """``(then)?`` or ``(then) : (otherwise)?``.

    Attributes:
        anchor: The element that ``^`` marks: the part that it is in is printed if it is present, else the other one.
    """

    then: tuple[Element, ...]
    otherwise: tuple[Element, ...]
    anchor: Element | None

    def printed(self, *, is_present: bool) -> tuple[Element, ...]:
        """The part that is printed."""
        return self.then if is_present != (self.anchor in self.otherwise) else self.otherwise


Element: TypeAlias = "Literal | Space | Variable | Directive | Optional"

_WITHOUT_ARGUMENTS = {
    "attr-dict",
    "attr-dict-with-keyword",
    "prop-dict",
    "operands",
    "results",
    "regions",
    "successors",
    "params",
}
"""Directives that a group in parentheses may follow."""

_TOKEN = re.compile(
    r"""
    `(?P<literal>[^`]*)` | (?P<variable>\$\w+) | (?P<word>custom<\w+>|[\w-]+)
    | (?P<string>"(?:[^"\\]|\\.)*") | (?P<mark>[()?:,^|])
    """,
    re.VERBOSE,
)


@cache
def parsed_format(text: str) -> tuple[Element, ...]:
    """The elements of an assembly format."""
    return _Reader(text).elements()


class _Reader:
    """A recursive descent parser of one format."""

    def __init__(self, text: str) -> None:
        self._tokens = [*_tokens(text), ("", "")]
        self._at = 0
        self._anchor: Element | None = None

    def elements(self) -> tuple[Element, ...]:
        found: list[Element] = []
        while (element := self._element()) is not None:
            found.append(element)
        return tuple(found)

    def _take(self, mark: str) -> bool:
        if self._tokens[self._at] != ("mark", mark):
            return False
        self._at += 1
        return True

    def _element(self) -> Element | None:
        kind, text = self._tokens[self._at]
        if kind in {"", "string"} or (kind == "mark" and text != "("):
            return None
        self._at += 1
        element: Element
        if kind == "literal":
            element = Space(text) if not text.strip(" ") or text == "\\n" else Literal(text)
        elif kind == "variable":
            element = Variable(text[1:])
        elif kind == "word":
            element = Directive(text.removesuffix(">"), () if text in _WITHOUT_ARGUMENTS else self._arguments())
        else:
            return self._group()
        if self._take("^"):
            self._anchor = element
        return element

    def _arguments(self) -> tuple[Element, ...]:
        if not self._take("("):
            return ()
        found: list[Element] = []
        while not self._take(")"):
            kind, text = self._tokens[self._at]
            if kind == "string":
                self._at += 1
                found.append(Literal(text))
            elif (element := self._element()) is not None:
                found.append(element)
            elif not (self._take(",") or self._take("|")):
                raise ValueError(f"unexpected {text!r} in an assembly format")
        return tuple(found)

    def _group(self) -> Optional:
        outer, self._anchor = self._anchor, None
        then = self.elements()
        self._take(")")
        otherwise: tuple[Element, ...] = ()
        if self._take(":"):
            self._take("(")
            otherwise = self.elements()
            self._take(")")
        self._take("?")
        group = Optional(then, otherwise, self._anchor)
        self._anchor = outer
        return group


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if not text[at].isspace():
                raise ValueError(f"no assembly format: {text[at:]!r}")
            at += 1
            continue
        assert match.lastgroup is not None
        yield match.lastgroup, match.group(match.lastgroup)
        at = match.end()
