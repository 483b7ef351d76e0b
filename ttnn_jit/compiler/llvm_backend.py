"""``backend="ttnn"``: LLVM text with vectors and own math functions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ttnn_jit.compiler.backend import Backend, Code
from ttnn_jit.kernels import isa as instruction_sets
from ttnn_jit.runtime.native.native import host_cpu

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def isa_of_this_host() -> instruction_sets.HostIsa:
    """The instruction set of this process's processor.

    Raises:
        ArgumentError: It has no supported vectors.
    """
    host = host_cpu()
    features = {feature[1:]: feature[0] == "+" for feature in host.features.split(",") if feature}
    return instruction_sets.isa_for(host.name, features, host.triple)


def llvm_backend() -> Backend:
    """The backend of LLVM text for the vectors of this host.

    Raises:
        ArgumentError: It has no supported vectors.
    """
    return Backend("ll", partial(_program, isa_of_this_host()))


def _program(isa: instruction_sets.HostIsa, module: ModuleOp) -> Code:
    from ttnn_jit.codegen.host.host_program import generate

    generated = generate(module, isa)
    texts = {name: kernel.text for name, kernel in generated.kernels.items()}
    modules = {name: kernel.modules for name, kernel in generated.kernels.items()}
    return Code(generated.plan, texts, lambda: modules, isa, generated.host)
