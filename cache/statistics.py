"""Statistics of the caches: `cache_info` and `cache_clear`."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Protocol

from ttnn_jit.process.compile_lock import compiling
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.options import Environment

if TYPE_CHECKING:
    from ttnn_jit.cache.disk import DiskStore


class MemoryCache(Protocol):
    """A cache in memory that `cache_clear` empties: every `JitFunction` is one."""

    @property
    def num_entries(self) -> int:
        """Programs held."""

    def clear(self) -> None:
        """Forget every program."""


@dataclass(frozen=True)
class CacheInfo:
    """Counts of this process since its start or the last `cache_clear`, and the current contents of the caches.

    Attributes:
        compiles: Programs compiled, templates among them.
        memory_hits: Calls served by a program in memory.
        disk_hits: Programs read from disk instead of compiled.
        entries: Programs on disk.
        bytes: Bytes of all entries on disk: programs, manifests and shared native code.
        memory_entries: Programs in memory.
        templates: Templates compiled: programs that serve many sizes of tensors.
        template_hits: Sizes served by a template in memory instead of compiled.
    """

    compiles: int
    memory_hits: int
    disk_hits: int
    entries: int
    bytes: int
    memory_entries: int
    templates: int
    template_hits: int


class _Counters:
    """Counters that change under the compile lock, except for memory hits, which every warm call counts.

    The count of memory hits is exact where the interpreter has a GIL.

    Attributes:
        memory_caches: The caches that `cache_clear` empties.
        compiles, memory_hits, disk_hits, templates, template_hits: See `CacheInfo`.
    """

    def __init__(self) -> None:
        self.memory_caches: weakref.WeakSet[MemoryCache] = weakref.WeakSet()
        self.reset()

    def reset(self) -> None:
        self.compiles = self.memory_hits = self.disk_hits = self.templates = self.template_hits = 0


COUNTERS = _Counters()
"""The counters of this process; compiles and calls increment them directly."""


def register(cache: MemoryCache) -> None:
    """Have `cache_clear` empty `cache` for as long as it lives."""
    with compiling():
        COUNTERS.memory_caches.add(cache)


def cache_info() -> CacheInfo:
    """Counts since the start of the process or the last `cache_clear`, and the current contents of the caches."""
    with compiling():
        in_memory = sum(cache.num_entries for cache in COUNTERS.memory_caches)
    store = _store()
    entries, stored = store.usage() if store else (0, 0)
    return CacheInfo(
        compiles=COUNTERS.compiles,
        memory_hits=COUNTERS.memory_hits,
        disk_hits=COUNTERS.disk_hits,
        entries=entries,
        bytes=stored,
        memory_entries=in_memory,
        templates=COUNTERS.templates,
        template_hits=COUNTERS.template_hits,
    )


def cache_clear() -> None:
    """Forget every program, in memory and on disk, and reset the counts to 0."""
    with compiling():
        caches = list(COUNTERS.memory_caches)
        COUNTERS.reset()
    for cache in caches:
        cache.clear()
    if store := _store():
        store.clear()


def _store() -> DiskStore | None:
    from ttnn_jit.cache.disk import store_of

    return store_of(Environment.read())
