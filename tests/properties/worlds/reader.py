"""Writes expressions and statements that read numbers of the values of a world."""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass, replace

from tests.properties.worlds import forms
from tests.properties.worlds.classes import BASES
from tests.properties.worlds.shapes import (
    Choice,
    Function,
    Instance,
    Klass,
    Mapping,
    Members,
    Number,
    Sequence,
    Shape,
)
from tests.properties.worlds.world import Statement

LITERALS = ("2.0", "3.0", "0.5", "4.0", "1.5", "2", "3", "1", "1.0", "True", "0.0", "-2.0", "0.25", "6.0")
_RARE = ("np.float32(2.0)", "np.int64(3)", "np.float64(0.5)", "fractions.Fraction(1, 2)", "decimal.Decimal(2)")
DEPTH = 2


@dataclass(frozen=True)
class Value:
    """A readable object of the main module, as an expression."""

    text: str
    shape: Shape


class Reader:
    """Knows the defined values; the draws decide everything.

    Attributes:
        values: What can be read.
        tags: The forms of reading that were used.
    """

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.values: list[Value] = []
        self.tags: list[str] = []

    def literal(self) -> str:
        """A number."""
        return self.draw.choice(_RARE if self.draw.random() < 0.03 else LITERALS)

    def some_number(self, depth: int, *, helper: bool = False) -> str:
        """A number computed from earlier definitions, or a literal."""
        usable = [value for value in self.values if not isinstance(value.shape, Choice)]
        if helper:  # the helper module has only its own numbers
            numbers = [value for value in usable if value.text.startswith("wh.") and isinstance(value.shape, Number)]
            usable = [Value(value.text.removeprefix("wh."), value.shape) for value in numbers]
        if not usable or self.draw.random() < 0.3:
            return self.literal()
        value = self.draw.choice(usable)
        return self.reading(value.text, value.shape, depth)

    def reading(self, text: str, shape: Shape, depth: int) -> str:
        """An expression that reads a number of the value that `text` gives."""
        match shape:
            case Instance(klass):
                return self._instance_reading(text, klass, depth)
            case Sequence() | Mapping():
                return self._container_reading(text, shape, depth)
            case Members(items):
                return self.filled(self.draw.choice(forms.MEMBERS), text, k=self.draw.choice(items))
            case Function():
                return self.filled(self.draw.choice(forms.FUNCTIONS), text)
            case _:
                return self.filled(self.draw.choice(forms.NUMBERS) if depth > 0 else "{e}", text)

    def _container_reading(self, text: str, shape: Sequence | Mapping, depth: int) -> str:
        if isinstance(shape, Sequence):
            key, table = str(self.draw.choice([0, -1, shape.length - 1])), forms.SEQUENCES
        else:
            key, table = self.draw.choice(shape.keys), forms.MAPPINGS
        if self.draw.random() < 0.3:
            return self.reading(f"{text}[{key}]", shape.item, depth - 1)
        return self.filled(self.draw.choice(table), text, v=self.reading("v", shape.item, depth - 1), k=key)

    def _instance_reading(self, text: str, klass: Klass, depth: int) -> str:
        readings = [*klass.readings, *klass.class_readings] or ["3.0"]
        # Readings of members are drawn as often as all readings of the base.
        added = readings[: -len(BASES[klass.kind].readings) or None]
        form = self.draw.choice(added if added and self.draw.random() < 0.5 else readings)
        number = self.filled(form.replace("{c}", klass.name), text)
        return self.reading(f"({number})", Number(), 1) if depth > 0 and self.draw.random() < 0.3 else number

    def filled(self, form: str, text: str, **more: str) -> str:
        """A form with all placeholders filled."""
        self.tags.append(form)
        while "{n}" in form:
            form = form.replace("{n}", self.literal(), 1)
        while "{m}" in form:
            form = form.replace("{m}", self.some_number(0), 1)
        for name, value in more.items():
            form = form.replace(f"{{{name}}}", value)
        return form.replace("{e}", text).replace("{{", "{").replace("}}", "}")

    def statement(self, result: str, taken: Value, mode: str) -> Statement:
        """A statement of the program that assigns a `result`; `taken` is the value of `a` in the program's mode."""
        for _ in range(50):
            self.tags = []
            text = self._statement_text(taken, mode).replace("{r}", result)
            try:
                ast.parse(text)
            except SyntaxError:
                continue  # quotes inside an f-string
            return Statement(text, tuple(self.tags))
        return Statement(f"{result} = x", ())

    def _statement_text(self, taken: Value, mode: str) -> str:
        value = self.draw.choice(self.values)
        if mode not in {"function", "inner"} and self.draw.random() < 0.8:
            value = replace(taken, text="a")
        shape = value.shape
        if isinstance(shape, Choice):
            return self.filled(self.draw.choice(forms.CHOICES), value.text)
        if isinstance(shape, (Sequence, Mapping)) and self.draw.random() < 0.4:
            of_list = isinstance(shape, Sequence)
            form = self.draw.choice(forms.STATEMENTS_OF_SEQUENCES if of_list else forms.STATEMENTS_OF_MAPPINGS)
            key = "0" if isinstance(shape, Sequence) else self.draw.choice(shape.keys)
            return self.filled(form, value.text, v=self.reading("v", shape.item, 0), k=key)
        rare = self.draw.random() < 0.04
        form = self.draw.choice(forms.REFUSED_STATEMENTS if rare else forms.STATEMENTS)
        return self.filled(form, self.reading(value.text, shape, DEPTH))
