"""A wrong element is found and named, wherever it lies and however its golden is computed."""

from __future__ import annotations

import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.compiler.texts.text_steps import SteppedRun
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.golden import judging, judging_parts
from ttnn_jit.golden.distances import place_in
from ttnn_jit.ops.convolution import convolution_goldens
from ttnn_jit.process.dataclass import replace
from ttnn_jit.sessions import text_goldens
from ttnn_jit.specs.target import PRESETS

EXAMPLES = 12
_HEADS = "(tensor<2x4x9x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>) -> tensor<2x4x9x8xf32>"
_PLAIN = "stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32"
_SIZES = (
    "batch_size = 2 : i32, in_channels = 5 : i32, input_height = 9 : i32, input_width = 8 : i32, out_channels = 6 : i32"
)
_OF_TTNN = (
    "kernel_size = array<i32: 3, 3>, stride = array<i32: 1, 1>, padding = array<i32: 1, 1, 1, 1>,"
    " dilation = array<i32: 1, 1>, groups = 1 : i32"
)
_BATCHES = "batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64: 0>"
OPS = {
    "conv2d": f'"ttir.conv2d"(%0, %1) <{{{_PLAIN}}}>'
    " : (tensor<2x9x8x5xf32>, tensor<6x5x3x3xf32>) -> tensor<2x9x8x6xf32>",
    "convolution": "stablehlo.convolution(%0, %1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],"
    " window = {pad = [[1, 1], [0, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    " : (tensor<2x5x9x8xf32>, tensor<6x5x3x3xf32>) -> tensor<2x6x9x8xf32>",
    "matmul": '"ttir.matmul"(%0, %1) : (tensor<3x9x8xf32>, tensor<8x7xf32>) -> tensor<3x9x7xf32>',
    "dot_general": f'"ttir.dot_general"(%0, %1) <{{{_BATCHES}, contract_dims_lhs = array<i64: 1>, '
    "contract_dims_rhs = array<i64: 2>}> : (tensor<3x9x8xf32>, tensor<3x7x9xf32>) -> tensor<3x8x7xf32>",
    "linear": '"ttir.linear"(%0, %1, %2) <{transpose_b = true}> : (tensor<1x3x9x8xf32>, tensor<3x7x8xf32>, '
    "tensor<7xf32>) -> tensor<1x3x9x7xf32>",
    "product": "stablehlo.dot_general %0, %1, batching_dims = [2] x [0], contracting_dims = [0] x [2]"
    " : (tensor<9x8x3x2xf32>, tensor<3x7x9xf32>) -> tensor<3x8x2x7xf32>",
    "attention": f'"ttir.scaled_dot_product_attention"(%0, %1, %2) <{{is_causal = false, scale = 0.25 : f32, '
    f"operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}}> : {_HEADS}",
    "attention_of_ttnn": '"ttnn.scaled_dot_product_attention"(%0, %1, %2) <{is_causal = false, scale = 0.25 : f32, '
    f"operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}}> : {_HEADS}",
    "conv2d_of_ttnn": f'"ttnn.conv2d"(%0, %1, %2) <{{{_SIZES}, {_OF_TTNN}}}> : (tensor<1x1x144x5xbf16>, '
    "tensor<6x5x3x3xbf16>, tensor<1x1x1x6xbf16>) -> tensor<1x1x144x6xbf16>",
    "linear_of_ttnn": '"ttnn.linear"(%0, %1, %2) : (tensor<1x3x9x80xbf16>, tensor<80x7xbf16>, tensor<7xbf16>)'
    " -> tensor<1x3x9x7xbf16>",
    "permute": '"ttir.permute"(%0) <{permutation = array<i64: 2, 0, 1>}> : (tensor<5x6x7xf32>) -> tensor<7x5x6xf32>',
    "reshape": '"ttir.reshape"(%0) <{shape = [42 : i32, 5 : i32]}> : (tensor<5x6x7xbf16>) -> tensor<42x5xbf16>',
    "add": '"ttir.add"(%0, %1) : (tensor<5x6x7xbf16>, tensor<6x1xbf16>) -> tensor<5x6x7xbf16>',
    "sigmoid": '"ttir.sigmoid"(%0) : (tensor<5x6x7xf32>) -> tensor<5x6x7xf32>',
    "logistic": '"stablehlo.logistic"(%0) : (tensor<5x6x7xbf16>) -> tensor<5x6x7xbf16>',
    "divide": '"stablehlo.divide"(%0, %1) : (tensor<5x6x7xf32>, tensor<5x6x7xf32>) -> tensor<5x6x7xf32>',
    "broadcast": '"ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 5, 1, 7>}> : (tensor<1x6x1xf32>)'
    " -> tensor<5x6x7xf32>",
    "slice": '"ttir.slice_static"(%0) <{begins = [1 : i32, 0 : i32], ends = [8 : i32, 9 : i32], step = [2 : i32, '
    "3 : i32]}> : (tensor<9x11xf32>) -> tensor<4x3xf32>",
    "concat": '"ttir.concat"(%0, %1) <{dim = 1 : si32}> : (tensor<5x6xbf16>, tensor<5x9xbf16>) -> tensor<5x15xbf16>',
    "typecast": '"ttir.typecast"(%0) : (tensor<5x6x7xf32>) -> tensor<5x6x7xbf16>',
    "sum": '"ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<5x60x7xf32>) -> tensor<5x1x7xf32>',
    "sum_of_rows": '"ttir.sum"(%0) <{dim_arg = [2 : i32, 0 : i32], keep_dim = false}> : (tensor<5x60x7x3xbf16>)'
    " -> tensor<60x3xbf16>",
    "mean": '"ttnn.mean"(%0) <{dim_arg = [3 : i32], keep_dim = true}> : (tensor<5x6x7x30xbf16>)'
    " -> tensor<5x6x7x1xbf16>",
    "reduce": "stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1]"
    " : (tensor<5x60x7xf32>, tensor<f32>) -> tensor<5x7xf32>",
    "softmax": '"ttir.softmax"(%0) <{dimension = -1 : si32, numericStable = true}> : (tensor<5x6x7xf32>)'
    " -> tensor<5x6x7xf32>",
}


def text_of(name: str) -> str:
    op = OPS[name]
    operands, result = op.rpartition(" : ")[2].split(" -> ")
    types = operands.strip("()").split(", ")
    arguments = ", ".join(f"%{index}: {each}" for index, each in enumerate(types))
    return f"func.func @main({arguments}) -> {result} {{\n  %r = {op}\n  return %r : {result}\n}}"


@pytest.mark.parametrize("name", OPS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_one_wrong_element_is_named(name, data):
    (parsed,) = parse_texts(text_of(name), "text.mlir")
    module = TextModule(parsed, PRESETS["wormhole_b0" if "ttnn" in name else "cpu"], (1,))
    torch.manual_seed(data.draw(st.integers(0, 100), label="seed"))
    inputs = [torch.randn(each.shape).to(each.dtype.torch) for each in module.program("main").arguments]
    (step,) = SteppedRun(module, "main", inputs).steps()
    (right,) = next(iter(step.results.values()))
    place = data.draw(st.integers(0, right.numel() - 1), label="place")
    change = data.draw(st.sampled_from([1.0, -0.5, math.nan, math.inf]), label="change")
    with pytest.MonkeyPatch.context() as patch:
        for room in (judging, judging_parts, text_goldens):
            patch.setattr(room, "PART", 16)
        patch.setattr(judging_parts, "_FEW", 0.2)
        patch.setattr(text_goldens, "_RELATIVE", data.draw(st.sampled_from([0.0, 2.0**-20]), label="relative"))
        patch.setattr(convolution_goldens, "_LARGE", 0)
        patch.setattr(text_goldens, "_SLICE", 200)
        (found,) = text_goldens.verdicts_of(module, step)
        assert found.matches, found.reason
        changed = right.clone()
        changed.view(-1)[place] += change
        results = dict.fromkeys(step.results, (changed,))
        (wrong,) = text_goldens.verdicts_of(module, replace(step, results=results))
    assert not wrong.matches
    assert wrong.reason.startswith("1 of")
    named = re.search(r"at \[([\d, ]*)\]", wrong.reason)
    assert tuple(map(int, named[1].split(", "))) == place_in(tuple(right.shape), place)
