"""Collects what a compile reads of the user's world, and remembers where each object of it was found."""

from __future__ import annotations

import enum
import functools
import sys
import types
from collections.abc import Iterator
from typing import Any, cast

from ttnn_jit.numpy_scalar import is_numpy_scalar
from ttnn_jit.origin import THIS_PACKAGE, is_of_this_package, library_of
from ttnn_jit.reads import (
    ABSENT,
    ATTRIBUTE_STEP,
    BUILTIN_STEP,
    CLOSURE_STEP,
    CONTENTS_STEP,
    GLOBAL_STEP,
    ITEM_STEP,
    Path,
    Read,
    contents,
)

CONTAINERS = (list, tuple, dict, set, frozenset)
_MUTABLE_CONTAINERS = (list, dict, set)
_GUARDED_BY_IDENTITY = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_PYTHONS_OWN = sys.stdlib_module_names - {"__main__", "builtins"}  # where `exec` gives no name, classes are of builtins
_WRITTEN_IN_PYTHON = 1 << 9  # CPython's Py_TPFLAGS_HEAPTYPE
_VALUES = (bool, int, float, complex, str, bytes, type(None), type(...), enum.Enum, range, slice)


def is_immutable(value: Any) -> bool:
    """Whether reading an attribute of `value` reads nothing but `value` itself."""
    return (
        isinstance(value, (*_VALUES, *CONTAINERS))
        or is_numpy_scalar(value)
        or (not isinstance(value, (type, types.ModuleType, types.FunctionType)) and is_of_this_package(value))
    )


def holds_attribute(value: Any, name: str) -> bool:
    """Whether the attribute `name` of `value` can change only if `value` is another object."""
    kind = type(value)
    if isinstance(value, enum.Enum):
        held = name in {"name", "value"} and isinstance(getattr(value, name), _VALUES)
        return held or is_of_this_package(value)
    if isinstance(value, tuple) and name in getattr(kind, "_fields", ()):
        return True
    return is_immutable(value) and (is_pythons_own(kind) or is_of_this_package(value))


def is_pythons_own(kind: type) -> bool:
    """Whether a class comes with Python."""
    return not kind.__flags__ & _WRITTEN_IN_PYTHON or library_of(kind) in _PYTHONS_OWN


_ONLY_MADE = frozenset({
    "__copy__", "__deepcopy__", "__getnewargs__", "__init__", "__init_subclass__", "__new__", "__post_init__",
    "__reduce__", "__reduce_ex__", "__setattr__",
})  # fmt: skip
"""Special methods that no operator and no look-up runs."""

_ONLY_SHOWN = frozenset({"__format__", "__repr__", "__str__"})
SHOWING = (ascii, format, repr, str)
"""The functions of Python that run these."""


def computes_by_own_code(kind: type, *, shown: bool = False) -> bool:
    """Whether an operator, or a look-up, on an instance of `kind` may run code of the user's, which reads anything.

    Args:
        kind: The class.
        shown: The instance may be made a text of, too.
    """
    left_out = _ONLY_MADE if shown else _ONLY_MADE | _ONLY_SHOWN
    return bool(kind.__flags__ & _WRITTEN_IN_PYTHON) and any(
        name.startswith("__") and name not in left_out and _is_of_the_user(member)
        for cls in kind.__mro__
        for name, member in vars(cls).items()
    )


def _is_of_the_user(member: Any) -> bool:
    # What a NamedTuple or dataclass brings was written by Python, in a file of no name.
    if not isinstance(member, types.FunctionType) or member.__code__.co_filename == "<string>":
        return False
    return library_of(member) not in {*_PYTHONS_OWN, THIS_PACKAGE}


class ReadRecorder:
    """The reads of one compile.

    Attributes:
        reads: What was read, by path, in order.
        unguardable: Something was read whose change no guard can see.
    """

    def __init__(self) -> None:
        self.reads: dict[Path, Read] = {}
        self.unguardable = False
        self._paths: dict[int, Path] = {}
        self._borrowed: set[int] = set()
        self._keyed: set[int] = set()
        # What is known by its id must live as long as the id is looked up.
        self._alive: list[Any] = []

    # --- finding ----------------------------------------------------------------------------------------------------

    def closure_or_global(self, function: types.FunctionType, path: Path | None, name: str) -> tuple[Any, Path | None]:
        """The value of a name that is no local of `function`, which was found at `path`; ABSENT if there is none.

        Nothing is recorded but the absence of a global that would hide a builtin: `use` records what is found.
        """
        names = function.__code__.co_freevars
        if name in names:
            cell = (function.__closure__ or ())[names.index(name)]
            try:
                return cell.cell_contents, _extended(path, CLOSURE_STEP, name)
            except ValueError:
                return ABSENT, None
        at = _extended(path, GLOBAL_STEP, name)
        if name in function.__globals__:
            return function.__globals__[name], at
        self._record(at, ABSENT)
        builtins: dict[str, Any] = cast(Any, function).__builtins__  # typeshed and mypy disagree on it from run to run
        if name in builtins:
            return builtins[name], _extended(path, BUILTIN_STEP, name)
        return ABSENT, None

    def path_of(self, value: Any) -> Path | None:
        """Where `value` was found, if it was found in the user's world."""
        return self._paths.get(id(value))

    def is_foreign(self, value: Any) -> bool:
        """Whether `value` belongs to the user's world, not to the program being compiled."""
        return id(value) in self._paths or id(value) in self._borrowed

    # --- recording --------------------------------------------------------------------------------------------------

    def found(self, value: Any, path: Path | None) -> None:
        """Remember where `value` stands, without recording that the program depends on it."""
        if path is not None and id(value) not in self._paths:
            self._paths[id(value)] = path
            self._alive.append(value)

    def borrow(self, container: Any) -> None:
        """Remember that a container among the arguments belongs to the caller."""
        self._borrowed.add(id(container))
        self._alive.append(container)

    def know_by_key(self, operation: Any) -> None:
        """Remember that the call's key says what an operation among the arguments computes."""
        self._keyed.add(id(operation))
        self._alive.append(operation)

    def is_known_by_key(self, operation: Any) -> bool:
        """Whether it was given to `know_by_key`."""
        return id(operation) in self._keyed

    def use(self, value: Any, path: Path | None) -> None:
        """Record that the program depends on `value`, found at `path`: on its identity, and on a container's items."""
        if path is None:
            self.unguardable = self.unguardable or not is_immutable(value)
            return
        if path in self.reads:
            return
        self.found(value, path)
        if isinstance(value, types.MethodType):
            # A bound method is made anew at each look-up; what stays is the function.
            self.use(value.__func__, (*path, (ATTRIBUTE_STEP, "__func__")))
            return
        self._record(path, value)
        if isinstance(value, CONTAINERS) and not computes_by_own_code(type(value)):
            self._use_items(value, path)
        elif isinstance(value, functools.partial):
            for name in ("func", "args", "keywords"):
                self.use(getattr(value, name), (*path, (ATTRIBUTE_STEP, name)))

    def look_inside(self, value: Any, *, class_only: bool = False, shown: bool = False) -> None:
        """Record that Python computed with `value`: an item, its length, its truth, whatever the object answers.

        Of an object of the user's that is neither a value nor a builtin container nobody can tell what that read.

        Args:
            value: What an operator or a function of Python was given.
            class_only: The answer depends on nothing but the object's class.
            shown: The answer is a text.
        """
        path = self._paths.get(id(value))
        if path is None or isinstance(value, _GUARDED_BY_IDENTITY):
            return
        if is_immutable(value) and not computes_by_own_code(type(value), shown=shown):
            return
        if class_only:
            self.use(type(value), (*path, (ATTRIBUTE_STEP, "__class__")))
        else:
            self.unguardable = True

    def use_function(self, function: types.FunctionType) -> Path | None:
        """Record that the program depends on the code and defaults of a helper; returns where it was found."""
        path = self.path_of(function)
        if path is None:
            self.unguardable = True
            return None
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            self.use(getattr(function, name), (*path, (ATTRIBUTE_STEP, name)))
        return path

    def _use_items(self, container: Any, path: Path) -> None:
        if isinstance(container, _MUTABLE_CONTAINERS):
            self._record((*path, (CONTENTS_STEP, None)), contents(container))
        for steps, item in items_by_path(container):
            at = (*path, *steps)
            if isinstance(item, (*CONTAINERS, functools.partial)):
                self.use(item, at)
            else:
                self.found(item, at)

    def _record(self, path: Path | None, value: Any) -> None:
        if path is not None:
            self.reads.setdefault(path, Read(path, value))


def items_by_path(container: Any) -> Iterator[tuple[Path, Any]]:
    """The items that can be looked up, and how: by key or index, or by place where a key cannot be written down."""
    if isinstance(container, dict):
        for place, (key, item) in enumerate(container.items(), len(container)):
            plain = type(key) in {str, int}
            yield ((ITEM_STEP, key),) if plain else ((CONTENTS_STEP, None), (ITEM_STEP, place)), item
    elif isinstance(container, (list, tuple)):
        for index, item in enumerate(container):
            yield ((ITEM_STEP, index),), item


def _extended(path: Path | None, kind: str, name: str) -> Path | None:
    return None if path is None else (*path, (kind, name))
