"""Arguments and results say whether devices have their parts; `result-presharded` says it of results."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit.tools.cli import main, opt_main
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import load_binary_from_path
from ttnn_jit.ttmlir.ttmlir_runtime.submission import outputs_of

ANNOTATED = """module {
  sdy.mesh @mesh = <["x"=1, "batch"=2]>
  func.func public @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>})
      -> (tensor<4x6xf32>, tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}]>}, tensor<4x6xf32>) {
    %0 = stablehlo.add %x, %x : tensor<4x6xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    return %0, %1, %0 : tensor<4x6xf32>, tensor<6x4xf32>, tensor<4x6xf32>
  }
}"""

BY_HAND = """module {
  sdy.mesh @mesh = <["x"=1, "batch"=2]>
  func.func public @main(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6x4xf32>, tensor<4x6xf32>) {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,1]<=[2]}"} : (tensor<4x6xf32>)
      -> tensor<4x6xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<4x6xf32>)
      -> tensor<2x6xf32>
    %2 = stablehlo.add %1, %1 : tensor<2x6xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<2x6xf32>) -> tensor<6x2xf32>
    %4 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<2x6xf32>) -> tensor<2x6xf32>
    %5 = stablehlo.custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{devices=[2,1]<=[2]}"} : (tensor<2x6xf32>)
      -> tensor<4x6xf32>
    %6 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = "{manual}"} : (tensor<6x2xf32>) -> tensor<6x2xf32>
    %7 = stablehlo.custom_call @SPMDShardToFullShape(%6) {mhlo.sharding = "{devices=[1,2]<=[2]}"} : (tensor<6x2xf32>)
      -> tensor<6x4xf32>
    return %5, %7, %5 : tensor<4x6xf32>, tensor<6x4xf32>, tensor<4x6xf32>
  }
}"""

UNCUT = """module {
  func.func public @main(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6x4xf32>, tensor<4x6xf32>) {
    %0 = stablehlo.add %x, %x : tensor<4x6xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    return %0, %1, %0 : tensor<4x6xf32>, tensor<6x4xf32>, tensor<4x6xf32>
  }
}"""


def outputs(folder, text: str, kept: list[int], x: torch.Tensor) -> list[tuple[torch.Tensor, ...]]:
    """The outputs of the binary of a text on a mesh of two devices."""
    (folder / "text.mlir").write_text(text)
    said = f"--stablehlo-pipeline=mesh-shape=1,2 result-presharded={','.join(map(str, kept))}"
    lowered = ["--stablehlo-to-ttir-pipeline", "--ttir-to-ttnn-backend-pipeline=mesh-shape=1,2"]
    assert opt_main([said, *lowered, str(folder / "text.mlir"), "-o", str(folder / "ttnn.mlir")]) == 0
    written = ["--ttnn-to-flatbuffer", str(folder / "ttnn.mlir"), "-o", str(folder / "text.ttnn")]
    assert main(["translate", *written]) == 0
    return outputs_of(load_binary_from_path(str(folder / "text.ttnn")), 0, [[x]])


@pytest.mark.parametrize("text", [ANNOTATED, BY_HAND], ids=["annotated", "by hand"])
@pytest.mark.parametrize("kept", [[0, 1, 1], [1, 0, 0]])
def test_devices_keep_their_parts_of_presharded_results(tmp_path, text, kept):
    x = torch.randn(4, 6)
    wholes = [x + x, (x + x).T, x + x]
    for found, whole, is_kept, dim in zip(outputs(tmp_path, text, kept, x), wholes, kept, (0, 1, 0), strict=True):
        wanted = whole.chunk(2, dim) if is_kept else (whole,)
        assert len(found) == len(wanted)
        assert all(map(torch.equal, found, wanted))
    said = (tmp_path / "ttnn.mlir").read_text()
    assert said.count("shard_status<presharded>") == sum(kept)
    assert "mesh_shard" not in said
    assert said.count("shard_status<unsharded>") == 4 - sum(kept)  # the argument is a whole


def test_a_result_that_nothing_cuts_is_whole_on_each_device(tmp_path):
    x = torch.randn(4, 6)
    for found, whole in zip(outputs(tmp_path, UNCUT, [1, 1, 1], x), [x + x, (x + x).T, x + x], strict=True):
        assert all(torch.equal(each, whole) for each in found)


def test_there_is_a_word_for_each_result(tmp_path, capsys):
    (tmp_path / "text.mlir").write_text(UNCUT)
    assert opt_main(["--stablehlo-pipeline=result-presharded=1,1", str(tmp_path / "text.mlir")]) == 1
    assert "does not match the number of results in the function: 2, not 3" in capsys.readouterr().err


PARTS = {"annotated": ANNOTATED, "by hand": BY_HAND.replace("%x: tensor<4x6xf32>", "%x: tensor<4x6xf32> {CUT}")}


@pytest.mark.parametrize(("kind", "mesh"), [("annotated", "1,2"), ("annotated", "1,1"), ("by hand", "1,2")])
def test_arguments_and_results_say_whether_devices_have_their_parts(tmp_path, capsys, kind, mesh):
    text = PARTS[kind].replace("CUT", 'mhlo.sharding = "{devices=[2,1]<=[2]}"')
    (tmp_path / "text.mlir").write_text(text)
    assert (
        opt_main(
            [f"--stablehlo-pipeline=mesh-shape={mesh}", str(tmp_path / "text.mlir"), "-o", str(tmp_path / "out.mlir")]
        )
        == 0
    )
    (line,) = [each for each in (tmp_path / "out.mlir").read_text().splitlines() if "func.func" in each]
    part = "tensor<2x6xf32>" if mesh == "1,2" else "tensor<4x6xf32>"
    argument, _, results = line.partition("->")
    assert f"ttcore.local_shape = #ttcore<local_shape local_shape = {part}>" in argument
    assert "ttcore.shard_status = #ttcore.shard_status<presharded>" in argument
    assert results.count("ttcore.shard_status = #ttcore.shard_status<unsharded>") == 3
    assert "local_shape = tensor<6x4xf32>" in results
    capsys.readouterr()
    assert opt_main(["--stablehlo-pipeline", str(tmp_path / "out.mlir")]) == 1
    assert "has a local shape already" in capsys.readouterr().err


def test_a_function_of_ttir_takes_wholes(tmp_path):
    (tmp_path / "text.mlir").write_text(ANNOTATED)
    said = ["--stablehlo-pipeline=mesh-shape=1,2", "--stablehlo-to-ttir-pipeline"]
    assert opt_main([*said, str(tmp_path / "text.mlir"), "-o", str(tmp_path / "ttir.mlir")]) == 0
    text = (tmp_path / "ttir.mlir").read_text()
    assert "presharded" not in text
    assert "%arg0: tensor<4x6xf32> {ttcore.local_shape = #ttcore<local_shape local_shape = tensor<4x6xf32>>" in text
