"""The interface of backends, and the code that they make of a scheduled module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.launch_bounds import Signature, signature_of
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
        texts: Kernel -> its readable text.
        modules: Gives kernel -> its modules for the assembler; called only if an image is not cached.
        isa: The instruction set for the assembler.
        host: The plan of the host's launches.
    """

    plan: ProgramPlan
    texts: Mapping[str, str]
    modules: Callable[[], Mapping[str, KernelModules]]
    isa: HostIsa
    host: HostPlan

    def assemble(self) -> dict[str, bytes]:
        """Symbol -> image of the kernels and of the functions that they call."""
        with self.assembled() as images:
            return images()

    @cached_property
    def signatures(self) -> dict[str, Signature]:
        """The signatures of the kernels of the plan's launches, by name."""
        return {launch.kernel: signature_of(launch, self.plan.operands) for launch in self.plan.each_launch}

    @contextmanager
    def assembled(self) -> Iterator[Callable[[], dict[str, bytes]]]:
        """Starts `assemble` in the background; yields a function that waits for its result."""
        if not self.texts:
            yield dict
            return
        from ttnn_jit.codegen.images.kernel_images import KernelImages

        images = KernelImages(self.texts, self.modules, self.signatures, self.isa)
        try:
            yield images.finished
        finally:
            images.abandon()

    def assembly(self) -> str:
        """The assembly text of the images."""
        from ttnn_jit.codegen.images.assemble import assembly

        return "\n".join(assembly(modules.whole, self.isa) for modules in self.modules().values())


@dataclass(frozen=True)
class Backend:
    """A code generator of scheduled modules; the code of all backends is assembled, stored and called alike.

    Attributes:
        suffix: The suffix of files with its kernels' text.
        program: Gives the code of a module after ``d2m-insert-dst-register-access``; it raises CompileError if the
            module contains anything but scheduled kernels.
    """

    suffix: str
    program: Callable[[ModuleOp], Code]
