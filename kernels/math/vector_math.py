"""Vector math: every function that an `emit` may use, each as one algorithm over primitives.

A backend provides only the primitives, which are exactly defined, so all backends give the same bits: AVX-512, AVX2
with FMA, NEON and numpy.

Errors are measured in docs/accuracy.md and bounded where operations are declared. The basic functions (exp, log, sin,
cos, tanh, sigmoid, erf, sqrt, rsqrt, reciprocal) are within 2 units of float32's last place, to the largest float and
the last denormal, and correctly rounded for every bfloat16.
"""

from __future__ import annotations

from typing import Any

from ttnn_jit.kernels.math.bessel import Bessel
from ttnn_jit.kernels.math.bfloat16_functions import Bfloat16Functions
from ttnn_jit.kernels.math.conversions import Conversions
from ttnn_jit.kernels.math.dot_product import DotProduct
from ttnn_jit.kernels.math.error_function import ErrorFunction
from ttnn_jit.kernels.math.gamma import Gamma
from ttnn_jit.kernels.math.hyperbolic import Hyperbolic
from ttnn_jit.kernels.math.integer_math import IntegerMath, TruthMath, WideIntegerMath
from ttnn_jit.kernels.math.inverse_trigonometry import InverseTrigonometry
from ttnn_jit.kernels.math.quotient import Quotient
from ttnn_jit.kernels.math.wide_math import WideFloatMath
from ttnn_jit.specs.dtype_traits import ComputeType


class VectorMath(
    Conversions,
    ErrorFunction,
    Hyperbolic,
    InverseTrigonometry,
    Gamma,
    Bessel,
    Quotient,
    Bfloat16Functions,
    DotProduct,
):
    """All functions of `Emit`, and the conversions between element types."""

    def arithmetic(self, compute: ComputeType) -> Any:
        """The operations for tile bodies of compute type `compute`; their values are this builder's."""
        if compute.is_bool:
            return TruthMath(self)
        if compute.is_wide and not compute.is_integer:
            return WideFloatMath(self.wide)
        if compute.is_wide:
            return WideIntegerMath(self.wide, is_signed=compute.is_signed)
        return IntegerMath(self, is_signed=compute.is_signed) if compute.is_integer else self
