"""``backend="ttnn"``: vectors and functions of our own, as LLVM text."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ttnn_jit.compiler.backend import Code
from ttnn_jit.kernels import isa as instruction_sets
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native import host_cpu

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class LlvmBackend:
    """Writes LLVM text for the vectors of `isa`."""

    isa: instruction_sets.HostIsa
    suffix: ClassVar[str] = "ll"

    @staticmethod
    def of_this_host() -> LlvmBackend:
        """For this process's processor.

        Raises:
            ArgumentError: It has no vectors that text is written for.
        """
        host = host_cpu()
        features = {feature[1:]: feature[0] == "+" for feature in host.features.split(",") if feature}
        return LlvmBackend(instruction_sets.isa_for(host.name, features, host.triple))

    def program(self, module: ModuleOp) -> Code:
        """See `Backend.program`."""
        from ttnn_jit.codegen.host.host_program import generate

        generated = generate(module, self.isa)
        texts = {name: kernel.text for name, kernel in generated.kernels.items()}
        modules = {name: kernel.modules for name, kernel in generated.kernels.items()}
        return Code(generated.plan, texts, lambda: modules, self.isa, generated.host)
