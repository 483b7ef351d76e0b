"""What a compile read of the user's world, and how to see at every call that it is still so.

A `Read` is a path from the compiled function to a value: a global, a closure cell, an attribute of a module, the code
of a helper, the items of a list. `compile_guard` turns the reads of one compile into one generated function that walks
the same paths again and compares identities; `fingerprint` names a value in a way that another process can compare.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import keyword
import reprlib
import struct
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from functools import _lru_cache_wrapper, partial
from operator import is_
from typing import Any, TypeAlias

from ttnn_jit.numpy_scalar import is_numpy_function, is_numpy_scalar

Step: TypeAlias = tuple[str, Any]
"""One step of a path: its kind, one of the `*_STEP` names, and the name or key it looks up."""

Path: TypeAlias = tuple[Step, ...]
"""Steps from the compiled function to a value. Names count from the function that the steps before them lead to."""

GLOBAL_STEP = "global"
BUILTIN_STEP = "builtin"
CLOSURE_STEP = "closure"
ATTRIBUTE_STEP = "attribute"
ITEM_STEP = "item"
CONTENTS_STEP = "contents"


class _Absent(enum.Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent.ABSENT
"""The value of a read that found nothing: a name that no global shadows."""


class NoStableIdentityError(TypeError):
    """A value that another process could not recognise, so that nothing that depends on it may go to disk."""


@dataclasses.dataclass(frozen=True, slots=True)
class Read:
    """One thing that a compile read.

    Attributes:
        path: Where it was found, from the compiled function on.
        value: What was there; under a ``contents`` step, the items of the container as a tuple.
    """

    path: Path
    value: Any

    def __str__(self) -> str:
        return path_text(self.path)


def path_text(path: Path) -> str:
    """A path as a person would write it, ``model.layers[0].scale``."""
    text = ""
    for kind, name in path:
        if kind in {GLOBAL_STEP, BUILTIN_STEP, CLOSURE_STEP}:
            text = str(name) if not text else f"{text}:{name}"
        elif kind == ATTRIBUTE_STEP:
            text = f"{text}.{name}" if text else str(name)
        elif kind == ITEM_STEP:
            text = f"{text}[{name!r}]"
    return text


# --- Walking a path -------------------------------------------------------------------------------------------------


def resolve(function: types.FunctionType, path: Path) -> Any:
    """The value that `path` leads to from `function` today; ABSENT where the last global step finds nothing.

    Raises:
        LookupError, AttributeError, ValueError: A step before the last leads nowhere, or the last attribute, item or
            closure cell is gone.
    """
    value: Any = function
    for step in path:
        value = _follow(value, step)
    return value


def _follow(value: Any, step: Step) -> Any:
    match step:
        case (kind, name) if kind == GLOBAL_STEP:
            return value.__globals__.get(name, ABSENT)
        case (kind, name) if kind == BUILTIN_STEP:
            return value.__builtins__[name]
        case (kind, name) if kind == CLOSURE_STEP:
            return value.__closure__[value.__code__.co_freevars.index(name)].cell_contents
        case (kind, name) if kind == ATTRIBUTE_STEP:
            return getattr(value, name)
        case (kind, name) if kind == ITEM_STEP:
            return value[name]
        case _:
            return contents(value)


def contents(container: Any) -> tuple[Any, ...]:
    """The items of a list, tuple or set, or the keys and then the values of a dict."""
    if isinstance(container, dict):
        return (*container, *container.values())
    return tuple(container)


def same_contents(container: Any, items: tuple[Any, ...]) -> bool:
    """Whether a container still holds exactly these objects in this order."""
    now = contents(container)
    return len(now) == len(items) and all(map(is_, now, items))


# --- Guards ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class GuardText:
    """What every read still finds, as the text of conditions, so that a generated function can hold them inline.

    Attributes:
        conditions: Python expressions, all true while the reads hold; to be evaluated in this order.
        constants: The values of the names ``c<number>`` in the conditions; they also assign to names ``t<number>``.
    """

    conditions: tuple[str, ...]
    constants: dict[str, Any]


NO_GUARD = GuardText((), {})
"""That of a program that depends on nothing but its arguments' metadata."""

GUARD_ERRORS = "(LookupError, AttributeError, ValueError, TypeError)"
"""What conditions raise where a path leads nowhere any more: the reads do not hold then."""


def guard_text(function: types.FunctionType, reads: Iterable[Read]) -> GuardText:
    """The conditions under which every read still finds the object it found; about 20 ns a read.

    The function's own code object is guarded too. Shared prefixes of paths are walked once.
    """
    writer = _GuardWriter(function)
    conditions = [writer.condition(Read(((ATTRIBUTE_STEP, "__code__"),), function.__code__))]
    conditions += [writer.condition(read) for read in reads]
    return GuardText(tuple(conditions), writer.constants)


def compile_guard(function: types.FunctionType, reads: Iterable[Read]) -> Callable[[], bool]:
    """A function that tells whether every read still finds the object it found; see `guard_text`.

    Python compiles it when it is first asked: many a program runs once.
    """
    written = guard_text(function, reads)
    compiled: Callable[[], bool] | None = None

    def guard() -> bool:
        nonlocal compiled
        if compiled is None:
            compiled = _compiled(written)
        return compiled()

    return guard


def _compiled(written: GuardText) -> Callable[[], bool]:
    text = "\n".join(
        [
            f"def guard({', '.join(f'{name}={name}' for name in written.constants)}):",
            "    try:",
            *(f"        if not ({condition}): return False" for condition in written.conditions),
            f"    except {GUARD_ERRORS}:",
            "        return False",
            "    return True",
        ]
    )
    namespace: dict[str, Any] = dict(written.constants)
    exec(compile(text, "<ttnn_jit guard>", "exec"), namespace)  # text of our own making
    guard: Callable[[], bool] = namespace["guard"]
    # Callers pass nothing; the constants are defaults because a local is the cheapest name there is.
    return guard


class _GuardWriter:
    """Writes one boolean expression per read, over constants that become the guard's defaults."""

    def __init__(self, function: types.FunctionType) -> None:
        self.constants: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._function = function
        self._root = self._constant(function)
        self._walked: dict[Path, str] = {}

    def condition(self, read: Read) -> str:
        """An expression that is true while `read` still holds."""
        *prefix, (kind, name) = read.path
        base = self._walk(tuple(prefix))
        if kind == CONTENTS_STEP:
            return f"{self._constant(same_contents)}({base}, {self._constant(read.value)})"
        if kind == GLOBAL_STEP and read.value is ABSENT:
            return f"{name!r} not in {self._globals(tuple(prefix), base)}"
        return f"{self._step(tuple(prefix), base, (kind, name))} is {self._constant(read.value)}"

    def _walk(self, path: Path) -> str:
        if not path:
            return self._root
        known = self._walked.get(path)
        if known is None:
            text = self._step(path[:-1], self._walk(path[:-1]), path[-1])
            known = self._walked[path] = f"t{len(self._walked)}"
            return f"({known} := {text})"
        return known

    def _step(self, prefix: Path, base: str, step: Step) -> str:
        kind, name = step
        if kind == GLOBAL_STEP:
            return f"{self._globals(prefix, base)}[{name!r}]"
        if kind == BUILTIN_STEP:
            return f"{base}.__builtins__[{name!r}]"
        if kind == CLOSURE_STEP:
            return f"{self._cell(prefix, base, name)}.cell_contents"
        if kind == ATTRIBUTE_STEP:
            plain = str(name).isidentifier() and not keyword.iskeyword(name)
            return f"{base}.{name}" if plain else f"getattr({base}, {name!r})"
        return f"{base}[{name!r}]" if isinstance(name, (int, str)) else f"{base}[{self._constant(name)}]"

    def _globals(self, prefix: Path, base: str) -> str:
        # A function's globals are fixed for its life, so the root's need no attribute lookup.
        return f"{base}.__globals__" if prefix else self._constant(self._function.__globals__)

    def _cell(self, prefix: Path, base: str, name: str) -> str:
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


# --- Code objects ---------------------------------------------------------------------------------------------------


def code_identity(code: types.CodeType) -> tuple[Any, ...]:
    """Everything of a code object that decides what it does, nested code included; no file name, no lines."""
    return (
        code.co_code,
        code.co_exceptiontable,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_name,
        tuple(_constant_identity(constant) for constant in code.co_consts),
    )


def _constant_identity(constant: Any) -> tuple[Any, ...]:
    match constant:
        case types.CodeType():
            return ("code", *code_identity(constant))
        case tuple():
            return ("tuple", *map(_constant_identity, constant))
        case frozenset():
            return ("frozenset", *sorted(map(_constant_identity, constant), key=repr))
        case float():
            return ("float", struct.pack("<d", constant))
        case complex():
            return ("complex", struct.pack("<dd", constant.real, constant.imag))
        case _:
            # A type's name beside the value: 1, True and 1.0 are equal and not the same.
            return (type(constant).__name__, repr(constant))


def fingerprint_code(code: types.CodeType) -> str:
    """A hash of what a code object does: equal in every process of one Python version, wherever the code stands."""
    return hashlib.sha256(repr(code_identity(code)).encode()).hexdigest()


# --- Fingerprints ---------------------------------------------------------------------------------------------------


def fingerprint(value: Any) -> str:
    """A text that names `value` the same way in every process.

    Functions go by their code and defaults, recursively, operations and modules by name, scalars by type and bits,
    containers by their items, enum members and frozen dataclasses by class and fields.

    Raises:
        NoStableIdentityError: The value is of a kind that another process could not recognise.
    """
    return "".join(_pieces(value, frozenset()))


def _pieces(value: Any, above: frozenset[int]) -> Iterator[str]:
    if id(value) in above:
        yield "<cycle>"
        return
    leaf = next((name(value) for belongs, name in _LEAVES if belongs(value)), None)
    if leaf is not None:
        yield leaf
        return
    label, parts = next((split(value) for belongs, split in _COMPOUNDS if belongs(value)), (None, ()))
    if label is None:
        raise NoStableIdentityError(f"{_class_name(type(value))} has no identity that another process could recognise")
    yield f"{label}("
    for part in parts:
        yield from _pieces(part, above | {id(value)})
        yield ","
    yield ")"


def _class_name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_exactly(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in kinds


def _is_a(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _has(attribute: str) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, type) and hasattr(value, attribute)


def _is_module_function(value: Any) -> bool:
    return isinstance(value, types.BuiltinFunctionType) and isinstance(value.__self__, types.ModuleType)


def _is_tuple_with_names(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


_LIBRARIES = (sys.stdlib_module_names | {"ttnn_jit"}) - {"__main__"}


def _is_library_class(value: Any) -> bool:
    """Whether a class is Python's or ours; the text of a user's class may change under the same name."""
    return isinstance(value, type) and value.__module__.partition(".")[0] in _LIBRARIES


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, type) and value.__bases__ == (tuple,) and hasattr(value, "_field_defaults")


def is_plain_dataclass(cls: type) -> bool:
    """Whether everything that makes an instance of `cls` was written by `dataclasses`."""
    if not dataclasses.is_dataclass(cls) or hasattr(cls, "__post_init__") or cls.__new__ is not object.__new__:
        return False
    generated = [cls.__init__] + ([cls.__setattr__] if cls.__setattr__ is not object.__setattr__ else [])
    factories: set[Any] = {field.default_factory for field in dataclasses.fields(cls)} - {dataclasses.MISSING}
    return all(
        isinstance(method, types.FunctionType) and method.__code__.co_filename == "<string>" for method in generated
    ) and factories <= {list, dict, set}


_WRITTEN_BY_DATACLASSES = {"<string>", dataclasses.__file__, reprlib.__file__}


def _is_plain_dataclass_type(value: Any) -> bool:
    """Whether a class is a dataclass that brings no code of the user's, whose text could change under its name."""
    if not isinstance(value, type) or not is_plain_dataclass(value):
        return False
    members = [member for cls in value.__mro__[:-1] for member in vars(cls).values()]
    functions = [member for member in members if isinstance(member, types.FunctionType)]
    return not any(isinstance(member, (property, classmethod, staticmethod)) for member in members) and all(
        function.__code__.co_filename in _WRITTEN_BY_DATACLASSES for function in functions
    )


def _dataclass_parts(cls: Any) -> list[Any]:
    """What decides the fields of an instance that a plain dataclass makes."""
    parts: list[Any] = [repr(cls.__dataclass_params__)]
    for field in dataclasses.fields(cls):
        default = "no default" if field.default is dataclasses.MISSING else field.default
        factory = "no factory" if field.default_factory is dataclasses.MISSING else field.default_factory
        parts += [field.name, field.init, default, factory]
    return parts


def _is_of_ttnn_jit(value: Any) -> bool:
    return type(value).__module__.startswith("ttnn_jit.")


def _is_frozen_dataclass(value: Any) -> bool:
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


_Belongs: TypeAlias = Callable[[Any], bool]

_LEAVES: tuple[tuple[_Belongs, Callable[[Any], str]], ...] = (
    (_is_exactly(type(None), bool, _Absent), repr),
    (_is_exactly(int, str, bytes), lambda value: f"{type(value).__name__}:{value!r}"),
    (_is_exactly(float), lambda value: f"float:{struct.pack('>d', value).hex()}"),
    (is_numpy_scalar, lambda value: f"{_class_name(type(value))}:{value.tobytes().hex()}"),
    (is_numpy_function, lambda value: f"function:numpy.{value.__name__}"),
    (_is_exactly(complex), lambda value: f"complex:{struct.pack('>dd', value.real, value.imag).hex()}"),
    (_is_a(types.CodeType), lambda value: f"code:{fingerprint_code(value)}"),
    (_is_a(types.ModuleType), lambda value: f"module:{value.__name__}"),
    (_is_library_class, lambda value: f"type:{_class_name(value)}"),
    (_is_module_function, lambda value: f"function:{_class_name(value)}"),
    (_has("__ttnn_overloads__"), lambda value: f"operation:{value.__name__}"),
)
"""What a value without parts is called."""

_COMPOUNDS: tuple[tuple[_Belongs, Callable[[Any], tuple[str, Iterable[Any]]]], ...] = (
    (_is_a(enum.Enum), lambda value: (f"{_class_name(type(value))}.{value.name}", (value.value,))),
    (_is_a(enum.EnumMeta), lambda value: (f"type:{_class_name(value)}", list(value))),
    (_is_named_tuple, lambda value: (f"type:{_class_name(value)}", (value._fields, value._field_defaults))),
    (_is_plain_dataclass_type, lambda value: (f"type:{_class_name(value)}", _dataclass_parts(value))),
    (_is_tuple_with_names, lambda value: (_class_name(type(value)), (type(value)._fields, tuple(value)))),
    (_is_exactly(tuple, list), lambda value: (type(value).__name__, value)),
    (_is_exactly(set, frozenset), lambda value: (type(value).__name__, sorted(map(fingerprint, value)))),
    (_is_exactly(dict), lambda value: ("dict", [part for pair in value.items() for part in pair])),
    (_is_a(types.FunctionType), lambda f: ("function", (f.__code__, f.__defaults__, f.__kwdefaults__))),
    (_is_a(types.MethodType), lambda value: ("method", (value.__func__, value.__self__))),
    (_is_a(partial), lambda value: ("partial", (value.func, value.args, value.keywords))),
    (_has("__ttnn_jit_wrapped__"), lambda value: ("jit", (value.__ttnn_jit_wrapped__,))),
    (_is_a(_lru_cache_wrapper), lambda value: ("cached", (value.__wrapped__,))),
    # The value types of the host API have a complete and deterministic repr.
    (_is_of_ttnn_jit, lambda value: (_class_name(type(value)), (repr(value),))),
    (
        _is_frozen_dataclass,
        lambda value: (_class_name(type(value)), [getattr(value, f.name) for f in dataclasses.fields(value)]),
    ),
)
"""The label and the parts of a value that has parts."""
