"""``pytest -p ttnn_jit.pytest_plugin``: tests written for ttnn run where no real ttnn is installed.

`import ttnn` finds `ttnn_jit.ttnn`, in conftests and in the worker processes of pytest-xdist too. The fixtures
`device`, `mesh_device` and `device_params` are those that test suites for ttnn define; a project's own fixtures take
precedence. ``--ttnn-target`` selects the target of opened devices, whichever fixture opens them. ``--ttnn-compare``
fails tests in which an operation differs from its golden, and writes a report.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.target import PRESETS, SYSTEMS, read_target
from ttnn_jit.ttnn.namespace.stand_in import register_as_ttnn

DESC_PATH = "SYSTEM_DESC_PATH"
OPTION = "--ttnn-target"
COMPARE, REPORT = "--ttnn-compare", "--ttnn-compare-report"
_COMPARED_TESTS = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--ttnn-target``, ``--ttnn-compare`` and ``--ttnn-compare-report``."""
    presets = ", ".join(PRESETS | SYSTEMS)
    parser.addoption(OPTION, help=f"target of ttnn's devices: {presets}, or the JSON file of a description")
    parser.addoption(
        COMPARE, action="store_true", help="compare every operation with its golden; fail tests in which one differs"
    )
    parser.addoption(
        REPORT,
        metavar="FOLDER",
        default="generated/ttnn/reports/pytest",
        help="where --ttnn-compare writes comparison.jsonl and comparison.html (default: %(default)s)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start comparing before the workers of pytest-xdist start, which write into the same folder."""
    if config.option.ttnn_compare:
        from ttnn_jit.ttnn.observing.compared_tests import ComparedTests

        is_worker = hasattr(config, "workerinput")
        config.option.ttnn_compare_report = str(Path(config.option.ttnn_compare_report).absolute())
        config.stash[_COMPARED_TESTS] = ComparedTests(Path(config.option.ttnn_compare_report), is_worker=is_worker)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Attribute the operations of a fixture to the test that requested it first."""
    if (comparisons := item.config.stash.get(_COMPARED_TESTS, None)) is not None:
        comparisons.begin(item.nodeid)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that passed if one of its operations differs from its golden."""
    result = yield
    comparisons = item.config.stash.get(_COMPARED_TESTS, None)
    if comparisons is not None and (found := comparisons.differing()):
        pytest.fail(found, pytrace=False)
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the merged report after the workers of pytest-xdist have ended."""
    if (comparisons := session.config.stash.get(_COMPARED_TESTS, None)) is not None:
        comparisons.end()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print how many results were compared, and the path of the report."""
    if (comparisons := config.stash.get(_COMPARED_TESTS, None)) is not None:
        terminalreporter.write_line(comparisons.summary())


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Register `ttnn` and the target before a conftest can import ttnn or open a device."""
    register_as_ttnn()
    target = early_config.known_args_namespace.ttnn_target
    if target is not None:
        early_config.add_cleanup(_open_devices_as(target))


def _open_devices_as(target: str) -> Any:
    """Set ``SYSTEM_DESC_PATH`` to a file that describes `target`; returns the function that restores it."""
    folder = tempfile.TemporaryDirectory(prefix="ttnn_jit_target_")
    path = Path(folder.name) / "system_desc.json"
    try:
        path.write_text(((PRESETS | SYSTEMS).get(target) or read_target(target)).to_json(), encoding="utf-8")
    except ArgumentError as error:
        folder.cleanup()
        raise pytest.UsageError(f"{OPTION}: {error}; the presets are {', '.join(PRESETS | SYSTEMS)}") from None
    patch = pytest.MonkeyPatch()
    patch.setenv(DESC_PATH, str(path))

    def undo() -> None:
        patch.undo()
        folder.cleanup()

    return undo


@pytest.fixture
def device_params(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Keywords of ``ttnn.open_device`` from indirect parametrization of the test; empty without one."""
    return dict(getattr(request, "param", {}))


_OF_FABRIC = frozenset(
    {"fabric_config", "fabric_manager", "fabric_router_config", "fabric_tensix_config", "reliability_mode"}
)
"""Parameters by which suites for ttnn set up the links between chips before they open a device; without effect."""


def _keywords(ttnn: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Keywords of ``ttnn.open_device``; suites for ttnn pass the fields of a dispatch core config separately."""
    parts = {name: params.get(f"dispatch_core_{name}") for name in ("type", "axis")}
    others = {
        name: value
        for name, value in params.items()
        if name.removeprefix("dispatch_core_") not in parts and name not in _OF_FABRIC
    }
    given = {name: value for name, value in parts.items() if value is not None}
    return others | ({"dispatch_core_config": ttnn.DispatchCoreConfig(**given)} if given else {})


@pytest.fixture
def device(device_params: dict[str, Any]) -> Iterator[Any]:
    """A device, opened for one test."""
    ttnn: Any = importlib.import_module("ttnn")
    opened = ttnn.open_device(**{"device_id": 0, **_keywords(ttnn, device_params)})
    yield opened
    ttnn.close_device(opened)


@pytest.fixture
def mesh_device(request: pytest.FixtureRequest, device_params: dict[str, Any]) -> Iterator[Any]:
    """A mesh, opened for one test: the parameter is a number of devices in a row, or (rows, columns).

    Without a parameter the mesh has all devices. A test that requests more devices than there are is skipped.
    """
    ttnn: Any = importlib.import_module("ttnn")
    wanted = getattr(request, "param", ttnn.get_num_devices())
    shape = ttnn.MeshShape(*wanted) if isinstance(wanted, tuple) else ttnn.MeshShape(1, wanted)
    if shape.mesh_size() > ttnn.get_num_devices():
        pytest.skip(f"a mesh of {shape.mesh_size()} devices, and there are {ttnn.get_num_devices()}")
    opened = ttnn.open_mesh_device(mesh_shape=shape, **_keywords(ttnn, device_params))
    yield opened
    ttnn.close_mesh_device(opened)
