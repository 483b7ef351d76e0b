"""Calls of functions that `functools.lru_cache` is put on: what they remember is Python's, and so is when they run.

A call that a guard can make again is made, once as the function is compiled and once by each guard: it gives what the
cache holds, even if what the function would read has changed since. One with tensors of the program, or with objects
that it makes, which no cache has met, is interpreted as any other function is.
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
    """Whether `function` is a cached one that may have met these arguments, and that a guard can call with them."""
    if type(function) is not functools._lru_cache_wrapper or function.cache_parameters()["maxsize"] == 0:
        return False
    values = [*args, *kwargs.values()]
    if any(type(leaf) is ProxyTensor for leaf in leaves(values)):
        return False
    return interpreter.recorder.can_call(called_with, _operands(function, args, kwargs))


def call_cached(interpreter: Interpreter, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a cached function gives: what it remembers, else what it computes and remembers from now on."""
    result = interpreter.natively(function, *args, **kwargs)
    interpreter.recorder.record_call(called_with, _operands(function, args, kwargs), result)
    if not (is_atom(result) or is_library_tensor(result)):
        interpreter.cached_calls.append((partial(function, *args, **kwargs), result))
    return result


def guard_evictions(interpreter: Interpreter) -> None:
    """Record that a guard would find other objects where one call has had the cache forget what another gave."""
    for call, result in interpreter.cached_calls:
        if interpreter.natively(call) is not result:
            interpreter.mark_opaque(f"`{call.func.__name__}` forgets what it gave, and gives another object each time")
    interpreter.cached_calls.clear()  # or they would wait for the garbage collector


def _operands(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    return [function, " ".join(kwargs), *args, *kwargs.values()]
