"""Functions that a compiled function may call at compile time, because they depend on their arguments only."""

from __future__ import annotations

import inspect
import types
from typing import Any

from ttnn_jit.diagnostics.origin import is_of_this_package
from ttnn_jit.foreign.values import ABSENT, is_a, own_attribute
from ttnn_jit.frontend.plain_numbers import SymbolicSize
from ttnn_jit.ops import overloads_of
from ttnn_jit.ops.host_ops import is_interpreted

VALUE_MODULES = frozenset(
    f"ttnn_jit.specs.{name}"
    for name in (
        "arch",
        "configs.compute_config",
        "configs.conv_configs",
        "cores.core_sets",
        "cores.cores",
        "dtypes",
        "cores.memory_config",
        "configs.program_configs",
        "cores.sharding",
        "tensor_spec",
        "tile",
        "configs.unary_op_type",
    )
) | {SymbolicSize.__module__}
"""The modules of the host API whose functions and classes programs may use."""

PYTHON_FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
)
"""Exceptions of Python code that depends on its arguments only."""


def is_plain_function(function: types.FunctionType) -> bool:
    """Whether a call of `function` runs its body: it is neither a generator nor an ``async def``."""
    return not function.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)


def not_plain_function_text(name: str, *, is_async: bool) -> tuple[str, str]:
    """The message and the help text for a function whose call does not run its body."""
    if is_async:
        return (
            f"`{name}` is an `async def`, which cannot be compiled: its call makes a coroutine",
            "write it with `def`; your own coroutines may call what `jit` returns",
        )
    return f"`{name}` is a generator, which cannot be compiled", "collect results in a list and return it"


def is_namespace(value: Any) -> bool:
    """Whether `value` is the `ttnn` namespace, under whatever name."""
    return is_a(value, types.ModuleType, types.SimpleNamespace) and bool(overloads_of(own_attribute(value, "add")))


def lacks_name(base: Any, name: str) -> bool:
    """Whether `base` is the namespace and has no `name`; loads a listed name that is not loaded yet."""
    if not is_namespace(base) or own_attribute(base, name) is not ABSENT:
        return False
    listed = own_attribute(base, "__all__")
    return not (is_a(listed, list) and name in listed and hasattr(base, name))


def is_namespace_function(value: Any) -> bool:
    """Whether `value` is a function of the host API that is no operation: programs cannot call it."""
    if not is_a(value, types.FunctionType) or not is_of_this_package(value):
        return False
    return value.__module__ not in VALUE_MODULES and not is_interpreted(value)
