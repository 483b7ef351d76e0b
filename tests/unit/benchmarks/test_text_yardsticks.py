"""The yardsticks of texts tell parsed, kept, printed back, valid and refused modules apart."""

from __future__ import annotations

from benchmarks.texts.text_yardsticks import count, fits

VALID = '"ttir.zeros"() <{shape = array<i32: 4>}> : () -> tensor<4xf32>\n'


def test_each_module_counts_once_and_where_it_belongs(tmp_path):
    file = tmp_path / "a.mlir"
    file.write_text(
        "// RUN: opt --split-input-file\n"
        + VALID
        + '// -----\n"ttir.zeros"() {a = #ttcore.grid<what>} : () -> tensor<4xf32>\n'
        + '// -----\n// CHECK: error: {{.*}} op requires a single operand\n"ttir.abs"() : () -> tensor<4xf32>\n'
        + "// -----\n// expected-error @below {{another reason}}\n"
        + '"ttir.abs"() : () -> tensor<4xf32>\n'
        + f"// -----\n// expected-error @below {{{{what a pass says}}}}\n{VALID}"
        + '// -----\n"ttir.abs"() : () -> tensor<4xf32>\n'
    )
    counts = count([file])
    assert (counts.positive, counts.parsed, counts.kept, counts.printed, counts.valid) == (3, 2, 1, 2, 1)
    assert (counts.negative, counts.own_reason, counts.other_reason) == (3, 1, 1)


def test_a_file_that_no_command_line_splits_is_one_module(tmp_path):
    file = tmp_path / "a.mlir"
    file.write_text(f"{VALID}// -----\n{VALID}")
    assert count([file]).positive == 1


def test_a_message_fits_an_expected_one_with_patterns():
    assert fits("'ttir.add' op {{.+}} of rank {{[0-9]+}}", "'ttir.add' op tensor of rank 4")
    assert not fits("of rank {{[0-9]+}}", "of rank x")
