"""Reference values: the declared golden in float64, and mpmath where float64 may not suffice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import torch

from ttnn_jit.ops import Operation

_BITS = 400  # precision of mpmath's numbers
_MAX_BITS = 4000  # for sums of numbers of very different magnitude

Reference = Callable[..., Any]


def _log_gamma(x: Any) -> Any:
    if abs(x) < 1e4:
        return mpmath.log(abs(mpmath.gamma(x)))
    return mpmath.re(mpmath.loggamma(x))


def _softplus(x: Any, beta: Any, threshold: Any) -> Any:
    return x if x * beta > threshold else mpmath.log1p(mpmath.exp(beta * x)) / beta


def _expm1_below_zero(x: Any, slope: Any, alpha: Any, inner: Any) -> Any:
    return slope * (x if x > 0 else alpha * mpmath.expm1(x / inner))


def _cube_root(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _multigammaln(x: Any) -> Any:
    terms = (_log_gamma(x - mpmath.mpf(index) / 2) for index in range(4))
    return sum(terms, 3 * mpmath.log(mpmath.pi)) if x > 1.5 else None


def derivative_of_digamma(x: Any, order: int) -> Any:
    """The derivative, by the zeta functions of Riemann and Hurwitz; at poles the limit from above, infinity."""
    if x > 0:
        return mpmath.polygamma(order, x)
    fraction = x - mpmath.nint(x)
    if fraction == 0:
        return mpmath.inf if order % 2 else -mpmath.inf
    ahead, behind = (fraction, 1 - fraction) if fraction > 0 else (1 + fraction, -fraction)
    back = mpmath.zeta(order + 1, behind) - mpmath.zeta(order + 1, 1 - x)
    return -mpmath.factorial(order) * ((-1) ** order * mpmath.zeta(order + 1, ahead) - back)


MPMATH: dict[str, Reference] = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": lambda x: mpmath.log(x, 10),
    "log1p": mpmath.log1p,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "cbrt": _cube_root,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "erfinv": mpmath.erfinv,
    "i0": lambda x: mpmath.besseli(0, x),
    "lgamma": _log_gamma,
    "digamma": mpmath.digamma,
    "polygamma": lambda x, k: derivative_of_digamma(x, int(k)),
    "multigammaln": _multigammaln,
    "deg2rad": lambda x: x * mpmath.pi / 180,
    "rad2deg": lambda x: x * 180 / mpmath.pi,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "gelu_tanh": lambda x: x / (1 + mpmath.exp(-mpmath.sqrt(8 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3))),
    "mish": lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))),
    "softplus": _softplus,
    "log_sigmoid": lambda x: -mpmath.log1p(mpmath.exp(-x)),
    "elu": lambda x, alpha: _expm1_below_zero(x, 1, alpha, 1),
    "selu": lambda x, scale, alpha: _expm1_below_zero(x, scale, alpha, 1),
    "celu": lambda x, alpha: _expm1_below_zero(x, 1, alpha, alpha),
    "tanhshrink": lambda x: x - mpmath.tanh(x),
    "softsign": lambda x: x / (1 + abs(x)),
    "hardsigmoid": lambda x: min(max(x + 3, 0), 6) / mpmath.mpf(6),
    "hardswish": lambda x: x * min(max(x + 3, 0), 6) / mpmath.mpf(6),
    "hardmish": lambda x: x * min(max(x + mpmath.mpf("2.8"), 0), 5) / 5,
    "logit": lambda x: mpmath.log(x / (1 - x)) if 0 < x < 1 else None,
    "logit_eps": lambda x, eps: mpmath.log(min(max(x, eps), 1 - eps) / (1 - min(max(x, eps), 1 - eps))),
    "square": lambda x: x * x,
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "rsub": lambda x, y: y - x,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "rdiv": lambda x, y: y / x,
    "pow_tensor": mpmath.power,
    "rpow": lambda x, y: mpmath.power(y, x),
    "atan2": mpmath.atan2,
    "hypot": mpmath.hypot,
    "ldexp": lambda x, y: x * mpmath.power(2, y),
    "logaddexp": lambda x, y: max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y))),
    "logaddexp2": lambda x, y: max(x, y) + mpmath.log1p(mpmath.power(2, -abs(x - y))) / mpmath.log(2),
    "xlogy": lambda x, y: x * mpmath.log(y) if x else mpmath.mpf(0),
    "squared_difference": lambda x, y: (x - y) ** 2,
    "addcmul": lambda x, y, z, value: x + value * y * z,
    "addcdiv": lambda x, y, z, value: x + value * y / z,
    "lerp": lambda x, y, weight: x + weight * (y - x),
    "mac": lambda x, y, z: x * y + z,
}
"""Name in the TTNN dialect -> the function to any number of digits; others are exact in float64, or select operands."""


def to_many_digits(operation: Operation, values: Sequence[float]) -> Any:
    """The operation's result as an mpmath number with at least 53 correct bits; None if it is not defined.

    The precision of sums grows with the difference of their operands' exponents.
    """
    function = MPMATH.get(operation.ttnn_name)
    if function is None or not all(map(math.isfinite, values)):
        return None
    sizes = [math.frexp(value)[1] for value in values if value]
    spread = 4 * max(map(abs, sizes), default=0)
    with mpmath.workprec(min(_BITS + spread, _MAX_BITS)):
        try:
            exact = function(*map(mpmath.mpf, [*values, *operation.tested_attributes]))
        except (ZeroDivisionError, ValueError):
            return None
        if not isinstance(exact, mpmath.mpf) or not mpmath.isfinite(exact) or exact == 0:
            return None
        return exact


def error_in_ulp(got: float, exact: Any, digits: int) -> float:
    """Distance of `got` from an mpmath number, in units of the last place of `digits` bits after the first."""
    with mpmath.workprec(_MAX_BITS):
        unit = mpmath.ldexp(1, max(mpmath.frexp(exact)[1] - 1, -126) - digits)
        return float(abs(mpmath.mpf(got) - exact) / unit)


def in_float64(operation: Operation, golden: Reference, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """The golden for operands in float64."""
    exact: torch.Tensor = golden(torch, *[t.double() for t in tensors], *operation.tested_attributes)
    return exact.double()
