"""Detects side effects in the user's code that runs natively, and again in the guard, since it cannot be interpreted.

A second run must have no further effect: a function that advances an iterator, counts or appends would do so twice.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

from ttnn_jit.diagnostics.origin import is_of_a_library
from ttnn_jit.diagnostics.source import codes_in
from ttnn_jit.foreign.values import ABSENT, is_a, is_python_class, member_of, native_class, native_contents
from ttnn_jit.frontend.reads.read_recorder import ReadRecorder

_CHANGING_METHODS = frozenset({
    "append", "appendleft", "extend", "insert", "pop", "popitem", "popleft", "remove", "reverse", "__next__", "send",
})  # fmt: skip
"""Methods that are not idempotent, unlike `add` and `update`."""
_NAME_LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"})
_CONSTRUCTORS = frozenset(
    {"__init__", "__new__", "__init_subclass__", "__set_name__", "__class_getitem__", "__post_init__"}
)


def has_effects(function: Any) -> bool:
    """Whether a second run of a function has further effects, as far as its instructions show."""
    return any(_has_effects(reached) for reached in _reached(function, {}))


def _reached(function: Any, seen: dict[int, types.FunctionType]) -> Iterator[types.FunctionType]:
    """A function of the user's, and the functions that it names, transitively."""
    if type(function) is not types.FunctionType or id(function) in seen or is_of_a_library(function):
        return
    seen[id(function)] = function
    yield function
    for value in _named_values(function):
        yield from _reached(value, seen)


def _named_values(function: types.FunctionType) -> Iterator[Any]:
    for code in codes_in(function.__code__):
        for instruction in dis.get_instructions(code):
            if instruction.opname in _NAME_LOADS:
                yield ReadRecorder().closure_or_global(function, None, instruction.argval)[0]


def _has_effects(function: types.FunctionType) -> bool:
    if any(value is next or _is_iterator(value) for value in _named_values(function)):
        return True
    return any(map(_changes_something, codes_in(function.__code__)))


def _is_iterator(value: Any) -> bool:
    return value is not ABSENT and member_of(type(value), "__next__") is not ABSENT


def _changes_something(code: types.CodeType) -> bool:
    """Whether code calls a mutating method, or updates in place something that outlives the call."""
    in_place = False
    for instruction in dis.get_instructions(code):
        if instruction.opname in {"LOAD_METHOD", "LOAD_ATTR"} and instruction.argval in _CHANGING_METHODS:
            return True
        if in_place and instruction.opname in {"STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF"}:
            return True
        if instruction.opname not in {"SWAP", "CACHE"}:
            in_place = instruction.opname == "BINARY_OP" and instruction.argrepr.endswith("=")
    return False


def special_methods_have_effects(value: Any) -> bool:
    """Whether a special method of the user's has effects, in an object or in items of native containers."""
    kinds = {type(part) for part in _parts(value, {})}
    return any(has_effects(member) for kind in kinds for member in _special_methods(kind))


def _parts(value: Any, seen: dict[int, Any]) -> Iterator[Any]:
    if id(value) in seen:
        return
    seen[id(value)] = value
    yield value
    if native_class(type(value)) is not None:
        for item in native_contents(value):
            yield from _parts(item, seen)


def _special_methods(kind: type) -> Iterator[Any]:
    for holder in filter(is_python_class, kind.__mro__):
        for name, member in list(vars(holder).items()):
            if name.startswith("__") and name not in _CONSTRUCTORS:
                yield _function_of(member)


def _function_of(member: Any) -> Any:
    """The function that a member of a class wraps; any other member itself."""
    for kind, name in _WRAPPING.items():
        if is_a(member, kind):
            return _function_of(getattr(member, name))
    return member


_WRAPPING: dict[type, str] = {
    property: "fget", staticmethod: "__func__", classmethod: "__func__", types.MethodType: "__func__",
    functools.partial: "func", functools.partialmethod: "func", functools._lru_cache_wrapper: "__wrapped__",
}  # fmt: skip


def getter_has_effects(kind: type, name: str) -> bool:
    """Whether code of the user's that computes the attribute `name` of instances of `kind` has effects."""
    found = member_of(kind, name)
    makers = [member_of(kind, "__getattribute__"), member_of(kind, "__getattr__"), member_of(type(found), "__get__")]
    return any(has_effects(_function_of(maker)) for maker in (*makers, found if is_a(found, property) else None))
