"""A mutated text through ``run``, a pipeline or another command gives a result or one located line.

benchmarks/texts/mutations.py does more.
"""

from __future__ import annotations

import random

import pytest

from benchmarks.texts.mutations import PASSES, RUN, mutated, observed, outcome_of
from tests.end_to_end.texts.test_translated_texts import KEPT, SEVERAL, STABLEHLO, WINDOWS
from tests.sampling import drawn
from tests.upstream_texts import FORMS, TTIR, TTNN
from ttnn_jit.tools.cli import main

TEXTS = {"ttir": TTIR, "ttnn": TTNN, "kept": KEPT, "several": SEVERAL, "jax": STABLEHLO, "windows": WINDOWS, **FORMS}


@pytest.mark.parametrize("name", TEXTS)
def test_a_mutated_text_runs_or_is_refused_by_one_line(name, tmp_path):
    with observed() as seconds:
        for number in range(drawn(20)):
            draw = random.Random(f"{name} {number}")
            text = mutated(TEXTS[name], draw)
            for command in (RUN, draw.choice(PASSES)):
                outcome, reason = outcome_of(command, text, TEXTS[name], tmp_path, seconds)
                assert outcome in {"runs", "refused", "slow"}, f"{command} {reason}\n{text}"


EARLY = """func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = "ttir.exp"(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = "ttir.exp"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}
"""
POOL = """func.func @f(%x: tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32> {
  %y = "ttir.max_pool2d"(%x) <{kernel = array<i32: 2, 2>, stride = array<i32: 2, 2>, dilation = array<i32: 1, 1, 1>,
    padding = array<i32: 0, 0, 0, 0>, ceil_mode = false}> : (tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32>
  return %y : tensor<1x2x2x1xf32>
}
"""
LAYOUT = """#layout = #ttcore.metal_layout<logical_shape = 6x6, dim_alignments = 3x3, collapsed_intervals =
  dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1, sharded, index_map = map(2147483648)>
func.func @f(%x: tensor<4xf32, #layout>) { return }
"""
RESOURCE = """func.func @f() -> tensor<2x2xf32> {
  %0 = "ttir.constant"() <{value = dense_resource<w> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
{-# dialect_resources: { builtin: { w: "0x04" } } #-}
"""
KERNEL = """func.func @f(%n: i8) {
  %x = ttkernel.my_x(%n) : (i8) -> index
  return
}
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("func.func @f(%x: tensor<4xi2147483648>) { return }", "integer bitwidth is limited to 16777215 bits"),
        (RESOURCE, ":2:3: the resource 'w' does not hold the elements of tensor<2x2xf32>"),
        (EARLY, ":3:3: a value is read before it is computed"),
        (POOL, ":2:3: `ttir.max_pool2d`: its operands, attributes and results do not fit one another"),
        (KERNEL, ":1:1: the argument 0 of @f: i8 is no tensor with a #ttnn.ttnn_layout"),
    ],
    ids=["width", "resource", "order", "attributes", "kernel"],
)
def test_numbers_and_orders_that_no_verifier_sees_are_refused_at_their_place(text, reason, tmp_path, capsys):
    file = tmp_path / "wrong.mlir"
    file.write_text(text)
    assert main(["run", str(file)]) == 1
    assert reason in capsys.readouterr().err


def test_a_rank_that_would_be_written_out_is_refused(tmp_path, capsys):
    file = tmp_path / "wrong.mlir"
    file.write_text(LAYOUT)
    assert main(["opt", str(file)]) == 1
    assert "an affine map has at most 1,024 dimensions here" in capsys.readouterr().err


def test_a_wrong_text_does_not_change_how_others_are_read(tmp_path):
    wrong, right = tmp_path / "wrong.mlir", tmp_path / "right.mlir"
    wrong.write_text("return\n}\n")
    right.write_text(EARLY.replace("(%y)", "(%x)"))
    assert main(["run", str(wrong)]) == 1
    assert main(["run", str(right), "--save", str(tmp_path / "results.pt")]) == 0


def test_the_error_of_the_reader_that_gets_further_is_shown(tmp_path, capsys):
    file = tmp_path / "wrong.mlir"
    file.write_text('module {\n  sdy.mesh @mesh = <["x"=2]>\n  func.func @f(%x: tensor<4xf32) { return }\n}\n')
    assert main(["run", str(file)]) == 1
    assert f"{file}:3:" in capsys.readouterr().err
