"""Collects what a compile reads of the user's world, and remembers where each object of it was found.

An object is looked up by its identity: whatever the program does with it, what is read of it then is recorded under
the path where it was found first; where it is found again, that both are one object is a read too.
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


_STAND_FOR_THEMSELVES = frozenset({
    types.FunctionType, property, functools.cached_property, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType,
})  # fmt: skip
"""Kinds of descriptors that are what an attribute of their class is."""


def _stands_for_itself(member: Any) -> bool:
    plain = type(member) in _STAND_FOR_THEMSELVES or member_of(type(member), "__get__") is ABSENT
    return plain and member is not ABSENT


class ReadRecorder:
    """The reads of one compile.

    Attributes:
        reads: What was read, by path, in order.
        opaque: The first thing whose change no guard can see; None if there is none.
        tensors: The tensors that were read, by path, in order: the hidden inputs of the program.
        tells_objects: A tensor that is several arguments, or found elsewhere too, is handled as one object.
        warnings: Texts for the user on what the function does, in order.
    """

    def __init__(self, *, tells_objects: bool = False) -> None:
        self.tells_objects = tells_objects
        self.reads: dict[Path, Read] = {}
        self.opaque: Opaque | None = None
        self.warnings: dict[str, None] = {}
        self.tensors: dict[Path, Any] = {}
        self._paths: dict[int, Path] = {}
        self._proxies: dict[int, list[tuple[Any, Path, Any]]] = {}
        self._class_paths: dict[int, Path] = {}
        self._unasked: dict[Path, type] = {}  # classes of tensors that were found, by path
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

    def class_path_of(self, value: Any) -> Path | None:
        """Where the class of `value` can be found; None if nobody knows."""
        path = self._paths.get(id(value))
        if path is not None:
            return (*path, _CLASS)
        return self._class_paths.get(id(value)) or self._paths.get(id(type(value)))

    def is_foreign(self, value: Any) -> bool:
        """Whether `value` belongs to the user's world, not to the program being compiled."""
        return id(value) in self._paths or id(value) in self._borrowed

    def operand(self, value: Any) -> Operand | None:
        """How a guard finds `value` again; None if it cannot."""
        if is_atom(value):
            return atom_operand(value) if type(value) is not slice else None  # no slice is hashable before 3.12
        path = self._paths.get(id(value))
        return None if path is None else ("path", path)

    # --- recording --------------------------------------------------------------------------------------------------

    def found(self, value: Any, path: Path | None) -> None:
        """Remember where `value` stands, without recording that the program depends on it."""
        if path is not None and id(value) not in self._paths and not _tells_itself(value):
            self._paths[id(value)] = path
            self._alive.append(value)

    def use(self, value: Any, path: Path | None) -> None:
        """Record that the program depends on what stands at `path` being `value`."""
        if path is None or path in self.reads:
            return
        if is_library_tensor(value):
            if not self.met(value, path):
                self._unasked[path] = type(value)  # its metadata are read where the program handles it
        elif type(value) is types.MethodType:
            # A bound method is made anew at each look-up; what stays is its parts.
            self.use(value.__func__, (*path, (ATTRIBUTE_STEP, "__func__")))
            self.use(value.__self__, (*path, (ATTRIBUTE_STEP, "__self__")))
        elif is_bound_builtin(value):
            self._record((*path, _CLASS), type(value))  # a method written in Python may have the same parts
            self.use(value.__self__, (*path, (ATTRIBUTE_STEP, "__self__")))
            self._record((*path, (ATTRIBUTE_STEP, "__name__")), value.__name__)
        elif not self.met(value, path):
            self._record(path, value)
        if is_a(value, functools.partial):
            self._use_partial(value, path)

    def met(self, value: Any, path: Path) -> bool:
        """Remember where `value` stands; if it is known from another path, record that both lead to one object.

        What is read of it is guarded by the path where it was met first. Returns whether it is known.
        """
        self.found(value, path)
        first = self._paths.get(id(value), path)
        if first == path:
            if issubclass(type(value), MutableValue):
                self._record(path, value)  # its fields may be assigned
            return False
        if issubclass(type(value), (int, float, complex, str, bytes, tuple)):
            self._record(first, value)  # what it is made of is read with it
        self._record((cast(Step, call_step(operator.is_, (("path", first), ("path", path)))),), True)
        return True

    def called_partial(self, value: functools.partial[Any]) -> None:
        """Record what a partial is made of: as an argument it was found, and nothing of it was used."""
        path = self._paths.get(id(value))
        if path is not None:
            self._use_partial(value, path)

    def _use_partial(self, value: functools.partial[Any], path: Path) -> None:
        self.use(value.func, (*path, (ATTRIBUTE_STEP, "func")))
        for name in ("args", "keywords"):
            held, at = getattr(value, name), (*path, (ATTRIBUTE_STEP, name))
            self.use(held, at)
            self.look_into(held)

    def asks(self, value: Any, path: Path) -> None:
        """Record the class of what stands at `path` and is about to be asked: a guard runs no code of another one's."""
        if not is_a(value, types.ModuleType, types.FunctionType, type):
            self._record((*path, _CLASS), type(value))

    def tensor(self, value: Any, mark: TensorMark) -> None:
        """Record that the program takes a tensor that was found as an input, whose metadata are `mark`."""
        self._record(self._paths[id(value)], mark)
        self.takes(value)

    def hand_over(self) -> tuple[Read, ...]:
        """The reads; the recorder lets go of all objects that were found.

        What is left of a compile is a circle of references, in which tensors would wait for the garbage collector.
        """
        for path, kind in self._unasked.items():
            if path not in self.reads:
                self._record((*path, _CLASS), kind)  # that there is a tensor was all that the program asked
        reads = tuple(self.reads.values())
        for held in (self.reads, self.tensors, self._proxies, self._alive, self._unasked):
            held.clear()
        return reads

    def takes(self, value: Any) -> None:
        """Remember that the program takes a tensor that was found as an input."""
        self.tensors.setdefault(self._paths[id(value)], value)

    def absent(self, path: Path | None) -> None:
        """Record that the program depends on nothing being at `path`."""
        self._record(path, ABSENT)

    def lacks(self, container: Path, key: str) -> None:
        """Record that the program depends on a dict, found at a path, having nothing under `key`."""
        self._record((cast(Step, call_step(operator.contains, (("path", container), atom_operand(key)))),), False)

    def member(self, class_path: Path, kind: type, name: str, member: Any) -> Path:
        """Record that `member`, or ABSENT, is what serves `name` for a class `kind`; returns where it stands."""
        direct = _stands_for_itself(member) and type(kind) is type and getattr(kind, name) is member
        path = (*class_path, (ATTRIBUTE_STEP if direct else MEMBER_STEP, name))  # an attribute is far cheaper to ask
        if member is ABSENT:
            self._record(path, ABSENT)
        else:
            self.use(member, path)
        return path

    def look_into(self, container: Any) -> None:
        """Record that Python went through the items of a native container."""
        path = self._paths.get(id(container))
        if path is None:
            return
        self.asks(container, path)
        self._record((*path, (CONTENTS_STEP, None)), native_contents(container))
        for steps, item in items_by_path(container):
            self.met(item, (*path, *steps))

    def item(self, container: Any, key: Any, value: Any) -> None:
        """Record that Python looked up `key` in a native container, and found `value`, or ABSENT."""
        path = self._paths.get(id(container))
        if path is None:
            return
        if type(key) not in _PLAIN_KEYS:
            self.look_into(container)  # no path can name such a key
            for other in () if is_atom(key) else container:
                self.compared(key, other)
            return
        self.asks(container, path)
        plain = value is not ABSENT and type(container) in {list, tuple, dict}
        at = (*path, (ITEM_STEP if plain else NATIVE_ITEM_STEP, key))
        if value is ABSENT:
            self._record(at, ABSENT)
        else:
            self.use(value, at)

    def can_call(self, function: Any, operands: Iterable[Any]) -> bool:
        """Whether a guard could call `function`, of Python, again on `operands`."""
        return self._call_path(function, operands) is not None

    def call(self, function: Any, operands: Iterable[Any], result: Any) -> bool:
        """Record that `function`, of Python, makes `result` of `operands`, and have the guard call it again.

        Returns False, and records nothing, if it could not.
        """
        operands = [*operands]
        path = self._call_path(function, operands)
        for value in operands if path is not None else ():
            if (at := self._paths.get(id(value))) is not None:
                self.asks(value, at)
        self.use(result, path)
        return path is not None

    def _call_path(self, function: Any, operands: Iterable[Any]) -> Path | None:
        found = [self.operand(value) for value in operands]
        step = None if None in found else call_step(function, cast("list[Operand]", found))
        return None if step is None else (step,)

    def stands_for(self, proxy: Any, path: Path, tensor: Any) -> None:
        """Remember that the program handles `tensor`, which stands at `path`, as `proxy`; it may so handle others."""
        self._proxies.setdefault(id(proxy), []).append((proxy, path, tensor))

    def stand_ins(self) -> Iterator[tuple[Any, Path, Any]]:
        """What the program handles, where the tensor stands that this stands for, and that tensor."""
        return (one for found in self._proxies.values() for one in found)

    def occurrences_of(self, proxy: Any) -> list[tuple[Path, Any]]:
        """Where the tensors stand that the program handles as `proxy`, and these; of what it computes, nowhere."""
        return [(path, tensor) for _, path, tensor in self._proxies.get(id(proxy), ())]

    def compared(self, left: Any, right: Any) -> None:
        """Record that the program depends on two objects being one, or not."""
        found = [self.operand(value) for value in (left, right)]
        step = None if None in found else call_step(operator.is_, cast("list[Operand]", found))
        self._record(None if step is None else (step,), left is right)

    def told_apart(self, paths: Sequence[Path], values: Sequence[Any]) -> None:
        """Record that the program depends on which of the `values` at these paths are one object."""
        if len(paths) == 2:
            step = call_step(operator.is_, [("path", path) for path in paths])
            self._record((cast(Step, step),), values[0] is values[1])
        elif len(paths) > 2:
            step = call_step(same_objects, [("path", path) for path in paths])
            self._record((cast(Step, step),), same_objects(*values))

    def is_opaque(self, what: str, location: Location | None) -> None:
        """Record that something was read whose change no guard can see."""
        self.opaque = self.opaque or Opaque(what, location)

    # --- arguments --------------------------------------------------------------------------------------------------

    def argument(self, value: Any, name: str, steps: Path) -> None:
        """Take note of an argument, or of the part of one that `steps` lead to: the call's key tells it.

        Of a container it tells the class and what the instance holds, of other objects the identity.
        """
        kind = type(value)
        self._alive.append(value)
        if _tells_itself(value):
            self._keyed.add(id(value))
            return
        if issubclass(kind, (enum.Enum, types.FunctionType, types.BuiltinFunctionType)):
            self._paths[id(value)] = self._keyed_path(value, (name, *steps))
            return
        self._borrowed.add(id(value))
        if is_python_class(kind) and _is_told_by_contents(kind):
            self._class_paths[id(value)] = at = self._keyed_path(kind, (name, *steps, _CLASS))
            self.found(kind, at)

    def _keyed_path(self, value: Any, steps: tuple[Any, ...]) -> Path:
        path = ((ARGUMENT_STEP, steps),)
        self._record(path, value)
        return path

    def operation_path(self, operation: Any) -> Path | None:
        """Where an operation was found; its identity says all of it but what a user's Python function reads."""
        return next((path for path, read in self.reads.items() if read.value is operation), None)

    def is_known_by_key(self, operation: Any) -> bool:
        """Whether the call's key says what an operation among the arguments computes."""
        return id(operation) in self._keyed

    def use_function(self, function: types.FunctionType) -> Path | None:
        """Record that the program depends on the code and defaults of a helper; returns where it was found."""
        path = self.path_of(function)
        if path is None:
            return None
        self._record((*path, (ATTRIBUTE_STEP, "__code__")), function.__code__)
        for name in ("__defaults__", "__kwdefaults__"):
            held, at = getattr(function, name), (*path, (ATTRIBUTE_STEP, name))
            self._record(at, held)
            self.found(held, at)
            if held:
                self.look_into(held)
        return path

    def _record(self, path: Path | None, value: Any) -> None:
        if path is not None:
            self.reads.setdefault(path, Read(path, value))


def is_bound_builtin(value: Any) -> bool:
    """Whether `value` is a method of C's of one object, like ``table.get``."""
    if type(value) is types.MethodWrapperType:
        return True
    return type(value) is types.BuiltinFunctionType and not is_a(value.__self__, types.ModuleType, types.NoneType)


def _is_told_by_contents(kind: type) -> bool:
    """Whether a call's key holds what an argument of a class contains, beside the class."""
    return (
        native_class(kind) is not None
        or issubclass(kind, (int, float, str))
        or member_of(kind, "__dataclass_fields__") is not ABSENT
    )


def _tells_itself(value: Any) -> bool:
    """Whether nothing can be read of `value`, nor written into it, that its identity does not say."""
    if issubclass(type(value), MutableValue):
        return bool(value.is_frozen)
    return (is_atom(value) and type(value) is not frozenset) or is_operation(value)


def items_by_path(container: Any) -> Iterator[tuple[Path, Any]]:
    """The items that can be looked up, and how: by key or index, or by position where a key cannot be written down."""
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
