"""Symbols of the launch code's functions, and the hosts' support for threads."""

from __future__ import annotations

from enum import Enum

CALL_SYMBOL = "ttnn_jit_call"
UNLOCKED_CALL_SYMBOL = "ttnn_jit_call_unlocked"
"""The same without the GIL: other Python threads may run."""
REPLAY_SYMBOL = "ttnn_jit_replay"
UNLOCKED_REPLAY_SYMBOL = "ttnn_jit_replay_unlocked"
"""The same without the GIL, for the calls of a trace."""
BUILTIN_SYMBOLS = (CALL_SYMBOL, UNLOCKED_CALL_SYMBOL, REPLAY_SYMBOL, UNLOCKED_REPLAY_SYMBOL)
"""The functions that Python calls."""
PYTHON_API = ("PyLong_AsVoidPtr", "PyErr_Occurred", "PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef")
"""The functions that the builtins call. They, and METH_FASTCALL, belong to CPython's stable ABI."""

COPY_SYMBOL = "ttnn_jit_copy"
LAUNCH_EACH_SYMBOL = "ttnn_jit_launch_each"
KERNEL_SYMBOLS = (COPY_SYMBOL, LAUNCH_EACH_SYMBOL)
"""The functions that launch tables name as kernels."""
HELP_SYMBOL = "ttnn_jit_help"
NEW_POOL_SYMBOL = "ttnn_jit_new_pool"


class HostThreads(Enum):
    """The support of a host's C library for helper threads."""

    NONE = "none"
    POSIX = "pthread mutexes and conditions"
    LINUX = "those, sched_setaffinity and sched_getcpu"

    @property
    def symbols(self) -> tuple[str, ...]:
        """The functions of helpers that the launch code exports."""
        return () if self is HostThreads.NONE else (HELP_SYMBOL, NEW_POOL_SYMBOL)
