"""The helper threads that share long kernels with their callers; helper_ir.py describes the protocol."""

from __future__ import annotations

import ctypes
import os
import sys
import threading

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.native import native
from ttnn_jit.runtime.native.launch_symbols import HELP_SYMBOL, NEW_POOL_SYMBOL, HostThreads
from ttnn_jit.runtime.native.structures import FIELD_BYTES, Pool
from ttnn_jit.specs.options import requested_threads


class HelperPool:
    """Threads that sleep in native code until a kernel is published; the first use starts them.

    They never hold the GIL and are daemons, so a process ends without joining them. A forked child starts its own.
    """

    def __init__(self) -> None:
        self.forget_other_threads()

    def forget_other_threads(self) -> None:
        """In a forked child: abandon the parent's state, which its threads may have been changing."""
        self._lock = threading.Lock()
        self._started = 0
        self._limit = 0
        self._state: ctypes.Array[ctypes.c_int64] | None = None
        self._address = 0

    def pool_address(self) -> int:
        """The address of the pool's state, which calls with chunks pass to native code; 0 if there are no helpers.

        Starts helpers if the number of threads has changed. Hosts without POSIX threads have no helpers.

        Raises:
            ArgumentError: ``TTNN_JIT_NUM_THREADS`` is not a number of threads, or the host cannot start so many.
        """
        helpers = thread_count() - 1 if native.HOST_THREADS is not HostThreads.NONE else 0
        if helpers != self._limit:
            self._resize(helpers)
        return self._address if helpers else 0

    def _resize(self, helpers: int) -> None:
        with self._lock:
            if self._state is None:
                self._state = (ctypes.c_int64 * (Pool.nbytes // FIELD_BYTES))()
                self._address = ctypes.addressof(self._state)
                _POOLS.append(self._state)
                _native_function(NEW_POOL_SYMBOL)(self._address)
            help_ = _native_function(HELP_SYMBOL)
            while self._started < helpers:
                name = f"ttnn_jit helper {self._started + 1}"
                helper = threading.Thread(target=help_, args=(self._address,), name=name, daemon=True)
                try:
                    helper.start()
                except RuntimeError as error:
                    raise ArgumentError(
                        f"helper thread {self._started + 1} of {helpers} could not be started: {error}",
                        help="set TTNN_JIT_NUM_THREADS to fewer",
                    ) from None
                self._started += 1
            self._state[Pool.limit.offset // FIELD_BYTES] = helpers
            self._limit = helpers


_POOLS: list[ctypes.Array[ctypes.c_int64]] = []  # kept for the life of the process: threads sleep on their conditions


def _native_function(symbol: str) -> ctypes._FuncPointer:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(native.launch_address(symbol))


def thread_count() -> int:
    """Threads that a kernel may use, the caller's included.

    ``TTNN_JIT_NUM_THREADS`` if it is set; else torch's number of threads if torch is loaded; else one per CPU that the
    process may run on.
    """
    requested = requested_threads()
    if requested is not None:
        return requested
    torch = sys.modules.get("torch")
    if torch is not None:
        count: int = torch.get_num_threads()
        return count
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


HELPERS = HelperPool()
"""The pool of the process; a second concurrent caller runs without helpers."""

os.register_at_fork(after_in_child=HELPERS.forget_other_threads)
