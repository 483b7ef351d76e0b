"""LLVM text that numba compiles from a kernel's Python source; the text is cached for other processes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.kernels.llvm.function import Parameter
from ttnn_jit.kernels.llvm.llvm_module import LlvmModule
from ttnn_jit.kernels.llvm.types import PTR
from ttnn_jit.kernels.numba.numba_entry import numba_entry
from ttnn_jit.kernels.numba.scalar_call import numba_text
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized

Keep = Callable[[str, Callable[[], bytes], Callable[[bytes], bool]], bytes]
"""A cache: takes a text, a function that computes its value, and a check that a cached value must pass."""

_KEEPS: list[Keep] = []


@dataclass(frozen=True)
class PythonSource:
    """A Python module with the function ``kernel(pointers, params)``.

    Attributes:
        text: The module.
        is_local: Whether it calls a user's function that this process alone knows.
    """

    text: str
    is_local: bool = False


@contextmanager
def texts_kept_by(keep: Keep | None) -> Iterator[None]:
    """Within the block, `keep` caches numba's results; one thread compiles at a time."""
    _KEEPS.extend([keep] if keep else [])
    try:
        yield
    finally:
        _KEEPS.clear()


@memoized
def numba_module(name: str, source: PythonSource) -> LlvmModule:
    """The module whose function ``void name(ptr pointers, ptr params)`` is the source's ``kernel``, by numba.

    Raises:
        InternalError: numba refuses the source.
    """
    if not _KEEPS or source.is_local:
        return LlvmModule(_text(name, source.text))
    key = f"numba {version('numba')}: {name}\n{source.text}"
    ending = f"define void @{name}(".encode()
    return LlvmModule(_KEEPS[-1](key, lambda: _text(name, source.text).encode(), lambda data: ending in data).decode())


@memoized
def _called(text: str) -> dict[str, Any]:
    """The functions that a source's kernel calls; numba compiles them once per process."""
    scope: dict[str, Any] = {}
    exec(compile(text, "<ttnn_jit kernels>", "exec"), scope)
    return scope


def _text(name: str, source: str) -> str:
    from numba import types
    from numba.core.errors import NumbaError

    above, start, kernel = source.rpartition("\ndef kernel(")
    lines = above.count("\n") + 1
    # The text above the kernel loads and stores elements; many kernels share it but for comments.
    scope = dict(_called(re.sub("^#.*", "", above, flags=re.MULTILINE)))
    exec(compile("\n" * lines + start[1:] + kernel, f"<ttnn_jit kernel {name}>", "exec"), scope)
    int64s = types.CPointer(types.int64)
    try:
        text, symbol = numba_text(scope["kernel"], types.void(int64s, int64s), is_kernel=True)
    except NumbaError as error:
        raise InternalError(f"numba refuses the source of {name}: {error}", help="report it with the source") from error
    parameters = Parameter("pointers", PTR), Parameter("params", PTR)
    return f"{text}\n{numba_entry(name, symbol, parameters)}\n"
