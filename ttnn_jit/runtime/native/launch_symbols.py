"""The functions of the launch code by symbol, and what hosts have for them."""

from __future__ import annotations

from enum import Enum

CALL_SYMBOL = "ttnn_jit_call"
UNLOCKED_CALL_SYMBOL = "ttnn_jit_call_unlocked"
"""The same, but that other Python threads run meanwhile."""
REPLAY_SYMBOL = "ttnn_jit_replay"
UNLOCKED_REPLAY_SYMBOL = "ttnn_jit_replay_unlocked"
"""Likewise, for the calls of a trace."""
BUILTIN_SYMBOLS = (CALL_SYMBOL, UNLOCKED_CALL_SYMBOL, REPLAY_SYMBOL, UNLOCKED_REPLAY_SYMBOL)
"""The functions that Python calls."""
PYTHON_API = ("PyLong_AsVoidPtr", "PyErr_Occurred", "PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef")
"""What these call: all of CPython's stable ABI, as is their own form (METH_FASTCALL)."""

COPY_SYMBOL = "ttnn_jit_copy"
HELP_SYMBOL = "ttnn_jit_help"
NEW_POOL_SYMBOL = "ttnn_jit_new_pool"


class HostThreads(Enum):
    """What a host's C library has for helpers."""

    NONE = "none"
    POSIX = "pthread mutexes and conditions"
    LINUX = "those, sched_setaffinity and sched_getcpu"

    @property
    def symbols(self) -> tuple[str, ...]:
        """The functions for helpers that the launch code exports."""
        return () if self is HostThreads.NONE else (HELP_SYMBOL, NEW_POOL_SYMBOL)
