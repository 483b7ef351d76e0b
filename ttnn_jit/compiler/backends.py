"""The backends by name, and the choice of one that supports this host."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache

from ttnn_jit.compiler.backend import Backend
from ttnn_jit.compiler.llvm_backend import llvm_backend
from ttnn_jit.compiler.numba_backend import numba_backend
from ttnn_jit.diagnostics.errors import ArgumentError

BACKENDS: Mapping[str, Callable[[], Backend]] = {"ttnn": llvm_backend, "numba": numba_backend}
"""Name, of `ttnn_jit.specs.options.BACKENDS` -> constructor for this host; it raises ArgumentError if unsupported."""


@cache
def backend_for(name: str) -> Backend:
    """The backend `name`; if it does not support the vectors of this host, numba's, with a warning once per process."""
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
