"""``pytest -p ttnn_jit.pytest_plugin``: tests written for ttnn run where no real ttnn is installed.

`import ttnn` finds `ttnn_jit.ttnn`, in conftests and in the processes of pytest-xdist too. The fixtures `device`,
`mesh_device` and `device_params` are those that test suites for ttnn define; one of a project's own goes first.
"""

from __future__ import annotations

import pytest

from ttnn_jit.stand_in import register_as_ttnn
from ttnn_jit.target import PRESETS

_FOLDER = pytest.StashKey["tempfile.TemporaryDirectory[str]"]()
_BEFORE = pytest.StashKey[str | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--ttnn-target``."""
    parser.addoption(
        "--ttnn-target",
        metavar="TARGET",
        help=f"what devices are opened as: {', '.join(PRESETS)}, or a file as SYSTEM_DESC_PATH names; otherwise that "
        "variable decides",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:  # noqa: ARG001 - as pytest has it
    """Register before a conftest can import ttnn."""
    register_as_ttnn()
