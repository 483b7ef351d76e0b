"""What a backend is, and what it makes of a scheduled module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.launch_bounds import signature_of
from ttnn_jit.runtime.plans.plan import ProgramPlan

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttnn_jit.codegen.schedules.host_plan import HostPlan
    from ttnn_jit.kernels.llvm.llvm_module import KernelModules


@dataclass(frozen=True)
class Code:
    """The code of a program.

    Attributes:
        plan: Buffers and launches.
        texts: By kernel, what a reader is shown.
        modules: By kernel, what is assembled; asked for where no image of a kernel is kept.
        isa: What the assembler may use.
        host: What each launch runs, and how.
    """

    plan: ProgramPlan
    texts: Mapping[str, str]
    modules: Callable[[], Mapping[str, KernelModules]]
    isa: HostIsa
    host: HostPlan

    def assemble(self) -> dict[str, bytes]:
        """The images of the kernels, and of the functions that they call, by symbol."""
        with self.assembled() as images:
            return images()

    @contextmanager
    def assembled(self) -> Iterator[Callable[[], dict[str, bytes]]]:
        """Begin to `assemble`; what waits for that, within the block."""
        if not self.texts:
            yield dict
            return
        from ttnn_jit.codegen.images.kernel_images import KernelImages

        signatures = {launch.kernel: signature_of(launch, self.plan.buffers) for launch in self.plan.each_launch}
        images = KernelImages(self.texts, self.modules, signatures, self.isa)
        try:
            yield images.finished
        finally:
            images.abandon()

    def assembly(self) -> str:
        """What runs, as the assembler has it."""
        from ttnn_jit.codegen.images.assemble import assembly

        return "\n".join(assembly(modules.whole, self.isa) for modules in self.modules().values())


@dataclass(frozen=True)
class Backend:
    """What writes the kernels of a scheduled module. Whatever it writes is assembled, stored and called alike.

    Attributes:
        suffix: Of a file with its kernels' text.
        program: Gives the code of a module that ``d2m-insert-dst-register-access`` left; it raises CompileError where
            the module holds what is no scheduled kernel.
    """

    suffix: str
    program: Callable[[ModuleOp], Code]
