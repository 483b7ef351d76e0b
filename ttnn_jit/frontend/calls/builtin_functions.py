"""Handlers of Python's functions that call methods of their arguments.

They call these methods through the interpreter, so that the user's code in them is interpreted.
`python_functions.py` maps Python's functions to handlers.
"""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import types
from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.origin import is_of_the_standard_library
from ttnn_jit.foreign.values import is_a, is_atom, is_native_container, is_python_class, native_class
from ttnn_jit.frontend.plain_numbers import plain
from ttnn_jit.frontend.python import containers
from ttnn_jit.frontend.python.containers import Purity, each, is_plain_key
from ttnn_jit.frontend.python.interpreter import Interpreter
from ttnn_jit.frontend.python.side_effects import special_methods_have_effects
from ttnn_jit.frontend.python.special_methods import NATIVE, Handler, may_compute, special_method
from ttnn_jit.frontend.python.tensor_attributes import is_instance
from ttnn_jit.frontend.tensors.proxy import ProxyTensor

# --- Functions that iterate over their arguments --------------------------------------------------------------------


def total(interpreter: Interpreter, iterable: Any, /, start: Any = 0) -> Any:
    """``sum``."""
    items = each(interpreter, iterable)
    numbers: list[Any] = []
    for item in items:
        if not is_atom((start, item)):
            total = interpreter.python(operator.add, interpreter.natively(sum, numbers, start), item)
            return functools.reduce(lambda total, item: interpreter.python(operator.add, total, item), items, total)
        numbers.append(item)
    return interpreter.natively(sum, numbers, start)  # `sum` of floats rounds once since Python 3.12


def any_or_all(stops_at: bool) -> Handler:
    """For ``any`` (`stops_at` True) and ``all`` (False)."""

    def handler(interpreter: Interpreter, iterable: Any, /) -> bool:
        for item in each(interpreter, iterable):
            if bool(interpreter.python(bool, item)) is stops_at:
                return stops_at
        return not stops_at

    return handler


def min_or_max(better: Callable[[Any, Any], Any]) -> Handler:
    """For ``max`` and ``min``."""

    def handler(interpreter: Interpreter, *args: Any, key: Any = None, default: Any = NATIVE) -> Any:
        items = list(each(interpreter, args[0])) if len(args) == 1 else [*args]
        if not items:
            return default if args else NATIVE
        keys = _keys(interpreter, items, key)
        best = 0
        for index in range(1, len(items)):
            if interpreter.python(bool, interpreter.python(better, keys[index], keys[best])):
                best = index
        return items[best]

    return handler


def _keys(interpreter: Interpreter, items: list[Any], key: Any) -> list[Any]:
    return items if key is None else [interpreter.call_with(key, (item,), {}) for item in items]


def sorted_items(interpreter: Interpreter, iterable: Any, /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """``sorted``."""
    items = list(each(interpreter, iterable))
    keys = _keys(interpreter, items, key)
    if not Purity(interpreter).is_pure(keys):
        interpreter.mark_opaque(f"`sorted` compares objects, such as a {type(keys[0]).__name__}")
    if may_compute(reverse):
        interpreter.mark_opaque(f"`sorted` takes its direction from code of a {type(reverse).__name__}")
    order = interpreter.natively(sorted, range(len(items)), key=keys.__getitem__, reverse=reverse)
    return [items[index] for index in order]


def sort(interpreter: Interpreter, items: list[Any], **options: Any) -> None:
    """``items.sort()``."""
    items[:] = sorted_items(interpreter, items, **options)  # only lists have this method


def set_of(function: Callable[..., Any]) -> Handler:
    """For ``set`` and ``frozenset``."""

    def handler(interpreter: Interpreter, *iterables: Any) -> Any:
        items = [plain(list(each(interpreter, iterable))) for iterable in iterables]
        if not all(is_plain_key(interpreter, item) for part in items for item in part):
            interpreter.mark_opaque("the members of a set have comparisons of their own")
        return interpreter.natively(function, *items)

    return handler


def dict_of(interpreter: Interpreter, *args: Any, **kwargs: Any) -> dict[Any, Any]:
    """``dict``."""
    made: dict[Any, Any] = {}
    _update_dict(interpreter, made, *args, **kwargs)
    return made


def _update_dict(interpreter: Interpreter, table: dict[Any, Any], *args: Any, **kwargs: Any) -> None:
    for source in args:
        if is_a(source, dict) and is_native_container(source):
            interpreter.recorder.record_contents(source)
            interpreter.natively(dict.update, table, source)
        elif is_a(source, dict) or may_compute(source):
            interpreter.mark_opaque(f"a dict is made from a {type(source).__name__} by code that cannot be followed")
            interpreter.natively(dict.update, table, source)
        else:
            pairs = [_with_plain_key(tuple(each(interpreter, pair))) for pair in each(interpreter, source)]
            if not all(is_plain_key(interpreter, pair[0]) for pair in pairs if pair):
                interpreter.mark_opaque("the keys of a dict have comparisons of their own")
            interpreter.natively(dict.update, table, pairs)
    table.update(kwargs)


def _with_plain_key(pair: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*map(plain, pair[:1]), *pair[1:])


def update(interpreter: Interpreter, table: Any, *args: Any, **kwargs: Any) -> Any:
    """``table.update()``."""
    return _update_dict(interpreter, table, *args, **kwargs) if is_a(table, dict) else NATIVE


def append_method(name: str) -> Handler:
    """For ``items.append(item)`` and ``items.appendleft(item)``."""

    def handler(interpreter: Interpreter, items: Any, item: Any) -> Any:
        add = getattr(native_class(type(items)), name, None)
        return NATIVE if add is None else interpreter.natively(add, items, item)

    return handler


def insert(interpreter: Interpreter, items: Any, index: Any, item: Any) -> Any:
    """``items.insert(index, item)``."""
    if not is_a(items, list, collections.deque):
        return NATIVE
    native: Any = native_class(type(items))
    return interpreter.natively(native.insert, items, interpreter.python(operator.index, index), item)


def iterating(function: Callable[..., Any]) -> Handler:
    """For functions that iterate over their arguments."""

    def handler(interpreter: Interpreter, *args: Any, **kwargs: Any) -> Any:
        made = [containers.natively_iterable(interpreter, value) for value in args]
        return interpreter.compute_in_c(function, *made, **kwargs)

    return handler


def with_callback(function: Callable[..., Any]) -> Handler:
    """For functions whose first argument is a callback, which is interpreted when C calls it."""

    def handler(interpreter: Interpreter, called: Any, *args: Any, **kwargs: Any) -> Any:
        made = [containers.natively_iterable(interpreter, value) for value in args]
        return interpreter.compute_in_c(function, interpreter.callback(called), *made, **kwargs)

    return handler


def with_predicate(function: Callable[..., Any]) -> Handler:
    """For functions whose first argument is a predicate, which is interpreted, or None."""

    def handler(interpreter: Interpreter, called: Any, iterable: Any, /) -> Any:
        def predicate(item: Any) -> bool:
            return bool(
                interpreter.python(bool, item if called is None else interpreter.call_with(called, (item,), {}))
            )

        return interpreter.compute_in_c(function, predicate, containers.natively_iterable(interpreter, iterable))

    return handler


def selected(interpreter: Interpreter, data: Any, selectors: Any) -> Any:
    """``itertools.compress``."""
    pairs = zip(each(interpreter, data), each(interpreter, selectors), strict=False)
    return (item for item, selector in pairs if interpreter.python(bool, selector))


def starmapped(interpreter: Interpreter, called: Any, iterable: Any, /) -> Any:
    """``itertools.starmap``."""
    return (interpreter.call_with(called, [*each(interpreter, args)], {}) for args in each(interpreter, iterable))


def grouped(interpreter: Interpreter, iterable: Any, key: Any = None) -> Any:
    """``itertools.groupby``."""
    items = list(each(interpreter, iterable))
    keys = _keys(interpreter, items, key)
    if not Purity(interpreter).is_pure(keys):
        interpreter.mark_opaque(f"`groupby` compares objects, such as a {type(keys[0]).__name__}")
    groups = itertools.groupby(range(len(items)), keys.__getitem__)
    return interpreter.natively(iter, [(key, [items[index] for index in indices]) for key, indices in groups])


def accumulated(interpreter: Interpreter, iterable: Any, func: Any = None, **kwargs: Any) -> Any:
    """``itertools.accumulate``."""
    callback = interpreter.callback(func or operator.add)
    items = containers.natively_iterable(interpreter, iterable)
    return interpreter.compute_in_c(itertools.accumulate, items, callback, **kwargs)


# --- Classes --------------------------------------------------------------------------------------------------------


def class_check(function: Callable[[Any, Any], bool], name: str) -> Handler:
    """For ``isinstance`` and ``issubclass``: a metaclass may answer, and registered subclasses may change."""

    def handler(interpreter: Interpreter, value: Any, classes: Any, /) -> Any:
        if is_a(classes, tuple, types.UnionType):
            each_class = classes if is_a(classes, tuple) else classes.__args__
            return any(interpreter.python(function, value, cls) for cls in each_class)
        # C does not call the metaclass for an instance of exactly that class.
        calls_hook = is_a(classes, type) and not (function is isinstance and type(value) is classes)
        method = special_method(interpreter, classes, name) if calls_hook else None
        if method is not None and not is_of_the_standard_library(method):
            return interpreter.python(bool, interpreter.call_with(method, (classes, value), {}))
        if type(value) is ProxyTensor and function is isinstance:
            return is_instance(interpreter, value, classes)
        if may_compute(value) and special_methods_have_effects(value):
            interpreter.mark_opaque(
                f"`{function.__name__}` runs code of a {type(value).__name__} that has side effects"
            )
            return interpreter.natively(function, value, classes)
        answer = interpreter.natively(function, value, classes)
        if not (
            _is_constant_answer(value, classes) or _is_checked_again(interpreter, function, value, classes, answer)
        ):
            interpreter.mark_opaque(f"the result of `{function.__name__}` for a {type(value).__name__} may change")
        return answer

    return handler


def _is_constant_answer(value: Any, cls: Any) -> bool:
    """Whether the answer cannot change: the class of the value and the queried class are C's."""
    kind = value if is_a(value, type) else type(value)
    return (kind is ProxyTensor or not is_python_class(kind)) and type(cls) is type


def _is_checked_again(
    interpreter: Interpreter, function: Callable[[Any, Any], bool], value: Any, cls: Any, answer: bool
) -> bool:
    recorder = interpreter.recorder
    if recorder.record_call(function, (value, cls), answer):
        return True
    path = recorder.class_path_of(value)
    if path is None or interpreter.natively(issubclass, type(value), cls) is not answer:
        return False  # an instance whose `__class__` is not its class
    recorder.bind_path(type(value), path)
    return recorder.record_call(issubclass, (type(value), cls), answer)


def made_partial(interpreter: Interpreter, function: Any, *args: Any, **kwargs: Any) -> Any:
    """``functools.partial``, which calls no method of its arguments."""
    return interpreter.natively(functools.partial, function, *args, **kwargs)
