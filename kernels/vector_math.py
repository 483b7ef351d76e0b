"""Vector math: every function that an `emit` may use, each as one algorithm over primitives.

Because a backend provides the primitives alone, and those are exactly defined, all backends give the same bits:
AVX-512, AVX2 with FMA, NEON and numpy.

Errors are measured in docs/accuracy.md and bounded where operations are declared. The basic functions (exp, log, sin,
cos, tanh, sigmoid, erf, sqrt, rsqrt, reciprocal) are within 2 units of float32's last place, to the largest float and
the last denormal, and correctly rounded for every bfloat16.
"""

from __future__ import annotations

from typing import Any

from ttnn_jit.kernels.bessel import Bessel
from ttnn_jit.kernels.bfloat16_functions import Bfloat16Functions
from ttnn_jit.kernels.error_function import ErrorFunction
from ttnn_jit.kernels.gamma import Gamma
from ttnn_jit.kernels.hyperbolic import Hyperbolic
from ttnn_jit.kernels.integer_math import IntegerMath
from ttnn_jit.kernels.inverse_trigonometry import InverseTrigonometry
from ttnn_jit.kernels.primitives import SIGN_BIT, Int
from ttnn_jit.kernels.quotient import Quotient
from ttnn_jit.ops.emit import Value
from ttnn_jit.specs.dtypes import ComputeType, Storage
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType

SMALLEST_NORMAL = 2.0**-126


class VectorMath(ErrorFunction, Hyperbolic, InverseTrigonometry, Gamma, Bessel, Quotient, Bfloat16Functions):
    """All of ops.emit.Emit, and the rounding to the numbers of an element type."""

    def arithmetic(self, compute: ComputeType) -> Any:
        """What a tile body is emitted on where it computes in `compute`; its values are this builder's."""
        return IntegerMath(self, is_signed=compute.is_signed) if compute.is_integer else self

    def round_to(self, value: Value, dtype: DataType, numerics: Numerics) -> Value:
        """`value`, of the compute type of `dtype`, as a number that `dtype` holds exactly; see `round_bfloat16`."""
        match dtype.traits.storage:
            case Storage.UPPER_HALF:
                return self.round_bfloat16(value, numerics)
            case Storage.LOW_BITS:
                return self._low_bits(value, 8 * dtype.itemsize, is_signed=dtype.compute.is_signed)
            case Storage.WHOLE:
                return value

    def _low_bits(self, word: Int, count: int, *, is_signed: bool) -> Int:
        """The number of `count` bits that the low bits of `word` are."""
        if not is_signed:
            return self.int_and(word, self.int_const((1 << count) - 1))
        unused = self.int_const(32 - count)
        return self.shift_right(self.shift_left(word, unused), unused)

    def round_bfloat16(self, value: Value, numerics: Numerics) -> Value:
        """`value` rounded to the nearest bfloat16, ties to even, as a float32.

        Under IEEE numerics denormals are kept and NaN stays NaN. Under device numerics a NaN becomes +infinity, and
        a magnitude below 2**-126 (before rounding) zero of its sign.
        """
        bits = self.bits(value)
        lowest = self.int_and(self.shift_right(bits, self.int_const(16)), self.int_const(1))
        carried = self.int_add(self.int_add(bits, self.int_const(0x7FFF)), lowest)
        rounded = self.from_bits(self.int_and(carried, self.int_const(-0x1_0000)))
        not_a_number = self.ne(value, value)
        if numerics is Numerics.IEEE:
            return self.select(not_a_number, self.const(float("nan")), rounded)
        zero = self.from_bits(self.int_and(bits, self.int_const(SIGN_BIT)))
        flushed = self.select(self.lt(self.abs(value), self.const(SMALLEST_NORMAL)), zero, rounded)
        return self.select(not_a_number, self.const(float("inf")), flushed)
