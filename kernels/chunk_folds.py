"""LLVM IR text of what the loop of kernels/tile_loop.py reduces in registers: lane i of its chunks is chain i.

The chains begin as the identity, go through the loop as phis, once more through it with the tail, of which the lanes
that are no elements are the identity, and are folded by halving behind it (ops/reduction.py has the order).

Bound: one `combine` for each vector of a chunk, whose chains hide no latency of each other beyond two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.process.dataclass import dataclass

Combine = Callable[[LlvmVector, str, str], str]


@dataclass(frozen=True)
class ChunkFold:
    """How a stream is reduced.

    Attributes:
        combine: ``combine(b, x, y)`` over ops/emit.py.
        identity: What the chains begin with.
        builder: ``builder(prefix)`` writes instructions on vectors.
    """

    combine: Combine
    identity: float
    builder: Callable[[str], LlvmVector]

    @property
    def start(self) -> str:
        """A vector of identities."""
        return str(self.builder("identity").const(self.identity))


@dataclass(frozen=True)
class ChunkFolds:
    """The lines of all that a loop reduces, float32 each; `numbers` are those of the streams.

    Attributes:
        folds: By number, how it is reduced.
        lanes: Of a vector.
        unroll: Vectors in a chunk.
    """

    folds: Mapping[int, ChunkFold]
    lanes: int
    unroll: int

    def before_chunks(self) -> Iterator[str]:
        """In the block ``start``: what the chains are before the first chunk, or before the tail's."""
        for fold, name in self._chains():
            yield f"  {name}.start = phi {self._kind} [{fold.start}, %whole], [{name}.whole, %gathered]"

    def in_chunk(self) -> Iterator[str]:
        """In the block ``chunk``: what the chains are."""
        for _, name in self._chains():
            yield f"  {name} = phi {self._kind} [{name}.start, %start], [{name}.next, %latch]"

    def combined(self, k: int, values: Sequence[str], suffix: str = "next") -> Iterator[str]:
        """The chains, under their names with `suffix`, with one more vector each."""
        fold = self.folds[k]
        builder = fold.builder(f"{suffix}{k}.")
        results = [fold.combine(builder, name, value) for name, value in zip(self._names(k), values, strict=True)]
        yield from builder.lines
        for name, result in zip(self._names(k), results, strict=True):
            yield f"  {name}.{suffix} = bitcast {self._kind} {result} to {self._kind}"

    def after_chunks(self) -> Iterator[str]:
        """In the block ``after``: what the chains are before the tail."""
        for fold, name in self._chains():
            yield f"  {name}.whole = phi {self._kind} [{fold.start}, %row], [{name}.next, %chunks.done]"

    def with_tail(self, values: Mapping[int, Sequence[str]]) -> Iterator[str]:
        """In the block ``scatter``: the chains with the lanes of the tail's `values` that are elements."""
        if not self.folds:
            return
        counts = f"<{self.lanes} x i64>"
        order = f"<{self.lanes} x i32> zeroinitializer"
        yield f"  %rest.lane = insertelement {counts} poison, i64 %rest, i64 0"
        yield f"  %rest.lanes = shufflevector {counts} %rest.lane, {counts} poison, {order}"
        for i in range(self.unroll):
            places = ", ".join(f"i64 {i * self.lanes + lane}" for lane in range(self.lanes))
            yield f"  %is.element{i} = icmp slt {counts} <{places}>, %rest.lanes"
        for k, fold in self.folds.items():
            for i, value in enumerate(values[k]):
                chosen = f"{self._kind} {value}, {self._kind} {fold.start}"
                yield f"  %kept{k}.{i} = select <{self.lanes} x i1> %is.element{i}, {chosen}"
            yield from self.combined(k, [f"%kept{k}.{i}" for i in range(self.unroll)], "tail")

    def results(self) -> Iterator[tuple[int, str, list[str]]]:
        """In a block behind ``after`` and ``scatter``: by stream, its number, and the lines that compute it."""
        phis = [
            f"  {name}.all = phi {self._kind} [{name}.whole, %after], [{name}.tail, %scatter]"
            for _, name in self._chains()
        ]
        for k, fold in self.folds.items():
            builder = fold.builder(f"all{k}.")
            value = halved(builder, fold.combine, [f"{name}.all" for name in self._names(k)])
            number = f"%result{k}"
            yield k, number, [*phis, *builder.lines, f"  {number} = extractelement {self._kind} {value}, i64 0"]
            phis = []

    @property
    def _kind(self) -> str:
        return f"<{self.lanes} x float>"

    def _names(self, k: int) -> list[str]:
        return [f"%chain{k}.{i}" for i in range(self.unroll)]

    def _chains(self) -> Iterator[tuple[ChunkFold, str]]:
        for k, fold in self.folds.items():
            for name in self._names(k):
                yield fold, name


def halved(builder: LlvmVector, combine: Combine, values: Sequence[str]) -> str:
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
