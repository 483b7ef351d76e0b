"""What the functions of Python do in the interpreter with values whose operators may be the user's own.

`compute` carries out any of them. What is written in Python is interpreted. Else C computes, and what C looks into is
guarded: the items of native containers. If it would reach objects whose operators it would call unseen, the guard
computes again and compares; where it could not, the program is opaque.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.origin import is_of_the_standard_library
from ttnn_jit.foreign.values import is_a, is_atom, is_python_class, native_class, native_container, native_contents
from ttnn_jit.frontend import containers, special_methods
from ttnn_jit.frontend.containers import Reach, each, is_plain_key, materialised
from ttnn_jit.frontend.interpreter import Interpreter
from ttnn_jit.frontend.proxy import ProxyTensor
from ttnn_jit.frontend.read_recorder import is_bound_builtin
from ttnn_jit.frontend.special_methods import ARITHMETIC, COMPARISONS, NATIVE, Handler, may_compute, special_method

_SIMPLE = frozenset({ProxyTensor, bool, int, float, str, type(None)})


def compute(
    interpreter: Interpreter, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """What `function`, a part of Python, returns.

    Raises:
        CompileError: It raised; the text is Python's.
    """
    if not kwargs and all(type(value) in _SIMPLE for value in args) and not is_bound_builtin(function):
        return interpreter.natively(function, *args)
    if is_bound_builtin(function):
        return _method(interpreter, function, (function.__self__, *args), kwargs)  # type: ignore[attr-defined]
    if is_a(function, types.MethodDescriptorType, types.WrapperDescriptorType):
        return _method(interpreter, function, args, kwargs)
    handler = _FUNCTIONS.get(function)
    if handler is not None and (value := handler(interpreter, *args, **kwargs)) is not NATIVE:
        return value
    return computed(interpreter, function, args, kwargs)


def _method(interpreter: Interpreter, method: Any, values: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a method of C's makes of its object, the first of `values`, whatever that object's class overrides."""
    handler = _METHODS.get(method.__name__)
    if handler is not None and values and (value := handler(interpreter, *values, **kwargs)) is not NATIVE:
        return value
    hands_on = method.__name__ in _METHODS_THAT_HAND_ON
    owner, others = values[:1], values[1:]
    if not hands_on:
        others = [materialised(interpreter, value) for value in others]
    args = others if is_bound_builtin(method) else [*owner, *others]
    others = [*others, *kwargs.values()]
    reach = Reach(interpreter)
    allowed = reach.goes_through if hands_on else reach.is_plain
    plain = all(map(reach.is_made_of_c, owner)) and all(map(allowed, others))
    if plain and (hands_on or all(map(reach.is_plain, _items(owner)))):
        reach.look_into_containers()
    else:
        interpreter.is_opaque(f"`{method.__name__}` runs code that cannot be followed")
    return interpreter.natively(method, *args, **kwargs)


def _items(owner: Sequence[Any]) -> Iterator[Any]:
    return (item for value in owner if native_class(type(value)) for item in native_contents(value))


def computed(
    interpreter: Interpreter, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """What C makes of values: what it looks into is recorded, or it is computed again by the guard."""
    joins = function in _JOINS and not any(map(may_compute, args))
    hands_on = joins or function in _HANDS_ON
    if not hands_on:
        args = [materialised(interpreter, value) for value in args]
    reach = Reach(interpreter)
    values = [*args, *kwargs.values()]
    allowed = reach.goes_through if hands_on else reach.is_plain
    if all(map(allowed, values)):
        reach.look_into_containers()
        return interpreter.natively(function, *args, **kwargs)
    blamed = next(value for value in values if not Reach(interpreter).is_plain(value))
    name = getattr(function, "__name__", type(function).__name__)
    what = f"`{name}` of a {type(blamed).__name__} runs code that cannot be followed"
    if kwargs or not interpreter.recorder.can_call(function, args):
        interpreter.is_opaque(what)
        return interpreter.natively(function, *args, **kwargs)
    result = interpreter.natively(function, *args)
    if not (is_atom(result) or interpreter.natively(function, *args) is result):
        interpreter.is_opaque(f"{what}, and gives another object each time")
    else:
        interpreter.recorder.call(function, args, result)
    return result


_HANDS_ON = frozenset({
    bool, operator.truth, list, tuple, enumerate, zip, map, filter, reversed, iter, len, slice, callable,
    functools.reduce, functools.partial, operator.delitem, operator.is_, operator.is_not,
    *(getattr(itertools, name) for name in (
        "accumulate", "chain", "combinations", "compress", "dropwhile", "filterfalse", "islice", "pairwise",
        "permutations", "product", "starmap", "takewhile", "zip_longest",
    )),
})  # fmt: skip
"""Functions that hand items on and ask none for anything; callbacks among their arguments are interpreted."""

_JOINS = frozenset({operator.add, operator.mul, operator.iadd, operator.imul})
"""What hands items on if its operands are containers of Python's own."""

_METHODS_THAT_HAND_ON = frozenset({
    "__init__", "__iter__", "__len__", "__reversed__", "clear", "copy", "extend", "items", "keys", "pop", "popitem",
    "reverse", "values",
})  # fmt: skip


# --- Functions that ask the items they are given --------------------------------------------------------------------


def _sum(interpreter: Interpreter, iterable: Any, /, start: Any = 0) -> Any:
    items = each(interpreter, iterable)
    numbers: list[Any] = []
    for item in items:
        if not is_atom((start, item)):
            total = interpreter.python(operator.add, interpreter.natively(sum, numbers, start), item)
            return functools.reduce(lambda total, item: interpreter.python(operator.add, total, item), items, total)
        numbers.append(item)
    return interpreter.natively(sum, numbers, start)  # which rounds sums of floats once since Python 3.12


def _quantified(stops_at: bool) -> Handler:
    def handler(interpreter: Interpreter, iterable: Any) -> bool:
        for item in each(interpreter, iterable):
            if bool(interpreter.python(bool, item)) is stops_at:
                return stops_at
        return not stops_at

    return handler


def _extreme(function: Callable[..., Any], better: Callable[[Any, Any], Any]) -> Handler:
    def handler(interpreter: Interpreter, *args: Any, key: Any = None, **default: Any) -> Any:
        items = list(each(interpreter, args[0])) if len(args) == 1 else [*args]
        if not items:
            return interpreter.natively(function, items, **default)
        keys = _keys(interpreter, items, key)
        best = 0
        for place in range(1, len(items)):
            if interpreter.python(bool, interpreter.python(better, keys[place], keys[best])):
                best = place
        return items[best]

    return handler


def _keys(interpreter: Interpreter, items: list[Any], key: Any) -> list[Any]:
    return items if key is None else [interpreter.call_with(key, (item,), {}) for item in items]


def _sorted(interpreter: Interpreter, iterable: Any, /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    items = list(each(interpreter, iterable))
    keys = _keys(interpreter, items, key)
    if not Reach(interpreter).is_plain(keys):
        interpreter.is_opaque(f"`sorted` compares objects, such as a {type(keys[0]).__name__}")
    order = interpreter.natively(sorted, range(len(items)), key=keys.__getitem__, reverse=reverse)
    return [items[place] for place in order]


def _sort(interpreter: Interpreter, items: list[Any], **options: Any) -> None:
    items[:] = _sorted(interpreter, items, **options)  # lists alone have such a method


def _set(function: Callable[..., Any]) -> Handler:
    def handler(interpreter: Interpreter, *iterables: Any) -> Any:
        items = [list(each(interpreter, iterable)) for iterable in iterables]
        if not all(is_plain_key(item) for part in items for item in part):
            interpreter.is_opaque("members of a set are compared by code of their own")
        return interpreter.natively(function, *items)

    return handler


def _dict(interpreter: Interpreter, *args: Any, **kwargs: Any) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    _update(interpreter, made, *args, **kwargs)
    return made


def _update(interpreter: Interpreter, table: dict[Any, Any], *args: Any, **kwargs: Any) -> None:
    for source in args:
        if is_a(source, dict) and native_container(source):
            interpreter.recorder.look_into(source)
            interpreter.natively(dict.update, table, source)
        elif is_a(source, dict) or may_compute(source):
            interpreter.is_opaque(f"a dict is made of a {type(source).__name__} by code that cannot be followed")
            interpreter.natively(dict.update, table, source)
        else:
            pairs = [tuple(each(interpreter, pair)) for pair in each(interpreter, source)]
            if not all(map(is_plain_key, pairs)) and not all(is_plain_key(pair[0]) for pair in pairs if pair):
                interpreter.is_opaque("keys of a dict are compared by code of their own")
            interpreter.natively(dict.update, table, pairs)
    table.update(kwargs)


def _update_method(interpreter: Interpreter, table: Any, *args: Any, **kwargs: Any) -> Any:
    return _update(interpreter, table, *args, **kwargs) if is_a(table, dict) else NATIVE


def _append(interpreter: Interpreter, items: Any, item: Any) -> Any:
    return interpreter.natively(list.append, items, item) if is_a(items, list) else NATIVE


def _insert(interpreter: Interpreter, items: Any, place: Any, item: Any) -> Any:
    return interpreter.natively(list.insert, items, place, item) if is_a(items, list) else NATIVE


def _over(function: Callable[..., Any]) -> Handler:
    """For functions that go through what they are given."""

    def handler(interpreter: Interpreter, *args: Any, **kwargs: Any) -> Any:
        made = [containers.gone_through(interpreter, value) for value in args]
        return computed(interpreter, function, made, kwargs)

    return handler


def _with_callback(function: Callable[..., Any], default: Callable[..., Any] | None = None) -> Handler:
    """For functions that take a function first, which is interpreted when C calls it."""

    def handler(interpreter: Interpreter, called: Any, *args: Any, **kwargs: Any) -> Any:
        callback = interpreter.callback(default if called is None and default else called)
        made = [containers.gone_through(interpreter, value) for value in args]
        return computed(interpreter, function, [callback, *made], kwargs)

    return handler


def _grouped(interpreter: Interpreter, iterable: Any, key: Any = None) -> Any:
    items = list(each(interpreter, iterable))
    keys = _keys(interpreter, items, key)
    if not Reach(interpreter).is_plain(keys):
        interpreter.is_opaque(f"`groupby` compares objects, such as a {type(keys[0]).__name__}")
    groups = itertools.groupby(range(len(items)), keys.__getitem__)
    return interpreter.natively(iter, [(key, [items[place] for place in places]) for key, places in groups])


def _accumulate(interpreter: Interpreter, iterable: Any, func: Any = None, **kwargs: Any) -> Any:
    callback = interpreter.callback(func or operator.add)
    items = containers.gone_through(interpreter, iterable)
    return computed(interpreter, itertools.accumulate, [items, callback], kwargs)


# --- Classes --------------------------------------------------------------------------------------------------------


def _class_check(function: Callable[[Any, Any], bool], name: str) -> Handler:
    """For ``isinstance`` and ``issubclass``: a metaclass may answer, and what is registered may change."""

    def handler(interpreter: Interpreter, value: Any, classes: Any) -> Any:
        if is_a(classes, tuple, types.UnionType):
            each_class = classes if is_a(classes, tuple) else classes.__args__
            return any(interpreter.python(function, value, cls) for cls in each_class)
        method = special_method(interpreter, classes, name) if is_a(classes, type) else None
        if method is not None and not is_of_the_standard_library(method):
            return interpreter.python(bool, interpreter.call_with(method, (classes, value), {}))
        answer = interpreter.natively(function, value, classes)
        if not (_is_settled(value, classes) or _is_checked_again(interpreter, function, value, classes, answer)):
            interpreter.is_opaque(f"what `{function.__name__}` says of a {type(value).__name__} may change")
        return answer

    return handler


def _is_settled(value: Any, cls: Any) -> bool:
    """Whether the answer depends on nothing that can change: the class of the value, and the one asked for, are C's."""
    kind = value if is_a(value, type) else type(value)
    return (kind is ProxyTensor or not is_python_class(kind)) and type(cls) is type


def _is_checked_again(
    interpreter: Interpreter, function: Callable[[Any, Any], bool], value: Any, cls: Any, answer: bool
) -> bool:
    recorder = interpreter.recorder
    if recorder.call(function, (value, cls), answer):
        return True
    path = recorder.class_path_of(value)
    if path is None or interpreter.natively(issubclass, type(value), cls) is not answer:
        return False  # an instance whose `__class__` is another than its class
    recorder.found(type(value), path)
    return recorder.call(issubclass, (type(value), cls), answer)


# --- Tables ---------------------------------------------------------------------------------------------------------


def _function_handlers() -> dict[Any, Handler]:
    unary, text = special_methods.unary, special_methods.text
    table: dict[Any, Handler] = {
        bool: special_methods.truth, operator.truth: special_methods.truth, operator.not_: special_methods.negation,
        operator.is_: special_methods.same, operator.is_not: lambda *args: not special_methods.same(*args),
        operator.getitem: containers.get_item, operator.setitem: containers.set_item,
        operator.contains: containers.contains, iter: containers.iterator, next: containers.following,
        type: containers.type_of, isinstance: _class_check(isinstance, "__instancecheck__"),
        issubclass: _class_check(issubclass, "__subclasscheck__"), sum: _sum, any: _quantified(True),
        all: _quantified(False), sorted: _sorted, max: _extreme(max, operator.gt), min: _extreme(min, operator.lt),
        dict: _dict, set: _set(set), frozenset: _set(frozenset), itertools.accumulate: _accumulate,
        itertools.groupby: _grouped,
        filter: _with_callback(filter, bool), format: text(format, "__format__", "__str__", "__repr__"),
        str: text(str, "__str__", "__repr__"), repr: text(repr, "__repr__"),
        pow: special_methods.power, operator.index: special_methods.index,
        divmod: special_methods.binary("__divmod__", "__rdivmod__", "divmod()"),
    }  # fmt: skip
    names: dict[Callable[..., Any], list[str]] = {
        len: ["__len__"], abs: ["__abs__"], round: ["__round__"], hash: ["__hash__"], reversed: ["__reversed__"],
        float: ["__float__", "__index__"], int: ["__int__", "__index__", "__trunc__"],
        complex: ["__complex__", "__float__", "__index__"],
        operator.neg: ["__neg__"], operator.pos: ["__pos__"], operator.invert: ["__invert__"],
        math.floor: ["__floor__", "__float__"], math.ceil: ["__ceil__", "__float__"], math.trunc: ["__trunc__"],
    }  # fmt: skip
    table |= {function: unary(function, *methods) for function, methods in names.items()}
    for name, symbol in ARITHMETIC.items():
        plain, updating = getattr(operator, name), f"__i{name[2:]}"
        table[plain] = special_methods.binary(name, f"__r{name[2:]}", symbol)
        table[getattr(operator, updating)] = special_methods.in_place(updating, plain)
    for name, (swapped, symbol) in COMPARISONS.items():
        table[getattr(operator, name)] = special_methods.binary(name, swapped, symbol)
    callbacks = (map, functools.reduce, itertools.starmap, itertools.takewhile, itertools.dropwhile)
    table |= {function: _with_callback(function) for function in callbacks}
    table[itertools.filterfalse] = _with_callback(itertools.filterfalse, bool)
    iterables = (list, tuple, enumerate, zip, itertools.chain, itertools.islice, itertools.pairwise, itertools.product)
    return table | {function: _over(function) for function in iterables}


_FUNCTIONS = _function_handlers()

_METHODS: dict[str, Handler] = {
    "get": containers.get, "__getitem__": containers.get_native_item, "__contains__": containers.native_contains,
    "count": containers.count, "index": containers.index, "update": _update_method,
    "__setitem__": containers.set_item, "append": _append, "insert": _insert, "sort": _sort,
}  # fmt: skip
"""Methods of native containers, given the container first."""
