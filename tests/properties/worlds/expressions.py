"""Expressions of the objects of a loaded world, found by traversing a module's names."""

from __future__ import annotations

import argparse
import collections
import contextvars
import enum
import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_HARNESS = frozenset({"wh", "program", "make_program", "OTHER"})
_HOLDERS = (
    types.SimpleNamespace,
    argparse.Namespace,
    collections.UserDict,
    collections.UserList,
    contextvars.ContextVar,
)
_LEAVES = (types.ModuleType, int, float, str, type(None))
_PRIVATE = ("__", "_parameters", "_buffers", "_modules", "_value_", "_name_", "_sort_order_", "_forward", "_backward",
            "_state", "_load", "_non_persistent", "_is_full", "_member", "_value2", "_abc")  # fmt: skip
_DEPTH = 6


@dataclass(frozen=True)
class Expression:
    """The expression of an object; whether a statement can assign to it."""

    text: str
    value: Any
    assignable: bool


def expressions(namespace: dict[str, Any]) -> list[Expression]:
    """Every object of the world that the names of a module lead to; no object that other worlds could share."""
    found: list[Expression] = []
    seen: set[int] = set()
    for name, value in list(namespace.items()):
        if not name.startswith("__") and name not in _HARNESS and not isinstance(value, types.ModuleType):
            found.append(Expression(name, value, True))
            _walk(found, seen, name, value, 0)
    program = namespace.get("program")
    if program is not None:
        found += [Expression("program", program, False), *_of_function("program", program)]
    return found


def is_of_world(value: object) -> bool:
    """Whether a class or function was defined in a world."""
    module = type.__getattribute__(value, "__module__") if isinstance(value, type) else value.__module__
    return isinstance(module, str) and module.startswith("world_")


def _walk(found: list[Expression], seen: set[int], text: str, value: Any, depth: int) -> None:
    if id(value) in seen or depth > _DEPTH or (isinstance(value, _LEAVES) and not is_of_world(type(value))):
        return
    seen.add(id(value))
    try:
        parts = [*_parts(text, value)]
    except Exception:  # noqa: BLE001 - it answers whatever it likes
        return
    for expression in parts:
        found.append(expression)
        _walk(found, seen, expression.text, expression.value, depth + 1)


def _parts(text: str, value: Any) -> Iterator[Expression]:
    if type(value) is types.FunctionType:
        yield from _of_function(text, value) if is_of_world(value) else ()
    elif isinstance(value, type):
        yield from _of_class(text, value) if is_of_world(value) else ()
    elif type(value) is functools.partial:
        yield Expression(f"{text}.func", value.func, False)
        yield from _of_items(f"{text}.args", value.args)
        yield from _of_items(f"{text}.keywords", value.keywords)
    elif type(value) in {types.MethodType, types.BuiltinMethodType}:
        yield Expression(f"{text}.__self__", value.__self__, False)
    else:
        yield from _of_items(text, value)
        yield from _of_attributes(text, value)


def _of_items(text: str, value: Any) -> Iterator[Expression]:
    if isinstance(value, dict):
        for position, (name, item) in enumerate(dict.items(value)):
            plain = type(name) in {str, int, float, bool, type(None), tuple}
            yield (
                Expression(f"{text}[{name!r}]", item, plain)
                if plain
                else Expression(f"list({text})[{position}]", name, False)
            )
    elif isinstance(value, (list, tuple)):
        kind = list if isinstance(value, list) else tuple
        for index, item in enumerate(kind.__iter__(value)):
            yield Expression(f"{text}[{index}]", item, isinstance(value, list))


def _of_attributes(text: str, value: Any) -> Iterator[Expression]:
    if not (is_of_world(type(value)) or type(value) in _HOLDERS):
        return
    for name, item in list(getattr(value, "__dict__", {}).items()):
        if name.isidentifier() and not name.startswith(_PRIVATE):
            yield Expression(f"{text}.{name}", item, True)
    for name in vars(type(value)).get("__slots__", ()):
        if not name.startswith("__") and hasattr(value, name):
            yield Expression(f"{text}.{name}", getattr(value, name), True)


def _of_class(text: str, kind: type) -> Iterator[Expression]:
    for name, member in list(vars(kind).items()):
        if isinstance(member, (staticmethod, classmethod)):
            yield Expression(f"vars({text})[{name!r}].__func__", member.__func__, False)
        elif isinstance(member, property) and member.fget:
            yield Expression(f"vars({text})[{name!r}].fget", member.fget, False)
        elif isinstance(member, functools.cached_property):
            yield Expression(f"vars({text})[{name!r}].func", member.func, True)
        elif isinstance(member, types.FunctionType):
            yield Expression(f"{text}.{name}", member, name != "__new__")
        elif isinstance(member, enum.Enum):
            yield Expression(f"{text}.{name}", member, False)
        elif name[0] != "_" and type(member) not in {types.MemberDescriptorType, types.GetSetDescriptorType}:
            yield Expression(f"{text}.{name}", member, True)
    if is_of_world(type(kind)):
        yield Expression(f"type({text})", type(kind), False)


def _of_function(text: str, function: types.FunctionType) -> Iterator[Expression]:
    yield Expression(f"{text}.__code__", function.__code__, True)
    for index, cell in enumerate(function.__closure__ or ()):
        if function.__code__.co_freevars[index] != "__class__" and cell != types.CellType():
            yield Expression(f"{text}.__closure__[{index}].cell_contents", cell.cell_contents, True)
    yield from _of_items(f"{text}.__defaults__", function.__defaults__ or ())
    yield from _of_items(f"{text}.__kwdefaults__", function.__kwdefaults__ or {})
    for name, item in list(vars(function).items()):
        yield Expression(f"{text}.{name}", item, True)
