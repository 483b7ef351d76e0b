"""The committed polynomials equal their fits, and every other constant equals its formula."""

from __future__ import annotations

import ast
import importlib
import math
from pathlib import Path

import mpmath
import numpy as np
import pytest

import ttnn_jit.kernels.math
from benchmarks.fitting.bfloat16 import SEARCHES, Search
from benchmarks.fitting.derived import CHOSEN, DERIVED, computed, interval, table
from benchmarks.fitting.fits import FITS, Fit, PiecewiseFit, committed_constant
from benchmarks.fitting.minimax import fitted
from ttnn_jit.kernels.math.primitives import Table

POLYNOMIALS = [fit for fit in FITS if isinstance(fit, Fit)]
TABLES = [fit for fit in FITS if isinstance(fit, PiecewiseFit)]


@pytest.mark.parametrize("fit", POLYNOMIALS, ids=lambda fit: fit.constant)
def test_a_committed_polynomial_is_as_good_as_a_fit_made_now(fit: Fit) -> None:
    committed, refitted = fit.errors()
    assert committed <= 1.25 * refitted


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


def numeric_constants():
    """``module.NAME`` of everything in kernels/math/ that is a number, a tuple of numbers or tables, or a table."""
    for path in sorted(Path(ttnn_jit.kernels.math.__file__).parent.glob("*.py")):
        module = importlib.import_module(f"ttnn_jit.kernels.math.{path.stem}")
        targets = [t for node in ast.parse(path.read_text()).body if isinstance(node, ast.Assign) for t in node.targets]
        for name in [t.id for t in targets if isinstance(t, ast.Name)]:
            value = getattr(module, name)
            first = value
            while isinstance(first, tuple) and first:
                first = first[0]
            if isinstance(first, (int, float, Table)):
                yield f"{path.stem}.{name}"


def test_every_constant_has_an_origin():
    searched = {f"bfloat16_functions.{constant}" for search in SEARCHES for constant in search.constants}
    known = {fit.constant for fit in FITS} | searched | set(DERIVED) | set(CHOSEN)
    found = {name for name in numeric_constants() if not name.startswith("dot_product.")}
    assert found == known


@pytest.mark.parametrize("name", DERIVED)
def test_a_constant_equals_its_formula(name: str) -> None:
    committed = committed_constant(name)
    numbers = table(name) if isinstance(committed, Table) else committed
    kind = np.int64 if np.issubdtype(np.asarray(numbers).dtype, np.integer) else np.float32  # as kernels use it
    np.testing.assert_array_equal(np.asarray(computed(name), kind), np.asarray(numbers, kind))


def test_the_factors_of_pow_leave_exact_residues_in_the_interval_of_the_polynomial() -> None:
    (fit,) = (fit for fit in POLYNOMIALS if fit.constant == "power.LOG2_TAIL")
    for index, factor in enumerate(table("power.LOG2_FACTOR")):
        low, high = interval(index, 32)
        mantissas = np.linspace(low, high, 257)[:-1].astype(np.float32).astype(np.float64)
        mantissas[-1] = np.nextafter(np.float32(high), np.float32(0))
        residues = mantissas * factor - 1  # exact in float64
        assert (residues.astype(np.float32) == residues).all()
        assert fit.interval[0] <= residues.min()
        assert residues.max() <= fit.interval[1]
