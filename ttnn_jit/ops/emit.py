"""The small scalar protocol in which a tile body is written.

One declaration's ``emit`` serves every backend: LLVM text (kernels), numpy (the tile interpreter), numba. A value is
one float32 per element, a mask one truth per element; what they are in a backend is the backend's own business.
"""

from __future__ import annotations

from typing import Any, Protocol

Value = Any  # a float32 per element, in the backend's own representation
Mask = Any  # a truth per element, likewise


class Emit(Protocol):
    """What an ``emit`` may use. Arithmetic is IEEE 754 binary32, rounded to nearest, ties to even, never contracted.

    `minimum` and `maximum` are IEEE 754-2019's: a NaN operand gives NaN, and -0 < +0. Comparisons with NaN are false,
    but for `ne`. The functions from `exp` on carry the accuracy that kernels/vector_math.py states for each.
    """

    def const(self, value: float) -> Value:  # noqa: D102
        ...

    def add(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def sub(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def mul(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def div(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def fma(self, a: Value, b: Value, c: Value) -> Value:
        """A * b + c with one rounding."""
        ...

    def neg(self, a: Value) -> Value:
        """`a` with its sign bit flipped, NaN included."""
        ...

    def abs(self, a: Value) -> Value: ...  # noqa: D102
    def copysign(self, magnitude: Value, sign: Value) -> Value: ...  # noqa: D102
    def sqrt(self, a: Value) -> Value: ...  # noqa: D102
    def minimum(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def maximum(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def round_even(self, a: Value) -> Value: ...  # noqa: D102
    def floor(self, a: Value) -> Value: ...  # noqa: D102
    def ceil(self, a: Value) -> Value: ...  # noqa: D102
    def trunc(self, a: Value) -> Value: ...  # noqa: D102

    def lt(self, a: Value, b: Value) -> Mask: ...  # noqa: D102
    def le(self, a: Value, b: Value) -> Mask: ...  # noqa: D102
    def gt(self, a: Value, b: Value) -> Mask: ...  # noqa: D102
    def ge(self, a: Value, b: Value) -> Mask: ...  # noqa: D102
    def eq(self, a: Value, b: Value) -> Mask: ...  # noqa: D102
    def ne(self, a: Value, b: Value) -> Mask: ...  # noqa: D102
    def both(self, m: Mask, n: Mask) -> Mask: ...  # noqa: D102
    def either(self, m: Mask, n: Mask) -> Mask: ...  # noqa: D102
    def invert(self, m: Mask) -> Mask: ...  # noqa: D102
    def select(self, m: Mask, a: Value, b: Value) -> Value:
        """`a` where the mask is true, else `b`."""
        ...

    def exp(self, a: Value) -> Value: ...  # noqa: D102
    def log(self, a: Value) -> Value: ...  # noqa: D102
    def sin(self, a: Value) -> Value: ...  # noqa: D102
    def cos(self, a: Value) -> Value: ...  # noqa: D102
    def tanh(self, a: Value) -> Value: ...  # noqa: D102
    def sigmoid(self, a: Value) -> Value: ...  # noqa: D102
    def silu(self, a: Value) -> Value:
        """A * sigmoid(a); as one function, so that tiny results keep their digits."""

    def erfc(self, a: Value) -> Value: ...  # noqa: D102
    def gelu(self, a: Value) -> Value:
        """A * erfc(-a / sqrt 2) / 2; as one function, since the tail needs -a / sqrt 2 to more digits than float32."""

    def rsqrt(self, a: Value) -> Value: ...  # noqa: D102
    def pow(self, a: Value, b: Value) -> Value: ...  # noqa: D102

    def exp2(self, a: Value) -> Value: ...  # noqa: D102
    def expm1(self, a: Value) -> Value: ...  # noqa: D102
    def log2(self, a: Value) -> Value: ...  # noqa: D102
    def log10(self, a: Value) -> Value: ...  # noqa: D102
    def log1p(self, a: Value) -> Value: ...  # noqa: D102
    def cbrt(self, a: Value) -> Value: ...  # noqa: D102
    def tan(self, a: Value) -> Value: ...  # noqa: D102
    def asin(self, a: Value) -> Value: ...  # noqa: D102
    def acos(self, a: Value) -> Value: ...  # noqa: D102
    def atan(self, a: Value) -> Value: ...  # noqa: D102
    def sinh(self, a: Value) -> Value: ...  # noqa: D102
    def cosh(self, a: Value) -> Value: ...  # noqa: D102
    def asinh(self, a: Value) -> Value: ...  # noqa: D102
    def acosh(self, a: Value) -> Value: ...  # noqa: D102
    def atanh(self, a: Value) -> Value: ...  # noqa: D102
    def erf(self, a: Value) -> Value: ...  # noqa: D102
    def erfinv(self, a: Value) -> Value: ...  # noqa: D102
    def i0(self, a: Value) -> Value: ...  # noqa: D102
    def lgamma(self, a: Value) -> Value: ...  # noqa: D102
    def digamma(self, a: Value) -> Value: ...  # noqa: D102
    def digamma_series(self, a: Value) -> Value:
        """What TTNN computes for digamma; see the declaration."""

    def gelu_tanh(self, a: Value) -> Value:
        """Gelu by tanh; as one function, since the tail needs the argument of exp to more digits than float32."""

    def mish(self, a: Value) -> Value:
        """A * tanh(softplus(a)); as one function, so that tiny results keep their digits."""

    def softplus(self, a: Value, beta: float = 1.0) -> Value:
        """log(1 + exp(beta * a)) / beta."""

    def tanhshrink(self, a: Value) -> Value: ...  # noqa: D102

    def atan2(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def hypot(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def ldexp(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def logaddexp(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def logaddexp2(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def fmod(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def remainder(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def floor_divide(self, a: Value, b: Value) -> Value: ...  # noqa: D102
    def lerp(self, a: Value, b: Value, weight: Value) -> Value: ...  # noqa: D102
    def addcmul(self, a: Value, b: Value, c: Value, value: float) -> Value: ...  # noqa: D102
    def addcdiv(self, a: Value, b: Value, c: Value, value: float) -> Value: ...  # noqa: D102
