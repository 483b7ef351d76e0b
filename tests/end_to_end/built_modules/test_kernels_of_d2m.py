"""Texts of d2m: kernels, masks and views give the numbers of torch, before and after `d2m-to-ttmetal-pipeline`."""

import re

import pytest
import torch

import ttnn_jit
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.tools.cli import main

ttnn_jit.register_as_ttnn()

from _ttmlir_runtime import binary, runtime  # noqa: E402 - found where `register_as_ttnn` was called
from ttmlir import passes  # noqa: E402
from ttmlir.dialects import arith, d2m, tensor, ttcore  # noqa: E402
from ttmlir.ir import (  # noqa: E402
    AffineMap,
    Context,
    IndexType,
    InsertionPoint,
    Location,
    MLIRError,
    Module,
    RankedTensorType,
)
from ttmlir.passmanager import PassManager  # noqa: E402

from ttnn_jit.compiler.texts import metal_pipeline  # noqa: E402
from ttnn_jit.compiler.texts.metal_pipeline import MetalPipelineOfTexts  # noqa: E402
from ttnn_jit.compiler.texts.text_programs import TextModule  # noqa: E402
from ttnn_jit.dialects.upstream.context import UpstreamContext  # noqa: E402
from ttnn_jit.frontend.ir.texts import parse_texts  # noqa: E402
from ttnn_jit.specs.target import resolve_target  # noqa: E402

STAGES = "ttcore-register-device,d2m-lower-to-layout,canonicalize,d2m-allocate,d2m-be-pipeline,d2m-to-ttmetal-pipeline"


def layout(shape, aligned="32x32", memory="l1, sharded"):
    return (
        f"#ttcore.metal_layout<logical_shape = {shape}, dim_alignments = {aligned}, "
        f"collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, {memory}>"
    )


def tiles(extents, shape, word="f32", aligned="32x32"):
    return f"tensor<{extents}x!ttcore.tile<32x32, {word}>, {layout(shape, aligned)}>"


def lowered(text, pipeline=STAGES):
    module = Module.parse(text)
    PassManager.parse(f"builtin.module({pipeline})").run(module.operation)
    return module


def results(text, *inputs):
    """The results of a text as it is, and of the binary of its kernels."""
    (module,) = parse_texts(text, "kernels")
    direct = TextModule(module, resolve_target("cpu")).program("f")(*inputs)
    made = binary.load_binary_from_capsule(passes.ttmetal_to_flatbuffer_bin(lowered(text)))
    kernels = made.text_module.program("f")(*inputs)
    return direct, kernels


def assert_gives(text, inputs, *wanted):
    for found in results(text, *inputs):
        assert len(found) == len(wanted)
        assert all(torch.equal(one, each) for one, each in zip(found, wanted, strict=True))


MATMUL = """
!x = tensor<1x2x!ttcore.tile<32x32, f32>>
!y = tensor<2x1x!ttcore.tile<32x32, f32>>
!z = tensor<1x1x!ttcore.tile<32x32, f32>>
#m = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#p = #ttcore.iterator_type<parallel>
#r = #ttcore.iterator_type<reduction>
func.func @f(%a: tensor<64x128xf32>, %b: tensor<128x96xf32>) -> tensor<64x96xf32> {{
  %ea = d2m.empty() : {left}
  %la = d2m.to_layout %a, %ea : tensor<64x128xf32> into {left} -> {left}
  %eb = d2m.empty() : {right}
  %lb = d2m.to_layout %b, %eb : tensor<128x96xf32> into {right} -> {right}
  %out = d2m.empty() : {out}
  %c = d2m.generic {{block_factors = [1, 1, 2], grid = #ttcore.grid<2x3>, indexing_maps = [#m, #n, #o],
                    iterator_types = [#p, #p, #r], threads = [#d2m.thread<unified>]}}
      ins(%la, %lb : {left}, {right})
      outs(%out : {out}) {{
    %i = d2m.block_index(0) : index
    %j = d2m.block_index(1) : index
    %l = d2m.block_index(2) : index
    %b0 = tensor.empty() : !x
    %x = d2m.remote_load %b0 %la[%i, %l] : !x, {left} -> !x
    %b1 = tensor.empty() : !y
    %y = d2m.remote_load %b1 %lb[%l, %j] : !y, {right} -> !y
    %z = tensor.empty() : !z
    "d2m.tile_matmul_block"(%x, %y, %z) : (!x, !y, !z) -> ()
    %s = d2m.remote_store %out[%i, %j] %z : {out}, !z -> {out}
    d2m.yield %s : ({out})
  }} : {out}
  %eh = d2m.empty() : tensor<64x96xf32>
  %h = d2m.to_layout %c, %eh : {out} into tensor<64x96xf32> -> tensor<64x96xf32>
  return %h : tensor<64x96xf32>
}}
"""


def test_blocks_of_a_reduction_dimension_are_added():
    text = MATMUL.format(
        left=tiles("2x2x1x2", "64x128"), right=tiles("2x3x2x1", "128x96"), out=tiles("2x3x1x1", "64x96")
    )
    a, b = torch.randint(-4, 5, (64, 128)).float(), torch.randint(-4, 5, (128, 96)).float()
    assert_gives(text, (a, b), a @ b)  # sums of small integers are exact in any order


@pytest.mark.parametrize(("word", "number"), [("zero", 0.0), ("one", 1.0), ("inf", torch.inf), ("neginf", -torch.inf)])
def test_a_mask_fills_the_padding(word, number):
    padded, whole = tiles("1x1x2x2", "40x33", aligned="64x64"), tiles("1x1x2x2", "64x64")
    text = f"""
    func.func @f(%a: tensor<40x33xf32>) -> tensor<64x64xf32> {{
      %e0 = d2m.empty() : {padded}
      %0 = d2m.to_layout %a, %e0 : tensor<40x33xf32> into {padded} -> {padded}
      %e1 = d2m.empty() : {padded}
      %1 = "d2m.mask"(%0, %e1) <{{logicalShape = array<i64: 40, 33>, fill_value = #ttcore.oob_val<{word}>}}>
          : ({padded}, {padded}) -> {padded}
      %2 = d2m.view_layout %1 remapping = affine_map<(a, b, c, d) -> (a, b, c, d)> {{reinterpretLayout = true}}
          : {padded} -> {whole}
      %e3 = d2m.empty() : tensor<64x64xf32>
      %3 = d2m.to_layout %2, %e3 : {whole} into tensor<64x64xf32> -> tensor<64x64xf32>
      return %3 : tensor<64x64xf32>
    }}"""
    x = torch.randn(40, 33)
    wanted = torch.full((64, 64), number)
    wanted[:40, :33] = x
    assert_gives(text, (x,), wanted)


def test_a_view_of_tiles_as_rows_shows_their_faces():
    tiled, rows = tiles("1x1x1x2", "32x64"), f"tensor<1x1x32x64xf32, {layout('32x64')}>"
    text = f"""
    func.func @f(%a: tensor<32x64xf32>) -> tensor<32x64xf32> {{
      %e0 = d2m.empty() : {tiled}
      %0 = d2m.to_layout %a, %e0 : tensor<32x64xf32> into {tiled} -> {tiled}
      %1 = d2m.view_layout %0 remapping = affine_map<(a, b, c, d) -> (a, b, c, d)> {{reinterpretLayout = true}}
          : {tiled} -> {rows}
      %e2 = d2m.empty() : tensor<32x64xf32>
      %2 = d2m.to_layout %1, %e2 : {rows} into tensor<32x64xf32> -> tensor<32x64xf32>
      return %2 : tensor<32x64xf32>
    }}"""
    x = torch.arange(32.0 * 64).reshape(32, 64)
    faces = x.reshape(2, 16, 2, 2, 16).permute(2, 0, 3, 1, 4)  # tile, face's row, face's column, row, column
    assert_gives(text, (x,), faces.reshape(32, 64))


def test_tiles_of_block_floats_round_what_passes_through_them():
    held = tiles("2x1x1x2", "64x64", word="bfp_bf8")
    text = f"""
    func.func @f(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {{
      %e0 = d2m.empty() : {held}
      %0 = d2m.to_layout %a, %e0 : tensor<64x64xf32> into {held} -> {held}
      %e1 = d2m.empty() : tensor<64x64xf32>
      %1 = d2m.to_layout %0, %e1 : {held} into tensor<64x64xf32> -> tensor<64x64xf32>
      return %1 : tensor<64x64xf32>
    }}"""
    x = torch.randn(64, 64)
    exponents = torch.frexp(x.reshape(64, 4, 16).abs().amax(-1, keepdim=True))[1]
    step = torch.exp2(exponents.float() - 7)  # seven bits of magnitude below the largest exponent of 16 elements
    for (found,) in results(text, x):
        scaled = found.reshape(64, 4, 16) / step
        assert torch.equal(scaled, scaled.round())
        assert ((found - x).reshape(64, 4, 16).abs() <= step).all()


# --- Errors -----------------------------------------------------------------------------------------------------------


def test_an_operation_that_is_not_executed_in_a_kernel_is_refused_at_its_place():
    text = MATMUL.format(
        left=tiles("2x2x1x2", "64x128"), right=tiles("2x3x2x1", "128x96"), out=tiles("2x3x1x1", "64x96")
    )
    text = text.replace("%i = d2m.block_index(0) : index", "%i = d2m.core_index(0) : index")
    (module,) = parse_texts(text, "kernels.mlir")
    with pytest.raises(CompileError, match=r"`d2m.core_index` is not executed in a kernel") as caught:
        TextModule(module, resolve_target("cpu")).program("f")
    assert caught.value.location.line == text[: text.index("d2m.core_index")].count("\n") + 1


def test_a_stage_without_the_pipeline_behind_it_is_refused():
    with pytest.raises(MLIRError, match="`d2m-allocate` is not run alone here"):
        lowered("module {}", "ttcore-register-device,d2m-allocate")
    with pytest.raises(MLIRError, match="no option `nope`"):
        lowered("module {}", "ttcore-register-device,d2m-allocate{nope=1},d2m-to-ttmetal-pipeline")


def test_moves_without_a_device_and_onto_grids_that_divide_nothing_are_refused():
    tiled = tiles("1x1x1x2", "32x64")
    text = f"""
    func.func @f(%a: tensor<32x64xf32>) -> {tiled} {{
      %0 = d2m.empty() : {tiled}
      %1 = d2m.to_layout %a, %0 : tensor<32x64xf32> into {tiled} -> {tiled}
      return %1 : {tiled}
    }}"""
    with pytest.raises(MLIRError, match="no device is registered"):
        lowered(text, "d2m-lower-to-layout")
    with pytest.raises(MLIRError, match=r"a grid of \[1, 3\] does not divide the physical shape"):
        lowered(text.replace("1x1x1x2x!", "1x3x1x2x!"), "ttcore-register-device,d2m-lower-to-layout")


# --- Bindings ---------------------------------------------------------------------------------------------------------


def test_layouts_say_the_shape_of_a_device():
    with Context() as context, Location.unknown():
        space, kind = ttcore.MemorySpace.DeviceL1, ttcore.TensorMemoryLayout.Sharded
        made = ttcore.ir.MetalLayoutAttr.get(context, [3, 40, 100], space, kind)
        held = ttcore.ir.MetalLayoutAttr.maybe_downcast(made)
        assert held.getDeviceShape([3, 2], []) == [3, 2, 64, 64]
        assert held.getDeviceShape([3, 2], [32, 32]) == [3, 2, 2, 2]
        found = d2m.ir.calculate_reblock_map([1, 1, 4, 4], [2, 2, 2, 2], context)
        assert AffineMap.get_identity(4) == d2m.ir.calculate_reblock_map([1, 2, 3, 4], [1, 2, 3, 4], context)
        assert "floordiv 4" in str(found)
        tile = ttcore.ir.TileType.get(context, 32, 32, ttcore.DataType.BFloat16)
        assert str(ttcore.ir.TileType.maybe_downcast(tile).data_type) == "DataType.BFloat16"


def test_constants_and_empty_tensors_are_made_of_types():
    with Context(), Location.unknown():
        module = Module.create()
        with InsertionPoint(module.body):
            index = arith.constant(IndexType.get(), 3)
            made = tensor.empty([2, 3], index.type)
        assert str(index.type) == "index"
        assert made.type == RankedTensorType.get([2, 3], IndexType.get())
        assert runtime.DataType.Float32 is not None


# --- Moves of TTIR, the command line, hooks ---------------------------------------------------------------------------

SPREAD, WHOLE = tiles("2x3x1x1", "64x96"), tiles("1x1x2x3", "64x96")
MOVES = f"""
func.func @f(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {{
  %0 = ttir.empty() : {SPREAD}
  %1 = ttir.to_layout %x, %0 : tensor<64x96xf32> into {SPREAD} -> {SPREAD}
  %2 = ttir.empty() : {WHOLE}
  %3 = ttir.to_layout %1, %2 : {SPREAD} into {WHOLE} -> {WHOLE}
  %4 = ttir.empty() : tensor<64x96xf32>
  %5 = ttir.to_layout %3, %4 : {WHOLE} into tensor<64x96xf32> -> tensor<64x96xf32>
  return %5 : tensor<64x96xf32>
}}
"""


def test_moves_of_ttir_are_lowered_as_those_of_d2m():
    stages = []
    module = Module.parse(MOVES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metal_pipeline, "lower_to_d2m", lambda held, _: stages.append({op.name for op in held.walk()}))
        MetalPipelineOfTexts().apply(UpstreamContext.make(), module.held.clone())
    assert {"d2m.to_device", "d2m.generic", "d2m.remote_load", "d2m.to_host"} <= stages[0]
    passes.ttir_to_ttmetal_backend_pipeline(module)
    x = torch.randn(64, 96)
    (found,) = passes.ttmetal_to_flatbuffer_bin(module).text_module.program("f")(x)
    assert torch.equal(found, x)


def test_the_command_line_lowers_moves_and_runs_what_it_leaves(tmp_path, capsys):
    file, after = tmp_path / "moves.mlir", tmp_path / "lowered.mlir"
    file.write_text(MOVES.replace("ttir.empty", "d2m.empty").replace("ttir.to_layout", "d2m.to_layout"))
    assert main(["opt", "--ttcore-register-device", "--d2m-lower-to-layout", str(file), "-o", str(after)]) == 0
    assert {"d2m.remote_load", "d2m.view_layout"} <= {*re.findall(r"d2m\.\w+", after.read_text())}
    printed = []
    for each in (file, after):
        assert main(["run", str(each)]) == 0
        printed.append(capsys.readouterr().out)
        assert main(["run", "--golden", str(each)]) == 1
        told = capsys.readouterr().err
        assert re.search(r"\.mlir:\d+:\d+: `d2m\.\w+` has no golden: texts of d2m run as a whole, not op by op", told)
        assert "`ttnn-jit compare` compares it" in told
    assert main(["compare", str(file), str(after)]) == 0
    assert "equal" in capsys.readouterr().out
    assert printed[0] == printed[1]
    assert "tensor(" in printed[0]
    assert main(["opt", "--ttcore-register-device", "--d2m-allocate", str(file)]) == 1
    assert "`d2m-allocate` is not run alone here" in capsys.readouterr().err


def test_hooks_are_called_around_the_whole_of_kernels():
    module = Module.parse(MOVES)
    passes.ttir_to_ttmetal_backend_pipeline(module)
    made = passes.ttmetal_to_flatbuffer_bin(module)
    called = []
    hooks = runtime.DebugHooks(
        pre_program=lambda *_: called.append("before"),
        post_op=lambda *_: called.append("op"),
        post_program=lambda *_: called.append("after"),
    )
    x = torch.randn(64, 96)
    ((found,),) = hooks.run(made, 0, [x])
    assert torch.equal(found, x)
    assert called == ["before", "after"]
