"""The objects that a compiled function is bound to: their attributes are guarded, and they are not in the cache key.

The objects are the instance of a method, and arguments that are objects of the user's. The function is copied for them,
and the copy refers to them weakly: so guards, whose paths start from the function, reach the objects' attributes.
"""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

from ttnn_jit.guards.reads import ASSIGNABLE, ATTRIBUTE_STEP, BOUND, Path, Read, reads_of_itself

_ORIGINAL = "__original__"
"""The attribute of the holder of the objects: the function that was copied."""

VARIABLE = frozenset({inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})
"""The kinds of parameters that take any number of arguments."""


def path_of(name: str) -> Path:
    """The path to the object of a parameter."""
    return (ATTRIBUTE_STEP, BOUND), (ATTRIBUTE_STEP, name)


def bound_copy(function: types.FunctionType, objects: Mapping[str, weakref.ref[Any]]) -> types.FunctionType:
    """A copy of `function` that is bound to `objects`, by parameter, without keeping them alive.

    The signature of the copy lacks these parameters.
    """
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, function.__closure__)
    copy.__qualname__, copy.__module__, copy.__doc__ = function.__qualname__, function.__module__, function.__doc__
    held = {name: _referent(reference) for name, reference in objects.items()}
    setattr(copy, BOUND, type("BoundObjects", (), {_ORIGINAL: staticmethod(function), "names": tuple(held), **held})())
    _copy_changes(function, copy)
    return copy


def _referent(reference: weakref.ref[Any]) -> property:
    return property(lambda _: reference())


def is_bound(function: types.FunctionType) -> bool:
    """Whether `function` is a bound copy."""
    return hasattr(function, BOUND)


def bound_objects(function: types.FunctionType) -> dict[str, Any]:
    """The objects of a bound copy by parameter, None for one that is gone; empty for another function."""
    bound = getattr(function, BOUND, None)
    return {} if bound is None else {name: getattr(bound, name) for name in type(bound).names}


def call_arguments(
    function: types.FunctionType, arguments: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and keyword arguments of a call, with the bound objects; `arguments` are by parameter.

    A wrapper made by `functools.wraps` has the signature of the wrapped function, and other parameters.
    """
    if not vars(function) and tuple(arguments) == _positional_names(function.__code__):
        return tuple(arguments.values()), {}
    objects, original = bound_objects(function), inspect.signature(_original(function))
    named = {name for name, parameter in original.parameters.items() if parameter.kind not in VARIABLE}
    given = {name: value for name, value in objects.items() if name in named}
    bound = inspect.BoundArguments(original, {**arguments, **given})
    return (*(value for name, value in objects.items() if name not in named), *bound.args), bound.kwargs


def _positional_names(code: types.CodeType) -> tuple[str, ...] | None:
    """The parameters of a function if all are positional; None if some are keyword-only or variadic."""
    has_others = code.co_kwonlyargcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return None if has_others else code.co_varnames[: code.co_argcount]


def sync_with_original(function: types.FunctionType) -> None:
    """Copy the changes of the original function to its bound copy; does nothing for another function."""
    original = _original(function)
    if any(getattr(original, name) is not getattr(function, name) for name in ASSIGNABLE):
        _copy_changes(original, function)


def _original(function: types.FunctionType) -> types.FunctionType:
    original: types.FunctionType = getattr(getattr(function, BOUND, None), _ORIGINAL, function)
    return original


def _copy_changes(function: types.FunctionType, copy: types.FunctionType) -> None:
    for name in ASSIGNABLE:
        setattr(copy, name, getattr(function, name))
    signature, objects = inspect.signature(function), bound_objects(copy)
    left = [each for each in signature.parameters.values() if each.name not in objects or each.kind in VARIABLE]
    copy.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]  # read by inspect


def reads_of_original(function: types.FunctionType) -> Iterable[Read]:
    """The reads of the original function of a bound copy; empty for another function."""
    original = ((ATTRIBUTE_STEP, BOUND), (ATTRIBUTE_STEP, _ORIGINAL))
    return reads_of_itself(function, original) if is_bound(function) else ()
