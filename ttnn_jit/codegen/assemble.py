"""LLVM text to images of native code, without any pass over the IR: vectors and schedule are already in the text."""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite.binding as llvm

from ttnn_jit.compiling import interrupts_postponed
from ttnn_jit.errors import InternalError
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_float import MODULE_BREAK, SELECTED_QUICKLY
from ttnn_jit.runtime.image import image_of
from ttnn_jit.runtime.native import elf_triple


@interrupts_postponed()
def assemble(text: str, isa: HostIsa) -> bytes:
    """The image (runtime/image.py) of `text` for `isa`.

    Args:
        text: A module of LLVM IR, or several with `MODULE_BREAK` between them, which are linked.
        isa: Names triple, CPU and features; need not be the host's.

    Raises:
        InternalError: LLVM rejects the text.
    """
    return image_of(_machine_for(text, isa).emit_object(_parsed(text, isa)))


@interrupts_postponed()
def assembly(text: str, isa: HostIsa) -> str:
    """The assembly that `assemble` would encode.

    Raises:
        InternalError: LLVM rejects the text.
    """
    listing: str = _machine_for(text, isa).emit_assembly(_parsed(text, isa))
    return listing


def _machine_for(text: str, isa: HostIsa) -> Any:
    return _target_machine(isa, 0 if SELECTED_QUICKLY in text else 2)


def _parsed(text: str, isa: HostIsa) -> Any:
    try:
        first, *others = (llvm.parse_assembly(_target_lines(isa) + part) for part in text.split(MODULE_BREAK))
        for other in others:
            first.link_in(other)
        first.verify()
    except RuntimeError as error:
        raise InternalError(f"LLVM rejects generated text: {error}", help="report it with the text") from error
    return first


@cache
def _target_lines(isa: HostIsa) -> str:
    machine = _target_machine(isa, 2)
    return f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"\n'


@cache
def _target_machine(isa: HostIsa, opt: int) -> Any:
    # The small code model keeps constants in memory operands; the JIT default would move each through a register.
    _initialize()
    target = llvm.Target.from_triple(elf_triple(isa.triple or llvm.get_default_triple()))
    return target.create_target_machine(cpu=isa.cpu, features=isa.features, opt=opt, reloc="pic", codemodel="small")


@cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
