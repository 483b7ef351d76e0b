"""`ttir.convolution` as operations of one rank with channels last: equal results, or refused by name.

The reference is torch's convolution in float64 over dimensions in torch's order.
"""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch.nn.functional import conv1d, conv2d, conv3d, pad

from benchmarks.texts.passes_keep_results import after_passes, results_of
from ttnn_jit.diagnostics.errors import TtnnJitError

PIPELINE = "ttir-to-ttnn-backend-pipeline"
TORCH = {1: conv1d, 2: conv2d, 3: conv3d}


@st.composite
def convolutions(draw):
    """The numbers of a convolution, and the order of the dimensions of its image, kernel and result."""
    rank = draw(st.integers(1, 3))

    def each(low, high):
        return draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank))

    groups = draw(st.integers(1, 2))
    return {
        "taps": each(1, 3),
        "extents": each(5, 7),
        "strides": each(1, 2),
        "dilation": [draw(st.sampled_from([1, 1, 2])) for _ in range(rank)],
        "padding": draw(st.lists(st.integers(0, 2), min_size=2 * rank, max_size=2 * rank)),
        "groups": groups,
        "channels": groups * draw(st.integers(1, 2)),
        "outputs": groups * draw(st.integers(1, 3)),
        "batch": draw(st.integers(1, 2)),
        "orders": [draw(st.permutations(range(rank + 2))) for _ in range(3)],
    }


def wanted(case, image, kernel):
    """The convolution of tensors in torch's order, in float64."""
    ends = [end for dim in reversed(range(len(case["taps"]))) for end in case["padding"][2 * dim : 2 * dim + 2]]
    return TORCH[len(case["taps"])](
        pad(image.double(), ends), kernel.double(), None, case["strides"], 0, case["dilation"], case["groups"]
    )


def module_of(case, image, kernel, result):
    rank = len(case["taps"])
    places = [[order.index(dim) for dim in range(rank + 2)] for order in case["orders"]]
    spatial = ["x".join(map(str, place[2:])) for place in places]
    layout = (
        f"input_batch = {places[0][0]}, input_feature = {places[0][1]}, input_spatial_dimensions = {spatial[0]}, "
        f"kernel_output_feature = {places[1][0]}, kernel_input_feature = {places[1][1]}, "
        f"kernel_spatial_dimensions = {spatial[1]}, output_batch = {places[2][0]}, "
        f"output_feature = {places[2][1]}, output_spatial_dimensions = {spatial[2]}"
    )
    numbers = {
        "window_strides": case["strides"],
        "padding": case["padding"],
        "input_dilation": [1] * rank,
        "weight_dilation": case["dilation"],
    }
    attributes = ", ".join(f"{name} = array<i64: {', '.join(map(str, given))}>" for name, given in numbers.items())
    types = [f"tensor<{'x'.join(map(str, shape))}xf32>" for shape in (image, kernel, result)]
    return f"""
    func.func @main(%x: {types[0]}, %w: {types[1]}) -> {types[2]} {{
      %0 = "ttir.convolution"(%x, %w) <{{convolution_layout = #ttir<convolution_layout {layout}>, {attributes},
        window_reversal = array<i1: {", ".join(["false"] * rank)}>, feature_group_count = {case["groups"]} : i64,
        batch_group_count = 1 : i64}}> : ({types[0]}, {types[1]}) -> {types[2]}
      return %0 : {types[2]}
    }}"""


@settings(max_examples=30, deadline=None)
@given(case=convolutions())
def test_a_convolution_keeps_its_result_or_is_refused_by_name(case):
    torch.manual_seed(0)
    image = torch.randn(case["batch"], case["channels"], *case["extents"])
    kernel = torch.randn(case["outputs"], case["channels"] // case["groups"], *case["taps"])
    want = wanted(case, image, kernel)
    of_image, of_kernel, of_result = case["orders"]
    inputs = [image.permute(of_image).contiguous(), kernel.permute(of_kernel).contiguous()]
    text = module_of(case, *(each.shape for each in inputs), want.permute(of_result).shape)
    dilated = len(case["taps"]) == 3 and any(each > 1 for each in case["dilation"])
    if dilated:  # the operation of TTIR has no dilation
        with pytest.raises(TtnnJitError, match=r"failed to legalize operation 'ttir\.convolution'"):
            after_passes(text, PIPELINE)
        return
    (found,), _ = results_of(after_passes(text, PIPELINE), inputs)
    torch.testing.assert_close(found.double(), want.permute(of_result), rtol=1e-4, atol=1e-4)
