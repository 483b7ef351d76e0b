"""Writes a random world: definitions, values of many shapes, and a program that reads them."""

from __future__ import annotations

import random
from itertools import count

from tests.properties.worlds import makers
from tests.properties.worlds.class_writer import ClassWriter
from tests.properties.worlds.classes import BASES
from tests.properties.worlds.reader import DEPTH, Value
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
from tests.properties.worlds.world import Statement, World

_KEYS = ("'a'", "'b'", "1", "(1, 'a')", "2.5", "None", "True")
_ITEMS_OF_SETS = ("2.0", "3.0", "'relu'", "'neg'", "1")
_LISTS = ("[{}]", "[{}]", "[{}]", "[{}]", "({},)", "tuple([{}])", "collections.deque([{}])")
_MODES = (
    "function",
    "function",
    "function",
    "function",
    "argument",
    "argument",
    "method",
    "closure",
    "default",
    "keyword",
    "inner",
)
_RECEIVERS = frozenset({"plain", "dataclass", "module", "abstract", "meta", "generic", "made by new", "slots"})
_ARGUMENTS = frozenset({
    "dataclass", "frozen", "ordered", "factory", "named tuple", "enum", "int enum", "flag", "str enum", "float", "int",
    "str", "list", "tuple", "dict", "attribute dict", "gentle attribute dict",
})  # fmt: skip


class Writer(ClassWriter):
    """A world under construction."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(draw)
        self.names = count()
        self._main: list[str] = []
        self._helper: list[str] = []
        self._klasses: list[Klass] = []

    def world(self) -> World:
        """A world; its text is valid Python most of the time."""
        kinds = [self._number, self._klass, self._klass, self._klass, self._sequence, self._mapping, self._set]
        kinds += [self._function, self._function, self._choices, self._nested]
        for _ in range(self.draw.randint(2, 5)):
            self.draw.choice(kinds)()
        if all(isinstance(value.shape, Choice) for value in self.values):
            self._number()
        taken = self.draw.choice([value for value in self.values if not isinstance(value.shape, Choice)])
        mode = self._mode(taken)
        statements = tuple(self.statement(f"r{i}", taken, mode) for i in range(self.draw.randint(1, 3)))
        if mode == "argument" and any("a.cached" in statement.text for statement in statements):
            # A compiled function stores nothing in its arguments, where Python would store the computed property.
            statements = (Statement("r0 = x", ()),)
        return World(tuple(self._helper), tuple(self._main), statements, mode, taken.text)

    def _mode(self, taken: Value) -> str:
        mode = self.draw.choice(_MODES)
        if mode in {"argument", "default", "keyword"} and ("next(" in taken.text or not _is_argument(taken.shape)):
            return "function" if self.draw.random() < 0.9 else mode
        receiver = isinstance(taken.shape, Instance) and taken.shape.of.kind in _RECEIVERS
        return "closure" if mode == "method" and not receiver else mode

    # --- values -----------------------------------------------------------------------------------------------------

    def _define(self, prefix: str, form: str, shape: Shape, *inside: str, helper: bool = False) -> Value:
        """A value, and the definition of a new name by `form` with the texts `inside`."""
        name = f"{prefix}{next(self.names)}"
        (self._helper if helper else self._main).append(form.format(name, *inside))
        value = Value(f"wh.{name}" if helper else name, shape)
        self.values.append(value)
        return value

    def _number(self) -> Value:
        return self._define("G", "{0} = {1}", Number(), self.literal(), helper=self.draw.random() < 0.25)

    def _item(self) -> tuple[str, Shape]:
        """An expression that creates a new value, and its shape."""
        roll = self.draw.random()
        if roll < 0.35 or not self._klasses:
            return self.literal(), Number()
        if roll < 0.8:
            klass = self.draw.choice(self._klasses)
            return self._made(klass), Instance(klass)
        value = self.draw.choice(self.values)
        return value.text, value.shape

    def _made(self, klass: Klass) -> str:
        return self.draw.choice(klass.makes).replace("{n}", self.literal())

    def _again(self, text: str, shape: Shape) -> str:
        """Another value of the same shape."""
        if isinstance(shape, Instance):
            return self._made(shape.of)
        return self.literal() if isinstance(shape, Number) else text

    def _items(self, number: int) -> tuple[list[str], Shape]:
        text, shape = self._item()
        return [text, *(self._again(text, shape) for _ in range(number - 1))], shape

    def _sequence(self) -> Value:
        items, shape = self._items(self.draw.randint(1, 3))
        text = self.draw.choice(_LISTS).format(", ".join(items))
        return self._define("L", "{0} = {1}", Sequence(shape, len(items)), text)

    def _keys(self, chance: float, keys: list[str]) -> list[str]:
        """These keys and, with some probability, an object of a class of the world."""
        if not self._klasses or self.draw.random() >= chance:
            return keys
        klass = self.draw.choice(self._klasses)
        name = f"K{next(self.names)}"
        self._main.append(f"{name} = {self._made(klass)}")
        return [*keys, name]

    def _mapping(self) -> Value:
        keys = self._keys(0.25, self.draw.sample(_KEYS, self.draw.randint(1, 3)))
        items, shape = self._items(len(keys))
        inside = ", ".join(f"{key}: {item}" for key, item in zip(keys, items, strict=True))
        text = self.draw.choice(makers.MAPPINGS_MADE).format(inside)
        return self._define("D", "{0} = {1}", Mapping(shape, tuple(keys)), text)

    def _set(self) -> Value:
        items = self._keys(0.4, self.draw.sample(_ITEMS_OF_SETS, self.draw.randint(1, 3)))
        text = self.draw.choice(("{{{}}}", "frozenset([{}])")).format(", ".join(items))
        return self._define("S", "{0} = {1}", Members(tuple(items)), text)

    def _choices(self) -> Value:
        form = self.draw.choice(makers.CHOICES_MADE)
        name = self._define("ACT", form, Choice(), self.literal()).text
        self.values.pop()
        ways = (f"{name}[{name}_NAME]", f"{name}.get({name}_NAME)", f"{name}[f'{{{name}_NAME}}']", f"{name}['neg']")
        call = "()" if "_A, 'neg'" in form else ""
        self.values.append(Value(self.draw.choice(ways) + call, Choice()))
        return self.values[-1]

    def _nested(self) -> Value:
        """A namespace, a partial, a strange container: objects that hold others."""
        (text, other), shape = self._items(2)
        form, path = self.draw.choice(makers.NESTED_MADE)
        name = self._define("N", "{0} = {1}", shape, form.format(text, other)).text
        self.values[-1] = Value(path.format(name), Number() if "7.0" in path else shape)
        return self.values[-1]

    def _function(self) -> Value:
        helper = self.draw.random() < 0.3
        computed = self.some_number(DEPTH - 1, helper=helper)
        form = self.draw.choice(makers.RARE_FUNCTIONS_MADE if self.draw.random() < 0.1 else makers.FUNCTIONS_MADE)
        return self._define("f", form, Function(), computed, self.literal(), helper=helper)

    def _klass(self) -> Value:
        kind = self.draw.choice(sorted(BASES))
        parents = [klass for klass in self._klasses if klass.subclassable and "." not in klass.name]
        wanted = BASES[kind].subclassable and self.draw.random() < 0.5
        parent = self.draw.choice(parents) if parents and wanted else None
        name, helper = f"C{next(self.names)}", parent is None and self.draw.random() < 0.15
        text, made = self.class_text(name, kind, parent, helper=helper)
        (self._helper if helper else self._main).append(text)
        self._klasses.append(made)
        return self._define("I", "{0} = {1}", Instance(made), self._made(made))


def _is_argument(shape: Shape) -> bool:
    if isinstance(shape, (Sequence, Mapping)):
        return _is_argument(shape.item)
    return isinstance(shape, Number) or (isinstance(shape, Instance) and shape.of.kind in _ARGUMENTS)
