"""Moves the tail of a row, of fewer elements than a chunk has, into a chunk of its own, and back.

Bound: with AVX-512 a load and a store for each vector of the chunk. Elsewhere it is a memcpy, a call of as many
instructions as a chunk of a short body; and the load of a vector that was stored in parts waits until these are in the
cache.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.types import I32, VOID, Type
from ttnn_jit.kernels.llvm.values import Value, i32, integers, zero
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class TailCopies:
    """Copies of the first elements of a chunk.

    Attributes:
        vector: The type of a vector of elements.
        vectors: Of a chunk.
        masked: Whether the host loads and stores some lanes of a vector.
    """

    vector: Type
    vectors: int
    masked: bool

    @property
    def _align(self) -> int:
        return self.vector.bits // 8

    def gather(self, b: Builder, rest: Value, far: Value, chunk: Value, fill: Value | None = None) -> None:
        """The `rest` first elements at `far` into `chunk`, and `fill`, a vector, in the lanes behind them; None: 0."""
        filling = zero(self.vector) if fill is None else fill
        if not self.masked:
            # Lanes beyond the tail are set: denormals that the stack may hold would be slow.
            for i in range(self.vectors):
                b.store(filling, b.element(chunk, self.vector, i), self._align)
            self._copy(b, rest, far, chunk)
            return
        for there, here, mask in self._addresses(b, rest, far, chunk):
            found = b.intrinsic(self.vector, "llvm.masked.load.{}.p0", there, i32(self._align), mask, filling)
            b.store(found, here, self._align)

    def scatter(self, b: Builder, rest: Value, chunk: Value, far: Value) -> None:
        """The `rest` first elements of `chunk` to `far`."""
        if not self.masked:
            self._copy(b, rest, chunk, far)
            return
        name = f"llvm.masked.store.{self.vector.suffix}.p0"
        for there, here, mask in self._addresses(b, rest, far, chunk):
            b.intrinsic(VOID, name, b.load(self.vector, here, self._align), there, i32(self._align), mask)

    def _addresses(self, b: Builder, rest: Value, far: Value, chunk: Value) -> list[tuple[Value, Value, Value]]:
        """For each vector its address outside, that in the chunk, and which of its lanes are there."""
        lanes = self.vector.lanes
        counts = b.splat(b.narrow(rest, I32), lanes, "tail.lanes")
        return [
            (
                b.element(far, self.vector, i),
                b.element(chunk, self.vector, i),
                b.compare("slt", integers(tuple(range(i * lanes, (i + 1) * lanes)), I32), counts),
            )
            for i in range(self.vectors)
        ]

    def _copy(self, b: Builder, rest: Value, source: Value, target: Value) -> None:
        b.copy_bytes(target, source, b.mul(rest, self._align))
