"""Python's data model in the interpreter: what operators and builtin functions do with each kind of value.

`compute` carries out one of them. A special method that is written in Python is interpreted, so that what it reads is
guarded. Else C computes, and what C looks into is guarded: the items of native containers. If it would reach objects
whose operators it would call unseen, the guard computes again and compares; where it could not, the program is opaque.
"""

from __future__ import annotations

import builtins
import collections
import functools
import itertools
import math
import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ttnn_jit.errors import CompileError
from ttnn_jit.frontend.function_source import is_within_the_language
from ttnn_jit.frontend.interpreter import Interpreter
from ttnn_jit.frontend.proxy import ProxyTensor
from ttnn_jit.frontend.read_recorder import is_bound_builtin
from ttnn_jit.guards.values import (
    ABSENT,
    is_atom,
    is_identity,
    is_python_class,
    member_of,
    native_container,
    native_contents,
    native_item,
    python_member,
)
from ttnn_jit.origin import is_of_this_package, library_of

_NATIVE = object()
"""What a handler returns that leaves the work to C."""

Handler = Callable[..., Any]


def compute(
    interpreter: Interpreter, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """What `function`, a part of Python, returns.

    Raises:
        CompileError: It raised; the text is Python's.
    """
    handler = _HANDLERS.get(function) if not is_bound_builtin(function) else None
    if handler is not None and (value := handler(interpreter, *args, **kwargs)) is not _NATIVE:
        return value
    return _natively(interpreter, function, args, kwargs)


def _natively(
    interpreter: Interpreter, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    reach = _Reach(interpreter)
    values = [*args, *kwargs.values()]
    if all(map(reach.is_plain, values)) or (function in _STRUCTURAL and all(map(reach.is_structure, values))):
        reach.look_into_containers()
        return interpreter.natively(function, *args, **kwargs)
    result = interpreter.natively(function, *args, **kwargs)
    if kwargs or not _computed_again(interpreter, function, args, result):
        named = getattr(function, "__name__", type(function).__name__)
        interpreter.is_opaque(f"`{named}` of {_described(values)} may run code that nobody sees")
    return result


def _computed_again(
    interpreter: Interpreter, function: Callable[..., Any], args: Sequence[Any], result: Any
) -> bool:
    """Whether the guard can compute a result again and tell whether it is the same."""
    return interpreter.recorder.call(function, args, result)


def _described(values: Sequence[Any]) -> str:
    """The class of the value that is to blame, for a message."""
    blamed = next((value for value in values if not is_atom(value)), None)
    return f"a {type(blamed).__name__}"


# --- What C may look into -------------------------------------------------------------------------------------------

_STRUCTURAL = frozenset({
    list, tuple, enumerate, zip, map, filter, reversed, iter, next, len, slice, type, functools.reduce,
    functools.partial, itertools.chain, itertools.islice, itertools.product, itertools.pairwise, itertools.starmap,
    itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.zip_longest, itertools.accumulate,
    itertools.combinations, itertools.permutations, itertools.compress, operator.is_, operator.is_not, callable,
    operator.setitem, operator.delitem, operator.iadd,
})  # fmt: skip
"""Functions that hand items on, and never ask one for anything; callbacks among their arguments are interpreted."""

_ITERATORS = tuple({
    *(type(iter(made)) for made in ([], (), {}, set(), "", b"", range(0), {}.values(), {}.items())),
    type(reversed([])), type(reversed({})), zip, map, filter, enumerate, itertools.chain, itertools.islice,
    types.GeneratorType, itertools.product, itertools.pairwise, itertools.starmap, itertools.takewhile,
    itertools.dropwhile, itertools.filterfalse, itertools.zip_longest, itertools.accumulate, itertools.combinations,
    itertools.permutations, itertools.compress,
})  # fmt: skip
_VIEWS = (type({}.keys()), type({}.values()), type({}.items()))


class _Reach:
    """What C reaches from some values through native containers."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._containers: dict[int, Any] = {}

    def is_plain(self, value: Any) -> bool:
        """Whether all that C reaches from `value` are atoms, tensors being compiled, and functions to be interpreted.

        Containers on the way are remembered.
        """
        kind = type(value)
        if kind is ProxyTensor or is_atom(value) or is_of_this_package(kind):
            return True
        if kind in _VIEWS:
            return all(map(self.is_plain, value))
        return self.is_structure(value) and native_container(value) and all(map(self.is_plain, native_contents(value)))

    def is_structure(self, value: Any) -> bool:
        """Whether C goes through `value` without code of the user's; its items may be anything."""
        if native_container(value):
            self._containers[id(value)] = value
            return True
        kind = type(value)
        return kind is ProxyTensor or isinstance(value, (*_ITERATORS, *_VIEWS)) or not _answers_by_itself(value)

    def look_into_containers(self) -> None:
        """Record that C went through them."""
        for container in self._containers.values():
            self._interpreter.recorder.look_into(container)


def _answers_by_itself(value: Any) -> bool:
    """Whether C would ask `value`, given to it to go through, by code that is not its own."""
    return is_python_class(type(value)) and not is_atom(value)


def materialised(interpreter: Interpreter, value: Any) -> Any:
    """`value`, or a list of what it yields if it is an iterator: what it computes is then computed already."""
    return list(each(interpreter, value)) if isinstance(value, _ITERATORS) else value


# --- Special methods ------------------------------------------------------------------------------------------------


def special_method(interpreter: Interpreter, value: Any, name: str) -> types.FunctionType | None:
    """The Python function that serves a special method of `value`; None if C does, or nothing.

    Which one it is, is recorded as read. Of a library it is None too: the guard calls such methods again.
    """
    kind = type(value)
    if not is_python_class(kind) or kind is ProxyTensor:
        return None
    class_path = interpreter.recorder.class_path_of(value)
    member = member_of(kind, name)
    if class_path is not None:
        interpreter.recorder.member(class_path, name, member)
    elif not is_of_this_package(kind):
        interpreter.is_opaque(f"nobody knows where {kind.__name__}, the class of an object, was found")
    if not isinstance(member, types.FunctionType):
        return None
    return member if name in _ALWAYS_INTERPRETED or is_within_the_language(member) else None


_ALWAYS_INTERPRETED = frozenset({"__call__"})


def _unary(name: str) -> Handler:
    def handler(interpreter: Interpreter, *args: Any, **kwargs: Any) -> Any:
        method = special_method(interpreter, args[0], name) if args else None
        return _NATIVE if method is None else interpreter.call_with(method, args, kwargs)

    return handler


def _number(*names: str) -> Handler:
    """For ``float(x)`` and its like: the first of these special methods that the class has."""

    def handler(interpreter: Interpreter, *args: Any, **kwargs: Any) -> Any:
        for name in names if len(args) == 1 else ():
            method = special_method(interpreter, args[0], name)
            if method is not None:
                return interpreter.natively(_exact, interpreter.call_with(method, args, kwargs), name)
        return _NATIVE

    return handler


def _exact(value: Any, name: str) -> Any:
    """A number of Python's own that a special method returned, as the builtin function makes it of it."""
    kinds = {"__float__": float, "__complex__": complex, "__int__": int, "__index__": int}
    return kinds[name](value) if name in kinds else value


def _text(*names: str) -> Handler:
    def handler(interpreter: Interpreter, *args: Any, **kwargs: Any) -> Any:
        if not args or kwargs or not is_python_class(type(args[0])):
            return _NATIVE
        for name in names:
            method = special_method(interpreter, args[0], name)
            if method is not None:
                return interpreter.call_with(method, args if name == "__format__" else args[:1], {})
            if member_of(type(args[0]), name) is not getattr(object, name):
                return _NATIVE  # by C, of what the object is made of
        return _NATIVE

    return handler


def truth(interpreter: Interpreter, value: Any) -> Any:
    """Whether `value` counts as true."""
    for name in ("__bool__", "__len__"):
        method = special_method(interpreter, value, name)
        if method is not None:
            answer = interpreter.call_with(method, (value,), {})
            return bool(interpreter.natively(bool, answer))
        if member_of(type(value), name) is not ABSENT:
            return _NATIVE
    return True if is_python_class(type(value)) and type(value) is not ProxyTensor else _NATIVE


def _not(interpreter: Interpreter, value: Any) -> Any:
    return not interpreter.python(bool, value)


def _binary(name: str, reflected: str, symbol: str) -> Handler:
    def handler(interpreter: Interpreter, left: Any, right: Any) -> Any:
        if not (_may_compute(left) or _may_compute(right)):
            return _NATIVE
        return _operate(interpreter, _sides(left, right, name, reflected), symbol)

    return handler


def _may_compute(value: Any) -> bool:
    kind = type(value)
    return kind is not ProxyTensor and is_python_class(kind) and not is_atom(value)


def _sides(left: Any, right: Any, name: str, reflected: str) -> list[tuple[Any, str, Any]]:
    """Who is asked, by which method, about what: Python's order of the two operands."""
    first, second = (left, name, right), (right, reflected, left)
    a, b = type(left), type(right)
    if a is b and name != reflected and name not in _SWAPPED:
        return [first]
    overrides = a is not b and issubclass(b, a) and member_of(b, reflected) is not member_of(a, reflected)
    sequence = a in {list, tuple, str, bytes} and name in {"__add__", "__mul__"}
    return [second, first] if overrides or sequence else [first, second]


def _operate(interpreter: Interpreter, sides: list[tuple[Any, str, Any]], symbol: str) -> Any:
    for asked, name, other in sides:
        method = special_method(interpreter, asked, name)
        if method is not None:
            result = interpreter.call_with(method, (asked, other), {})
            if result is not NotImplemented:
                return result
            continue
        member = member_of(type(asked), name)
        if member is ABSENT or member is None:
            continue
        if isinstance(member, types.FunctionType) or not (_is_default(member) or _content_alone(asked, other)):
            return _NATIVE
        result = interpreter.natively(getattr(type(asked), name), asked, other)
        if result is not NotImplemented:
            return result
    return _without_operator(interpreter, sides, symbol)


def _is_default(member: Any) -> bool:
    """Whether a special method is that of `object`, which compares identities."""
    return getattr(member, "__objclass__", None) is object


def _content_alone(asked: Any, other: Any) -> bool:
    """Whether C's method reads nothing but what two objects are made of, if they are numbers or texts."""
    return all(isinstance(value, (int, float, complex, str, bytes)) or is_atom(value) for value in (asked, other)) or (
        type(asked) is ProxyTensor or isinstance(asked, (int, float, complex, str, bytes))
    )


def _without_operator(interpreter: Interpreter, sides: list[tuple[Any, str, Any]], symbol: str) -> Any:
    (left, _, right) = sides[0] if len(sides) == 1 or sides[0][1] not in _REFLECTED_NAMES else sides[1]
    if symbol in {"==", "!="}:
        interpreter.recorder.call(operator.is_, (left, right), left is right)
        return (left is right) is (symbol == "==")
    kinds = f"'{type(left).__name__}' and '{type(right).__name__}'"
    if symbol in {"<", "<=", ">", ">="}:
        message = f"TypeError: '{symbol}' not supported between instances of {kinds}"
    else:
        message = f"TypeError: unsupported operand type(s) for {symbol}: {kinds}"
    raise CompileError(message, location=interpreter.location())


_ARITHMETIC = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
_ORDER = {"eq": ("eq", "=="), "ne": ("ne", "!="), "lt": ("gt", "<"), "le": ("ge", "<="), "gt": ("lt", ">"),
          "ge": ("le", ">=")}  # fmt: skip
_SWAPPED = frozenset(f"__{name}__" for name in _ORDER)
_REFLECTED_NAMES = frozenset(f"__r{name}__" for name in _ARITHMETIC)


def _in_place(name: str, plain: Callable[[Any, Any], Any]) -> Handler:
    def handler(interpreter: Interpreter, left: Any, right: Any) -> Any:
        method = special_method(interpreter, left, name)
        if method is not None:
            return interpreter.call_with(method, (left, right), {})
        return interpreter.python(plain, left, right) if _may_compute(left) or _may_compute(right) else _NATIVE

    return handler


# --- Containers -----------------------------------------------------------------------------------------------------


def get_item(interpreter: Interpreter, container: Any, key: Any) -> Any:
    """``container[key]``: of a native container, the item is read and not the container."""
    if isinstance(container, type):
        return _class_item(interpreter, container, key)
    method = special_method(interpreter, container, "__getitem__")
    if method is not None and not _is_of_a_library(method):
        return interpreter.call_with(method, (container, key), {})
    if method is not None:
        return _library_item(interpreter, container, key)
    key = _index(interpreter, container, key)
    if not native_container(container) and not _only_missing(container):
        return _NATIVE
    if isinstance(key, slice) or not is_plain_key(key):
        return _NATIVE
    if isinstance(container, dict):
        return _dict_item(interpreter, container, key)
    value = interpreter.natively(native_item, container, key)
    interpreter.recorder.item(container, key, value)
    return value


def _is_of_a_library(function: types.FunctionType) -> bool:
    path = function.__code__.co_filename
    return any(f"/{folder}/" in path for folder in ("site-packages", "dist-packages"))


def _library_item(interpreter: Interpreter, container: Any, key: Any) -> Any:
    value = interpreter.natively(operator.getitem, container, key)
    if not interpreter.recorder.call(operator.getitem, (container, key), value):
        interpreter.is_opaque(f"an item of a {type(container).__name__} is another object each time")
    return value


def _index(interpreter: Interpreter, container: Any, key: Any) -> Any:
    """A key as a list or tuple takes it: ``__index__`` of an object of the user's is asked here."""
    if isinstance(key, slice):
        parts = (key.start, key.stop, key.step)
        return slice(*(_index(interpreter, container, part) for part in parts))
    if isinstance(container, (list, tuple, str)) and is_python_class(type(key)) and not is_atom(key):
        return interpreter.python(operator.index, key)
    return key


def _only_missing(container: Any) -> bool:
    """Whether a dict looks items up as C does, but for the keys that it lacks."""
    kind = type(container)
    return isinstance(container, dict) and python_member(kind, "__getitem__") is None


def is_plain_key(key: Any) -> bool:
    """Whether C alone computes the hash of a key, and compares it: an atom, or an object known by identity."""
    kind = type(key)
    if is_atom(key) or is_identity(key):
        return True
    if kind is tuple:
        return all(map(is_plain_key, key))
    hashed, compared = member_of(kind, "__hash__"), member_of(kind, "__eq__")
    by_name = isinstance(hashed, types.FunctionType) and library_of(hashed) == "enum"
    return _is_default(compared) and (_is_default(hashed) or by_name)


def _dict_item(interpreter: Interpreter, container: Any, key: Any) -> Any:
    value = native_item(container, key)
    if value is not ABSENT:
        interpreter.recorder.item(container, key, value)
        return value
    missing = special_method(interpreter, container, "__missing__")
    if missing is not None:
        interpreter.recorder.item(container, key, ABSENT)
        return interpreter.call_with(missing, (container, key), {})
    if isinstance(container, collections.defaultdict) and interpreter.recorder.is_foreign(container):
        interpreter.refuse(
            f"looking up {key!r} would add it to a defaultdict from outside the function",
            "look it up with `.get`, or add it before the call",
        )
    return _NATIVE


def _class_item(interpreter: Interpreter, cls: type, key: Any) -> Any:
    method = special_method(interpreter, cls, "__getitem__")
    if isinstance(cls, _EnumType) and isinstance(key, str):
        return interpreter.attribute(cls, key) if key in cls.__members__ else _NATIVE
    if method is not None:
        return interpreter.call_with(method, (cls, key), {})
    generic = member_of(cls, "__class_getitem__")
    if isinstance(generic, classmethod) and isinstance(generic.__func__, types.FunctionType):
        return interpreter.call_with(interpreter.attribute(cls, "__class_getitem__"), (key,), {})
    return _NATIVE


_EnumType = type(__import__("enum").Enum)


def contains(interpreter: Interpreter, container: Any, item: Any) -> Any:
    """``item in container``."""
    method = special_method(interpreter, container, "__contains__")
    if method is not None:
        return interpreter.python(bool, interpreter.call_with(method, (container, item), {}))
    if isinstance(container, dict) and native_container(container) and is_plain_key(item):
        value = native_item(container, item)
        interpreter.recorder.item(container, item, value)
        return value is not ABSENT
    if isinstance(container, (list, tuple, *_ITERATORS)) or special_method(interpreter, container, "__iter__"):
        if _Reach(interpreter).is_plain(container) and _Reach(interpreter).is_plain(item):
            return _NATIVE
        return any(
            here is item or interpreter.python(bool, interpreter.python(operator.eq, here, item))
            for here in each(interpreter, container)
        )
    return _NATIVE


def iterator(interpreter: Interpreter, *args: Any) -> Any:
    """``iter(iterable)``."""
    if len(args) != 1:
        return _NATIVE
    (iterable,) = args
    if isinstance(iterable, _EnumType):
        return iter(_members(interpreter, iterable))
    method = special_method(interpreter, iterable, "__iter__")
    return _NATIVE if method is None else interpreter.python(iter, interpreter.call_with(method, (iterable,), {}))


def _members(interpreter: Interpreter, cls: Any) -> list[Any]:
    names = interpreter.attribute(cls, "_member_names_")
    interpreter.recorder.look_into(names)
    return [interpreter.attribute(cls, name) for name in names]


_END = object()


def each(interpreter: Interpreter, iterable: Any) -> Iterator[Any]:
    """What an iterable yields."""
    items = interpreter.python(iter, iterable)
    while (item := interpreter.python(next, items, _END)) is not _END:
        yield item


def _length(interpreter: Interpreter, value: Any) -> Any:
    method = special_method(interpreter, value, "__len__")
    if method is None or _is_of_a_library(method):
        return _NATIVE
    return interpreter.natively(operator.index, interpreter.call_with(method, (value,), {}))


# --- Functions that ask the items they are given --------------------------------------------------------------------


def _sum(interpreter: Interpreter, iterable: Any, /, start: Any = 0) -> Any:
    items = list(each(interpreter, iterable))
    if all(map(is_atom, items)) and is_atom(start):
        return interpreter.natively(sum, items, start)
    return functools.reduce(lambda total, item: interpreter.python(operator.add, total, item), items, start)


def _quantified(stops_at: bool) -> Handler:
    def handler(interpreter: Interpreter, iterable: Any) -> bool:
        for item in each(interpreter, iterable):
            if interpreter.python(bool, item) is stops_at:
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


def _sorted(interpreter: Interpreter, iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    items = list(each(interpreter, iterable))
    keys = _keys(interpreter, items, key)
    reach = _Reach(interpreter)
    if all(map(reach.is_plain, keys)):
        reach.look_into_containers()
        order = interpreter.natively(sorted, range(len(items)), key=keys.__getitem__, reverse=reverse)
        return [items[place] for place in order]
    if any(type(value) is ProxyTensor for value in keys):
        return interpreter.natively(sorted, keys)  # which says so
    interpreter.is_opaque(f"`sorted` compares objects of class {type(keys[0]).__name__}")
    order = interpreter.natively(sorted, range(len(items)), key=keys.__getitem__, reverse=reverse)
    return [items[place] for place in order]


def _instance_check(name: str) -> Handler:
    def handler(interpreter: Interpreter, value: Any, classes: Any) -> Any:
        if isinstance(classes, tuple):
            return any(interpreter.python(_CHECKS[name], value, each_class) for each_class in classes)
        method = special_method(interpreter, classes, name) if isinstance(classes, type) else None
        if method is not None and not is_of_the_library(method):
            return interpreter.python(bool, interpreter.call_with(method, (classes, value), {}))
        answer = interpreter.natively(_CHECKS[name], value, classes)
        if not _is_fixed(value, classes) and not _check_again(interpreter, name, value, classes, answer):
            interpreter.is_opaque(f"`{_CHECKS[name].__name__}` asks {classes!r}, which may answer otherwise")
        return answer

    return handler


_CHECKS: dict[str, Callable[[Any, Any], bool]] = {"__instancecheck__": isinstance, "__subclasscheck__": issubclass}


def is_of_the_library(method: types.FunctionType) -> bool:
    """Whether a function comes with Python."""
    return library_of(method) in {"abc", "typing", "enum", "types"}


def _is_fixed(value: Any, classes: Any) -> bool:
    """Whether a check depends on nothing that can change: tensors, and classes of C's and of this package."""
    kind = value if isinstance(value, type) else type(value)
    fixed = kind is ProxyTensor or not is_python_class(kind) or is_of_this_package(kind)
    return fixed and isinstance(classes, (type, types.UnionType)) and not is_python_class(classes)  # type: ignore[arg-type]


def _check_again(interpreter: Interpreter, name: str, value: Any, classes: Any, answer: bool) -> bool:
    recorder = interpreter.recorder
    if type(value) is ProxyTensor and isinstance(classes, type) and type(classes) is type:
        return True
    if recorder.call(_CHECKS[name], (value, classes), answer):
        return True
    path, kind = recorder.class_path_of(value), type(value)
    if path is not None:
        recorder.found(kind, path)
        return recorder.call(issubclass, (kind, classes), answer)
    return not is_python_class(kind) and isinstance(classes, type) and type(classes) is type


def _type(interpreter: Interpreter, *args: Any) -> Any:
    if len(args) != 1:
        return _NATIVE
    (value,) = args
    kind = type(value)
    if is_python_class(kind) and kind is not ProxyTensor:
        interpreter.recorder.use(kind, interpreter.recorder.class_path_of(value))
    return _NATIVE


def _same(interpreter: Interpreter, left: Any, right: Any) -> Any:
    """``left is right``, of objects found in the user's world: two paths may come to lead to one object."""
    if not (is_atom(left) and is_atom(right)):
        interpreter.recorder.call(operator.is_, (left, right), left is right)
    return left is right


def _get(interpreter: Interpreter, container: Any, key: Any, default: Any = None) -> Any:
    """``table.get(key)``."""
    if not (native_container(container) or _only_missing(container)) or not is_plain_key(key):
        return _NATIVE
    value = native_item(container, key)
    interpreter.recorder.item(container, key, value)
    return default if value is ABSENT else value


def _count(interpreter: Interpreter, container: Any, item: Any) -> Any:
    same = (here is item or interpreter.python(bool, interpreter.python(operator.eq, here, item))
            for here in each(interpreter, container))  # fmt: skip
    return sum(same)


METHODS: dict[str, Handler] = {"get": _get, "__getitem__": get_item, "count": _count, "__contains__": contains}
"""What methods of native containers do, given the container first."""


def _handlers() -> dict[Any, Handler]:
    table: dict[Any, Handler] = {
        bool: truth, operator.truth: truth, operator.not_: _not, len: _length, iter: iterator, type: _type,
        next: _unary("__next__"), reversed: _unary("__reversed__"), hash: _unary("__hash__"),
        abs: _unary("__abs__"), round: _unary("__round__"), divmod: _binary("__divmod__", "__rdivmod__", "divmod()"),
        math.floor: _unary("__floor__"), math.ceil: _unary("__ceil__"), math.trunc: _unary("__trunc__"),
        operator.neg: _unary("__neg__"), operator.pos: _unary("__pos__"), operator.invert: _unary("__invert__"),
        operator.index: _number("__index__"), float: _number("__float__", "__index__"),
        int: _number("__int__", "__index__", "__trunc__"), complex: _number("__complex__", "__float__", "__index__"),
        format: _text("__format__", "__str__", "__repr__"), str: _text("__str__", "__repr__"),
        repr: _text("__repr__"), operator.getitem: get_item, operator.contains: contains,
        isinstance: _instance_check("__instancecheck__"), issubclass: _instance_check("__subclasscheck__"),
        operator.is_: _same, operator.is_not: lambda *args: not _same(*args),
        sum: _sum, any: _quantified(True), all: _quantified(False), sorted: _sorted,
        max: _extreme(max, operator.gt), min: _extreme(min, operator.lt),
    }  # fmt: skip
    for name, symbol in _ARITHMETIC.items():
        plain = getattr(operator, name, None) or getattr(operator, f"{name}_")
        table[plain] = _binary(f"__{name}__", f"__r{name}__", symbol)
        table[getattr(operator, f"i{name}")] = _in_place(f"__i{name}__", plain)
    for name, (swapped, symbol) in _ORDER.items():
        table[getattr(operator, name)] = _binary(f"__{name}__", f"__{swapped}__", symbol)
    for function in (list, tuple, set, frozenset, enumerate, zip, itertools.chain, itertools.islice, math.fsum,
                     math.prod, collections.deque):  # fmt: skip
        table[function] = _over_iterables(function)
    return table


def _over_iterables(function: Callable[..., Any]) -> Handler:
    """For functions that go through what they are given: an object of the user's is gone through by interpreting."""

    def handler(interpreter: Interpreter, *args: Any, **kwargs: Any) -> Any:
        if not any(python_member(type(value), "__iter__") or isinstance(value, _EnumType) for value in args):
            if function in _STRUCTURAL or not any(isinstance(value, _ITERATORS) for value in args):
                return _NATIVE
            args = tuple(materialised(interpreter, value) for value in args)
            return interpreter.python(function, *args, **kwargs)
        made = [interpreter.python(iter, value) if python_member(type(value), "__iter__")
                or isinstance(value, _EnumType) else value for value in args]  # fmt: skip
        if any(python_member(type(value), "__iter__") for value in made):
            return _NATIVE
        return interpreter.python(function, *made, **kwargs)

    return handler


_HANDLERS = _handlers()

__all__ = ["METHODS", "builtins", "compute", "contains", "each", "get_item", "materialised", "special_method", "truth"]
