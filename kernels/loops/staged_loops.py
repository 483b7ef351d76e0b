"""A kernel that loop fission has split into stages, which are strip-mined over blocks of elements.

Fission helps in two cases. A loop over many streams is bound by memory: hardware prefetchers follow few streams, and
streams with equal page offsets evict each other's lines from the first two caches. Stages over few streams each, on
blocks that fit into those caches, read as fast as a copy. A loop over a long chain of dependent operations is bound by
latency: the chunks of a short stage are independent, so that a processor overlaps several of them.

Bound: the bytes of the streams at the speed of a copy, or the arithmetic; plus a store and a load for each tile that
crosses stages.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.llvm.kernel_function import KernelFunction, NestedCall
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import type_of
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.dataclass import dataclass

_MAX_SCRATCH_ELEMENTS = 1 << 16
"""Elements of all scratch buffers, 256 KB: they are on the stack of the thread that runs the kernel."""


@dataclass(frozen=True)
class StageCall:
    """A stage, as the kernel calls it.

    Attributes:
        function: Its symbol, of a loop of rank 0.
        operands: For each of its streams, the number of the kernel's stream, or, above those, of a scratch buffer.
    """

    function: str
    operands: tuple[int, ...]


def staged_loops(
    name: str,
    module: ModuleText,
    streams: Sequence[Stream],
    scratches: Sequence[Stream],
    stages: Sequence[StageCall],
    block: int,
) -> str:
    """The function ``void @name(ptr pointers, ptr params)`` that runs `stages` over all elements.

    Args:
        name: Symbol of the function.
        module: What it needs.
        streams: The kernel's, none of them strided.
        scratches: Buffers for the tiles that cross stages, contiguous.
        stages: In execution order.
        block: Most elements of a block, a power of two; it is halved until the scratch buffers fit on the stack.
    """
    fewer = max(1, len(scratches) * block // _MAX_SCRATCH_ELEMENTS)
    block >>= (fewer - 1).bit_length()
    b = KernelFunction(name, module, [type_of(stream.dtype.traits.llvm) for stream in streams], rank=0)
    buffers = [b.alloca(type_of(each.dtype.traits.llvm), block, 64, "scratch") for each in scratches]
    calls = [NestedCall(b, stage.function, len(stage.operands), 1) for stage in stages]
    starts, n = b.streams(), b.extent(0, "n")
    moved = [stream.access is not InnerAccess.SCALAR for stream in streams]
    with b.when(b.compare("sgt", n, 0), "some"), b.count("at", n, step=block) as stretch:
        at = stretch.index
        count = b.smin(b.sub(n, at), block)
        addresses = [b.element(start, b.elements[k], at) if moved[k] else start for k, start in enumerate(starts)]
        addresses += buffers
        for stage, call in zip(stages, calls, strict=True):
            call.set_param(0, count)
            call.run(*(addresses[operand] for operand in stage.operands))
    return b.ended(fences=any(stream.nontemporal for stream in streams))
