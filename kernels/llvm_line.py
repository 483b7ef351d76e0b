"""A line of LLVM text with its operands and its cost."""

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
    """The cost of a line on the common path of a chunk."""

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
        """The line with other operands."""
        body = self.template % operands if operands else self.template
        return f"{self.name} = {body}" if self.name else body


def usual_lines(code: Iterable[Line]) -> int:
    """The number of lines that every chunk executes."""
    return sum(line.work is not Work.NONE for line in code)
