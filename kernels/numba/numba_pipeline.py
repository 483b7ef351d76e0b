"""numba's compilation of kernels to LLVM text, with only the passes that loops over numbers need.

numba's default pipeline (``DefaultPassBuilder.define_nopython_pipeline``) also rewrites arrays, closures and Python
objects, and optimises every function, then its library, then the linked library. User functions go through the whole
pipeline; kernels do not need most of it.

This module imports numba; only code that compiles kernels with numba imports it.
"""

from __future__ import annotations

from copy import copy
from types import CodeType
from typing import Any, ClassVar

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import FixupArgs, InlineClosureLikes, IRProcessing, ReconstructSSA, TranslateByteCode


class LibraryOfText(JITCodeLibrary):  # type: ignore[misc]
    """A library that is linked and optimised, but not assembled."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


class LinkedLibrary(LibraryOfText):
    """A library of functions that is not optimised itself: the library that links it optimises them."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass


class LoopLibrary(LinkedLibrary):
    """A library of a routine's loop, which is optimised before it is inlined: LLVM vectorises it better then."""

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class KernelLibrary(LinkedLibrary):
    """A library that is optimised once, after linking; without vectorisation if it calls a routine's loop."""

    def _optimize_final_module(self) -> None:
        calls_loop = any(isinstance(linked, LoopLibrary) for linked in self._linking_libraries)
        less = {"opt": 2, "loop_vectorize": False, "slp_vectorize": False} if calls_loop else {}
        passes, builder = self._codegen._module_pass_manager(**less)
        passes.run(self._final_module, builder)


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles a function of numbers and pointers."""

    def define_pipelines(self) -> list[PassManager]:
        """The passes, in order."""
        constants = self.state.func_id.code.co_consts
        has_closures = any(isinstance(constant, CodeType) for constant in constants)
        passes = PassManager("kernel")
        for each in (
            TranslateByteCode,
            FixupArgs,
            IRProcessing,
            *([InlineClosureLikes] if has_closures else []),
            ReconstructSSA,
            NopythonTypeInference,
            PreLowerStripPhis,
            IRLegalization,
            NativeLowering,
            NoPythonBackend,
        ):
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


class LinkedCompiler(KernelCompiler):
    """Compiles a function to LLVM IR that kernels link; no machine code is made, because nothing would call it."""

    library: ClassVar[type[LibraryOfText]] = LinkedLibrary

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing, target, library or self.library(target.codegen(), "called"), *rest)
        self.state.targetctx = copy(self.state.targetctx)
        self.state.targetctx.get_executable = _no_machine_code


class LoopCompiler(LinkedCompiler):
    """Compiles the loop of a routine."""

    library = LoopLibrary


def _no_machine_code(library: Any, descriptor: Any, environment: Any) -> Any:
    """The handle by which numba knows the function; it must not be called."""
    return _dynfunc.make_function(descriptor.lookup_module(), descriptor.qualname, "", 0, environment, (library,))
