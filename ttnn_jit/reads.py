"""What a compile read of the user's world, and how to see at every call that it is still so.

A `Read` is a path from the compiled function to a value: a global, a closure cell, an attribute of a module, the code
of a helper, the items of a list. `compile_guard` turns the reads of one compile into one generated function that walks
the same paths again and compares identities.
"""

from __future__ import annotations

import dataclasses
import enum
import keyword
import types
from collections.abc import Callable, Iterable
from operator import is_
from typing import Any, TypeAlias

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

    The function's own code object is guarded too, and its defaults if it has any. Shared prefixes of paths are walked
    once.
    """
    writer = _GuardWriter(function)
    own = ["__code__", *(name for name in ("__defaults__", "__kwdefaults__") if getattr(function, name))]
    conditions = [writer.condition(Read(((ATTRIBUTE_STEP, name),), getattr(function, name))) for name in own]
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
        if kind == CONTENTS_STEP:
            return f"{self._constant(contents)}({base})"
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
