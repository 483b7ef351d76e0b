"""Special values of C99's Annex F, IEEE 754 and, for rsqrt, C23: in both dtypes, on both numerics.

The expected values are the standard's, not the code's. A device stores NaN in bfloat16 as infinity (docs/numerics.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch

from ttnn_jit import ttnn

INF, NAN, PI = math.inf, math.nan, math.pi
Case = tuple[tuple[float, ...], float]


def odd(function_of_infinity: float) -> list[Case]:
    """f(-x) = -f(x), f(+-0) = +-0."""
    return [((0.0,), 0.0), ((-0.0,), -0.0), ((INF,), function_of_infinity), ((-INF,), -function_of_infinity)]


def logarithm(*powers: tuple[float, float]) -> list[Case]:
    """Zeros, one, negative numbers, infinity."""
    poles = [((0.0,), -INF), ((-0.0,), -INF), ((1.0,), 0.0), ((-1.0,), NAN), ((-INF,), NAN), ((INF,), INF)]
    return poles + [((x,), y) for x, y in powers]


def integral(of_half: float, of_minus_half: float) -> list[Case]:
    """Rounding to integers keeps the sign of zero."""
    return [*odd(INF), ((0.5,), of_half), ((-0.5,), of_minus_half), ((3.0,), 3.0), ((-(2.0**30),), -(2.0**30))]


UNARY: dict[str, list[Case]] = {
    "acos": [((1.0,), 0.0), ((1.5,), NAN), ((-1.5,), NAN), ((INF,), NAN), ((-INF,), NAN), ((-1.0,), PI)],
    "asin": [((0.0,), 0.0), ((-0.0,), -0.0), ((1.5,), NAN), ((-1.5,), NAN), ((INF,), NAN), ((-1.0,), -PI / 2)],
    "atan": odd(PI / 2),
    "cos": [((0.0,), 1.0), ((-0.0,), 1.0), ((INF,), NAN), ((-INF,), NAN)],
    "sin": odd(NAN),
    "tan": odd(NAN),
    "acosh": [((1.0,), 0.0), ((0.5,), NAN), ((-1.0,), NAN), ((-INF,), NAN), ((INF,), INF)],
    "asinh": odd(INF),
    "atanh": [*odd(NAN), ((1.0,), INF), ((-1.0,), -INF), ((1.5,), NAN), ((-2.0,), NAN)],
    "cosh": [((0.0,), 1.0), ((-0.0,), 1.0), ((INF,), INF), ((-INF,), INF)],
    "sinh": odd(INF),
    "tanh": odd(1.0),
    "exp": [((0.0,), 1.0), ((-0.0,), 1.0), ((-INF,), 0.0), ((INF,), INF), ((128.0,), INF), ((-128.0,), 0.0)],
    "exp2": [((0.0,), 1.0), ((-0.0,), 1.0), ((-INF,), 0.0), ((INF,), INF), ((128.0,), INF), ((10.0,), 1024.0)],
    "expm1": [((0.0,), 0.0), ((-0.0,), -0.0), ((-INF,), -1.0), ((INF,), INF), ((-128.0,), -1.0)],
    "log": logarithm(),
    "log2": logarithm((8.0, 3.0), (0.25, -2.0), (2.0**100, 100.0)),
    "log10": logarithm((1000.0, 3.0)),
    "log1p": [((0.0,), 0.0), ((-0.0,), -0.0), ((-1.0,), -INF), ((-2.0,), NAN), ((-INF,), NAN), ((INF,), INF)],
    "cbrt": [*odd(INF), ((27.0,), 3.0), ((-8.0,), -2.0)],
    "abs": [((0.0,), 0.0), ((-0.0,), 0.0), ((INF,), INF), ((-INF,), INF)],
    "neg": [((0.0,), -0.0), ((-0.0,), 0.0), ((INF,), -INF), ((-INF,), INF)],
    "sqrt": [((0.0,), 0.0), ((-0.0,), -0.0), ((INF,), INF), ((-1.0,), NAN), ((-INF,), NAN), ((4.0,), 2.0)],
    "rsqrt": [((0.0,), INF), ((-0.0,), -INF), ((INF,), 0.0), ((-1.0,), NAN), ((-INF,), NAN), ((4.0,), 0.5)],
    "reciprocal": [((0.0,), INF), ((-0.0,), -INF), ((INF,), 0.0), ((-INF,), -0.0), ((-4.0,), -0.25)],
    "erf": odd(1.0),
    "erfc": [((INF,), 0.0), ((-INF,), 2.0), ((0.0,), 1.0), ((-0.0,), 1.0)],
    "lgamma": [((1.0,), 0.0), ((2.0,), 0.0), ((INF,), INF), ((-INF,), INF)]
    + [((x,), INF) for x in (0.0, -0.0, -1.0, -2.0, -100.0)],
    "ceil": integral(1.0, -0.0),
    "floor": integral(0.0, -1.0),
    "round": [*integral(0.0, -0.0), ((1.5,), 2.0), ((2.5,), 2.0), ((-2.5,), -2.0)],
    "trunc": integral(0.0, -0.0),
    "logical_not": [((0.0,), 1.0), ((-0.0,), 1.0), ((INF,), 0.0), ((2.0,), 0.0)],
    "signbit": [((0.0,), 0.0), ((-0.0,), 1.0), ((INF,), 0.0), ((-INF,), 1.0), ((-1.0,), 1.0)],
    "isfinite": [((0.0,), 1.0), ((INF,), 0.0), ((-INF,), 0.0), ((-1.0,), 1.0)],
    "isinf": [((0.0,), 0.0), ((INF,), 1.0), ((-INF,), 1.0)],
}

POW: list[Case] = [
    # zero to an odd negative integer, to another negative number, to -infinity
    ((0.0, -3.0), INF), ((-0.0, -3.0), -INF), ((0.0, -2.0), INF), ((-0.0, -2.0), INF), ((-0.0, -2.5), INF),
    ((0.0, -INF), INF), ((-0.0, -INF), INF),
    # zero to an odd positive integer, to another positive number
    ((0.0, 3.0), 0.0), ((-0.0, 3.0), -0.0), ((0.0, 2.0), 0.0), ((-0.0, 2.0), 0.0), ((-0.0, 0.5), 0.0),
        ((-0.0, INF), 0.0),
    # -1 to an infinity; 1 to anything; anything to zero
    ((-1.0, INF), 1.0), ((-1.0, -INF), 1.0),
    *[((1.0, y), 1.0) for y in (NAN, INF, -INF, 0.0, 2.5)],
    *[((x, y), 1.0) for x in (NAN, INF, -INF, 0.0, -0.0, -3.5) for y in (0.0, -0.0)],
    # a negative number to no integer
    ((-2.0, 0.5), NAN), ((-0.5, -1.5), NAN),
    # to -infinity and infinity, below and above one
    ((0.5, -INF), INF), ((-0.5, -INF), INF), ((2.0, -INF), 0.0), ((-2.0, -INF), 0.0), ((INF, -INF), 0.0),
    ((-INF, -INF), 0.0),
    ((0.5, INF), 0.0), ((-0.5, INF), 0.0), ((0.0, INF), 0.0), ((2.0, INF), INF), ((-2.0, INF), INF),
    ((-INF, INF), INF),
    # -infinity to an odd negative integer, another negative number, an odd positive integer, another positive number
    ((-INF, -3.0), -0.0), ((-INF, -2.0), 0.0), ((-INF, -2.5), 0.0), ((-INF, 3.0), -INF), ((-INF, 2.0), INF),
    ((-INF, 2.5), INF),
    # infinity
    ((INF, -1.0), 0.0), ((INF, -0.5), 0.0), ((INF, 1.0), INF), ((INF, 0.5), INF),
    # NaN
    ((NAN, 2.0), NAN), ((2.0, NAN), NAN), ((NAN, NAN), NAN), ((-1.0, NAN), NAN), ((0.0, NAN), NAN),
    # signs of ordinary powers
    ((-2.0, 3.0), -8.0), ((-2.0, 2.0), 4.0), ((-2.0, -1.0), -0.5),
]  # fmt: skip

BINARY: dict[str, list[Case]] = {
    "pow": POW,
    "rpow": [((y, x), z) for (x, y), z in POW],
    "atan2": [
        ((0.0, -0.0), PI), ((-0.0, -0.0), -PI), ((0.0, 0.0), 0.0), ((-0.0, 0.0), -0.0),
        ((0.0, -1.0), PI), ((-0.0, -1.0), -PI), ((0.0, 1.0), 0.0), ((-0.0, 1.0), -0.0),
        ((-1.0, 0.0), -PI / 2), ((-1.0, -0.0), -PI / 2), ((1.0, 0.0), PI / 2), ((1.0, -0.0), PI / 2),
        ((1.0, -INF), PI), ((-1.0, -INF), -PI), ((1.0, INF), 0.0), ((-1.0, INF), -0.0),
        ((INF, 1.0), PI / 2), ((-INF, 1.0), -PI / 2), ((INF, -1.0), PI / 2), ((-INF, -1.0), -PI / 2),
        ((INF, -INF), 3 * PI / 4), ((-INF, -INF), -3 * PI / 4), ((INF, INF), PI / 4), ((-INF, INF), -PI / 4),
        ((NAN, 1.0), NAN), ((1.0, NAN), NAN), ((NAN, INF), NAN),
    ],
    "hypot": [
        ((3.0, 0.0), 3.0), ((-3.0, -0.0), 3.0), ((0.0, -3.0), 3.0), ((-0.0, -0.0), 0.0), ((3.0, 4.0), 5.0),
        ((INF, NAN), INF), ((NAN, -INF), INF), ((-INF, 1.0), INF), ((1.0, INF), INF), ((NAN, 1.0), NAN),
        ((2.0**100, 0.0), 2.0**100), ((2.0**-100, 0.0), 2.0**-100),
    ],
    "fmod": [
        ((0.0, 2.0), 0.0), ((-0.0, 2.0), -0.0), ((-0.0, -2.0), -0.0), ((INF, 2.0), NAN), ((-INF, 2.0), NAN),
        ((1.0, 0.0), NAN), ((1.0, -0.0), NAN), ((0.0, 0.0), NAN), ((1.5, INF), 1.5), ((-1.5, INF), -1.5),
        ((-1.5, -INF), -1.5),
        ((-0.0, INF), -0.0), ((INF, INF), NAN), ((NAN, 1.0), NAN), ((1.0, NAN), NAN), ((-6.0, 3.0), -0.0),
        ((7.0, -4.0), 3.0),
    ],
    # Python's %, with the sign of the divisor: C99's `remainder` rounds the quotient instead
    "remainder": [
        ((INF, 2.0), NAN), ((-INF, 2.0), NAN), ((1.0, 0.0), NAN), ((0.0, 0.0), NAN), ((1.5, INF), 1.5),
        ((-1.5, -INF), -1.5),
        ((NAN, 1.0), NAN), ((1.0, NAN), NAN), ((7.0, -4.0), -1.0), ((-7.0, 4.0), 1.0), ((-7.0, -4.0), -3.0),
    ],
    # scalbn
    "ldexp": [
        ((0.0, 3.0), 0.0), ((-0.0, 3.0), -0.0), ((0.0, -3.0), 0.0), ((-0.0, -3.0), -0.0), ((3.0, 0.0), 3.0),
        ((INF, 3.0), INF), ((-INF, -3.0), -INF), ((1.5, 4.0), 24.0), ((1.0, 128.0), INF), ((-1.0, 128.0), -INF),
        ((INF, -300.0), INF), ((-INF, -500.0), -INF), ((-0.0, 300.0), -0.0), ((0.0, 500.0), 0.0), ((NAN, 1.0), NAN),
    ],
    "add": [
        ((-0.0, -0.0), -0.0), ((0.0, -0.0), 0.0), ((-0.0, 0.0), 0.0), ((1.0, -1.0), 0.0), ((INF, -INF), NAN),
        ((INF, 1.0), INF),
    ],
    "subtract": [((-0.0, 0.0), -0.0), ((0.0, 0.0), 0.0), ((1.0, 1.0), 0.0), ((INF, INF), NAN), ((1.0, INF), -INF)],
    "rsub": [((0.0, -0.0), -0.0), ((INF, INF), NAN), ((INF, 1.0), -INF)],
    "multiply": [
        ((0.0, -1.0), -0.0), ((-0.0, -1.0), 0.0), ((0.0, INF), NAN), ((-INF, 0.0), NAN), ((INF, -2.0), -INF),
        ((-INF, -INF), INF),
    ],
    "divide": [
        ((1.0, 0.0), INF), ((1.0, -0.0), -INF), ((-1.0, 0.0), -INF), ((0.0, 0.0), NAN), ((INF, INF), NAN),
        ((1.0, INF), 0.0),
        ((-1.0, INF), -0.0), ((INF, -2.0), -INF), ((0.0, -3.0), -0.0),
    ],
    "rdiv": [((0.0, 1.0), INF), ((-0.0, 1.0), -INF), ((0.0, 0.0), NAN), ((INF, 1.0), 0.0)],
    # IEEE 754-2019: NaN wins, -0 is below +0
    "maximum": [
        ((NAN, 1.0), NAN), ((1.0, NAN), NAN), ((-0.0, 0.0), 0.0), ((0.0, -0.0), 0.0), ((-INF, 1.0), 1.0),
        ((INF, 1.0), INF),
    ],
    "minimum": [
        ((NAN, 1.0), NAN), ((1.0, NAN), NAN), ((-0.0, 0.0), -0.0), ((0.0, -0.0), -0.0), ((-INF, 1.0), -INF),
        ((INF, 1.0), 1.0),
    ],
    "eq": [((0.0, -0.0), 1.0), ((NAN, NAN), 0.0), ((INF, INF), 1.0)],
    "ne": [((0.0, -0.0), 0.0), ((NAN, NAN), 1.0), ((INF, -INF), 1.0)],
    "lt": [((-0.0, 0.0), 0.0), ((NAN, 1.0), 0.0), ((1.0, NAN), 0.0), ((-INF, INF), 1.0)],
    "le": [((0.0, -0.0), 1.0), ((NAN, 1.0), 0.0), ((1.0, NAN), 0.0), ((INF, INF), 1.0)],
    "gt": [((0.0, -0.0), 0.0), ((NAN, 1.0), 0.0), ((1.0, NAN), 0.0), ((INF, -INF), 1.0)],
    "ge": [((-0.0, 0.0), 1.0), ((NAN, 1.0), 0.0), ((1.0, NAN), 0.0), ((INF, INF), 1.0)],
}  # fmt: skip

TERNARY: dict[str, list[Case]] = {
    "mac": [  # fma
        ((INF, 0.0, 1.0), NAN), ((0.0, INF, NAN), NAN), ((INF, 1.0, -INF), NAN), ((INF, 1.0, 1.0), INF),
        ((2.0, 3.0, INF), INF),
        ((1.0, -1.0, 1.0), 0.0), ((0.0, -1.0, 0.0), 0.0), ((0.0, -1.0, -0.0), -0.0), ((2.0, NAN, 1.0), NAN),
    ],
    "where": [
        ((NAN, 1.0, 2.0), 1.0), ((0.0, 1.0, 2.0), 2.0), ((-0.0, 1.0, 2.0), 2.0), ((INF, -0.0, 2.0), -0.0),
        ((0.0, NAN, 2.0), 2.0),
        ((-1.0, 1.0, NAN), 1.0),
    ],
}  # fmt: skip
PREDICATES = {"logical_not", "signbit", "isfinite", "isinf"}


def tables() -> Iterator[tuple[str, list[Case]]]:
    for name, cases in UNARY.items():
        yield name, cases if name in PREDICATES else [*cases, ((NAN,), NAN)]
    yield from BINARY.items()
    yield from TERNARY.items()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_special_values_are_those_of_the_standard(dtype, target):
    opened = ttnn.open_device(device_id=0, target=target)
    wrong = []
    for name, cases in tables():
        columns = torch.tensor([arguments for arguments, _ in cases]).T.to(dtype)
        operands = [ttnn.from_torch(column, layout=ttnn.TILE_LAYOUT, device=opened) for column in columns.contiguous()]
        got = getattr(ttnn, name)(*operands).to_torch()
        wrong += [
            (name, arguments, expected, value)
            for (arguments, expected), value in zip(cases, got.tolist(), strict=True)
            if not is_special(value, expected, dtype, target)
        ]
    ttnn.close_device(opened)
    assert wrong == []


def is_special(value: float, expected: float, dtype: torch.dtype, target: str) -> bool:
    """Whether `value` equals the standard's; multiples of pi are rounded to the dtype, within two of its units."""
    stores_no_nan = target != "cpu" and dtype == torch.bfloat16
    if math.isnan(expected):
        return value == INF if stores_no_nan else math.isnan(value)
    exact = float(torch.tensor(expected).to(dtype)) == expected
    epsilon = 0.0 if exact else 2 * torch.finfo(dtype).eps
    same_sign = math.copysign(1.0, value) == math.copysign(1.0, expected)
    return same_sign and (value == expected or abs(value - expected) <= epsilon * abs(expected))
