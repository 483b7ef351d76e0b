"""The backends by the names that users give them, and which of them serves this host."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache

from ttnn_jit.compiler.backend import Backend
from ttnn_jit.compiler.llvm_backend import llvm_backend
from ttnn_jit.compiler.numba_backend import numba_backend
from ttnn_jit.diagnostics.errors import ArgumentError

BACKENDS: Mapping[str, Callable[[], Backend]] = {"ttnn": llvm_backend, "numba": numba_backend}
"""What makes each of `ttnn_jit.specs.options.BACKENDS` for this host; it raises ArgumentError where it cannot."""


@cache
def backend_for(name: str) -> Backend:
    """The backend `name`; where this host has no vectors for it, numba's, and a warning says so once."""
    try:
        return BACKENDS[name]()
    except ArgumentError as error:
        warnings.warn(
            f"{error.message}: numba compiles them here, as with `backend='numba'`: they are slower, and functions are "
            "libm's, whose last bits differ from those of other hosts",
            RuntimeWarning,
            stacklevel=2,
        )
        return numba_backend()
