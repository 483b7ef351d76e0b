"""What the loop of kernels/loops/tile_loop.py reduces in registers: lane i of its chunks is chain i.

The chains begin as the identity, are carried by the loop, once more through it with the tail, of which the lanes that
are no elements are the identity, and are folded by halving behind it (ops/families/reduction.py has the order).

Bound: one `combine` for each vector of a chunk, whose chains hide no latency of each other beyond two.
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
    """How a stream is reduced.

    Attributes:
        combine: ``combine(b, x, y)`` over ops/language/emit.py.
        identity: What the chains begin with.
        builder: ``builder(body)`` writes instructions on vectors into a body.
    """

    combine: Combine
    identity: float
    builder: Callable[[Body], LlvmVector]

    def start(self, body: Body) -> Value:
        """A vector of identities."""
        start: Value = self.builder(body).const(self.identity)
        return start

    def combined(self, body: Body, chains: Sequence[Value], vectors: Sequence[Value]) -> list[Value]:
        """The chains with one more vector each."""
        builder = self.builder(body)
        return [self.combine(builder, chain, vector) for chain, vector in zip(chains, vectors, strict=True)]

    def result(self, body: Body, chains: Sequence[Value]) -> Value:
        """The number that the chains are."""
        builder = self.builder(body)
        return builder.extract(halved(builder, self.combine, chains), 0)


def elements_alone(b: Builder, rest: Value, vectors: Sequence[Value], start: Value) -> list[Value]:
    """The vectors of a tail of `rest` elements, with `start` in the lanes that are no elements."""
    lanes = start.type.lanes
    counts = b.splat(rest, lanes, "rest.lanes")
    lane_indices = [integers(tuple(range(i * lanes, (i + 1) * lanes)), I64) for i, _ in enumerate(vectors)]
    return [
        b.select(b.compare("slt", lane_index, counts, "is.element"), vector, start)
        for lane_index, vector in zip(lane_indices, vectors, strict=True)
    ]


def halved(builder: LlvmVector, combine: Combine, values: Sequence[Value]) -> Value:
    """The vector whose first lane is the chains, which are the lanes of `values`, folded by halving."""
    held = list(values)
    while len(held) > 1:
        half = len(held) // 2
        held = [combine(builder, x, y) for x, y in zip(held[:half], held[half:], strict=True)]
    (value,) = held
    width = builder.isa.lanes
    while width > 1:
        width //= 2
        value = combine(builder, value, builder.upper_lanes(value, width))
    return value
