"""The builtin functions through which Python runs native code; calls do not go through ctypes.

The functions are those of launch_ir.py. Calling a builtin function with integers is several times faster than a ctypes
call, which packs its arguments (benchmarks/programs/latency.py measures warm calls). Only CPython's stable ABI is used,
not the layout of its objects.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from ttnn_jit.runtime.native import native
from ttnn_jit.runtime.native.launch_symbols import (
    CALL_SYMBOL,
    REPLAY_SYMBOL,
    UNLOCKED_CALL_SYMBOL,
    UNLOCKED_REPLAY_SYMBOL,
)

METH_FASTCALL = 0x80


class _MethodDef(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_METHODS: list[_MethodDef] = []  # kept alive: a builtin function points to its definition


def entry(*, releases_gil: bool) -> Callable[..., None]:
    """The function that runs a program's kernels; it takes `CallArguments` and the buffers' addresses, all integers.

    Args:
        releases_gil: Whether other Python threads may run during the call.
    """
    return _builtin(UNLOCKED_CALL_SYMBOL if releases_gil else CALL_SYMBOL)


def replay_entry(*, releases_gil: bool) -> Callable[[int, int, int], None]:
    """The function that runs the calls of a trace; it takes `ReplayArguments`.

    Args:
        releases_gil: Whether other Python threads may run during the call.
    """
    return _builtin(UNLOCKED_REPLAY_SYMBOL if releases_gil else REPLAY_SYMBOL)


@cache
def _builtin(symbol: str) -> Callable[..., None]:
    method = _MethodDef(symbol.encode(), native.launch_address(symbol), METH_FASTCALL, None)
    _METHODS.append(method)
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    made: Any = new(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(method), None, None)
    function: Callable[..., None] = made
    return function
