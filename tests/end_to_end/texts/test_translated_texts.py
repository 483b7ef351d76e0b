"""Texts of other compilers as Python programs: they run, and the frontend makes the text's module of them again."""

from __future__ import annotations

import argparse
import inspect
import runpy
import sys
from pathlib import Path

import pytest
import torch

from tests.unit.frontend.stand_in import lowered
from ttnn_jit import ttnn
from ttnn_jit.compiler.texts.translated_programs import on_chip
from ttnn_jit.dialects import print_module
from ttnn_jit.frontend import FrontendRequest, TensorArgument, lower
from ttnn_jit.frontend.ir.device_lowering import DeviceLowering
from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.cli import main
from ttnn_jit.tools.texts.inputs import draw_inputs
from ttnn_jit.tools.texts.run_text import chosen_entries

NUMBERS = ", ".join(f"{each}.0" for each in range(40))
KEPT = f"""module {{
  func.func private @main_const_eval_0(%weight: tensor<5x3xf32>) -> tensor<3x5xf32> {{
    %0 = "ttir.permute"(%weight) <{{permutation = array<i64: 1, 0>}}> : (tensor<5x3xf32>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }}
  func.func private @main_const_eval_1() -> (tensor<4x3xf32>, tensor<1x40xf32>) {{
    %0 = "ttir.full"() <{{shape = array<i32: 4, 3>, fill_value = 2.0 : f32}}> : () -> tensor<4x3xf32>
    %1 = "ttir.full"() <{{shape = array<i32: 1, 40>, fill_value = 3.0 : f32}}> : () -> tensor<1x40xf32>
    return %0, %1 : tensor<4x3xf32>, tensor<1x40xf32>
  }}
  func.func @main(%x: tensor<4x5xf32>, %w: tensor<5x3xf32> {{ttir.name = "p.w"}})
      -> (tensor<4x3xf32>, tensor<1x40xf32>) {{
    %bias = "ttir.constant"() <{{value = dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>}}> : () -> tensor<1x3xf32>
    %row = "ttir.constant"() <{{value = dense<[[{NUMBERS}]]> : tensor<1x40xf32>}}> : () -> tensor<1x40xf32>
    %wt = ttcore.load_cached(@main_const_eval_0, [%w]) : (tensor<5x3xf32>) -> tensor<3x5xf32>
    %low, %by = ttcore.load_cached(@main_const_eval_1, []) : () -> (tensor<4x3xf32>, tensor<1x40xf32>)
    %total = "ttir.matmul"(%x, %wt) <{{transpose_b = true}}> : (tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<4x3xf32>
    %1 = "ttir.add"(%total, %bias) : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
    %2 = "ttir.maximum"(%1, %low) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %3 = "ttir.multiply"(%row, %by) : (tensor<1x40xf32>, tensor<1x40xf32>) -> tensor<1x40xf32>
    return %2, %3 : tensor<4x3xf32>, tensor<1x40xf32>
  }}
}}
"""
WINDOWS = """func.func @windows(%image: tensor<1x8x8x3xf32>, %kernel: tensor<4x3x3x3xf32>, %flow: tensor<1x4x8x8x3xf32>,
    %taps: tensor<4x3x1x3x3xf32>) -> (tensor<1x8x8x4xf32>, tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>, tensor<5xf32>,
    tensor<1x16x24x3xf32>, tensor<1x1x1x3xf32>, tensor<1x4x8x8x4xf32>) {
  %features = "ttir.conv2d"(%image, %kernel) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32,
    groups = 1 : i32}> : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<1x8x8x4xf32>
  %highest = "ttir.max_pool2d"(%image) <{kernel = array<i32: 2, 2>, stride = array<i32: 2, 2>,
    dilation = array<i32: 1, 1>, padding = array<i32: 0, 0, 0, 0>, ceil_mode = false}>
    : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
  %mean = "ttir.avg_pool2d"(%image) <{kernel = array<i32: 2, 2>, stride = array<i32: 2, 2>,
    dilation = array<i32: 1, 1>, padding = array<i32: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = true}>
    : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
  %count = "ttir.arange"() <{start = 0 : si64, end = 5 : si64, step = 1 : si64, arange_dimension = 0 : i64}>
    : () -> tensor<5xf32>
  %larger = "ttir.upsample2d"(%image) <{scale_factor = array<i32: 2, 3>, mode = "bilinear"}>
    : (tensor<1x8x8x3xf32>) -> tensor<1x16x24x3xf32>
  %all = "ttir.global_avg_pool2d"(%image) : (tensor<1x8x8x3xf32>) -> tensor<1x1x1x3xf32>
  %deep = "ttir.conv3d"(%flow, %taps) <{stride = array<i32: 1, 1, 1>, padding = array<i32: 0, 1, 1>, groups = 1 : i32,
    padding_mode = "zeros"}> : (tensor<1x4x8x8x3xf32>, tensor<4x3x1x3x3xf32>) -> tensor<1x4x8x8x4xf32>
  return %features, %highest, %mean, %count, %larger, %all, %deep : tensor<1x8x8x4xf32>, tensor<1x4x4x3xf32>,
    tensor<1x4x4x3xf32>, tensor<5xf32>, tensor<1x16x24x3xf32>, tensor<1x1x1x3xf32>, tensor<1x4x8x8x4xf32>
}
"""
STABLEHLO = """func.func public @main(%logits: tensor<4x8xf64>, %keep: tensor<4x8xi1>) -> tensor<4x8xf64> {
  %zero = stablehlo.constant dense<0.0> : tensor<4x8xf64>
  %masked = stablehlo.select %keep, %logits, %zero : tensor<4x8xi1>, tensor<4x8xf64>
  %out = stablehlo.exponential %masked : tensor<4x8xf64>
  return %out : tensor<4x8xf64>
}
"""
SEVERAL = """func.func @first(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = "ttir.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @second() -> tensor<2x2xf32> {
  %y = "ttir.ones"() <{shape = array<i32: 2, 2>}> : () -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
"""
CUT, JOINED = (
    f"shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<{each}>"
    for each in ("full_to_shard", "shard_to_full")
)
MESH = f"""module attributes {{ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>}} {{
  func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>)
      -> (tensor<8x8xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {{
    %0 = "ttir.mesh_shard"(%x) <{{shard_dims = array<i64: 0, 1>, shard_shape = array<i64: 2, 4>, {CUT}}}>
      : (tensor<8x16xf32>) -> tensor<4x4xf32>
    %1 = "ttir.mesh_shard"(%w) <{{shard_dims = array<i64: -1, 0>, shard_shape = array<i64: 4, 1>, {CUT}}}>
      : (tensor<16x8xf32>) -> tensor<4x8xf32>
    %2 = "ttir.matmul"(%0, %1) : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %sum = "ttir.all_reduce"(%2) <{{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}}>
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = "ttir.add"(%sum, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %5 = "ttir.mesh_shard"(%4) <{{shard_dims = array<i64: 0, -1>, shard_shape = array<i64: 2, 1>, {JOINED}}}>
      : (tensor<4x8xf32>) -> tensor<8x8xf32>
    %6 = "ttir.exp"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %7 = "ttir.mesh_shard"(%6) <{{shard_dims = array<i64: 0, 1>, shard_shape = array<i64: 2, 4>, {JOINED}}}>
      : (tensor<4x4xf32>) -> tensor<8x16xf32>
    %8 = "ttir.neg"(%7) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %5, %7, %8 : tensor<8x8xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }}
}}
"""
PERMUTED = """module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %y = "ttir.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}>
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}
"""
ANNOTATED = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%x: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}, %w: tensor<16x8xf32>)
    -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<16x16xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
"""
ASKED = argparse.Namespace(target=None, mesh=None, entry=None)


@pytest.fixture
def translate(tmp_path, monkeypatch):
    """Translates a text, runs the program's definitions, and gives them, and the entry points of the text."""
    monkeypatch.setitem(sys.modules, "ttnn", ttnn)

    def run(text: str):
        source, file = tmp_path / "model.mlir", tmp_path / "model.py"
        source.write_text(text)
        assert main(["translate", "--mlir-to-python", str(source), "-o", str(file)]) == 0
        return runpy.run_path(str(file)), chosen_entries(ASKED, text, "model.mlir", on_chip)

    return run


@pytest.mark.parametrize("text", [KEPT, WINDOWS, STABLEHLO, SEVERAL], ids=["kept", "windows", "stablehlo", "several"])
def test_a_translated_text_gives_its_results_and_its_module(text, translate):
    names, entries = translate(text)
    for module, name in entries:
        program = module.program(name)
        if program.lowered.specs:
            made = lowered(names[name], *program.lowered.specs, target=PRESETS["cpu"]).module
            assert print_module(made) == print_module(program.lowered.module)
        inputs = draw_inputs(module.functions[name], program.arguments, 0)
        device = Device(PRESETS["cpu"])
        given = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in inputs]
        more = names["prepare"](device, *given) if "prepare" in names else []
        found = names[name](*([*given, *more] or [device]))
        wanted = program(*inputs)
        for own, other in zip(found if isinstance(found, tuple) else [found], wanted, strict=True):
            torch.testing.assert_close(ttnn.to_torch(own), other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("padding", "shape"), [("0, 0, 0, 0", "1x4x7x3"), ("1, 0, 1, 1", "1x5x8x3")])
def test_indices_of_windows_are_those_of_the_call_that_gives_both(translate, padding, shape):
    text = f"""func.func @indices(%image: tensor<1x8x8x3xf32>) -> tensor<{shape}xi32> {{
      %most, %where = "ttir.max_pool2d_with_indices"(%image) <{{kernel = array<i32: 2, 2>, stride = array<i32: 2, 1>,
        dilation = array<i32: 1, 1>, padding = array<i32: {padding}>, ceil_mode = false}}>
        : (tensor<1x8x8x3xf32>) -> (tensor<{shape}xf32>, tensor<{shape}xi32>)
      return %where : tensor<{shape}xi32>
    }}"""
    names, ((module, name),) = translate(text)
    (image,) = draw_inputs(module.functions[name], module.program(name).arguments, 0)
    given = ttnn.from_torch(image, layout=ttnn.TILE_LAYOUT, device=Device(PRESETS["cpu"]))
    assert torch.equal(ttnn.to_torch(names[name](given)).long(), module.program(name)(image)[0].long())


def agrees_on_a_mesh(names, module, name):
    """Checks that the function of a text for several devices gives its module, and its results."""
    shape = MeshShape(*module.mesh)
    devices = MeshDevices(shape, tuple(range(shape.mesh_size())))
    on_device = DeviceLowering(module.functions, module.target, name, module.mesh)
    own = on_device.lower_on_device(module.functions[name]).lowered
    parameters = inspect.signature(names[name]).parameters
    arguments = {each: TensorArgument(spec) for each, spec in zip(parameters, own.specs, strict=True)}
    request = FrontendRequest(names[name], arguments, module.target, False, devices=devices)
    assert print_module(lower(request).module) == print_module(own.module)
    program = module.program(name)
    inputs = draw_inputs(module.functions[name], program.arguments, 0)
    device = ttnn.open_mesh_device(shape, target="cpu")
    found = names["aggregate"](names[name](*names["distribute"](device, *inputs)))
    for mine, other in zip(found, program(*inputs), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("text", [MESH, ANNOTATED], ids=["mesh_shard", "annotated"])
def test_a_text_for_several_devices_becomes_a_program_of_a_mesh(text, translate, capsys, tmp_path):
    names, ((module, name),) = translate(text)
    agrees_on_a_mesh(names, module, name)
    runpy.run_path(str(tmp_path / "model.py"), run_name="__main__")
    assert "tensor" in capsys.readouterr().out


def test_a_whole_tensor_that_is_read_further_is_gathered(translate, tmp_path):
    translate(MESH)
    source = (tmp_path / "model.py").read_text()
    assert "    all_gather = ttnn.all_gather(exp, dim=1, cluster_axis=1)\n" in source
    assert "ttnn.MeshMapperConfig([ttnn.PlacementReplicate(), ttnn.PlacementShard(0)])" in source
    assert "ttnn.open_mesh_device(ttnn.MeshShape(2, 4))" in source


def test_constants_of_many_numbers_lie_beside_the_program_and_names_are_those_of_the_text(translate, tmp_path):
    translate(KEPT)
    source = (tmp_path / "model.py").read_text()
    assert "def main(x, p_w, bias, row, wt, low, by):\n    total = ttnn.matmul(x, wt, transpose_b=True)\n" in source
    assert "    wt = main_const_eval_0(p_w)\n" in source
    assert [*torch.load(tmp_path / "model.pt")] == ["row"]


def test_a_program_of_several_entry_points_calls_each(translate, capsys, tmp_path, monkeypatch):
    translate(SEVERAL)
    monkeypatch.setattr(ttnn, "open_device", lambda **_: Device(PRESETS["cpu"]))
    runpy.run_path(str(tmp_path / "model.py"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "shape=Shape([4, 8])" in shown
    assert "shape=Shape([2, 2])" in shown


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PERMUTED, "model.mlir:3:5: `ttir.collective_permute` has no call in ttnn that each device makes"),
        (KEPT, "the program has constants of more than 32 numbers, which lie in a file beside it"),
    ],
    ids=["mesh", "no file"],
)
def test_a_text_that_is_not_translated_is_refused_and_nothing_is_written(text, reason, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("model.mlir").write_text(text)
    assert main(["translate", "--mlir-to-python", "model.mlir"]) == 1
    caught = capsys.readouterr()
    assert reason in caught.err
    assert caught.out == ""
    assert [each.name for each in tmp_path.iterdir()] == ["model.mlir"]


def emitted(tmp_path, result: str, lines: str) -> int:
    text = f"func.func @main(%x: tensor<4x8xi32>) -> {result} {{\n{lines}\n}}"
    (tmp_path / "text.mlir").write_text(text)
    return main(["translate", "--mlir-to-python", str(tmp_path / "text.mlir"), "-o", str(tmp_path / "text.py")])


@pytest.mark.parametrize("word", ["logical_or", "logical_xor", "maximum", "ne"])
def test_flags_are_numbers_of_a_type_that_ttnn_has(tmp_path, word):
    lines = """%0 = "ttir.gt"(%x, %x) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
      %1 = "ttir.typecast"(%x) : (tensor<4x8xi32>) -> tensor<4x8xi1>
      %2 = "ttir.WORD"(%0, %1) : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
      %3 = "ttir.typecast"(%2) : (tensor<4x8xi1>) -> tensor<4x8xf32>
      return %3 : tensor<4x8xf32>"""
    assert emitted(tmp_path, "tensor<4x8xf32>", lines.replace("WORD", word)) == 0
    program = runpy.run_path(str(tmp_path / "text.py"))
    x = torch.randint(-1, 2, (4, 8), dtype=torch.int32)
    device = ttnn.open_device(device_id=0)
    given = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    assert torch.equal(ttnn.to_torch(program["main"](given)), (x != 0).float())


def test_types_that_ttnn_lacks_are_refused_where_a_program_would_name_them(tmp_path, capsys):
    lines = """%0 = "ttir.mean"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x8xi32>) -> tensor<4x1xi32>
      return %0 : tensor<4x1xi32>"""
    assert emitted(tmp_path, "tensor<4x1xi32>", lines) == 1
    said = capsys.readouterr().err
    assert "text.mlir:2:1: `ttnn.typecast`: ttnn has no tensors of float64" in said
    assert not (tmp_path / "text.py").exists()
