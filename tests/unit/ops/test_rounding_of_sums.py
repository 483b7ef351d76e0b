"""The bound of sums that are rounded to bfloat16 after every tile of 32 products."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit.ops.texts.product_texts import rounding_of_sums


@pytest.mark.parametrize("terms", [20, 32, 65, 1024, 8192])
@pytest.mark.parametrize("mean", [0.0, 0.5])
def test_errors_of_sums_with_other_roundings_of_float32_are_bounded(terms, mean):
    generator = torch.Generator().manual_seed(terms)
    left, right = (
        (mean + torch.randn(shape, generator=generator)).bfloat16() for shape in ((128, terms), (terms, 128))
    )
    bound = rounding_of_sums(torch, left.double(), right.double())
    total = torch.zeros(128, 128)
    for begin in range(0, terms, 32):
        part = slice(begin, begin + 32)
        total = torch.addmm(total, left[:, part].float(), right[part].float()).bfloat16().float()
    error = (total.double() - left.double() @ right.double()).abs()
    assert bool((error <= bound).all())
    assert bool((bound <= error + 6 * 2.0**-7 * 4 * total.abs().max()).all())


def test_a_sum_of_ones_stands_still_where_a_tile_is_half_a_unit():
    ones = torch.ones(1, 16384, dtype=torch.float64)
    assert float(rounding_of_sums(torch, ones, ones.T)) == 8192 + 3 * 64


def test_factors_of_float32_are_truncated():
    factor = torch.tensor([[1 + 2.0**-11]], dtype=torch.float64)
    assert float(rounding_of_sums(torch, factor, factor)) <= 2.0**-7 + 2.0**-9


def test_the_bound_has_the_shape_of_the_product():
    left, right = torch.ones(3, 1, 2, 40, dtype=torch.float64), torch.ones(4, 40, 5, dtype=torch.float64)
    assert rounding_of_sums(torch, left, right).shape == (3, 4, 2, 5)
    assert rounding_of_sums(torch, left, right[0, :, 0]).shape == (3, 1, 2)
    assert rounding_of_sums(torch, left[0, 0, 0], right[0]).shape == (5,)
