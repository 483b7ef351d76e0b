"""`ttnn_jit.testing`: units in the last place, and the definition of close."""

import math

import numpy as np
import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.golden.distances import index_of_largest
from ttnn_jit.testing import assert_allclose, ulp_distance


@pytest.mark.parametrize(
    ("actual", "expected", "ulp"),
    [
        (1.0, 1.0, 0.0),
        (1.0, 1.0 + 2**-23, 1.0),
        (1.0, 1.0 - 2**-24, 1.0),  # below a power of two the unit is half as large
        (1.0, 1.0 + 2**-24, 0.5),
        (-2.0, -2.0 - 2**-22, 1.0),
        (0.0, 2**-149, 1.0),
        (0.0, -0.0, 0.0),
        (math.inf, math.inf, 0.0),
        (math.inf, 1e39, 0.0),
        (math.inf, 3.0e38, math.inf),
        (3.0e38, math.inf, math.inf),
        (math.nan, math.nan, 0.0),
        (math.nan, 1.0, math.inf),
        (1.0, math.nan, math.inf),
    ],
)
def test_distances_of_float32(actual, expected, ulp):
    assert ulp_distance(torch.tensor([actual]), torch.tensor([expected], dtype=torch.float64)).item() == ulp


def test_distances_of_bfloat16_are_larger_units():
    assert ulp_distance(torch.tensor([1.0]).bfloat16(), torch.tensor([1.0 + 2**-7])).item() == 1.0


def test_numpy_and_ttnn_tensors_are_taken():
    x = np.array([[1.0, 2.0]], np.float32)
    assert_allclose(x, x)
    assert_allclose(ttnn.from_torch(torch.from_numpy(x)), x)


def test_the_worst_element_is_named():
    actual, expected = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.float64)
    expected[1, 2] += 5 * 2**-23
    expected[0, 1] += 2 * 2**-23
    with pytest.raises(
        AssertionError, match=r"2 of 6 elements .* at \[1, 2\], is 1.0 for 1.0000005960464478: 5.000 ulp"
    ):
        assert_allclose(actual, expected, max_ulp=1)


@pytest.mark.parametrize("shape", [(), (1,), (3, 2, 4)])
def test_the_index_of_the_largest_element_is_torchs(shape):
    values = torch.rand(shape)
    assert index_of_largest(values) == tuple(map(int, torch.unravel_index(values.argmax(), shape)))


def test_bounds_add_up():
    actual, expected = torch.tensor([1.0]), torch.tensor([1.0 + 4 * 2**-23], dtype=torch.float64)
    assert_allclose(actual, expected, max_ulp=4)
    assert_allclose(actual, expected, max_ulp=2, atol=2 * 2**-23)
    assert_allclose(actual, expected, rtol=5e-7)
    for bounds in ({"max_ulp": 3.9}, {"atol": 1e-7}, {"rtol": 1e-7}, {}):
        with pytest.raises(AssertionError, match=r"4\.000 ulp"):
            assert_allclose(actual, expected, **bounds)


def test_nan_and_infinity_are_not_close_to_numbers_whatever_the_bounds():
    for actual, expected in [(math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (1.0, math.inf), (math.inf, -math.inf)]:
        with pytest.raises(AssertionError):
            assert_allclose(torch.tensor([actual]), torch.tensor([expected]), max_ulp=1e30, atol=1e30)


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint32, torch.uint8])
def test_integers_are_compared_exactly(dtype):
    given = torch.tensor([0, 200]).to(dtype)
    assert_allclose(given, torch.tensor([1.0, 198.5]), max_ulp=1.5)
    with pytest.raises(AssertionError, match=r"is 200\.0 for 198\.0: 2\.000 ulp"):
        assert_allclose(given, torch.tensor([0.0, 198.0]), max_ulp=1)


def test_other_shapes_and_dtypes_are_refused():
    with pytest.raises(ValueError, match="differ"):
        assert_allclose(torch.ones(2), torch.ones(1))
    with pytest.raises(ValueError, match="complex64"):
        assert_allclose(torch.ones(2).to(torch.complex64), torch.ones(2))


@pytest.mark.parametrize("expected", [torch.tensor([2.0]), torch.ones(3)])
def test_pytest_points_at_the_assertion_and_shows_no_frame_of_ours(expected):
    with pytest.raises((AssertionError, ValueError)) as raised:
        assert_allclose(torch.tensor([1.0]), expected)
    (shown,) = raised.traceback.filter(raised)
    assert str(shown.path) == __file__
