"""Fixtures of every property: programs that are cached in memory only."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_disk_cache(own_disk_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is stored on disk; a module that tests the disk overrides this fixture by one that does nothing."""
    assert not own_disk_cache.exists()
    monkeypatch.setenv("TTNN_JIT_CACHE", "0")
