"""The LLVM text of a kernel, by its kind: a loop nest, a product, a copy, or a routine."""

from __future__ import annotations

from ttnn_jit.codegen.schedules.device_exchange import Exchange, RankExchange
from ttnn_jit.codegen.schedules.kernel import Contract, Copy, Kernel, LoopNest, Routine
from ttnn_jit.codegen.schedules.vector_loop import Tier
from ttnn_jit.codegen.writing.llvm_nests import Draft, drafted_nest
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import KernelModules
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized


@dataclass(frozen=True)
class LlvmKernel:
    """A function ``void name(ptr pointers, ptr params)``; see `ttnn_jit.codegen.schedules.launch`.

    Attributes:
        name: Its symbol, which ends in a hash of the text: equal names mean equal code.
        modules: The text.
        picoseconds: The predicted arithmetic per element on one thread, at least 1.
        panels: As in `Launch`.
    """

    name: str
    modules: KernelModules
    picoseconds: int
    panels: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The whole module, for dumps."""
        return self.modules.whole.listing


@memoized(maxsize=1024)
def kernel_of(kernel: Kernel, isa: HostIsa) -> LlvmKernel:
    """The text of a scheduled kernel; the first kernel of a kind in a process imports the kind's writer."""
    match kernel:
        case LoopNest():
            return _named(drafted_nest(kernel, isa))
        case Contract():
            from ttnn_jit.codegen.writing.llvm_products import drafted_product

            return _named(drafted_product(kernel, isa))
        case Copy():
            from ttnn_jit.codegen.writing.llvm_copies import drafted_copy

            return _named(drafted_copy(kernel))
        case Routine():
            from ttnn_jit.codegen.writing.llvm_routines import routine_kernel

            return LlvmKernel(*routine_kernel(kernel, isa))
        case Exchange() | RankExchange():
            raise AssertionError("it has no code")


def _named(draft: Draft) -> LlvmKernel:
    head = [f"; predicted: {round(draft.picoseconds)} ps per element", *draft.remarks]
    fast_isel = draft.tier is Tier.FAST_ISEL
    name, modules = draft.module.kernel("k", head, draft.definitions, fast_isel=fast_isel)
    return LlvmKernel(name, modules, max(1, round(draft.picoseconds)), draft.panels)
