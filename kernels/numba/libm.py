"""The libm functions that numba kernels call, by their names in `Emit`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Functions = Mapping[str, Callable[..., Any]]

EXACT: Functions = {
    "sqrt": np.sqrt,
    "round_even": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
}
"""Functions that are exact, or correctly rounded, in float32."""

UNARY: Functions = {
    "exp": math.exp,
    "exp2": np.exp2,
    "expm1": math.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "erf": math.erf,
    "erfc": math.erfc,
    "lgamma": math.lgamma,
    "cbrt": np.cbrt,
}
"""Functions of one argument that are computed in float64 and rounded once."""

BINARY: Functions = {"pow": math.pow, "atan2": math.atan2, "hypot": math.hypot, "fmod": np.fmod}
"""Functions of two arguments that are computed in float64 and rounded once."""
