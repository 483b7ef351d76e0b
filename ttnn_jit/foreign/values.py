"""The classification of values that a compile reads: a value that is not known to be pure is not pure.

Every value that a compile reads is one of these, by its exact type and never by the type of a base:

- an *atom*: an immutable value that is compared by type and bits (`is_atom`);
- a *tensor*: an input of the program, not a value of it; its metadata is guarded (`runtime/libraries/marks.py`);
- a *native container* (`is_native_container`): the items that the compile reads are guarded;
- an object whose class has code in Python (`python_member`): its operators and attributes are interpreted, or the guard
  runs them again;
- anything else is opaque: a program that depends on it serves one call.

Classes are inspected, never their instances: reading an instance may run code of the user's.
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
from ttnn_jit.specs.extents.extent import Extent, specialized
from ttnn_jit.specs.extents.symbolic_float import SymbolicFloat


class _Absent(enum.Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent.ABSENT
"""The result of a look-up that found nothing."""

ANYTHING: Final = object()
"""A wildcard among the items of a container: the item may be replaced."""


class NoStableIdentityError(TypeError):
    """A value has no name that is valid in another process, so that no program that depends on it is stored on disk."""


_HEAP_TYPE_FLAG = 1 << 9  # CPython's Py_TPFLAGS_HEAPTYPE

_SCALARS = frozenset(
    {bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range}
    | {Extent, SymbolicFloat}
)
_FROZEN_CONTAINERS = frozenset({tuple, frozenset})
_CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
_FROZEN_MODULES = frozenset(
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
    """Whether `value` is immutable and compared by type and bits: a scalar, or a frozen value of this package.

    Tuples, frozensets and slices of atoms are atoms.
    """
    kind = type(value)
    if kind in _FROZEN_CONTAINERS:
        return all(map(is_atom, value))
    if kind is slice:
        return is_atom((value.start, value.stop, value.step))
    return is_scalar_class(kind)


def is_scalar_class(kind: type) -> bool:
    """Whether instances of `kind` itself are atoms, and not containers of atoms."""
    if kind in _EQUAL_BY_BITS or kind in _SCALARS:
        return True
    if kind in _MUTABLE_CLASSES:
        return False
    if not is_of_this_package(kind):
        return is_numpy_scalar_class(kind)
    never_changes = is_frozen(kind) or kind.__module__ in _FROZEN_MODULES or issubclass(kind, (enum.Enum, tuple))
    (_EQUAL_BY_BITS if never_changes else _MUTABLE_CLASSES).add(kind)
    return never_changes


def atom_key(atom: Any) -> tuple[type, object]:
    """A hashable key, equal only for atoms of equal type and bits: 1, True, 1.0, 0.0 and -0.0 differ, NaN is NaN.

    It is the key of scalars in every cache in memory. The key of a value that is not an atom is its type and itself.
    The key of a number of a trace is that of the int or float to which this use fixes it.
    """
    atom = specialized(atom)
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


_EQUAL_BY_BITS = set(_SCALARS - {float, complex, range, Extent, SymbolicFloat})
"""Classes of scalars that are equal only if their bits are. Classes of this package are added at their first use.

Ranges are excluded: they are equal if they yield the same numbers.
"""

_MUTABLE_CLASSES = weakref.WeakSet[type]()
"""Classes of this package that are not scalars, added at their first use."""

_DOUBLE = struct.Struct("<d")


def same_value(now: Any, then: Any) -> bool:
    """Whether `now` is the same object as `then`, or an atom of the same type and bits."""
    if now is then:
        return True
    return type(now) is type(then) and is_atom(then) and is_atom(now) and atom_key(now) == atom_key(then)


def is_a(value: Any, *kinds: type) -> bool:
    """`isinstance` by the type of `value`, which ignores its ``__class__``."""
    return issubclass(type(value), kinds)


def is_identity(value: Any) -> bool:
    """Whether the identity of `value` determines what it computes: a function, class, module or operation.

    The reads of a function when it runs are guarded separately.
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
    """Whether the operators of a class may run Python code of the user's or of a library."""
    return bool(kind.__flags__ & _HEAP_TYPE_FLAG) and not is_of_this_package(kind)


def member_of(kind: type, name: str) -> Any:
    """The raw member `name` of `kind` or its bases, without descriptors; ABSENT if there is none."""
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
    """The value of `name` in an object's own ``__dict__``; ABSENT if it has no such entry, or no ``__dict__``."""
    try:
        return object.__getattribute__(value, "__dict__").get(name, ABSENT)
    except AttributeError:
        return ABSENT


def has_member(kind: type, name: str) -> bool:
    """Whether a class or one of its bases has a member `name`; the metaclass is ignored."""
    return member_of(kind, name) is not ABSENT


def python_member(kind: type, name: str) -> types.FunctionType | None:
    """The Python function that implements the special method `name` of `kind`; None if C code or none does."""
    found = member_of(kind, name) if is_python_class(kind) else ABSENT
    return found if isinstance(found, types.FunctionType) else None


def is_implemented_in_c(member: Any) -> bool:
    """Whether a special method is implemented in C alone, or does not exist.

    A `functools.partialmethod`, a `staticmethod` or another callable object may run Python code.
    """
    if issubclass(type(member), types.BuiltinFunctionType):  # a bound builtin reads its object
        return issubclass(type(member.__self__), (type, types.ModuleType, types.NoneType))
    return member is ABSENT or member is None or issubclass(type(member), _C_DESCRIPTORS)


_C_DESCRIPTORS = (
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip


# --- Containers -----------------------------------------------------------------------------------------------------

_ACCESS_METHODS = (
    "__iter__", "__len__", "__getitem__", "__contains__", "__eq__", "__hash__", "__missing__", "keys", "values",
    "items", "__bool__", "__getattribute__", "__reversed__",
)  # fmt: skip


def native_class(kind: type) -> type | None:
    """The builtin base class that holds the items of a container class `kind`; None if `kind` is no container."""
    if not issubclass(kind, _CONTAINERS):
        return None
    return next(cls for cls in kind.__mro__ if not cls.__flags__ & _HEAP_TYPE_FLAG)


def is_native_container(value: Any) -> bool:
    """Whether C code alone reads the items of `value`: a list, tuple, dict or set, or a subclass without overrides.

    Overrides of this package's classes read only the items themselves.
    """
    kind = type(value)
    if kind in _CONTAINERS:
        return True
    if native_class(kind) is None:
        return False
    return is_of_this_package(kind) or all(is_implemented_in_c(member_of(kind, name)) for name in _ACCESS_METHODS)


def native_contents(container: Any) -> tuple[Any, ...]:
    """The items of a list, tuple or set, or the keys and then the values of a dict, read without overrides."""
    native: Any = native_class(type(container))
    if issubclass(native, dict):
        return (*native.__iter__(container), *native.values(container))
    return tuple(native.__iter__(container))


def native_item(container: Any, key: Any) -> Any:
    """The item of a container, read without overrides; ABSENT if a dict has no such key.

    Raises:
        IndexError: A list or tuple has no such index.
    """
    native: Any = native_class(type(container))
    if not issubclass(native, dict):
        return native.__getitem__(container, key)
    return dict.get(container, key, ABSENT)


def plain_scalar(value: Any) -> int | float | str:
    """The int, float or str of an instance of a subclass; no code of the subclass is run."""
    return next(read(value) for kind, read in _PLAIN_SCALARS.items() if is_a(value, kind))


_PLAIN_SCALARS: dict[type, Callable[[Any], int | float | str]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
}


def holds_same(container: Any, items: Iterable[Any]) -> bool:
    """Whether a container still holds these objects or equal atoms in this order; ANYTHING matches every item."""
    now, then = native_contents(container), tuple(items)
    return len(now) == len(then) and all(map(_is_same_item, now, then))


def _is_same_item(now: Any, then: Any) -> bool:
    return then is ANYTHING or same_value(now, then)
