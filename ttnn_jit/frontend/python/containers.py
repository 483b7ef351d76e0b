"""Look-ups in containers in the interpreter, which read the item and not the whole container."""

from __future__ import annotations

import collections
import enum
import itertools
import operator
import types
from collections.abc import Iterator
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.diagnostics.origin import is_of_the_standard_library
from ttnn_jit.foreign.library_values import is_library_value
from ttnn_jit.foreign.torch_modules import key_of_item
from ttnn_jit.foreign.values import (
    ABSENT,
    is_a,
    is_atom,
    is_identity,
    is_implemented_in_c,
    is_native_container,
    is_operation,
    member_of,
    native_class,
    native_contents,
    native_item,
    python_member,
)
from ttnn_jit.frontend.plain_numbers import SymbolicSize
from ttnn_jit.frontend.python.interpreter import Interpreter
from ttnn_jit.frontend.python.special_methods import (
    NATIVE,
    SCALARS,
    convert_result,
    is_default,
    may_compute,
    refuse_foreign,
    special_method,
)
from ttnn_jit.frontend.python.tensor_attributes import class_of
from ttnn_jit.frontend.python.tensor_identities import object_of, record_native_comparison
from ttnn_jit.frontend.reads.function_source import is_within_the_language
from ttnn_jit.frontend.tensors.proxy import ProxyTensor

_TABLE = {0: 0}
_ORDERED = collections.OrderedDict(_TABLE)
_ITERABLES: tuple[Any, ...] = (
    [], (), _TABLE, {0}, "", b"", range(0), range(1 << 70), _TABLE.values(), _TABLE.items(), collections.deque(),
    _ORDERED,
)  # fmt: skip
ITERATORS: tuple[type, ...] = (
    *{type(iter(made)) for made in _ITERABLES}, type(reversed([0])), type(reversed(_TABLE)),
    type(reversed(collections.deque())), zip, map, filter,
    enumerate, reversed, types.GeneratorType, itertools.accumulate, itertools.chain, itertools.combinations,
    itertools.compress, itertools.dropwhile, itertools.filterfalse, itertools.groupby, itertools.islice,
    itertools.pairwise, itertools.permutations, itertools.product, itertools.starmap, itertools.takewhile,
    itertools.zip_longest,
)  # fmt: skip
_SEQUENCES = (list, tuple, collections.deque)
VIEWS: tuple[type, ...] = tuple(
    type(view) for table in (_TABLE, _ORDERED) for view in (table.keys(), table.values(), table.items())
)


class Purity:
    """Whether C computes with values without running the user's code; collects the native containers among them."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._containers: dict[int, Any] = {}
        self._tensors: list[ProxyTensor] = []

    def is_pure(self, value: Any) -> bool:
        """Whether computing with `value` is pure: C finds only atoms, proxies and functions in it."""
        self._tensors += [value] if type(value) is ProxyTensor else []
        if type(value) is ProxyTensor or is_atom(value) or is_self_describing(value) or _is_of_the_interpreter(value):
            return True
        if type(value) in VIEWS:
            return all(map(self.is_pure, value))
        if is_a(value, BaseException) and is_implemented_in_c(_member(value, "__str__")):
            return all(map(self.is_pure, value.args))
        if id(value) in self._containers:
            return True
        # A class of the user's may define an operator that C would call.
        if may_compute(value) or not is_native_container(value):
            return False
        return self.is_pure_to_iterate(value) and all(map(self.is_pure, native_contents(value)))

    def is_pure_to_iterate(self, value: Any) -> bool:
        """Whether iterating over `value` runs no code of the user's: C forwards its items, which may be anything."""
        if is_native_container(value) and is_implemented_in_c(_member(value, "__index__")):
            if may_compute(value):
                self._interpreter.class_member(value, "__iter__")
            self._containers[id(value)] = value
            return True
        refuse_foreign_iterator(self._interpreter, value)
        known = is_atom(value) or is_self_describing(value) or _is_of_the_interpreter(value) or is_operation(value)
        return known or type(value) is ProxyTensor or is_a(value, *ITERATORS, *VIEWS)

    def is_pure_receiver(self, value: Any) -> bool:
        """Whether a builtin method, called on `value`, reads only the contents of the native container or scalar."""
        if native_class(type(value)) is None:
            self._interpreter.recorder.use(value, self._interpreter.recorder.path_of(value))
            return is_a(value, *SCALARS) or self.is_pure_to_iterate(value)
        self._containers[id(value)] = value
        return True

    def record_containers(self, *, forwards: bool) -> None:
        """Record that C iterated over the containers, and compared their tensors unless it only `forwards` items."""
        for container in self._containers.values():
            self._interpreter.recorder.record_contents(container)
        if self._containers and not forwards:
            record_native_comparison(self._interpreter, self._tensors)


def is_self_describing(value: Any) -> bool:
    """Whether `value` is known by its identity or a library value, and its class has no operators of the user's."""
    return (is_identity(value) or is_library_value(value)) and not may_compute(value)


def _is_of_the_interpreter(value: Any) -> bool:
    return type(value).__module__.startswith("ttnn_jit.frontend.")


# --- Items ----------------------------------------------------------------------------------------------------------


def is_plain_key(interpreter: Interpreter, key: Any) -> bool:
    """Whether only C hashes and compares a key: an atom, or an object that is known by its identity."""
    if type(key) is ProxyTensor:
        record_native_comparison(interpreter, [key])
        return True
    if is_atom(key) or is_self_describing(key):
        return True
    if type(key) is tuple:
        return all(is_plain_key(interpreter, part) for part in key)
    member = interpreter.class_member if may_compute(key) else _member
    hashed, compared = member(key, "__hash__"), member(key, "__eq__")
    if is_a(key, *SCALARS):
        return is_implemented_in_c(hashed) and is_implemented_in_c(compared)
    by_name = isinstance(hashed, types.FunctionType) and is_a(key, enum.Enum) and is_of_the_standard_library(hashed)
    return is_default(compared) and (is_default(hashed) or by_name)


def _member(value: Any, name: str) -> Any:
    return member_of(type(value), name)


def get_item(interpreter: Interpreter, container: Any, key: Any) -> Any:
    """``container[key]``."""
    if is_a(container, type):
        return _item_of_class(interpreter, container, key)
    method = special_method(interpreter, container, "__getitem__")
    if method is not None:
        return interpreter.call_with(method, (container, key), {})
    if (module_key := key_of_item(container, key)) is not None:
        return interpreter.python(operator.getitem, interpreter.attribute(container, "_modules"), module_key)
    if may_compute(container) and not is_implemented_in_c(_member(container, "__getitem__")):
        return NATIVE
    return get_native_item(interpreter, container, key)


def get_native_item(interpreter: Interpreter, container: Any, key: Any) -> Any:
    """The item that C finds in a container under a key."""
    key = _as_index(interpreter, container, key)
    if type(container) is SymbolicSize:
        return interpreter.natively(operator.getitem, container, key)
    if is_a(container, dict):
        return _item_of_dict(interpreter, container, key)
    if type(key) is slice and is_atom(key) and is_a(container, list, tuple):
        interpreter.recorder.record_contents(container)
        return interpreter.natively(native_item, container, key)
    if type(key) is slice or not is_a(container, *_SEQUENCES):
        return interpreter.compute_in_c(operator.getitem, container, key)
    try:
        value = interpreter.natively(native_item, container, key)
    except CompileError:
        interpreter.recorder.record_contents(container)  # the program may catch the IndexError
        raise
    return interpreter.opened(value, interpreter.recorder.record_item(container, key, value))


def _as_index(interpreter: Interpreter, container: Any, key: Any) -> Any:
    """`key` as an index of a sequence: calls the ``__index__`` of an object of the user's."""
    if type(key) is slice:
        return slice(*(_as_index(interpreter, container, part) for part in (key.start, key.stop, key.step)))
    if is_a(container, *_SEQUENCES, str, bytes, range) and may_compute(key):
        return interpreter.python(operator.index, key)
    return key


def _item_of_dict(interpreter: Interpreter, container: Any, key: Any) -> Any:
    if not is_plain_key(interpreter, key):
        return interpreter.compute_in_c(operator.getitem, container, key)
    value = _native_item(interpreter, container, key)
    if value is not ABSENT:
        return value
    missing = special_method(interpreter, container, "__missing__")
    if missing is not None:
        return interpreter.call_with(missing, (container, key), {})
    if not (is_implemented_in_c(found := _member(container, "__missing__")) or is_a(found, types.FunctionType)):
        return interpreter.compute_in_c(operator.getitem, container, key)
    if is_a(container, collections.defaultdict) and interpreter.recorder.is_foreign(container):
        interpreter.refuse_change(
            f"looking up {key!r} would add it to a defaultdict from outside the function",
            "look it up with `.get`, or add it before the call",
        )
    return interpreter.natively(operator.getitem, container, key)


def _native_item(interpreter: Interpreter, container: Any, key: Any) -> Any:
    """The item that C finds in a dict, recorded as read."""
    if type(key) is ProxyTensor and interpreter.recorder.is_foreign(container):
        key = object_of(interpreter, key)
    value = interpreter.natively(native_item, container, key)
    return interpreter.opened(value, interpreter.recorder.record_item(container, key, value))


def _item_of_class(interpreter: Interpreter, cls: type, key: Any) -> Any:
    members: Any = cls.__members__ if isinstance(cls, enum.EnumMeta) else {}
    if type(key) is str and key in members:
        return interpreter.attribute(cls, members[key]._name_)
    method = special_method(interpreter, cls, "__getitem__")
    if method is not None:
        return interpreter.call_with(method, (cls, key), {})
    generic = member_of(cls, "__class_getitem__")
    if isinstance(generic, classmethod) and isinstance(generic.__func__, types.FunctionType):
        return interpreter.call_with(interpreter.attribute(cls, "__class_getitem__"), (key,), {})
    return interpreter.natively(operator.getitem, cls, key)


def set_item(interpreter: Interpreter, container: Any, key: Any, value: Any) -> Any:
    """``container[key] = value``, of a container that the program made."""
    method = special_method(interpreter, container, "__setitem__")
    if method is not None:
        return interpreter.call_with(method, (container, key, value), {})
    refuse_foreign(interpreter, container)
    if may_compute(container) and not is_implemented_in_c(_member(container, "__setitem__")):
        return interpreter.compute_in_c(operator.setitem, container, key, value)
    key = _as_index(interpreter, container, key)
    if type(key) is slice and is_a(container, list):
        value = interpreter.python(list, value)
    elif not is_plain_key(interpreter, key):
        interpreter.mark_opaque(f"the key, a {type(key).__name__}, has a hash or comparison of its own")
    return interpreter.natively(operator.setitem, container, key, value)


def del_item(interpreter: Interpreter, container: Any, key: Any) -> Any:
    """``del container[key]``, of a container that the program made."""
    method = special_method(interpreter, container, "__delitem__")
    if method is not None:
        return interpreter.call_with(method, (container, key), {})
    refuse_foreign(interpreter, container)
    return interpreter.compute_in_c(operator.delitem, container, _as_index(interpreter, container, key))


def get(interpreter: Interpreter, container: Any, key: Any, default: Any = None) -> Any:
    """``table.get(key)``."""
    if not is_a(container, dict) or not is_plain_key(interpreter, key):
        return NATIVE
    value = _native_item(interpreter, container, key)
    return default if value is ABSENT else value


def contains(interpreter: Interpreter, container: Any, item: Any) -> Any:
    """``item in container``."""
    method = special_method(interpreter, container, "__contains__")
    if method is not None:
        return interpreter.python(bool, interpreter.call_with(method, (container, item), {}))
    if may_compute(container) and not is_implemented_in_c(_member(container, "__contains__")):
        return NATIVE
    return native_contains(interpreter, container, item)


def native_contains(interpreter: Interpreter, container: Any, item: Any) -> Any:
    """Whether C finds `item` in a container."""
    if is_a(container, dict) and is_plain_key(interpreter, item):
        return get(interpreter, container, item, ABSENT) is not ABSENT
    if Purity(interpreter).is_pure((container, item)):
        return NATIVE
    sequence = is_a(container, *_SEQUENCES, *ITERATORS) and is_native_container(container)
    if sequence or special_method(interpreter, container, "__iter__") is not None:
        return any(_equal(interpreter, here, item) for here in each(interpreter, container))
    return NATIVE


def _equal(interpreter: Interpreter, here: Any, item: Any) -> bool:
    one = interpreter.python(operator.is_, here, item)
    return one or bool(interpreter.python(bool, interpreter.python(operator.eq, here, item)))


def count(interpreter: Interpreter, container: Any, item: Any) -> Any:
    """``items.count(item)``."""
    if not is_a(container, *_SEQUENCES) or Purity(interpreter).is_pure((container, item)):
        return NATIVE
    return sum(_equal(interpreter, here, item) for here in each(interpreter, container))


def index(interpreter: Interpreter, container: Any, item: Any, *bounds: Any) -> Any:
    """``items.index(item)``."""
    if bounds or not is_a(container, *_SEQUENCES) or Purity(interpreter).is_pure((container, item)):
        return NATIVE
    for position, here in enumerate(each(interpreter, container)):
        if _equal(interpreter, here, item):
            return position
    return interpreter.fail(ValueError(f"the {type(container).__name__} does not contain it"))


# --- Iteration ------------------------------------------------------------------------------------------------------


def iterator(interpreter: Interpreter, *args: Any) -> Any:
    """``iter(iterable)``."""
    if len(args) == 2:
        return _until(interpreter, *args)
    if len(args) != 1:
        return NATIVE
    (iterable,) = args
    if is_a(iterable, enum.EnumMeta):
        return iter(_members(interpreter, iterable))
    method = interpreter.class_member(iterable, "__iter__") if may_compute(iterable) else None
    if not (isinstance(method, types.FunctionType) and is_within_the_language(method)):
        return NATIVE
    return convert_result(interpreter, iter, args, "__iter__", method)


def _until(interpreter: Interpreter, called: Any, sentinel: Any) -> Iterator[Any]:
    while not _equal(interpreter, item := interpreter.call_with(called, (), {}), sentinel):
        yield item


def _members(interpreter: Interpreter, cls: enum.EnumMeta) -> list[Any]:
    names = interpreter.attribute(cls, "_member_names_")
    interpreter.recorder.record_contents(names)
    return [interpreter.attribute(cls, name) for name in names]


def next_item(interpreter: Interpreter, items: Any, *default: Any) -> Any:
    """``next(items)``."""
    refuse_foreign_iterator(interpreter, items)
    if not is_a(items, *ITERATORS):
        interpreter.mark_opaque(f"a {type(items).__name__} computes its items by code that cannot be followed")
    return interpreter.natively(next, items, *default)


def refuse_foreign_iterator(interpreter: Interpreter, items: Any) -> None:
    """Refuse to advance an iterator from outside the program.

    Raises:
        CompileError: It was found in a global, a closure or an object of the user's.
    """
    advances = member_of(type(items), "__next__") is not ABSENT and type(items) is not ProxyTensor
    if advances and interpreter.recorder.is_foreign(items):
        interpreter.refuse_change(
            f"this {type(items).__name__} comes from outside the function, which a compiled function cannot advance",
            "make a list of what it yields before the call",
        )


_END = object()


def each(interpreter: Interpreter, iterable: Any) -> Iterator[Any]:
    """The items of an iterable."""
    items = interpreter.python(iter, iterable)
    while (item := interpreter.python(next, items, _END)) is not _END:
        yield item


def natively_iterable(interpreter: Interpreter, value: Any) -> Any:
    """`value`, or an interpreted iterator over it if its ``__iter__`` is written in Python."""
    by_python = may_compute(value) and python_member(type(value), "__iter__") is not None
    return interpreter.python(iter, value) if by_python or is_a(value, enum.EnumMeta) else value


def materialised(interpreter: Interpreter, value: Any) -> Any:
    """`value`, or the list of its items if it is an iterator."""
    return list(each(interpreter, value)) if is_a(value, *ITERATORS) else value


def type_of(interpreter: Interpreter, *args: Any) -> Any:
    """``type(value)``."""
    if len(args) == 1 and type(args[0]) is ProxyTensor:
        return class_of(interpreter, args[0])
    if len(args) == 1 and may_compute(args[0]):
        interpreter.recorder.use(type(args[0]), interpreter.recorder.class_path_of(args[0]))
        return type(args[0])
    return NATIVE
