"""Warm calls one by one: how long they take, and how far they scatter.

cosh of 32x32 on torch and on ttnn tensors, beside eager torch and torch.compile, each in a process of its own: single
calls between two readings of the clock, which are included (about 40 ns). Calls of a program of eight inputs likewise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any

from benchmarks.harness import plots
from benchmarks.harness.contenders import CHIP, EAGER, OURS, PEER, Case, Contenders, contenders, prepare, samples
from benchmarks.harness.harness import Benchmark, Plots, Step, main, table

CASES = [Case(workload, (32, 32), dtype) for workload in ("cosh", "add tree of 8") for dtype in ("f32", "bf16")]
CONTENDERS = (OURS, CHIP, EAGER, PEER)
PERCENTILES = (1, 10, 50, 90, 99, 99.9)


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per case and contender."""
    with contenders() as running:
        yield [
            Step(f"{case.name}, {name}", 4, partial(histogram, running, case, name, 2_000 if quick else 20_000))
            for case in (CASES[:1] if quick else CASES)
            for name in CONTENDERS
        ]


def histogram(running: Contenders, case: Case, contender: str, count: int) -> dict[str, Any]:
    """Microseconds at some percentiles, and quantiles for a histogram."""
    running.call(contender, prepare, contender, asdict(case))
    found = sorted(nanoseconds / 1000 for nanoseconds in running.call(contender, samples, count))
    ranked = {str(p): found[min(count - 1, int(p / 100 * count))] for p in PERCENTILES}
    return {"percentiles": ranked, "quantiles": _thinned(found)}


def _thinned(ordered: list[float]) -> list[float]:
    """Five hundred quantiles: enough for a histogram."""
    return [round(ordered[int((k + 0.5) / 500 * len(ordered))], 3) for k in range(500)]


def report(results: Mapping[str, Any], plots_: Plots) -> str:
    """A panel per case with each contender's histogram, and the percentiles."""
    cases = [case for case in CASES if any(step.startswith(case.name) for step in results)]
    figure, axes = plots.panels(1, len(cases), 3.4, 2.4, sharey=True)
    rows = [["case", "contender", *(f"{p} %, us" for p in PERCENTILES)]]
    for axis, case in zip(axes[0], cases, strict=True):
        for name in (name for name in CONTENDERS if f"{case.name}, {name}" in results):
            result = results[f"{case.name}, {name}"]
            _draw(axis, result["quantiles"], name)
            rows.append([case.name, name, *(f"{result['percentiles'][str(p)]:.2f}" for p in PERCENTILES)])
        axis.set_xscale("log")
        axis.set_xlabel("microseconds")
        axis.set_title(case.name)
    axes[0][0].set_ylabel("share of the calls")
    plots.legend_below(figure, axes[0])
    plots.save(figure, plots_.path())
    return f"{plots_.shown('histograms of warm calls')}\n{table(rows, text_columns=2)}"


def _draw(axis: Any, microseconds: list[float], name: str) -> None:
    edges = [0.3 * 1.07**k for k in range(95)]
    weights = [1 / len(microseconds)] * len(microseconds)
    axis.hist(microseconds, edges, weights=weights, color=plots.COLOURS[name], alpha=0.7, label=name)


BENCHMARK = Benchmark("latency", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
