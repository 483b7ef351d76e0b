"""Goldens of convolutions: Winograd's algorithm and single elements against torch's own convolution."""

from __future__ import annotations

import math
from unittest import mock

import pytest
import torch

from ttnn_jit.ops.convolution import convolution_goldens
from ttnn_jit.ops.convolution.convolution_goldens import Windowing, convolution_in_torch, elements_in_torch
from ttnn_jit.ops.families.element_goldens import index_of_places

USUAL = Windowing((3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1))


def winograd(x, weight, bias=None, padding=((1, 1), (1, 1))):
    windowing = Windowing((3, 3), (1, 1), padding, (1, 1), (1, 1))
    sizes = mock.patch.multiple(convolution_goldens, _LARGE=0, _TILES=5)
    with sizes, mock.patch.object(convolution_goldens, "_by_rows", return_value=None):
        return convolution_in_torch(torch, x, weight, bias, windowing)


@pytest.mark.parametrize("extents", [(3, 3), (4, 9), (17, 6), (16, 16)])
@pytest.mark.parametrize("padding", [((1, 1), (1, 1)), ((0, 0), (2, 0)), ((2, 1), (0, 3))])
def test_winograds_convolution_is_torchs(extents, padding):
    x, weight = torch.randn(2, 5, *extents).double(), torch.randn(7, 5, 3, 3).double()
    bias = torch.randn(7).double()
    (top, bottom), (left, right) = padding
    wanted = torch.nn.functional.conv2d(torch.nn.functional.pad(x, (left, right, top, bottom)), weight, bias)
    largest = float(x.abs().max() * weight.abs().flatten(1).sum(1).max())
    got = winograd(x, weight, bias, padding)
    assert float((got - wanted).abs().max()) <= 2.0**-46 * largest


@pytest.mark.parametrize("special", [math.inf, math.nan, 1e30])
def test_winograds_convolution_is_not_taken_of_magnitudes_that_hide_others(special):
    x = torch.randn(1, 4, 90, 90).double()
    x[0, 1, 2, 3] = special
    weight = torch.randn(3, 4, 3, 3).double() * (1e-9 if special == 1e30 else 1.0)
    weight[:, 1] = 0.0
    assert winograd(x, weight) is None


WINDOWINGS = [
    USUAL,
    Windowing((3, 2), (2, 1), ((0, 2), (1, 0)), (1, 1), (2, 1)),
    Windowing((2, 2), (1, 2), ((1, 1), (-1, 2)), (2, 3), (1, 1), groups=2),
    Windowing((3,), (2,), ((2, -1),), (1,), (1,), groups=2),
]


@pytest.mark.parametrize("windowing", WINDOWINGS)
def test_elements_of_a_convolution_are_the_sums_of_their_factors(windowing):
    x = torch.randn(2, 4, 9, 8)[(...,) if len(windowing.taps) == 2 else (..., 0)].double()
    weight = torch.randn(6, 4 // windowing.groups, *windowing.taps).double()
    bias = torch.randn(6).double()
    whole = convolution_in_torch(torch, x, weight, bias, windowing)
    with mock.patch.object(convolution_goldens, "_MAX_COLUMNS", 100):
        assert torch.allclose(convolution_in_torch(torch, x, weight, bias, windowing), whole)
    assert whole.shape[2:] == windowing.counts(x.shape[2:])
    places = torch.arange(whole.numel())
    elements = elements_in_torch(torch, x, weight, bias, windowing, index_of_places(torch, places, whole.shape))
    assert torch.allclose(elements.golden(torch, *elements.operands), whole.reshape(-1), atol=1e-12)
