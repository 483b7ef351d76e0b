"""``ttmlir.compile_and_run``: steps from a text to a run, which raise RuntimeError where tt-mlir's do."""

from __future__ import annotations

from pathlib import Path

import pytest

import ttnn_jit
from tests.processes import run_python
from ttnn_jit.sessions import session

ttnn_jit.register_as_ttnn()

from ttmlir import compile_and_run  # noqa: E402 - found where `register_as_ttnn` was called
from ttmlir.compile_and_run_utils import ModuleDialect, create_mlir_module_from_string  # noqa: E402
from ttmlir.dialects import _ttir_ops_gen, ttir  # noqa: E402

TEXT = """
func.func @main(%x: tensor<32x32xf32>, %y: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = stablehlo.add %x, %y : tensor<32x32xf32>
  %1 = stablehlo.exponential %0 : tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}
"""


@pytest.fixture
def described(tmp_path, monkeypatch):
    worker = Path(compile_and_run.__file__).parent / "_system_desc_worker.py"
    monkeypatch.setenv("SYSTEM_DESC_PATH", str(tmp_path / "system_desc.ttsys"))
    return worker, tmp_path / "system_desc.ttsys"


@pytest.mark.process
def test_a_text_becomes_ttir_ttnn_a_binary_and_a_run_that_a_session_compares(described, tmp_path, monkeypatch):
    worker, file = described
    monkeypatch.delenv("SYSTEM_DESC_PATH")
    run_python(worker, file, check=True)
    monkeypatch.setenv("SYSTEM_DESC_PATH", str(file))
    module = compile_and_run.stablehlo_to_ttir(TEXT)
    assert ModuleDialect.detect(module) is ModuleDialect.TTIR
    lowered = compile_and_run.ttir_to_ttnn(str(module))
    assert ModuleDialect.detect(lowered) is ModuleDialect.TTNN
    path = compile_and_run.ttnn_to_flatbuffer(lowered, str(tmp_path / "model.ttnn"))
    with session() as report:
        assert compile_and_run.run_flatbuffer(path) == 0
    names = {each.operation for each in report.passes()}
    assert {"ttnn.add", "ttnn.exp"} <= names
    assert not report.failures()


def test_steps_that_fail_raise_runtime_errors(tmp_path, monkeypatch):
    monkeypatch.setenv("SYSTEM_DESC_PATH", str(tmp_path / "none.ttsys"))
    for step, arguments in (
        (compile_and_run.stablehlo_to_ttir, ("func.func @f(",)),
        (compile_and_run.ttir_to_ttnn, (TEXT,)),
        (compile_and_run.ttir_to_ttmetal, (TEXT,)),
        (compile_and_run.run_flatbuffer, (str(tmp_path / "none.ttnn"),)),
    ):
        with pytest.raises(RuntimeError, match="failed: "):
            step(*arguments)


def test_dialects_are_told_by_their_operations_and_generated_modules_have_the_classes():
    assert ModuleDialect.detect(create_mlir_module_from_string(TEXT)) is ModuleDialect.STABLE_HLO
    assert ModuleDialect.detect("module {}") is ModuleDialect.TT
    assert _ttir_ops_gen.AddOp is ttir.AddOp


def test_an_operation_inside_a_function_is_printed_with_its_names_and_without_aliases():
    (function,) = create_mlir_module_from_string(TEXT).body.operations
    first, second, _ = function.regions[0].blocks[0].operations
    assert str(first) == "%0 = stablehlo.add %arg0, %arg1 : tensor<32x32xf32>"
    assert second.get_asm(enable_debug_info=True).endswith(' : tensor<32x32xf32> loc("-":4:3)')
    assert second.OPERAND_NAMES == ["operand"]
