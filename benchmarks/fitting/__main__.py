"""Errors of the committed polynomials and of new fits: ``python -m benchmarks.fitting [NAME ...]``.

With names, the constants of the new fits are printed as well.
"""

from __future__ import annotations

import sys

from benchmarks.fitting.fits import FITS, PiecewiseFit
from benchmarks.fitting.minimax import fitted


def main(names: list[str]) -> None:
    """Prints a line per constant, or the constants named."""
    print(f"{'constant':40s} {'committed':>10s} {'refitted':>10s}")
    for fit in FITS:
        if names and fit.constant not in names:
            continue
        committed, refitted = fit.errors()
        print(f"{fit.constant:40s} {committed:10.2g} {refitted:10.2g}")
        if names and isinstance(fit, PiecewiseFit):
            print(*fit.tables(), sep="\n")
        elif names:
            print(fitted(fit.function, fit.weight, fit.interval, fit.degree).coefficients)


if __name__ == "__main__":
    main(sys.argv[1:])
