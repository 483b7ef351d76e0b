"""Convolutions, pools and resampling as text, in the interpreter, and in the second backend."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import InvalidModule, parse_module, print_module, verify
from ttnn_jit.interpreters.tile_interpreter import interpret

X, WEIGHT, BIAS = torch.randn(2, 6, 5, 6), torch.randn(4, 3, 3, 2), torch.randn(1, 1, 1, 4)
GRID = torch.rand(2, 3, 4, 2) * 2.4 - 1.2
SIZES = {"in_channels": 6, "batch_size": 2, "input_height": 6, "input_width": 5}
IMAGES = {"batch_size": 2, "input_h": 6, "input_w": 5, "channels": 6}


def conv2d(x, weight, bias):
    config = ttnn.Conv2dConfig(activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.LEAKY_RELU, 0.5))
    return ttnn.conv2d(
        input_tensor=x, weight_tensor=weight, bias_tensor=bias, out_channels=4, kernel_size=(3, 2), stride=(2, 1),
        padding=(1, 2, 0, 1), groups=2, conv_config=config, **SIZES,
    )  # fmt: skip


def depthwise(x, weight):
    weight = ttnn.reshape(weight, (6, 1, 3, 4))
    return ttnn.conv2d(
        input_tensor=x, weight_tensor=weight, out_channels=6, kernel_size=(3, 4), padding=(1, 1), groups=6, **SIZES
    )


def conv_transpose2d(x, weight):
    weight = ttnn.reshape(weight, (6, 2, 3, 2))
    return ttnn.conv_transpose2d(
        input_tensor=x, weight_tensor=weight, out_channels=4, kernel_size=(3, 2), stride=2, padding=1, groups=2, **SIZES
    )


def conv3d(x, weight):
    x, weight = ttnn.reshape(x, (1, 2, 6, 5, 6)), ttnn.reshape(weight, (3, 6, 2, 2, 1))
    return ttnn.experimental.conv3d(x, weight, output_channels=3, kernel_size=(2, 2, 1), padding=(0, 1, 0))


def max_pool2d(x):
    return ttnn.max_pool2d(
        x, kernel_size=[3, 2], stride=[2, 1], padding=[1, 0], dilation=[1, 2], ceil_mode=True, **IMAGES
    )


def avg_pool2d(x):
    return ttnn.avg_pool2d(
        x, kernel_size=[3, 2], stride=[2, 1], padding=[1, 0], ceil_mode=True, count_include_pad=False, **IMAGES
    )


def adaptive_avg_pool2d(x):
    return ttnn.adaptive_avg_pool2d(x, output_size=[4, 5], **IMAGES)


PROGRAMS = [
    (conv2d, (X, WEIGHT, BIAS)),
    (depthwise, (X, WEIGHT)),
    (conv_transpose2d, (X, WEIGHT)),
    (conv3d, (X, WEIGHT)),
    (max_pool2d, (X,)),
    (avg_pool2d, (X,)),
    (adaptive_avg_pool2d, (X,)),
    (lambda x: ttnn.upsample(x, (2, 3), mode="bilinear"), (X,)),
    (lambda x, grid: ttnn.grid_sample(x, grid, align_corners=True), (X, GRID)),
    (lambda x, grid: ttnn.grid_sample(x, grid, mode="nearest"), (X, GRID)),
    (lambda x: ttnn.upsample(x, (1.5, 0.7)), (X,)),
    (lambda x: ttnn.upsample(x, (1.5, 0.7), mode="bilinear"), (X,)),
    (lambda x: ttnn.global_avg_pool2d(x), (X,)),
]
NAMES = [function.__name__ for function, _ in PROGRAMS]


def for_interpreter(x):
    return x.contiguous().view(torch.int16).numpy().view("uint16") if x.dtype is torch.bfloat16 else x.numpy()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("function", "tensors"), PROGRAMS, ids=NAMES)
def test_native_code_interpreter_and_text_agree(function, tensors, dtype):
    tensors = [each.to(dtype) for each in tensors]
    jitted = ttnn_jit.jit()(function)
    got = jitted(*tensors)
    for stage in ("frontend", "convert-ttnn-to-ttir"):
        text = jitted.ir(*tensors, stage=stage)
        module = parse_module(text)
        verify(module)
        assert print_module(module) == text
    module = parse_module(jitted.ir(*tensors, stage="d2m-insert-dst-register-access"))
    (interpreted,) = interpret(module, [for_interpreter(each) for each in tensors])
    assert np.array_equal(
        for_interpreter(got).view(f"i{got.itemsize}"), interpreted.view(f"i{got.itemsize}").reshape(got.shape)
    )


@pytest.mark.parametrize(("function", "tensors"), PROGRAMS[:1] + PROGRAMS[5:6], ids=NAMES[:1] + NAMES[5:6])
def test_the_second_backend_agrees(function, tensors):
    got, other = (ttnn_jit.jit(backend=backend)(function)(*tensors) for backend in ("ttnn", "numba"))
    assert torch.equal(got, other)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("groups = 2", "groups = 4", "`in_channels` is 6, which 4 groups do not divide"),
        ("kernel_size = array<i32: 3, 2>", "kernel_size = array<i32: 5, 2>", "the weights have shape"),
        ("batch_size = 2", "batch_size = 3", "the input has shape"),
        ("stride = array<i32: 2, 1>", "stride = array<i32: 2, 0>", "the numbers must be at least 1"),
        ("stride = array<i32: 2, 1>", "stride = array<i32: 2>", "the stride has 1 dimensions, and the kernel 2"),
        ("dilation = array<i32: 1, 1>", "dilation = array<i32>", "the dilation has 0 dimensions, and the kernel 2"),
        ("padding = array<i32: 1, 2, 0, 1>", "padding = array<i32: 1, 2, 0>", "needs the array<i32> of pairs property"),
        ("padding = array<i32: 1, 2, 0, 1>", "padding = array<i32: 1, 2, 0, -1>", "it must not be below 0"),
        ('"leaky_relu(0.5)"', '"leaky(0.5)"', "is no activation"),
        ('"leaky_relu(0.5)"', '"leaky_relu(a)"', "has no numbers in its brackets"),
        (", groups = 2 : i32", "", "needs the i32 property `groups`"),
    ],
)
def test_an_edited_convolution_is_refused_by_its_verifier(old, new, message):
    text = ttnn_jit.jit()(conv2d).ir(X, WEIGHT, BIAS, stage="frontend")
    assert old in text
    with pytest.raises(InvalidModule, match=message):
        verify(parse_module(text.replace(old, new)))


def test_sizes_are_printed_as_in_tt_mlir():
    sizes = "in_channels = 6 : i32, input_height = 6 : i32, input_width = 5 : i32, kernel_size = array<i32: 3, 2>"
    windows = "padding = array<i32: 1, 2, 0, 1>, stride = array<i32: 2, 1>"
    text = ttnn_jit.jit()(conv2d).ir(X, WEIGHT, BIAS, stage="convert-ttnn-to-ttir")
    assert "dilation = array<i32: 1, 1>" in text
    assert sizes in text
    assert windows in text
    text = ttnn_jit.jit()(max_pool2d).ir(X, stage="frontend")
    assert "batch_size = 2 : si32, ceil_mode = true, channels = 6 : si32, dilation = array<i32: 1, 2>" in text
    assert "kernel_size = array<i32: 3, 2>" in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kernel_size = array<i32: 3, 2>", "kernel_size = array<i32: 3, 2, 1>", "the stride has 2 dimensions"),
        ("padding = array<i32: 1, 1, 0, 0>", "padding = array<i32: 2, 1, 0, 0>", "more than half of a window"),
        ("channels = 6", "channels = 5", "the input has shape"),
    ],
)
def test_an_edited_pool_is_refused_by_its_verifier(old, new, message):
    text = ttnn_jit.jit()(max_pool2d).ir(X, stage="frontend")
    assert old in text
    with pytest.raises(InvalidModule, match=message):
        verify(parse_module(text.replace(old, new)))


@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_config_may_be_created_and_changed_inside_a_program(graph_capture):
    def program(x, weight):
        config = ttnn.Conv2dConfig(activation="relu", shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED)
        config.act_block_h_override = 32
        return ttnn.conv2d(
            input_tensor=x, weight_tensor=weight, out_channels=4, kernel_size=(3, 2), groups=2, conv_config=config,
            **SIZES,
        )  # fmt: skip

    got = ttnn_jit.jit(graph_capture=graph_capture)(program)(X, WEIGHT)
    want = torch.nn.functional.conv2d(X.permute(0, 3, 1, 2), WEIGHT, groups=2).relu().permute(0, 2, 3, 1)
    torch.testing.assert_close(got.reshape(want.shape), want, rtol=1e-5, atol=1e-5)


def test_a_config_from_outside_is_not_changed_by_a_program():
    config = ttnn.Conv2dConfig()

    def program(x):
        config.act_block_h_override = 32
        return ttnn.exp(x)

    with pytest.raises(CompileError, match="assigning to an attribute cannot be compiled"):
        ttnn_jit.jit()(program)(X)
    assert config.act_block_h_override == 0
