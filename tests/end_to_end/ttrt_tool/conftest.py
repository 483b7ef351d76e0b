"""Binaries of small programs, written once, and a folder of its own for each test."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest
import torch

import ttnn_jit
from tests.end_to_end.ttrt_tool.built_binaries import TEXTS, golden_of, write_binary
from ttnn_jit.tools.ttrt import ttrt_command

ttnn_jit.register_as_ttnn()


@pytest.fixture(scope="package")
def written(tmp_path_factory):
    """A folder with a binary of each text; `softmax_with_goldens.ttnn` holds goldens, `wrong.ttnn` a wrong one."""
    folder = tmp_path_factory.mktemp("binaries")
    for name in TEXTS:
        write_binary(name, folder / f"{name}.ttnn")
    x, y = torch.randn(64, 128), torch.randn(64, 128)
    goldens = {
        "input_0": golden_of("input_0", x),
        "input_1": golden_of("input_1", y),
        'loc("sum")': golden_of('loc("sum")', x + y),
        "output_0": golden_of("output_0", (x + y).softmax(1)),
    }
    write_binary("softmax", folder / "softmax_with_goldens.ttnn", goldens)
    wrong = goldens | {'loc("sum")': golden_of('loc("sum")', x - y)}
    write_binary("softmax", folder / "wrong.ttnn", wrong)
    return folder


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """The current folder, with nothing set."""
    for name in ("SYSTEM_DESC_PATH", "TT_MLIR_HOME", "TTRT_LOGGER_LEVEL", "LOGGER_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ttrt(capsys):
    """The command: status, standard output and error of a command line."""

    def run(*arguments):
        try:
            status = ttrt_command.main([*map(str, arguments)])
        except SystemExit as error:
            status = error.code
        shown = capsys.readouterr()
        return SimpleNamespace(status=status, out=shown.out, err=shown.err)

    return run


@pytest.fixture
def binary(written, tmp_path):
    """A copy of a binary in the current folder."""

    def copied(name):
        return shutil.copy(written / f"{name}.ttnn", tmp_path / f"{name}.ttnn")

    return copied
