"""Command lines that documents of tt-mlir show, of 2024 to 2026, run as they stand, or are refused with the reason."""

from __future__ import annotations

import io
import shlex

import pytest

from tests.unit.frontend.stand_in import lowered
from ttnn_jit import ttnn
from ttnn_jit.dialects import print_module
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
from ttnn_jit.tools.cli import main, opt_main

TTIR = """func.func @forward(%a: tensor<64x128xf32>, %b: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = "ttir.multiply"(%a, %b) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
"""
DESTINATION = """func.func @forward(%a: tensor<64x128xf32>, %b: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = ttir.empty() : tensor<64x128xf32>
  %1 = "ttir.multiply"(%a, %b, %0) : (tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}
"""
RUN = (
    "ttmlir-opt --ttir-to-ttnn-backend-pipeline ttir.mlir",
    "ttmlir-opt --ttir-to-ttnn-backend-pipeline ttir.mlir -o ttnn.mlir",
    'ttmlir-opt --ttir-load-system-desc="path=system_desc.ttsys" --ttir-to-ttnn-backend-pipeline ttir.mlir'
    " -o ttnn.mlir",
    'ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=system_desc.ttsys" ttir.mlir -o ttnn.mlir',
    'ttmlir-opt --ttcore-register-device="system-desc-path=system_desc.ttsys" --ttir-to-ttnn-backend-pipeline ttir.mlir'
    " -o ttnn.mlir",
    'ttmlir-opt --ttcore-register-device="system-desc-path=system_desc.ttsys" --ttnn-layout --convert-ttir-to-ttnn'
    " ttir.mlir",
    'ttmlir-opt --ttir-load-system-desc="path=system_desc.ttsys" --ttir-implicit-device --ttir-layout'
    " --convert-ttir-to-ttnn ttir.mlir",
    "ttmlir-opt --ttir-layout --convert-ttir-to-ttnn ttir.mlir",
    "ttmlir-opt --convert-ttnn-to-ttir jitted.mlir",
    "ttmlir-opt --mlir-print-ir-after-all"
    ' --ttir-to-ttmetal-pipeline="system-desc-path=system_desc.ttsys ttnn-mode=true" as_ttir.mlir',
    "ttmlir-opt --ttir-to-ttmetal-backend-pipeline ttir.mlir",
    "ttmlir-opt --ttir-to-ttnn-backend-pipeline ttir.mlir | ttmlir-translate --mlir-to-python",
    "ttmlir-opt --ttir-to-ttnn-backend-pipeline ttir.mlir | ttmlir-translate --ttnn-to-flatbuffer -o out.ttnn",
    "ttmlir-opt --ttir-to-ttnn-backend-pipeline destination.mlir | ttmlir-translate -mlir-to-python"
    " -allow-unregistered-dialect",
)
REFUSED = {
    "ttmlir-opt --ttir-load-system-desc --ttir-layout --convert-ttir-to-ttnn --convert-ttnn-to-emitc ttir.mlir": (
        "no C++ is emitted here; `translate --mlir-to-python` emits Python"
    ),
    "ttmlir-translate -mlir-to-cpp ttir.mlir -allow-unregistered-dialect": "no C++ is written here",
}


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["query"]) == 0
    spec = TensorSpec((64, 128), DataType.BFLOAT16, Layout.TILE)
    jitted = print_module(lowered(lambda a, b: ttnn.multiply(a, b), spec, spec).module)
    texts = {"system_desc.ttsys": capsys.readouterr().out, "ttir.mlir": TTIR, "destination.mlir": DESTINATION}
    for name, text in {**texts, "jitted.mlir": jitted}.items():
        (tmp_path / name).write_text(text)
    assert main(["opt", "-p", "convert-ttnn-to-ttir", "jitted.mlir", "-o", "as_ttir.mlir"]) == 0
    return tmp_path


def status_of(line, monkeypatch, capsys):
    """The status of a command line, and what it prints."""
    printed, status = "", 0
    for command in line.split(" | "):
        tool, *arguments = shlex.split(command)
        monkeypatch.setattr("sys.stdin", io.StringIO(printed))
        status = opt_main(arguments) if tool == "ttmlir-opt" else main(["translate", *arguments])
        printed, said = capsys.readouterr()
        if status:
            return status, said
    return status, printed


@pytest.mark.parametrize("line", RUN)
def test_a_documented_command_line_runs(line, folder, monkeypatch, capsys):
    status, printed = status_of(line, monkeypatch, capsys)
    assert status == 0, printed
    if " -o out.ttnn" in line:
        assert b"TTNN" in (folder / "out.ttnn").read_bytes()[:16]
        return
    written = (folder / "ttnn.mlir").read_text() if " -o ttnn.mlir" in line else printed
    assert "multiply" in written or "tile_mul" in written


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("line", REFUSED)
def test_another_documented_command_line_is_refused_with_the_reason(line, monkeypatch, capsys):
    status, said = status_of(line, monkeypatch, capsys)
    assert status == 1
    assert REFUSED[line] in said
