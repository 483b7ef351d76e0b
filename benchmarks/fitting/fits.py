"""Every polynomial and table of kernels/ that was fitted: of what, where, in which form, and how well.

A constant of kernels/ is made by `Fit.fitted` or, of a table, piece by piece; `python -m benchmarks.fitting` compares
the committed constants with what the fit gives now, and prints the errors of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import mpmath as mp

from benchmarks.fitting.minimax import Function, fitted

DIGAMMA_ROOT = mp.mpf("1.46163214496836234126265954232572132846819620400644629512959")


@dataclass(frozen=True)
class Fit:
    """One polynomial.

    Attributes:
        constant: ``module.NAME`` of the committed coefficients in kernels/.
        function: What the polynomial approximates.
        weight: Of its error: 1 / |result| where it is the relative error of the function that counts.
        interval: Of its argument.
        degree: Of the polynomial.
    """

    constant: str
    function: Function
    weight: Function
    interval: tuple[float, float]
    degree: int


@dataclass(frozen=True)
class PiecewiseFit:
    """Sixteen polynomials, in the order of kernels/piecewise.py.

    Attributes:
        constant: ``module.NAME`` of the committed tables.
        function: Of x in [0, 15]; its relative error counts.
        degree: Of each piece.
        domain: The part of [0, 15] that is asked for; pieces outside it hold zeros.
        odd: The first piece is centred at 0 and has no constant term.
    """

    constant: str
    function: Function
    degree: int
    domain: tuple[float, float] = (0.0, 15.0)
    odd: bool = False

    def pieces(self) -> Iterator[tuple[float, float, float] | None]:
        """(low, high, centre) of each piece; None of those outside the domain."""
        for octave in (1, 2, 3, 0):
            for quarter in range(4):
                low, high = (2.0**octave * (1 + (quarter + k) / 4) - 1 for k in (0, 1))
                inside = low < self.domain[1] and high > self.domain[0]
                centre = 0.0 if self.odd and low == 0 else (low + high) / 2
                yield (low, min(high, self.domain[1]), centre) if inside else None

    def fitted(self) -> tuple[tuple[tuple[float, ...], ...], float]:
        """The words of each table, constant terms first, and the largest relative error."""
        rows, worst = [], 0.0
        for piece in self.pieces():
            if piece is None:
                rows.append((0.0,) * (self.degree + 1))
                continue
            low, high, centre = piece
            without_constant = self.odd and low == 0
            function, weight = _shifted(self.function, centre, without_constant)
            found = fitted(function, weight, (low - centre, high - centre), self.degree - without_constant)
            rows.append(((0.0,) if without_constant else ()) + found.coefficients)
            worst = max(worst, found.error)
        return tuple(zip(*rows, strict=True)), worst


def _shifted(function: Function, centre: float, divided: bool) -> tuple[Function, Function]:
    """The function of x - centre and its weight; divided by the argument where the polynomial has no constant."""
    if divided:
        return lambda t: function(t) / t, lambda t: abs(t / function(t))
    return lambda t: function(t + centre), lambda t: 1 / abs(function(t + centre))


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


def _tanh_shrink(square: mp.mpf) -> mp.mpf:
    x = mp.sqrt(square)
    return (x - mp.tanh(x)) / x**3


def _inverse_error(w: mp.mpf) -> mp.mpf:
    """erfinv(x) / x where w = -log(1 - x**2)."""
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x


def _log_gamma(x: mp.mpf) -> mp.mpf:
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def _stirling(t: mp.mpf) -> mp.mpf:
    """What Stirling's formula lacks of log gamma at 1 / t, divided by t."""
    x = 1 / t
    return (mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)) * x


def _digamma_tail(w: mp.mpf) -> mp.mpf:
    """(log x - 1 / (2 x) - digamma x) x**2 at x = w**-1/2."""
    x = 1 / mp.sqrt(w)
    return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) * x**2


def _fits() -> tuple[Fit | PiecewiseFit, ...]:
    scaled_bessel: Callable[[mp.mpf], mp.mpf] = lambda x: mp.exp(-x) * mp.besseli(0, x)  # noqa: E731 - used twice
    return (
        _odd("trigonometry.TAN_TAIL", mp.tan, 0.79, 5),
        _odd("inverse_trigonometry.ATAN_TAIL", mp.atan, 1.0, 8),
        _odd("inverse_trigonometry.ASIN_TAIL", mp.asin, 0.5, 4),
        _odd("hyperbolic.SINH_TAIL", mp.sinh, 1.0, 3),
        _relative("hyperbolic.TANH_SHRINK", _tanh_shrink, (1e-8, 1.0), 7),
        _relative("logarithm.CBRT_START", mp.cbrt, (0.75, 1.5), 4),
        _relative("error_function.ERFINV_NEAR", lambda t: _inverse_error(t + 2.5), (-2.5 + 1e-9, 2.5), 9),
        _relative("error_function.ERFINV_FAR", lambda t: _inverse_error((t + 3) ** 2), (-0.77, 1.05), 9),
        _relative("gamma.STIRLING", _stirling, (1e-5, 1 / 15), 2),
        _relative("gamma.DIGAMMA_TAIL", _digamma_tail, (1e-8, 1 / 225), 2),
        _relative("bessel.I0_TAIL", lambda t: scaled_bessel(1 / t) / mp.sqrt(t), (1e-5, 1 / 15), 4),
        PiecewiseFit("error_function.ERF", lambda z: mp.erf(z / 2), 6, domain=(0.0, 8.0), odd=True),
        PiecewiseFit("gamma.LOG_GAMMA", _log_gamma, 6, domain=(1.0, 15.0)),
        PiecewiseFit("gamma.DIGAMMA", lambda x: mp.digamma(x) / (x - DIGAMMA_ROOT), 7, domain=(1.0, 15.0)),
        PiecewiseFit("bessel.I0", scaled_bessel, 6),
    )


FITS = _fits()
