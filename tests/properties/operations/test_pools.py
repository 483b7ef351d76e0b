"""Pools and resampled images against torch in float64."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import assume, given, settings

import ttnn_jit
from tests.properties.operations.test_convolutions import DEVICES, UNIT, assert_near, bf16, channels_first, f32, random
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError

functional = torch.nn.functional


def rows(y):
    return y.permute(0, 2, 3, 1).reshape(1, 1, -1, y.shape[1])


@st.composite
def pools(draw):
    """Positional arguments of a pool after its tensor, except for the dilation."""
    kernel = [draw(st.integers(1, 4)) for _ in range(2)]
    return [
        draw(st.integers(1, 2)), draw(st.integers(1, 9)), draw(st.integers(1, 9)), draw(st.sampled_from([1, 3, 33])),
        kernel, [draw(st.integers(1, 3)) for _ in range(2)], [draw(st.integers(0, each // 2)) for each in kernel],
    ]  # fmt: skip


def tensor_of(arguments, dtype, *, specials=False):
    batch, height, width, channels, *_ = arguments
    x = random((batch, height, width, channels), dtype, 1)
    if specials:
        x.view(-1)[::7] = -math.inf
        x.view(-1)[::31] = math.nan
    return x


def on_device(x, target, layout, is_flat):
    x = x.reshape(1, 1, -1, x.shape[-1]) if is_flat else x
    return ttnn.from_torch(x, device=DEVICES[target], layout=layout)


LAYOUTS = st.sampled_from([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
WHERE = {"target": st.sampled_from([*DEVICES]), "layout": LAYOUTS, "is_flat": st.booleans()}


DILATIONS = st.sampled_from([[1, 1], [2, 1], [2, 2]])


def assume_windows(arguments, dilation):
    spans = [apart * (taps - 1) + 1 for taps, apart in zip(arguments[4], dilation, strict=True)]
    assume(all(own + 2 * pad >= span for own, pad, span in zip(arguments[1:3], arguments[6], spans, strict=True)))


@settings(max_examples=8, deadline=None)
@given(arguments=pools(), dilation=DILATIONS, ceil=st.booleans(), dtype=st.sampled_from([f32, bf16]), **WHERE)
def test_a_pool_of_largest_elements_has_torchs_bits(arguments, dilation, ceil, dtype, target, layout, is_flat):
    assume_windows(arguments, dilation)
    x = tensor_of(arguments, dtype, specials=target == "cpu")
    want = functional.max_pool2d(channels_first(x), *arguments[4:], dilation, ceil)
    got = ttnn.max_pool2d(on_device(x, target, layout, is_flat), *arguments, dilation, ceil)
    torch.testing.assert_close(ttnn.to_torch(got), rows(want), rtol=0, atol=0, equal_nan=True)
    assert got.layout is ttnn.ROW_MAJOR_LAYOUT


@settings(max_examples=2, deadline=None)  # numba compiles each
@given(arguments=pools(), dilation=DILATIONS, ceil=st.booleans(), **WHERE)
def test_the_indices_of_maxima_are_torchs(arguments, dilation, ceil, target, layout, is_flat):
    assume_windows(arguments, dilation)
    x = tensor_of(arguments, f32, specials=target == "cpu")
    want, positions = functional.max_pool2d(channels_first(x), *arguments[4:], dilation, ceil, return_indices=True)
    got, indices = ttnn.max_pool2d(
        on_device(x, target, layout, is_flat), *arguments, dilation, ceil, return_indices=True
    )
    torch.testing.assert_close(ttnn.to_torch(got), rows(want), rtol=0, atol=0, equal_nan=True)
    assert torch.equal(ttnn.to_torch(indices).long(), rows(positions))
    assert indices.dtype is ttnn.uint16


@settings(max_examples=8, deadline=None)
@given(
    arguments=pools(),
    ceil=st.booleans(),
    counts_padding=st.booleans(),
    divisor=st.sampled_from([None, 3, -2]),
    dtype=st.sampled_from([f32, bf16]),
    **WHERE,
)
def test_a_mean_of_windows_is_torchs_in_float64(
    arguments, ceil, counts_padding, divisor, dtype, target, layout, is_flat
):
    assume(
        all(own + 2 * pad >= taps for own, pad, taps in zip(arguments[1:3], arguments[6], arguments[4], strict=True))
    )
    x = tensor_of(arguments, dtype)
    options = (*arguments[4:], ceil, counts_padding, divisor)
    got = ttnn.avg_pool2d(on_device(x, target, layout, is_flat), *arguments, ceil, counts_padding, divisor)
    want, magnitudes = (functional.avg_pool2d(channels_first(each.double()), *options) for each in (x, x.abs()))
    assert_near(ttnn.to_torch(got), rows(want), rows(magnitudes.abs()), 12, dtype)


def windows_of(x, fill, arguments, ends, dilation, ceil):
    """The elements of windows of `x`, channels first, in two last dimensions; no element lies beyond the padding."""
    spans = [apart * (taps - 1) + 1 for taps, apart in zip(arguments[4], dilation, strict=True)]
    counts, beyond = [], []
    for own, (before, after), span, step in zip(arguments[1:3], (ends[:2], ends[2:]), spans, arguments[5], strict=True):
        positions = (own + before + after - span) / step
        count = (math.ceil(positions) if ceil else math.floor(positions)) + 1
        counts.append(count - ((count - 1) * step >= own + before))  # no window starts in the trailing padding
        beyond.append(max(0, (counts[-1] - 1) * step + span - own - before - after))
    x = functional.pad(channels_first(x), (*ends[2:], *ends[:2]), value=fill)
    x = functional.pad(x, (0, beyond[1], 0, beyond[0]), value=min(fill, 0.0))
    for axis in range(2):
        x = x.unfold(2 + axis, spans[axis], arguments[5][axis]).narrow(2 + axis, 0, counts[axis])
    return x[..., :: dilation[0], :: dilation[1]]


@settings(max_examples=8, deadline=None)
@given(
    arguments=pools(),
    data=st.data(),
    dilation=DILATIONS,
    ceil=st.booleans(),
    counts_padding=st.booleans(),
    divisor=st.sampled_from([None, 5]),
    dtype=st.sampled_from([f32, bf16]),
    run=st.sampled_from(["eager", "source", "capture"]),
    **WHERE,
)
def test_pools_take_all_their_parameters_at_once(
    arguments, data, dilation, ceil, counts_padding, divisor, dtype, run, target, layout, is_flat
):
    *head, kernel, stride, _ = arguments
    ends = [data.draw(st.integers(0, taps // 2)) for taps in kernel for _ in range(2)]
    spans = [apart * (taps - 1) + 1 for taps, apart in zip(kernel, dilation, strict=True)]
    assume(all(head[1 + each] + sum(ends[2 * each : 2 * each + 2]) >= spans[each] for each in range(2)))
    x = tensor_of(arguments, dtype)
    given_x = on_device(x, target, layout, is_flat)

    def called(function):
        return function(given_x) if run == "eager" else ttnn_jit.jit(graph_capture=run == "capture")(function)(given_x)

    want = windows_of(x, -math.inf, arguments, ends, dilation, ceil).amax((-2, -1))
    got = called(lambda x: ttnn.max_pool2d(x, *head, kernel, stride, ends, dilation, ceil))
    assert torch.equal(ttnn.to_torch(got), rows(want))
    ones, of_ones = torch.ones_like(x).double(), float(counts_padding)
    want, magnitudes, counted = (
        windows_of(each, fill, arguments, ends, [1, 1], ceil).sum((-2, -1))
        for each, fill in ((x.double(), 0.0), (x.double().abs(), 0.0), (ones, of_ones))
    )
    shares = divisor or counted
    got = called(lambda x: ttnn.avg_pool2d(x, *head, kernel, stride, ends, ceil, counts_padding, divisor))
    assert_near(ttnn.to_torch(got), rows(want / shares), rows(magnitudes / shares), 12, dtype)


@pytest.mark.parametrize("target", DEVICES)
def test_windows_of_more_taps_than_a_reduction_has_chains_are_pooled(target):
    x = random((1, 36, 40, 3), f32, 1)
    given_x = ttnn.from_torch(x, device=DEVICES[target])
    arguments = (1, 36, 40, 3, [35, 33], [1, 3], [0, 0])
    want = functional.max_pool2d(channels_first(x), *arguments[4:])
    assert torch.equal(ttnn.to_torch(ttnn.max_pool2d(given_x, *arguments)), rows(want))
    want, magnitudes = (functional.avg_pool2d(channels_first(each.double()), *arguments[4:]) for each in (x, x.abs()))
    assert_near(ttnn.to_torch(ttnn.avg_pool2d(given_x, *arguments)), rows(want), rows(magnitudes), 16, f32)


@settings(max_examples=6, deadline=None)
@given(
    batch=st.integers(1, 2),
    extents=st.lists(st.integers(1, 9), min_size=2, max_size=2),
    counts=st.lists(st.integers(1, 9), min_size=2, max_size=2),
    target=st.sampled_from([*DEVICES]),
)
def test_adaptive_pools_are_torchs(batch, extents, counts, target):
    x = random((batch, *extents, 5), f32, 1)
    call = {"batch_size": batch, "input_h": extents[0], "input_w": extents[1], "channels": 5, "output_size": counts}
    call["input_tensor"] = ttnn.from_torch(x, device=DEVICES[target])
    want, magnitudes = (functional.adaptive_avg_pool2d(channels_first(each.double()), counts) for each in (x, x.abs()))
    assert_near(ttnn.to_torch(ttnn.adaptive_avg_pool2d(**call)), rows(want), rows(magnitudes), 12, f32)
    want = functional.adaptive_max_pool2d(channels_first(x), counts)
    assert torch.equal(ttnn.to_torch(ttnn.adaptive_max_pool2d(**call)), rows(want))


@settings(max_examples=6, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 2), st.integers(1, 5), st.integers(1, 5), st.sampled_from([1, 8])),
    factors=st.lists(st.integers(1, 4), min_size=2, max_size=2),
    mode=st.sampled_from(["nearest", "bilinear"]),
    dtype=st.sampled_from([f32, bf16]),
    target=st.sampled_from([*DEVICES]),
)
def test_a_larger_image_is_torchs_in_float64(shape, factors, mode, dtype, target):
    x = random(shape, dtype, 1)
    corners = {} if mode == "nearest" else {"align_corners": False}
    want, magnitudes = (
        functional.interpolate(channels_first(each.double()), scale_factor=factors, mode=mode, **corners)
        for each in (x, x.abs())
    )
    got = ttnn.upsample(ttnn.from_torch(x, device=DEVICES[target]), factors, mode=mode)
    assert_near(channels_first(ttnn.to_torch(got)), want, magnitudes, 8, dtype)
    if mode == "nearest":
        assert torch.equal(channels_first(ttnn.to_torch(got)).double(), want)


FACTORS = st.one_of(st.sampled_from([1.5, 2.25, 0.5, 1.1, 0.7, 3.0]), st.floats(0.3, 3.7))


@settings(max_examples=6, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 2), st.integers(4, 20), st.integers(4, 20), st.sampled_from([1, 7])),
    factors=st.tuples(FACTORS, FACTORS),
    mode=st.sampled_from(["nearest", "bilinear"]),
    dtype=st.sampled_from([f32, bf16]),
    target=st.sampled_from([*DEVICES]),
)
def test_an_image_of_a_fractional_factor_is_torchs_in_float64(shape, factors, mode, dtype, target):
    x = random(shape, dtype, 1)
    corners = {} if mode == "nearest" else {"align_corners": False}
    want, magnitudes = (
        functional.interpolate(channels_first(each.double()), scale_factor=factors, mode=mode, **corners)
        for each in (x, x.abs())
    )
    tensor = ttnn.from_torch(x, device=DEVICES[target])
    eager = ttnn.to_torch(ttnn.upsample(tensor, [*factors], mode=mode))
    jitted = ttnn_jit.jit()(lambda x: ttnn.upsample(x, factors, mode=mode))(x)
    assert torch.equal(eager, jitted)
    assert_near(channels_first(eager), want, magnitudes, 8, dtype)
    if mode == "nearest":
        assert torch.equal(channels_first(eager).double(), want)


@pytest.mark.parametrize("factor", [2, 2.0, (2, 2), [2.0, 2]])
def test_a_factor_may_be_one_or_two_whole_numbers_of_any_type(factor, device):
    x = ttnn.from_torch(random((1, 2, 3, 4), f32, 1), device=device)
    assert tuple(ttnn.upsample(x, scale_factor=factor).shape) == (1, 4, 6, 4)


@settings(max_examples=6, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 2), st.integers(1, 5), st.integers(1, 5), st.sampled_from([1, 8])),
    extents=st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 2)),
    align=st.booleans(),
    batched=st.booleans(),
    mode=st.sampled_from(["nearest", "bilinear"]),
    dtype=st.sampled_from([f32, bf16]),
    target=st.sampled_from([*DEVICES]),
)
def test_a_sampled_image_is_torchs_in_float64(shape, extents, align, batched, mode, dtype, target):
    height, width, pairs = extents
    x = random(shape, dtype, 1)
    grid = torch.rand((shape[0], height, width, 2 * pairs), generator=torch.Generator().manual_seed(2)) * 2.6 - 1.3
    device = DEVICES[target]
    got = ttnn.grid_sample(
        ttnn.from_torch(x, device=device), ttnn.from_torch(grid, device=device), align_corners=align,
        batch_output_channels=batched, mode=mode,
    )  # fmt: skip
    points = grid.double().reshape(shape[0], height, width * pairs, 2)
    want, magnitudes = (
        functional.grid_sample(channels_first(each.double()), points, mode, align_corners=align).permute(0, 2, 3, 1)
        for each in (x, torch.ones_like(x) * x.abs().max())
    )
    wanted = (shape[0], height, width, pairs * shape[3]) if batched else want.shape
    assert_near(ttnn.to_torch(got), want.reshape(wanted), magnitudes.reshape(wanted) + 1, 8, dtype, more=UNIT[dtype])


def test_nan_coordinates_sample_zeros(cpu_device):
    x = ttnn.from_torch(random((1, 3, 3, 2), f32, 1), device=cpu_device)
    grid = torch.tensor([math.nan, 0.0, math.inf, 0.0, 0.0, -math.inf, 1e30, -1e30]).reshape(1, 1, 4, 2)
    got = ttnn.to_torch(ttnn.grid_sample(x, ttnn.from_torch(grid, device=cpu_device)))
    assert torch.equal(got, torch.zeros(1, 1, 4, 2))


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize(("align", "batched"), [(False, False), (True, True)])
@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_a_precomputed_grid_samples_as_its_coordinates_do(align, batched, target, mode):
    device = DEVICES[target]
    x = random((2, 5, 300, 3), bf16, 1)
    grid = torch.rand((2, 3, 4, 2), generator=torch.Generator().manual_seed(2)) * 2.6 - 1.3
    grid[0, 0, 0] = math.nan
    prepared = ttnn.prepare_grid_sample_grid(ttnn.from_torch(grid), [*x.shape], align_corners=align, mode=mode)
    numbers = 2 if mode == "nearest" else 6
    assert (prepared.device(), tuple(prepared.shape), prepared.dtype) == (None, (2, 3, 4, numbers), ttnn.bfloat16)
    got = ttnn.grid_sample(
        ttnn.from_torch(x, device=device), ttnn.to_device(prepared, device), use_precomputed_grid=True,
        batch_output_channels=batched, mode=mode,
    )  # fmt: skip
    grid = grid.nan_to_num(-3.0)
    want = functional.grid_sample(channels_first(x.double()), grid.double(), mode, align_corners=align)
    want = want.permute(0, 2, 3, 1).reshape(got.shape)
    torch.testing.assert_close(ttnn.to_torch(got).double(), want, rtol=2.0**-6, atol=2.0**-6)


def test_grids_are_precomputed_on_the_host(device):
    grid = ttnn.from_torch(torch.zeros(1, 2, 2, 2), device=device)
    with pytest.raises(ArgumentError, match="of one on the host"):
        ttnn.prepare_grid_sample_grid(grid, [1, 4, 4, 8])
    with pytest.raises(ArgumentError, match="`mode` of prepare_grid_sample_grid is 'nearest' or 'bilinear' here"):
        ttnn.prepare_grid_sample_grid(grid, [1, 4, 4, 8], mode="cubic")
    with pytest.raises(ShapeError, match="does not sample images"):
        ttnn.prepare_grid_sample_grid(ttnn.from_torch(torch.zeros(1, 2, 2, 3)), [1, 4, 4, 8])
