"""Binding the arguments of a call to the parameters of a definition, as Python does."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.frontend.python.frame import parameter_names


def bind_parameters(
    name: str,
    parameters: ast.arguments,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    defaults: Sequence[Any],
    keyword_defaults: Mapping[str, Any],
) -> dict[str, Any]:
    """The initial variables of a call.

    Raises:
        TypeError: The arguments do not fit; the text is Python's.
    """
    positional = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    bound: dict[str, Any] = dict(zip(positional, args, strict=False))
    extra = tuple(args[len(positional) :])
    if parameters.vararg is not None:
        bound[parameters.vararg.arg] = extra
    elif extra:
        raise TypeError(f"{name}() takes {len(positional)} positional arguments but {len(args)} were given")
    _bind_keywords(name, parameters, kwargs, bound)
    for parameter, default in zip(reversed(positional), reversed(defaults), strict=False):
        bound.setdefault(parameter, default)
    for keyword, default in keyword_defaults.items():
        bound.setdefault(keyword, default)
    missing = [f"'{parameter}'" for parameter in parameter_names(parameters) if parameter not in bound]
    if missing:
        plural = "s" if len(missing) > 1 else ""
        raise TypeError(f"{name}() missing {len(missing)} required argument{plural}: {', '.join(missing)}")
    return bound


def _bind_keywords(name: str, parameters: ast.arguments, kwargs: Mapping[str, Any], bound: dict[str, Any]) -> None:
    named = {parameter.arg for parameter in (*parameters.args, *parameters.kwonlyargs)}
    rest: dict[str, Any] = {}
    for keyword, value in kwargs.items():
        if keyword not in named:
            rest[keyword] = value
        elif keyword in bound:
            raise TypeError(f"{name}() got multiple values for argument '{keyword}'")
        else:
            bound[keyword] = value
    if parameters.kwarg is not None:
        bound[parameters.kwarg.arg] = rest
    elif rest:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(rest))}'")
