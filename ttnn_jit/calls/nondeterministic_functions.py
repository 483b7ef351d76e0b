"""Nondeterministic functions (random numbers, clocks): a tile operation is traced once and would keep one value."""

from __future__ import annotations

import dis
import os
import types
from collections.abc import Iterator
from typing import Any

from ttnn_jit.diagnostics.source import codes_in
from ttnn_jit.foreign.values import ABSENT, is_a

_MODULES = ("random", "time", "secrets", "uuid", "numpy.random")
_CLOCK_METHODS = frozenset({"now", "today", "utcnow"})
_OTHER_FUNCTIONS = frozenset({os.urandom})


def nondeterministic_function(function: types.FunctionType) -> tuple[str, types.CodeType, dis.Instruction] | None:
    """The first nondeterministic function that `function` refers to by a name that is defined now.

    Returns:
        The name in the text, and the code and the instruction that look it up; None if there is none.
    """
    for code in codes_in(function.__code__):
        for name, value, instruction in _values(function, code):
            if _is_nondeterministic(value):
                return name, code, instruction
    return None


def _values(function: types.FunctionType, code: types.CodeType) -> Iterator[tuple[str, Any, dis.Instruction]]:
    """The values of the names of a code object, and of the attributes that it looks up on them."""
    name, value = "", ABSENT
    for instruction in dis.get_instructions(code):
        opname, argument = instruction.opname, instruction.argval
        if opname in {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"}:
            name, value = argument, _named(function, argument, free=opname == "LOAD_DEREF")
        elif opname in {"LOAD_ATTR", "LOAD_METHOD"}:
            name, value = f"{name}.{argument}", _attribute(value, argument)
        elif opname not in {"CACHE", "EXTENDED_ARG", "PRECALL", "PUSH_NULL"}:
            value = ABSENT
        if value is not ABSENT:
            yield name, value, instruction


def _named(function: types.FunctionType, name: str, *, free: bool) -> Any:
    if not free:
        return function.__globals__.get(name, ABSENT)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cell = cells.get(name)
    return ABSENT if cell is None or cell == types.CellType() else cell.cell_contents


def _attribute(value: Any, name: str) -> Any:
    """An attribute of a module, or of a class or object of `_MODULES` and datetime; others are not read."""
    if is_a(value, types.ModuleType):
        return vars(value).get(name, ABSENT)
    owner = value if is_a(value, type) else type(value)
    known = _is_of_modules(owner.__module__) or owner.__module__ == "datetime"
    return getattr(value, name, ABSENT) if known else ABSENT


def _is_of_modules(module: object) -> bool:
    return isinstance(module, str) and any(module == known or module.startswith(f"{known}.") for known in _MODULES)


def _is_nondeterministic(value: Any) -> bool:
    if not is_a(value, types.FunctionType, types.BuiltinFunctionType, types.MethodType):
        return False
    owner = getattr(value, "__self__", None)
    if is_a(owner, type) and owner.__module__ == "datetime":
        return value.__name__ in _CLOCK_METHODS
    if owner is None or is_a(owner, types.ModuleType):
        return _is_of_modules(value.__module__) or value in _OTHER_FUNCTIONS
    return _is_of_modules((owner if is_a(owner, type) else type(owner)).__module__)
