"""Look-ups of the values at paths that run no code of the user's: no property, no ``__getattr__``, no ``__getitem__``.

They tell what a path leads to now where a compile has not come to it yet, and perhaps will not.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ttnn_jit.foreign.values import (
    ABSENT,
    is_a,
    is_implemented_in_c,
    is_python_class,
    member_of,
    native_class,
    native_item,
    own_attribute,
)
from ttnn_jit.guards.bound_objects import bound_objects
from ttnn_jit.guards.reads import (
    ATTRIBUTE_STEP,
    BOUND,
    CLOSURE_STEP,
    GLOBAL_STEP,
    ITEM_STEP,
    NATIVE_ITEM_STEP,
    Path,
)


def plain_value(function: types.FunctionType, path: Path) -> Any:
    """The current value of `path` from `function`; ABSENT if there is none, or if only code of the user's tells it."""
    value: Any = function
    if path[:1] == ((ATTRIBUTE_STEP, BOUND),):  # the object behind it is a property of ours
        value, path = bound_objects(function).get(path[1][1]), path[2:]
    try:
        for kind, name in path:
            value = PLAIN_STEPS[kind](value, name)
            if value is ABSENT:
                break
    except (LookupError, TypeError, AttributeError, ValueError):  # it is of another class now, or an empty cell
        return ABSENT
    return value


def _global(function: types.FunctionType, name: str) -> Any:
    return function.__globals__.get(name, ABSENT) if type(function) is types.FunctionType else ABSENT


def _closure_value(function: types.FunctionType, name: str) -> Any:
    if type(function) is not types.FunctionType:
        return ABSENT
    return (function.__closure__ or ())[function.__code__.co_freevars.index(name)].cell_contents


def _attribute(value: Any, name: str) -> Any:
    if is_a(value, type):
        return _without_descriptors(member_of(value, name))
    kind = type(value)
    if not is_implemented_in_c(member_of(kind, "__getattribute__")):
        return ABSENT
    own, found = own_attribute(value, name), member_of(kind, name)
    if is_a(found, types.MemberDescriptorType, types.GetSetDescriptorType):
        return found.__get__(value, kind)
    if _is_of_class(found, "__set__") or _is_of_class(found, "__delete__"):  # Python asks it first
        return ABSENT
    return own if own is not ABSENT else _without_descriptors(found)


def _without_descriptors(found: Any) -> Any:
    return ABSENT if _is_of_class(found, "__get__") else found


def _is_of_class(found: Any, method: str) -> bool:
    return member_of(type(found), method) is not ABSENT


def _item(container: Any, key: Any) -> Any:
    kind = type(container)
    if native_class(kind) is not None:
        return native_item(container, key)
    runs_code = is_python_class(kind) or kind is types.MappingProxyType  # which may show a mapping of the user's
    return ABSENT if runs_code else container[key]


PLAIN_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    GLOBAL_STEP: _global,
    CLOSURE_STEP: _closure_value,
    ATTRIBUTE_STEP: _attribute,
    ITEM_STEP: _item,
    NATIVE_ITEM_STEP: native_item,
}
"""The kinds of steps that may be looked up so; paths of other kinds lead to no value here."""
