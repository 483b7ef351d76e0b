"""What work costs on the host, where every target runs, and how large its last cache is.

benchmarks/kernels/vector_math.py measures the rates, benchmarks/programs/memory.py the bytes and what threads give.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class HostCosts:
    """What work costs on the host, roughly. Decides how a kernel runs, never what it gives.

    Attributes:
        vector_instructions_per_ns: Of one core.
        lookups_per_ns: Of one core, in a lookup table whose used entries are in the first two caches.
        bytes_per_ns: Read and written by one core, from the last cache.
        shared_from_ns: Predicted time from which a kernel is shared with threads that are awake.
        wakes_from_ns: Predicted time from which a kernel wakes threads: several times what that takes.
    """

    vector_instructions_per_ns: float
    lookups_per_ns: float
    bytes_per_ns: float
    shared_from_ns: float
    wakes_from_ns: float


HOST_COSTS = HostCosts(
    vector_instructions_per_ns=4.0,
    lookups_per_ns=3.0,
    bytes_per_ns=60.0,
    shared_from_ns=15_000.0,
    wakes_from_ns=60_000.0,
)


@cache
def last_cache_bytes() -> int:
    """Size of the last cache that a core of the host shares; 32 MB where the system does not say."""
    try:
        text = Path("/sys/devices/system/cpu/cpu0/cache/index3/size").read_text(encoding="ascii").strip()
        return int(text.removesuffix("K")) << 10
    except (OSError, ValueError):
        return 32 << 20
