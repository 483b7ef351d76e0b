"""``pytest -p ttnn_jit.pytest_plugin``: tests written for ttnn run where no real ttnn is installed.

`import ttnn` finds `ttnn_jit.ttnn`, in conftests and in the processes of pytest-xdist too. The fixtures `device`,
`mesh_device` and `device_params` are those that test suites for ttnn define; a project's own go first.
``--ttnn-target`` says what devices are opened as, by whichever fixture.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.target import PRESETS, read_target
from ttnn_jit.ttnn.stand_in import register_as_ttnn

DESC_PATH = "SYSTEM_DESC_PATH"
OPTION = "--ttnn-target"


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--ttnn-target``."""
    presets = ", ".join(PRESETS)
    parser.addoption(OPTION, help=f"what ttnn's devices are opened as: {presets}, or the JSON file of a description")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before a conftest can import ttnn, or open a device."""
    register_as_ttnn()
    target = early_config.known_args_namespace.ttnn_target
    if target is not None:
        early_config.add_cleanup(_open_devices_as(target))


def _open_devices_as(target: str) -> Any:
    """Has the variable that decides name a file of `target`; returns what sets it back."""
    folder = tempfile.TemporaryDirectory(prefix="ttnn_jit_target_")
    path = Path(folder.name) / "system_desc.json"
    try:
        path.write_text((PRESETS.get(target) or read_target(target)).to_json(), encoding="utf-8")
    except ArgumentError as error:
        folder.cleanup()
        raise pytest.UsageError(f"{OPTION}: {error}; the presets are {', '.join(PRESETS)}") from None
    patch = pytest.MonkeyPatch()
    patch.setenv(DESC_PATH, str(path))

    def undo() -> None:
        patch.undo()
        folder.cleanup()

    return undo


@pytest.fixture
def device_params(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Keywords of ``ttnn.open_device``, as a test gives them by indirect parametrization; none otherwise."""
    return dict(getattr(request, "param", {}))


def _keywords(ttnn: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Keywords of ``ttnn.open_device``: suites for ttnn name the parts of a dispatch core config one by one."""
    parts = {name: params.get(f"dispatch_core_{name}") for name in ("type", "axis")}
    others = {name: value for name, value in params.items() if name.removeprefix("dispatch_core_") not in parts}
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
    """A mesh, opened for one test: of as many devices in a row, or of the rows and columns, that a parameter says.

    Without one it is of all devices there are; a test that asks for more is skipped.
    """
    ttnn: Any = importlib.import_module("ttnn")
    wanted = getattr(request, "param", ttnn.get_num_devices())
    shape = ttnn.MeshShape(*wanted) if isinstance(wanted, tuple) else ttnn.MeshShape(1, wanted)
    if shape.mesh_size() > ttnn.get_num_devices():
        pytest.skip(f"a mesh of {shape.mesh_size()} devices, and there are {ttnn.get_num_devices()}")
    opened = ttnn.open_mesh_device(mesh_shape=shape, **_keywords(ttnn, device_params))
    yield opened
    ttnn.close_mesh_device(opened)
