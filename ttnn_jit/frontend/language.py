"""The Python that a compiled function may call at compile time: what computes from its arguments alone."""

from __future__ import annotations

import builtins
import enum
import functools
import inspect
import itertools
import types
from typing import Any

from ttnn_jit.diagnostics.origin import is_of_this_package
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar_class
from ttnn_jit.foreign.values import has_member, is_a, own_attribute
from ttnn_jit.guards.fingerprints import is_plain_dataclass
from ttnn_jit.ops import overloads_of

_PURE_BUILTIN_NAMES = (
    "abs", "all", "any", "bin", "bool", "bytes", "callable", "chr", "complex", "dict", "divmod", "enumerate", "filter",
    "float", "format", "frozenset", "getattr", "hasattr", "hex", "int", "isinstance", "issubclass", "iter", "len",
    "list", "map", "max", "min", "next", "oct", "ord", "pow", "range", "repr", "reversed", "round", "set", "slice",
    "sorted", "str", "sum", "tuple", "type", "zip",
)  # fmt: skip
PURE_BUILTINS = frozenset(getattr(builtins, name) for name in _PURE_BUILTIN_NAMES)
"""Builtins without side effects; `getattr` and `hasattr` go the way of attributes."""

_PURE_MODULES = frozenset({"math", "cmath", "operator", "_operator"})
_PURE_ROOMS = frozenset(
    {"ttnn_jit.specs.dtypes", "ttnn_jit.specs.memory_config", "ttnn_jit.specs.sharding", "ttnn_jit.specs.tensor_spec"}
)
_PURE_ITERTOOLS_NAMES = (
    "accumulate", "chain", "combinations", "compress", "dropwhile", "filterfalse", "groupby", "islice", "pairwise",
    "permutations", "product", "starmap", "takewhile", "zip_longest",
)  # fmt: skip
_PURE_ITERTOOLS = frozenset(getattr(itertools, name) for name in _PURE_ITERTOOLS_NAMES)
_PURE_CALLABLES = PURE_BUILTINS | _PURE_ITERTOOLS | {functools.partial, functools.reduce}

PURE_VALUES = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, range, slice)
"""Types whose methods may be called at compile time."""

MUTATING_METHODS = frozenset({
    "__delitem__", "__iadd__", "__ior__", "__setitem__", "add", "append", "clear", "difference_update", "discard",
    "extend", "insert", "intersection_update", "pop", "popitem", "remove", "reverse", "setdefault", "sort",
    "symmetric_difference_update", "update",
})  # fmt: skip
"""Methods that change a list, dict or set."""

PYTHON_FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
)
"""What Python code that computes from its arguments raises."""


def is_plain_function(function: types.FunctionType) -> bool:
    """Whether a call of `function` runs its body: it is neither a generator nor an ``async def``."""
    return not function.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)


def no_plain_function(name: str, *, is_async: bool) -> tuple[str, str]:
    """What is wrong with a function whose call does not run its body, and what to do instead."""
    if is_async:
        return (
            f"`{name}` is an `async def`, which cannot be compiled: its call makes a coroutine",
            "write it with `def`; your own coroutines may call what `jit` returns",
        )
    return f"`{name}` is a generator, which cannot be compiled", "collect results in a list and return it"


def is_pure(function: Any) -> bool:
    """Whether `function` may be called at compile time, being a part of Python or a value type of this package."""
    if is_a(function, type):
        return is_pure_class(function)
    if is_a(function, types.FunctionType):
        return function.__module__ in _PURE_ROOMS
    if is_a(function, types.BuiltinFunctionType, types.MethodWrapperType):
        owner = getattr(function, "__self__", None)
        if owner is None or is_a(owner, types.ModuleType):
            return function in PURE_BUILTINS or function is functools.reduce or function.__module__ in _PURE_MODULES
        return is_a(owner, *PURE_VALUES) or any(owner is known for known in (*_PURE_ITERTOOLS, *PURE_VALUES))
    if is_a(function, types.MethodDescriptorType, types.WrapperDescriptorType):
        return function.__objclass__ in PURE_VALUES
    return False


def is_pure_class(cls: type) -> bool:
    """Whether making an instance of `cls` runs no code of the user's."""
    if cls in _PURE_CALLABLES or cls.__module__ in _PURE_ROOMS | _PURE_MODULES or is_numpy_scalar_class(cls):
        return True
    named_tuple = issubclass(cls, tuple) and has_member(cls, "_fields") and cls.__bases__ == (tuple,)
    return named_tuple or is_plain_dataclass(cls) or issubclass(cls, (enum.Enum, BaseException))


def is_namespace(value: Any) -> bool:
    """Whether `value` is the `ttnn` namespace, under whatever name."""
    return is_a(value, types.ModuleType, types.SimpleNamespace) and bool(
        overloads_of(own_attribute(value, "add"))
    )


def is_namespace_function(value: Any) -> bool:
    """Whether `value` is a function of the host API that is no operation: it has no place inside a program."""
    return is_a(value, types.FunctionType) and is_of_this_package(value) and not is_pure(value)
