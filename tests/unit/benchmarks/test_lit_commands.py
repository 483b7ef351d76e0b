"""Commands of lit tests: substitutions, features, pipes, what counts as run; the template for lit that users copy."""

import argparse
import runpy
import sys
import types
from pathlib import Path

import pytest
import torch

from benchmarks.texts import lit_commands
from benchmarks.texts.bounds import TOO_LARGE, TOO_SLOW
from benchmarks.texts.lit_commands import commands_of, execute_binary, run_test, skip_reason, substituted
from benchmarks.texts.lit_yardsticks import measured

DOCS = Path(__file__).parents[3] / "docs"
ADD = """func.func @f(%a: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = "ttir.add"(%a, %a) : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}
"""


def outcome(folder, runs, body=ADD):
    file = folder / "test.mlir"
    file.write_text("".join(f"// RUN: {each}\n" for each in runs) + body)
    (folder / "out").mkdir(exist_ok=True)
    return run_test(file, folder / "out")


def test_lines_that_end_with_a_backslash_are_one_command():
    assert commands_of("// RUN: a \\\n// RUN: | b\n// RUN: c") == ["a  | b", "c"]


def test_substitutions_are_those_of_lit(tmp_path, monkeypatch):
    monkeypatch.setenv("SYSTEM_DESC_PATH", "n150.json")
    file = tmp_path / "test" / "a.mlir"
    made = substituted(
        'x="%system_desc_path% y" %s %t.mlir %S %models/m %if sfpi %{ g++ %} %else %{ z %}', file, tmp_path
    )
    test = tmp_path / "test"
    assert made.split() == [
        'x="n150.json', 'y"', str(file), f"{tmp_path}/a.mlir.tmp.mlir", str(test), f"{test}/ttmlir/models/m", "z"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "reason"),
    [("REQUIRES: stablehlo", ""), ("REQUIRES: opmodel, perf", "REQUIRES: opmodel"), ("UNSUPPORTED: true",) * 2],
)
def test_tests_that_lit_skips_without_a_card_are_known(line, reason):
    assert skip_reason(f"// {line}\n") == reason


def test_a_flatbuffer_that_a_pipe_writes_is_found(tmp_path):
    found = outcome(
        tmp_path, ["ttmlir-opt --ttir-to-ttnn-runtime-pipeline %s | ttmlir-translate --ttnn-to-flatbuffer > %t.ttnn"]
    )
    assert found.ran, found.failure
    assert [each.name for each in found.binaries] == ["test.mlir.tmp.ttnn"]


def test_an_unknown_option_is_not_the_error_that_a_test_expects(tmp_path):
    wrong = ADD.replace("-> tensor<64x64xbf16>\n", "-> tensor<32x64xbf16>\n")
    assert outcome(tmp_path, ["not ttmlir-opt %s 2>&1"], wrong).ran
    assert "unknown option" in outcome(tmp_path, ["not ttmlir-opt --no-such-pass %s"]).failure
    assert "accepted" in outcome(tmp_path, ["not ttmlir-opt %s"]).failure
    assert "status 1" in outcome(tmp_path, ["ttmlir-opt %s -o %t && grep nothing %t"]).failure


def spin(_):
    while True:
        pass


def allocate(_):
    torch.empty(2**60)


def without_memory(_):
    sys.stderr.write("INFO - a binary runs\\nerror: this process gets no more memory (MemoryError)\n")
    return 1


@pytest.mark.parametrize(("tool", "bound"), [(spin, TOO_SLOW), (allocate, TOO_LARGE), (without_memory, TOO_LARGE)])
def test_a_test_over_a_bound_does_not_run_and_is_counted_apart(tmp_path, monkeypatch, tool, bound):
    monkeypatch.setitem(lit_commands._TOOLS, "ttmlir-opt", tool)
    monkeypatch.setattr(lit_commands, "ttnn_jit_main", tool)
    file = tmp_path / "test.mlir"
    file.write_text("// RUN: not ttmlir-opt %s | FileCheck %s\n" + ADD)
    counts = measured([file], argparse.Namespace(tree=tmp_path, seconds=1, execute=False))
    assert [str(each) for each in counts.values()] == [f"1 tests, 0 run, 1 {bound}; 0 of 1 with FileCheck hold"]
    assert execute_binary(file, 1) == bound


def test_the_template_for_lit_gives_tools_features_and_the_system(monkeypatch):
    formats = types.ModuleType("lit.formats")
    formats.ShTest = lambda **options: options
    package = types.ModuleType("lit")
    package.formats = formats
    monkeypatch.setitem(sys.modules, "lit", package)
    monkeypatch.setitem(sys.modules, "lit.formats", formats)
    monkeypatch.setenv("SYSTEM_DESC_PATH", "n300.json")
    config = types.SimpleNamespace(available_features=set(), substitutions=[], environment={})
    runpy.run_path(str(DOCS / "lit.cfg.py"), {"config": config})
    assert config.suffixes == [".mlir"]
    assert "stablehlo" in config.available_features
    assert dict(config.substitutions)["%system_desc_path%"] == "n300.json"
    assert config.environment["SYSTEM_DESC_PATH"] == "n300.json"
    assert config.environment["PATH"].startswith(str(Path(sys.executable).parent))
