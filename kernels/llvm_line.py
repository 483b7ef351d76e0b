"""A line of LLVM text that knows its operands, and what of it later steps ask for."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple


class Literal(str):
    """A constant vector as an operand's text, with the type that the text of a splat leaves out.

    Attributes:
        vector: Its type, ``<16 x float>``.
        is_zero: All of its bits are 0: made without memory.
    """

    __slots__ = ("is_zero", "vector")
    vector: str
    is_zero: bool

    @staticmethod
    def of(text: str, vector: str, *, is_zero: bool = False) -> Literal:
        """The constant that `text` spells."""
        literal = Literal(text)
        literal.vector, literal.is_zero = vector, is_zero
        return literal


class Work(enum.Enum):
    """What a line usually costs a chunk."""

    NONE = "nothing: it is on a rare path, or says again what bits are there"
    ONE = "one instruction"
    DIVISION = "a division or a square root, beside which much else can be done"


class Line(NamedTuple):
    """An instruction or a label.

    Attributes:
        name: Of its result, ``%v7``; empty where it has none.
        template: Its text with ``%s`` for each operand; without operands the text as it is.
        operands: In the order of the text.
        work: What it costs.
    """

    name: str
    template: str
    operands: tuple[str, ...]
    work: Work

    @property
    def text(self) -> str:
        """The line."""
        return self.text_of(self.operands)

    def text_of(self, operands: tuple[str, ...]) -> str:
        """The line of other operands."""
        body = self.template % operands if operands else self.template
        return f"{self.name} = {body}" if self.name else body


def usual_lines(code: Iterable[Line]) -> int:
    """How many lines cost every chunk something."""
    return sum(line.work is not Work.NONE for line in code)
