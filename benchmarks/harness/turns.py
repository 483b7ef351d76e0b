"""Calls of contenders that take turns, each in a process of its own for each number of threads.

A process has an allocator that keeps its pages (benchmarks/harness/contenders.py says why). Of a round the median and
the least of a call's seconds are kept: on a machine that others use, the least says what is reached undisturbed.

A ratio is the peer's time by ours: of the fastest calls of all rounds, and the median over the rounds of medians.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.harness.contenders import TUNED_ALLOCATOR
from benchmarks.harness.harness import spread
from benchmarks.harness.process import Process, ProcessFailedError
from benchmarks.harness.timing import times_of

OURS = "ttnn_jit"
SECONDS = 0.3
"""Of a contender in a round."""

Call = Callable[[], Any]
Figures = Mapping[str, Any]
"""Contender -> its ``error``, and ``seconds`` (medians) and ``least`` of every round."""


@dataclass
class _Current:
    """What this process has prepared."""

    call: Call = field(default=lambda: None)


_CURRENT = _Current()


def holds(call: Call) -> Any:
    """In the contender's process: what is timed from now on is `call`. Its result."""
    import torch

    _CURRENT.call = call
    with torch.inference_mode():
        return call()


def timed(seconds: float) -> tuple[float, float]:
    """In the contender's process: median and least of a call's seconds, over so long."""
    import torch

    with torch.inference_mode():
        times = times_of(_CURRENT.call, seconds)
    return statistics.median(times), min(times)


def thread_counts() -> tuple[int, ...]:
    """All that this process may run on, and one."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return tuple(dict.fromkeys((cpus, 1)))


class Turns:
    """The processes of contenders, started when first wanted."""

    def __init__(self, cache: str) -> None:
        self._cache = cache
        self._processes: dict[tuple[str, int], Process] = {}

    def measured(
        self, contenders: Sequence[str], prepare: Callable[..., float], fields: Any, rounds: int, threads: int
    ) -> dict[str, Any]:
        """The figures of contenders that take turns.

        Args:
            contenders: Their names.
            prepare: A module's function of a contender and `fields`: calls `holds`, and returns an error.
            fields: A JSON value.
            rounds: Turns of each.
            threads: Of each.

        Raises:
            ProcessFailedError: One of them ended, and is replaced if it is wanted again.
        """
        found: dict[str, Any] = {}
        for name in contenders:
            error = self._call(name, threads, prepare, name, fields)
            found[name] = {"error": error, "seconds": [], "least": []}
        for _ in range(rounds):
            for name, figures in found.items():
                median, least = self._call(name, threads, timed, SECONDS)
                figures["seconds"].append(median)
                figures["least"].append(least)
        return found

    def _call(self, contender: str, threads: int, function: Callable[..., Any], *arguments: Any) -> Any:
        key = contender, threads
        if key not in self._processes:
            self._processes[key] = Process(self._variables(threads))
        try:
            return self._processes[key].call(function, *arguments)
        except ProcessFailedError:
            self._processes.pop(key).__exit__()
            raise

    def _variables(self, threads: int) -> dict[str, str]:
        return {
            "TTNN_JIT_CACHE_DIR": f"{self._cache}/ttnn_jit",
            "TORCHINDUCTOR_CACHE_DIR": f"{self._cache}/inductor_{threads}",  # which knows how many threads run
            "GLIBC_TUNABLES": TUNED_ALLOCATOR,
            "OMP_NUM_THREADS": str(threads),  # of torch, which ours are as many as
        }

    def close(self) -> None:
        """End all processes."""
        for process in self._processes.values():
            process.__exit__()
        self._processes.clear()


@contextlib.contextmanager
def turns() -> Iterator[Turns]:
    """Contenders with disk caches of their own, which start empty."""
    with tempfile.TemporaryDirectory() as cache, contextlib.closing(Turns(cache)) as running:
        yield running


def least(found: Figures, contender: str) -> float:
    """Seconds of the fastest call."""
    return float(min(found[contender]["least"]))


def ratio(found: Figures, peers: Sequence[str]) -> float:
    """The fastest call of the best of `peers` by the fastest of ours."""
    return min(least(found, peer) for peer in peers) / least(found, OURS)


def ratio_of_medians(found: Figures, peers: Sequence[str]) -> str:
    """The best peer's median by ours, round by round."""
    best = (min(medians) for medians in zip(*(found[peer]["seconds"] for peer in peers), strict=True))
    return spread([theirs / ours for theirs, ours in zip(best, found[OURS]["seconds"], strict=True)])


TYPES = ("f32", "bf16", "bfp8", "bfp4")
"""Of elements: the columns of a summary."""


def geometric_rows(found: Iterable[tuple[str, str, Figures, Sequence[str]]]) -> list[list[str]]:
    """Rows of a table, of groups of figures: per type the geometric mean of `ratio`, and the least of several.

    Args:
        found: Figures with the name of their group, the type of their elements and the peers that they have.
    """
    groups = defaultdict[str, dict[str, list[float]]](lambda: defaultdict(list))
    for group, dtype, figures, peers in found:
        groups[group][dtype].append(ratio(figures, peers))
    return [[group, *(_mean_and_least(own.get(dtype, [])) for dtype in TYPES)] for group, own in groups.items()]


def _mean_and_least(ratios: Sequence[float]) -> str:
    least = f" (of {len(ratios)}, least {min(ratios):.2f})" if len(ratios) > 1 else ""
    return f"{statistics.geometric_mean(ratios):.2f}{least}" if ratios else "-"
