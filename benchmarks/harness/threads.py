"""The number of threads of this process, for benchmarks that call in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ttnn_jit.specs.options import requested_threads

_VARIABLE = "TTNN_JIT_NUM_THREADS"


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    """A block in which calls of ttnn_jit and of torch have a number of threads; then they have those of before.

    Benchmarks that follow, and the processes that they start, would have this number otherwise.
    """
    import torch

    before, of_torch = os.environ.get(_VARIABLE), torch.get_num_threads()
    os.environ[_VARIABLE] = str(count)
    requested_threads.cache_clear()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before
        requested_threads.cache_clear()
        torch.set_num_threads(of_torch)
