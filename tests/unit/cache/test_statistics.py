"""Counters, and the effect of `cache_clear`."""

from __future__ import annotations

import gc

import pytest

from ttnn_jit.cache import statistics
from ttnn_jit.cache.disk import store_of
from ttnn_jit.specs.options import Environment


@pytest.fixture(autouse=True)
def fresh():
    statistics.cache_clear()
    yield
    store = store_of(Environment.read())
    if store:
        store.close()
    statistics.cache_clear()


class Memory:
    def __init__(self, entries):
        self.num_entries = entries

    def clear(self):
        self.num_entries = 0


def test_counts_are_of_this_process_and_start_at_zero_after_a_clear_too():
    info = statistics.cache_info()
    assert (info.compiles, info.memory_hits, info.disk_hits, info.entries, info.bytes) == (0, 0, 0, 0, 0)
    statistics.COUNTERS.compiles += 1
    statistics.COUNTERS.memory_hits += 2
    statistics.COUNTERS.disk_hits += 1
    info = statistics.cache_info()
    assert (info.compiles, info.memory_hits, info.disk_hits) == (1, 2, 1)
    statistics.cache_clear()
    info = statistics.cache_info()
    assert (info.compiles, info.memory_hits, info.disk_hits) == (0, 0, 0)


def test_entries_and_bytes_are_what_the_disk_holds():
    store = store_of(Environment.read())
    store.set("program:a", bytes(1000))
    info = statistics.cache_info()
    assert info.entries == 1
    assert info.bytes > 1000
    statistics.cache_clear()
    assert statistics.cache_info().entries == 0
    assert statistics.cache_info().bytes == 0
    assert store.get("program:a") is None


def test_clear_reaches_every_living_memory_cache():
    first, second = Memory(2), Memory(3)
    before = statistics.cache_info().memory_entries
    statistics.register(first)
    statistics.register(second)
    assert statistics.cache_info().memory_entries == before + 5
    del second
    gc.collect()
    assert statistics.cache_info().memory_entries == before + 2
    statistics.cache_clear()
    assert first.num_entries == 0


def test_no_disk_store_counts_as_empty(monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE", "0")
    assert statistics.cache_info().entries == 0
    statistics.cache_clear()
