"""Functions of the C library's mathematics that functions of the host call."""

from __future__ import annotations

from ttnn_jit.kernels.llvm.types import DOUBLE, FLOAT, Type

OPERANDS = {
    1: """acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor log log10 log1p log2
        nearbyint rint round roundeven sin sinh sqrt tan tanh tgamma lgamma trunc""",
    2: "atan2 copysign fdim fmax fmin fmod hypot pow remainder",
    3: "fma",
}

FUNCTIONS: dict[str, tuple[int, Type]] = {
    name + suffix: (count, kind)
    for count, names in OPERANDS.items()
    for name in names.split()
    for suffix, kind in (("", DOUBLE), ("f", FLOAT))
}
"""Name -> how many operands it takes, of which type."""
