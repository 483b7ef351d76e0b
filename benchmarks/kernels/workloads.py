"""Named programs of real models against torch.compile, targets cpu and wormhole_b0.

The activation between the two halves of a GPT-OSS expert, (2, 32, 3072) in bf16; the digamma series; a ladder of 31
additions; swiglu; four gelus in a row. How peers are measured stands in benchmarks/harness/contenders.py; errors are
relative to the largest result, against the program in float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from benchmarks.harness import tables
from benchmarks.harness.contenders import Case, contenders
from benchmarks.harness.harness import Benchmark, Plots, Step, main
from benchmarks.kernels.elementwise import compared

CASES = [
    Case("gate-up activation", (2, 32, 3072), "bf16"),
    Case("gate-up activation", (8, 512, 3072), "bf16"),
    *(
        Case(workload, (1024, 1024), dtype)
        for workload in ("digamma series", "add ladder of 31", "swiglu", "gelu chain")
        for dtype in ("f32", "bf16")
    ),
]
QUICK = [CASES[0], CASES[2]]


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per case."""
    with contenders() as running:
        yield [compared(running, case, quick) for case in (QUICK if quick else CASES)]


def report(results: Mapping[str, Any], plots: Plots) -> str:
    """Ratios, then every figure."""
    found = [case for case in CASES if case.name in results]
    tables.plot_bars(results, found, plots.path())
    return f"{plots.shown('ratios of the named programs')}\n{tables.every_figure(results, found)}"


BENCHMARK = Benchmark("workloads", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
