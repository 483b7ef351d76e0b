"""Independent definitions of the functions in float64, and the distance of a float32 from one."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np

Array = np.ndarray


def _erfc(x: Array) -> Array:
    return np.fromiter(map(math.erfc, x.tolist()), np.float64, len(x))


def _sigmoid(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1.0) / (1.0 + e)


FLOAT64: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "erf": lambda x: np.fromiter(map(math.erf, x.tolist()), np.float64, len(x)),
    "sigmoid": _sigmoid,
    "silu": lambda x: x * _sigmoid(x),
    "erfc": _erfc,
    "gelu": lambda x: x * _erfc(-x * math.sqrt(0.5)) / 2,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
}
EXACT: dict[str, Callable[[mpmath.mpf], mpmath.mpf]] = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "erfc": mpmath.erfc,
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "reciprocal": lambda x: 1 / x,
}


@np.errstate(all="ignore")
def ulps(got: Array, reference: Array) -> Array:
    """|got - reference| in units of float32's last place there; 0 where both are NaN, or infinite alike."""
    nearest = reference.astype(np.float32)
    spacing = np.spacing(np.abs(nearest)).astype(np.float64)
    unit = np.where(np.isfinite(spacing), spacing, 2.0**104)
    error = np.abs(got.astype(np.float64) - reference) / unit
    alike = (np.isnan(got) & np.isnan(reference)) | ((got == nearest) & ~np.isfinite(nearest))
    error = np.where(alike, 0.0, error)
    return np.where(np.isnan(error), np.inf, error)


@np.errstate(all="ignore")
def correctly_rounded_bfloat16(name: str, x: Array) -> Array:
    """The function of the float32 array `x`, rounded once to bfloat16, as float64; through mpmath where float64 is
    too close to the middle of two bfloat16 to tell.
    """
    values = FLOAT64[name](x.astype(np.float64))
    exponents = np.maximum(np.frexp(values)[1], -125)
    steps = np.ldexp(1.0, exponents - 8)
    quotients = values / steps
    rounded = np.rint(quotients) * steps
    from_middle = np.abs(quotients - np.floor(quotients) - 0.5)
    with mpmath.workprec(400):
        for i in np.flatnonzero((from_middle < 2.0**-30) & np.isfinite(values) & (values != 0)):
            step = mpmath.mpf(float(steps[i]))
            rounded[i] = float(mpmath.nint(EXACT[name](mpmath.mpf(float(x[i]))) / step) * step)
    rounded = np.where(np.abs(rounded) >= 2.0**128, np.copysign(np.inf, rounded), rounded)
    return np.where(np.isfinite(values), rounded, values)
