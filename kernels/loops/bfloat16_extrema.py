"""The maximum or minimum of bfloat16 elements, by integer instructions on their bits.

As signed integers, bits of numbers without sign are ordered as the numbers, and bits with a sign, all of which are
negative, in the reverse order. The maximum is thus the largest of all bits if that is not negative, else the smallest.
The minimum is the largest of the bits as unsigned integers if that has a sign, else the smallest. A NaN without sign is
above infinity as a signed integer, and one with a sign is above -infinity as an unsigned one.

Bound: a load, and three integer instructions, for twice as many elements as a vector has float32 lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ttnn_jit.kernels.llvm.function import FunctionBuilder
from ttnn_jit.kernels.llvm.types import FLOAT, I16, I32, Type
from ttnn_jit.kernels.llvm.values import Value, integer, real
from ttnn_jit.kernels.math.primitives import float_bits
from ttnn_jit.process.dataclass import dataclass

_INFINITY, _MINUS_INFINITY = 0x7F80, -0x80
"""The bits as signed integers."""


@dataclass(frozen=True)
class Bfloat16Extremum:
    """The accumulators of an extremum: for each vector of a chunk, three extrema of its bits.

    Attributes:
        identity: The result of no elements: infinite; its sign tells a maximum from a minimum.
        lanes: Elements of a vector.
    """

    identity: float
    lanes: int
    vectors = 4

    @property
    def vector(self) -> Type:
        """The type of a vector of terms."""
        return I16.times(self.lanes)

    @property
    def _extrema(self) -> tuple[str, str, str]:
        """The largest signed and unsigned integer, and the smallest one that the result may be."""
        return "smax", "umax", "smin" if self.identity < 0 else "umin"

    def start(self, f: FunctionBuilder) -> list[Value]:  # noqa: ARG002 - as of other accumulators
        """The accumulators before the first term."""
        return [integer(float_bits(self.identity) >> 16, self.vector)] * (3 * self.vectors)

    def combined(self, f: FunctionBuilder, source: Value, chains: Sequence[Value]) -> list[Value]:
        """The accumulators, each combined with a vector at `source`."""
        found = []
        for k in range(self.vectors):
            bits = f.load(self.vector, f.element(source, self.vector, k), 2)
            for extremum, chain in zip(self._extrema, chains[3 * k :], strict=False):
                found.append(f.intrinsic(self.vector, f"llvm.{extremum}.{{}}", chain, bits))
        return found

    def result(self, f: FunctionBuilder, chains: Sequence[Value]) -> Value:
        """The extremum of all elements, a float32; NaN if one is."""
        signed, unsigned, smallest = (self._of_lanes(f, name, chains[k::3]) for k, name in enumerate(self._extrema))
        largest, has_sign = (signed, False) if self.identity < 0 else (unsigned, True)
        is_largest = f.compare("slt" if has_sign else "sge", largest, 0)
        found = f.shift_left(f.zext(f.select(is_largest, largest, smallest), I32), 16)
        is_nan = f.bit_or(f.compare("sgt", signed, _INFINITY), f.compare("ugt", unsigned, _MINUS_INFINITY))
        return f.select(is_nan, real(float("nan"), FLOAT), f.bitcast(found, FLOAT), "result")

    def _of_lanes(self, f: FunctionBuilder, name: str, vectors: Sequence[Value]) -> Value:
        """An extremum of all lanes of `vectors`."""
        one = reduce(lambda x, y: f.intrinsic(self.vector, f"llvm.{name}.{{}}", x, y), vectors)
        return f.intrinsic(I16, f"llvm.vector.reduce.{name}.{self.vector.suffix}", one)
