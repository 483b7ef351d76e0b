# ruff: noqa: E501 - a form is one text
"""Changes of a loaded world: statements that run in both of its copies."""

from __future__ import annotations

import collections
import enum
import functools
import random
import re
import types
from dataclasses import dataclass
from typing import Any

from tests.properties.worlds.expressions import Expression, expressions, is_of_world

NUMBERS = ("2.0", "3.0", "0.5", "4.0", "1.5", "5", "1", "True", "7.0", "-1.0", "0.25", "6.0")
_ODD = ("None", "'neg'", "'abs'", "'2.5'", "np.float32(2.5)", "[2.0]", "0.0", "-0.0", "False")
_ODDLY = 0.12
_SHADOWED = ("len", "max", "sum", "float", "isinstance", "sorted", "map", "min", "getattr", "abs", "round", "range",
             "zip", "enumerate", "list", "str", "format", "filter", "any", "next", "iter", "hasattr", "int", "type",
             "property", "super", "operator", "math", "functools", "x")  # fmt: skip
_ROOT = re.compile(r"(?:(?:vars|list|type)\()*(\w+)")

_LIST = ("{e}.append({e}[0])", "{e}.append({n})", "{e}.pop()", "{e}.clear()", "{e}.reverse()", "{e}[0] = {n}",
         "{e}[0:1] = []", "{e}.insert(0, {n})", "{e}[-1] = copy.copy({e}[-1])", "{e}[:] = [*{e}]", "{e} += [{n}]",
         "{e}.sort(key=str)", "{e}[0], {e}[-1] = {e}[-1], {e}[0]")  # fmt: skip
_DICT = ("{e}['q'] = {n}", "{e}['zz'] = {n}", "{e}.clear()", "{e}.popitem()", "{e}[next(iter({e}))] = {n}",
         "{e}[next(iter({e}))] = {e}.pop(next(iter({e})))", "{e}[6] = {n}", "{e}['missing'] = {n}", "{e}[{n}] = 1.0",
         "{e}.update({{k: {n} for k in {e}}})", "{e}['k'] = {n}", "{e}['scale'] = {n}")  # fmt: skip
_SET = ("{e}.add({n})", "{e}.discard(2.0)", "{e}.clear()", "{e}.add('relu')", "{e}.discard('relu')", "{e}.pop()")
_DEQUE = ("{e}.append({n})", "{e}.popleft()", "{e}.rotate(1)", "{e}[0] = {n}")
_CONSTANTS = "tuple(c + {d} if type(c) in (int, float) else c for c in {e}.__code__.co_consts)"
_FUNCTION = (
    *[f"{{e}}.__code__ = {{e}}.__code__.replace(co_consts={_CONSTANTS})"] * 3,
    "{e}.__defaults__ = tuple(({n} if type(d) in (int, float) else d) for d in {e}.__defaults__)",
    "{e}.__defaults__ = ({n},)",
    "{e}.__kwdefaults__ = {{k: {n} for k in {e}.__kwdefaults__}}",
    "{e}.level = {n}",
    "{e}.__name__ = 'other'",
)
_INTS, _TEXTS = ("1", "3", "4"), ("'abc'", "'a'")
_SPECIAL = {
    "__len__": _INTS, "__bool__": ("True", "False"), "__eq__": ("True", "False"), "__lt__": ("True", "False"),
    "__gt__": ("True", "False"), "__add__": NUMBERS, "__mul__": NUMBERS, "__rmul__": NUMBERS, "__radd__": NUMBERS,
    "__float__": ("2.0", "0.25"), "__int__": _INTS, "__index__": _INTS, "__getattr__": NUMBERS, "__get__": NUMBERS,
    "__getitem__": NUMBERS, "__iter__": ("iter([2.0, 8.0])", "iter([4.0])"), "__contains__": ("True", "False"),
    "__call__": NUMBERS, "__neg__": NUMBERS, "__abs__": NUMBERS, "__format__": _TEXTS, "__str__": _TEXTS,
    "__repr__": _TEXTS, "__hash__": _INTS, "__round__": NUMBERS, "__getattribute__": NUMBERS, "__missing__": NUMBERS,
    "__instancecheck__": ("True", "False"), "__reversed__": ("iter([2.0])",), "__floor__": _INTS, "__sub__": NUMBERS,
    "__pos__": NUMBERS, "__matmul__": NUMBERS, "__truediv__": NUMBERS, "__pow__": NUMBERS, "__and__": NUMBERS,
    "__divmod__": NUMBERS, "__invert__": NUMBERS, "__complex__": ("2j + 3.0",), "__bytes__": ("b'abc'",),
    "__length_hint__": _INTS, "__mod__": NUMBERS, "__subclasscheck__": ("True", "False"),
}  # fmt: skip
"""Special methods that a change adds to a class, and their results."""
_CALLED_ON_ALL = ("__bool__", "__len__", "__getattr__", "__format__")
"""Special methods that statements of any world call."""


@dataclass(frozen=True)
class Mutation:
    """A statement.

    Attributes:
        where: The module in which it is carried out.
        text: The statement.
        known: Whether its text can be looked up, as that of a cell of a notebook can.
    """

    where: str
    text: str
    known: bool = True


class Mutator:
    """Draws changes of a world in its current state.

    Args:
        draw: Decides.
        main: The names of the main module.
        helper: Those of the helper module.
        reached: Names that the program leads to: what they lead to is changed most of the time.
    """

    def __init__(
        self, draw: random.Random, main: dict[str, Any], helper: dict[str, Any], reached: frozenset[str]
    ) -> None:
        self.draw = draw
        self._spaces = {"main": main, "helper": helper}
        self._reached = reached

    def mutation(self) -> Mutation:
        """The next change; it may fail when it is executed."""
        where = "helper" if self.draw.random() < 0.2 else "main"
        found = expressions(self._spaces[where])
        if self.draw.random() < 0.12 or not found:
            return Mutation(where, self._shadow())
        near = [each for each in found if _ROOT.match(each.text)[1] in self._reached]  # type: ignore[index]
        expression = self.draw.choice(near if near and self.draw.random() < 0.9 else found)
        options = self._changes(expression, found)
        if expression.assignable and (not options or self.draw.random() < 0.12):
            options = self._assignments(expression, found)
        chosen = self.draw.choice(options) if options else "UNREAD = {n}"
        return Mutation(where, self._filled(chosen, expression.text), self.draw.random() < 0.7)

    def _filled(self, text: str, expression: str) -> str:
        text = text.replace("{e}", expression).replace("{d}", self.draw.choice(("1", "2.5", "-2")))
        while "{n}" in text:
            text = text.replace("{n}", self.draw.choice(_ODD if self.draw.random() < _ODDLY else NUMBERS), 1)
        return text.replace("{{", "{").replace("}}", "}")

    def _shadow(self) -> str:
        """A change of the names that hide builtins, and of Python's own modules."""
        met = [name for name in _SHADOWED if name in self._reached]
        name = self.draw.choice(met if met and self.draw.random() < 0.7 else _SHADOWED)
        return self._filled(
            self.draw.choice(
                (
                    f"{name} = lambda *a, **k: {{n}}",
                    f"{name} = {self.draw.choice(('max', 'sum', 'len', 'abs', 'min'))}",
                    f"globals().pop({name!r}, None)",
                    f"__builtins__[{name!r}] = lambda *a, **k: {{n}}",
                    f"__builtins__[{name!r}] = {self.draw.choice(('max', 'sum', 'len', 'abs', 'min'))}",
                    "UNREAD = {n}",
                    "operator = types.SimpleNamespace(**vars(operator))",
                    "operator = types.SimpleNamespace(**{{**vars(operator), 'attrgetter': lambda n: lambda o: 3.0}})",
                    "wh.UNREAD = {n}",
                )
            ),
            "",
        )

    def _assignments(self, expression: Expression, found: list[Expression]) -> list[str]:
        """Statements that replace an object."""
        if type(expression.value) is str:
            return ["{e} = 'neg'", "{e} = 'abs'", "{e} = 'relu'", "{e} = 'other'", "{e} = 2.0"]
        alike = [
            each.text for each in found if type(each.value) is type(expression.value) and each.text != expression.text
        ]
        made = ["{e} = {n}"] * 4 + ["del {e}"] + [f"{{e}} = {other}" for other in alike[:4]]
        if not isinstance(expression.value, (int, float, str, type(None))):
            made += ["{e} = copy.copy({e})", "{e} = copy.deepcopy({e})"]
        return made

    def _changes(self, expression: Expression, found: list[Expression]) -> list[str]:
        """Statements that change an object in place."""
        value = expression.value
        if isinstance(value, type):
            return self._changes_of_class(value, found) if is_of_world(value) else []
        if isinstance(value, types.FunctionType):
            replaced = ["{e} = lambda *a, **k: {n}"] * 2 if expression.assignable else []
            return [*_FUNCTION, *replaced] if is_of_world(value) else replaced
        if isinstance(value, types.CodeType):
            return [text.replace("{e}", expression.text.removesuffix(".__code__")) for text in _FUNCTION[:3]]
        made = next((list(table) for kind, table in _TABLES if isinstance(value, kind)), [])
        if is_of_world(type(value)) or isinstance(value, types.SimpleNamespace):
            made += self._changes_of_instance(value, found)
        return made

    def _changes_of_class(self, kind: type, found: list[Expression]) -> list[str]:
        made = ["{e}.extra = {n}", "{e}.q = {n}", "{e}.scale = {n}", "{e}.__name__ = 'CCC'"]
        often = [name for name in _CALLED_ON_ALL if not hasattr(kind, name)]
        made += [_special("{e}", name, self.draw) for name in [*often, *self.draw.sample(sorted(_SPECIAL), 3)]]
        for name, member in vars(kind).items():
            made += _of_member(name, member, self.draw) * 2
        if "register" in dir(kind):
            made += [f"{{e}}.register({name})" for name in ("str", "float", "Other", "list")] * 2
        others = [each.text for each in found if isinstance(each.value, type) and each.value is not kind]
        made += [f"{{e}}.__bases__ = ({other},)" for other in others[:2]]
        made += ["Other.extra = lambda self: {n}", "del Other.extra"]
        if issubclass(kind, enum.Enum):
            made += ["{e}.LOW.extra = {n}", "{e}.LOW.q = {n}"] * 2
        if "__dataclass_fields__" in vars(kind):
            made += ["{e}.__init__.__defaults__ = ({n},)", "{e}.__init__ = lambda self, scale={n}, **k: setattr(self, 'scale', scale)",
                     "{e}.__dataclass_fields__['scale'].default = {n}"] * 2  # fmt: skip
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            made += ["{e}.__new__.__defaults__ = ({n}, {n})", "{e}._field_defaults['scale'] = {n}"] * 2
        return made

    def _changes_of_instance(self, value: Any, found: list[Expression]) -> list[str]:
        own = [name for name in getattr(value, "__dict__", {}) if name.isidentifier() and name[0] != "_"]
        kind = type(value)
        inherited = [name for name in dir(kind) if name[0] != "_" and is_of_world(kind) and name in _named(kind)]
        parameters = vars(kind).get("__dataclass_params__")
        frozen = parameters is not None and parameters.frozen
        made = [f"del {{e}}.{name}" for name in own]
        for name in [*own * 3, *inherited * 3, "extra", "q", "q", "option", "flag"]:
            made.append(f"object.__setattr__({{e}}, {name!r}, {{n}})" if frozen else f"{{e}}.{name} = {{n}}")
        made += [f"{{e}}.{name} = lambda *a, **k: {{n}}" for name in inherited]
        made += ["{e}.q = {n}"] * 4 if hasattr(kind, "__getattr__") else []
        alike = [each.text for each in found if isinstance(each.value, type) and each.value is not kind]
        return made + [f"{{e}}.__class__ = {other}" for other in alike[:3]] * 2


_TABLES: tuple[tuple[type, tuple[str, ...]], ...] = (
    (list, _LIST), (dict, _DICT), (set, _SET), (collections.deque, _DEQUE),
)  # fmt: skip


def _named(kind: type) -> set[str]:
    return {name for cls in kind.__mro__ if is_of_world(cls) for name in vars(cls)}


def _special(text: str, name: str, draw: random.Random) -> str:
    made = draw.choice(_SPECIAL[name])
    if name == "__getitem__":  # otherwise its iteration would never end
        made = f"{made} if a[1] != 1 else [][1]"
    return f"{text}.{name} = lambda *a, **k: {made}"


def _of_member(name: str, member: Any, draw: random.Random) -> list[str]:
    """Changes of one name in a class."""
    if name in {"__new__", "__init__", "__dict__", "__weakref__", "__module__", "__doc__", "__slots__"}:
        return []
    if isinstance(member, (property, functools.cached_property)):
        return [f"{{e}}.{name} = property(lambda self: {{n}})", f"{{e}}.{name} = {{n}}", f"del {{e}}.{name}"]
    if isinstance(member, (classmethod, staticmethod)):
        return [f"{{e}}.{name} = {type(member).__name__}(lambda *a, **k: {{n}})", f"del {{e}}.{name}"]
    if name in _SPECIAL:
        return [_special("{e}", name, draw), f"del {{e}}.{name}"]
    if callable(member):
        return [f"{{e}}.{name} = lambda *a, **k: {{n}}", f"del {{e}}.{name}"]
    return [] if name.startswith("_") else [f"{{e}}.{name} = {{n}}", f"del {{e}}.{name}"]
