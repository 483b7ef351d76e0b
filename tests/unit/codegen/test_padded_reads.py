"""Elementwise launches read padded operands without a copy, and one row of padding; no bit depends on it."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import assume, given, settings

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.codegen.fusion import padded_reads

TARGETS = ["wormhole_b0", "cpu"]


def images(shape, dtype, target):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    device = ttnn.open_device(device_id=0, target=target)
    return ttnn.from_torch(x, device=device, layout=ttnn.TILE_LAYOUT)


def launches(jitted, x):
    return [line.split(":")[1] for line in str(jitted.explain(x)).splitlines() if line.strip().startswith("launch ")]


def pads(lines):
    """The launches that only pad."""
    return [line for line in lines if line.split("  (")[0].strip() == "pad"]


def whole_and_in_parts(program, x):
    """The results of whole launches, of launches that are cut, and the launches."""
    found = []
    for least in (1 << 40, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(padded_reads, "LEAST_ELEMENTS", least)
            jitted = ttnn_jit.jit(enable_cache=False)(program)
            found.append(ttnn.to_torch(jitted(x)))
            lines = launches(jitted, x)
    return *found, lines


@st.composite
def windows(draw):
    kernel = [draw(st.integers(1, 3)) for _ in range(2)]
    return {
        "extents": [draw(st.integers(1, 7)) for _ in range(2)],
        "kernel": kernel,
        "stride": [draw(st.integers(1, 3)) for _ in range(2)],
        "padding": [draw(st.integers(0, 3)) for _ in range(4)],
        "dilation": [draw(st.integers(1, 2)) for _ in range(2)],
    }


@settings(max_examples=10, deadline=None)
@given(
    own=windows(),
    batch=st.integers(1, 2),
    channels=st.sampled_from([3, 40, 64]),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    target=st.sampled_from(TARGETS),
)
def test_depthwise_windows_beyond_any_border_have_the_bits_of_the_whole(own, batch, channels, dtype, target):
    (top, bottom, left, right), (height, width) = own["padding"], own["extents"]
    spans = [apart * (taps - 1) + 1 for taps, apart in zip(own["kernel"], own["dilation"], strict=True)]
    assume(height + top + bottom >= spans[0] and width + left + right >= spans[1])
    x = images((batch, height, width, channels), dtype, target)
    weight = torch.randn((channels, 1, *own["kernel"]), generator=torch.Generator().manual_seed(2)).to(dtype)

    def program(x):
        return ttnn.conv2d(
            input_tensor=x, weight_tensor=prepared, device=x.device(), in_channels=channels, out_channels=channels,
            batch_size=batch, input_height=height, input_width=width, kernel_size=own["kernel"],
            stride=own["stride"], padding=own["padding"], dilation=own["dilation"], groups=channels,
        )  # fmt: skip

    prepared = ttnn.from_torch(weight, device=x.device())
    whole, parts, lines = whole_and_in_parts(program, x)
    assert torch.equal(parts, whole)
    assert len(pads(lines)) == int(any(own["padding"]) and any(_meets_padding(own)))


def _meets_padding(own):
    """Per dimension and side, whether a window reaches padding: then one row of padding is written."""
    pairs = own["padding"][:2], own["padding"][2:]
    for extent, (before, after), taps, step, apart in zip(
        own["extents"], pairs, own["kernel"], own["stride"], own["dilation"], strict=True
    ):
        last = (extent + before + after - apart * (taps - 1) - 1) // step * step + apart * (taps - 1)
        yield before > 0 or last >= extent + before


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("ceil", [False, True])
def test_a_pool_reads_its_padded_operand_without_a_copy(target, ceil):
    x = images((2, 9, 12, 64), torch.float32, target)
    program = lambda x: ttnn.max_pool2d(x, 2, 9, 12, 64, [3, 3], [2, 2], [1, 1], ceil_mode=ceil)  # noqa: E731
    whole, parts, lines = whole_and_in_parts(program, x)
    assert torch.equal(parts, whole)
    assert len(pads(lines)) == 1
    assert sum("maximum" in line for line in lines) == (9 if ceil else 6)


def test_a_padded_tensor_with_other_readers_is_materialized(cpu_device, monkeypatch):
    monkeypatch.setattr(padded_reads, "LEAST_ELEMENTS", 0)
    x = ttnn.from_torch(torch.randn(4, 8, 16), device=cpu_device)

    def program(x):
        padded = ttnn.pad(x, ((0, 0), (1, 1), (0, 0)), 0.0)
        return padded, ttnn.add(padded[:, 0:8], padded[:, 2:10])

    padded, _ = ttnn_jit.jit(enable_cache=False)(program)(x)
    assert torch.equal(ttnn.to_torch(padded), torch.nn.functional.pad(ttnn.to_torch(x), (0, 0, 1, 1)))


@pytest.mark.parametrize("target", TARGETS)
def test_one_of_two_nested_paddings_is_read_through(target):
    x = images((1, 4, 5, 32), torch.float32, target)

    def program(x):
        padded = ttnn.pad(ttnn.pad(x, ((0, 0), (1, 0), (0, 2), (0, 0)), 2.0), ((0, 0), (1, 1), (1, 1), (0, 0)), 3.0)
        return ttnn.add(padded[:, :5], padded[:, 2:7])

    whole, parts, _ = whole_and_in_parts(program, x)
    assert torch.equal(parts, whole)
    pad = torch.nn.functional.pad
    want = pad(pad(ttnn.to_torch(x), (0, 0, 0, 2, 1, 0), value=2.0), (0, 0, 1, 1, 1, 1), value=3.0)
    assert torch.equal(whole, want[:, :5] + want[:, 2:7])


def test_small_tensors_are_copied(cpu_device):
    x = ttnn.from_torch(torch.randn(1, 4, 4, 8), device=cpu_device)
    jitted = ttnn_jit.jit(enable_cache=False)(lambda x: ttnn.max_pool2d(x, 1, 4, 4, 8, [3, 3], [1, 1], [1, 1]))
    jitted(x)
    assert len(pads(launches(jitted, x))) > 1
