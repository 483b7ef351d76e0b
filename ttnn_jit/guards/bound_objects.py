"""The objects that a compiled function is bound to: parts of what the compile reads, not of the call's key.

They are the instance of a method, and the arguments that are objects of the user's. The function is copied for them,
and the copy knows its own: so the guards of a program, which start from its function, reach the objects' attributes.
"""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

from ttnn_jit.guards.reads import ASSIGNABLE, ATTRIBUTE_STEP, BOUND, Path, Read, reads_of_itself

_ORIGINAL = "__original__"
"""The attribute of what holds the objects that is the function which was copied for them."""

VARIABLE = frozenset({inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})
"""The kinds of parameters that take any number of arguments."""


def path_of(name: str) -> Path:
    """Where a compile finds the object of a parameter."""
    return (ATTRIBUTE_STEP, BOUND), (ATTRIBUTE_STEP, name)


def bound_to(function: types.FunctionType, objects: Mapping[str, weakref.ref[Any]]) -> types.FunctionType:
    """A copy of `function` that belongs to `objects`, by parameter, and keeps none of them alive.

    Its signature lacks the parameters.
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
    """Whether `function` is such a copy."""
    return hasattr(function, BOUND)


def bound_objects(function: types.FunctionType) -> dict[str, Any]:
    """The objects by parameter, None in place of one that is gone; empty for a function that is no copy."""
    bound = getattr(function, BOUND, None)
    return {} if bound is None else {name: getattr(bound, name) for name in type(bound).names}


def call_arguments(
    function: types.FunctionType, arguments: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of the call whose bound arguments are `arguments`, its objects among them.

    A wrapper made by `functools.wraps` has the signature of what it wraps and parameters of its own.
    """
    if not vars(function) and tuple(arguments) == _positional_names(function.__code__):
        return tuple(arguments.values()), {}
    objects, original = bound_objects(function), inspect.signature(_original(function))
    named = {name for name, parameter in original.parameters.items() if parameter.kind not in VARIABLE}
    given = {name: value for name, value in objects.items() if name in named}
    bound = inspect.BoundArguments(original, {**arguments, **given})
    return (*(value for name, value in objects.items() if name not in named), *bound.args), bound.kwargs


def _positional_names(code: types.CodeType) -> tuple[str, ...] | None:
    """The parameters of a function, if each has one position; None if others may have none, or many."""
    has_others = code.co_kwonlyargcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return None if has_others else code.co_varnames[: code.co_argcount]


def follow_original(function: types.FunctionType) -> None:
    """If `function` is such a copy, have it be what the function has become."""
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
    """What a program of a copy depends on in the function that was copied; nothing if `function` is no copy."""
    original = ((ATTRIBUTE_STEP, BOUND), (ATTRIBUTE_STEP, _ORIGINAL))
    return reads_of_itself(function, original) if is_bound(function) else ()
