"""Bounds of what benchmarks over texts run: bytes that the process allocates, CPU time of each case.

A case over a bound counts as one that does not run, and is said apart, by one of `OVER_BOUNDS`.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import signal
from collections.abc import Iterator
from types import FrameType

TOO_LARGE = "too large"
TOO_SLOW = "too slow"
OVER_BOUNDS = (TOO_LARGE, TOO_SLOW)

_NO_MEMORY = ("allocate memory", "no memory for a block", "MemoryError")
"""What torch, tensors of this package and Python say; a golden without memory fails with the text of its error."""


class TooSlowError(BaseException):
    """A case that took more CPU time than `--seconds`, however busy the machine is; no error of what it runs."""


def add_bounds(parser: argparse.ArgumentParser, cases: str) -> None:
    """Adds `--gigabytes` and `--seconds`; `cases` names in the plural what is bounded."""
    parser.add_argument("--gigabytes", type=float, default=4.0, help=f"{cases} that need more are reported apart")
    parser.add_argument("--seconds", type=int, default=60, help=f"{cases} that take more CPU time are reported apart")


def bound_memory(gigabytes: float) -> None:
    """Limits what this process, and those it starts from now on, allocate: RLIMIT_DATA of each."""
    resource.setrlimit(resource.RLIMIT_DATA, (int(gigabytes * 10**9),) * 2)


@contextlib.contextmanager
def bounded_time(seconds: int) -> Iterator[None]:
    """Within it this process may take so many seconds of CPU time.

    Raises:
        TooSlowError: It takes more.
    """
    before = signal.signal(signal.SIGPROF, _interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlowError(TOO_SLOW)


def is_too_large(said: str) -> bool:
    """Whether the text of an error says that there was no memory."""
    return any(each in said for each in _NO_MEMORY)
