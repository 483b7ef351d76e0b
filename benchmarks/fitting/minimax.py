"""Polynomials of least largest weighted error whose coefficients are float32 numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np

Function = Callable[[mpmath.mpf], mpmath.mpf]
_SAMPLES = 400
_ROUNDS = 60


@dataclass(frozen=True)
class Polynomial:
    """What a fit gives.

    Attributes:
        coefficients: Float32 numbers, the constant term first.
        error: Largest weighted error over the samples, coefficients rounded, the arithmetic exact.
    """

    coefficients: tuple[float, ...]
    error: float


def fitted(function: Function, weight: Function, interval: tuple[float, float], degree: int) -> Polynomial:
    """The polynomial p of `degree` with the least largest |weight * (p - function)| on `interval`.

    Lawson's algorithm (iteratively reweighted least squares) at Chebyshev's nodes. Coefficients are rounded to float32
    one by one, the constant term first, and those that remain are fitted again to what the rounded ones leave.
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
    """Coefficients of `powers` of t; the powers are scaled to one size, which keeps the equations well conditioned."""
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
