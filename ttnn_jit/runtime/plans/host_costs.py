"""The cost model of the host, on which every target runs, and the size of its last-level cache.

benchmarks/kernels/vector_math.py measures the rates; benchmarks/programs/memory.py measures the bandwidth and the gain
of threads.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class HostCosts:
    """Approximate costs on the host. They decide how a kernel runs, never its result.

    Attributes:
        vector_instructions_per_ns: Rate of one core.
        lookups_per_ns: Rate of one core, for a lookup table whose used entries are in the L1 and L2 caches.
        bytes_per_ns: Bandwidth of one core to the last-level cache, reads and writes.
        shared_from_ns: The least predicted time of a kernel that is shared with threads that are awake.
        wakes_from_ns: The least predicted time of a kernel that wakes threads: several times the time of a wake.
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
    """Size of the last-level cache of the host; 32 MB if the system does not say."""
    try:
        text = Path("/sys/devices/system/cpu/cpu0/cache/index3/size").read_text(encoding="ascii").strip()
        return int(text.removesuffix("K")) << 10
    except (OSError, ValueError):
        return 32 << 20
