"""Fixtures of every test: an own disk cache, and devices of each target."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import zlib
from collections.abc import Generator, Iterator
from itertools import count
from logging.handlers import BufferingHandler
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FunctionType

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, is_hypothesis_test, settings

from tests.sampling import drawn, sampled
from ttnn_jit.cache import disk
from ttnn_jit.specs.options import Environment

# Tests that decide whether a change lands draw the same examples each time; `make fuzz` draws others, and many more;
# `make test` runs a sample of them. However busy the machine is, no test fails for its time.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeated", parent=settings.get_profile("untimed"), derandomize=True)
settings.register_profile("sample", parent=settings.get_profile("repeated"))
settings.register_profile("fuzz", parent=settings.get_profile("untimed"), derandomize=False, print_blob=True)
settings.load_profile("repeated")


@pytest.hookimpl(trylast=True)  # deselected items are no longer alive
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if settings.get_current_profile_name() == "sample":
        items[:], rest = sampled(items)
        config.hook.pytest_deselected(items=rest)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)  # no worker waits for a long one at the end
    functions = {item.obj for item in items if isinstance(item, pytest.Function)}
    for function in filter(is_hypothesis_test, functions):
        if isinstance(function, FunctionType):  # not a state machine: each of its runs has many steps
            own = function._hypothesis_internal_use_settings
            many = drawn(own.max_examples)
            function._hypothesis_internal_use_settings = settings(own, max_examples=many)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker of xdist reports a test in one message instead of three: a passed, short setup or teardown says nothing.

    Three messages take a third of a millisecond more, of each of ten thousand tests.
    """
    if not hasattr(item.config, "workerinput") or item.config.getoption("xmlpath"):  # a report in XML needs them
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > SHORT_SECONDS:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


SHORT_SECONDS = 0.005
"""As much pytest's own list of durations leaves out."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Modules and tests live until the end: no garbage collection traverses these two million objects again.

    Later collections of what is young are rarer too: of all that a compile makes little is garbage in cycles.
    """
    if not _only_starts_workers(session.config):
        import torch  # takes a second

        torch.manual_seed(0)  # of the modules that draw numbers
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()


def _only_starts_workers(config: pytest.Config) -> bool:
    return getattr(config.option, "dist", "no") != "no" and not hasattr(config, "workerinput")


MEMORY = Path("/dev/shm")
"""A folder in memory on Linux, if there is room: thousands of tests then do not wait for a disk."""


@pytest.fixture(autouse=True)
def own_numbers(request: pytest.FixtureRequest) -> None:
    """Every test draws the same random numbers in each run, whichever tests ran before it.

    `torch.manual_seed` would note the stack, for devices that are not here, in lists that grow with every test.
    """
    from torch import default_generator

    default_generator.manual_seed(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(scope="session")
def disk_caches() -> Iterator[Iterator[Path]]:
    """Folders that do not exist yet. (`tmp_path` lists all of its siblings: slow with thousands of tests.)"""
    has_room = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= 1 << 30
    with TemporaryDirectory(prefix="ttnn_jit-tests-", dir=MEMORY if has_room else None) as parent:
        yield (Path(parent, str(number)) for number in count())


@pytest.fixture(autouse=True)
def own_disk_cache(disk_caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No test sees, or leaves, programs in the user's cache folder."""
    folder = next(disk_caches)
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(folder))
    monkeypatch.delenv("TTNN_JIT_CACHE", raising=False)
    monkeypatch.delenv("SYSTEM_DESC_PATH", raising=False)
    environment = Environment.read()
    yield folder
    if folder.is_dir():
        disk.store_of(environment).close()
        shutil.rmtree(folder, ignore_errors=True)


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


@pytest.fixture
def logged() -> Iterator[BufferingHandler]:
    """Collects log records. (pytest's `caplog` would be installed for every test: a quarter of pytest's own time.)"""
    handler = BufferingHandler(capacity=1000)
    logging.root.addHandler(handler)
    yield handler
    logging.root.removeHandler(handler)
