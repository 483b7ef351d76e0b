"""What a traced function may read of the user's world, found in its code object and in those it reaches.

Tracing runs the function, so nothing sees its look-ups; the instructions name every one. What they do not name, the
inside of an object that goes through a variable, cannot be guarded, and `ReadRecorder.unguardable` says so. A method's
instance is known as long as its parameter is used for attributes alone.
"""

from __future__ import annotations

import dataclasses
import dis
import enum
import functools
import sys
import types
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

from ttnn_jit.errors import CompileError
from ttnn_jit.frontend.attributes import property_of
from ttnn_jit.frontend.calls import wrapped_attribute
from ttnn_jit.frontend.language import is_pure, is_pure_class
from ttnn_jit.frontend.read_recorder import (
    CONTAINERS,
    ReadRecorder,
    computes_by_own_code,
    holds_attribute,
    is_immutable,
    is_pythons_own,
    items_by_path,
)
from ttnn_jit.frontend.spans import location_of_span
from ttnn_jit.nests import fields_of, is_named_tuple, is_record, items_of
from ttnn_jit.numpy_scalar import is_numpy_scalar
from ttnn_jit.origin import is_of_this_package, library_of
from ttnn_jit.reads import ABSENT, ATTRIBUTE_STEP, Path
from ttnn_jit.receiver import RECEIVER, RECEIVER_PATH
from ttnn_jit.source import Location

_MAX_FUNCTIONS = 200  # reached from one function; beyond, nothing is guarded
_NAME_LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})
_ATTRIBUTE_LOADS = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_SKIPPED = frozenset({"CACHE", "EXTENDED_ARG", "PRECALL", "PUSH_NULL", "NOP"})
_WORLD_CHANGES = {"STORE_GLOBAL": "global", "DELETE_GLOBAL": "global"}


def scan(function: types.FunctionType, recorder: ReadRecorder) -> None:
    """Record everything that `function` may read when it runs.

    Raises:
        CompileError: It assigns to a global.
    """
    receiver = getattr(function, RECEIVER, None)
    instance = None if receiver is None else _Instance(_first_parameter(function), receiver.instance, RECEIVER_PATH)
    _Scanner(recorder).function(function, (), instance)


def scan_value(value: Any, path: Path, recorder: ReadRecorder) -> None:
    """Record that the program goes on with `value`, found at `path`, and what it reads when it runs."""
    _Scanner(recorder)._value(value, path)


def is_known_by_key(value: Any) -> bool:
    """Whether a call's key says all that a trace can read of an argument, and of what that contains."""
    return _is_told(value) and all(map(is_known_by_key, items_of(value) or ()))


def _is_told(value: Any) -> bool:
    kind = type(value)
    if is_record(value) or is_named_tuple(value):
        fields = kind._fields if is_named_tuple(value) else fields_of(value)
        return not computes_by_own_code(kind) and _members(value) <= {*fields}
    if isinstance(value, (bool, int, float, str)):
        return not _has_methods(kind)
    plain = value is None or kind in {tuple, list, dict} or is_numpy_scalar(value)
    return plain or hasattr(value, "__ttnn_overloads__") or is_of_this_package(value)


def _members(record: Any) -> set[str]:
    """The attributes that a record has of the user's, fields among them."""
    classes = [cls for cls in type(record).__mro__ if not is_pythons_own(cls)]
    names = {name for holder in (*classes, record) for name in getattr(holder, "__dict__", ())}
    return {name for name in names - _BROUGHT if not (name[:2] == name[-2:] == "__")}


_BROUGHT = {*vars(namedtuple("_Pair", "first second")), "_abc_impl"} - {"first", "second"}  # by Python


@dataclasses.dataclass(frozen=True)
class _Instance:
    """The object that a method runs on.

    Attributes:
        name: The parameter that holds it.
        value: The object.
        path: Where it was found.
    """

    name: str
    value: Any
    path: Path


class _Scanner:
    def __init__(self, recorder: ReadRecorder) -> None:
        self._recorder = recorder
        self._seen: set[tuple[int, int]] = set()

    def function(self, function: types.FunctionType, path: Path, instance: _Instance | None = None) -> None:
        """Record what `function`, found at `path`, reads; a method reads of its `instance` too."""
        identity = id(function), id(instance.value if instance else None)
        if identity in self._seen:
            return
        self._seen.add(identity)
        if len(self._seen) > _MAX_FUNCTIONS:
            self._recorder.unguardable = True
            return
        for code in _codes(function.__code__):
            # A function inside may have a parameter of that name, which is another object.
            same = code is function.__code__ or (instance and instance.name in code.co_freevars)
            own = instance.name if instance and same else None
            for name, attributes in _chains(code, own):
                if instance and name == own:
                    self._instance_chain(instance, attributes)
                elif code is function.__code__ or name not in code.co_cellvars:
                    self._chain(function, path, name, attributes)

    def _chain(self, function: types.FunctionType, path: Path, name: str, attributes: list[str]) -> None:
        if name == _IMPORT:
            self._recorder.unguardable = True
            return
        if name in function.__code__.co_cellvars or _is_local_of_nested(function, name):
            return
        value, at = self._recorder.closure_or_global(function, path, name)
        if value is not ABSENT and at is not None:
            self._attributes(value, at, attributes)

    def _instance_chain(self, instance: _Instance, attributes: list[str]) -> None:
        if not attributes:
            # It goes on as a variable, or is written to.
            self._recorder.unguardable = True
            return
        self._recorder.found(instance.value, instance.path)
        self._attributes(instance.value, instance.path, attributes)

    def _attributes(self, value: Any, at: Path, attributes: list[str]) -> None:
        for attribute in attributes:
            if holds_attribute(value, attribute):
                break
            if property_of(value, attribute) is not None or not hasattr(value, attribute):
                # A property runs code of the user's; what is absent may appear.
                self._recorder.unguardable = True
                return
            self._recorder.found(value, at)
            value, at = getattr(value, attribute), (*at, (ATTRIBUTE_STEP, attribute))
        self._value(value, at)

    def _value(self, value: Any, path: Path) -> None:
        """Record a value that the program goes on with."""
        self._recorder.use(value, path)
        if isinstance(value, (enum.Enum, *CONTAINERS)) and _has_methods(type(value)):
            self._recorder.unguardable = True
            return
        match value:
            case types.FunctionType() if not is_of_this_package(value):
                self._helper(value, path)
            case types.MethodType():
                self._method(value, path)
            case functools.partial():
                self._value(value.func, (*path, (ATTRIBUTE_STEP, "func")))
                self._value(value.args, (*path, (ATTRIBUTE_STEP, "args")))
                self._value(value.keywords, (*path, (ATTRIBUTE_STEP, "keywords")))
            case tuple() | list() | dict():
                self._items(value, path)
            case _ if (name := wrapped_attribute(value)) is not None:
                self._value(getattr(value, name), (*path, (ATTRIBUTE_STEP, name)))
            case _ if hasattr(value, TILE_FUNCTION):
                self._value(getattr(value, TILE_FUNCTION), (*path, (ATTRIBUTE_STEP, TILE_FUNCTION)))
            case _ if dataclasses.is_dataclass(value) and not isinstance(value, type) and not is_immutable(value):
                self._fields(value, path)
            case _ if not _is_stable(value):
                self._recorder.unguardable = True

    def _helper(self, function: types.FunctionType, path: Path) -> None:
        if library_of(function) in sys.stdlib_module_names - {"__main__"}:
            self._recorder.unguardable = not is_pure(function) or self._recorder.unguardable
            return
        self._recorder.use_function(function)
        for name in ("__defaults__", "__kwdefaults__"):
            self._value(getattr(function, name), (*path, (ATTRIBUTE_STEP, name)))
        self.function(function, path)

    def _method(self, method: types.MethodType, path: Path) -> None:
        function: Any = method.__func__
        at = (*path, (ATTRIBUTE_STEP, "__func__"))
        if (name := wrapped_attribute(function)) is not None:
            function, at = getattr(function, name), (*at, (ATTRIBUTE_STEP, name))
        if not isinstance(function, types.FunctionType) or isinstance(method.__self__, type):
            self._recorder.unguardable = True
            return
        self._recorder.use(function, at)
        self._recorder.use_function(function)
        instance_path = (*path, (ATTRIBUTE_STEP, "__self__"))
        self.function(function, at, _Instance(_first_parameter(function), method.__self__, instance_path))

    def _items(self, container: Any, path: Path) -> None:
        if isinstance(container, dict) and not all(map(_is_stable, container)):
            self._recorder.unguardable = True  # the keys are objects, which the program may go through
        for steps, item in items_by_path(container):
            self._value(item, (*path, *steps))

    def _fields(self, instance: Any, path: Path) -> None:
        if not type(instance).__dataclass_params__.frozen:
            self._recorder.unguardable = True
            return
        for field in dataclasses.fields(instance):
            self._value(getattr(instance, field.name), (*path, (ATTRIBUTE_STEP, field.name)))


def _has_methods(kind: type) -> bool:
    """Whether a class of values brings code of the user's, whose reads a trace cannot follow."""
    code = (types.FunctionType, property, classmethod, staticmethod)
    own = [cls for cls in kind.__mro__ if cls.__module__ not in {"builtins", "enum"} and not is_of_this_package(cls)]
    named = [(name, member) for cls in own for name, member in vars(cls).items()]
    return computes_by_own_code(kind, shown=issubclass(kind, enum.Enum)) or any(
        isinstance(member, code) and name[0] != "_" for name, member in named
    )


def _is_stable(value: Any) -> bool:
    """Whether identity says everything of `value` that a program can read."""
    if callable(value) and "numpy" in {getattr(value, "__module__", None), type(value).__module__}:
        return True
    if isinstance(value, type):
        return (
            (is_pure_class(value) and not _has_methods(value))
            or (value.__module__ == "builtins" and value is not super)
            or is_of_this_package(value)
        )
    if isinstance(value, types.FunctionType):
        return is_of_this_package(value)
    if isinstance(value, (types.BuiltinFunctionType, types.MethodDescriptorType)):
        return is_pure(value)
    if isinstance(value, (set, frozenset)):
        return all(_is_stable(item) for item in value)
    immutable = is_immutable(value) and not computes_by_own_code(type(value))
    return immutable or hasattr(value, "__ttnn_overloads__")


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


TILE_FUNCTION = "__ttnn_tile_function__"
"""The attribute of a user's tile operation that holds its Python function."""

_IMPORT = "<import>"


def _first_parameter(function: types.FunctionType) -> str:
    return function.__code__.co_varnames[0] if function.__code__.co_argcount else ""


def _chains(code: types.CodeType, own: str | None = None) -> Iterator[tuple[str, list[str]]]:
    """Every name that the code loads from outside, with the attributes taken from it right away.

    So too for its parameter `own`, which comes without attributes where it is used in any other way.
    """
    name: str | None = None
    attributes: list[str] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname in _SKIPPED:
            continue
        if name is not None and instruction.opname in _ATTRIBUTE_LOADS:
            attributes.append(instruction.argval)
            continue
        if name is not None:
            yield name, attributes
        name, attributes = None, []
        if own is not None and own in _variables(instruction):
            *others, last = _variables(instruction)
            if own in others or "LOAD" not in instruction.opname:
                yield own, []
            name = last if last == own else None
        elif instruction.opname in _NAME_LOADS:
            name = instruction.argval
        elif instruction.opname == "IMPORT_NAME":
            yield _IMPORT, []
        elif instruction.opname in _WORLD_CHANGES:
            raise CompileError(
                f"`{_WORLD_CHANGES[instruction.opname]}` cannot be compiled: a compiled function changes nothing "
                "outside itself",
                location=_place(code, instruction),
                help="return the value",
            )


def _variables(instruction: dis.Instruction) -> tuple[str, ...]:
    """The local variables that an instruction names: some of newer Pythons name two."""
    if not any(part in instruction.opname for part in ("_FAST", "_DEREF")):
        return ()
    named = instruction.argval
    return named if isinstance(named, tuple) else (str(named),)


def _place(code: types.CodeType, instruction: dis.Instruction) -> Location:
    position = instruction.positions
    if position is None or None in position:
        return Location(code.co_filename, code.co_firstlineno)
    return location_of_span(code.co_filename, tuple(position))  # type: ignore[arg-type]


def _is_local_of_nested(function: types.FunctionType, name: str) -> bool:
    """Whether `name`, free in code nested in `function`, belongs to other nested code and not to the closure."""
    if name in function.__code__.co_freevars:
        return False
    return any(name in code.co_cellvars for code in _codes(function.__code__))
