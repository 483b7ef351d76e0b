"""Calls of functions under `functools.lru_cache`, with the cache semantics of Python.

A call that a guard can repeat runs natively, once when the program is compiled and once in each guard. It returns the
cached result, even if values that the function reads have changed since. A call with tensors of the program, or with
objects that the program made, cannot be in the cache and is interpreted like any other call.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.foreign.values import is_atom
from ttnn_jit.frontend.python.interpreter import Interpreter
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.guards.reads import called_with
from ttnn_jit.runtime.libraries import is_library_tensor


def may_be_cached(interpreter: Interpreter, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether the result of `function` for these arguments may be in its cache, and a guard can repeat the call."""
    if type(function) is not functools._lru_cache_wrapper or function.cache_parameters()["maxsize"] == 0:
        return False
    values = [*args, *kwargs.values()]
    if any(type(leaf) is ProxyTensor for leaf in leaves(values)):
        return False
    return interpreter.recorder.can_call(called_with, _operands(function, args, kwargs))


def call_cached(interpreter: Interpreter, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a cached function, from its cache or computed now."""
    result = interpreter.natively(function, *args, **kwargs)
    interpreter.recorder.record_call(called_with, _operands(function, args, kwargs), result)
    if not (is_atom(result) or is_library_tensor(result)):
        interpreter.cached_calls.append((partial(function, *args, **kwargs), result))
    return result


def guard_evictions(interpreter: Interpreter) -> None:
    """Mark the program opaque if a cached call was evicted, because a guard would get another object."""
    for call, result in interpreter.cached_calls:
        if interpreter.natively(call) is not result:
            interpreter.mark_opaque(
                f"the cache of `{call.func.__name__}` evicts results, so each call gives another object"
            )
    interpreter.cached_calls.clear()  # breaks a reference cycle


def _operands(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    return [function, " ".join(kwargs), *args, *kwargs.values()]
