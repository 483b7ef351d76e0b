"""A ttnn tensor is an ordinary object of Python's in eager code: true, and iterated by its first dimension."""

import warnings

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.ttnn.calling.operators import truth_with_warning

TRUE = pytest.mark.filterwarnings("ignore:a ttnn tensor is true")


@pytest.fixture
def pair():
    device = ttnn.open_device(device_id=0)
    x, y = (ttnn.from_torch(torch.full((2, 3), n), layout=ttnn.TILE_LAYOUT, device=device) for n in (0.0, 1.0))
    yield x, y
    ttnn.close_device(device)


@TRUE
def test_a_tensor_is_true_whatever_it_holds(pair):
    zeros, ones = pair
    assert bool(zeros) is True
    assert bool(ones) is True
    assert (zeros or ones) is zeros
    assert (zeros and ones) is ones
    assert (not zeros) is False
    assert (None or ones) is ones
    assert max(zeros, ones) is ones  # `ones > zeros`, a tensor, is true
    assert zeros in [zeros]
    assert any([zeros])
    assert all([zeros, ones])
    assert (1 if zeros else 2) == 1
    assert bool(ttnn.from_torch(torch.zeros(3)))


def test_the_first_of_all_questions_warns_at_the_users_line():
    truth = truth_with_warning()
    with pytest.warns(UserWarning, match=r"is true whatever its elements are(.|\n)*ttnn\.where") as said:
        assert truth(object())
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert truth(object())


@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize("function", [lambda x, y: x or y, lambda x, y: y if x else x, lambda x, y: not (x + y)])
def test_a_branch_on_a_tensor_of_a_jitted_function_is_still_refused(pair, function, capture):
    with pytest.raises(CompileError, match="a branch cannot depend on a tensor"):
        ttnn_jit.jit(graph_capture=capture)(function)(*pair)


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("shape", [(4,), (3, 2), (2, 3, 33), (1, 1, 2, 5)])
def test_iterating_gives_the_parts_along_the_first_dimension(shape, layout):
    device = ttnn.open_device(device_id=0, target="cpu")
    values = torch.randn(shape)
    parts = list(ttnn.from_torch(values, layout=layout, device=device))
    assert len(parts) == shape[0]
    for part, wanted in zip(parts, values, strict=True):
        assert torch.equal(part.to_torch(), wanted)
    ttnn.close_device(device)


def test_a_tensor_of_no_dimensions_has_no_parts():
    with pytest.raises(ArgumentError, match="no dimensions"):
        iter(ttnn.from_torch(torch.tensor(1.0)))
