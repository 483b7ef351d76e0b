"""What holds while something is imported, compiled or linked: one thread does it, no fork and no collection falls in.

A forked child has the forking thread only. Whatever another thread was in the middle of, an import above all, stays
so in the child for ever, and waiting for it hangs. So a fork waits until nobody compiles.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Iterator

_ONE_THREAD = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_ONE_THREAD.acquire, after_in_parent=_ONE_THREAD.release, after_in_child=_ONE_THREAD.release
    )


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """One thread at a time is in such a block; it may enter further ones."""
    with _ONE_THREAD, collection_postponed():
        yield


@contextlib.contextmanager
def collection_postponed() -> Iterator[None]:
    """Cyclic garbage waits until the end of the block.

    Importing the compiler and compiling make enough objects to set off full collections, each a walk over the whole
    heap: with torch loaded that is 40 to 100 ms a walk, ten times what a compile takes.
    """
    was_on = gc.isenabled()
    try:
        gc.disable()  # inside, for a KeyboardInterrupt may come right after it
        yield
    finally:
        if was_on:
            gc.enable()


@contextlib.contextmanager
def interrupts_postponed() -> Iterator[None]:
    """A KeyboardInterrupt comes at the end of the block.

    llvmlite frees an object twice if one comes while it is freed. What LLVM does cannot be interrupted in any case.
    """
    import signal

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
