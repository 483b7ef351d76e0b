"""Indices of embeddings: shapes and types as in ttnn; a wrong type is refused before any element is read."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import OperandDTypeError, ShapeError

WEIGHT = torch.arange(50.0 * 32).reshape(50, 32).to(torch.bfloat16)


def on(x, dtype, device, layout=ttnn.ROW_MAJOR_LAYOUT):
    return ttnn.from_torch(x, dtype=dtype, layout=layout, device=device)


@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT])
@pytest.mark.parametrize("dtype", [ttnn.uint32, ttnn.bfloat16, ttnn.int32])
@pytest.mark.parametrize(
    ("shape", "rows"),
    [((7,), (7,)), ((3, 40), (3, 40)), ((3, 1, 40), (3, 40)), ((3, 1, 1, 40), (3, 40)), ((2, 3, 4), (2, 3, 4))],
)
def test_indices_have_any_rank_and_may_be_floats_of_16_bits(shape, rows, dtype, layout, device):
    indices = torch.randint(0, 50, shape, generator=torch.Generator().manual_seed(1))
    given = on(indices, dtype, device, layout), on(WEIGHT, ttnn.bfloat16, device)
    expected = WEIGHT[indices.reshape(rows)]
    for call in (ttnn.embedding, jit()(lambda i, w: ttnn.embedding(i, w))):
        assert torch.equal(ttnn.to_torch(call(*given)), expected)


@pytest.mark.parametrize("options", [{}, {"graph_capture": True}, {"backend": "numba"}])
def test_a_float_index_is_truncated_and_clamped_to_the_rows(options):
    indices = torch.tensor([1.0, 2.9, -0.5, -5.0, 1e30, float("nan"), float("-inf")]).to(torch.bfloat16)
    rows = jit(**options)(lambda i, w: ttnn.embedding(i, w))(indices, WEIGHT)
    assert torch.equal(rows, WEIGHT[[1, 2, 0, 0, 49, 0, 0]])


@pytest.mark.parametrize("number", [50.0, -1.0, float("inf"), float("nan")])
def test_an_index_that_names_no_row_is_refused_eagerly(number, device):
    indices = on(torch.tensor([[1.0, -0.5, number]]), ttnn.bfloat16, device)
    with pytest.raises(ShapeError, match="there is no row"):
        ttnn.embedding(indices, on(WEIGHT, ttnn.bfloat16, device))


def test_all_64_bits_of_an_index_count():
    rows = jit()(lambda i, w: ttnn.embedding(i, w))(torch.tensor([2**33 + 1, -(2**40), 3, 2**32]), WEIGHT)
    assert torch.equal(rows, WEIGHT[[49, 0, 3, 49]])


def test_the_gradient_of_an_embedding_takes_such_indices_too(device):
    indices = torch.tensor([[1, 3, 3, 0]])
    gradient = torch.arange(4.0 * 32).reshape(1, 4, 32)
    expected = torch.zeros(50, 32).index_add(0, indices.reshape(-1), gradient.reshape(4, 32))
    for dtype in (ttnn.uint32, ttnn.bfloat16):
        operands = on(indices, dtype, device), on(WEIGHT, ttnn.bfloat16, device), on(gradient, ttnn.bfloat16, device)
        found = ttnn.to_torch(ttnn.embedding_bw(*operands)).float()
        assert torch.equal(found.reshape(50, 32), expected.to(torch.bfloat16).float())


CALLS = {
    "embedding": lambda i, x: ttnn.embedding(i, x),
    "gather": lambda i, x: ttnn.gather(x, 0, i),
    "scatter": lambda i, x: ttnn.scatter(x, 0, i, x),
    "index_fill": lambda i, x: ttnn.index_fill(x, 0, ttnn.reshape(i, (-1,)), 1.0),
}


@pytest.mark.parametrize("beyond", [0, 9])
@pytest.mark.parametrize("name", CALLS)
def test_the_type_of_indices_is_refused_before_their_elements_are_read(name, beyond, device):
    x = on(torch.ones(2, 2), ttnn.bfloat16, device)
    indices = on(torch.full((2, 2), float(beyond)), ttnn.float32, device)
    with pytest.raises(OperandDTypeError, match="does not take FLOAT32 tensors"):
        CALLS[name](indices, x)
