"""The reads of a compile, and the guards that check at every call that their values have not changed.

A `Read` is a path from the compiled function to a value, and that value: a global, a closure cell, an attribute of a
module, the code of a helper, the items of a list, the result of a Python operator. `compile_guard` compiles the reads
to one generated function, which walks the paths again and compares objects by identity, and atoms by type and bits.
"""

from __future__ import annotations

import functools
import importlib
import keyword
import math
import operator
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.torch_modules import MODULE_TABLES
from ttnn_jit.foreign.values import (
    ABSENT,
    atom_key,
    holds_same,
    is_a,
    is_atom,
    member_of,
    native_contents,
    native_item,
    own_attribute,
    same_value,
)
from ttnn_jit.guards.package_state import state
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.mutable_values import frozen_within

Step: TypeAlias = tuple[str, Any]
"""One step of a path: its kind, one of the `*_STEP` constants, and the name or key to look up."""

Path: TypeAlias = tuple[Step, ...]
"""Steps from the compiled function to a value. Global and closure names belong to the function at that point."""

GLOBAL_STEP = "global"
BUILTIN_STEP = "builtin"
CLOSURE_STEP = "closure"
ATTRIBUTE_STEP = "attribute"
ITEM_STEP = "item"
"""``container[key]``, of a container of one of Python's own classes."""
NATIVE_ITEM_STEP = "native item"
"""The item of a container, read without the overrides of its class; ABSENT if a dict has no such key."""
TYPE_STEP = "type"
"""The type of an object, which may differ from its ``__class__``."""
CONTENTS_STEP = "contents"
MEMBER_STEP = "member"
"""The raw member of a class or its bases, without descriptors."""
OWN_STEP = "own"
"""An entry of an object's own ``__dict__``."""
ARGUMENT_STEP = "argument"
"""A value that the cache key holds by identity, the first step of a path: a parameter's name, and steps from it."""
TENSOR_STEP = "tensor"
"""A tensor of the call by its number: the first step of a path."""
MODULE_STEP = "module"
"""The module of an ``import``, ABSENT if there is none: the first step of a path."""
STATE_STEP = "kept"
"""State of this package (guards/package_state.py): the first step of a path."""
CALL_STEP = "call"
"""The result of a function of Python's on `Operand` values: the first step of a path."""

BOUND = "__ttnn_objects__"
"""The attribute of a function that holds its bound objects (guards/bound_objects.py)."""

Operand: TypeAlias = tuple[Any, ...]
"""An operand of a call step: ("path", path), or ("atom", its `atom_key`, the atom)."""


@dataclass(frozen=True, slots=True)
class Read:
    """A value that a compile read, and the path to it.

    Attributes:
        path: The path from the compiled function.
        value: The value; ABSENT if there was none; the mark of a tensor; after a ``contents`` step, the items of the
            container as a tuple, with ANYTHING for items that may be replaced.
    """

    path: Path
    value: Any

    def __post_init__(self) -> None:
        held = frozen_within(self.value)
        if held is not self.value:
            object.__setattr__(self, "value", held)  # a copy, which later changes of the user's do not reach

    @property
    def is_in_key(self) -> bool:
        """Whether the cache key holds the value by identity, so that no guard is needed."""
        return len(self.path) == 1 and self.path[0][0] == ARGUMENT_STEP

    def __str__(self) -> str:
        return path_text(self.path)


@dataclass(frozen=True)
class NumberMark:
    """The value of a read of a number that a template leaves open: its class. Guards return the current number.

    Attributes:
        kind: int or float.
    """

    kind: type


@dataclass(frozen=True)
class Opaque:
    """A value that a compile read and no guard can check.

    Attributes:
        what: A sentence that describes it.
        location: The location of the read.
    """

    what: str
    location: Location | None


def path_text(path: Path) -> str:
    """A path in Python's syntax, such as ``model.layers[0].scale``."""
    text, before = "", None
    for kind, name in path:
        if (kind, name) in _HIDDEN_STEPS:
            text = _HIDDEN_STEPS[kind, name] or text
        elif kind == ITEM_STEP and before in MODULE_TABLES:
            text += f"[{name}]" if str(name).isdigit() else f".{name}"
        elif kind in {ARGUMENT_STEP, TENSOR_STEP}:
            text = _argument_text(kind, name)
        elif kind in {GLOBAL_STEP, BUILTIN_STEP, CLOSURE_STEP, STATE_STEP, MODULE_STEP}:
            text = str(name) if not text else f"{text}:{name}"
        elif kind in {ATTRIBUTE_STEP, MEMBER_STEP, OWN_STEP}:
            text = f"{text}.{name}" if text else str(name)
        elif kind == TYPE_STEP:
            text = f"type({text})"
        elif kind in {ITEM_STEP, NATIVE_ITEM_STEP}:
            text = f"{text}[{name!r}]"
        elif kind == CALL_STEP:
            text = _call_text(*name)
        before = name
    return text


_HIDDEN_STEPS = {(ATTRIBUTE_STEP, BOUND): ""} | {(ATTRIBUTE_STEP, table): "" for table in MODULE_TABLES}


def _argument_text(kind: str, name: Any) -> str:
    return f"tensor {name} of the call" if kind == TENSOR_STEP else path_text(((GLOBAL_STEP, name[0]), *name[1:]))


def _call_text(function: str, operands: tuple[Operand, ...]) -> str:
    shown = [path_text(part[1]) if part[0] == "path" else repr(part[2]) for part in operands]
    return f"{shown[0]}[{shown[1]}]" if function == "operator.getitem" else f"{function}({', '.join(shown)})"


# --- Calls ----------------------------------------------------------------------------------------------------------


def call_step(function: Any, operands: Iterable[Operand]) -> Step | None:
    """The step that calls `function` on `operands`; None if the function cannot be named (`_FUNCTIONS`)."""
    name = _FUNCTION_NAMES.get(function)
    return None if name is None else (CALL_STEP, (name, tuple(operands)))


def atom_operand(atom: Any) -> Operand:
    """The operand of a call step that is an atom."""
    return "atom", atom_key(atom), atom


def same_objects(*values: Any) -> tuple[int, ...]:
    """Per value, the index of the first value that is the same object."""
    first: dict[int, int] = {}
    return tuple(first.setdefault(id(value), index) for index, value in enumerate(values))


def called_with(function: Any, names: str, *values: Any) -> Any:
    """``function(*values)``, with the last values as keyword arguments of these `names`, separated by spaces."""
    keywords = names.split()
    count = len(values) - len(keywords)
    return function(*values[:count], **dict(zip(keywords, values[count:], strict=True)))


_MODULES = {module.__name__: module for module in (operator, math, sys.modules["builtins"])}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{module.__name__}.{name}": function
    for module in _MODULES.values()
    for name, function in vars(module).items()
    if callable(function) and not name.startswith("_") and name not in {"eval", "exec", "open", "input", "print"}
} | {function.__name__: function for function in (same_objects, called_with)}
_FUNCTION_NAMES = {function: name for name, function in _FUNCTIONS.items()}


def _call_result(
    function: types.FunctionType,
    name: tuple[str, tuple[Operand, ...]],
    arguments: Mapping[str, Any],
    tensors: Sequence[Any],
) -> Any:
    called, operands = name
    values = [resolve(function, part[1], arguments, tensors) if part[0] == "path" else part[2] for part in operands]
    return _FUNCTIONS[called](*values)


# --- Walking a path -------------------------------------------------------------------------------------------------

NO_ARGUMENTS: Mapping[str, Any] = types.MappingProxyType({})


def resolve(
    function: types.FunctionType,
    path: Path,
    arguments: Mapping[str, Any] = NO_ARGUMENTS,
    tensors: Sequence[Any] = (),
) -> Any:
    """The current value of `path` from `function`; ABSENT if the last step is a look-up that finds nothing.

    Args:
        function: The function from which the path starts.
        path: The steps.
        arguments: The arguments of a call by parameter, for paths that start at one.
        tensors: The tensors of a call in order, for paths that start at one.

    Raises:
        Exception: A step fails: any exception of the object that is read.
    """
    value: Any = function
    for step in path:
        kind, name = step
        if kind == CALL_STEP:
            value = _call_result(function, name, arguments, tensors)
        elif kind == TENSOR_STEP:
            value = tensors[name]
        elif kind == ARGUMENT_STEP:
            value = functools.reduce(
                lambda found, inner: _STEPS[inner[0]](found, inner[1]), name[1:], arguments[name[0]]
            )
        else:
            value = _STEPS[kind](value, name)
    return value


def _cell(function: types.FunctionType, name: str) -> Any:
    return (function.__closure__ or ())[function.__code__.co_freevars.index(name)]


def imported(name: str) -> Any:
    """The module of that name, which is imported if necessary; ABSENT if it cannot be imported."""
    found = sys.modules.get(name)
    if found is not None:
        return found
    try:
        return importlib.import_module(name)
    except ImportError:
        return ABSENT


_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    GLOBAL_STEP: lambda value, name: value.__globals__.get(name, ABSENT),
    BUILTIN_STEP: lambda value, name: value.__builtins__[name],
    CLOSURE_STEP: lambda value, name: _cell(value, name).cell_contents,
    ATTRIBUTE_STEP: lambda value, name: getattr(value, name, ABSENT),
    TYPE_STEP: lambda value, _: type(value),
    MEMBER_STEP: member_of,
    OWN_STEP: own_attribute,
    ITEM_STEP: operator.getitem,
    NATIVE_ITEM_STEP: native_item,
    CONTENTS_STEP: lambda value, _: native_contents(value),
    STATE_STEP: lambda _, name: state(name),
    MODULE_STEP: lambda _, name: imported(name),
}

STEP_KINDS = (*_STEPS, CALL_STEP)
"""Every kind of last step of a read; the value of an argument step is in the cache key."""


# --- Guards ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GuardText:
    """The source text of a guard, for generated functions that contain the guard inline.

    Attributes:
        conditions: Python expressions that are all true while the reads hold, to be evaluated in this order.
        constants: The values of the names ``c<number>`` in the conditions. Conditions assign to names ``t<number>``.
        arguments: The numbers of the call's tensors whose identity the conditions check, by names ``a<number>``.
        tensors: The names to which the conditions assign the hidden inputs and open numbers, in order.
    """

    conditions: tuple[str, ...]
    constants: dict[str, Any]
    tensors: tuple[str, ...] = ()
    arguments: tuple[int, ...] = ()


NO_GUARD = GuardText((), {})
"""The guard of a program that depends only on the metadata of its arguments."""

GUARD_ERRORS = "Exception"
"""The exceptions of conditions whose path no longer exists: any, for objects of the user's are read."""


def guard_text(function: types.FunctionType, reads: Iterable[Read], *, compares_tensors: bool = False) -> GuardText:
    """The conditions that every read still finds the same value, one look-up per read.

    Shared prefixes of paths are walked once. With `compares_tensors`, the metadata of tensors is checked too.
    """
    writer = _GuardWriter(function, compares_tensors)
    conditions = tuple(filter(None, map(writer.condition, reads)))
    return GuardText(conditions, writer.constants, tuple(writer.tensors), tuple(writer.arguments))


ASSIGNABLE = ("__code__", "__defaults__", "__kwdefaults__")
"""The attributes of a function that can be assigned."""


def reads_of_itself(function: types.FunctionType, path: Path = ()) -> Iterator[Read]:
    """The reads of the assignable attributes of the function at `path`."""
    for name in ASSIGNABLE:
        if value := getattr(function, name):
            yield Read((*path, (ATTRIBUTE_STEP, name)), value)


Fetch: TypeAlias = Callable[[Sequence[Any]], "tuple[Any, ...] | None"]
"""From the tensors of a call to the hidden inputs of a program; None if a value that was read has changed."""


def compile_guard(
    function: types.FunctionType, reads: Iterable[Read], tensors: Sequence[Any] = ()
) -> Callable[[], bool]:
    """A guard: a function that returns whether the reads, and the code and defaults of `function`, are unchanged.

    `tensors` are the tensors of the call.
    """
    fetch = compile_fetch(function, (*reads_of_itself(function), *reads))
    return lambda: fetch(tensors) is not None


def compile_fetch(function: types.FunctionType, reads: Iterable[Read]) -> Fetch:
    """A function that checks the reads (`guard_text`) and returns the tensors among them, the hidden inputs.

    It is compiled at its first call, because many programs run once.
    """
    compiled: Fetch | None = None

    def fetch(tensors: Sequence[Any]) -> tuple[Any, ...] | None:
        nonlocal compiled
        if compiled is None:
            compiled = _compiled(guard_text(function, reads, compares_tensors=True))
        return compiled(tensors)

    return fetch


def _compiled(written: GuardText) -> Fetch:
    text = "\n".join(
        [
            f"def guard({', '.join(['tensors', *(f'{name}={name}' for name in written.constants)])}):",
            "    try:",
            *(f"        a{number} = tensors[{number}]" for number in written.arguments),
            *(f"        if not ({condition}): return None" for condition in written.conditions),
            f"    except {GUARD_ERRORS}:",
            "        return None",
            f"    return ({''.join(f'{name}, ' for name in written.tensors)})",
        ]
    )
    namespace: dict[str, Any] = dict(written.constants)
    exec(compile(text, "<ttnn_jit guard>", "exec"), namespace)  # generated text
    guard: Fetch = namespace.pop("guard")  # else a reference cycle would keep alive what was read
    # Constants are defaults, which are locals, the cheapest names; callers pass only the tensors.
    return guard


class _GuardWriter:
    """Generates one boolean expression per read, over constants that become the guard's defaults."""

    def __init__(self, function: types.FunctionType, compares_tensors: bool) -> None:
        self.constants: dict[str, Any] = {}
        self.tensors: list[str] = []
        self.arguments: dict[int, None] = {}
        self._compares_tensors = compares_tensors
        self._names: dict[int, str] = {}
        self._function = function
        self._root = self._constant(function)
        self._walked: dict[Path, str] = {}

    def condition(self, read: Read) -> str:
        """An expression that is true while `read` holds; "" if the cache key already implies it."""
        if read.is_in_key:
            self._walked[read.path] = self._constant(read.value)
            return ""
        if is_a(read.value, TensorMark, NumberMark):
            return self._fetched(read.path, read.value)
        *prefix, (kind, name) = read.path
        base = self._walk(tuple(prefix))
        if kind == CONTENTS_STEP:
            return f"{self._constant(holds_same)}({base}, {self._constant(read.value)})"
        if read.value is ABSENT and kind in {GLOBAL_STEP, ATTRIBUTE_STEP}:
            table = self._globals(tuple(prefix), base)
            return f"{name!r} not in {table}" if kind == GLOBAL_STEP else f"not hasattr({base}, {name!r})"
        step = (kind, name)
        found, constant = self._step(tuple(prefix), base, step), self._constant(read.value)
        if read.value is None or type(read.value) is bool or not is_atom(read.value):
            return f"{found} is {constant}"
        # Equal atoms may be different objects.
        again = self._step(tuple(prefix), self._walk(tuple(prefix)), step)
        return f"({found} is {constant} or {self._constant(same_value)}({again}, {constant}))"

    def _fetched(self, path: Path, mark: TensorMark | NumberMark) -> str:
        found = self._walk(path)
        self.tensors.append(variable_of(found))
        if isinstance(mark, NumberMark):
            return f"type({found}) is {mark.kind.__name__}"
        return f"{self._constant(mark)}.holds({found})" if self._compares_tensors else f"{found} is not None"

    def _walk(self, path: Path) -> str:
        if not path:
            return self._root
        known = self._walked.get(path)
        if known is None:
            text = self._step(path[:-1], self._walk(path[:-1]), path[-1])
            known = self._walked[path] = f"t{len(self._walked)}"
            return f"({known} := {text})"
        return known

    def _step(self, prefix: Path, base: str, step: Step) -> str:  # noqa: PLR0911 - one line for each kind of step
        kind, name = step
        if kind == GLOBAL_STEP:
            return f"{self._globals(prefix, base)}[{name!r}]"
        if kind == BUILTIN_STEP:
            return f"{base}.__builtins__[{name!r}]"
        if kind == CLOSURE_STEP:
            return f"{self._closure_cell(prefix, base, name)}.cell_contents"
        if kind == ATTRIBUTE_STEP:
            plain = str(name).isidentifier() and not keyword.iskeyword(name)
            return f"{base}.{name}" if plain else f"getattr({base}, {name!r})"
        if kind == TYPE_STEP:
            return f"type({base})"
        if kind == CALL_STEP:
            return self._call(*name)
        if kind == TENSOR_STEP:
            self.arguments[name] = None
            return f"a{name}"
        if kind == MODULE_STEP:
            return f"({self._constant(sys.modules)}.get({name!r}) or {self._constant(ABSENT)})"
        key = repr(name) if type(name) in {int, str, type(None)} else self._constant(name)
        return f"{base}[{key}]" if kind == ITEM_STEP else f"{self._constant(_STEPS[kind])}({base}, {key})"

    def _call(self, function: str, operands: tuple[Operand, ...]) -> str:
        written = [self._walk(part[1]) if part[0] == "path" else self._constant(part[2]) for part in operands]
        if function == "operator.is_":
            return f"({' is '.join(written)})"
        return f"{self._constant(_FUNCTIONS[function])}({', '.join(written)})"

    def _globals(self, prefix: Path, base: str) -> str:
        # A function's globals are fixed for its life, so the root's need no attribute lookup.
        return f"{base}.__globals__" if prefix else self._constant(self._function.__globals__)

    def _closure_cell(self, prefix: Path, base: str, name: str) -> str:
        if prefix:
            return f"{base}.__closure__[{variable_of(base)}.__code__.co_freevars.index({name!r})]"
        closure = self._function.__closure__ or ()
        return self._constant(closure[self._function.__code__.co_freevars.index(name)])

    def _constant(self, value: Any) -> str:
        name = self._names.setdefault(id(value), f"c{len(self._names)}")
        self.constants[name] = value
        return name


def variable_of(expression: str) -> str:
    """The variable of an expression of the guard: `t3` of ``(t3 := ...)``."""
    return expression[1:].split(" ", 1)[0] if expression.startswith("(") else expression
