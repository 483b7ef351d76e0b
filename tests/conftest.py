"""What every test gets: a disk cache of its own, and devices of each target."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

# What decides whether a change lands draws the same examples each time; `make fuzz` draws others.
settings.register_profile("repeated", derandomize=True)
settings.register_profile("fuzz", derandomize=False, print_blob=True)
settings.load_profile("repeated")


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end: no collection of garbage looks through these two million objects again."""
    gc.freeze()


@pytest.fixture(scope="session")
def disk_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders that do not exist yet. (`tmp_path` looks through all of its siblings: thousands of tests notice.)"""
    parent = tmp_path_factory.mktemp("disk_caches")
    return (parent / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_disk_cache(disk_caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test sees, or leaves, programs in the user's cache folder."""
    folder = next(disk_caches)
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(folder))
    monkeypatch.delenv("TTNN_JIT_CACHE", raising=False)
    monkeypatch.delenv("SYSTEM_DESC_PATH", raising=False)
    return folder


@pytest.fixture
def device() -> Iterator[object]:
    """A device with the rules of wormhole_b0."""
    from ttnn_jit import ttnn

    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.fixture
def cpu_device() -> Iterator[object]:
    """A device without rules, with IEEE numerics."""
    from ttnn_jit import ttnn

    opened = ttnn.open_device(device_id=0, target="cpu")
    yield opened
    ttnn.close_device(opened)
