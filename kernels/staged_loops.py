"""A kernel of several loops, by loop fission, which run one after the other over each block of elements: LLVM IR text.

A loop over many streams waits for memory: hardware follows few streams at once, and blocks of memory that lie alike in
their pages push each other's lines out of the first two caches before they are used. Stages over a few streams each,
strip-mined over blocks that those caches hold, read as fast as a copy. And a loop over a long chain of operations waits
for each of them: in stages, a processor computes several chunks of one at a time.

Bound: the bytes of the streams at the speed of a copy, or the arithmetic; a tile that crosses stages adds a store and a
load to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ttnn_jit.kernels.tile_loop import InnerAccess, Stream

MANY_STREAMS_BLOCK = 1 << 13
"""Elements of a block of many streams from memory: 32 KB of float32 each (benchmarks/thresholds.py)."""

CHAIN_BLOCK = 1 << 10
"""Elements of a block of a chain: what crosses stages stays in the first cache, and memory rests less meanwhile."""

_MOST_SCRATCH = 1 << 16
"""Elements of all scratch buffers, 256 KB: they lie on the stack of whichever thread runs the kernel."""


@dataclass(frozen=True)
class StageCall:
    """A stage, as the kernel calls it.

    Attributes:
        function: Its symbol, of a loop of rank 0.
        operands: Per stream of its, the kernel's stream; beyond those, the number of a scratch buffer.
    """

    function: str
    operands: tuple[int, ...]


def staged_loops(
    name: str, streams: Sequence[Stream], scratches: Sequence[Stream], stages: Sequence[StageCall], block: int
) -> str:
    """The function ``void @name(ptr pointers, ptr params)`` that runs `stages` over all elements.

    Args:
        name: Symbol of the function.
        streams: Of the whole, none of them strided.
        scratches: What crosses stages, contiguous.
        stages: In order.
        block: Elements that a stage takes at most, a power of two; fewer if scratch buffers are many.
    """
    fewer = max(1, len(scratches) * block // _MOST_SCRATCH)
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
