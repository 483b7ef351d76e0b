"""Writes a random world: definitions, values of many shapes, and a program that reads them."""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from tests.properties.worlds import forms
from tests.properties.worlds.classes import BASES, Base
from tests.properties.worlds.members import MEMBERS, Member
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
from tests.properties.worlds.world import Form, World

LITERALS = ("2.0", "3.0", "0.5", "4.0", "1.5", "2", "3", "1", "1.0", "True", "0.0", "-2.0", "0.25", "6.0")
_RARE = ("np.float32(2.0)", "np.int64(3)", "np.float64(0.5)", "fractions.Fraction(1, 2)", "decimal.Decimal(2)")
_NAMES = ("'relu'", "'neg'", "'abs'", "'square'")
DEPTH = 2


@dataclass(frozen=True)
class Value:
    """Something in the main module that can be read, as an expression."""

    text: str
    shape: Shape


class Writer:
    """One world in the making; what is drawn decides everything."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.names = count()
        self.main: list[str] = []
        self.helper: list[str] = []
        self.values: list[Value] = []
        self.klasses: list[Klass] = []
        self.tags: list[str] = []

    # --- the world --------------------------------------------------------------------------------------------------

    def world(self) -> World:
        for _ in range(self.draw.randint(2, 5)):
            self.definition()
        mode = self.draw.choice(["function"] * 4 + ["argument", "argument", "method", "closure"])
        if all(isinstance(value.shape, Choice) for value in self.values):
            self.number()
        taken = self.draw.choice([value for value in self.values if not isinstance(value.shape, Choice)])
        if mode == "argument" and not _is_argument(taken.shape) and self.draw.random() < 0.9:
            mode = "function"
        if mode == "method" and not _is_receiver(taken.shape):
            mode = "closure"
        statements = [self.statement(f"r{i}", taken, mode) for i in range(self.draw.randint(1, 3))]
        return World(tuple(self.helper), tuple(self.main), tuple(statements), mode, taken.text)

    def definition(self) -> None:
        kinds = [self.number, self.klass, self.klass, self.klass, self.sequence, self.mapping, self.members]
        kinds += [self.function, self.function, self.choices, self.nested]
        self.draw.choice(kinds)()

    def define(self, text: str, *, helper: bool = False) -> None:
        (self.helper if helper else self.main).append(text)

    def fresh(self, prefix: str) -> str:
        return f"{prefix}{next(self.names)}"

    # --- values -----------------------------------------------------------------------------------------------------

    def literal(self) -> str:
        return self.draw.choice(_RARE) if self.draw.random() < 0.03 else self.draw.choice(LITERALS)

    def number(self) -> Value:
        name, helper = self.fresh("G"), self.draw.random() < 0.25
        self.define(f"{name} = {self.literal()}", helper=helper)
        return self.add(Value(f"wh.{name}" if helper else name, Number()))

    def add(self, value: Value) -> Value:
        self.values.append(value)
        return value

    def item(self) -> tuple[str, Shape]:
        """An expression that makes a new thing, and its shape."""
        roll = self.draw.random()
        if roll < 0.35 or not self.klasses:
            return self.literal(), Number()
        if roll < 0.8:
            klass = self.draw.choice(self.klasses)
            return self.instance_text(klass), Instance(klass)
        value = self.draw.choice(self.values) if self.values else self.number()
        return value.text, value.shape

    def instance_text(self, klass: Klass) -> str:
        return self.draw.choice(klass.makes).replace("{n}", self.literal())

    def again(self, text: str, shape: Shape) -> str:
        return (
            self.instance_text(shape.of)
            if isinstance(shape, Instance)
            else text
            if not isinstance(shape, Number)
            else self.literal()
        )

    def sequence(self) -> Value:
        text, shape = self.item()
        length = self.draw.randint(1, 3)
        inside = ", ".join([text, *(self.again(text, shape) for _ in range(length - 1))])
        name = self.fresh("L")
        form = self.draw.choice(["[{}]"] * 4 + ["({},)", "tuple([{}])", "collections.deque([{}])"])
        self.define(f"{name} = {form.format(inside)}")
        return self.add(Value(name, Sequence(shape, length)))

    def mapping(self) -> Value:
        text, shape = self.item()
        keys = self.draw.sample(["'a'", "'b'", "1", "(1, 'a')", "2.5", "None", "True"], self.draw.randint(1, 3))
        if self.klasses and self.draw.random() < 0.25:
            key = self.fresh("K")
            self.define(f"{key} = {self.instance_text(self.draw.choice(self.klasses))}")
            keys.append(key)
        inside = ", ".join(f"{key}: {self.again(text, shape)}" for key in keys)
        name = self.fresh("D")
        form = self.draw.choice(["{{{}}}"] * 5 + ["collections.OrderedDict({{{}}})", "types.MappingProxyType({{{}}})",
                                 "collections.defaultdict(lambda: 7.0, {{{}}})", "collections.ChainMap({{{}}})",
                                 "collections.UserDict({{{}}})"])  # fmt: skip
        self.define(f"{name} = {form.format(inside)}")
        return self.add(Value(name, Mapping(shape, tuple(keys))))

    def members(self) -> Value:
        items = self.draw.sample(["2.0", "3.0", "'relu'", "'neg'", "1"], self.draw.randint(1, 3))
        if self.klasses and self.draw.random() < 0.4:
            key = self.fresh("K")
            self.define(f"{key} = {self.instance_text(self.draw.choice(self.klasses))}")
            items.append(key)
        name = self.fresh("S")
        self.define(f"{name} = {self.draw.choice(['{{{}}}', 'frozenset([{}])']).format(', '.join(items))}")
        return self.add(Value(name, Members(tuple(items))))

    def choices(self) -> Value:
        form = self.draw.choice([
            "{0} = {{'relu': ttnn.relu, 'neg': ttnn.neg, 'abs': ttnn.abs}}\n{0}_NAME = 'relu'",
            "def {0}_f(t): return ttnn.relu(t)\ndef {0}_g(t): return t * {1}\n{0} = {{'relu': {0}_f, 'neg': {0}_g, 'abs': ttnn.abs}}\n{0}_NAME = 'relu'",
            "class {0}_A:\n    def __init__(self, k): self.k = k\n    def __call__(self, t): return t * self.k\n{0} = {{'relu': {0}_A({1}), 'neg': {0}_A({1}), 'abs': ttnn.neg}}\n{0}_NAME = 'relu'",
            "class {0}_A:\n    def __init__(self, k={1}): self.k = k\n    def __call__(self, t): return t * self.k\n{0} = {{'relu': {0}_A, 'neg': {0}_A, 'abs': {0}_A}}\n{0}_NAME = 'relu'",
        ])  # fmt: skip
        name = self.fresh("ACT")
        self.define(form.format(name, self.literal()))
        call = "()" if "default" in form or "k={1}" in form else ""
        text = self.draw.choice(
            [f"{name}[{name}_NAME]", f"{name}.get({name}_NAME)", f"{name}[f'{{{name}_NAME}}']", f"{name}['neg']"]
        )
        return self.add(Value(text + call, Choice()))

    def nested(self) -> Value:
        """A namespace, a partial, a weird container: things that hold others."""
        text, shape = self.item()
        name = self.fresh("N")
        form, path = self.draw.choice([
            ("types.SimpleNamespace(scale={0}, extra={1})", "{0}.scale"),
            ("types.SimpleNamespace(inner=types.SimpleNamespace(scale={0}))", "{0}.inner.scale"),
            ("[[{0}], [{1}]]", "{0}[0][0]"), ("{{'a': {{'b': [{0}, {1}]}}}}", "{0}['a']['b'][0]"),
            ("[{{'k': {0}}}, {{'k': {1}}}]", "{0}[-1]['k']"), ("({0}, [{1}])", "{0}[0]"),
            ("types.SimpleNamespace(layers=[{0}, {1}])", "{0}.layers[-1]"), ("slice({0}, {1})", "{0}.start"),
            ("collections.namedtuple('P', 'a b')({0}, {1})", "{0}.a"), ("types.MappingProxyType({{'k': {0}}})", "{0}['k']"),
            ("functools.partial(max, {0}, {1})", "{0}.args[0]"), ("argparse.Namespace(scale={0})", "{0}.scale"),
            ("weakref.WeakValueDictionary()", "{0}.get('k', 7.0)"), ("types.ModuleType('made')", "getattr({0}, 'k', 7.0)"),
            ("(lambda k: lambda: k)({0})", "{0}()"), ("collections.UserList([{0}])", "{0}[0]"), ("iter([{0}])", "next({0})"),
            ("itertools.cycle([{0}, {1}])", "next({0})"), ("contextvars.ContextVar('v', default={0})", "{0}.get()"),
        ])  # fmt: skip
        self.define(f"{name} = {form.format(text, self.again(text, shape))}")
        if "default" in path or "7.0" in path or not isinstance(shape, Number):
            shape = Number() if "7.0" in path else shape
        return self.add(Value(path.format(name), shape))

    def function(self) -> Value:
        name, helper = self.fresh("f"), self.draw.random() < 0.3
        body = self.draw.choice(LITERALS) if helper and not self.helper else self.some_number(DEPTH - 1, helper=helper)
        rare = self.draw.random() < 0.1
        form = self.draw.choice(forms.RARE_FUNCTIONS_MADE if rare else forms.FUNCTIONS_MADE)
        self.define(form.format(name, body, self.literal()), helper=helper)
        self.tag(form)
        return self.add(Value(f"wh.{name}" if helper else name, Function()))

    # --- classes ----------------------------------------------------------------------------------------------------

    def klass(self) -> Value:
        kind = self.draw.choice(sorted(BASES))
        base = BASES[kind]
        name, helper = self.fresh("C"), self.draw.random() < 0.15
        parents = [klass for klass in self.klasses if klass.subclassable and "." not in klass.name]
        parent = self.draw.choice(parents) if parents and base.subclassable and self.draw.random() < 0.5 else None
        made = Klass(f"wh.{name}" if helper else name, kind, (), base.own, subclassable=base.subclassable)
        text = self.klass_text(name, base, made, parent, helper=helper)
        self.define(text, helper=helper)
        prefix = made.name
        made.makes = tuple(make.replace("{C}", prefix) for make in base.makes)
        made.readings += [(reading, Number()) for reading in base.readings]
        made.class_readings += [(reading, Number()) for reading in base.class_readings]
        self.klasses.append(made)
        instance = self.fresh("I")
        self.define(f"{instance} = {self.instance_text(made)}")
        return self.add(Value(instance, Instance(made)))

    def klass_text(self, name: str, base: Base, made: Klass, parent: Klass | None, *, helper: bool) -> str:
        fits = [member for member in MEMBERS if base.members and (not member.word or member.word not in base.unfit)]
        fits = [member for member in fits if (member.word == "_missing_") <= ("enum.Enum" in base.head)]
        fits = [member for member in fits if (member.word == "__missing__") <= ("(dict)" in base.head)]
        members = self.draw.sample(fits, self.draw.choice([0, 1, 1, 2, 3])) if fits else []
        before, body = [], [self.fill(line, name, made, helper=helper) for line in base.body]
        for member in members:
            i = next(self.names)
            own = self.fill(member.lines.replace("{i}", str(i)), name, made, parent=parent, helper=helper)
            before.append(self.fill(member.before.replace("{i}", str(i)), name, made, helper=helper))
            body += own.splitlines()
            made.readings += [
                (reading.replace("{i}", str(i)), Number()) for reading in member.readings if "{e}" in reading
            ]
            made.class_readings += [
                (reading.replace("{i}", str(i)), Number()) for reading in member.readings if "{e}" not in reading
            ]
        head = self.some_lines(base.head)
        head = self.fill(head, name, made, helper=helper)
        if parent:
            head = head.replace(f"class {name}:", f"class {name}({parent.name}):")
            made.readings += parent.readings
            made.class_readings += parent.class_readings
            body = [line for line in body if line not in base.body or self.draw.random() < 1]
            if self.draw.random() < 0.6:
                body = [
                    line
                    for line in body
                    if line.strip() not in {part.strip().replace("{{", "{").replace("}}", "}") for part in base.body}
                    and "__init__" not in line
                    and "self.items =" not in line
                    and "self.table =" not in line
                ]
        return "".join(before) + head + "\n" + "".join(f"    {line}\n" for line in body or ["pass"])

    def some_lines(self, head: str) -> str:
        """Of a metaclass's methods a few."""
        lines = head.split("\n")
        if not head.startswith("class Meta"):
            return head
        kept = self.draw.sample(lines[1:-1], 3)
        kept = [line for line in lines[1:-1] if line in kept and "@property" not in line and "level" not in line]
        return "\n".join([lines[0], "    level = 2.0", *kept, lines[-1]])

    def fill(self, text: str, name: str, made: Klass, *, parent: Klass | None = None, helper: bool = False) -> str:
        while "{B}" in text:
            text = text.replace("{B}", self.body(made, parent, helper=helper), 1)
        while "{B0}" in text:
            text = text.replace("{B0}", self.some_number(0, helper=helper), 1)
        while "{n}" in text:
            text = text.replace("{n}", self.literal(), 1)
        return text.replace("{C}", name).replace("{{", "{").replace("}}", "}")

    def body(self, made: Klass, parent: Klass | None, *, helper: bool) -> str:
        other = self.some_number(1, helper=helper)
        forms_ = [made.own, f"{made.own} * {other}", f"{made.own} + {self.literal()}", other]
        if parent is not None:
            calls = [text for text, _ in parent.readings if text.startswith("{e}.meth") or text.startswith("{e}.prop")]
            forms_ += [text.replace("{e}", "super()") for text in calls] * 2
        return f"({self.draw.choice(forms_)})"

    # --- reading ----------------------------------------------------------------------------------------------------

    def some_number(self, depth: int, *, helper: bool = False) -> str:
        """A number computed from what was defined before, or a literal."""
        usable = [value for value in self.values if not isinstance(value.shape, Choice)]
        if helper:  # the helper module knows its own numbers only
            usable = [
                Value(value.text.removeprefix("wh."), value.shape) for value in usable if value.text.startswith("wh.")
            ]
            usable = [value for value in usable if isinstance(value.shape, Number)]
        if not usable or self.draw.random() < 0.3:
            return self.literal()
        value = self.draw.choice(usable)
        return self.reading(value.text, value.shape, depth)

    def tag(self, text: str) -> None:
        self.tags.append(text)

    def reading(self, text: str, shape: Shape, depth: int) -> str:
        """An expression that reads a number of the value that `text` gives."""
        match shape:
            case Number():
                form = self.draw.choice(forms.NUMBERS) if depth > 0 else "{e}"
            case Function():
                form = self.draw.choice(forms.FUNCTIONS)
            case Instance(klass):
                return self.instance_reading(text, klass, depth)
            case Sequence(item, length):
                if self.draw.random() < 0.3:
                    index = self.draw.choice([0, -1, length - 1])
                    return self.reading(f"{text}[{index}]", item, depth - 1)
                form = self.draw.choice(forms.SEQUENCES)
                return self.filled(form, text, v=self.reading("v", item, depth - 1))
            case Mapping(item, keys):
                key = self.draw.choice(keys)
                if self.draw.random() < 0.3:
                    return self.reading(f"{text}[{key}]", item, depth - 1)
                form = self.draw.choice(forms.MAPPINGS)
                return self.filled(form, text, v=self.reading("v", item, depth - 1), k=key)
            case Members(items):
                return self.filled(self.draw.choice(forms.MEMBERS), text, k=self.draw.choice(items))
            case _:
                return self.literal()
        return self.filled(form, text)

    def filled(self, form: str, text: str, **more: str) -> str:
        self.tag(form)
        while "{n}" in form:
            form = form.replace("{n}", self.literal(), 1)
        while "{m}" in form:
            form = form.replace("{m}", self.some_number(0), 1)
        for name, value in more.items():
            form = form.replace(f"{{{name}}}", value)
        return form.replace("{e}", text).replace("{{", "{").replace("}}", "}")

    def instance_reading(self, text: str, klass: Klass, depth: int) -> str:
        readings = [*klass.readings, *klass.class_readings]
        # What a class adds is met as often as all that its base brings.
        added = readings[: -len(BASES[klass.kind].readings) or None]
        form, shape = self.draw.choice(added if added and self.draw.random() < 0.5 else readings or [("3.0", Number())])
        made = form.replace("{c}", klass.name)
        number = self.filled(made, text)
        if depth > 0 and self.draw.random() < 0.3:
            return self.reading(f"({number})", shape, 1)
        return number

    # --- the program ------------------------------------------------------------------------------------------------

    def statement(self, result: str, taken: Value, mode: str) -> Form:
        for _ in range(50):
            self.tags = []
            text = self.statement_text(taken, mode).replace("{r}", result)
            try:
                ast.parse(text)
            except SyntaxError:
                continue  # quotes inside an f-string
            return Form(text, tuple(self.tags))
        return Form(f"{result} = x", ())

    def statement_text(self, taken: Value, mode: str) -> str:
        value = self.draw.choice(self.values)
        if mode != "function" and self.draw.random() < 0.8:
            value = replace(taken, text="a")
        roll = self.draw.random()
        match value.shape:
            case Choice():
                return self.filled(self.draw.choice(forms.CHOICES), value.text)
            case Sequence(item) if roll < 0.4:
                form = self.draw.choice(forms.STATEMENTS_OF_SEQUENCES)
                return self.filled(form, value.text, v=self.reading("v", item, 0))
            case Mapping(item, keys) if roll < 0.4:
                form = self.draw.choice(forms.STATEMENTS_OF_MAPPINGS)
                return self.filled(form, value.text, v=self.reading("v", item, 0), k=self.draw.choice(keys))
        rare = self.draw.random() < 0.04
        return self.filled(
            self.draw.choice(forms.REFUSED_STATEMENTS if rare else forms.STATEMENTS),
            self.reading(value.text, value.shape, DEPTH),
        )


def _is_receiver(shape: Shape) -> bool:
    kinds = {"plain", "dataclass", "module", "abstract", "meta", "generic", "made by new", "slots"}
    return isinstance(shape, Instance) and shape.of.kind in kinds


def _is_argument(shape: Shape) -> bool:
    kinds = {"dataclass", "frozen", "ordered", "factory", "named tuple", "enum", "int enum", "flag", "str enum", "float",
             "int", "str", "list", "tuple", "dict", "attribute dict", "gentle attribute dict"}  # fmt: skip
    if isinstance(shape, (Sequence, Mapping)):
        return _is_argument(shape.item)
    return isinstance(shape, Number) or (isinstance(shape, Instance) and shape.of.kind in kinds)


def world_of(seed: int) -> World:
    """The world of a seed."""
    return Writer(random.Random(seed)).world()


_ = (Any, Member, _NAMES)
