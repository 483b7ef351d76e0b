"""Errors of convolutions, pools and resampling: by name, in a program at their location; no state is left."""

from __future__ import annotations

import gc
import math
import re

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, DTypeError
from ttnn_jit.specs.configs.hardware_config import FieldError

SIZES = {"in_channels": 8, "out_channels": 6, "batch_size": 1, "input_height": 5, "input_width": 5}
CALL = {**SIZES, "kernel_size": (3, 3), "stride": (1, 1), "padding": (1, 1)}
X, WEIGHT, BIAS = torch.randn(1, 5, 5, 8), torch.randn(6, 8, 3, 3), torch.randn(1, 1, 1, 6)

CONVOLUTIONS = [
    ({"kernel_size": (9, 3)}, "conv2d: a window of 9x3 elements is larger than the padded tensor, 7x7"),
    ({"dilation": (4, 1)}, "conv2d: a window of 9x3 elements is larger than the padded tensor, 7x7"),
    ({"groups": 3}, "conv2d: `in_channels` is 8, which 3 groups do not divide"),
    ({"groups": -1}, "conv2d: `groups` is -1: it is at least 1"),
    ({"padding": (-1, 1)}, "conv2d: the padding is [[-1, -1], [1, 1]]: it must not be below 0"),
    ({"padding": "full"}, "`padding` of conv2d must be numbers, \"same\" or \"valid\", got 'full'"),
    ({"padding": "same", "stride": (2, 1)}, '`padding` of conv2d="same" needs strides of 1, got [2, 1]'),
    ({"padding": (1, 1, 1)}, "`padding` of conv2d must be 2 whole numbers, got [1, 1, 1]"),
    ({"stride": (0, 1)}, "conv2d: the stride is [0, 1]: the numbers must be at least 1"),
    ({"kernel_size": (3, 2.5)}, "`kernel_size` of conv2d must be a whole number, got 2.5"),
    ({"out_channels": 4}, "conv2d: the weights have shape [6, 8, 3, 3], and [4, 8, 3, 3] is expected"),
    ({"kernel_size": (2, 3)}, "conv2d: the weights have shape [6, 8, 3, 3], and [6, 8, 2, 3] is expected"),
    ({"input_height": 4}, "conv2d: the input has shape [1, 5, 5, 8], and its sizes are 1x4x5 positions of 8 channels"),
    ({"batch_size": 0}, "conv2d: `batch_size` is 0: it is at least 1"),
    ({"dtype": ttnn.uint32}, "the result of a convolution has floats, and `dtype` is UINT32"),
    (
        {"conv_config": ttnn.Conv2dConfig(shard_layout=ttnn.TensorMemoryLayout.INTERLEAVED)},
        "a convolution is sharded by height, width or block, got `shard_layout` INTERLEAVED",
    ),
]  # fmt: skip

POOL = {"batch_size": 1, "input_h": 5, "input_w": 5, "channels": 8, "kernel_size": [3, 3], "stride": [1, 1]}
POOL |= {"padding": [1, 1]}
POOLS = [
    ({"kernel_size": [8, 8], "padding": [0, 0]}, "a window of 8x8 elements is larger than the padded tensor, 5x5"),
    ({"padding": [2, 0]}, "the padding [[2, 2], [0, 0]] is more than half of a window of [3, 3]"),
    ({"channels": 4}, "the input has shape [1, 5, 5, 8], and its sizes are 1x5x5 positions of 4 channels"),
    ({"stride": [1, -1]}, "the stride is [1, -1]: the numbers must be at least 1"),
]


@pytest.fixture(autouse=True)
def no_collection():
    """Jitted functions that earlier tests left in cycles stay, so that `programs` counts those of this test."""
    gc.disable()
    yield
    gc.enable()


def programs():
    info = ttnn_jit.cache_info()
    return info.compiles, info.entries, info.memory_entries


def on(device, tensor, layout=ttnn.ROW_MAJOR_LAYOUT):
    return ttnn.from_torch(tensor, device=device, layout=layout)


def line_of(error):
    """The carets below the line of a program, as text."""
    return next(line.strip(" |") for line in str(error).splitlines() if "^" in line)


@pytest.mark.parametrize(("wrong", "message"), CONVOLUTIONS, ids=[str(wrong) for wrong, _ in CONVOLUTIONS])
def test_a_convolution_of_mismatched_sizes_is_refused(wrong, message, device):
    x, weight, bias = (on(device, each) for each in (X, WEIGHT, BIAS))
    call = {**CALL, **wrong}
    before = programs()
    with pytest.raises(ArgumentError, match=re.escape(message)):
        ttnn.conv2d(input_tensor=x, weight_tensor=weight, bias_tensor=bias, device=device, **call)
    jitted = ttnn_jit.jit()(lambda x: ttnn.conv2d(input_tensor=x, weight_tensor=weight, bias_tensor=bias, **call))
    with pytest.raises(CompileError, match=re.escape(message)) as caught:
        jitted(x)
    assert caught.value.location.file == __file__
    assert set(line_of(caught.value)) == {"^"}
    assert jitted.num_entries == 0
    assert before == programs()


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
@pytest.mark.parametrize(("wrong", "message"), POOLS, ids=[str(wrong) for wrong, _ in POOLS])
def test_a_pool_of_mismatched_sizes_is_refused(wrong, message, name, device):
    x, call, function = on(device, X), {**POOL, **wrong}, getattr(ttnn, name)
    before = programs()
    with pytest.raises(ArgumentError, match=re.escape(f"{name}: {message}")):
        function(x, **call)
    with pytest.raises(CompileError, match=re.escape(f"{name}: {message}")) as caught:
        ttnn_jit.jit()(lambda x: function(x, **call))(x)
    assert caught.value.location.file == __file__
    assert before == programs()


def test_weights_that_were_prepared_for_another_shape_are_refused(device):
    keywords = {"input_memory_config": ttnn.DRAM_MEMORY_CONFIG, "input_layout": ttnn.TILE_LAYOUT, "device": device}
    prepared = ttnn.prepare_conv_weights(weight_tensor=on(device, WEIGHT), weights_format="OIHW", **keywords, **CALL)
    assert tuple(prepared.shape) == (1, 1, 72, 6)
    with pytest.raises(
        ArgumentError, match=re.escape("the weights have shape [1, 1, 72, 6], and [6, 8, 2, 2] is expected")
    ):
        ttnn.conv2d(input_tensor=on(device, X), weight_tensor=prepared, **{**CALL, "kernel_size": (2, 2)})
    with pytest.raises(ArgumentError, match="`weights_format` of prepare_conv_weights is \"OIHW\", got 'HWIO'"):
        ttnn.prepare_conv_weights(weight_tensor=on(device, WEIGHT), weights_format="HWIO", **keywords, **CALL)


def test_a_bias_of_another_size_is_refused(device):
    with pytest.raises(ArgumentError, match=re.escape("the bias has shape [1, 1, 1, 6], and [1, 1, 1, 3] is expected")):
        ttnn.conv2d(
            input_tensor=on(device, X), weight_tensor=on(device, WEIGHT[:3]), bias_tensor=on(device, BIAS),
            **{**CALL, "out_channels": 3},
        )  # fmt: skip


def test_an_unknown_activation_is_refused(device):
    call = {"input_tensor": on(device, X), "weight_tensor": on(device, WEIGHT), **CALL}
    with pytest.raises(ArgumentError, match="'rellu' is no activation"):
        ttnn.conv2d(conv_config=ttnn.Conv2dConfig(activation="rellu"), **call)
    with pytest.raises(ArgumentError, match="`conv_config` of conv2d"):
        ttnn.conv2d(conv_config="relu", **call)


def test_tensors_on_the_host_need_a_device(device):
    with pytest.raises(ArgumentError, match="`input_tensor` of conv2d is on the host, and no `device` is given"):
        ttnn.conv2d(input_tensor=ttnn.from_torch(X), weight_tensor=on(device, WEIGHT), **CALL)


def test_a_config_may_change_before_and_after_a_call(device):
    config = ttnn.Conv2dConfig(activation="relu")
    config.act_block_h_override = 64
    config.output_layout = ttnn.ROW_MAJOR_LAYOUT
    with pytest.raises(FieldError, match="Conv2dConfig has no field `act_block_height`"):
        config.act_block_height = 32
    call = {"input_tensor": on(device, X), "weight_tensor": on(device, WEIGHT), **CALL}
    assert ttnn.conv2d(conv_config=config, **call).layout is ttnn.ROW_MAJOR_LAYOUT
    config.output_layout = ttnn.TILE_LAYOUT
    assert ttnn.conv2d(conv_config=config, **call).layout is ttnn.TILE_LAYOUT
    config.act_block_w_div = 0
    with pytest.raises(ArgumentError, match="`act_block_w_div` of Conv2dConfig must be a whole number of at least 1"):
        ttnn.conv2d(conv_config=config, **call)


def test_unsupported_resampling_is_refused(device):
    x, grid = on(device, X), on(device, torch.zeros(1, 2, 2, 2))
    with pytest.raises(ArgumentError, match="`scale_factor` of upsample must be a number"):
        ttnn.upsample(x, (1, 2, 3))
    for factor in (-1.5, 0.01, math.nan, math.inf):
        with pytest.raises(CompileError, match="leaves nothing of"):
            ttnn.upsample(x, (1.5, factor))
    with pytest.raises(CompileError, match="there is no mode 'cubic'"):
        ttnn.upsample(x, 1.5, mode="cubic")
    with pytest.raises(CompileError, match="there is no mode 'cubic'"):
        ttnn.grid_sample(x, grid, mode="cubic")
    with pytest.raises(CompileError, match="there is no mode 'cubic'"):
        ttnn.upsample(x, 2, mode="cubic")
    with pytest.raises(ArgumentError, match="`padding_mode` of grid_sample is 'zeros' here, got 'border'"):
        ttnn.grid_sample(x, grid, padding_mode="border")
    with pytest.raises(CompileError, match="is not sampled by a grid of shape"):
        ttnn.grid_sample(x, on(device, torch.zeros(2, 2, 2, 2)))


def test_a_transposed_convolution_without_a_result_is_refused(device):
    call = {"input_tensor": on(device, X), "weight_tensor": on(device, torch.randn(8, 6, 1, 1)), "device": device}
    with pytest.raises(ArgumentError, match="leaves no result"):
        ttnn.conv_transpose2d(**call, **{**CALL, "kernel_size": (1, 1), "padding": (3, 3)})
    with pytest.raises(
        ArgumentError, match=re.escape("the output padding is [1, 0]: it must be below the stride or the dilation")
    ):
        ttnn.conv_transpose2d(**call, **{**CALL, "kernel_size": (1, 1), "padding": (0, 0)}, output_padding=(1, 0))


FOLDS = [
    ((3, 2), {}, "images of 4 x 4 have no blocks of 3 x 2"),
    ((2, 2), {"padding": [1, 2, 3]}, "`padding` must have 2, 4 or 6 numbers, got [1, 2, 3]"),
    ((2, 2), {"padding": [1, 1], "pad_c": 1}, "`padding` and `pad_c`, `pad_h`, `pad_w` are two forms of one argument"),
    ((2, 2), {"pad_h": -1}, "cannot be padded by"),
    ((0, 2), {}, "images of 4 x 4 have no blocks of 0 x 2"),
]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("strides", "given", "message"), FOLDS, ids=[message for *_, message in FOLDS])
def test_a_fold_with_a_remainder_is_refused(strides, given, message, transposed, device):
    x = on(device, torch.zeros(2, 4, 4, 4))
    before = programs()
    with pytest.raises(CompileError, match=re.escape(message)):
        ttnn.fold(x, *strides, use_transpose_as_fold=transposed, **given)
    assert before == programs()


def test_a_convolution_with_depth_has_the_same_refusals_as_one_without(device):
    call = {"input_tensor": on(device, torch.zeros(1, 2, 4, 4, 8)), "output_channels": 4, "kernel_size": 2}
    call["weight_tensor"] = on(device, torch.zeros(4, 8, 2, 2, 2))
    before = programs()
    with pytest.raises(DTypeError, match="the result of a convolution has floats, and `dtype` is INT32"):
        ttnn.experimental.conv3d(**call, dtype=ttnn.int32)
    whole = call | {"input_tensor": on(device, torch.zeros(1, 2, 4, 4, 8, dtype=torch.int32))}
    with pytest.raises(DTypeError, match="a convolution takes floats, and the input is INT32"):
        ttnn.experimental.conv3d(**whole)
    with pytest.raises(ArgumentError, match=re.escape("conv3d: the padding is [[-1, -1], [0, 0], [1, 1]]")):
        ttnn.experimental.conv3d(**call, padding=(-1, 0, 1), padding_mode="replicate")
    assert before == programs()


def test_the_memory_config_of_a_fold_has_one_name(device):
    x, keywords = on(device, torch.zeros(2, 4, 4, 4)), {"override_memory_config": ttnn.L1_MEMORY_CONFIG}
    assert ttnn.fold(x, 2, 2, **keywords).memory_config() == ttnn.L1_MEMORY_CONFIG
    with pytest.raises(ArgumentError, match="`memory_config` and `override_memory_config` are two names"):
        ttnn.fold(x, 2, 2, memory_config=ttnn.DRAM_MEMORY_CONFIG, **keywords)


@pytest.mark.parametrize("wrong", [None, 3, "x"])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("`input_tensor` of conv2d", lambda _, w, wrong: ttnn.conv2d(input_tensor=wrong, weight_tensor=w, **CALL)),
        ("`weight_tensor` of conv2d", lambda x, _, wrong: ttnn.conv2d(input_tensor=x, weight_tensor=wrong, **CALL)),
        (
            "`weight_tensor` of conv_transpose2d",
            lambda x, _, wrong: ttnn.conv_transpose2d(input_tensor=x, weight_tensor=wrong, **CALL),
        ),
        (
            "`weight_tensor` of conv3d",
            lambda x, _, wrong: ttnn.experimental.conv3d(x, wrong, output_channels=6, kernel_size=1),
        ),
        ("`input_tensor` of avg_pool2d", lambda _x, _w, wrong: ttnn.avg_pool2d(wrong, **POOL)),
        ("`input_tensor` of global_avg_pool2d", lambda _x, _w, wrong: ttnn.global_avg_pool2d(wrong)),
        ("`grid` of grid_sample", lambda x, _, wrong: ttnn.grid_sample(x, wrong)),
    ],
)
def test_an_argument_that_is_no_tensor_is_refused_by_its_name(name, function, wrong, device):
    x, weight = on(device, X), on(device, WEIGHT)
    before, message = programs(), f"{name} must be a ttnn.Tensor, got {wrong!r}"
    with pytest.raises(ArgumentError, match=re.escape(message)):
        function(x, weight, wrong)
    for capture in (False, True):
        with pytest.raises(CompileError, match=re.escape(message)) as caught:
            ttnn_jit.jit(graph_capture=capture)(lambda x: function(x, weight, wrong))(x)
        assert caught.value.location.file == __file__
    assert before == programs()


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
def test_a_pool_takes_floats_only(name, device):
    with pytest.raises(DTypeError, match="the result of a pool has floats, and `dtype` is INT32"):
        getattr(ttnn, name)(on(device, X), **POOL, dtype=ttnn.int32)
    with pytest.raises(DTypeError, match="a pool takes floats, and the input is INT32"):
        getattr(ttnn, name)(on(device, X.to(torch.int32)), **POOL)
