"""Copies the tail of a row, shorter than a chunk, into a scratch chunk, and back.

Bound: with AVX-512, a load and a store for each vector of the chunk. Elsewhere it is a memcpy, which takes as many
instructions as a chunk of a short body; and the load of a vector that was stored in parts waits until the stores are in
the cache.
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
        vectors: Vectors of a chunk.
        masked: Whether the host has masked loads and stores.
    """

    vector: Type
    vectors: int
    masked: bool

    @property
    def _align(self) -> int:
        return self.vector.bits // 8

    def gather(self, b: Builder, rest: Value, far: Value, chunk: Value, fill: Value | None = None) -> None:
        """Copy the first `rest` elements at `far` to `chunk`, and set the other lanes to the vector `fill`; None: 0."""
        filling = zero(self.vector) if fill is None else fill
        if not self.masked:
            # Lanes beyond the tail are set, because denormals left on the stack would be slow.
            for i in range(self.vectors):
                b.store(filling, b.element(chunk, self.vector, i), self._align)
            self._copy(b, rest, far, chunk)
            return
        for there, here, mask in self._addresses(b, rest, far, chunk):
            found = b.intrinsic(self.vector, "llvm.masked.load.{}.p0", there, i32(self._align), mask, filling)
            b.store(found, here, self._align)

    def scatter(self, b: Builder, rest: Value, chunk: Value, far: Value) -> None:
        """Copy the first `rest` elements of `chunk` to `far`."""
        if not self.masked:
            self._copy(b, rest, chunk, far)
            return
        name = f"llvm.masked.store.{self.vector.suffix}.p0"
        for there, here, mask in self._addresses(b, rest, far, chunk):
            b.intrinsic(VOID, name, b.load(self.vector, here, self._align), there, i32(self._align), mask)

    def _addresses(self, b: Builder, rest: Value, far: Value, chunk: Value) -> list[tuple[Value, Value, Value]]:
        """For each vector, its address outside, its address in the chunk, and the mask of its lanes in the tail."""
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
