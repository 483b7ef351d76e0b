"""Elementwise programs against torch.compile, 256^2 to 4096^2, f32 and bf16, targets cpu and wormhole_b0.

``copy`` is one operation that costs nothing: what this machine moves. How peers are measured stands in
benchmarks/harness/contenders.py; errors are relative to the largest result, against the program in float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.harness import tables
from benchmarks.harness.contenders import CHIP, INTO, INTO_FROM_BYTES, OURS, PEER, TUNED, Case, contenders
from benchmarks.harness.harness import Benchmark, Plots, Step, main
from benchmarks.harness.programs import ELEMENTWISE

CASES = [
    Case(workload, (size, size), dtype)
    for workload in ("copy", *ELEMENTWISE)
    for dtype in ("f32", "bf16")
    for size in (256, 512, 1024, 2048, 4096)
]
QUICK = [case for case in CASES if case.workload in {"cosh", "add tree of 8"} and case.shape[0] in {256, 1024}]


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per case."""
    with contenders() as running:
        yield [compared(running, case, quick) for case in (QUICK if quick else CASES)]


def compared(running: Any, case: Case, quick: bool) -> Step:
    """The step that measures a case."""
    names = (OURS, CHIP, PEER, TUNED, *((INTO,) if case.result_bytes >= INTO_FROM_BYTES else ()))
    rounds, seconds = (3, 0.04) if quick else (5, 0.08)
    expected = 4 + rounds * seconds * len(names) + case.elements / 8e6
    return Step(case.name, expected, partial(running.compare, case, names, rounds, seconds))


def report(results: Mapping[str, Any], plots: Plots) -> str:
    """Ratios by size, then every figure."""
    found = [case for case in CASES if case.name in results]
    tables.plot_by_size(results, found, plots.path())
    return (
        f"{plots.shown('ratios by size')}\nBands and brackets: the least and the greatest of the rounds' ratios.\n\n"
        f"## Over all sizes\n\nGeometric means of the ratios, and the least.\n\n{tables.summary(results, found)}\n"
        f"{tables.every_figure(results, found)}"
    )


BENCHMARK = Benchmark("elementwise", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
