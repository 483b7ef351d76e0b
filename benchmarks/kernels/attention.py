"""Scaled dot-product attention against torch's own.

12 heads of 64 channels, sequences of 128 to 2048 positions, causal and not, as torch tensors on the cpu target. The
contenders take turns (benchmarks/harness/turns.py says how), with all threads and with one. GFLOP/s are those of both
products, of a causal one of the positions that are seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.turns import (
    OURS,
    Call,
    by_threads,
    geometric_rows,
    least,
    ratio,
    ratio_of_medians,
    set_call,
    steps_of,
    thread_counts,
    turns,
)

TORCH = "torch"
CONTENDERS = (OURS, TORCH)
HEADS, CHANNELS = 12, 64
GOALS = {"f32": 1.05, "bf16": 1.5}
"""Times as fast as torch."""


@dataclass(frozen=True)
class Case:
    """Full or causal attention with elements of one type (f32 or bf16)."""

    positions: int
    causal: bool
    dtype: str
    threads: int

    @property
    def name(self) -> str:
        """The case in tables."""
        return f"{self.title}, {self.threads} thread{'s' * (self.threads > 1)}"

    @property
    def title(self) -> str:
        """The case without its number of threads."""
        return f"{self.positions}{' causal' * self.causal} {self.dtype}"

    @property
    def operations(self) -> int:
        """Multiplications and additions of both products."""
        seen = self.positions * (self.positions + 1) // 2 if self.causal else self.positions**2
        return 4 * HEADS * CHANNELS * seen


def cases(quick: bool) -> list[Case]:
    """The cases in the order of the table; quick ones have two lengths, with all threads."""
    return [
        Case(positions, causal, dtype, threads)
        for threads in thread_counts()[: 1 if quick else None]
        for dtype in GOALS
        for causal in (False, True)
        for positions in ((128, 1024) if quick else (128, 256, 512, 1024, 2048))
    ]


# The code up to `steps` runs in the contender's process.


def prepare(contender: str, fields: dict[str, Any]) -> float:
    """Makes the timed call; its largest error relative to the largest result."""
    import torch

    case = Case(**fields)
    generator = torch.Generator().manual_seed(0)
    dtype = torch.float32 if case.dtype == "f32" else torch.bfloat16
    tensors = [torch.randn(1, HEADS, case.positions, CHANNELS, generator=generator).to(dtype) for _ in range(3)]
    result = set_call((_ours if contender == OURS else _torch)(tensors, case.causal))
    golden = _torch([each.double() for each in tensors], case.causal)()
    return float((result.double() - golden).abs().max() / golden.abs().max())


def _ours(tensors: Sequence[Any], causal: bool) -> Call:
    import ttnn_jit
    from ttnn_jit import ttnn

    attention = ttnn.transformer.scaled_dot_product_attention
    function = ttnn_jit.jit()(lambda q, k, v: attention(q, k, v, is_causal=causal))
    return lambda: function(*tensors)


def _torch(tensors: Sequence[Any], causal: bool) -> Call:
    import torch

    return lambda: torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=causal)


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per case."""
    with turns() as running:
        yield steps_of(running, cases(quick), CONTENDERS, prepare, 2 if quick else 4, 1.7)


def report(results: Mapping[str, Any], plots: Plots) -> str:  # noqa: ARG001 - a table says it all
    """A table per number of threads."""
    measured = [case for case in cases(quick=False) if case.name in results]
    return by_threads(measured, partial(_table, results))


def summary(results: Mapping[str, Any]) -> list[list[str]]:
    """Rows of the summary: causal or not, with all threads."""
    return geometric_rows(
        (f"attention{', causal' * case.causal}", case.dtype, results[case.name], (TORCH,))
        for case in cases(quick=False)
        if case.name in results and case.threads == thread_counts()[0]
    )


def _table(results: Mapping[str, Any], own: Sequence[Case]) -> str:
    rows = [
        ["positions", *(f"{name}, us" for name in CONTENDERS), "GFLOP/s", "torch / ours", "medians", "goal", "error"]
    ]
    for case in own:
        found = results[case.name]
        cells = [f"{least(found, name) * 1e6:,.0f}" for name in CONTENDERS]
        cells += [f"{case.operations / least(found, OURS) / 1e9:,.0f}", f"{ratio(found, [TORCH]):.2f}"]
        cells += [ratio_of_medians(found, [TORCH]), f"{GOALS[case.dtype]}", f"{found[OURS]['error']:.1e}"]
        rows.append([case.title, *cells])
    return table(rows)


BENCHMARK = Benchmark("attention", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
