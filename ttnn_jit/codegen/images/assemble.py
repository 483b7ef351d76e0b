"""LLVM text to images of native code, without any pass over the IR: vectors and schedule are already in the text."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import LlvmModule
from ttnn_jit.process.compile_lock import interrupts_postponed
from ttnn_jit.process.memoized import memoized
from ttnn_jit.runtime.native.image import image_of
from ttnn_jit.runtime.native.native import elf_triple


@interrupts_postponed()
def assemble(module: LlvmModule, isa: HostIsa) -> bytes:
    """The image of `module` for `isa`, which names triple, CPU and features, and need not be the host's.

    Raises:
        InternalError: LLVM rejects the text.
    """
    return image_of(_target_machine(isa, fast_isel=module.fast_isel).emit_object(parsed(module, isa)))


@interrupts_postponed()
def assembly(module: LlvmModule, isa: HostIsa) -> str:
    """The assembly that `assemble` would encode.

    Raises:
        InternalError: LLVM rejects the text.
    """
    listing: str = _target_machine(isa, fast_isel=module.fast_isel).emit_assembly(parsed(module, isa))
    return listing


def parsed(module: LlvmModule, isa: HostIsa, context: Any = None) -> Any:
    """The verified LLVM module of the text `module`.

    Args:
        module: The text.
        isa: The target.
        context: The LLVM context of the module, by default the one that modules of this process share.

    Raises:
        InternalError: LLVM rejects the text.
    """
    try:
        texts = (_target_lines(isa) + text for text in (module.text, *module.linked))
        first, *others = (llvm.parse_assembly(text, context=context) for text in texts)
        for other in others:
            first.link_in(other)
        first.verify()
    except RuntimeError as error:
        raise InternalError(f"LLVM rejects generated text: {error}", help="report it with the text") from error
    return first


@memoized
def _target_lines(isa: HostIsa) -> str:
    machine = _target_machine(isa, fast_isel=False)
    return f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"\n'


def new_target_machine(isa: HostIsa, *, fast_isel: bool) -> Any:
    """A target machine for `isa`, for one thread at a time."""
    # The small code model keeps constants in memory operands; the JIT default would move each through a register.
    _initialize()
    target = llvm.Target.from_triple(elf_triple(isa.triple or llvm.get_default_triple()))
    opt = 0 if fast_isel else 2
    return target.create_target_machine(cpu=isa.cpu, features=isa.features, opt=opt, reloc="pic", codemodel="small")


_target_machine = memoized(new_target_machine)


@memoized
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
