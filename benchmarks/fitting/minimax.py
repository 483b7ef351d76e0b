"""Minimax polynomials with float32 coefficients, and minimax quotients of polynomials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import mpmath
import numpy as np

Function = Callable[[mpmath.mpf], mpmath.mpf]
_SAMPLES = 400
_ROUNDS = 60


@dataclass(frozen=True)
class Polynomial:
    """The result of a fit.

    Attributes:
        coefficients: Float32 numbers, the constant term first.
        error: The largest weighted error over the samples, with rounded coefficients and exact arithmetic.
    """

    coefficients: tuple[float, ...]
    error: float


@dataclass(frozen=True)
class Quotient:
    """Numerator and denominator, the constant terms first, that of the denominator 1; and the largest error."""

    numerator: tuple[float, ...]
    denominator: tuple[float, ...]
    error: float


def fitted(function: Function, weight: Function, interval: tuple[float, float], degree: int) -> Polynomial:
    """The polynomial p of `degree` that minimizes the largest |weight * (p - function)| on `interval`.

    Lawson's algorithm (iteratively reweighted least squares) at Chebyshev's nodes. Coefficients are rounded to float32
    one by one, the constant term first, and the remaining ones are fitted again to the residual.
    """
    t, target, scale = _samples(function, weight, interval)
    rounded: list[float] = []
    for done in range(degree + 1):
        rest = target - _value(rounded, t)
        found = _lawson(t, rest, scale, range(done, degree + 1))
        rounded.append(float(np.float32(found[0])))
    return Polynomial(tuple(rounded), _largest(rounded, t, target, scale))


def error_of(
    coefficients: tuple[float, ...], function: Function, weight: Function, interval: tuple[float, float]
) -> float:
    """The largest weighted error of given coefficients, as `Polynomial.error`."""
    t, target, scale = _samples(function, weight, interval)
    return _largest(coefficients, t, target, scale)


# Cached: the committed coefficients and a new fit are evaluated on the same samples.
@lru_cache(maxsize=1)
def _samples(
    function: Function, weight: Function, interval: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    low, high = interval
    nodes = np.cos(np.pi * (np.arange(_SAMPLES) + 0.5) / _SAMPLES)
    t = (low + high) / 2 + (high - low) / 2 * nodes
    with mpmath.workdps(40):
        target = np.array([float(function(mpmath.mpf(x))) for x in t])
        scale = np.array([float(weight(mpmath.mpf(x))) for x in t])
    return t, target, scale


def _lawson(t: np.ndarray, target: np.ndarray, scale: np.ndarray, powers: range) -> np.ndarray:
    """Coefficients of `powers` of t; the powers are scaled to one magnitude, for well-conditioned equations."""
    largest = np.abs(t).max()
    basis = np.stack([(t / largest) ** power for power in powers], axis=1)
    weights = np.full(len(t), 1.0 / len(t))
    best, best_error = np.zeros(len(powers)), np.inf
    for _ in range(_ROUNDS):
        factor = np.sqrt(weights) * scale
        found, *_ = np.linalg.lstsq(basis * factor[:, None], target * factor, rcond=1e-18)
        errors = np.abs((basis @ found - target) * scale)
        if errors.max() < best_error:
            best, best_error = found, errors.max()
        total = weights @ errors
        if total == 0:
            break
        weights = weights * errors / total
    return best / largest ** np.array(list(powers), np.float64)


def _value(coefficients: list[float] | tuple[float, ...], t: np.ndarray) -> np.ndarray:
    result = np.zeros_like(t)
    for coefficient in reversed(coefficients):
        result = result * t + coefficient
    return result


def _largest(
    coefficients: list[float] | tuple[float, ...], t: np.ndarray, target: np.ndarray, scale: np.ndarray
) -> float:
    return float(np.abs((_value(coefficients, t) - target) * scale).max())


def fitted_quotient(function: Function, interval: tuple[float, float], degrees: tuple[int, int]) -> Quotient:
    """The quotient of polynomials of the `degrees` of numerator and denominator with the least relative error.

    Lawson's algorithm on the linear problem numerator - function * denominator, whose errors are divided by the
    previous denominator (Sanathanan and Koerner). Coefficients are not rounded.
    """
    t, target, scale = _samples(function, lambda x: 1 / abs(function(x)), interval)
    over, under = (range(degrees[0] + 1), range(1, degrees[1] + 1))
    unit = t / np.abs(t).max()
    basis = np.stack([*(unit**k for k in over), *(-target * unit**k for k in under)], axis=1)
    weights, denominator = np.full(len(t), 1.0 / len(t)), np.ones_like(t)
    best, best_error = np.zeros(len(over) + len(under)), np.inf
    for _ in range(5 * _ROUNDS):
        factor = np.sqrt(weights) * scale / np.abs(denominator)
        found, *_ = np.linalg.lstsq(basis * factor[:, None], target * factor, rcond=1e-16)
        denominator = 1 - basis[:, len(over) :] @ found[len(over) :] / target
        errors = np.abs(((basis[:, : len(over)] @ found[: len(over)]) / denominator - target) * scale)
        if denominator.min() > 0 and errors.max() < best_error:
            best, best_error = found, errors.max()
        weights = weights * errors / (weights @ errors)
    powers = np.array([*over, *under], np.float64)
    numbers = best / np.abs(t).max() ** powers
    return Quotient(tuple(numbers[: len(over)]), (1.0, *numbers[len(over) :]), float(best_error))
