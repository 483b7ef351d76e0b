"""Conversions between the bfloat16 elements of a chunk, as their 16 bits, and float32 vectors in LLVM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from ttnn_jit.kernels.llvm.values import Value
from ttnn_jit.kernels.math.bfloat16_powers import Bfloat16Power
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType

Vectors = tuple[Value, ...]
"""One value per vector of a chunk."""


@dataclass
class Bfloat16Conversions:
    """Widens, rounds and narrows the one or two vectors of a chunk.

    Two vectors are rounded by one instruction if the host has it. The bits of loaded and of rounded vectors are cached,
    so that narrowing never converts them again.

    Attributes:
        builder: Receives the instructions.
        numerics: The rounding of results.
        interleaved: Whether two vectors hold the even and the odd elements, the halves of 32-bit integers
            (little-endian), which widens without a shuffle. Otherwise they hold the first and the second half.
        leaves_nan: Whether rounding by instruction keeps NaN, because the caller checks for NaN.
    """

    builder: LlvmVector
    numerics: Numerics
    interleaved: bool
    leaves_nan: bool = False
    _loaded: dict[Vectors, Value] = field(default_factory=dict)
    _converted: dict[Vectors, Value] = field(default_factory=dict)

    def widened(self, bits: Value, count: int) -> Vectors:
        """Widen a chunk's `bits`, ``<chunk x i16>``, to `count` vectors."""
        b, lanes = self.builder, self.builder.isa.lanes
        if count == 1:
            vectors: Vectors = (b.load_bf16(bits),)
        elif self.interleaved:
            vectors = b.halves(bits)
        else:
            parts = (b.shuffled([bits], range(k * lanes, (k + 1) * lanes)) for k in (0, 1))
            vectors = tuple(b.load_bf16(part) for part in parts)
        self._loaded[vectors] = bits
        return vectors

    def rounded(self, vectors: Vectors, dtype: DataType) -> Vectors:
        """Each vector, rounded as by `LlvmVector.round_to`."""
        b, lanes = self.builder, self.builder.isa.lanes
        if not (dtype.is_upper_half and b.isa.avx512_bf16):
            return tuple(b.round_to(vector, dtype, self.numerics) for vector in vectors)
        bits = b.converted(vectors, self.numerics, leaves_nan=self.leaves_nan)
        result = (
            (b.load_bf16(bits),)
            if len(vectors) == 1
            else (b.from_upper_halves(bits, 0), b.from_upper_halves(bits, lanes))
        )
        self._converted[result] = bits
        return result

    def flushed(self, vectors: Vectors) -> Vectors:
        """Vectors of bfloat16 numbers, with NaN and denormals replaced as under device numerics."""
        b = self.builder
        if b.isa.avx512_bf16:  # rounding by instruction is faster than comparing bits
            return self.rounded(vectors, DataType.BFLOAT16)
        return self.widened(b.flushed(self.narrowed(vectors)), len(vectors))

    def looked_up(self, vectors: Vectors) -> Vectors:
        """The entries of the module's lookup table for vectors of bfloat16 numbers."""
        return self.widened(self.builder.looked_up(self.narrowed(vectors)), len(vectors))

    def power(self, vectors: Vectors, power: float, name: str, emit: Callable[..., Value]) -> Vectors:
        """The rounded power of vectors of bfloat16 numbers; `name` identifies it, `emit` is its float32 body."""
        b, count = self.builder, len(vectors) * self.builder.isa.lanes
        whole = 2 * b.isa.lanes
        bits = self.narrowed(vectors)
        if count < whole:
            bits = b.shuffled([bits], [k % count for k in range(whole)])
        name = f"{name}.{self.numerics.value}"
        result = b.bfloat16_power(bits, Bfloat16Power.of(power), name, _on_bits(emit, self.numerics))
        if count < whole:
            result = b.shuffled([result], range(count))
        return self.widened(result, len(vectors))

    def narrowed(self, vectors: Vectors) -> Value:
        """The bits, ``<chunk x i16>``, of vectors that hold bfloat16 numbers."""
        b, lanes = self.builder, self.builder.isa.lanes
        if vectors in self._loaded:
            return self._loaded[vectors]
        if not (self.interleaved and len(vectors) == 2):
            return self._converted[vectors] if vectors in self._converted else b.upper_halves(vectors)
        if vectors in self._converted:
            order = [half + k for k in range(lanes) for half in (0, lanes)]
            return b.shuffled([self._converted[vectors]], order)
        return b.interleaved_upper_halves(*vectors)


@memoized(maxsize=64)
def _on_bits(emit: Callable[..., Value], numerics: Numerics) -> Callable[[LlvmVector, Value], Value]:
    """The function of the bfloat16 bits of two vectors that computes `emit` in float32."""

    def on_bits(builder: LlvmVector, bits: Value) -> Value:
        both = Bfloat16Conversions(builder, numerics, interleaved=True)
        results = tuple(emit(builder, vector) for vector in both.widened(bits, 2))
        return both.narrowed(both.rounded(results, DataType.BFLOAT16))

    return on_bits
