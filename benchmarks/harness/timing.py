"""Wall-clock times of calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def seconds(call: Callable[[], Any]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def times_of(call: Callable[[], Any], duration: float) -> list[float]:
    """Seconds of warm calls over `duration` seconds, at least three of them; short ones are timed in batches."""
    for _ in range(2):
        call()
    batch = max(1, int(20e-6 / max(seconds(call), 1e-9)))
    times = []
    end = time.perf_counter() + duration
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        for _ in range(batch):
            call()
        times.append((time.perf_counter() - start) / batch)
    return times
