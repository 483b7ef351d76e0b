"""The rule by which a compile believes a value: what is not known to be pure is not pure.

Every value that a compile takes in is one of these, by its exact type and never by that of a base:

- an *atom*: it says everything of itself and cannot change (`is_atom`);
- a *tensor*: it is no value of the program but an input, whose metadata are guarded (`runtime/libraries/marks.py`);
- a *native container* of such (`native_container`): what it holds is guarded where it is looked into;
- an object of a class that has code in Python (`python_member`): its operators and attributes are interpreted, or run
  again by the guard;
- anything else is opaque: a program that depends on it serves one call.

Classes are asked, never their instances: an instance may answer by code of the user's.
"""

from __future__ import annotations

import collections
import enum
import struct
import types
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ttnn_jit.diagnostics.origin import is_of_this_package
from ttnn_jit.foreign.numpy_scalar import is_numpy_function, is_numpy_scalar_class
from ttnn_jit.process.dataclass import is_frozen


class _Absent(enum.Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent.ABSENT
"""Stands for what a look-up did not find."""

ANYTHING: Final = object()
"""Stands among the items of a container for one that may be exchanged for another."""


class NoStableIdentityError(TypeError):
    """A value that another process could not recognise, so that nothing that depends on it may go to disk."""


_WRITTEN_IN_PYTHON = 1 << 9  # CPython's Py_TPFLAGS_HEAPTYPE

_SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range})
_FROZEN_CONTAINERS = frozenset({tuple, frozenset})
_CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
_OWN_ROOMS = frozenset(
    f"ttnn_jit.specs.{name}"
    for name in (
        "configs.compute_config",
        "configs.conv_configs",
        "cores.cores",
        "cores.memory_config",
        "configs.program_configs",
        "cores.sharding",
        "target",
        "tensor_spec",
    )
)


# --- Atoms ----------------------------------------------------------------------------------------------------------


def is_atom(value: Any) -> bool:
    """Whether `value` says everything of itself: a scalar of Python's or numpy's, a frozen value of this package.

    So are tuples, frozensets and slices of such.
    """
    kind = type(value)
    if kind in _FROZEN_CONTAINERS:
        return all(map(is_atom, value))
    if kind is slice:
        return is_atom((value.start, value.stop, value.step))
    return is_scalar_class(kind)


def is_scalar_class(kind: type) -> bool:
    """Whether instances of `kind` itself are atoms, and no containers of such."""
    if kind in _EQUAL_BY_BITS or kind in _SCALARS:
        return True
    if kind in _OWN_OBJECTS:
        return False
    if not is_of_this_package(kind):
        return is_numpy_scalar_class(kind)
    never_changes = is_frozen(kind) or kind.__module__ in _OWN_ROOMS or issubclass(kind, (enum.Enum, tuple))
    (_EQUAL_BY_BITS if never_changes else _OWN_OBJECTS).add(kind)
    return never_changes


def atom_key(atom: Any) -> tuple[type, object]:
    """A hashable that is equal for atoms of equal type and bits only: 1, True, 1.0, 0.0 and -0.0 differ, NaN is NaN.

    The key of scalars in every cache in memory. What is no atom stands for itself there, beside its type.
    """
    kind = type(atom)
    if kind in _EQUAL_BY_BITS:
        return kind, atom
    if issubclass(kind, float):
        return kind, _DOUBLE.pack(atom)
    if kind is complex:
        return kind, (atom_key(atom.real), atom_key(atom.imag))
    if kind in _FROZEN_CONTAINERS:
        return kind, kind(map(atom_key, atom))
    if kind is slice or kind is range:
        return kind, atom_key((atom.start, atom.stop, atom.step))
    return kind, atom.tobytes() if is_numpy_scalar_class(kind) else atom


_EQUAL_BY_BITS = set(_SCALARS - {float, complex, range})
"""Classes of scalars that are equal only if their bits are; this package's own are added when they are met.

Ranges are equal if they yield the same.
"""

_OWN_OBJECTS = weakref.WeakSet[type]()
"""This package's classes that are no scalars, added when they are met."""

_DOUBLE = struct.Struct("<d")


def same_value(now: Any, then: Any) -> bool:
    """Whether `now` is the very object, or an atom of the same type and bits."""
    if now is then:
        return True
    return type(now) is type(then) and is_atom(then) and is_atom(now) and atom_key(now) == atom_key(then)


def is_a(value: Any, *kinds: type) -> bool:
    """Whether `value` is an instance, whatever its ``__class__`` says of it."""
    return issubclass(type(value), kinds)


def is_identity(value: Any) -> bool:
    """Whether identity says everything of `value` that native code computes from it: a function, class or operation.

    What a function reads when it runs is another matter.
    """
    return is_a(value, *_IDENTITIES) or is_operation(value) or is_numpy_function(value)


_IDENTITIES = (
    type, types.ModuleType, types.CodeType, types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType,
    types.WrapperDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip


def is_operation(value: Any) -> bool:
    """Whether `value` is an operation of the `ttnn` namespace."""
    return own_attribute(value, "__ttnn_overloads__") is not ABSENT


# --- Classes --------------------------------------------------------------------------------------------------------


def is_python_class(kind: type) -> bool:
    """Whether a class may have code of the user's, or of a library of Python's, behind its operators."""
    return bool(kind.__flags__ & _WRITTEN_IN_PYTHON) and not is_of_this_package(kind)


def member_of(kind: type, name: str) -> Any:
    """What the classes behind `kind` have under `name`, as it stands there; ABSENT if none has it."""
    for holder in kind.__mro__:
        if name in holder.__dict__:
            return holder.__dict__[name]
    return ABSENT


def own_attributes(value: Any) -> Mapping[str, Any]:
    """An object's own ``__dict__``; empty where it has none."""
    try:
        own: Mapping[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return own


def has_own_attributes(value: Any) -> bool:
    """Whether an object has a ``__dict__``, empty or not."""
    return type(value).__dictoffset__ != 0


def own_attribute(value: Any, name: str) -> Any:
    """What an object's own ``__dict__`` has under `name`; ABSENT if it has nothing there, or no ``__dict__``."""
    try:
        return object.__getattribute__(value, "__dict__").get(name, ABSENT)
    except AttributeError:
        return ABSENT


def has_member(kind: type, name: str) -> bool:
    """Whether a class, or one behind it, has something under `name`; a metaclass is not asked."""
    return member_of(kind, name) is not ABSENT


def python_member(kind: type, name: str) -> types.FunctionType | None:
    """The Python function that serves the special method `name` of `kind`; None if C, or nothing, does."""
    found = member_of(kind, name) if is_python_class(kind) else ABSENT
    return found if isinstance(found, types.FunctionType) else None


def is_of_c(member: Any) -> bool:
    """Whether nothing but C is behind what a class has under the name of a special method, or nothing at all.

    A `functools.partialmethod`, a `staticmethod`, any object that can be called: all are code of somebody's.
    """
    if issubclass(type(member), types.BuiltinFunctionType):  # of an object it reads that object
        return issubclass(type(member.__self__), (type, types.ModuleType, types.NoneType))
    return member is ABSENT or member is None or issubclass(type(member), _DESCRIPTORS_OF_C)


_DESCRIPTORS_OF_C = (
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip


# --- Containers -----------------------------------------------------------------------------------------------------

_LOOKS_INSIDE = (
    "__iter__", "__len__", "__getitem__", "__contains__", "__eq__", "__hash__", "__missing__", "keys", "values",
    "items", "__bool__", "__getattribute__", "__reversed__",
)  # fmt: skip


def native_class(kind: type) -> type | None:
    """The class of C that holds the items of a container class `kind`; None if `kind` is no container."""
    if not issubclass(kind, _CONTAINERS):
        return None
    return next(cls for cls in kind.__mro__ if not cls.__flags__ & _WRITTEN_IN_PYTHON)


def native_container(value: Any) -> bool:
    """Whether C alone looks into `value`: a list, tuple, dict or set, or one of a class that overrides nothing.

    What classes of this package override reads nothing but what C finds there.
    """
    kind = type(value)
    if kind in _CONTAINERS:
        return True
    if native_class(kind) is None:
        return False
    return is_of_this_package(kind) or all(is_of_c(member_of(kind, name)) for name in _LOOKS_INSIDE)


def native_contents(container: Any) -> tuple[Any, ...]:
    """The items of a list, tuple or set, or the keys and then the values of a dict, as C finds them."""
    native: Any = native_class(type(container))
    if issubclass(native, dict):
        return (*native.__iter__(container), *native.values(container))
    return tuple(native.__iter__(container))


def native_item(container: Any, key: Any) -> Any:
    """The item of a container as C finds it; ABSENT if a dict has none there.

    Raises:
        IndexError: A list or tuple has none there.
    """
    native: Any = native_class(type(container))
    if not issubclass(native, dict):
        return native.__getitem__(container, key)
    return dict.get(container, key, ABSENT)


def plain_scalar(value: Any) -> int | float | str:
    """The number or text that an instance of a subclass of one is made of; none of its own code is run."""
    return next(read(value) for kind, read in _PLAIN_SCALARS.items() if is_a(value, kind))


_PLAIN_SCALARS: dict[type, Callable[[Any], int | float | str]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
}


def holds_same(container: Any, items: Iterable[Any]) -> bool:
    """Whether a container still holds exactly these objects, or equal atoms, or ANYTHING, in this order."""
    now, then = native_contents(container), tuple(items)
    return len(now) == len(then) and all(map(_is_still, now, then))


def _is_still(now: Any, then: Any) -> bool:
    return then is ANYTHING or same_value(now, then)
