"""Interleaved calls of contenders, each in its own process per number of threads.

A process has an allocator that keeps its pages (for the reason see benchmarks/harness/contenders.py). A round keeps the
median and the minimum of a call's seconds; on a shared machine the minimum is the undisturbed time. A ratio is the
peer's time over ours: of the fastest calls of all rounds, or the median over the rounds of medians.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from benchmarks.harness.contenders import TUNED_ALLOCATOR
from benchmarks.harness.harness import Step, spread
from benchmarks.harness.process import Process, ProcessFailedError
from benchmarks.harness.timing import times_of

OURS = "ttnn_jit"
SECONDS = 0.3
"""Measuring time per contender and round."""

Call = Callable[[], Any]
Figures = Mapping[str, Any]
"""Contender -> its ``error``, and ``seconds`` (medians) and ``least`` of every round."""


@dataclass
class _Current:
    """The call that this process has prepared."""

    call: Call = field(default=lambda: None)


_CURRENT = _Current()


def set_call(call: Call) -> Any:
    """In the contender's process: sets the timed call, and returns its result."""
    import torch

    _CURRENT.call = call
    with torch.inference_mode():
        return call()


def timed(seconds: float) -> tuple[float, float]:
    """In the contender's process: median and minimum of a call's seconds, from calls over `seconds`."""
    import torch

    with torch.inference_mode():
        times = times_of(_CURRENT.call, seconds)
    return statistics.median(times), min(times)


def thread_counts() -> tuple[int, ...]:
    """The number of CPUs of this process, and one."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return tuple(dict.fromkeys((cpus, 1)))


class Turns:
    """The processes of contenders, started on first use."""

    def __init__(self, cache: str) -> None:
        self._cache = cache
        self._processes: dict[tuple[str, int], Process] = {}

    def measured(
        self, contenders: Sequence[str], prepare: Callable[..., float], fields: Any, rounds: int, threads: int
    ) -> dict[str, Any]:
        """The figures of contenders that take turns.

        Args:
            contenders: Their names.
            prepare: A module's function of a contender and `fields`; it calls `set_call` and returns an error.
            fields: A JSON value.
            rounds: Turns of each contender.
            threads: Threads of each contender.

        Raises:
            ProcessFailedError: A process ended; the next call replaces it.
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
            "TORCHINDUCTOR_CACHE_DIR": f"{self._cache}/inductor_{threads}",  # its code depends on the number of threads
            "GLIBC_TUNABLES": TUNED_ALLOCATOR,
            "OMP_NUM_THREADS": str(threads),  # torch's threads, whose number ours follow
        }

    def close(self) -> None:
        """Ends all processes."""
        for process in self._processes.values():
            process.__exit__()
        self._processes.clear()


@contextlib.contextmanager
def turns() -> Iterator[Turns]:
    """Contenders with separate disk caches, which start empty."""
    with tempfile.TemporaryDirectory() as cache, contextlib.closing(Turns(cache)) as running:
        yield running


class ThreadedCase(Protocol):
    """A dataclass of what is measured, whose fields the function that prepares a contender takes."""

    @property
    def name(self) -> str:
        """The case in tables."""

    @property
    def threads(self) -> int:
        """The number of threads."""


Threaded = TypeVar("Threaded", bound=ThreadedCase)


def steps_of(
    running: Turns,
    cases: Iterable[ThreadedCase],
    contenders: Sequence[str],
    prepare: Callable[..., float],
    rounds: int,
    slack: float,
) -> list[Step]:
    """A step per case; `slack` is its expected time over the measuring time of all contenders."""
    return [
        Step(
            case.name,
            slack * SECONDS * rounds * len(contenders),
            partial(running.measured, contenders, prepare, asdict(case), rounds, case.threads),
        )
        for case in cases
    ]


def by_threads(cases: Sequence[Threaded], table: Callable[[Sequence[Threaded]], str]) -> str:
    """A section per number of threads, with the table of its cases."""
    counts = dict.fromkeys(case.threads for case in cases)
    return "\n".join(
        f"## {count} thread{'s' * (count > 1)}\n\n{table([case for case in cases if case.threads == count])}"
        for count in counts
    )


def least(found: Figures, contender: str) -> float:
    """Seconds of a contender's fastest call."""
    return float(min(found[contender]["least"]))


def ratio(found: Figures, peers: Sequence[str]) -> float:
    """The fastest call of the best of `peers` over our fastest."""
    return min(least(found, peer) for peer in peers) / least(found, OURS)


def ratio_of_medians(found: Figures, peers: Sequence[str]) -> str:
    """The best peer's median over ours, by round."""
    best = (min(medians) for medians in zip(*(found[peer]["seconds"] for peer in peers), strict=True))
    return spread([theirs / ours for theirs, ours in zip(best, found[OURS]["seconds"], strict=True)])


TYPES = ("f32", "bf16", "bfp8", "bfp4")
"""Element types: the columns of a summary."""


def geometric_rows(found: Iterable[tuple[str, str, Figures, Sequence[str]]]) -> list[list[str]]:
    """Table rows of groups of figures: per element type the geometric mean of `ratio`, and the minimum of several.

    Args:
        found: Tuples of group, element type, figures and peers.
    """
    groups = defaultdict[str, dict[str, list[float]]](lambda: defaultdict(list))
    for group, dtype, figures, peers in found:
        groups[group][dtype].append(ratio(figures, peers))
    return [[group, *(_mean_and_least(own.get(dtype, [])) for dtype in TYPES)] for group, own in groups.items()]


def _mean_and_least(ratios: Sequence[float]) -> str:
    least = f" (of {len(ratios)}, least {min(ratios):.2f})" if len(ratios) > 1 else ""
    return f"{statistics.geometric_mean(ratios):.2f}{least}" if ratios else "-"
