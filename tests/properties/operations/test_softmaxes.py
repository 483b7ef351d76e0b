"""Softmax and its variants against torch in float64: both stable forms, masked scores, in place."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError

TARGETS = pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
FRONTENDS = pytest.mark.parametrize("graph_capture", [False, True])
SCORES = st.lists(st.integers(1, 40), min_size=2, max_size=4).map(tuple)


def assert_near(got, want):
    torch.testing.assert_close(got.double(), want, rtol=4e-6, atol=1e-6, equal_nan=True)


@settings(max_examples=25, deadline=None)
@given(shape=SCORES, stable=st.booleans(), peak=st.sampled_from([0.0, 90.0, -1e30, 3e38]), data=st.data())
def test_softmaxes_of_any_size_are_torchs(shape, stable, peak, data):
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = torch.randn(shape) + peak

    @jit(graph_capture=data.draw(st.booleans()))
    def both(x):
        return ttnn.softmax(x, dim, numeric_stable=stable), ttnn.log_softmax(x, dim, numeric_stable=stable)

    softmax, log_softmax = both(x)
    assert_near(softmax, torch.softmax(x.double(), dim))
    assert_near(log_softmax, torch.log_softmax(x.double(), dim))


def test_log_softmax_keeps_what_softmax_makes_zero():
    x = torch.tensor([[0.0, -200.0, 1.0]])
    assert_near(jit()(lambda x: ttnn.log_softmax(x))(x), torch.log_softmax(x.double(), -1))


@settings(max_examples=25, deadline=None)
@given(shape=SCORES, scale=st.sampled_from([None, 0.125, -2.0]), size=st.sampled_from([None, 64]), data=st.data())
def test_a_mask_of_any_extents_that_broadcast_is_added_to_scaled_scores(shape, scale, size, data):
    kept = data.draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    first = data.draw(st.integers(0, len(shape) - 1))
    extents = tuple(extent if keep else 1 for extent, keep in zip(shape, kept, strict=True))[first:]
    x, mask = torch.randn(shape), torch.randn(extents)
    mask[torch.rand(extents) < 0.3] = -torch.inf

    @jit(graph_capture=data.draw(st.booleans()))
    def both(x, mask):
        return (
            ttnn.scale_mask_softmax(x, scale, mask),
            ttnn.transformer.attention_softmax(x, head_size=size, attention_mask=mask),
        )

    scaled, attention = both(x, mask)
    assert_near(scaled, torch.softmax(x.double() * (1.0 if scale is None else scale) + mask, -1))
    assert_near(attention, torch.softmax(x.double() * (1.0 if size is None else 0.125) + mask, -1))


IN_PLACE = {
    "softmax_in_place": (lambda x, _: ttnn.softmax_in_place(x), 1.0, False),
    "along rows": (lambda x, _: ttnn.softmax_in_place(x, dim=-1, numeric_stable=True), 1.0, False),
    "scale": (lambda x, mask: ttnn.scale_mask_softmax_in_place(x, 0.5, mask, is_causal_mask=True), 0.5, True),
    "causal": (lambda x, mask: ttnn.scale_causal_mask_hw_dims_softmax_in_place(x, 0.5, mask), 0.5, True),
    "attention": (
        lambda x, mask: ttnn.transformer.attention_softmax_(x, head_size=16, attention_mask=mask),
        0.25,
        True,
    ),
}


@TARGETS
@pytest.mark.parametrize("name", IN_PLACE)
def test_a_softmax_in_place_writes_its_operand_and_returns_it(name, target):
    call, scale, takes_mask = IN_PLACE[name]
    x, mask = torch.randn(1, 2, 64, 96).bfloat16(), torch.full((1, 1, 64, 96), -torch.inf).triu(1).bfloat16()
    want = torch.softmax(x.double() * scale + (mask.double() if takes_mask else 0.0), -1)
    with ttnn.manage_device(0, target=target) as device:
        keywords = {"layout": ttnn.TILE_LAYOUT, "device": device}
        for run in (call, jit()(call), jit(graph_capture=True)(call)):
            tensor, other = ttnn.from_torch(x, **keywords), ttnn.from_torch(mask, **keywords)
            assert run(tensor, other) is tensor
            torch.testing.assert_close(ttnn.to_torch(tensor).double(), want, rtol=2**-8, atol=2**-10)


@TARGETS
def test_a_mask_for_all_rows_may_be_stored_as_rows_of_a_tiles_width(target):
    x, mask = torch.randn(2, 3, 32, 96), torch.randn(2, 1, 3, 32)
    want = torch.softmax(x.double() + mask.reshape(2, 1, 1, 96), -1)
    with ttnn.manage_device(0, target=target) as device:
        scores = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
        rows = ttnn.from_torch(mask, device=device)  # row-major, as masks are in ttnn
        assert_near(ttnn.to_torch(ttnn.scale_mask_softmax(scores, mask=rows)), want)


@FRONTENDS
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: ttnn.scale_mask_softmax(x, mask=ttnn.reshape(x, (40, 4))),
            r"`mask` has shape \[40, 4\], which does not broadcast to scores of \[4, 40\]",
        ),
        (
            lambda x: ttnn.scale_mask_softmax_in_place(x, 1.0, ttnn.reshape(x, (1, 1, 4, 40))[:, :, 1:]),
            r"`mask` has shape \[1, 1, 3, 40\]",
        ),
        (
            lambda x: ttnn.transformer.attention_softmax_(x, head_size=0),
            "a head has at least one channel, got `head_size` 0",
        ),
        (
            lambda x: ttnn.transformer.attention_softmax(x, attention_mask=ttnn.reshape(x, (2, 80))),
            r"`attention_mask` has shape \[2, 80\]",
        ),
        (lambda x: ttnn.scale_mask_softmax(x, scale="1"), "`scale` of .* must be a number, got str"),
        (lambda x: ttnn.log_softmax(x, 2), "there is no dimension 2"),
    ],
)
def test_mismatched_masks_are_refused_at_their_location(call, message, graph_capture):
    with pytest.raises(CompileError, match=message) as caught:
        jit(graph_capture=graph_capture)(call)(torch.zeros(4, 40))
    assert caught.value.location.file == __file__
