"""What numba makes of a kernel's Python source: a module of LLVM text."""

from __future__ import annotations

from functools import cache
from typing import Any

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.kernels.llvm_module import LlvmModule
from ttnn_jit.kernels.scalar_call import numba_text


@cache
def numba_module(name: str, source: str) -> LlvmModule:
    """The module whose function ``void name(ptr pointers, ptr params)`` is the source's ``kernel``, by numba.

    Raises:
        InternalError: numba refuses the source.
    """
    from numba import types
    from numba.core.errors import NumbaError

    scope: dict[str, Any] = {}
    exec(compile(source, f"<ttnn_jit kernel {name}>", "exec"), scope)
    words = types.CPointer(types.int64)
    try:
        text, symbol = numba_text(scope["kernel"], types.void(words, words))
    except NumbaError as error:
        raise InternalError(f"numba refuses the source of {name}: {error}", help="report it with the source") from error
    return LlvmModule(
        f"{text}\ndefine void @{name}(ptr %pointers, ptr %params) nounwind {{\n"
        "  %result = alloca ptr\n  %error = alloca ptr\n"
        f'  %status = call i32 @"{symbol}"(ptr %result, ptr %error, ptr %pointers, ptr %params)\n  ret void\n}}\n'
    )
