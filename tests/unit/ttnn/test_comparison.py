"""`ttnn.pearson_correlation_coefficient`, rule by rule."""

import math

import pytest
import torch

from ttnn_jit import ttnn

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("expected", "actual", "pcc"),
    [
        ([NAN, NAN], [NAN, NAN], 1.0),
        ([NAN, NAN], [1.0, 2.0], 0.0),
        ([1.0, 2.0], [NAN, NAN], 0.0),
        ([0.0, 0.0], [1.0, 2.0], 0.0),
        ([1.0, 2.0], [0.0, 0.0], 0.0),
        ([0.0, 0.0], [0.0, -0.0], 1.0),
        ([1.0, INF, 3.0], [1.0, NAN, 3.0], 1.0),
        ([1.0, INF, 3.0], [1.0, -INF, 3.0], 1.0),
        ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0], -1.0),
        ([1.0, 1.0], [2.0, 2.0], 1.0),
        ([1.0, 2.0], [5.0, 5.0], 1.0),
        ([1.0, 2.0, 4.0], [2.0, 4.0, 8.0], 1.0),
    ],
)
def test_the_rules_of_pearson_correlation(expected, actual, pcc):
    assert ttnn.pearson_correlation_coefficient(torch.tensor(expected), torch.tensor(actual)) == pytest.approx(pcc)


def test_it_is_the_correlation_coefficient():
    a = torch.randn(50, 7)
    b = a + 0.1 * torch.randn(50, 7)
    exact = torch.corrcoef(torch.stack([a.flatten(), b.flatten()]).double())[0, 1].item()
    assert ttnn.pearson_correlation_coefficient(a, b) == pytest.approx(exact, abs=1e-12)
    assert ttnn.pearson_correlation_coefficient(a * 1e30, b * 1e30) == pytest.approx(exact, abs=1e-6)


def test_actual_is_cast_to_the_dtype_of_expected():
    assert ttnn.pearson_correlation_coefficient(torch.tensor([1.0, 2.0]).bfloat16(), torch.tensor([1.0001, 2.0])) == 1.0
    assert (
        ttnn.pearson_correlation_coefficient(torch.tensor([1.0, 2.0]), ttnn.from_torch(torch.tensor([1.0, 2.0]))) == 1
    )


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match="differ"):
        ttnn.pearson_correlation_coefficient(torch.ones(2), torch.ones(3))
