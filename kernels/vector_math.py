"""Vector math: every function that an `emit` may use, each as one algorithm over primitives.

Because a backend provides the primitives alone, and those are exactly defined, all backends give the same bits:
AVX-512, AVX2 with FMA, NEON and numpy.

Largest errors in units of float32's last place, against float64 over every 61st of all float32 (erfc and gelu every
1220th, and dense samples; pow: samples near its hard cases), and after one rounding to bfloat16 over all inputs:

    sqrt 0.5, exp 1.0, log 1.02, sin 1.72, cos 1.75, tanh 1.17, rsqrt 1.45, sigmoid 2.36, silu 2.34, erfc 2.27,
    gelu 3.1, pow 1.25; sin and cos to the largest float; all to the last denormal.

    bfloat16: correctly rounded, but for denormal results of gelu and silu (128 ties each, one unit off). Of pow, whose
    pairs of inputs are too many to try, this is not shown.
"""

from __future__ import annotations

from ttnn_jit.kernels.bessel import Bessel
from ttnn_jit.kernels.error_function import ErrorFunction
from ttnn_jit.kernels.gamma import Gamma
from ttnn_jit.kernels.hyperbolic import Hyperbolic
from ttnn_jit.kernels.inverse_trigonometry import InverseTrigonometry
from ttnn_jit.kernels.primitives import SIGN_BIT
from ttnn_jit.kernels.quotient import Quotient
from ttnn_jit.ops.emit import Value
from ttnn_jit.target import Numerics

SMALLEST_NORMAL = 2.0**-126


class VectorMath(ErrorFunction, Hyperbolic, InverseTrigonometry, Gamma, Bessel, Quotient):
    """All of ops.emit.Emit, and the rounding to bfloat16."""

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
