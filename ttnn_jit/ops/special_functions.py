"""Functions that are sums of others: derivatives of the logarithm of gamma, and gamma in several dimensions."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.operation import Probe
from ttnn_jit.ops.parameter import Parameter, integers
from ttnn_jit.ops.unary import ROUNDED_TWICE, unary

_HIGHEST = 10
"""The derivative of digamma that ttnn goes to."""
_TERMS = 8
"""Terms of zeta that are added up as they are; the rest is a series in the inverse of what comes then."""
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)


def _power(b: Any, x: Any, exponent: int) -> Any:
    """By squaring."""
    if exponent == 1:
        return x
    half = _power(b, x, exponent // 2)
    square = b.mul(half, half)
    return b.mul(square, x) if exponent % 2 else square


def _scaled_power(b: Any, x: Any, exponent: int, factor: float) -> Any:
    """Times `factor`, which comes between two halves of the power: their product alone may be too small for float32."""
    first = b.mul(_power(b, x, exponent - exponent // 2), b.const(factor))
    return b.mul(first, _power(b, x, exponent // 2)) if exponent > 1 else first


def _polygamma(b: Any, x: Any, k: float) -> Any:
    """By Euler and Maclaurin's formula for Hurwitz's zeta function of k + 1."""
    s, one = int(k) + 1, b.const(1.0)
    far = b.div(one, b.add(x, b.const(float(_TERMS))))
    square, series = b.mul(far, far), b.const(0.0)
    for place in reversed(range(len(_BERNOULLI))):
        j = 2 * (place + 1)
        factor = _BERNOULLI[place] * math.prod(range(s, s + j - 1)) / math.factorial(j)
        series = b.mul(b.add(series, b.const(factor)), square)
    # What comes behind the terms that are added up is far to the power of s - 1, times this.
    tail = b.add(b.add(series, b.mul(far, b.const(0.5))), b.const(1.0 / (s - 1)))
    scale = math.factorial(s - 1)
    total = b.mul(_scaled_power(b, far, s - 1, scale), tail)
    for place in reversed(range(_TERMS)):
        total = b.add(total, _scaled_power(b, b.div(one, b.add(x, b.const(float(place)))), s, scale))
    return b.select(b.gt(x, b.const(0.0)), b.neg(total) if s % 2 else total, b.const(math.nan))


POLYGAMMA = unary(
    "polygamma",
    parameters=(Parameter("k", integers(1, _HIGHEST)),),
    summary="The derivative number k of digamma; NaN where x is not above 0.",
    emit=_polygamma,
    # torch's series counts up from what is below 0, one by one.
    golden=lambda torch, x, k: torch.where(
        x > 0, torch.polygamma(int(k), torch.where(x > 0, x, 1.0).clamp(max=1e300)), math.nan
    ),
    # Of powers number k + 1 of quotients: 9.2 units for k = 3, and 17.8 for k = 10, the most (benchmarks/accuracy).
    probe=Probe((0.05, 40.0), 20.0, ROUNDED_TWICE, attributes=(3.0,)),
)


def _multigammaln(b: Any, x: Any) -> Any:
    total = b.lgamma(x)
    for place in range(1, 4):
        total = b.add(total, b.lgamma(b.sub(x, b.const(place / 2))))
    total = b.add(total, b.const(3.0 * math.log(math.pi)))
    return b.select(b.gt(x, b.const(1.5)), total, b.const(math.nan))


MULTIGAMMALN = unary(
    "multigammaln",
    summary="The logarithm of the gamma function of 4 dimensions; NaN where x is not above 1.5.",
    emit=_multigammaln,
    golden=lambda torch, x: torch.where(
        x > 1.5, sum(torch.lgamma(x - place / 2) for place in range(4)) + 3.0 * math.log(math.pi), math.nan
    ),
    probe=Probe((1.6, 50.0), 4.0, ROUNDED_TWICE, max_absolute=1e-5),
    aten="",
)

OPERATIONS = (POLYGAMMA, MULTIGAMMALN)
