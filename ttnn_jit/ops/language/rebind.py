"""Copies of functions in which names have other values."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterator
from typing import Any

Replace = Callable[[Any], Any]


def rebind(function: types.FunctionType, replace: Replace) -> types.FunctionType:
    """A copy of `function`, and of every Python function that it reaches by name, with the values of names replaced.

    Args:
        function: The original, which is not changed.
        replace: From the value of a global, builtin or closure variable to its value in the copy. A plain Python
            function that it returns unchanged is copied in the same way.
    """
    return _Rebinding(replace).copy(function)


class _Rebinding:
    def __init__(self, replace: Replace) -> None:
        self._replace = replace
        self._copies: dict[int, types.FunctionType] = {}

    def copy(self, function: types.FunctionType) -> types.FunctionType:
        if id(function) in self._copies:
            return self._copies[id(function)]
        names: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__}
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        copied = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
        copied.__kwdefaults__ = function.__kwdefaults__
        self._copies[id(function)] = copied  # before its names are resolved: a function may call itself
        for name in _names(function.__code__):
            if name in function.__globals__:
                names[name] = self._value(function.__globals__[name])
            elif hasattr(builtins, name):
                names[name] = self._value(getattr(builtins, name))
        for cell, original in zip(cells, function.__closure__ or (), strict=True):
            cell.cell_contents = self._value(original.cell_contents)
        return copied

    def _value(self, value: Any) -> Any:
        replaced = self._replace(value)
        return self.copy(replaced) if replaced is value and isinstance(value, types.FunctionType) else replaced


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
