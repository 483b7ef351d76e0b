"""Special functions as sums of others: polygamma, and the multivariate gamma function."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.elementwise.unary import ROUNDED_TWICE, unary
from ttnn_jit.ops.language.operation import Probe
from ttnn_jit.ops.language.parameter import Parameter, integers

MAX_ORDER = 30
"""The highest derivative of digamma: 30! and its factors are within float32's range."""
_TERMS = 8
"""Terms of zeta that are summed directly; the rest is an asymptotic series."""
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)


def _power(b: Any, x: Any, exponent: int) -> Any:
    """`x` to a positive power, by squaring."""
    if exponent == 1:
        return x
    half = _power(b, x, exponent // 2)
    square = b.mul(half, half)
    return b.mul(square, x) if exponent % 2 else square


def _scaled_power(b: Any, x: Any, exponent: int, factor: float) -> Any:
    """A power times `factor`, multiplied between the two halves of the power, whose product alone may underflow."""
    first = b.mul(_power(b, x, exponent - exponent // 2), b.const(factor))
    return b.mul(first, _power(b, x, exponent // 2)) if exponent > 1 else first


def _polygamma(b: Any, x: Any, k: float) -> Any:
    """The derivative number k of digamma; below 0 by reflection: psi(1 - x) - psi(x) = pi cot(pi x)."""
    is_above = b.gt(x, b.const(0.0))
    above = _polygamma_of_positive(b, b.select(is_above, x, b.sub(b.const(1.0), x)), int(k))
    mirrored = b.neg(above) if int(k) % 2 else above
    return b.select(is_above, above, b.sub(mirrored, _derivative_of_cotangent(b, x, int(k))))


def _derivative_of_cotangent(b: Any, x: Any, k: int) -> Any:
    """The derivative number k of pi cot(pi x)."""
    fraction = b.sub(x, b.round_even(x))
    sine = b.sin(b.mul(fraction, b.const(math.pi)))
    # sin gives exactly 0 halfway between the poles, where cos of the rounded argument does not.
    cosine = b.sin(b.mul(b.sub(b.const(0.5), b.abs(fraction)), b.const(math.pi)))
    cotangent = b.select(b.eq(sine, b.const(0.0)), b.const(math.inf), b.div(cosine, sine))
    square = b.mul(cotangent, cotangent)
    first, second, *others = reversed(_coefficients_in_cotangents(k)[(k + 1) % 2 :: 2])
    total = b.add(b.mul(square, b.const(first)), b.const(second))
    for coefficient in others:
        total = b.add(b.mul(total, square), b.const(coefficient))
    total = b.mul(total, cotangent) if k % 2 == 0 else total
    return b.mul(total, b.const(math.pi ** (k + 1)))


def _coefficients_in_cotangents(k: int) -> list[float]:
    """The coefficients of derivative number k of cot as a polynomial in cot: cot' = -(1 + cot**2)."""
    powers = [0.0, 1.0]
    for _ in range(k):
        slopes = [index * factor for index, factor in enumerate(powers)][1:]
        powers = [-(a + b) for a, b in zip([*slopes, 0.0, 0.0], [0.0, 0.0, *slopes], strict=True)]
    return powers


def _polygamma_of_positive(b: Any, x: Any, k: int) -> Any:
    """By the Euler-Maclaurin formula for Hurwitz's zeta function of k + 1."""
    s, one = k + 1, b.const(1.0)
    inverse_shift = b.div(one, b.add(x, b.const(float(_TERMS))))
    square, series = b.mul(inverse_shift, inverse_shift), b.const(0.0)
    for index in reversed(range(len(_BERNOULLI))):
        j = 2 * (index + 1)
        factor = _BERNOULLI[index] * math.prod(range(s, s + j - 1)) / math.factorial(j)
        series = b.mul(b.add(series, b.const(factor)), square)
    # The rest of the series is far**(s - 1) times this.
    tail = b.add(b.add(series, b.mul(inverse_shift, b.const(0.5))), b.const(1.0 / (s - 1)))
    scale = math.factorial(s - 1)
    total = b.mul(_scaled_power(b, inverse_shift, s - 1, scale), tail)
    for index in reversed(range(_TERMS)):
        total = b.add(total, _scaled_power(b, b.div(one, b.add(x, b.const(float(index)))), s, scale))
    return b.neg(total) if s % 2 else total


def _polygamma_golden(torch: Any, x: Any, k: float) -> Any:
    """By Hurwitz's zeta function; torch.polygamma steps up one by one from arguments below 0."""
    order = int(k)
    of_positive = torch.polygamma(order, torch.where(x > 0, x, 1.0).clamp(max=1e300))
    fraction = x - torch.round(x)
    above_pole, below_pole = (
        torch.where(fraction > 0, fraction, 1 + fraction),
        torch.where(fraction > 0, 1 - fraction, -fraction),
    )

    def zeta(argument: Any) -> Any:
        return torch.special.zeta(torch.full_like(argument, order + 1.0), argument)

    both = (-1) ** order * zeta(above_pole) - zeta(below_pole)  # 0 where they cancel
    of_negative = -float(math.factorial(order)) * (both + zeta(1 - x.clamp(-1e300, 0)))
    pole = math.inf if order % 2 else -math.inf
    of_negative = torch.where(fraction == 0, pole, torch.where(x == -math.inf, math.nan, of_negative))
    return torch.where(x > 0, of_positive, torch.where(x <= 0, of_negative, math.nan))


POLYGAMMA = unary(
    "polygamma",
    parameters=(Parameter("k", integers(1, MAX_ORDER)),),
    summary="The derivative number k of digamma; at 0 and the negative integers its limit from above, infinite.",
    emit=_polygamma,
    golden=_polygamma_golden,
    # Errors grow with the power k + 1: 9.2 units for k = 3, at most 17.8 up to k = 10, 33 for k = 30.
    probe=Probe((0.05, 40.0), 20.0, ROUNDED_TWICE, attributes=(3.0,)),
)


def _multigammaln(b: Any, x: Any) -> Any:
    total = b.lgamma(x)
    for index in range(1, 4):
        total = b.add(total, b.lgamma(b.sub(x, b.const(index / 2))))
    total = b.add(total, b.const(3.0 * math.log(math.pi)))
    return b.select(b.gt(x, b.const(1.5)), total, b.const(math.nan))


MULTIGAMMALN = unary(
    "multigammaln",
    summary="The logarithm of the multivariate gamma function of 4 dimensions; NaN where x is not above 1.5.",
    emit=_multigammaln,
    golden=lambda torch, x: torch.where(
        x > 1.5, sum(torch.lgamma(x - index / 2) for index in range(4)) + 3.0 * math.log(math.pi), math.nan
    ),
    probe=Probe((1.6, 50.0), 4.0, ROUNDED_TWICE, max_absolute=1e-5),
    aten="",
)

OPERATIONS = (POLYGAMMA, MULTIGAMMALN)
