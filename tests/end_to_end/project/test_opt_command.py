"""``ttmlir-opt`` takes the command lines of mlir-opt: passes as options, splitting, expected errors, printing."""

from __future__ import annotations

import pytest

from ttnn_jit.tools import opt_arguments
from ttnn_jit.tools.cli import main, opt_main
from ttnn_jit.transforms import pipeline

ADD = """func.func @f(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = "ttir.add"(%arg0, %arg0) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = "ttir.add"(%arg0, %arg0) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = "ttir.multiply"(%0, %1) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %2 : tensor<2x8xf32>
}
"""
STABLEHLO = "func.func @f(%x: tensor<4xf32>) { %0 = stablehlo.exponential %x : tensor<4xf32> return }\n"


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "module.mlir"
        path.write_text(text)
        return str(path)

    return write


def test_each_pass_is_an_option_and_they_run_in_order(file, capsys):
    assert opt_main(["--ttir-decompose-composites", "-cse", file(ADD)]) == 0
    assert capsys.readouterr().out.count("ttir.add") == 1
    assert opt_main([file(ADD), "--pass-pipeline=builtin.module(canonicalize,func.func(cse))"]) == 0
    assert capsys.readouterr().out.count("ttir.add") == 1


def test_a_text_of_another_dialect_is_read_and_printed_without_a_pass(file, capsys):
    assert opt_main([file(STABLEHLO)]) == 0
    assert "stablehlo.exponential %arg0 : tensor<4xf32>" in capsys.readouterr().out


def test_parts_are_processed_alone_and_an_error_has_the_line_of_the_file(file, capsys):
    text = f'{ADD}// -----\n{STABLEHLO}// -----\n"ttir.nothing"() : () -> ()\n'
    assert opt_main(["--split-input-file", file(text)]) == 1
    out, err = capsys.readouterr()
    assert "stablehlo.exponential" in out
    assert f"module.mlir:{text.count(chr(10))}:2: error: Operation ttir.nothing is not registered" in err


def test_expected_errors_are_compared_with_those_that_come(file, capsys):
    wrong = '"ttir.abs"() : () -> ()'
    text = f"// expected-error @+1 {{{{requires a single operand}}}}\n{wrong}\n"
    assert opt_main(["--verify-diagnostics", file(text)]) == 0
    assert opt_main(["--verify-diagnostics", file(f"{text}// -----\n{wrong}\n"), "--split-input-file"]) == 1
    assert "line 4: unexpected error: 'ttir.abs' op requires a single operand" in capsys.readouterr().err
    assert opt_main(["--verify-diagnostics", file(f"// expected-error @below {{{{other}}}}\n{ADD}")]) == 1
    assert 'line 1: expected error "other" was not produced' in capsys.readouterr().err


def test_the_module_is_printed_before_and_after_passes_in_the_form_that_is_asked_for(file, capsys):
    path = file(
        ADD.replace(
            "func.func @f",
            "#map = affine_map<(d0) -> (d0)>\nfunc.func private @g() attributes {m = #map}\nfunc.func @f",
        )
    )
    options = ["--mlir-print-ir-before=cse", "--mlir-print-ir-after", "cse", "--mlir-print-local-scope", "-cse"]
    assert opt_main([*options, "--canonicalize", path]) == 0
    out, err = capsys.readouterr()
    assert [line for line in err.splitlines() if line.startswith("// -----//")] == [
        "// -----// IR Dump Before cse //----- //",
        "// -----// IR Dump After cse //----- //",
    ]
    assert "#map" not in out
    assert "affine_map<(d0) -> (d0)>" in out
    assert opt_main(["--mlir-print-op-generic", "--mlir-print-debuginfo", path]) == 0
    out = capsys.readouterr().out
    assert '"func.func"() <{' in out
    assert "module.mlir" in out


def test_times_and_statistics_of_passes_are_printed(file, capsys):
    assert opt_main(["--canonicalize", "--cse", "--mlir-timing", "--mlir-pass-statistics", file(ADD)]) == 0
    err = capsys.readouterr().err
    assert "... Execution time report ..." in err
    assert "cse\n  (S) 6 operations before, 5 after\n  (S) -1 ttir.add" in err


def test_passes_stop_at_the_one_that_is_named(file, capsys):
    assert opt_main(["-p", "all", "--until=ttir-decompose-composites", "--mlir-print-ir-after-all", file(ADD)]) == 0
    assert capsys.readouterr().err.count("IR Dump After") == 2


def test_a_loaded_file_gives_its_passes_without_registering_them(tmp_path, file, capsys, monkeypatch):
    monkeypatch.setattr(pipeline, "USER_PASSES", {})
    passes = tmp_path / "my_passes.py"
    passes.write_text(
        "from dataclasses import dataclass\nfrom xdsl.passes import ModulePass\n"
        "@dataclass(frozen=True)\nclass Rename(ModulePass):\n    name = 'rename-functions'\n    to: str = 'g'\n"
        "    def apply(self, ctx, op):\n        from xdsl.dialects.builtin import StringAttr\n"
        "        op.body.block.first_op.properties['sym_name'] = StringAttr(self.to)\n"
    )
    assert opt_main(["--load", str(passes), "--rename-functions=to=h", file(ADD)]) == 0
    assert "@h(" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message", "culprit"),
    [
        (["--csee", "x.mlir"], "unknown option `--csee`", "--csee"),
        (["x.mlir", "--until"], "expected one argument", "--until"),
        (["x.mlir", "y.mlir"], "one file at a time, got `y.mlir` too", "y.mlir"),
    ],
)
def test_a_wrong_command_line_is_shown_with_a_caret_and_exits_with_2(arguments, message, culprit, capsys):
    assert opt_main(arguments) == opt_arguments.USAGE_STATUS
    first, line, carets, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith("ttmlir-opt: error: ")
    assert message in first
    assert line[carets.index("^") : carets.rindex("^") + 1] == culprit
    assert main(["opt", *arguments]) == opt_arguments.USAGE_STATUS


def test_a_near_option_is_suggested(capsys):
    assert opt_main(["--split-input-fil", "x.mlir"]) == opt_arguments.USAGE_STATUS
    assert "did you mean `--split-input-file`?" in capsys.readouterr().err


def test_switches_take_a_value_as_in_mlir_opt(file):
    assert opt_main(["--verify-each=false", "-mlir-timing=false", "--cse", file(ADD)]) == 0


def test_a_body_that_does_not_parse_is_kept_on_request_and_reported(file, capsys):
    text = '"ttir.abs"() {a = #ttcore.grid<what>} : () -> ()'
    assert opt_main([file(text)]) == 1
    assert "module.mlir:1:32" in capsys.readouterr().err
    kept = '"x.y"() {a = #ttcore.grid<what>} : () -> ()'
    assert opt_main(["--keep-bodies", "--allow-unregistered-dialect", file(kept)]) == 0
    out, err = capsys.readouterr()
    assert "#ttcore.grid<what>" in out
    assert "kept as text, not parsed: ttcore.grid (1)" in err


def test_a_failing_pass_leaves_no_output_file(tmp_path, file, capsys):
    output = tmp_path / "out.mlir"
    assert opt_main(["--convert-ttir-to-d2m", "-o", str(output), file(ADD.replace("add", "abs", 1))]) == 1
    assert not output.exists()
    assert "error: " in capsys.readouterr().err


def test_the_dialects_that_are_read_are_listed(capsys):
    assert opt_main(["--show-dialects"]) == 0
    title, _, names = capsys.readouterr().out.strip().partition(": ")
    assert title == "Available Dialects"
    assert {"ttir", "ttnn", "stablehlo", "emitpy", "func", "builtin"} <= {*names.split(",")}


def test_the_pipeline_to_kernels_runs_in_its_place_with_or_without_options(tmp_path, capsys):
    file = tmp_path / "text.mlir"
    file.write_text(
        "func.func @f(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
        "  %0 = stablehlo.exponential %a : tensor<64x64xf32>\n  return %0 : tensor<64x64xf32>\n}\n"
    )
    texts = []
    for last in ("--ttir-to-ttmetal-pipeline", "--ttir-to-ttmetal-backend-pipeline=use-tile-matmul=true"):
        assert opt_main(["--stablehlo-to-ttir-pipeline", last, str(file)]) == 0
        texts.append(capsys.readouterr().out)
    assert "d2m.tile_exp" in texts[0]
    assert texts[0] == texts[1]


def test_an_unknown_operation_is_printed_as_it_was(file, capsys):
    text = """module {
  func.func @f(%arg0: !mine.handle) -> tensor<2xf32> {
    %0:2 = "mine.op"(%arg0) ({
      "mine.inner"() {b} : () -> ()
    }) {a = 1 : i32} : (!mine.handle) -> (tensor<2xf32>, i1)
    %1 = "ttir.exp"(%0#0) : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
"""
    for _ in range(2):
        assert opt_main(["--allow-unregistered-dialect", file(text)]) == 0
        assert capsys.readouterr().out == text
    assert opt_main(["--allow-unregistered-dialect", "--mlir-print-debuginfo", file(text)]) == 0
    assert '"mine.inner"() {b} : () -> () loc(' in capsys.readouterr().out


def test_a_function_that_does_not_return_what_it_says_is_refused_at_its_place(file, capsys):
    one = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"
    assert main(["run", file(one.replace("  return %x : tensor<2xf32>\n", ""))]) == 1
    assert "module.mlir:1:1: the function @f does not end with a return" in capsys.readouterr().err
    assert main(["run", file(one.replace("-> tensor<2xf32>", "-> tensor<3xf32>"))]) == 1
    said = "module.mlir:2:3: the function @f returns tensor<2xf32>, and its type says tensor<3xf32>"
    assert said in capsys.readouterr().err


def test_the_pass_back_to_ttir_takes_its_option_and_gives_an_equal_module(tmp_path, file, capsys):
    text = """func.func @f(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = "ttir.add"(%x, %x) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
"""
    forms = [tmp_path / name for name in ("ttnn.mlir", "ttir.mlir", "again.mlir")]
    to_ttnn = ["--ttcore-register-device", "--ttnn-layout", "--convert-ttir-to-ttnn"]
    assert opt_main([*to_ttnn, file(text), "-o", str(forms[0])]) == 0
    assert opt_main(["--cse", "--convert-ttnn-to-ttir=tagged-only=false", str(forms[0]), "-o", str(forms[1])]) == 0
    assert "ttir.add" in forms[1].read_text()
    assert opt_main(["--convert-ttir-to-ttnn", str(forms[1]), "-o", str(forms[2])]) == 0
    assert forms[2].read_text() == forms[0].read_text()
    assert opt_main(["--mlir-print-ir-after-all", "--cse", "-convert-ttnn-to-ttir", str(forms[0])]) == 0
    dumps = capsys.readouterr().err
    assert dumps.index("After cse") < dumps.index("After convert-ttnn-to-ttir")
