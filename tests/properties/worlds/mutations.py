"""Changes of a loaded world, found by walking its objects: statements that both copies of the world carry out."""

from __future__ import annotations

import enum
import functools
import random
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_NUMBERS = ("2.0", "3.0", "0.5", "4.0", "1.5", "5", "1", "True", "7.0", "-1.0", "None", "'neg'", "'abs'")
_OWN = frozenset({"wh", "program", "make_program", "ttnn", "torch", "np", "OTHER"})
_SHADOWED = (
    "len",
    "max",
    "sum",
    "float",
    "isinstance",
    "sorted",
    "map",
    "min",
    "getattr",
    "abs",
    "round",
    "range",
    "zip",
    "enumerate",
    "list",
    "str",
    "format",
    "filter",
    "any",
    "next",
    "iter",
    "hasattr",
    "int",
    "type",
)
_METHODS = ("__len__", "__bool__", "__eq__", "__lt__", "__add__", "__mul__", "__rmul__", "__radd__", "__float__",
            "__index__", "__getattr__", "__getitem__", "__iter__", "__contains__", "__call__", "__neg__", "__abs__",
            "__format__", "__str__", "__repr__", "__hash__", "__round__", "__getattribute__", "__int__", "__get__",
            "__missing__", "__instancecheck__", "__reversed__", "__bool__", "__len__", "__floor__", "__gt__")  # fmt: skip
_DEPTH = 6
_ROOT = re.compile(r"(?:(?:vars|list|type|dict\.keys)\()*(\w+)")


@dataclass(frozen=True)
class Mutation:
    """A statement, and the module in which it is carried out."""

    where: str
    text: str


@dataclass(frozen=True)
class Place:
    """Where an object stands, as an expression; whether a statement can assign to that."""

    text: str
    value: Any
    assignable: bool


def places(namespace: dict[str, Any]) -> list[Place]:
    """Everything that the names of a module lead to."""
    found: list[Place] = []
    seen: set[int] = set()
    for name, value in list(namespace.items()):
        foreign = isinstance(value, types.ModuleType) and name != "made"
        if name.startswith("__") or name in _OWN or foreign or getattr(value, "__module__", None) == "ttnn_jit.ttnn":
            continue
        found.append(Place(name, value, True))
        _walk(found, seen, name, value, 0)
    program = namespace.get("program")
    if program is not None:
        found += [place for place in _function_parts("program", program) if "__code__" not in place.text]
    return found


def _walk(found: list[Place], seen: set[int], text: str, value: Any, depth: int) -> None:
    if id(value) in seen or depth > _DEPTH or isinstance(value, (types.ModuleType, int, float, str, type(None))):
        return
    seen.add(id(value))
    try:
        parts = [*_parts(text, value)]
    except Exception:  # noqa: BLE001 - it answers whatever it likes
        return
    for place in parts:
        found.append(place)
        _walk(found, seen, place.text, place.value, depth + 1)


def _parts(text: str, value: Any) -> Iterator[Place]:
    if isinstance(value, type):
        if value.__module__.startswith("world"):
            yield from _class_parts(text, value)
        return
    if isinstance(value, types.FunctionType):
        if value.__module__.startswith("world"):
            yield from _function_parts(text, value)
        return
    if isinstance(value, functools.partial):
        yield Place(f"{text}.func", value.func, False)
        for i, item in enumerate(value.args):
            yield Place(f"{text}.args[{i}]", item, False)
        for name, item in value.keywords.items():
            yield Place(f"{text}.keywords[{name!r}]", item, True)
    yield from _item_parts(text, value)
    for name, item in list(getattr(value, "__dict__", {}).items()):
        if name.isidentifier() and not name.startswith(("__", "_parameters", "_buffers", "_modules")):
            yield Place(f"{text}.{name}", item, True)
    for name in vars(type(value)).get("__slots__", ()):
        if isinstance(name, str) and not name.startswith("__") and hasattr(value, name):
            yield Place(f"{text}.{name}", getattr(value, name), True)


def _item_parts(text: str, value: Any) -> Iterator[Place]:
    if isinstance(value, dict):
        for name, item in list(dict.items(value)):
            if type(name) in {str, int, float, bool, type(None), tuple}:
                yield Place(f"{text}[{name!r}]", item, True)
            else:
                position = [*dict.keys(value)].index(name) if type(name).__hash__ is object.__hash__ else 0
                yield Place(f"list(dict.keys({text}))[{position}]", name, False)
    elif isinstance(value, (list, tuple)):
        kind = list if isinstance(value, list) else tuple
        for i, item in enumerate(kind.__iter__(value)):
            yield Place(f"{text}[{i}]", item, isinstance(value, list))


def _class_parts(text: str, kind: type) -> Iterator[Place]:
    for name, member in list(vars(kind).items()):
        if isinstance(member, (staticmethod, classmethod)):
            yield Place(f"vars({text})[{name!r}].__func__", member.__func__, False)
        elif isinstance(member, property) and member.fget:
            yield Place(f"vars({text})[{name!r}].fget", member.fget, False)
        elif isinstance(member, functools.cached_property):
            yield Place(f"vars({text})[{name!r}].func", member.func, True)
        elif isinstance(member, types.FunctionType):
            yield Place(f"{text}.{name}", member, not name.startswith("__new__"))
        elif issubclass(kind, enum.Enum) and isinstance(member, kind):
            yield Place(f"{text}.{name}", member, False)
        elif not name.startswith("_") and not isinstance(
            member, (types.MemberDescriptorType, types.GetSetDescriptorType)
        ):
            yield Place(f"{text}.{name}", member, True)
    if type(kind) is not type and type(kind).__module__.startswith("world"):
        yield Place(f"type({text})", type(kind), False)


def _function_parts(text: str, function: types.FunctionType) -> Iterator[Place]:
    yield Place(f"{text}.__code__", function.__code__, True)
    for i, cell in enumerate(function.__closure__ or ()):
        if function.__code__.co_freevars[i] != "__class__":
            try:
                yield Place(f"{text}.__closure__[{i}].cell_contents", cell.cell_contents, True)
            except ValueError:
                continue
    for i, item in enumerate(function.__defaults__ or ()):
        yield Place(f"{text}.__defaults__[{i}]", item, False)
    for name, item in (function.__kwdefaults__ or {}).items():
        yield Place(f"{text}.__kwdefaults__[{name!r}]", item, True)
    for name, item in list(vars(function).items()):
        yield Place(f"{text}.{name}", item, True)


class Mutator:
    """Chooses changes of a world as it now is."""

    def __init__(
        self, draw: random.Random, main: dict[str, Any], helper: dict[str, Any], reached: frozenset[str] = frozenset()
    ) -> None:
        self.draw = draw
        self._spaces = {"main": main, "helper": helper}
        self._reached = reached

    def mutation(self) -> Mutation:
        """The next change; it may fail when it is carried out."""
        where = "helper" if self.draw.random() < 0.2 else "main"
        found = places(self._spaces[where])
        if self.draw.random() < 0.06 or not found:
            return Mutation(where, self.draw.choice([
                f"{self.draw.choice(_SHADOWED)} = lambda *a, **k: {self.number()}",
                f"{self.draw.choice(_SHADOWED)} = {self.draw.choice(('max', 'sum', 'len', 'abs', 'min'))}",
                f"globals().pop({self.draw.choice(_SHADOWED)!r}, None)", "UNREAD = 1.0",
                "operator = types.SimpleNamespace(**vars(operator))",
                "operator = types.SimpleNamespace(**{**vars(operator), 'attrgetter': lambda n: lambda o: 3.0})",
            ] if where == "main" else ["UNREAD = 2.0", "max = min"]))  # fmt: skip
        near = [place for place in found if _ROOT.match(place.text)[1] in self._reached]  # type: ignore[index]
        place = self.draw.choice(near if near and self.draw.random() < 0.9 else found)
        value = place.value
        leaf = isinstance(value, (int, float, str, type(None))) and type(value) in {int, float, str, bool, type(None)}
        if place.assignable and (leaf or self.draw.random() < 0.12) and not isinstance(value, types.CodeType):
            return Mutation(where, self.draw.choice(self.assignments(place, found)))
        options = self.changes(place, found)
        return Mutation(where, self.draw.choice(options) if options else f"{place.text} = {self.number()}")

    def number(self) -> str:
        return self.draw.choice(_NUMBERS)

    def assignments(self, place: Place, found: list[Place]) -> list[str]:
        """Statements that put something else where an object stands."""
        text, value = place.text, place.value
        if type(value) is str:
            return [f"{text} = 'neg'", f"{text} = 'abs'", f"{text} = 'relu'", f"{text} = 'other'"]
        alike = [other.text for other in found if type(other.value) is type(value) and other.text != text]
        made = [f"{text} = {self.number()}"] * 3 + [f"del {text}"] + [f"{text} = {other}" for other in alike[:6]]
        if not isinstance(value, (int, float, str, type(None))):
            made += [f"{text} = copy.copy({text})", f"{text} = copy.deepcopy({text})"]
        return made

    def changes(self, place: Place, found: list[Place]) -> list[str]:
        """Statements that change an object where it stands."""
        text, value, n = place.text, place.value, self.number
        made: list[str] = []
        if isinstance(value, list):
            made += [
                f"{text}.append({text}[0])",
                f"{text}.append({n()})",
                f"{text}.pop()",
                f"{text}.clear()",
                f"{text}.reverse()",
                f"{text}[0] = {n()}",
                f"{text}[0:1] = []",
                f"{text}.insert(0, {n()})",
                f"{text}[-1] = copy.copy({text}[-1])",
            ]
        elif isinstance(value, dict):
            made += [
                f"{text}['q'] = {n()}",
                f"{text}['zz'] = {n()}",
                f"{text}.clear()",
                f"{text}.popitem()",
                f"{text}[next(iter({text}))] = {n()}",
                f"{text}[next(iter({text}))] = {text}.pop(next(iter({text})))",
                f"{text}[6] = {n()}",
                f"{text}['missing'] = {n()}",
                f"{text}[{n()}] = 1.0",
            ]
        elif isinstance(value, set):
            made += [
                f"{text}.add({n()})",
                f"{text}.discard(2.0)",
                f"{text}.clear()",
                f"{text}.add('relu')",
                f"{text}.discard('relu')",
                f"{text}.pop()",
            ]
        elif isinstance(value, types.CodeType):
            function = text.removesuffix(".__code__")
            return [self.other_code(function)] * 3 + [
                f"{function}.__defaults__ = tuple(({n()} if type(d) in (int, float) else d) for d in {function}.__defaults__)"
            ]
        elif isinstance(value, types.FunctionType):
            if place.assignable:
                made += [f"{text} = lambda *a, **k: {n()}", f"{text} = lambda *a, **k: {n()}"]
            made += [
                self.other_code(text),
                f"{text}.__defaults__ = tuple(({n()} if type(d) in (int, float) else d) for d in {text}.__defaults__)",
                f"{text}.level = {n()}",
            ]
        elif isinstance(value, type):
            made += self.changes_of_class(text, value, found)
        elif not isinstance(value, (int, float, str, type(None), tuple, frozenset, property)) or type(value).__module__.startswith("world"):
            made += self.changes_of_instance(text, value, found)
        return made

    def other_code(self, function: str) -> str:
        """A function of the same parameters with other numbers in it."""
        n = self.draw.choice(("1", "2.5", "-2"))
        consts = f"tuple(c + {n} if type(c) in (int, float) else c for c in {function}.__code__.co_consts)"
        return f"{function}.__code__ = {function}.__code__.replace(co_consts={consts})"

    def changes_of_class(self, text: str, kind: type, found: list[Place]) -> list[str]:
        n = self.number
        names = [name for name, member in vars(kind).items() if not name.startswith("__") or callable(member)]
        names = [name for name in names if name not in {"__new__", "__init__"}]
        made = [f"{text}.extra = {n()}", f"{text}.q = {n()}", f"{text}.scale = {n()}"]
        for special in self.draw.sample(_METHODS, 3):
            made.append(f"{text}.{special} = lambda *a, **k: {n()}")
        for name in names:
            member = vars(kind)[name]
            if isinstance(member, property):
                made += [f"{text}.{name} = property(lambda self: {n()})", f"{text}.{name} = {n()}"]
            elif isinstance(member, (classmethod, staticmethod)):
                made.append(f"{text}.{name} = {type(member).__name__}(lambda *a, **k: {n()})")
            elif callable(member):
                made.append(f"{text}.{name} = lambda *a, **k: {n()}")
            else:
                made.append(f"{text}.{name} = {n()}")
            made.append(f"del {text}.{name}")
        if hasattr(kind, "register"):
            made += [f"{text}.register(str)", f"{text}.register(float)", f"{text}.register(Other)"]
        others = [place.text for place in found if isinstance(place.value, type) and place.text != text]
        made += [f"{text}.__bases__ = ({other},)" for other in others[:2]]
        made += [f"Other.extra = lambda self: {n()}", "del Other.extra", f"{text}.__name__ = 'CCC'"]
        if isinstance(kind, enum.EnumMeta):
            made += [f"object.__setattr__({text}.LOW, '_value_', {n()})", f"{text}.LOW.extra = {n()}"] * 2
        return made

    def changes_of_instance(self, text: str, value: Any, found: list[Place]) -> list[str]:
        n = self.number
        made = []
        own = [name for name in getattr(value, "__dict__", {}) if name.isidentifier() and not name.startswith("_")]
        inherited = [name for name in dir(type(value)) if not name.startswith("_") and name.isidentifier()]
        frozen = getattr(type(value), "__dataclass_params__", None)
        for name in [*own * 3, *inherited, "extra", "q", "option", "flag"]:
            if frozen is not None and frozen.frozen:
                made.append(f"object.__setattr__({text}, {name!r}, {n()})")
            elif callable(getattr(type(value), name, None)):
                made.append(f"{text}.{name} = lambda *a, **k: {n()}")
            else:
                made.append(f"{text}.{name} = {n()}")
        made += [f"del {text}.{name}" for name in own]
        alike = [place.text for place in found if isinstance(place.value, type) and place.value is not type(value)]
        made += [f"{text}.__class__ = {other}" for other in alike[:3]]
        return made
