"""Finds the reads of a function without source in its code object, and in those of the functions that it reaches.

A trace runs the function and cannot observe its look-ups, but the instructions name each look-up that begins at a
global or a closure cell. The function reads nothing else if all values that it loads are atoms, native containers of
these, operations, and functions that are scanned likewise: Python's own functions compute only such values from them.
Everything else is opaque.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.diagnostics.origin import is_of_a_library, is_of_this_package
from ttnn_jit.diagnostics.source import Location, codes_in, start_of
from ttnn_jit.foreign.numpy_scalar import is_numpy_function, is_numpy_scalar_class
from ttnn_jit.foreign.values import ABSENT, is_a, is_atom, is_operation, is_python_class, own_attribute, same_value
from ttnn_jit.frontend.calls.python_functions import is_pure
from ttnn_jit.frontend.python.wrapped_functions import TILE_FUNCTION, wrapped_attribute
from ttnn_jit.frontend.reads.read_recorder import ReadRecorder, is_bound_builtin, items_by_path
from ttnn_jit.frontend.reads.spans import location_of_span
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.frontend.tensors.tensor_classes import may_query_class, refuse_classes_without_source
from ttnn_jit.guards.bound_objects import is_bound
from ttnn_jit.guards.reads import ATTRIBUTE_STEP, Path
from ttnn_jit.runtime.libraries import TensorLibrary, is_library_tensor

_MAX_FUNCTIONS = 200  # reached from one function; beyond, the program is opaque
_NAME_LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})
_ATTRIBUTE_LOADS = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_SKIPPED = frozenset({"CACHE", "EXTENDED_ARG", "PRECALL", "PUSH_NULL", "NOP"})
_WORLD_CHANGES = {"STORE_GLOBAL": "global", "DELETE_GLOBAL": "global"}
_CONTAINERS = frozenset({list, tuple, dict, set, frozenset})


def scan(function: types.FunctionType, recorder: ReadRecorder, library: TensorLibrary | None = None) -> None:
    """Record everything that `function`, traced with tensors of `library`, may read when it runs.

    Raises:
        CompileError: It assigns to a global.
        UnsupportedFunction: It may query the class of a tensor, and the proxy has another class.
    """
    if is_bound(function):
        recorder.mark_opaque(
            f"no guard can see what `{function.__name__}` reads of its objects",
            start_of(function.__code__),
        )
    _Scanner(recorder, start_of(function.__code__), library).function(function, ())


def scan_value(value: Any, path: Path, recorder: ReadRecorder) -> None:
    """Record that the program uses `value`, found at `path`, and the reads of its code."""
    _Scanner(recorder, None).value(value, path)


def is_keyed(value: Any) -> bool:
    """Whether a call's cache key covers all that a trace can read of an argument and of its contents."""
    if type(value) in _CONTAINERS:
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        return all(map(is_keyed, parts))
    return type(value) is ProxyTensor or is_atom(value) or is_operation(value)


def may_test_identity(code: types.CodeType) -> bool:
    """Whether code may test identity: by ``is``, or by C's comparisons of items and keys."""
    instructions = (each for inner in codes_in(code) for each in dis.get_instructions(inner))
    return any(each.opname in _IDENTITY or each.argval in _COMPARING for each in instructions)


_IDENTITY = frozenset({
    "IS_OP", "CONTAINS_OP", "COMPARE_OP", "BUILD_MAP", "BUILD_SET", "SET_ADD", "MAP_ADD", "BINARY_SUBSCR",
})  # fmt: skip
_COMPARING = frozenset({"get", "index", "count", "remove", "pop", "setdefault", "add", "discard"})
"""Methods of containers that compare items."""


class _Scanner:
    def __init__(self, recorder: ReadRecorder, location: Location | None, library: TensorLibrary | None = None) -> None:
        self._recorder = recorder
        self._location = location
        self._library = library
        self._named_classes: list[Any] = []  # `type`, and classes of tensors
        self._seen: set[int] = set()

    def function(self, function: types.FunctionType, path: Path) -> None:
        """Record the reads of `function`, found at `path`."""
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        if len(self._seen) > _MAX_FUNCTIONS:
            self._opaque(f"more than {_MAX_FUNCTIONS} functions are reached")
            return
        for code in codes_in(function.__code__):
            for name, attributes, location in _chains(code):
                self._location = location
                if name in _OPAQUE:
                    self._opaque(_OPAQUE[name])
                elif name not in function.__code__.co_cellvars and not _is_local_of_nested(function, name):
                    self._chain(*self._recorder.closure_or_global(function, path, name), attributes)

    def _chain(self, value: Any, at: Path | None, attributes: list[str]) -> None:
        if value is ABSENT or at is None:
            return
        for name in attributes:
            if is_atom(value) or is_bound_builtin(value):
                break
            self._recorder.bind_path(value, at)
            found = getattr(value, name, ABSENT)
            bound = is_a(found, types.MethodType, types.BuiltinFunctionType)
            if found is ABSENT or not (bound or same_value(getattr(value, name), found)):
                self._opaque(f"`{name}` of a {type(value).__name__} is absent, or a new object at each look-up")
                return
            value, at = found, (*at, (ATTRIBUTE_STEP, name))
        self.value(value, at)

    def value(self, value: Any, path: Path) -> None:
        """Record a value that the program loads."""
        self._recorder.use(value, path)
        self._check_class(value)
        match value:
            case _ if own_attribute(value, TILE_FUNCTION) is not ABSENT:
                self.value(getattr(value, TILE_FUNCTION), (*path, (ATTRIBUTE_STEP, TILE_FUNCTION)))
            case _ if (name := wrapped_attribute(value)) is not None:
                self._wrapped(value, name, path)
            case _ if is_a(value, types.FunctionType) and not is_of_this_package(value):
                self._helper(value, path)
            case _ if is_a(value, functools.partial):
                for name in ("func", "args", "keywords"):
                    self.value(getattr(value, name), (*path, (ATTRIBUTE_STEP, name)))
            case _ if is_bound_builtin(value):
                self.value(value.__self__, (*path, (ATTRIBUTE_STEP, "__self__")))
            case _ if type(value) in _CONTAINERS:
                self._recorder.record_contents(value)
                for steps, item in items_by_path(value):
                    self.value(item, (*path, *steps))
            case _ if not is_known_in_a_trace(value):
                self._unknown(value)

    def _wrapped(self, value: Any, name: str, path: Path) -> None:
        if type(value) is functools._lru_cache_wrapper and value.cache_parameters()["maxsize"] != 0:
            self._opaque(f"the result of `{value.__name__}` depends on its cache")
            return
        self.value(getattr(value, name), (*path, (ATTRIBUTE_STEP, name)))

    def _check_class(self, value: Any) -> None:
        if self._library is not None and may_query_class(value):
            self._named_classes.append(value)
            refuse_classes_without_source(self._named_classes, self._library, self._location)

    def _unknown(self, value: Any) -> None:
        if is_library_tensor(value):
            self._recorder.add_input(value)
        self._opaque(f"the code of a {type(value).__name__} cannot be followed in a function without source")

    def _helper(self, function: types.FunctionType, path: Path) -> None:
        if is_of_a_library(function):
            self._opaque(f"`{function.__name__}` is not known to depend on its arguments alone")
            return
        self._recorder.use_function(function)
        for name in ("__defaults__", "__kwdefaults__"):
            self.value(getattr(function, name), (*path, (ATTRIBUTE_STEP, name)))
        self.function(function, path)

    def _opaque(self, what: str) -> None:
        self._recorder.mark_opaque(what, self._location)


def is_known_in_a_trace(value: Any) -> bool:
    """Whether C runs no unknown code with `value` beside atoms: an atom, an operation or a part of Python."""
    if is_a(value, type):
        of_python = is_pure(value) and not is_python_class(value)
        return of_python or is_of_this_package(value) or is_numpy_scalar_class(value)
    if is_a(value, types.FunctionType):
        return is_of_this_package(value)
    return is_atom(value) or is_operation(value) or is_numpy_function(value) or is_pure(value)


_OPAQUE = {
    "IMPORT_NAME": "an import inside a function",
    "STORE_ATTR": "an assignment to an attribute",
    "DELETE_ATTR": "a deletion of an attribute",
}
"""Instructions whose reads and writes are unknown, with descriptions."""


def _chains(code: types.CodeType) -> Iterator[tuple[str, list[str], Location]]:
    """Each name that the code loads from outside, with the attributes that directly follow, and its location.

    Opaque instructions are yielded too.
    """
    name: str | None = None
    attributes: list[str] = []
    location = start_of(code)
    for instruction in dis.get_instructions(code):
        if instruction.opname in _SKIPPED:
            continue
        if name is not None and instruction.opname in _ATTRIBUTE_LOADS:
            attributes.append(instruction.argval)
            continue
        if name is not None:
            yield name, attributes, location
        name, attributes = None, []
        if instruction.opname in _NAME_LOADS:
            name, location = instruction.argval, location_of(code, instruction)
        elif instruction.opname in _OPAQUE:
            yield instruction.opname, [], location_of(code, instruction)
        elif instruction.opname in _WORLD_CHANGES:
            raise CompileError(
                f"`{_WORLD_CHANGES[instruction.opname]}` cannot be compiled: a compiled function changes nothing "
                "outside itself",
                location=location_of(code, instruction),
                help="return the value",
            )


def location_of(code: types.CodeType, instruction: dis.Instruction) -> Location:
    """The source location of an instruction of `code`."""
    position = instruction.positions
    if position is None or None in position:
        return start_of(code)
    return location_of_span(code.co_filename, tuple(position))  # type: ignore[arg-type]


def _is_local_of_nested(function: types.FunctionType, name: str) -> bool:
    """Whether `name`, free in nested code, is a variable of other nested code and not of the closure."""
    if name in function.__code__.co_freevars:
        return False
    return any(name in code.co_cellvars for code in codes_in(function.__code__))
