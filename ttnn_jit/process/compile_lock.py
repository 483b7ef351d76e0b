"""The lock of imports, compiles and linking: one thread at a time, without forks and garbage collections in between.

A forked child has the forking thread only. An operation of another thread, such as an import, stays unfinished in the
child forever, and waiting for it hangs. So a fork waits until no thread compiles.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` wraps it in conversions to enumerations, four times as slow
import contextlib
import functools
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_LOCK = threading.RLock()


def _forks_wait() -> None:
    """Lets a fork wait for the lock, before it waits for locks whose hooks are older: the newest hook runs first."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


_forks_wait()


@functools.cache
def _forks_wait_before_logging() -> None:
    """A fork that held the lock of `logging`, which a compile takes, and waited for the compile would wait forever."""
    import logging  # noqa: F401 - registers its hook

    _forks_wait()


def compiling() -> contextlib.AbstractContextManager[bool]:
    """A reentrant block that one thread at a time executes.

    It is the lock itself, because Python acquires and releases that in one step. A context manager written in Python
    may be interrupted just before it releases the lock, which then stays held as long as the traceback lives.
    """
    return _LOCK


def compiles(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator: the function runs as `alone` has it, and a fork waits for it whatever locks a compile takes."""
    held = alone(function)

    @functools.wraps(function)
    def compiled(*args: P.args, **kwargs: P.kwargs) -> R:
        _forks_wait_before_logging()
        return held(*args, **kwargs)

    return compiled


def alone(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator: the function, an import or a compile, runs in a `compiling` block, without garbage collections.

    Importing the compiler and compiling create enough objects to trigger full collections, each of which traverses the
    whole heap: with torch loaded that takes several times as long as a compile. The objects of imported modules are
    moved to the oldest generation, so that the next small collection does not traverse them either.
    """

    @functools.wraps(function)
    def held(*args: P.args, **kwargs: P.kwargs) -> R:
        with _LOCK:
            was_on = gc.isenabled()
            imported = len(sys.modules)
            try:
                gc.disable()  # inside `try`: a KeyboardInterrupt may come right after it
                return function(*args, **kwargs)
            finally:
                if was_on:
                    if len(sys.modules) > imported:
                        _promote_to_oldest_generation()
                    gc.enable()

    return held


def _promote_to_oldest_generation() -> None:
    """Move all objects to the oldest generation of the collector."""
    if not gc.get_freeze_count():  # else objects that the user has frozen would be unfrozen
        gc.freeze()
        gc.unfreeze()


@contextlib.contextmanager
def interrupts_postponed() -> Iterator[list[int]]:
    """A block at whose end a KeyboardInterrupt that came inside of it is raised; it gets a list, which that makes true.

    llvmlite frees an object twice if an interrupt comes while it is freed. LLVM itself cannot be interrupted.
    """
    expected = threading.current_thread() is threading.main_thread()
    if not expected or _signal.getsignal(_signal.SIGINT) is not _signal.default_int_handler:
        yield []  # no interrupt is raised in this thread, or the program has its own signal handler
        return
    received: list[int] = []
    try:
        _signal.signal(_signal.SIGINT, lambda number, _: received.append(number))
        yield received
    finally:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        if received:
            raise KeyboardInterrupt
