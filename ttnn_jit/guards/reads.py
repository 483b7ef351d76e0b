"""What a compile read of the user's world, and how to see at every call that it is still so.

A `Read` is a path from the compiled function to a value: a global, a closure cell, an attribute of a module, the code
of a helper, the items of a list, what an operator of Python made of such. `compile_guard` turns the reads of one
compile into one generated function that walks the same paths again and compares: objects by identity, atoms by type
and bits.
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
from ttnn_jit.guards.package_state import kept
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.open_values import kept_within

Step: TypeAlias = tuple[str, Any]
"""One step of a path: its kind, one of the `*_STEP` names, and the name or key it looks up."""

Path: TypeAlias = tuple[Step, ...]
"""Steps from the compiled function to a value. Names count from the function that the steps before them lead to."""

GLOBAL_STEP = "global"
BUILTIN_STEP = "builtin"
CLOSURE_STEP = "closure"
ATTRIBUTE_STEP = "attribute"
ITEM_STEP = "item"
"""What ``container[key]`` is, of a container of Python's own."""
NATIVE_ITEM_STEP = "native item"
"""The item of a container as C finds it, whatever its class overrides; ABSENT if a dict has none there."""
TYPE_STEP = "type"
"""The class of an object, whatever its ``__class__`` says."""
CONTENTS_STEP = "contents"
MEMBER_STEP = "member"
"""What the classes behind a class have under a name, descriptors unasked."""
OWN_STEP = "own"
"""What an object's own ``__dict__`` has under a name."""
ARGUMENT_STEP = "argument"
"""Something that the call's key holds by identity, the first step of a path: a parameter's name and steps from it."""
TENSOR_STEP = "tensor"
"""The tensor of that number among the tensors of the call: the first step of a path."""
MODULE_STEP = "module"
"""The module that ``import`` finds under a name, ABSENT if there is none: the first step of a path."""
KEPT_STEP = "kept"
"""What this package keeps under a name (guards/package_state.py): the first step of a path."""
CALL_STEP = "call"
"""What a function of Python makes of `Operand` values: the first step of a path."""

BOUND = "__ttnn_objects__"
"""The attribute of a function that holds the objects which it is bound to (guards/bound_objects.py)."""

Operand: TypeAlias = tuple[Any, ...]
"""An operand of a call step: ("path", path), or ("atom", its `atom_key`, the atom)."""


@dataclass(frozen=True, slots=True)
class Read:
    """One thing that a compile read.

    Attributes:
        path: Where it was found, from the compiled function on.
        value: What was there, ABSENT if nothing, of a tensor its mark; under a ``contents`` step, the items of the
            container as a tuple, ANYTHING where they may be exchanged.
    """

    path: Path
    value: Any

    def __post_init__(self) -> None:
        held = kept_within(self.value)
        if held is not self.value:
            object.__setattr__(self, "value", held)  # what users change must not change what was read

    @property
    def is_in_key(self) -> bool:
        """Whether the call's key holds it, by identity: no guard needs to look."""
        return len(self.path) == 1 and self.path[0][0] == ARGUMENT_STEP

    def __str__(self) -> str:
        return path_text(self.path)


@dataclass(frozen=True)
class Opaque:
    """Something that a compile took in and whose change no guard can see.

    Attributes:
        what: A sentence on it.
        location: Where the program took it in.
    """

    what: str
    location: Location | None


def path_text(path: Path) -> str:
    """A path as a person would write it, ``model.layers[0].scale``."""
    text, before = "", None
    for kind, name in path:
        if (kind, name) in _UNWRITTEN:
            text = _UNWRITTEN[kind, name] or text
        elif kind == ITEM_STEP and before in MODULE_TABLES:
            text += f"[{name}]" if str(name).isdigit() else f".{name}"
        elif kind in {ARGUMENT_STEP, TENSOR_STEP}:
            text = _argument_text(kind, name)
        elif kind in {GLOBAL_STEP, BUILTIN_STEP, CLOSURE_STEP, KEPT_STEP, MODULE_STEP}:
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


_UNWRITTEN = {(ATTRIBUTE_STEP, BOUND): ""} | {(ATTRIBUTE_STEP, table): "" for table in MODULE_TABLES}


def _argument_text(kind: str, name: Any) -> str:
    return f"tensor {name} of the call" if kind == TENSOR_STEP else path_text(((GLOBAL_STEP, name[0]), *name[1:]))


def _call_text(function: str, operands: tuple[Operand, ...]) -> str:
    shown = [path_text(part[1]) if part[0] == "path" else repr(part[2]) for part in operands]
    return f"{shown[0]}[{shown[1]}]" if function == "operator.getitem" else f"{function}({', '.join(shown)})"


# --- Calls ----------------------------------------------------------------------------------------------------------


def call_step(function: Any, operands: Iterable[Operand]) -> Step | None:
    """The step that calls `function` again on `operands`; None if it is no function of Python's that has a name."""
    name = _FUNCTION_NAMES.get(function)
    return None if name is None else (CALL_STEP, (name, tuple(operands)))


def atom_operand(atom: Any) -> Operand:
    """An operand that is an atom."""
    return "atom", atom_key(atom), atom


def same_objects(*values: Any) -> tuple[int, ...]:
    """Per value, the first of them that is the same object."""
    first: dict[int, int] = {}
    return tuple(first.setdefault(id(value), index) for index, value in enumerate(values))


def called_with(function: Any, names: str, *values: Any) -> Any:
    """What `function` gives for these arguments, the last of which have the `names`."""
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


def _called(
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
    """The value that `path` leads to from `function` today; ABSENT where the last step may find nothing.

    Args:
        function: Where the path starts.
        path: The steps.
        arguments: Those of a call, by parameter, for paths that start there.
        tensors: Those among the arguments, in order, for paths that start at one.

    Raises:
        Exception: A step leads nowhere any more: whatever the object raised that was asked.
    """
    value: Any = function
    for step in path:
        kind, name = step
        if kind == CALL_STEP:
            value = _called(function, name, arguments, tensors)
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
    """The module of that name, which is loaded if it is not yet; ABSENT if it cannot be."""
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
    KEPT_STEP: lambda _, name: kept(name),
    MODULE_STEP: lambda _, name: imported(name),
}

STEP_KINDS = (*_STEPS, CALL_STEP)
"""Every kind of step that a read ends with; what an argument step finds, the call's key holds."""


# --- Guards ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GuardText:
    """What every read still finds, as the text of conditions, so that a generated function can hold them inline.

    Attributes:
        conditions: Python expressions, all true while the reads hold; to be evaluated in this order.
        constants: The values of the names ``c<number>`` in the conditions; they also assign to names ``t<number>``.
        arguments: The numbers of the call's tensors that they ask for identity, by names ``a<number>``.
        tensors: The names that they assign tensors to, hidden inputs in order.
    """

    conditions: tuple[str, ...]
    constants: dict[str, Any]
    tensors: tuple[str, ...] = ()
    arguments: tuple[int, ...] = ()


NO_GUARD = GuardText((), {})
"""That of a program that depends on nothing but its arguments' metadata."""

GUARD_ERRORS = "Exception"
"""What conditions raise where a path leads nowhere any more: anything, for they ask objects of the user's."""


def guard_text(function: types.FunctionType, reads: Iterable[Read], *, compares_tensors: bool = False) -> GuardText:
    """The conditions under which every read still finds the object it found: a look-up a read.

    Shared prefixes of paths are walked once. Metadata of tensors are among them if it `compares_tensors`.
    """
    writer = _GuardWriter(function, compares_tensors)
    conditions = tuple(filter(None, map(writer.condition, reads)))
    return GuardText(conditions, writer.constants, tuple(writer.tensors), tuple(writer.arguments))


ASSIGNABLE = ("__code__", "__defaults__", "__kwdefaults__")
"""What of a function may be replaced."""


def reads_of_itself(function: types.FunctionType, path: Path = ()) -> Iterator[Read]:
    """What somebody may assign to the function, which is found at `path`, and what that is now."""
    for name in ASSIGNABLE:
        if value := getattr(function, name):
            yield Read((*path, (ATTRIBUTE_STEP, name)), value)


Fetch: TypeAlias = Callable[[Sequence[Any]], "tuple[Any, ...] | None"]
"""From the tensors of a call to the hidden inputs of a program; None where something that was read has changed."""


def compile_guard(
    function: types.FunctionType, reads: Iterable[Read], tensors: Sequence[Any] = ()
) -> Callable[[], bool]:
    """A function that tells whether every read still finds the object it found, and the function is what it was.

    `tensors` are those of the call.
    """
    fetch = compile_fetch(function, (*reads_of_itself(function), *reads))
    return lambda: fetch(tensors) is not None


def compile_fetch(function: types.FunctionType, reads: Iterable[Read]) -> Fetch:
    """A function that finds the tensors among the reads, if every read still finds the object it found: `guard_text`.

    It is written and compiled when it is first asked: many a program runs once.
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
    exec(compile(text, "<ttnn_jit guard>", "exec"), namespace)  # text of our own making
    guard: Fetch = namespace.pop("guard")  # or the two would hold each other, and what was read
    # Callers pass the tensors alone; the constants are defaults because a local is the cheapest name there is.
    return guard


class _GuardWriter:
    """Writes one boolean expression per read, over constants that become the guard's defaults."""

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
        """An expression that is true while `read` still holds; "" if the call's key says so already."""
        if read.is_in_key:
            self._walked[read.path] = self._constant(read.value)
            return ""
        if is_a(read.value, TensorMark):
            return self._tensor(read.path, read.value)
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
        # An atom that was made anew is the same one.
        again = self._step(tuple(prefix), self._walk(tuple(prefix)), step)
        return f"({found} is {constant} or {self._constant(same_value)}({again}, {constant}))"

    def _tensor(self, path: Path, mark: TensorMark) -> str:
        found = self._walk(path)
        self.tensors.append(base_name(found))
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
            return f"{base}.__closure__[{base_name(base)}.__code__.co_freevars.index({name!r})]"
        closure = self._function.__closure__ or ()
        return self._constant(closure[self._function.__code__.co_freevars.index(name)])

    def _constant(self, value: Any) -> str:
        name = self._names.setdefault(id(value), f"c{len(self._names)}")
        self.constants[name] = value
        return name


def base_name(expression: str) -> str:
    """The variable that an expression of the guard stands for: `t3` of ``(t3 := ...)``."""
    return expression[1:].split(" ", 1)[0] if expression.startswith("(") else expression
