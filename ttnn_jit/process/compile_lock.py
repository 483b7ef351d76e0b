"""What holds while something is imported, compiled or linked: one thread does it, no fork and no collection falls in.

A forked child has the forking thread only. Whatever another thread was in the middle of, an import above all, stays
so in the child for ever, and waiting for it hangs. So a fork waits until nobody compiles.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_ONE_THREAD = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_ONE_THREAD.acquire, after_in_parent=_ONE_THREAD.release, after_in_child=_ONE_THREAD.release
    )


def compiling() -> contextlib.AbstractContextManager[bool]:
    """What one thread at a time is in; it may enter further such blocks.

    It is the lock itself, which Python takes and gives back in one step each. What is left by code of Python's may be
    interrupted just before it gives the lock back, and then holds it for as long as anyone keeps the traceback.
    """
    return _ONE_THREAD


def compiles(function: Callable[P, R]) -> Callable[P, R]:
    """`function` as one such block, in which cyclic garbage waits.

    Importing the compiler and compiling make enough objects to set off full collections, each a walk over the whole
    heap: with torch loaded that takes several times as long as a compile. What modules that were imported hold is not
    walked by the next small collection either.
    """

    @functools.wraps(function)
    def alone(*args: P.args, **kwargs: P.kwargs) -> R:
        with _ONE_THREAD:
            was_on = gc.isenabled()
            imported = len(sys.modules)
            try:
                gc.disable()  # inside, for a KeyboardInterrupt may come right after it
                return function(*args, **kwargs)
            finally:
                if was_on:
                    if len(sys.modules) > imported:
                        _count_as_old()
                    gc.enable()

    return alone


def _count_as_old() -> None:
    """Put all objects into the oldest generation of the collector, where young ones come that outlived collections."""
    if not gc.get_freeze_count():  # else objects that somebody has frozen would thaw
        gc.freeze()
        gc.unfreeze()


@contextlib.contextmanager
def interrupts_postponed() -> Iterator[None]:
    """A KeyboardInterrupt comes at the end of the block.

    llvmlite frees an object twice if one comes while it is freed. What LLVM does cannot be interrupted in any case.
    """
    expected = threading.current_thread() is threading.main_thread()
    if not expected or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # no exception comes here, or the program has a way of its own with interrupts
        return
    came: list[int] = []
    try:
        signal.signal(signal.SIGINT, lambda number, _: came.append(number))
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if came:
            raise KeyboardInterrupt
