"""Products read the windows of a tensor without a copy, with the bits of a product of matrices."""

from __future__ import annotations

import re

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.codegen.blocking import copy_blocks

DEVICE = ttnn.open_device(device_id=0, target="cpu")


def random(shape, dtype, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def convolving(batch, size, inputs, outputs, kernel, stride, dtype, **more):
    height, width = size
    weight = ttnn.from_torch(random((outputs, inputs, *kernel), dtype, 2), device=DEVICE)

    def program(x):
        return ttnn.conv2d(
            input_tensor=x, weight_tensor=weight, device=DEVICE, in_channels=inputs, out_channels=outputs,
            batch_size=batch, input_height=height, input_width=width, kernel_size=kernel, stride=stride, **more,
        )  # fmt: skip

    return ttnn_jit.jit(enable_cache=False)(program)


def unfolded(x, kernel, stride):
    """Every window as a row: kernel row, kernel column, channel."""
    windows = x.unfold(1, kernel[0], stride[0]).unfold(2, kernel[1], stride[1])
    return windows.permute(0, 1, 2, 4, 5, 3).reshape(-1, kernel[0] * kernel[1] * x.shape[-1])


def reads_windows(jitted, x):
    return "%runs" in jitted.ir(x, stage="codegen")


@settings(max_examples=10, deadline=None)
@given(
    batch=st.integers(1, 2),
    size=st.tuples(st.integers(4, 20), st.integers(4, 20)),
    inputs=st.integers(8, 70),
    outputs=st.sampled_from([1, 5, 32, 65, 300]),
    kernel=st.tuples(st.integers(2, 4), st.integers(1, 4)),
    stride=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
)
def test_windows_of_any_sizes_have_the_bits_of_a_product_of_matrices(
    batch, size, inputs, outputs, kernel, stride, dtype
):
    x = random((batch, *size, inputs), dtype, 1)
    got = convolving(batch, size, inputs, outputs, kernel, stride, dtype)(ttnn.from_torch(x, device=DEVICE))
    weight = random((outputs, inputs, *kernel), dtype, 2).permute(2, 3, 1, 0).reshape(-1, outputs)
    if dtype is torch.bfloat16 and inputs % 2:  # pairs never span two taps
        x = torch.nn.functional.pad(x, (0, 1))
        weight = torch.nn.functional.pad(weight.reshape(-1, inputs, outputs), (0, 0, 0, 1)).reshape(-1, outputs)
    factors = (ttnn.from_torch(each.contiguous(), device=DEVICE) for each in (unfolded(x, kernel, stride), weight))
    want = ttnn.to_torch(ttnn.matmul(*factors))
    assert torch.equal(ttnn.to_torch(got).reshape(want.shape), want)


@pytest.mark.parametrize(("inputs", "reads"), [(64, True), (3, True), (2, False)])
def test_windows_with_long_runs_are_not_packed(inputs, reads):
    x = ttnn.from_torch(random((1, 12, 12, inputs), torch.float32, 1), device=DEVICE)
    jitted = convolving(1, (12, 12), inputs, 32, (7, 7), (1, 1), torch.float32)
    jitted(x)
    assert reads_windows(jitted, x) is reads


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("stride", [(1, 1), (2, 1)])
@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT])
def test_padded_images_are_copied_and_multiplied_one_by_one_with_the_bits_of_the_whole_batch(
    layout, stride, dtype, monkeypatch
):
    more = {"padding": (1, 2, 0, 1), "conv_config": ttnn.Conv2dConfig(output_layout=layout, activation="relu")}
    x = ttnn.from_torch(random((3, 8, 11, 16), dtype, 1), device=DEVICE)

    def images_apart(jitted):
        found = re.search(
            r"in the loop of \(.*matmul.*\) over images, in (\d+) blocks of 1 images", str(jitted.explain(x))
        )
        return int(found[1]) if found else 1

    def program():
        return convolving(3, (8, 11), 16, 40, (3, 3), stride, dtype, **more)

    whole = program()
    want, count = ttnn.to_torch(whole(x)), images_apart(whole)
    monkeypatch.setattr(copy_blocks, "SHARE", 1e9)
    by_image = program()
    assert torch.equal(ttnn.to_torch(by_image(x)), want)
    assert (count, images_apart(by_image)) == (1, 3)
