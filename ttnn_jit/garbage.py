"""When Python's cyclic garbage collector may run."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collection_postponed() -> Iterator[None]:
    """Cyclic garbage waits until the end of the block.

    Importing the compiler and compiling make enough objects to set off full collections, each a walk over the whole
    heap: with torch loaded that is 40 to 100 ms a walk, ten times what a compile takes.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
