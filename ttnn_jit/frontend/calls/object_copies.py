"""``copy.copy`` and ``copy.deepcopy`` in the interpreter: containers, tensors of the program and plain objects."""

from __future__ import annotations

import collections
import copy
import enum
import operator
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from ttnn_jit.diagnostics.origin import is_of_the_standard_library
from ttnn_jit.foreign.values import (
    ABSENT,
    has_own_attributes,
    is_a,
    is_atom,
    is_python_class,
    member_of,
    native_class,
)
from ttnn_jit.frontend.python.containers import each
from ttnn_jit.frontend.python.interpreter import Interpreter
from ttnn_jit.frontend.python.special_methods import may_compute
from ttnn_jit.frontend.tensors.proxy import ProxyTensor

_UNCHANGED = (type, enum.Enum, types.FunctionType, types.BuiltinFunctionType)
_ADD_ITEM: dict[type, Any] = {
    list: list.append,
    dict: dict.__setitem__,
    set: set.add,
    collections.deque: collections.deque.append,
}
_PROTOCOL = (
    "__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__new__", "__setattr__", "__getattribute__",
    "__slots__",
)  # fmt: skip
"""Members that a class must inherit from `object` for its instances to be copied here."""

_Inner = Callable[[Any], Any]
_Register = Callable[[Any], object]


def shallow_copy(interpreter: Interpreter, value: Any) -> Any:
    """``copy.copy``."""
    return _copied(interpreter, value, copy.copy, (), lambda item: item, lambda _: None)


def deep_copy(interpreter: Interpreter, value: Any, memo: Any = None) -> Any:
    """``copy.deepcopy``: a shared object is copied once, and may contain itself."""
    memo = {} if memo is None else memo

    def inner(item: Any) -> Any:
        item = interpreter.resolve(item)
        if id(item) not in memo:
            memo.setdefault(id(memo), []).append(item)  # keeps it alive, so that its id is not reused
            register = partial(memo.__setitem__, id(item))
            register(_copied(interpreter, item, copy.deepcopy, (memo,), inner, register))
        return memo[id(item)]

    return inner(value)


def _copied(
    interpreter: Interpreter,
    value: Any,
    copied: Callable[..., Any],
    given: tuple[Any, ...],
    inner: _Inner,
    register: _Register,
) -> Any:
    """The result of Python's `copied` for `value`, with items copied by `inner`.

    `register` gets a copy before its items are added.
    """
    kind = type(value)
    if is_atom(value) or is_a(value, *_UNCHANGED):
        return value
    if kind in {tuple, frozenset}:
        return kind([inner(item) for item in each(interpreter, value)])
    method = interpreter.class_member(value, f"__{copied.__name__}__") if may_compute(value) else ABSENT
    if isinstance(method, types.FunctionType):
        return interpreter.call_with(method, (value, *given), {})
    if kind in _ADD_ITEM:
        return _copied_container(interpreter, value, inner, register)
    if method is ABSENT and _is_plain_object(value):
        return _copied_object(interpreter, value, inner, register)
    if kind is not ProxyTensor:
        interpreter.mark_opaque(f"a {kind.__name__} is copied by code that cannot be followed")
    return interpreter.natively(copied, value)


def _copied_container(interpreter: Interpreter, value: Any, inner: _Inner, register: _Register) -> Any:
    kind = type(value)
    made = collections.deque(maxlen=value.maxlen) if kind is collections.deque else kind()
    register(made)
    if kind is dict:
        interpreter.recorder.record_contents(value)
        for key, item in value.items():
            interpreter.python(operator.setitem, made, inner(key), inner(item))
        return made
    for item in each(interpreter, value):
        interpreter.python(_ADD_ITEM[kind], made, inner(item))
    return made


def _copied_object(interpreter: Interpreter, value: Any, inner: _Inner, register: _Register) -> Any:
    made: Any = interpreter.natively(object.__new__, interpreter.python(type, value))
    interpreter.made_objects[id(made)] = made
    register(made)
    for name, item in interpreter.python(dict, interpreter.attribute(value, "__dict__")).items():
        object.__setattr__(made, name, inner(item))
    return made


def _is_plain_object(value: Any) -> bool:
    """Whether Python copies an object by copying its ``__dict__``."""
    kind = type(value)
    if not is_python_class(kind) or is_of_the_standard_library(kind) or native_class(kind) is not None:
        return False
    plain = all(member_of(kind, name) is vars(object).get(name, ABSENT) for name in _PROTOCOL)
    return plain and has_own_attributes(value)
