"""Composites are written out and put together again, and arguments without shardings are cut along their batches."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.texts.passes_keep_results import after_passes, results_of
from tests.end_to_end.texts.converted_texts import assert_runs_alike, converted
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import print_module
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.tools.cli import opt_main

FLATTEN, OUTLINE = "flatten-or-convert-composites", "reoutline-composite"


def composite(order: list[int], results: list[int], *, cut: bool = True) -> str:
    """A call of a composite with operands and results in some order, which computes two values of three operands."""
    tensor = "tensor<4x6xf32>"
    noted = ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}' if cut else ""
    operands = ", ".join(f"%{'abc'[each]}" for each in order)
    returned = ", ".join("%t" if each == 0 else "%s" for each in results)
    types = ", ".join([tensor] * len(results))
    return f"""module {{
      sdy.mesh @mesh = <["x"=2, "y"=1]>
      func.func @main(%a: {tensor}{noted}, %b: {tensor}, %c: {tensor}) -> ({types}) {{
        %0:{len(results)} = stablehlo.composite "own.composite" {operands}
            {{composite_attributes = {{k = 3 : i64}}, decomposition = @own.impl}}
            : ({", ".join([tensor] * 3)}) -> ({types})
        return {", ".join(f"%0#{each}" for each in range(len(results)))} : {types}
      }}
      func.func private @own.impl(%p: {tensor}, %q: {tensor}, %r: {tensor}) -> ({types}) {{
        %s = stablehlo.subtract %r, %p : {tensor}
        %d = stablehlo.add %s, %q : {tensor}
        %t = stablehlo.multiply %d, %s : {tensor}
        return {returned} : {types}
      }}
    }}"""


def result_of(text: str, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    (module,) = parse_texts(text, "text.mlir")
    return results_of(module, inputs)[0]


@settings(max_examples=6, deadline=None)
@given(order=st.permutations(range(3)), results=st.sampled_from([[0], [0, 1], [1, 0]]))
def test_a_composite_that_is_written_out_is_put_together_again(order, results):
    text = composite(order, results)
    flat = print_module(after_passes(text, FLATTEN))
    assert "stablehlo.composite" not in flat
    assert "func private" not in flat
    assert flat.count('reoutline.group = "composite_own.impl"') == 3
    again = print_module(after_passes(flat, OUTLINE))
    operands = ", ".join(f"%arg{each}" for each in order)
    assert f'stablehlo.composite "own.composite" {operands} {{composite_attributes = {{k = 3 : i64}}' in again
    assert "reoutline." not in again
    inputs = [torch.randn(4, 6) for _ in range(3)]
    wanted = result_of(composite(order, results, cut=False), inputs)
    for found in (flat, again):
        bare = found.replace(' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}', "")
        assert all(map(torch.equal, wanted, result_of(bare, inputs)))


@pytest.mark.parametrize("change", ["between", "twice"])
def test_a_group_that_does_not_stand_together_stays(change):
    flat = print_module(after_passes(composite([0, 1, 2], [0]), FLATTEN))
    lines = flat.splitlines()
    at = next(index for index, line in enumerate(lines) if "stablehlo.add" in line)
    if change == "between":
        lines.insert(at, "    %other = stablehlo.abs %arg0 : tensor<4x6xf32>")
    else:
        lines[at] = lines[at].replace("reoutline.group", "reoutline.seed, reoutline.group")
    assert "stablehlo.composite" not in print_module(after_passes("\n".join(lines), OUTLINE))


def test_composites_of_texts_that_cut_nothing_and_those_with_a_rule_are_not_written_out():
    text = composite([0, 1, 2], [0], cut=False)
    assert "stablehlo.composite" in print_module(after_passes(text, FLATTEN))
    kept = """module {
      sdy.mesh @mesh = <["x"=1, "y"=2]>
      func.func @main(%a: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<8xf32>)
          -> tensor<2x8xf32> {
        %0 = stablehlo.composite "tenstorrent.rms_norm" %a, %b {composite_attributes = {epsilon = 1.0e-5 : f32,
          normalized_shape = dense<8> : tensor<1xi64>}, decomposition = @impl}
          : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
        return %0 : tensor<2x8xf32>
      }
      func.func private @impl(%a: tensor<2x8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> { return %a : tensor<2x8xf32> }
    }"""
    found = print_module(after_passes(kept, FLATTEN))
    assert "stablehlo.custom_call @tenstorrent.rms_norm" in found
    assert "tt.has_custom_sharding" in found


def batches(kinds: list[str], shape: str = "4x1x6x3", mesh: str = "") -> str:
    noted = [f" {{ttcore.argument_type = #ttcore.argument_type<{kind}>}}" if kind else "" for kind in kinds]
    x = f"tensor<{shape}xf32>"
    return f"""module {{
      {mesh}
      func.func @main(%x: {x}{noted[0]}, %w: tensor<3x3xf32>{noted[1]}, %b: {x}{noted[2]}) -> {x} {{
        %0 = stablehlo.dot_general %x, %w, contracting_dims = [{shape.count("x")}] x [0]
          : ({x}, tensor<3x3xf32>) -> {x}
        %1 = stablehlo.add %0, %b : {x}
        return %1 : {x}
      }}
    }}"""


ANALYSIS = "stablehlo-pipeline{mesh-shape=1,2 automatic-arg-analysis=true}"


@pytest.mark.parametrize("kinds", [["", "", ""], ["input", "parameter", "input"], ["input", "parameter", "parameter"]])
def test_arguments_without_shardings_are_cut_along_their_batches(kinds):
    text = batches(kinds, mesh='sdy.mesh @given = <["model"=1, "batch"=2]>')
    found = converted(text, ANALYSIS)
    assert 'sdy.mesh @mesh = <["default"=1, "batch"=2]>' in found
    assert '<@mesh, [{"batch"}, {}, {}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"batch"}, {}, {}, {}]>]' in found
    assert_runs_alike(text, f"{ANALYSIS},stablehlo-to-ttir-pipeline")


def test_batches_that_are_cut_unevenly_are_computed_as_a_whole_is():
    assert_runs_alike(batches(["", "", ""], "3x1x6x3"), f"{ANALYSIS},stablehlo-to-ttir-pipeline")


def test_inputs_alone_are_cut_whatever_their_rank_and_else_only_images():
    assert 'in_shardings=[<@mesh, [{"batch"}, {}]>' in converted(
        batches(["input", "parameter", "input"], "4x3"), ANALYSIS
    )
    assert '"batch"}' not in converted(batches(["", "", ""], "4x3"), ANALYSIS)


@pytest.mark.parametrize(
    ("text", "passes", "said"),
    [
        (batches(["", "", ""]), ANALYSIS.replace("1,2", "2,1"), "dim0 must be 1"),
        (batches(["input", "", "input"]), ANALYSIS, "and others not"),
        (
            batches(["", "", ""]),
            ANALYSIS.replace("automatic-arg-analysis", "enable-auto-sharding"),
            "no model of costs",
        ),
    ],
)
def test_what_is_not_cut_is_refused(text, passes, said):
    with pytest.raises(CompileError, match=said):
        converted(text, passes)


MASKED = """module {{
  func.func @main(%q: {x}, %k: {x}, %v: {x}) -> ({x}, {i}) {{
    %0:2 = stablehlo.composite "tenstorrent.sdpa_fw" %q, %k, %v
        {{composite_attributes = {{mask_type = {mask} : i32, dropout_probability = 0.0 : f32}}, decomposition = @impl}}
        : ({x}, {x}, {x}) -> ({x}, {i})
    return %0#0, %0#1 : {x}, {i}
  }}
  func.func private @impl(%q: {x}, %k: {x}, %v: {x}) -> ({x}, {i}) {{
    %0 = stablehlo.constant dense<0.0> : {i}
    return %q, %0 : {x}, {i}
  }}
}}"""


def test_composites_with_the_name_of_an_operation_of_ttir_become_it():
    types = {"x": "tensor<1x2x32x32xbf16>", "i": "tensor<1x2x32x32xf32>"}
    found = print_module(after_passes(MASKED.format(mask=1, **types), "legalize-stablehlo-composite-to-ttir"))
    assert "mask_type = #ttcore.attention_mask_type<causal>, return_intermediates = true" in found
    own = composite([0, 1, 2], [0], cut=False)
    assert "stablehlo.composite" in print_module(after_passes(own, "legalize-stablehlo-composite-to-ttir"))
    with pytest.raises(CompileError, match="`mask_type` is 0 to 2"):
        after_passes(MASKED.format(mask=3, **types), "legalize-stablehlo-composite-to-ttir")


def test_a_command_line_says_what_arguments_are_before_they_are_cut(tmp_path, capsys):
    (tmp_path / "text.mlir").write_text(batches(["", "", ""], "4x3"))
    options = "mesh-shape=1,2 argument-types=main=input,parameter,input automatic-arg-analysis"
    assert opt_main([f"--stablehlo-pipeline={options}", str(tmp_path / "text.mlir")]) == 0
    found = capsys.readouterr().out
    assert 'in_shardings=[<@mesh, [{"batch"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"batch"}, {}]>]' in found
    assert found.count("#ttcore.argument_type<input>") == 2
