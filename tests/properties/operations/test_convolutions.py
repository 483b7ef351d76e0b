"""Convolutions of any sizes against torch in float64, within the bound of a chain of additions."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import assume, given, settings

import ttnn_jit
from ttnn_jit import ttnn

f32, bf16 = torch.float32, torch.bfloat16
UNIT = {f32: 2.0**-24, bf16: 2.0**-8}
DEVICES = {target: ttnn.open_device(device_id=0, target=target) for target in ("wormhole_b0", "cpu")}
ACTIVATIONS = {
    None: lambda y: y,
    "relu": torch.relu,
    ttnn.UnaryWithParam(ttnn.UnaryOpType.LEAKY_RELU, 0.25): lambda y: torch.nn.functional.leaky_relu(y, 0.25),
}


def random(shape, dtype, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def channels_first(x):
    return x.movedim(-1, 1)


def assert_near(got, want, magnitudes, terms, dtype, *, more=0.0):
    """Within the bound of `terms` roundings of sums of these magnitudes, and one rounding to `dtype`."""
    assert got.shape == want.shape
    bound = (terms + 2) * UNIT[f32] * magnitudes + UNIT[dtype] * want.abs() * (1 + more) + 1e-30
    assert bool(((got.double() - want).abs() <= bound).all())


@st.composite
def convolutions(draw):
    """The arguments of a call by name, and which of them are tensors."""
    rank = 2
    groups = draw(st.integers(1, 3))
    inputs, outputs = groups * draw(st.integers(1, 5)), groups * draw(st.integers(1, 4))
    if draw(st.booleans()) and groups > 1:
        inputs = outputs = groups
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    dilation = [draw(st.integers(1, 2)) for _ in range(rank)]
    stride = [draw(st.integers(1, 3)) for _ in range(rank)]
    padding = draw(
        st.one_of(
            st.lists(st.integers(0, 3), min_size=2 * rank, max_size=2 * rank),
            st.lists(st.integers(0, 2), min_size=rank, max_size=rank),
            st.integers(0, 2),
            st.just("same") if set(stride) == {1} else st.just("valid"),
        )
    )
    return {
        "batch_size": draw(st.integers(1, 2)),
        "input_height": draw(st.integers(1, 9)),
        "input_width": draw(st.integers(1, 9)),
        "in_channels": inputs,
        "out_channels": outputs,
        "groups": groups,
        "kernel_size": kernel,
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
    }


def pairs_of(call):
    padding, kernel, dilation = call["padding"], call["kernel_size"], call["dilation"]
    if padding == "same":
        wanted = [apart * (taps - 1) for taps, apart in zip(kernel, dilation, strict=True)]
        return [(each // 2, each - each // 2) for each in wanted]
    if padding == "valid":
        return [(0, 0)] * 2
    padding = [padding] * 2 if isinstance(padding, int) else padding
    return (
        list(zip(padding[::2], padding[1::2], strict=True)) if len(padding) == 4 else [(each, each) for each in padding]
    )


def assume_windows(call):
    sizes = zip(("input_height", "input_width"), call["kernel_size"], call["dilation"], pairs_of(call), strict=True)
    assume(all(call[name] + sum(pair) > apart * (taps - 1) for name, taps, apart, pair in sizes))


def in_float64(call, x, weight, bias=None):
    (top, bottom), (left, right) = pairs_of(call)
    x = torch.nn.functional.pad(channels_first(x.double()), (left, right, top, bottom))
    bias = None if bias is None else bias.double().reshape(-1)
    weight, groups = weight.double(), call["groups"]
    y = torch.nn.functional.conv2d(x, weight, bias, call["stride"], 0, call["dilation"], groups)
    return y.permute(0, 2, 3, 1)


def tensors_of(call, dtype):
    x = random((call["batch_size"], call["input_height"], call["input_width"], call["in_channels"]), dtype, 1)
    weight = random((call["out_channels"], call["in_channels"] // call["groups"], *call["kernel_size"]), dtype, 2)
    return x, weight, random((1, 1, 1, call["out_channels"]), dtype, 3)


RUNS = st.sampled_from(["eager", "source", "capture"])
RESULT_OPTIONS = {
    "result": st.sampled_from([None, f32, bf16]),
    "output_layout": st.sampled_from([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT]),
    "shard_layout": st.sampled_from(
        [None, *(getattr(ttnn.TensorMemoryLayout, f"{name}_SHARDED") for name in ("HEIGHT", "WIDTH", "BLOCK"))]
    ),
    "slices": st.sampled_from(
        [
            None,
            ttnn.Conv2dL1FullSliceConfig,
            ttnn.Conv2dSliceConfig(slice_type=ttnn.Conv2dDRAMSliceHeight, num_slices=2),
            ttnn.Conv2dSliceConfig(slice_type=ttnn.Conv2dDRAMSliceWidth),
        ]
    ),
}
"""The memory config, layout and dtype of a result."""


def run_as(run, function, *tensors):
    """The result of `function` eagerly, or compiled by either frontend."""
    return function(*tensors) if run == "eager" else ttnn_jit.jit(graph_capture=run == "capture")(function)(*tensors)


@settings(max_examples=16, deadline=None)
@given(
    call=convolutions(),
    dtype=st.sampled_from([f32, bf16]),
    target=st.sampled_from([*DEVICES]),
    layout=st.sampled_from([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT]),
    activation=st.sampled_from([*ACTIVATIONS]),
    with_bias=st.booleans(),
    is_flat=st.booleans(),
    weights=st.sampled_from(["host", "device", "prepared", "bfloat8_b"]),
    run=RUNS,
    **RESULT_OPTIONS,
)
def test_a_convolution_of_any_sizes_is_torchs_in_float64(
    call,
    dtype,
    target,
    layout,
    activation,
    with_bias,
    is_flat,
    weights,
    run,
    result,
    output_layout,
    shard_layout,
    slices,
):
    assume_windows(call)
    device = DEVICES[target]
    x, weight, bias = tensors_of(call, dtype)
    given_x = ttnn.from_torch(x.reshape(1, 1, -1, x.shape[-1]) if is_flat else x, layout=layout, device=device)
    given_weight = ttnn.from_torch(weight, device=None if weights == "host" else device)
    config = ttnn.Conv2dConfig(
        activation=activation, weights_dtype=ttnn.bfloat8_b if weights == "bfloat8_b" else None,
        shard_layout=shard_layout, output_layout=output_layout,
    )  # fmt: skip
    call = {**call, "device": device, "conv_config": config, "slice_config": slices}
    call["dtype"] = {None: None, f32: ttnn.float32, bf16: ttnn.bfloat16}[result]
    call["bias_tensor"] = ttnn.from_torch(bias) if with_bias else None
    got, extents, (used, used_bias) = ttnn.conv2d(
        input_tensor=given_x, weight_tensor=given_weight, return_output_dim=True, return_weights_and_bias=True, **call
    )
    if weights != "device":
        prepared = {**call, "bias_tensor": used_bias}
        again = run_as(run, lambda x: ttnn.conv2d(input_tensor=x, weight_tensor=used, **prepared), given_x)
        assert torch.equal(ttnn.to_torch(again), ttnn.to_torch(got))
        assert (again.layout, again.dtype) == (got.layout, got.dtype)
    weight = ttnn.to_torch(used).reshape(*call["kernel_size"], -1, call["out_channels"]).permute(3, 2, 0, 1)
    bias = ttnn.to_torch(used_bias) if with_bias else None
    want = in_float64(call, x, weight, bias)
    magnitudes = in_float64(call, x.abs(), weight.abs(), None if bias is None else bias.abs())
    assert tuple(want.shape[1:3]) == extents
    assert got.layout is output_layout
    terms, rounded = weight[0].numel() + with_bias, result or dtype
    assert_near(ttnn.to_torch(got).reshape(want.shape), ACTIVATIONS[activation](want), magnitudes, terms, rounded)


@pytest.mark.parametrize("dtype", [f32, bf16])
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_the_chain_of_an_element_is_that_of_a_product_of_matrices(groups, dtype, cpu_device):
    x, weight = random((2, 5, 6, 6), dtype, 1), random((6, 6 // groups, 3, 2), dtype, 2)
    call = {"in_channels": 6, "out_channels": 6, "batch_size": 2, "input_height": 5, "input_width": 6, "groups": groups}
    call |= {"kernel_size": (3, 2), "device": cpu_device}
    got = ttnn.conv2d(input_tensor=ttnn.from_torch(x, device=cpu_device), weight_tensor=ttnn.from_torch(weight), **call)
    windows = x.unfold(1, 3, 1).unfold(2, 2, 1).permute(0, 1, 2, 4, 5, 3).reshape(30, 6, groups, -1)
    columns = weight.permute(2, 3, 1, 0).reshape(-1, groups, 6 // groups)
    product = ttnn_jit.jit()(lambda a, b: ttnn.matmul(a, b))
    want = [
        product(windows[:, :, group].reshape(30, -1).contiguous(), columns[:, group].contiguous())
        for group in range(groups)
    ]
    assert torch.equal(ttnn.to_torch(got).reshape(30, 6), torch.cat(want, -1))


def test_pairs_of_bfloat16_never_span_two_taps(cpu_device):
    x, weight = random((1, 3, 4, 3), bf16, 1), random((2, 3, 2, 2), bf16, 2)
    call = {"in_channels": 3, "out_channels": 2, "batch_size": 1, "input_height": 3, "input_width": 4}
    call |= {"kernel_size": (2, 2), "device": cpu_device}
    got = ttnn.conv2d(input_tensor=ttnn.from_torch(x, device=cpu_device), weight_tensor=ttnn.from_torch(weight), **call)
    wide = (torch.nn.functional.pad(x, (0, 1)), torch.nn.functional.pad(weight, (0, 0, 0, 0, 0, 1)))
    given_x, given_weight = (ttnn.from_torch(each, device=cpu_device) for each in wide)
    want = ttnn.conv2d(input_tensor=given_x, weight_tensor=given_weight, **{**call, "in_channels": 4})
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(want))


@settings(max_examples=6, deadline=None)
@given(
    call=convolutions(),
    more=st.lists(st.integers(0, 1), min_size=2, max_size=2),
    dtype=st.sampled_from([f32, bf16]),
    target=st.sampled_from([*DEVICES]),
    mirror=st.booleans(),
    prepare=st.booleans(),
    activation=st.sampled_from([*ACTIVATIONS]),
    with_bias=st.booleans(),
    is_flat=st.booleans(),
    run=RUNS,
    **RESULT_OPTIONS,
)
def test_a_transposed_convolution_of_any_sizes_is_torchs_in_float64(
    call,
    more,
    dtype,
    target,
    mirror,
    prepare,
    activation,
    with_bias,
    is_flat,
    run,
    result,
    output_layout,
    shard_layout,
    slices,
):
    call = {**call, "padding": call["padding"] if isinstance(call["padding"], list) else 1}
    (top, bottom), (left, right) = pairs_of(call)
    assume(all(own < max(pair) for own, *pair in zip(more, call["stride"], call["dilation"], strict=True)))
    device = DEVICES[target]
    x, _, bias = tensors_of(call, dtype)
    shape = (call["in_channels"], call["out_channels"] // call["groups"], *call["kernel_size"])
    weight = random(shape, dtype, 2)

    def golden(x, weight):
        options = call["stride"], 0, more, call["groups"], call["dilation"]
        whole = torch.nn.functional.conv_transpose2d(channels_first(x.double()), weight.double(), None, *options)
        assume(whole.shape[2] > top + bottom and whole.shape[3] > left + right)
        return whole[:, :, top : whole.shape[2] - bottom, left : whole.shape[3] - right].permute(0, 2, 3, 1)

    want, magnitudes = golden(x, weight), golden(x.abs(), weight.abs())
    given_x = ttnn.from_torch(x.reshape(1, 1, -1, x.shape[-1]) if is_flat else x, device=device)
    given_weight = ttnn.from_torch(weight if mirror else weight.flip(2, 3))
    config = ttnn.Conv2dConfig(activation=activation, shard_layout=shard_layout, output_layout=output_layout)
    call |= {"device": device, "output_padding": more, "conv_config": config, "dram_slice_config": slices}
    call |= {"dtype": {None: None, f32: ttnn.float32, bf16: ttnn.bfloat16}[result]}
    got, extents, (used, used_bias) = ttnn.conv_transpose2d(
        input_tensor=given_x, weight_tensor=given_weight, bias_tensor=ttnn.from_torch(bias) if with_bias else None,
        mirror_kernel=mirror, return_output_dim=True, return_weights_and_bias=True, **call,
    )  # fmt: skip
    assert (extents, got.layout) == (tuple(want.shape[1:3]), output_layout)
    terms = weight[:, 0].numel() * 9
    if with_bias:
        want, magnitudes = want + bias.double().reshape(-1), magnitudes + bias.double().abs().reshape(-1)
    want = ACTIVATIONS[activation](want)
    assert_near(ttnn.to_torch(got).reshape(want.shape), want, magnitudes, terms, result or dtype)
    if prepare:
        given = {"weight_tensor": used, "bias_tensor": used_bias, **call}
        again = run_as(run, lambda x: ttnn.conv_transpose2d(input_tensor=x, **given), given_x)
        assert torch.equal(ttnn.to_torch(again), ttnn.to_torch(got))


@settings(max_examples=8, deadline=None)
@given(
    padding=st.sampled_from([0, 2, (1, 3), "same"]),
    length=st.integers(5, 14),
    taps=st.integers(1, 4),
    stride=st.integers(1, 3),
    dilation=st.integers(1, 2),
    groups=st.sampled_from([1, 2, 6]),
    dtype=st.sampled_from([f32, bf16]),
    run=RUNS,
    target=st.sampled_from([*DEVICES]),
)
def test_a_convolution_of_rows_is_torchs_in_float64(
    padding, length, taps, stride, dilation, groups, dtype, run, target
):
    stride, span = 1 if padding == "same" else stride, dilation * (taps - 1)
    around = (span // 2, span - span // 2) if padding == "same" else padding
    pair = (around, around) if isinstance(around, int) else around
    assume(length + sum(pair) > span)
    device = DEVICES[target]
    x, weight = random((2, length, 6), dtype, 1), random((12, 6 // groups, taps), dtype, 2)

    def golden(x, weight):
        padded = torch.nn.functional.pad(channels_first(x.double()), pair)
        return torch.nn.functional.conv1d(padded, weight.double(), None, stride, 0, dilation, groups).movedim(1, -1)

    call = {"in_channels": 6, "out_channels": 12, "batch_size": 2, "input_length": length, "kernel_size": taps}
    call |= {"padding": padding, "stride": stride, "dilation": dilation, "groups": groups, "device": device}
    given_x = ttnn.from_torch(x, device=device)
    got, extent, (used, bias) = ttnn.conv1d(
        input_tensor=given_x, weight_tensor=ttnn.from_torch(weight), return_output_dim=True,
        return_weights_and_bias=True, conv_config=ttnn.Conv1dConfig(), **call,
    )  # fmt: skip
    want = golden(x, weight)
    assert (extent, bias, tuple(used.shape)) == (want.shape[1], None, (1, 1, 6 // groups * taps, 12))
    assert_near(ttnn.to_torch(got).reshape(want.shape), want, golden(x.abs(), weight.abs()), weight[0].numel(), dtype)
    again = run_as(run, lambda x: ttnn.conv1d(input_tensor=x, weight_tensor=used, **call), given_x)
    assert torch.equal(ttnn.to_torch(again), ttnn.to_torch(got))


@settings(max_examples=6, deadline=None)
@given(
    extents=st.lists(st.integers(2, 5), min_size=3, max_size=3),
    kernel=st.lists(st.integers(1, 2), min_size=3, max_size=3),
    stride=st.lists(st.integers(1, 2), min_size=3, max_size=3),
    padding=st.lists(st.integers(0, 2), min_size=3, max_size=3),
    dilation=st.sampled_from([[1, 1, 1], [2, 1, 2]]),
    groups=st.integers(1, 2),
    mode=st.sampled_from(["zeros", "replicate"]),
    dtype=st.sampled_from([f32, bf16]),
    with_bias=st.booleans(),
    run=RUNS,
    target=st.sampled_from([*DEVICES]),
)
def test_a_convolution_with_depth_is_torchs_in_float64(
    extents, kernel, stride, padding, dilation, groups, mode, dtype, with_bias, run, target
):
    spans = zip(extents, kernel, padding, dilation, strict=True)
    assume(all(own + 2 * pad > apart * (taps - 1) for own, taps, pad, apart in spans))
    device = DEVICES[target]
    x, weight = random((2, *extents, 4), dtype, 1), random((6, 4 // groups, *kernel), dtype, 2)
    bias = random((1, 6), dtype, 3) * with_bias

    def golden(x, weight):
        around = [each for pad in reversed(padding) for each in (pad, pad)]
        padded = torch.nn.functional.pad(channels_first(x.double()), around, "constant" if mode == "zeros" else mode)
        y = torch.nn.functional.conv3d(padded, weight.double(), None, stride, 0, dilation, groups)
        return y.movedim(1, -1)

    given_weight = ttnn.from_torch(weight, device=device)
    if stride[0] == 1:
        given_weight = ttnn.experimental.prepare_conv3d_weights(given_weight, groups=groups, device=device)
    call = {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    call |= {"bias_tensor": ttnn.from_torch(bias, device=device) if with_bias else None, "padding_mode": mode}
    got = run_as(
        run,
        lambda x: ttnn.experimental.conv3d(x, given_weight, device=device, output_channels=6, **call),
        ttnn.from_torch(x, device=device),
    )
    want, magnitudes = golden(x, weight) + bias.double(), golden(x.abs(), weight.abs()) + bias.double().abs()
    assert got.layout is ttnn.ROW_MAJOR_LAYOUT
    assert_near(ttnn.to_torch(got), want, magnitudes, weight[0].numel() + 1, dtype)


def test_a_repeated_edge_is_torchs(device):
    x, weight = random((1, 4, 5, 8), f32, 1), random((4, 8, 3, 3), f32, 2)
    got = ttnn.conv2d(
        input_tensor=ttnn.from_torch(x, device=device), weight_tensor=ttnn.from_torch(weight), device=device,
        in_channels=8, out_channels=4, batch_size=1, input_height=4, input_width=5, kernel_size=(3, 3), padding=(1, 1),
        conv_config=ttnn.Conv2dConfig(padding_mode=ttnn.PaddingMode.Replicate),
    )  # fmt: skip
    padded = torch.nn.functional.pad(channels_first(x.double()), (1, 1, 1, 1), "replicate")
    want = torch.nn.functional.conv2d(padded, weight.double()).permute(0, 2, 3, 1)
    torch.testing.assert_close(ttnn.to_torch(got).double().reshape(want.shape), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mirror", [False, True])
def test_weights_of_a_transposed_convolution_are_prepared_once(mirror, device):
    x, weight = random((1, 4, 4, 6), f32, 1), random((6, 4, 3, 3), f32, 2)
    call = {"in_channels": 6, "out_channels": 4, "batch_size": 1, "input_height": 4, "input_width": 4}
    call |= {"kernel_size": (3, 3), "stride": (2, 2), "padding": (1, 1), "device": device}
    keywords = {"input_memory_config": ttnn.DRAM_MEMORY_CONFIG, "input_layout": ttnn.TILE_LAYOUT}
    prepared = ttnn.prepare_conv_transpose2d_weights(
        weight_tensor=ttnn.from_torch(weight), weights_format="IOHW", has_bias=False, mirror_kernel=mirror, **keywords,
        **call,
    )  # fmt: skip
    given = ttnn.from_torch(x, device=device)
    got, want = (
        ttnn.conv_transpose2d(input_tensor=given, weight_tensor=each, mirror_kernel=mirror, **call)
        for each in (prepared, ttnn.from_torch(weight))
    )
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(want))


def test_weights_of_block_floats_are_prepared_inside_a_program_too(device):
    x, weight = random((1, 4, 8, 32), bf16, 1), random((32, 32, 3, 3), bf16, 2)
    call = {"in_channels": 32, "out_channels": 32, "batch_size": 1, "input_height": 4, "input_width": 8}
    call |= {"kernel_size": (3, 3), "padding": (1, 1), "conv_config": ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat8_b)}
    given, weight_on_device = ttnn.from_torch(x, device=device), ttnn.from_torch(weight, device=device)
    jitted = ttnn_jit.jit()(lambda x: ttnn.conv2d(input_tensor=x, weight_tensor=weight_on_device, **call))
    assert torch.equal(
        ttnn.to_torch(jitted(given)),
        ttnn.to_torch(ttnn.conv2d(input_tensor=given, weight_tensor=weight_on_device, **call)),
    )


def test_channels_are_moved_before_pixels_and_back(device):
    x = random((1, 1, 32, 64), bf16, 1)
    given = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    chw = ttnn.experimental.convert_to_chw(given, dtype=ttnn.float32)
    assert (chw.layout, chw.dtype) == (ttnn.ROW_MAJOR_LAYOUT, ttnn.float32)
    assert torch.equal(ttnn.to_torch(chw), x.mT.float())
    assert torch.equal(ttnn.to_torch(ttnn.experimental.convert_to_hwc(chw)), x.float())
