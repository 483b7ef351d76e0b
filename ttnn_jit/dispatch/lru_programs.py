"""The LRU cache of a function's programs in memory.

A remembered call (`ttnn_jit.dispatch.warm_calls`) bypasses this cache, so that its use is not recorded. Therefore the
cache clears all remembered calls before it evicts a program that was used since the last time: the next call of each
key comes here once, and records that its program is in use.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from typing import Generic, TypeVar

from ttnn_jit.diagnostics.changing_arguments import ChangingArguments

T = TypeVar("T")
Key = tuple[Hashable, ...]

MAX_PROGRAMS = 256
"""The limit of keys of one function and one target: 6 MB at 25 KB a program. Evicted programs stay on disk, and a call
or trace in progress keeps its program alive."""


class LruPrograms(Generic[T]):
    """An LRU cache of values by key; the first part of a key is the target, and each target has its own limit.

    Args:
        changing: Warns of evictions.
    """

    def __init__(self, changing: ChangingArguments) -> None:
        self._changing = changing
        self._of: dict[Hashable, OrderedDict[Key, T]] = {}
        self._used: set[Key] | None = None  # keys used since remembered calls were cleared; None: never cleared

    def __len__(self) -> int:
        return sum(map(len, tuple(self._of.values())))

    def values(self) -> Iterator[T]:
        """All values."""
        return (value for kept in tuple(self._of.values()) for value in tuple(kept.values()))

    def get(self, key: Key) -> T | None:
        """The value of `key`, which becomes the most recently used; None if there is none."""
        kept = self._of.get(key[0])
        found = None if kept is None else kept.get(key)
        if found is not None and kept is not None and len(kept) > MAX_PROGRAMS // 2:
            with suppress(KeyError):  # another thread may have evicted it
                kept.move_to_end(key)
            if self._used is not None:
                self._used.add(key)
        return found

    def put(self, key: Key, value: T, forget_calls: Callable[[], None], *, warns: bool = True) -> None:
        """Insert `value`, and evict others if the cache is full.

        Args:
            key: The key.
            value: The value.
            forget_calls: Clears the remembered calls.
            warns: Whether the user is warned of evictions: a value that a template makes is soon made again.
        """
        kept = self._of.setdefault(key[0], OrderedDict())
        while key not in kept and len(kept) >= MAX_PROGRAMS:
            self._evict_oldest(kept, forget_calls)
            if warns:
                self._changing.warn_of_eviction(MAX_PROGRAMS)
        kept[key] = value
        if self._used is not None:
            self._used.add(key)

    def clear(self) -> None:
        """Remove all values."""
        self._of.clear()
        self._used = None

    def _evict_oldest(self, kept: OrderedDict[Key, T], forget_calls: Callable[[], None]) -> None:
        oldest = next(iter(kept))
        if self._used is None or oldest in self._used:
            forget_calls()
            self._used = set()
        del kept[oldest]
