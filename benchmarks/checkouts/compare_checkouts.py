"""Compares the speed of two checkouts: warm calls, compiles, disk hits, imports and kernels.

BEFORE and AFTER are folders of checkouts or git revisions. Every alternation measures both in separate processes with
separate caches, in alternating order. A row is the median over the alternations of AFTER's time over BEFORE's, with its
95 % confidence interval. The exit status is 1 if the whole interval of a row is above the tolerance, 5 % or that of
``--tolerance``.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import comb, inf
from pathlib import Path
from typing import Any

from benchmarks.checkouts import checkout_figures
from benchmarks.checkouts.checkout_figures import Figure
from benchmarks.checkouts.checkouts import UnknownCheckoutError, checkout, importable
from benchmarks.harness import harness
from benchmarks.harness.harness import Benchmark, Plots, Step, command_line, commit_of, table
from benchmarks.harness.process import Process, run_python
from benchmarks.programs.program_cache import shown

NAME = "compare_checkouts"
TOLERANCE = 5.0
"""Percent of BEFORE's time by which a row may differ."""
SLOWER = "**slower**"
IMPORT = "import ttnn_jit"
IMPORTING = "import time; start = time.perf_counter(); import ttnn_jit; print(time.perf_counter() - start)"
COMPILED_ONCE = {"PYTHONDONTWRITEBYTECODE": ""}
"""Lets Python write bytecode of a checkout's files, as it does for an installed package."""


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """The confidence interval of the median of the distribution of `values`, by the sign test.

    Its ends are order statistics, chosen by the binomial distribution; they are infinite for fewer than six values.
    """
    ordered, count = sorted(values), len(values)
    rank, below = 0, 0.5**count
    while below <= (1 - confidence) / 2:
        rank += 1
        below += comb(count, rank) * 0.5**count
    return (ordered[rank - 1], ordered[count - rank]) if rank else (-inf, inf)


@dataclass(frozen=True)
class Row:
    """Seconds of one figure for both checkouts, by alternation."""

    name: str
    before: list[float]
    after: list[float]

    @property
    def ratios(self) -> list[float]:
        """AFTER's times over BEFORE's."""
        return [after / before for before, after in zip(self.before, self.after, strict=True)]

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.ratios)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the ratio."""
        return median_interval(self.ratios)

    def verdict(self, tolerance: float = TOLERANCE) -> str:
        """Whether the whole interval is beyond `tolerance`, in percent."""
        tolerated = 1 + tolerance / 100
        low, high = self.interval
        return SLOWER * (low > tolerated) + "faster" * (high < 1 / tolerated)

    def cells(self, tolerance: float) -> list[str]:
        """The row's cells in the table."""
        medians = (shown(self.name, statistics.median(times)) for times in (self.before, self.after))
        low, high = self.interval
        interval = f"{low:.3f}-{high:.3f}" if high < inf else "-"
        return [self.name, *medians, f"{self.ratio:.3f}", interval, self.verdict(tolerance)]


HEAD = ["figure", "before", "after", "after / before", "95 % interval"]


def rows_of(results: Mapping[str, Any]) -> list[Row]:
    """Rows from results: alternation -> ``before`` and ``after`` -> figure -> seconds."""
    rounds = list(results.values())
    names = [name for name in (rounds[0]["before"] if rounds else ()) if name in rounds[0]["after"]]
    return [Row(name, [r["before"][name] for r in rounds], [r["after"][name] for r in rounds]) for name in names]


def figures_of(folder: Path, only: str, quick: bool) -> dict[str, float]:
    """Row -> seconds, of rows whose name contains `only`, for the checkout that is imported from `folder`."""
    with tempfile.TemporaryDirectory() as caches:
        return (
            _imports(folder, only, 1 if quick else 5)
            | _disk_hits(folder, only, quick, f"{caches}/found_again")
            | _others(folder, only, quick, f"{caches}/empty")
        )


def _imports(folder: Path, only: str, repetitions: int) -> dict[str, float]:
    if only not in IMPORT:
        return {}
    return {IMPORT: min(float(run_python(IMPORTING, COMPILED_ONCE, folder)) for _ in range(repetitions))}


def _disk_hits(folder: Path, only: str, quick: bool, cache: str) -> dict[str, float]:
    if not _are_named(checkout_figures.disk_hits(quick), only):
        return {}
    first, *found = (
        _in_process(folder, cache, checkout_figures.measure_disk_hits, only, quick) for _ in range(2 if quick else 4)
    )
    return {name: min(figures[name] for figures in found) for name in first}  # the first one filled the cache


def _others(folder: Path, only: str, quick: bool, cache: str) -> dict[str, float]:
    if not _are_named(checkout_figures.figures(quick), only):
        return {}
    return _in_process(folder, cache, checkout_figures.measure, only, quick)


def _are_named(figures: Iterable[Figure], only: str) -> bool:
    """Whether a figure's name contains `only`: for none no process is started."""
    return any(only in name for name, _ in figures)


def _in_process(
    folder: Path, cache: str, function: Callable[[str, bool], dict[str, float]], only: str, quick: bool
) -> dict[str, float]:
    with Process(COMPILED_ONCE | {"TTNN_JIT_CACHE_DIR": cache}, folder) as process:
        figures: dict[str, float] = process.call(function, only, quick)
        return figures


def alternation(before: Path, after: Path, number: int, only: str, quick: bool) -> dict[str, dict[str, float]]:
    """Both checkouts' figures; the order alternates with `number`."""
    folders = {"before": before, "after": after}
    order = list(folders) if number % 2 else list(reversed(folders))
    found = {}
    for name in order:
        with importable(folders[name]) as folder:
            found[name] = figures_of(folder, only, quick)
    return found


def compare(
    before: Path, after: Path, alternations: int, only: str = "", quick: bool = False, tolerance: float = TOLERANCE
) -> list[Row]:
    """Measures two checkouts' folders, writes ``results/compare_checkouts.json`` and ``.md``, and returns the rows."""
    rows: list[Row] = []

    @contextmanager
    def steps(quick: bool) -> Iterator[Sequence[Step]]:
        yield [
            Step(f"alternation {number}", 30, partial(alternation, before, after, number, only, quick))
            for number in range(1, alternations + 1)
        ]

    def report(results: Mapping[str, Any], _: Plots) -> str:
        rows.extend(rows_of(results))
        described = f"BEFORE is {commit_of(before)}, AFTER is {commit_of(after)}; {len(results)} alternations."
        cells = [[*HEAD, f"beyond {tolerance:g} %"], *(row.cells(tolerance) for row in rows)]
        return f"{described}\n\n{table(cells)}"

    harness.run([Benchmark(NAME, (__doc__ or "").splitlines()[0], steps, report)], quick=quick, resume=False)
    return rows


def main() -> int:
    """Compares, prints the table, and returns 1 if a row is slower."""
    parser = command_line(NAME)
    parser.add_argument("before", metavar="BEFORE", help="a checkout's folder, or a git revision")
    parser.add_argument("after", metavar="AFTER", help="likewise")
    parser.add_argument("--alternations", type=int, default=15, help="15 by default; fewer than six give no interval")
    parser.add_argument("--only", default="", metavar="TEXT", help="figures whose name contains TEXT")
    parser.add_argument("--quick", action="store_true", help="hardly any repetitions: to see that it runs")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, metavar="PERCENT", help="5 by default")
    options = parser.parse_args()
    try:
        with checkout(options.before) as before, checkout(options.after) as after:
            rows = compare(before, after, options.alternations, options.only, options.quick, options.tolerance)
    except UnknownCheckoutError as error:
        parser.error(str(error))
    if not rows:
        parser.error("nothing was measured")
    print((harness.RESULTS / f"{NAME}.md").read_text(encoding="utf-8"))
    return int(any(row.verdict(options.tolerance) == SLOWER for row in rows))


if __name__ == "__main__":
    sys.exit(main())
