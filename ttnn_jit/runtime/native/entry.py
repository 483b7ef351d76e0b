"""The builtin functions through which Python runs native code: made of launch_ir.py's, without ctypes in a call.

The interpreter calls a builtin function with integers several times faster than ctypes packs its arguments and calls
one (benchmarks/programs/latency.py measures warm calls). Only CPython's stable ABI is used, no layout of its objects.
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


_METHODS: list[_MethodDef] = []  # a builtin function points at its own


def entry(*, gives_lock_away: bool) -> Callable[..., None]:
    """The function of `CallArguments` and the buffers' addresses, each a number, that runs a program's kernels.

    Args:
        gives_lock_away: Other Python threads run meanwhile.
    """
    return _builtin(UNLOCKED_CALL_SYMBOL if gives_lock_away else CALL_SYMBOL)


def replay_entry(*, gives_lock_away: bool) -> Callable[[int, int, int], None]:
    """The function of `ReplayArguments` that runs the calls of a trace.

    Args:
        gives_lock_away: Other Python threads run meanwhile.
    """
    return _builtin(UNLOCKED_REPLAY_SYMBOL if gives_lock_away else REPLAY_SYMBOL)


@cache
def _builtin(symbol: str) -> Callable[..., None]:
    method = _MethodDef(symbol.encode(), native.launch_address(symbol), METH_FASTCALL, None)
    _METHODS.append(method)
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    made: Any = new(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(method), None, None)
    function: Callable[..., None] = made
    return function
