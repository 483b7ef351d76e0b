"""``backend="numba"``: Python loops over libm, which numba compiles to scalar code for any host."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from ttnn_jit.compiler.backend import Backend, Code
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.runtime.native.native import host_cpu

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttnn_jit.codegen.writing.numba_module import PythonSource
    from ttnn_jit.kernels.llvm.llvm_module import KernelModules


def numba_backend() -> Backend:
    """The backend of Python source; numba is loaded when the code is assembled."""
    return Backend("py", _program)


def _program(module: ModuleOp) -> Code:
    from ttnn_jit.codegen.numba_kernel import numba_program

    launches, plan, sources = numba_program(module)
    host = host_cpu()
    scalar = HostIsa("scalar", host.name, host.features, lanes=1, triple=host.triple)
    texts = {name: source.text for name, source in sources.items()}
    return Code(plan, texts, partial(_modules, sources), scalar, launches)


def _modules(sources: Mapping[str, PythonSource]) -> dict[str, KernelModules]:
    from ttnn_jit.codegen.writing.numba_module import numba_module
    from ttnn_jit.kernels.llvm.llvm_module import KernelModules

    return {name: KernelModules.of(numba_module(name, source)) for name, source in sources.items()}
