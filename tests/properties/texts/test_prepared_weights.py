"""Convolutions of texts give torch's results, with weights as they are and with those that a text prepares."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS

DEVICE = '%d = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device'


def kind(shape) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def listed(numbers) -> str:
    return f"array<i32: {', '.join(map(str, numbers))}>"


def result_of(lines: str, inputs: list[torch.Tensor], shape) -> torch.Tensor:
    """The result of a text whose ops all agree with their goldens."""
    arguments = ", ".join(f"%{index}: {kind(each.shape)}" for index, each in zip("xw", inputs, strict=True))
    text = f"func.func @main({arguments}) -> {kind(shape)} {{ {DEVICE}\n{lines}\nreturn %r : {kind(shape)} }}"
    (parsed,) = parse_texts(text, "convolution.mlir")
    module = TextModule(parsed, PRESETS["cpu"])
    assert all(each.matches for each in GoldenRun(module, "main", inputs).compared())
    return module.program("main")(*inputs)[0]


@settings(max_examples=12)
@given(
    st.tuples(*[st.integers(1, 3)] * 3),
    st.sampled_from([(3, 0, 1), (3, 4, 4), (6, 2, 1), (8, 4, 8), (5, 8, 8), (4, 0, 8)]),
    st.integers(1, 2),
    st.sampled_from(["zeros", "replicate"]),
    st.booleans(),
)
def test_weights_of_three_dimensions_in_blocks_of_channels(taps, blocks, padding, mode, prepares):
    channels, block, alignment = blocks
    x, w = torch.randn(1, 4, 3, 5, channels), torch.randn(2, channels, *taps)
    padded = torch.nn.functional.pad(x.movedim(-1, 1), [padding] * 6, mode="constant" if mode == "zeros" else mode)
    wanted = torch.nn.functional.conv3d(padded, w).movedim(1, -1)
    aligned = -(-channels // alignment) * alignment
    rows = kind((aligned * taps[0] * taps[1] * taps[2], 2))
    weights, name, config = kind(w.shape), "%w", ""
    lines = ""
    if prepares:
        lines = f"""%p = "ttnn.prepare_conv3d_weights"(%w, %d) <{{groups = 1 : i32, c_in_block = {block} : i32,
          alignment = {alignment} : i32}}> : ({weights}, !ttnn.device) -> {rows}\n"""
        weights, name = rows, "%p"
        config = f"conv3d_config = #ttnn.conv3d_config<c_in_block = {block}>," if block else ""
    lines += f"""%r = "ttnn.conv3d"(%x, {name}, %d) <{{in_channels = {channels} : i32, out_channels = 2 : i32,
      batch_size = 1 : i32, input_depth = 4 : i32, input_height = 3 : i32, input_width = 5 : i32, {config}
      kernel_size = {listed(taps)}, stride = {listed((1, 1, 1))}, padding = {listed([padding] * 3)}, groups = 1 : i32,
      padding_mode = "{mode}"}}> : ({kind(x.shape)}, {weights}, !ttnn.device) -> {kind(wanted.shape)}"""
    torch.testing.assert_close(result_of(lines, [x, w], wanted.shape), wanted, rtol=1e-4, atol=1e-4)


@settings(max_examples=12)
@given(
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.sampled_from([(1, False), (2, False), (2, True)]),
    st.integers(1, 2),
    st.booleans(),
)
def test_weights_of_transposed_convolutions(taps, grouping, stride, prepares):
    groups, is_whole = grouping
    x, w = torch.randn(1, 4, 5, 4), torch.randn(4, 3, *taps)
    wanted = torch.nn.functional.conv_transpose2d(x.movedim(-1, 1), w, stride=stride, groups=groups).movedim(1, -1)
    outputs = 3 * groups
    rows = kind((1, 1, taps[0] * taps[1] * (4 if is_whole else 4 // groups), outputs))
    sizes = f"""in_channels = 4 : i32, out_channels = {outputs} : i32, batch_size = 1 : i32, input_height = 4 : i32,
      input_width = 5 : i32, kernel_size = {listed(taps)}, stride = {listed((stride, stride))},
      padding = {listed((0, 0))}, output_padding = {listed((0, 0))}, dilation = {listed((1, 1))},
      groups = {groups} : i32"""
    lines, weights, name = "", kind(w.shape), "%w"
    if prepares:
        lines = f"""%p = "ttnn.prepare_conv_transpose2d_weights"(%w, %d) <{{{sizes}, has_bias = false,
          input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, weights_format = "IOHW",
          input_tensor_layout = #ttnn.layout<row_major>, input_dtype = #ttcore.supportedDataTypes<f32>}}>
          : ({weights}, !ttnn.device) -> {rows}\n"""
        weights, name = rows, "%p"
    lines += f"""%r = "ttnn.conv_transpose2d"(%x, {name}, %d) <{{{sizes}}}>
      : ({kind(x.shape)}, {weights}, !ttnn.device) -> {kind(wanted.shape)}"""
    torch.testing.assert_close(result_of(lines, [x, w], wanted.shape), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", ["zeros", "replicate"])
def test_edges_of_ttir_are_repeated_where_the_text_says_so(mode):
    x, w = torch.randn(1, 3, 4, 5, 2), torch.randn(4, 2, 3, 3, 3)
    padded = torch.nn.functional.pad(x.movedim(-1, 1), [1] * 6, mode="constant" if mode == "zeros" else mode)
    wanted = torch.nn.functional.conv3d(padded, w).movedim(1, -1)
    line = f"""%r = "ttir.conv3d"(%x, %w) <{{stride = {listed((1, 1, 1))}, padding = {listed((1, 1, 1))},
      groups = 1 : i32, padding_mode = "{mode}"}}> : ({kind(x.shape)}, {kind(w.shape)}) -> {kind(wanted.shape)}"""
    torch.testing.assert_close(result_of(line, [x, w], wanted.shape), wanted, rtol=1e-4, atol=1e-4)
