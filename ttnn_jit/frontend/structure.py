"""Nests of tuples, lists and dicts: arguments taken apart into proxies, results into values and an outline."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Any

from xdsl.ir import SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.pytrees import map_leaves
from ttnn_jit.frontend.proxy import ProxyTensor
from ttnn_jit.guards.receiver import RECEIVER


def call_arguments(
    function: types.FunctionType, arguments: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of the call whose bound arguments are `arguments`.

    A method's begin with its instance. A wrapper made by `functools.wraps` has the signature of what it wraps and
    parameters of its own.
    """
    bound = inspect.BoundArguments(inspect.signature(function), dict(arguments))
    receiver = getattr(function, RECEIVER, None)
    return bound.args if receiver is None else (receiver.instance, *bound.args), bound.kwargs


def results_of(returned: Any, name: str, location: Location, help_text: str | None) -> tuple[list[SSAValue], Any]:
    """The values that a function returns, and their outline: None for one tensor, else indices in its containers.

    Raises:
        CompileError: It returns nothing, or something that is no tensor.
    """
    if returned is None:
        raise CompileError(f"`{name}` returns nothing", location=location, help=help_text)
    values: list[SSAValue] = []

    def index_of(leaf: Any) -> int:
        if not isinstance(leaf, ProxyTensor):
            raise CompileError(
                f"`{name}` returns {_described(leaf)}, which is no tensor",
                location=location,
                help="a jitted function returns tensors, alone or in tuples, lists, dicts and dataclasses",
            )
        if leaf.deallocated_at is not None:
            raise CompileError(
                f"`{name}` returns a tensor that was deallocated at {leaf.deallocated_at}", location=location
            )
        values.append(leaf.value)
        return len(values) - 1

    outline = map_leaves(returned, index_of)
    if not values:
        raise CompileError(f"`{name}` returns no tensor", location=location, help=help_text)
    return values, None if isinstance(returned, ProxyTensor) else outline


def _described(leaf: Any) -> str:
    if leaf is None or isinstance(leaf, (bool, int, float, str)):
        return repr(leaf)
    return f"a {type(leaf).__name__}"
