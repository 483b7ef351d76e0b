"""An adapter from a native calling convention to numba's, which returns results through a pointer."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I32, PTR, VOID, Type


def numba_entry(name: str, symbol: str, parameters: Sequence[Parameter], result: Type = VOID) -> str:
    """The function `name`, which calls numba's function `symbol` and returns its result.

    numba's function takes addresses for the result and for an exception, then the arguments. It raises no exception.
    """
    f = FunctionBuilder(name, ModuleText(), parameters, result)
    found, error = f.alloca(PTR if result is VOID else result, hint="result"), f.alloca(PTR, hint="error")
    f.call(I32, f'"{symbol}"', found, error, *f.parameters)
    return f.build(None if result is VOID else f.load(result, found))
