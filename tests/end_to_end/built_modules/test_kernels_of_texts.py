"""`ttir_to_ttmetal_backend_pipeline` leaves scheduled kernels of d2m, and its binary executes those, never the TTIR."""

import pytest
import torch

import ttnn_jit
from ttnn_jit.tools.cli import main

ttnn_jit.register_as_ttnn()

from _ttmlir_runtime import binary, runtime  # noqa: E402 - found where `register_as_ttnn` was called
from ttmlir import passes  # noqa: E402
from ttmlir.ir import MLIRError, Module  # noqa: E402
from ttmlir.passmanager import PassManager  # noqa: E402

TEXT = """
module {
  func.func @first(%a: tensor<40x64xf32>, %b: tensor<64x24xf32>) -> (tensor<24x40xf32>, tensor<40xf32>) {
    %0 = "ttir.matmul"(%a, %b) : (tensor<40x64xf32>, tensor<64x24xf32>) -> tensor<40x24xf32>
    %1 = "ttir.exp"(%0) : (tensor<40x24xf32>) -> tensor<40x24xf32>
    %2 = "ttir.permute"(%1) <{permutation = array<i64: 1, 0>}> : (tensor<40x24xf32>) -> tensor<24x40xf32>
    %3 = "ttir.sum"(%a) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<40x64xf32>) -> tensor<40xf32>
    return %2, %3 : tensor<24x40xf32>, tensor<40xf32>
  }
  func.func @second(%a: tensor<4x32xi32>) -> tensor<2x64xi32> {
    %0 = "ttir.constant"() <{value = dense<3> : tensor<4x32xi32>}> : () -> tensor<4x32xi32>
    %1 = "ttir.add"(%a, %0) : (tensor<4x32xi32>, tensor<4x32xi32>) -> tensor<4x32xi32>
    %2 = "ttir.reshape"(%1) <{shape = [2 : i32, 64 : i32]}> : (tensor<4x32xi32>) -> tensor<2x64xi32>
    return %2 : tensor<2x64xi32>
  }
}
"""


def submitted(module, index, *inputs):
    made = binary.load_binary_from_capsule(passes.ttmetal_to_flatbuffer_bin(module))
    device = runtime.open_mesh_device(runtime.MeshDeviceOptions())
    given = [
        runtime.create_owned_host_tensor(
            each.data_ptr(), list(each.shape), list(each.stride()), each.element_size(), kind
        )
        for each, kind in ((each, DTYPES[each.dtype]) for each in inputs)
    ]
    found = []
    for each in runtime.submit(device, made, index, given):
        shape, dtype = each.get_shape(), {value: key for key, value in DTYPES.items()}[each.get_dtype()]
        result = torch.empty(shape, dtype=dtype)
        runtime.memcpy(result.data_ptr(), each)
        found.append(result)
    return found


DTYPES = {torch.float32: runtime.DataType.Float32, torch.int32: runtime.DataType.Int32}


def test_the_kernels_that_the_pipeline_left_are_executed():
    module = Module.parse(TEXT)
    passes.ttir_to_ttmetal_backend_pipeline(module, "override-device-shape=1,1 num-stream-buffers=2")
    text = str(module)
    assert "ttir." not in text
    assert text.count("d2m.generic") >= 4
    assert "d2m.acquire_dst" in text
    a, b = torch.randn(40, 64), torch.randn(64, 24)
    product, total = submitted(module, 0, a, b)
    torch.testing.assert_close(product, torch.exp(a @ b).T, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(total, a.sum(1), rtol=1e-4, atol=1e-4)
    numbers = torch.arange(128, dtype=torch.int32).reshape(4, 32)
    (moved,) = submitted(module, 1, numbers)
    assert torch.equal(moved, (numbers + 3).reshape(2, 64))


def test_an_edited_kernel_is_what_runs():
    module = Module.parse(TEXT)
    PassManager.parse("builtin.module(ttir-to-ttmetal-pipeline{use-tile-matmul=true})").run(module.operation)
    (constant,) = [op for op in module.held.walk() if op.name == "d2m.tile_exp"]
    sine = next(kind for kind in _tile_ops() if kind.name == "d2m.tile_sin")
    other = sine.create(operands=constant.operands, result_types=constant.result_types)
    constant.parent_block().insert_ops_before([other], constant)
    constant.results[0].replace_all_uses_with(other.results[0])
    constant.detach()
    a, b = torch.randn(40, 64), torch.randn(64, 24)
    product, _ = submitted(module, 0, a, b)
    torch.testing.assert_close(product, torch.sin(a @ b).T, rtol=1e-4, atol=1e-4)


def _tile_ops():
    from ttnn_jit.dialects.d2m import TILE_OP_OF

    return TILE_OP_OF.classes()


def test_options_that_no_pipeline_has_are_refused():
    with pytest.raises(MLIRError, match="`ttir-to-ttmetal-pipeline` has no option `fast`"):
        passes.ttir_to_ttmetal_backend_pipeline(Module.parse(TEXT), "fast=true")
    with pytest.raises(MLIRError, match="`ttnn-mode=true` takes modules with layouts"):
        passes.ttir_to_ttmetal_backend_pipeline(Module.parse(TEXT), "ttnn-mode=true")


def test_a_module_that_was_not_lowered_has_no_binary():
    with pytest.raises(ValueError, match="the module was not lowered to kernels"):
        _ = passes.ttmetal_to_flatbuffer_bin(Module.parse(TEXT))


def test_the_command_line_lowers_a_text_and_runs_the_kernels(tmp_path, capsys):
    file, kernels = tmp_path / "text.mlir", tmp_path / "kernels.mlir"
    file.write_text(TEXT.partition("  func.func @second")[0] + "}\n")
    assert main(["opt", "--ttir-to-ttmetal-pipeline=use-tile-matmul=true", str(file), "-o", str(kernels)]) == 0
    assert "d2m.acquire_dst" in kernels.read_text()
    assert "ttir." not in kernels.read_text()
    assert main(["run", str(kernels)]) == 0
    of_kernels = capsys.readouterr().out
    assert main(["run", str(file)]) == 0
    assert capsys.readouterr().out == of_kernels
    assert main(["opt", "--ttir-to-ttmetal-pipeline=fast=true", str(file)]) == 2
    assert "`ttir-to-ttmetal-pipeline` has no option `fast`" in capsys.readouterr().err


def test_the_text_of_kernels_is_what_a_file_of_them_holds(tmp_path, capsys):
    module = Module.parse(TEXT.partition("  func.func @second")[0] + "}\n")
    passes.ttir_to_ttmetal_backend_pipeline(module)
    passes.ttmetal_to_flatbuffer_file(module, str(tmp_path / "kernels.mlir"), {}, [])
    assert main(["run", str(tmp_path / "kernels.mlir")]) == 0
    assert "tensor(" in capsys.readouterr().out


CORES = """
#tiles = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32,
    collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>
#rows = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32,
    collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, dram, sharded>
func.func @moved(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %0 = ttir.empty() : tensor<2x3x1x1x!ttcore.tile<32x32, f32>, #tiles>
  %1 = ttir.to_layout %x, %0 : tensor<64x96xf32> into tensor<2x3x1x1x!ttcore.tile<32x32, f32>, #tiles>
      -> tensor<2x3x1x1x!ttcore.tile<32x32, f32>, #tiles>
  %2 = "ttir.exp"(%1) : (tensor<2x3x1x1x!ttcore.tile<32x32, f32>, #tiles>)
      -> tensor<2x3x1x1x!ttcore.tile<32x32, f32>, #tiles>
  %3 = ttir.empty() : tensor<1x1x64x96xbf16, #rows>
  %4 = ttir.to_layout %2, %3 : tensor<2x3x1x1x!ttcore.tile<32x32, f32>, #tiles> into tensor<1x1x64x96xbf16, #rows>
      -> tensor<1x1x64x96xbf16, #rows>
  %5 = ttir.empty() : tensor<64x96xf32>
  %6 = ttir.to_layout %4, %5 : tensor<1x1x64x96xbf16, #rows> into tensor<64x96xf32> -> tensor<64x96xf32>
  return %6 : tensor<64x96xf32>
}
"""


def test_tensors_on_a_grid_of_cores_are_computed_in_their_logical_shape():
    module = Module.parse(CORES)
    passes.ttir_to_ttmetal_backend_pipeline(module)
    assert "metal_layout" not in str(module)
    x = torch.randn(64, 96)
    (result,) = submitted(module, 0, x)
    torch.testing.assert_close(result, torch.exp(x).bfloat16().float(), rtol=2**-8, atol=0)
    assert torch.equal(result, result.bfloat16().float()), "the move to bfloat16 rounds"
    with pytest.raises(MLIRError, match="tiles of bfp_bf8 in a layout of metal are not computed here"):
        passes.ttir_to_ttmetal_backend_pipeline(Module.parse(CORES.replace("<32x32, f32>", "<32x32, bfp_bf8>")))
