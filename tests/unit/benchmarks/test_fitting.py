"""The committed polynomials are what the fits give."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from benchmarks.fitting.bfloat16 import SEARCHES, Search
from benchmarks.fitting.fits import FITS, Fit, PiecewiseFit, committed_constant
from benchmarks.fitting.minimax import fitted

POLYNOMIALS = [fit for fit in FITS if isinstance(fit, Fit)]
TABLES = [fit for fit in FITS if isinstance(fit, PiecewiseFit)]


@pytest.mark.parametrize("fit", POLYNOMIALS, ids=lambda fit: fit.constant)
def test_a_committed_polynomial_is_as_good_as_a_fit_made_now(fit: Fit) -> None:
    committed, refitted = fit.errors()
    assert committed <= 1.25 * refitted


@pytest.mark.slow
@pytest.mark.parametrize("fit", TABLES, ids=lambda fit: fit.constant)
def test_committed_tables_are_as_good_as_a_fit_made_now(fit: PiecewiseFit) -> None:
    committed, refitted = fit.errors()
    assert committed <= 1.25 * refitted


def test_fitting_atan_again_gives_the_committed_coefficients() -> None:
    fit = next(fit for fit in POLYNOMIALS if fit.constant == "inverse_trigonometry.ATAN_TAIL")
    found = fitted(fit.function, fit.weight, fit.interval, fit.degree).coefficients
    committed = committed_constant(fit.constant)
    assert found[:4] == committed[:4]
    assert found == pytest.approx(committed, rel=1e-5)


def test_a_fit_of_a_polynomial_finds_it() -> None:
    found = fitted(lambda t: 1 + t / 2 - t**2 / 4, lambda _: mpmath.mpf(1), (-1.0, 1.0), 2)
    assert found.coefficients == (1.0, 0.5, -0.25)
    assert math.isclose(found.error, 0.0, abs_tol=1e-15)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.name)
def test_a_search_starts_near_the_committed_coefficients(search: Search) -> None:
    start, committed = (
        np.hstack([np.ravel(np.hstack(n)) for n in numbers]) for numbers in (search.start(), search.committed())
    )
    np.testing.assert_allclose(start, committed, rtol=1e-2)


def test_a_search_finds_coefficients() -> None:
    search = next(search for search in SEARCHES if search.name == "log")
    assert search.found() == search.committed()
