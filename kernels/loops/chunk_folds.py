"""Reductions in registers of the loop of kernels/loops/tile_loop.py: lane i of its chunks is accumulator i.

The accumulators start as the identity and are loop-carried. The loop runs once more for the tail, whose unused lanes
are set to the identity. Afterwards the accumulators are folded by halving (ops/families/reduction.py defines the
order).

Bound: one `combine` for each vector of a chunk; the latency of two vectors of accumulators overlaps, no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.types import I64
from ttnn_jit.kernels.llvm.values import Body, Value, integers
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.process.dataclass import dataclass

Combine = Callable[[LlvmVector, Value, Value], Value]


@dataclass(frozen=True)
class ChunkFold:
    """The reduction of a stream.

    Attributes:
        combine: ``combine(b, x, y)`` over ops/language/emit.py.
        identity: The initial value of the accumulators.
        builder: ``builder(body)`` makes a vector builder for a body.
    """

    combine: Combine
    identity: float
    builder: Callable[[Body], LlvmVector]

    def start(self, body: Body) -> Value:
        """A vector of identities."""
        start: Value = self.builder(body).const(self.identity)
        return start

    def combined(self, body: Body, chains: Sequence[Value], vectors: Sequence[Value]) -> list[Value]:
        """The accumulators, each combined with a vector."""
        builder = self.builder(body)
        return [self.combine(builder, chain, vector) for chain, vector in zip(chains, vectors, strict=True)]

    def result(self, body: Body, chains: Sequence[Value]) -> Value:
        """The accumulators folded to one number."""
        builder = self.builder(body)
        return builder.extract(fold_halves(builder, self.combine, chains), 0)


def mask_tail(b: Builder, rest: Value, vectors: Sequence[Value], start: Value) -> list[Value]:
    """The vectors of a tail of `rest` elements, with the lanes beyond it replaced by `start`."""
    lanes = start.type.lanes
    counts = b.splat(rest, lanes, "rest.lanes")
    lane_indices = [integers(tuple(range(i * lanes, (i + 1) * lanes)), I64) for i, _ in enumerate(vectors)]
    return [
        b.select(b.compare("slt", lane_index, counts, "is.element"), vector, start)
        for lane_index, vector in zip(lane_indices, vectors, strict=True)
    ]


def fold_halves(builder: LlvmVector, combine: Combine, values: Sequence[Value]) -> Value:
    """The vector whose lane 0 is all lanes of `values` folded by halving."""
    vectors = list(values)
    while len(vectors) > 1:
        half = len(vectors) // 2
        vectors = [combine(builder, x, y) for x, y in zip(vectors[:half], vectors[half:], strict=True)]
    (value,) = vectors
    width = builder.isa.lanes
    while width > 1:
        width //= 2
        value = combine(builder, value, builder.upper_lanes(value, width))
    return value
