"""The fits of polynomials and tables of kernels/: function, weight, interval, degree and error.

A constant of kernels/ is the result of `minimax.fitted` for a `Fit`, or of `PiecewiseFit.tables`. `python -m
benchmarks.fitting` prints the errors of the committed constants and of new fits. The constants of exp, log, sin, tanh,
pow and erfc are older than this code; their fits have the functions that they approximate.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np

from benchmarks.fitting.minimax import Function, error_of, fitted

HALF_LN2 = (-math.log(2) / 2, math.log(2) / 2)
DIGAMMA_ROOT = mp.mpf("1.46163214496836234126265954232572132846819620400644629512959")


def committed_constant(name: str) -> Any:
    """The constant ``module.NAME`` of kernels/."""
    module, _, constant = name.partition(".")
    return getattr(importlib.import_module(f"ttnn_jit.kernels.math.{module}"), constant)


@dataclass(frozen=True)
class Fit:
    """One polynomial.

    Attributes:
        constant: ``module.NAME`` of the committed coefficients in kernels/.
        function: The function that the polynomial approximates.
        weight: The weight of its error: 1 / |result| for a relative error.
        interval: Interval of the argument.
        degree: Degree of the polynomial.
    """

    constant: str
    function: Function
    weight: Function
    interval: tuple[float, float]
    degree: int

    def errors(self) -> tuple[float, float]:
        """Errors of the committed coefficients, and of a new fit."""
        committed = error_of(committed_constant(self.constant), self.function, self.weight, self.interval)
        return committed, fitted(self.function, self.weight, self.interval, self.degree).error


@dataclass(frozen=True)
class PiecewiseFit:
    """Sixteen polynomials, in the order of kernels/math/piecewise.py.

    Attributes:
        constant: ``module.NAME`` of the committed tables.
        function: The function of x in [0, 15]; its relative error is minimized.
        degree: Degree of each piece.
        domain: The used part of [0, 15]; pieces outside it are zeros.
        odd: Whether the first piece is centred at 0 and has no constant term.
        slope: A number subtracted from the linear term of the first piece.
    """

    constant: str
    function: Function
    degree: int
    domain: tuple[float, float] = (0.0, 15.0)
    odd: bool = False
    slope: float = 0.0

    def pieces(self) -> Iterator[tuple[float, float, float] | None]:
        """(low, high, centre) of each piece; None for pieces outside the domain."""
        for octave in (1, 2, 3, 0):
            for quarter in range(4):
                low, high = (2.0**octave * (1 + (quarter + k) / 4) - 1 for k in (0, 1))
                inside = low < self.domain[1] and high > self.domain[0]
                centre = 0.0 if self.odd and low == 0 else (low + high) / 2
                yield (low, min(high, self.domain[1]), centre) if inside else None

    def polynomials(self) -> Iterator[tuple[Fit, bool] | None]:
        """Each piece as a polynomial about its centre, and whether its constant term, which is 0, is left out."""
        for piece in self.pieces():
            if piece is None:
                yield None
                continue
            low, high, centre = piece
            bare = self.odd and low == 0
            function, weight = _shifted(self.function, centre, bare, self.slope)
            yield Fit(self.constant, function, weight, (low - centre, high - centre), self.degree - bare), bare

    def tables(self) -> tuple[tuple[float, ...], ...]:
        """The numbers of each table in a new fit, constant terms first."""
        rows = []
        for found in self.polynomials():
            if found is None:
                rows.append((0.0,) * (self.degree + 1))
            else:
                fit, bare = found
                coefficients = fitted(fit.function, fit.weight, fit.interval, fit.degree).coefficients
                rows.append((0.0,) * bare + coefficients)
        return tuple(zip(*rows, strict=True))

    def errors(self) -> tuple[float, float]:
        """The largest relative errors of the committed tables, and of a new fit."""
        tables = [np.array(table.entries, np.int32).view(np.float32) for table in committed_constant(self.constant)]
        committed = refitted = 0.0
        for found, *coefficients in zip(self.polynomials(), *tables, strict=True):
            if found is not None:
                fit, bare = found
                numbers = tuple(float(c) for c in coefficients[bare:])
                committed = max(committed, error_of(numbers, fit.function, fit.weight, fit.interval))
                refitted = max(refitted, fitted(fit.function, fit.weight, fit.interval, fit.degree).error)
        return committed, refitted


def _shifted(function: Function, centre: float, divided: bool, slope: float) -> tuple[Function, Function]:
    """The function of x - centre and its weight; divided by the argument if the polynomial has no constant term."""
    if divided:
        return lambda t: function(t) / t - slope, lambda t: abs(t / function(t))
    shifted = cache(lambda t: function(t + centre))  # the weight is evaluated at the same mpmath numbers
    return shifted, lambda t: 1 / abs(shifted(t))


def _odd_tail(function: Function) -> tuple[Function, Function]:
    """(f(x) - x) / x**3 as a function of x**2, and the weight that makes its error that of f."""

    def tail(square: mp.mpf) -> mp.mpf:
        x = mp.sqrt(square)
        return (function(x) - x) / x**3

    def weight(square: mp.mpf) -> mp.mpf:
        x = mp.sqrt(square)
        return abs(x**3 / function(x))

    return tail, weight


def _odd(constant: str, function: Function, limit: float, degree: int) -> Fit:
    tail, weight = _odd_tail(function)
    return Fit(constant, tail, weight, (1e-8, limit**2), degree)


def _relative(constant: str, function: Function, interval: tuple[float, float], degree: int) -> Fit:
    return Fit(constant, function, lambda t: 1 / abs(function(t)), interval, degree)


def _exp_tail(r: mp.mpf) -> mp.mpf:
    return (mp.expm1(r) - r) / r**2


def _exp2_tail(f: mp.mpf) -> mp.mpf:
    return (mp.expm1(f * mp.log(2)) - f * mp.log(2)) / f**2


def _log2_tail(r: mp.mpf) -> mp.mpf:
    return (mp.log1p(r) - r + r**2 / 2) / mp.log(2) / r**3


def _scaled_complement(z: mp.mpf) -> mp.mpf:
    return mp.exp(z * z) * mp.erfc(z)


def _mills_ratio(x: mp.mpf) -> mp.mpf:
    """The tail of the normal distribution over exp(-x**2 / 2)."""
    return mp.exp(x * x / 2) * mp.erfc(x / mp.sqrt(2)) / 2


def _tanh_shrink(square: mp.mpf) -> mp.mpf:
    x = mp.sqrt(square)
    return (x - mp.tanh(x)) / x**3


def _atanh_tail(square: mp.mpf) -> mp.mpf:
    s = mp.sqrt(square)
    return 2 * (mp.atanh(s) - s) / s**3


def _atanh_weight(square: mp.mpf) -> mp.mpf:
    """The weight of the error of log((1 + s) / (1 - s))."""
    s = mp.sqrt(square)
    return s**3 / (2 * mp.atanh(s))


def _inverse_error(w: mp.mpf) -> mp.mpf:
    """erfinv(x) / x where w = -log(1 - x**2)."""
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x


def _log_gamma(x: mp.mpf) -> mp.mpf:
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def _stirling(t: mp.mpf) -> mp.mpf:
    """The remainder of Stirling's formula for log gamma at 1 / t, divided by t."""
    x = 1 / t
    return (mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)) * x


def _digamma_tail(w: mp.mpf) -> mp.mpf:
    """(log x - 1 / (2 x) - digamma x) x**2 at x = w**-1/2."""
    x = 1 / mp.sqrt(w)
    return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) * x**2


def _fits() -> tuple[Fit | PiecewiseFit, ...]:
    scaled_bessel: Callable[[mp.mpf], mp.mpf] = lambda x: mp.exp(-x) * mp.besseli(0, x)  # noqa: E731 - used twice
    return (
        Fit("exponential.EXP_TAIL", _exp_tail, lambda r: r**2 / mp.exp(r), HALF_LN2, 4),
        Fit(
            "exponential.EXP_SHORT_TAIL", _exp_tail, lambda r: r**2 / mp.exp(r), (HALF_LN2[0] / 16, HALF_LN2[1] / 16), 1
        ),
        Fit("power.EXP2_TAIL", _exp2_tail, lambda f: f**2 / 2**f, (-0.502, 0.502), 4),
        Fit("power.EXP2_SHORT", lambda f: (2**f - 1) / f, lambda f: abs(f) / 2**f, (-1 / 32, 1 / 32), 2),
        Fit("power.LOG2_TAIL", _log2_tail, lambda r: r**2, (-0.02880859375, 1 / 32), 2),
        Fit("logarithm.LOG_TAIL", lambda r: (mp.log1p(r) - r) / r**2, abs, (-1 / 32, 1 / 16), 4),
        _odd("trigonometry.SIN_TAIL", mp.sin, 1.012 * math.pi / 2, 3),
        _odd("trigonometry.TAN_TAIL", mp.tan, 0.79, 5),
        _odd("inverse_trigonometry.ATAN_TAIL", mp.atan, 1.0, 8),
        _odd("inverse_trigonometry.ASIN_TAIL", mp.asin, 0.5, 4),
        _odd("hyperbolic.SINH_TAIL", mp.sinh, 1.0, 3),
        Fit("logarithm.RSQRT_SERIES", lambda e: ((1 - e) ** mp.mpf(-0.5) - 1) / e, abs, (-0.029, 0.029), 3),
        Fit("hyperbolic.ATANH_TAIL", _atanh_tail, _atanh_weight, (1e-8, 1 / 9), 3),
        _relative("hyperbolic.TANH_SHRINK", _tanh_shrink, (1e-8, 1.0), 7),
        _relative("logarithm.CBRT_START", mp.cbrt, (0.75, 1.5), 4),
        _relative("error_function.ERFINV_NEAR", lambda t: _inverse_error(t + 2.5), (-2.5 + 1e-9, 2.5), 9),
        _relative("error_function.ERFINV_FAR", lambda t: _inverse_error((t + 3) ** 2), (-0.77, 1.05), 9),
        _relative("gamma.STIRLING", _stirling, (1e-5, 1 / 15), 2),
        _relative("gamma.DIGAMMA_TAIL", _digamma_tail, (1e-8, 1 / 225), 2),
        _relative("bessel.I0_TAIL", lambda t: scaled_bessel(1 / t) / mp.sqrt(t), (1e-5, 1 / 15), 4),
        PiecewiseFit("exponential.TANH", mp.tanh, 6, domain=(0.0, 9.1), odd=True),
        PiecewiseFit("error_function.SCALED_COMPLEMENT", _scaled_complement, 6, domain=(0.0, 10.33)),
        PiecewiseFit("error_function.MILLS_RATIO", _mills_ratio, 5, domain=(0.0, 14.6)),
        PiecewiseFit("error_function.ERF", lambda z: mp.erf(z / 2), 6, domain=(0.0, 8.0), odd=True, slope=0.5),
        PiecewiseFit("gamma.LOG_GAMMA", _log_gamma, 6, domain=(1.0, 15.0)),
        PiecewiseFit("gamma.DIGAMMA", lambda x: mp.digamma(x) / (x - DIGAMMA_ROOT), 7, domain=(1.0, 15.0)),
        PiecewiseFit("bessel.I0", scaled_bessel, 6),
    )


FITS = _fits()
