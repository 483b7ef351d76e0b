"""LLVM assembles modules in several threads while the compiler goes on.

The threads take neither Python's lock nor llvmlite's, which admits one thread at a time: modules without a common
context, assembled by separate target machines, share no state. The compiling thread makes all other calls of LLVM under
that lock.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding import ffi

from ttnn_jit.codegen.images.assemble import new_target_machine, parsed
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import LlvmModule
from ttnn_jit.process.compile_lock import interrupts_postponed
from ttnn_jit.process.memoized import memoized
from ttnn_jit.runtime.native.image import image_of
from ttnn_jit.runtime.native.threads import thread_count

SHARED_CHARACTERS = 1 << 15
"""Least characters of text for which threads are started; less text assembles faster than a thread starts."""


class AssemblyThreads:
    """Modules in assembly, the longest first."""

    def __init__(self, modules: Mapping[str, LlvmModule], isa: HostIsa) -> None:
        ordered = sorted(modules.items(), key=lambda item: -len(item[1].text))
        length = sum(len(module.text) for module in modules.values())
        count = min(thread_count() - 1, len(ordered) - 1) if length >= SHARED_CHARACTERS else 0
        with interrupts_postponed():
            self._jobs = [_Job(symbol, module, isa, alone=count == 0) for symbol, module in ordered]
        self._waiting = [*reversed(self._jobs)]
        self._isa = isa
        self._threads = [threading.Thread(target=self._work, args=(_machines(isa, i + 1),)) for i in range(count)]
        for thread in self._threads:
            thread.daemon = True  # a process that exits while it compiles does not wait
            thread.start()

    def images(self, signatures: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
        """Every symbol with its image, in order of completion; the caller's thread assembles too.

        Args:
            signatures: The signatures of the kernels among them (`launch_bounds.Signature`), as JSON values.

        Raises:
            InternalError: LLVM cannot assemble a module.
        """
        machines = _machines(self._isa, 0)
        for job in self._taken():
            with interrupts_postponed():
                job.run(machines)
            yield job.symbol, job.image(signatures.get(job.symbol))
        for thread in self._threads:
            thread.join()
        for job in self._jobs:
            if not job.is_read:
                yield job.symbol, job.image(signatures.get(job.symbol))

    def abandon(self) -> None:
        """Start no further module and wait for those in progress, as a fork must not happen during assembly."""
        with interrupts_postponed():
            for job in self._taken():
                job.free()
        for thread in self._threads:
            thread.join()

    def _work(self, machines: Mapping[bool, Any]) -> None:
        for job in self._taken():
            job.run(machines)

    def _taken(self) -> Iterator[_Job]:
        while True:
            try:
                yield self._waiting.pop()
            except IndexError:
                return


class _Job:
    """The assembly of one module: its object file in LLVM's memory, then its image.

    Args:
        symbol: The symbol.
        module: The module.
        isa: The instruction set.
        alone: Whether no other thread assembles at the same time, so that the module needs no context of its own.
    """

    def __init__(self, symbol: str, module: LlvmModule, isa: HostIsa, *, alone: bool) -> None:
        self.symbol = symbol
        self.is_read = False
        self._fast_isel = module.fast_isel
        context = _shared_context() if alone else llvm.create_context()
        self._module = _own(parsed(module, isa, context))
        self._context = None if alone else _own(context)
        self._object: int | None = None
        self._error = ctypes.c_char_p()

    def run(self, machines: Mapping[bool, Any]) -> None:
        """Assemble in one call, without Python's lock."""
        self._object = _emit()(machines[self._fast_isel], self._module, 1, ctypes.byref(self._error))
        self.free()

    def free(self) -> None:
        """Free the module's LLVM objects."""
        ffi.lib.LLVMPY_DisposeModule(self._module)
        if self._context is not None:
            ffi.lib.LLVMPY_ContextDispose(self._context)

    def image(self, signature: Any) -> bytes:
        """The image; may be called once."""
        self.is_read = True
        if not self._object:
            raise InternalError(
                f"LLVM cannot assemble {self.symbol}: {(self._error.value or b'').decode()}", help="report it"
            )
        buffer = ctypes.cast(self._object, ffi.LLVMMemoryBufferRef)
        try:
            start, size = ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer)
            return image_of(ctypes.string_at(start, size), signature)
        finally:
            ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


@memoized
@interrupts_postponed()
def _machines(isa: HostIsa, thread: int) -> Mapping[bool, Any]:  # noqa: ARG001 - each thread has its own
    """Target machines by whether fast instruction selection is used."""
    return {fast_isel: new_target_machine(isa, fast_isel=fast_isel) for fast_isel in (False, True)}


@memoized
def _shared_context() -> Any:
    """The context of all modules that the compiling thread assembles alone: a new one costs more than a small module.

    It is not the one that llvmlite's users share, which may be in use by another thread. It keeps constants and types,
    less than a kilobyte a kernel.
    """
    return llvm.create_context()


def _own(llvm_object: Any) -> Any:
    """Take an LLVM object from llvmlite, which then does not free it, and return its address.

    llvmlite would free a module and its context when the garbage collector finds them, in any order, and twice after an
    interrupt.
    """
    address = llvm_object._as_parameter_
    llvm_object.detach()
    return address


@memoized
def _emit() -> Any:
    """LLVM's function, without llvmlite's lock around it."""
    library = ctypes.CDLL(ffi.lib._name, handle=ffi.lib._handle)
    function = library.LLVMPY_TargetMachineEmitToMemory
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    function.restype = ctypes.c_void_p
    return function
