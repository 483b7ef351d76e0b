"""Quantized numbers never leave the levels of their type, whatever integers hold them."""

import pytest
import torch

from benchmarks.texts.passes_keep_results import after_passes, results_of
from tests.end_to_end.texts.test_ops_of_texts import checked, loaded, module_of
from ttnn_jit.dialects import print_module
from ttnn_jit.frontend.ir.texts import parse_texts

LEVELS = {"i8": (-128, 127), "i8<-127:127>": (-127, 127), "i32<-8:7>": (-8, 7), "u8": (0, 255), "u8<1:15>": (1, 15)}


@pytest.mark.parametrize("storage", LEVELS)
def test_a_number_beyond_the_levels_becomes_the_nearest(storage):
    text = module_of(f"ttir.quantize : 7xf32 -> 7x!quant.uniform<{storage}:f32, 0.5:3>")
    (found,) = loaded(text).program("main")(torch.tensor([-1e9, -70.0, -1.0, 0.0, 2.0, 130.0, 1e9]))
    low, high = LEVELS[storage]
    wanted = [min(max(each, low), high) for each in (-(10**9), -137, 1, 3, 7, 263, 10**9)]
    assert found.tolist() == wanted


def test_a_destination_may_be_quantized():
    kind = "3x40x!quant.uniform<i32:f32, 0.02>"
    text = f"""func.func @main(%x: tensor<3x40xf32>) -> tensor<{kind}> {{
      %0 = ttir.empty() : tensor<{kind}>
      %s = "ttir.constant"() <{{value = dense<0.02> : tensor<1xf32>}}> : () -> tensor<1xf32>
      %z = "ttir.constant"() <{{value = dense<0> : tensor<1xi32>}}> : () -> tensor<1xi32>
      %1 = "ttir.quantize_unrolled"(%x, %s, %z, %0)
          : (tensor<3x40xf32>, tensor<1xf32>, tensor<1xi32>, tensor<{kind}>) -> tensor<{kind}>
      return %1 : tensor<{kind}>
    }}"""
    checked(loaded(text))


@pytest.mark.parametrize(
    "op",
    [
        "ttir.quantize : 3x8xf32 -> 3x8x!quant.uniform<i8<-3:2>:f32:0, {0.5:1, 0.25, 2.0}>",
        "ttir.requantize : 3x8x!quant.uniform<i8:f32,0.5> -> 3x8x!quant.uniform<i8<-9:9>:f32, 0.25>",
        "ttnn.quantize {axis = 1 : i32} : 3x8xf32, 8xf32, 8xi32 -> 3x8x!quant.uniform<i32<-5:5>:f32, 0.25>",
        "ttnn.requantize : 3x8xi32, 1xf32, 1xi32, 1xf32, 1xi32 -> 3x8x!quant.uniform<i32<-128:127>:f32, 0.25>",
    ],
)
def test_operations_clip_as_their_goldens_do(op):
    checked(loaded(module_of(op)))


CHAIN = """
func.func @main(%x: tensor<3x40xf32>) -> tensor<3x40xf32> {{
  %0 = "ttir.quantize"(%x) : (tensor<3x40xf32>) -> tensor<3x40x!quant.uniform<{storage}:f32, 0.01>>
  %1 = "ttir.dequantize"(%0) : (tensor<3x40x!quant.uniform<{storage}:f32, 0.01>>) -> tensor<3x40xf32>
  return %1 : tensor<3x40xf32>
}}
"""


@pytest.mark.parametrize("storage", ["i8", "i8<-100:100>", "i16"])
def test_a_pipeline_keeps_the_levels_of_narrow_types(storage):
    text = CHAIN.format(storage=storage)
    (module,) = parse_texts(text, "model.mlir")
    (wanted,), inputs = results_of(module, None)
    (found,), _ = results_of(after_passes(text, "ttir-to-ttnn-backend-pipeline"), inputs)
    torch.testing.assert_close(found, wanted)
    assert storage == "i16" or wanted.abs().max() < inputs[0].abs().max()


def test_the_pass_alone_writes_the_type_that_upstream_writes():
    text = print_module(after_passes(CHAIN.format(storage="i8"), "ttir-quant-data-type-conversion"))
    assert "!quant.uniform<i32:f32, 1.000000e-02>" in text
    kept = print_module(after_passes(CHAIN.format(storage="i8"), "ttir-quant-data-type-conversion{keep-levels=true}"))
    assert "!quant.uniform<i32<-128:127>:f32, 1.000000e-02>" in kept
