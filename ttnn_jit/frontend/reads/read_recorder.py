"""Records what a compile reads of the user's world: the values, and the path to each object.

Objects are keyed by identity. All reads of an object are recorded under the path where it was found first. If a second
path leads to the object, a read records that both paths lead to one object.
"""

from __future__ import annotations

import enum
import functools
import operator
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.values import (
    ABSENT,
    is_a,
    is_atom,
    is_operation,
    is_python_class,
    member_of,
    native_class,
    native_contents,
)
from ttnn_jit.frontend.plain_numbers import plain
from ttnn_jit.guards.reads import (
    ARGUMENT_STEP,
    ATTRIBUTE_STEP,
    BUILTIN_STEP,
    CLOSURE_STEP,
    CONTENTS_STEP,
    GLOBAL_STEP,
    ITEM_STEP,
    MEMBER_STEP,
    NATIVE_ITEM_STEP,
    TYPE_STEP,
    Opaque,
    Operand,
    Path,
    Read,
    Step,
    atom_operand,
    call_step,
    same_objects,
)
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.runtime.libraries import is_library_tensor
from ttnn_jit.specs.mutable_values import MutableValue

_CLASS: Step = (TYPE_STEP, None)
_PLAIN_KEYS = frozenset({str, int, bool, float, type(None)})


_PLAIN_DESCRIPTORS = frozenset({
    types.FunctionType, property, functools.cached_property, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType,
})  # fmt: skip
"""Kinds of descriptors that an attribute access on their class returns unchanged."""


def _is_plain_descriptor(member: Any) -> bool:
    plain = type(member) in _PLAIN_DESCRIPTORS or member_of(type(member), "__get__") is ABSENT
    return plain and member is not ABSENT


class ReadRecorder:
    """The reads of one compile.

    Attributes:
        reads: The reads by path, in order.
        opaque: The first read whose change no guard can see; None if there is none.
        tensors: The tensors that were read, by path, in order: the hidden inputs of the program.
        tracks_identity: A tensor that is several arguments, or an argument and a hidden input, has one proxy.
        warnings: Texts for the user on what the function does, in order.
    """

    def __init__(self, *, tracks_identity: bool = False) -> None:
        self.tracks_identity = tracks_identity
        self.reads: dict[Path, Read] = {}
        self.opaque: Opaque | None = None
        self.warnings: dict[str, None] = {}
        self.tensors: dict[Path, Any] = {}
        self._paths: dict[int, Path] = {}
        self._proxies: dict[int, list[tuple[Any, Path, Any]]] = {}
        self._class_paths: dict[int, Path] = {}
        self._unqueried: dict[Path, type] = {}  # classes of tensors that were found, by path
        self._borrowed: set[int] = set()
        self._keyed: set[int] = set()
        # Objects that are keyed by id must stay alive while the ids are looked up.
        self._alive: list[Any] = []

    # --- paths ----------------------------------------------------------------------------------------------------

    def closure_or_global(self, function: types.FunctionType, path: Path | None, name: str) -> tuple[Any, Path | None]:
        """The value of a name that is no local of `function`, which was found at `path`; ABSENT if it has no value.

        Records only the absence of a global that would hide a builtin; `use` records the value.
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
        """The path of `value`; None if it was not found in the user's world."""
        return self._paths.get(id(value))

    def class_path_of(self, value: Any) -> Path | None:
        """The path of the class of `value`; None if none is known."""
        path = self._paths.get(id(value))
        if path is not None:
            return (*path, _CLASS)
        return self._class_paths.get(id(value)) or self._paths.get(id(type(value)))

    def is_foreign(self, value: Any) -> bool:
        """Whether `value` belongs to the user's world, not to the program being compiled."""
        return id(value) in self._paths or id(value) in self._borrowed

    def operand(self, value: Any) -> Operand | None:
        """The operand by which a guard finds `value` again; None if it cannot."""
        value = plain(value)
        if is_atom(value):
            return atom_operand(value) if type(value) is not slice else None  # no slice is hashable before 3.12
        path = self._paths.get(id(value))
        return None if path is None else ("path", path)

    # --- recording --------------------------------------------------------------------------------------------------

    def bind_path(self, value: Any, path: Path | None) -> None:
        """Remember `path` as the path of `value`, without a read; the first path of an object stays."""
        if path is not None and id(value) not in self._paths and not _is_fixed_by_identity(value):
            self._paths[id(value)] = path
            self._alive.append(value)

    def use(self, value: Any, path: Path | None) -> None:
        """Record that the program depends on finding `value` at `path`."""
        if path is None or path in self.reads:
            return
        if is_library_tensor(value):
            if not self.record_alias(value, path):
                self._unqueried[path] = type(value)  # its metadata are read where the program handles it
        elif type(value) is types.MethodType:
            # Each look-up makes a new bound method; its parts stay the same.
            self.use(value.__func__, (*path, (ATTRIBUTE_STEP, "__func__")))
            self.use(value.__self__, (*path, (ATTRIBUTE_STEP, "__self__")))
        elif is_bound_builtin(value):
            self._record((*path, _CLASS), type(value))  # a method written in Python may have the same parts
            self.use(value.__self__, (*path, (ATTRIBUTE_STEP, "__self__")))
            self._record((*path, (ATTRIBUTE_STEP, "__name__")), value.__name__)
        elif not self.record_alias(value, path):
            self._record(path, value)
        if is_a(value, functools.partial):
            self._use_partial(value, path)

    def record_alias(self, value: Any, path: Path) -> bool:
        """Remember the path of `value`; if it has another path already, record that both lead to one object.

        Guards use the first path. Returns whether `value` had a path already.
        """
        self.bind_path(value, path)
        first = self._paths.get(id(value), path)
        if first == path:
            if issubclass(type(value), MutableValue):
                self._record(path, value)  # its fields may be assigned
            return False
        if issubclass(type(value), (int, float, complex, str, bytes, tuple)):
            self._record(first, value)  # equality covers its contents
        self._record((cast(Step, call_step(operator.is_, (("path", first), ("path", path)))),), True)
        return True

    def record_partial(self, value: functools.partial[Any]) -> None:
        """Record the parts of a partial, of which only the path is known if it is an argument."""
        path = self._paths.get(id(value))
        if path is not None:
            self._use_partial(value, path)

    def _use_partial(self, value: functools.partial[Any], path: Path) -> None:
        self.use(value.func, (*path, (ATTRIBUTE_STEP, "func")))
        for name in ("args", "keywords"):
            held, at = getattr(value, name), (*path, (ATTRIBUTE_STEP, name))
            self.use(held, at)
            self.record_contents(held)

    def record_class(self, value: Any, path: Path) -> None:
        """Record the class of `value`, found at `path`: a guard that reads its parts runs no code of another class."""
        if not is_a(value, types.ModuleType, types.FunctionType, type):
            self._record((*path, _CLASS), type(value))

    def record_tensor(self, value: Any, mark: TensorMark) -> None:
        """Record that the program takes the tensor `value`, whose metadata are `mark`, as a hidden input."""
        self._record(self._paths[id(value)], mark)
        self.add_input(value)

    def take_reads(self) -> tuple[Read, ...]:
        """Return the reads, and release all objects that were found.

        The objects of a compile form a reference cycle, which would keep tensors alive until a garbage collection.
        """
        for path, kind in self._unqueried.items():
            if path not in self.reads:
                self._record((*path, _CLASS), kind)  # the program depends only on its being a tensor
        reads = tuple(self.reads.values())
        for held in (self.reads, self.tensors, self._proxies, self._alive, self._unqueried):
            held.clear()
        return reads

    def add_input(self, value: Any) -> None:
        """Remember the tensor `value` as a hidden input of the program."""
        self.tensors.setdefault(self._paths[id(value)], value)

    def record_absence(self, path: Path | None) -> None:
        """Record that the program depends on the absence of a value at `path`."""
        self._record(path, ABSENT)

    def record_missing_key(self, container: Path, key: str) -> None:
        """Record that the program depends on the absence of `key` in the dict at the path `container`."""
        self._record((cast(Step, call_step(operator.contains, (("path", container), atom_operand(key)))),), False)

    def record_member(self, class_path: Path, kind: type, name: str, member: Any) -> Path:
        """Record that the look-up of `name` in the class `kind` gives `member`, or ABSENT; returns its path."""
        direct = _is_plain_descriptor(member) and type(kind) is type and getattr(kind, name) is member
        path = (*class_path, (ATTRIBUTE_STEP if direct else MEMBER_STEP, name))  # reading an attribute is far cheaper
        if member is ABSENT:
            self._record(path, ABSENT)
        else:
            self.use(member, path)
        return path

    def record_contents(self, container: Any) -> None:
        """Record that Python iterated over the items of a native container."""
        path = self._paths.get(id(container))
        if path is None:
            return
        self.record_class(container, path)
        self._record((*path, (CONTENTS_STEP, None)), native_contents(container))
        for steps, item in items_by_path(container):
            self.record_alias(item, (*path, *steps))

    def record_item(self, container: Any, key: Any, value: Any) -> Path | None:
        """Record that the look-up of `key` in a native container gave `value`, or ABSENT.

        Returns:
            The path of the item; None if guards find it in another way.
        """
        path = self._paths.get(id(container))
        if path is None:
            return None
        if type(key) not in _PLAIN_KEYS:
            self.record_contents(container)  # no path can contain such a key
            for other in () if is_atom(key) else container:
                self.record_identity(key, other)
            return None
        self.record_class(container, path)
        plain = value is not ABSENT and type(container) in {list, tuple, dict}
        at = (*path, (ITEM_STEP if plain else NATIVE_ITEM_STEP, key))
        if value is ABSENT:
            self._record(at, ABSENT)
        else:
            self.use(value, at)
        return at

    def can_call(self, function: Any, operands: Iterable[Any]) -> bool:
        """Whether a guard can call Python's `function` again on `operands`."""
        return self._call_path(function, operands) is not None

    def record_call(self, function: Any, operands: Iterable[Any], result: Any) -> bool:
        """Record that Python's `function` returns `result` for `operands`; the guard calls it again.

        Returns False, and records nothing, if the guard cannot call it.
        """
        operands = [*operands]
        path = self._call_path(function, operands)
        for value in operands if path is not None else ():
            if (at := self._paths.get(id(value))) is not None:
                self.record_class(value, at)
        self.use(result, path)
        return path is not None

    def _call_path(self, function: Any, operands: Iterable[Any]) -> Path | None:
        found = [self.operand(value) for value in operands]
        step = None if None in found else call_step(function, cast("list[Operand]", found))
        return None if step is None else (step,)

    def bind_proxy(self, proxy: Any, path: Path, tensor: Any) -> None:
        """Remember that `proxy` represents `tensor`, found at `path`; a proxy may represent several tensors."""
        self._proxies.setdefault(id(proxy), []).append((proxy, path, tensor))

    def proxied_tensors(self) -> Iterator[tuple[Any, Path, Any]]:
        """The proxies, each with the path of a tensor that it represents and that tensor."""
        return (one for found in self._proxies.values() for one in found)

    def occurrences_of(self, proxy: Any) -> list[tuple[Path, Any]]:
        """The paths and the tensors that `proxy` represents; none for a computed tensor."""
        return [(path, tensor) for _, path, tensor in self._proxies.get(id(proxy), ())]

    def record_identity(self, left: Any, right: Any) -> None:
        """Record that the program depends on whether two values are one object."""
        found = [self.operand(value) for value in (left, right)]
        step = None if None in found else call_step(operator.is_, cast("list[Operand]", found))
        self._record(None if step is None else (step,), left is right)

    def record_identities(self, paths: Sequence[Path], values: Sequence[Any]) -> None:
        """Record that the program depends on which of the `values`, found at `paths`, are one object."""
        if len(paths) == 2:
            step = call_step(operator.is_, [("path", path) for path in paths])
            self._record((cast(Step, step),), values[0] is values[1])
        elif len(paths) > 2:
            step = call_step(same_objects, [("path", path) for path in paths])
            self._record((cast(Step, step),), same_objects(*values))

    def mark_opaque(self, what: str, location: Location | None) -> None:
        """Record a read, described by `what`, whose change no guard can see."""
        self.opaque = self.opaque or Opaque(what, location)

    # --- arguments --------------------------------------------------------------------------------------------------

    def record_argument(self, value: Any, name: str, steps: Path) -> None:
        """Note the argument `name`, or its part at `steps`, which the call's cache key covers.

        The key holds the class and the contents of a container, and the identity of other objects.
        """
        kind = type(value)
        self._alive.append(value)
        if _is_fixed_by_identity(value):
            self._keyed.add(id(value))
            return
        if issubclass(kind, (enum.Enum, types.FunctionType, types.BuiltinFunctionType)):
            self._paths[id(value)] = self._keyed_path(value, (name, *steps))
            return
        self._borrowed.add(id(value))
        if is_python_class(kind) and _is_keyed_by_contents(kind):
            self._class_paths[id(value)] = at = self._keyed_path(kind, (name, *steps, _CLASS))
            self.bind_path(kind, at)

    def _keyed_path(self, value: Any, steps: tuple[Any, ...]) -> Path:
        path = ((ARGUMENT_STEP, steps),)
        self._record(path, value)
        return path

    def operation_path(self, operation: Any) -> Path | None:
        """The path of an operation; its identity covers everything but the reads of a user's Python function."""
        return next((path for path, read in self.reads.items() if read.value is operation), None)

    def is_keyed(self, operation: Any) -> bool:
        """Whether the call's cache key covers an operation among the arguments."""
        return id(operation) in self._keyed

    def use_function(self, function: types.FunctionType) -> Path | None:
        """Record that the program depends on the code and defaults of a helper; returns its path."""
        path = self.path_of(function)
        if path is None:
            return None
        self._record((*path, (ATTRIBUTE_STEP, "__code__")), function.__code__)
        for name in ("__defaults__", "__kwdefaults__"):
            held, at = getattr(function, name), (*path, (ATTRIBUTE_STEP, name))
            self._record(at, held)
            self.bind_path(held, at)
            if held:
                self.record_contents(held)
        return path

    def _record(self, path: Path | None, value: Any) -> None:
        if path is not None:
            self.reads.setdefault(path, Read(path, plain(value)))


def is_bound_builtin(value: Any) -> bool:
    """Whether `value` is a builtin method bound to an object, like ``table.get``."""
    if type(value) is types.MethodWrapperType:
        return True
    return type(value) is types.BuiltinFunctionType and not is_a(value.__self__, types.ModuleType, types.NoneType)


def _is_keyed_by_contents(kind: type) -> bool:
    """Whether a call's cache key holds the contents of an argument of a class, beside the class."""
    return (
        native_class(kind) is not None
        or issubclass(kind, (int, float, str))
        or member_of(kind, "__dataclass_fields__") is not ABSENT
    )


def _is_fixed_by_identity(value: Any) -> bool:
    """Whether the identity of `value` fixes all that can be read of it: it has no mutable state."""
    if issubclass(type(value), MutableValue):
        return bool(value.is_frozen)
    return (is_atom(value) and type(value) is not frozenset) or is_operation(value)


def items_by_path(container: Any) -> Iterator[tuple[Path, Any]]:
    """The items of a container with their steps: a key or an index, or a position if no path can contain the key."""
    contents = native_contents(container)
    kind = native_class(type(container)) or object
    if issubclass(kind, dict):
        count = len(contents) // 2
        for position, (key, item) in enumerate(zip(contents[:count], contents[count:], strict=True)):
            plain = type(container) is dict and type(key) in _PLAIN_KEYS
            yield ((ITEM_STEP, key),) if plain else ((CONTENTS_STEP, None), (ITEM_STEP, position + count)), item
            if not is_atom(key):
                yield ((CONTENTS_STEP, None), (ITEM_STEP, position)), key
    else:
        indexed = type(container) in {list, tuple}
        for index, item in enumerate(contents):
            yield ((ITEM_STEP, index),) if indexed else ((CONTENTS_STEP, None), (ITEM_STEP, index)), item


def _extended(path: Path | None, kind: str, name: str) -> Path | None:
    return None if path is None else (*path, (kind, name))
