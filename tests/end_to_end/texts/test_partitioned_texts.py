"""Texts of StableHLO with shardings run on the parts of their tensors, and `stablehlo-pipeline` partitions them."""

import re

import pytest
import torch

from tests.end_to_end.texts.converted_texts import assert_runs_alike, converted, ran
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.tools.cli import opt_main

MANUAL = """
module {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>]
        out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%a: tensor<4x2xf32>, %b: tensor<2x4xf32>) {
      %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
      %2 = "stablehlo.all_reduce"(%1) <{replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %3 = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %3 : tensor<f32>
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %2 : tensor<4x4xf32>
    } : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
"""


def test_a_manual_computation_runs_on_the_shards_of_every_device():
    (x, y), (found,) = ran(MANUAL)
    torch.testing.assert_close(found, x @ y)
    assert_runs_alike(MANUAL)


GSPMD = """
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%arg0: tensor<8x6xf32>) -> tensor<8x6xf32> {
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[4,1]<=[4]}"}
        : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"}
        : (tensor<8x6xf32>) -> tensor<2x6xf32>
    %2 = OP : (tensor<2x6xf32>) -> tensor<2x6xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<2x6xf32>) -> tensor<2x6xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[4,1]<=[4]}"}
        : (tensor<2x6xf32>) -> tensor<8x6xf32>
    return %4 : tensor<8x6xf32>
  }
}
"""
PERMUTE = (
    '"stablehlo.collective_permute"(%1) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}>'
)


def test_shards_of_annotated_tensors_are_exchanged():
    (x,), (found,) = ran(GSPMD.replace("OP", PERMUTE))
    torch.testing.assert_close(found, torch.cat([torch.zeros(2, 6), x[:6]]))
    assert_runs_alike(GSPMD.replace("OP", PERMUTE))


def test_shardings_alone_change_no_number():
    text = """
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x6xf32> {
    %0 = stablehlo.add %x, %x : tensor<4x6xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<4x6xf32>
    return %1 : tensor<4x6xf32>
  }
}
"""
    (x,), (found,) = ran(text)
    torch.testing.assert_close(found, x + x)


# --- Partitions ------------------------------------------------------------------------------------------------------

ANNOTATED = """
module {{
  sdy.mesh @mesh = <["x"=1, "y"={devices}]>
  func.func @main(%x: tensor<4x6xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}}) -> tensor<4x6xf32> {{
    %0 = sdy.sharding_constraint %x <@mesh, [{{"y"}}, {{}}]> : tensor<4x6xf32>
    %1 = stablehlo.negate %0 : tensor<4x6xf32>
    return %1 : tensor<4x6xf32>
  }}
}}
"""


def test_shardings_of_one_device_are_dropped():
    text = converted(ANNOTATED.format(devices=1), "stablehlo-pipeline,stablehlo-to-ttir-pipeline")
    assert "ttir.neg" in text
    assert "sdy" not in text


def test_a_function_with_shardings_becomes_a_manual_computation_on_parts():
    found = converted(ANNOTATED.format(devices=2), "stablehlo-pipeline")
    assert 'in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>]' in found
    assert "stablehlo.negate %arg1 : tensor<2x6xf32>" in found


REFUSED_SHARDINGS = {
    "the mesh has no axis 'z'": ANNOTATED.format(devices=2).replace('{"y"}', '{"z"}'),
    "exchanges parts outside of a manual computation": ANNOTATED.format(devices=2).replace(
        "stablehlo.negate %0 : tensor<4x6xf32>",
        '"stablehlo.collective_permute"(%0) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : '
        "(tensor<4x6xf32>) -> tensor<4x6xf32>",
    ),
}


@pytest.mark.parametrize("said", REFUSED_SHARDINGS)
def test_a_sharding_that_is_not_partitioned_is_refused_at_its_place(said):
    with pytest.raises(CompileError, match=said) as caught:
        converted(REFUSED_SHARDINGS[said], "stablehlo-pipeline")
    assert caught.value.location is not None


OF_XLA = """
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"},
      %w: tensor<4x6xf32> {mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"})
      -> (tensor<8x6xf32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{devices=[2,2]<=[4]}"}
        : (tensor<8x6xf32>) -> tensor<8x6xf32>
    return %1 : tensor<8x6xf32>
  }
}
"""


def test_shardings_of_xla_are_partitioned_along_a_new_mesh():
    found = converted(OF_XLA, "stablehlo-pipeline")
    assert found.count("stablehlo.all_gather") == 2
    assert re.search(r"dot_general .* : \(tensor<4x4xf32>, tensor<4x3xf32>\) -> tensor<4x3xf32>", found)
    assert_runs_alike(OF_XLA, "stablehlo-pipeline,stablehlo-to-ttir-pipeline")


def test_an_analysis_of_arguments_is_not_asked_for_where_shardings_are_stated(tmp_path, capsys):
    file = tmp_path / "text.mlir"
    stated = ' {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}'
    text = """module {
      sdy.mesh @mesh = <["model"=1, "batch"=2]>
      func.func @f(%a: tensor<4x32xf32>STATED) -> tensor<4x32xf32> {
        %0 = stablehlo.exponential %a : tensor<4x32xf32>
        return %0 : tensor<4x32xf32>
      }
    }"""
    options = ("--stablehlo-pipeline=mesh-shape=1,2 automatic-arg-analysis", str(file))
    file.write_text(text.replace("STATED", stated))
    assert opt_main(options) == 0
    assert "tensor<2x32xf32>" in capsys.readouterr().out
    file.write_text(text.replace("STATED", ""))
    assert opt_main(["--stablehlo-pipeline=enable-auto-sharding=true", str(file)]) == 1
    assert "text.mlir:3:7: error: the text states no sharding" in capsys.readouterr().err
    assert opt_main(["--stablehlo-pipeline=automatic-arg-analysis=true enable-auto-sharding=false", str(file)]) == 1
    assert "User did not provide a mesh" in capsys.readouterr().err
    assert opt_main(["--stablehlo-pipeline=mesh-shape=1,1 automatic-arg-analysis", str(file)]) == 0


XLA_SHARDY = """
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\22_axis_0\\22=2]>}"}} {
  func.func @main(%w: tensor<8x6xf32> {mhlo.frontend_attributes = {xla.sdy.sharding =
      "#sdy.sharding<@mesh, [{}, {\\22_axis_0\\22}]>"}, mhlo.sharding = "{devices=[1,2]<=[2]}"}, %x: tensor<4x6xf32>)
      -> (tensor<4x8xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}) {
    %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<8x6xf32>) -> tensor<6x8xf32>
    %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0]
        : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%1) {has_side_effect = true, mhlo.frontend_attributes =
        {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\\22_axis_0\\22}, {}]>]>"}}
        : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %2 : tensor<4x8xf32>
  }
}
"""


def test_shardings_in_attributes_of_a_frontend_are_those_of_shardy():
    found = converted(XLA_SHARDY, "stablehlo-pipeline")
    assert 'sdy.mesh @mesh = <["_axis_0_aux"=1, "_axis_0"=2]>' in found
    assert 'in_shardings=[<@mesh, [{}, {"_axis_0"}]>, <@mesh, [{}, {"_axis_0"}]>]' in found
    assert 'out_shardings=[<@mesh, [{"_axis_0"}, {}]>]' in found
    assert "stablehlo.all_reduce" in found
    w, x = torch.arange(48.0).remainder(5).reshape(8, 6), torch.arange(24.0).remainder(7).reshape(4, 6)
    (own,) = ran(converted(XLA_SHARDY, "stablehlo-pipeline,stablehlo-to-ttir-pipeline"), [w, x])[1]
    assert torch.equal(own, x @ w.T)


COMPOSITES = """
module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func private @norm(%x: tensor<2x4x6x8xf32>, %w: tensor<8xf32>) -> tensor<2x4x6x8xf32> {
    return %x : tensor<2x4x6x8xf32>
  }
  func.func private @twice(%x: tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> {
    %0 = stablehlo.add %x, %x : tensor<2x4x6x8xf32>
    return %0 : tensor<2x4x6x8xf32>
  }
  func.func @main(%x: tensor<2x4x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}, {}]>},
      %k: tensor<2x2x6x8xf32>, %w: tensor<8xf32>, %m: tensor<2x1x6x6xf32>) -> tensor<2x4x6x8xf32> {
    %0 = stablehlo.composite "tenstorrent.rms_norm" %x, %w {composite_attributes = {normalized_shape = dense<8> :
        tensor<1xi64>, epsilon = 1.0e-5 : f32}, decomposition = @norm}
        : (tensor<2x4x6x8xf32>, tensor<8xf32>) -> tensor<2x4x6x8xf32>
    %1 = stablehlo.composite "own.twice" %0 {decomposition = @twice} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
    %2 = stablehlo.custom_call @tt.scaled_dot_product_attention(%1, %k, %k, %m) {mhlo.frontend_attributes =
        {is_causal = "False"}} : (tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x1x6x6xf32>)
        -> tensor<2x4x6x8xf32>
    return %2 : tensor<2x4x6x8xf32>
  }
}
"""


def test_norms_and_attention_are_computed_on_parts_and_other_composites_are_flattened():
    found = converted(COMPOSITES, "stablehlo-pipeline")
    assert not re.search("all_gather|all_to_all|stablehlo.composite", found)
    assert "@tenstorrent.rms_norm" in found
    assert re.search(
        r"@tt.scaled_dot.* : \(tensor<1x2x6x8xf32>, tensor<1x1x6x8xf32>, tensor<1x1x6x8xf32>, tensor<1x1", found
    )
    as_ttir = converted(found, "stablehlo-to-ttir-pipeline")
    inputs, (own,) = ran(as_ttir)
    whole = converted(COMPOSITES.replace('"x"=2, "y"=2', '"x"=1, "y"=1'), "stablehlo-to-ttir-pipeline")
    torch.testing.assert_close(own, ran(whole, inputs)[1][0], rtol=1e-5, atol=1e-6)


def test_collectives_of_a_text_without_shardings_stay():
    text = REFUSED_SHARDINGS["exchanges parts outside of a manual computation"]
    bare = re.sub(r" \{sdy.sharding = .*?\]>\}|    %0 = sdy.*\n", "", text).replace("(%0)", "(%x)")
    found = converted(bare, "stablehlo-pipeline")
    assert "collective_permute" in found
    assert "manual_computation" not in found


@pytest.mark.parametrize(
    ("sharding", "mask", "part"),
    [
        ('[{"x"}, {}, {}]', "", "1x6x8"),
        ('[{}, {"x"}, {}]', "", "2x6x8"),
        ('[{"x"}, {}, {}]', "2x6x6", "1x6x8"),
        ('[{"x"}, {}, {}]', "2x1x6x6", "2x6x8"),
    ],
)
def test_attention_without_a_dimension_of_heads_is_cut_along_batches(sharding, mask, part):
    given, more, types = ("", "", "") if not mask else (f", %m: tensor<{mask}xf32>", ", %m", f", tensor<{mask}xf32>")
    found = converted(
        f"""sdy.mesh @mesh = <["x"=2]>
    func.func @main(%q: tensor<2x6x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}{given})
        -> tensor<2x6x8xf32> {{
      %0 = stablehlo.custom_call @tt.scaled_dot_product_attention(%q, %q, %q{more}) {{mhlo.frontend_attributes =
          {{is_causal = "False"}}}} : (tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>{types})
          -> tensor<2x6x8xf32>
      return %0 : tensor<2x6x8xf32>
    }}""",
        "stablehlo-pipeline",
    )
    assert re.search(rf"@tt.scaled_dot.* : \(tensor<{part}xf32>.*-> tensor<{part}xf32>", found)
    assert ("all_gather" in found) == (part == "2x6x8")
