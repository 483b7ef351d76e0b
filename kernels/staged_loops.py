"""LLVM IR text of a kernel that loop fission has split into stages, which are strip-mined over blocks of elements.

Fission helps in two cases. A loop over many streams is bound by memory: hardware prefetchers follow few streams, and
streams with equal page offsets evict each other's lines from the first two caches. Stages over few streams each, on
blocks that fit into those caches, read as fast as a copy. A loop over a long chain of dependent operations is bound by
latency: the chunks of a short stage are independent, so that a processor overlaps several of them.

Bound: the bytes of the streams at the speed of a copy, or the arithmetic; plus a store and a load for each tile that
crosses stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    name: str, streams: Sequence[Stream], scratches: Sequence[Stream], stages: Sequence[StageCall], block: int
) -> str:
    """The function ``void @name(ptr pointers, ptr params)`` that runs `stages` over all elements.

    Args:
        name: Symbol of the function.
        streams: The kernel's, none of them strided.
        scratches: Buffers for the tiles that cross stages, contiguous.
        stages: In execution order.
        block: Most elements of a block, a power of two; it is halved until the scratch buffers fit on the stack.
    """
    fewer = max(1, len(scratches) * block // _MAX_SCRATCH_ELEMENTS)
    return "\n".join(_lines(name, streams, scratches, stages, block >> (fewer - 1).bit_length()))


def _lines(
    name: str, streams: Sequence[Stream], scratches: Sequence[Stream], stages: Sequence[StageCall], block: int
) -> Iterator[str]:
    yield f"define void @{name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
    yield "entry:"
    for k, scratch in enumerate(scratches, len(streams)):
        yield f"  %p{k} = alloca [{block} x {scratch.dtype.traits.llvm}], align 64"
    yield "  %extent = alloca i64"
    for k, stage in enumerate(stages):
        yield f"  %operands{k} = alloca [{len(stage.operands)} x ptr]"
    for k in range(len(streams)):
        yield f"  %base{k}.at = getelementptr ptr, ptr %pointers, i64 {k}"
        yield f"  %base{k} = load ptr, ptr %base{k}.at"
    yield "  %n = load i64, ptr %params"
    yield "  %some = icmp sgt i64 %n, 0"
    yield "  br i1 %some, label %stretch, label %done"
    yield "stretch:"
    yield "  %at = phi i64 [0, %entry], [%at.next, %stretch]"
    yield "  %left = sub i64 %n, %at"
    yield f"  %last = icmp slt i64 %left, {block}"
    yield f"  %count = select i1 %last, i64 %left, i64 {block}"
    yield "  store i64 %count, ptr %extent"
    for k, stream in enumerate(streams):
        index = "0" if stream.access is InnerAccess.SCALAR else "%at"
        yield f"  %p{k} = getelementptr {stream.dtype.traits.llvm}, ptr %base{k}, i64 {index}"
    for k, stage in enumerate(stages):
        for place, operand in enumerate(stage.operands):
            yield f"  %operand{k}.{place} = getelementptr ptr, ptr %operands{k}, i64 {place}"
            yield f"  store ptr %p{operand}, ptr %operand{k}.{place}"
        yield f"  call void @{stage.function}(ptr %operands{k}, ptr %extent)"
    yield f"  %at.next = add i64 %at, {block}"
    yield "  %more = icmp slt i64 %at.next, %n"
    yield "  br i1 %more, label %stretch, label %done"
    yield "done:"
    if any(stream.nontemporal for stream in streams):
        yield "  fence seq_cst"  # other threads see these stores in no order otherwise
    yield "  ret void"
    yield "}"
