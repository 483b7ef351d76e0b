"""Routines: topk and embedding against torch, in every executor and frontend."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects import parse_module
from ttnn_jit.interpreters.tile_interpreter import interpret

BIT_TYPES = {torch.float32: torch.int32, torch.bfloat16: torch.int16}


def same_bits(got, want):
    patterns = BIT_TYPES[want.dtype]
    return got.shape == want.shape and torch.equal(got.contiguous().view(patterns), want.contiguous().view(patterns))


def array_of(x):
    return x.view(torch.int16).numpy().view("uint16") if x.dtype is torch.bfloat16 else x.numpy()


def first(x, k, dim, largest):
    """Values and indices by a stable sort, NaN as the largest: of equal elements the first ones."""
    moved = x.double().movedim(dim, -1)
    is_nan, keys = moved.isnan().numpy(), moved.nan_to_num(0.0).numpy()
    order = np.lexsort((-keys, ~is_nan) if largest else (keys, is_nan), axis=-1)[..., :k]
    indices = torch.from_numpy(order.copy()).movedim(-1, dim)
    return torch.gather(x.view(BIT_TYPES[x.dtype]), dim, indices).view(x.dtype), indices  # gathering floats changes NaN


@st.composite
def cases(draw):
    shape = tuple(draw(st.integers(1, 9)) for _ in range(draw(st.integers(1, 3))))
    dim = draw(st.integers(0, len(shape) - 1))
    return shape, draw(st.integers(1, shape[dim])), dim, draw(st.booleans()), draw(st.integers(0, 99))


@settings(max_examples=30, deadline=None)
@given(case=cases(), dtype=st.sampled_from([*BIT_TYPES]))
def test_topk_takes_the_first_elements_of_a_stable_order(case, dtype):
    shape, k, dim, largest, seed = case
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(-3, 3, shape, generator=generator).to(dtype)
    x[torch.rand(shape, generator=generator) < 0.1] = torch.nan
    values, indices = jit()(lambda x: ttnn.topk(x, k, dim=dim, largest=largest))(x)
    want, order = first(x, k, dim, largest)
    assert indices.dtype is torch.uint16
    assert torch.equal(indices.long(), order)
    assert same_bits(values, want)


@pytest.mark.parametrize("dtype", BIT_TYPES)
def test_topk_is_the_same_in_every_frontend_executor_layout_and_with_other_strides(dtype, device):
    x = torch.randn(5, 3, 40, generator=torch.Generator().manual_seed(1)).to(dtype)
    want, order = first(x, 7, 2, largest=True)

    def program(x):
        values, indices = ttnn.topk(x, 7)
        return values, indices

    def check(values, indices):
        assert same_bits(values, want)
        assert torch.equal(indices.long(), order)

    for options in ({}, {"graph_capture": True}, {"backend": "numba"}):
        check(*jit(**options)(program)(x))
    check(*jit()(program)(x.transpose(0, 2).contiguous().transpose(0, 2)))
    module = parse_module(jit()(program).ir(x, stage="d2m-insert-dst-register-access"))
    values, indices = interpret(module, [array_of(x)])
    check(torch.from_numpy(values.copy()).view(dtype), torch.from_numpy(indices.astype(np.int64)))
    for layout in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
        tensor = ttnn.from_torch(x, layout=layout, device=device)
        check(*map(ttnn.to_torch, ttnn.topk(tensor, 7)))


INDICES = {torch.int32: ttnn.int32, torch.uint8: ttnn.uint8}


@pytest.mark.parametrize("indices_dtype", INDICES)
@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize("shape", [(3, 40), (7,), (2, 3, 4)])
def test_an_embedding_gives_the_rows_that_indices_name(shape, dtype, indices_dtype, device):
    generator = torch.Generator().manual_seed(2)
    indices = torch.randint(0, 50, shape, generator=generator).to(indices_dtype)
    weight = torch.randn(50, 33, generator=generator).to(dtype)
    want = weight[indices.long()]

    def program(indices, weight):
        return ttnn.embedding(indices, weight)

    for options in ({}, {"graph_capture": True}, {"backend": "numba"}):
        assert same_bits(jit(**options)(program)(indices, weight), want)
    module = parse_module(jit()(program).ir(indices, weight, stage="d2m-insert-dst-register-access"))
    (rows,) = interpret(module, [indices.numpy(), array_of(weight)])
    assert same_bits(torch.from_numpy(rows).view(dtype), want)
    tensors = [ttnn.from_torch(each, device=device) for each in (indices, weight)]
    for layout in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
        result = ttnn.embedding(*tensors, layout=layout)
        assert result.layout is layout
        assert same_bits(ttnn.to_torch(result), want)


def test_an_index_beyond_the_weight_is_clamped_to_the_nearest_row():
    weight = torch.randn(5, 4)
    indices = torch.tensor([-(2**31), -1, 4, 5, 2**31 - 1], dtype=torch.int32)
    assert same_bits(jit()(lambda i, w: ttnn.embedding(i, w))(indices, weight), weight[[0, 0, 4, 4, 4]])


@pytest.mark.parametrize("graph_capture", [False, True])
def test_the_chips_way_of_reading_the_weight_changes_no_row(graph_capture):
    indices, weight = torch.tensor([0, 3, 3], dtype=torch.int32), torch.randn(5, 33)

    def rows(i, w):
        return ttnn.embedding(i, w, padding_idx=3, embeddings_type=ttnn.EmbeddingsType.PADDED)

    assert same_bits(jit(graph_capture=graph_capture)(rows)(indices, weight), weight[indices.long()])


@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_layout_that_torchs_tensors_lack_is_ignored(graph_capture):
    indices, weight = torch.arange(7, dtype=torch.int32), torch.randn(50, 33)
    got = jit(graph_capture=graph_capture)(lambda i, w: ttnn.embedding(i, w, layout=ttnn.TILE_LAYOUT))
    assert same_bits(got(indices, weight), weight[:7])


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("index", [-1, 5])
def test_eagerly_an_index_beyond_the_weight_is_an_error_that_names_it_at_every_call(index, layout, device):
    weight = ttnn.from_torch(torch.randn(5, 4), layout=layout, device=device)
    fine = ttnn.from_torch(torch.tensor([[0, 4]] * 3, dtype=torch.int32), layout=layout, device=device)
    wrong = ttnn.from_torch(torch.tensor([[0, 0], [index, 0]], dtype=torch.int32), layout=layout, device=device)
    for _ in range(3):
        ttnn.embedding(fine, weight)
        with pytest.raises(TtnnJitError, match=f"ttnn.embedding: there is no row {index}: the weight has 5"):
            ttnn.embedding(wrong, weight)


def test_one_kernel_serves_weights_of_any_number_of_rows():
    for rows in (5, 40_000):
        weight, indices = torch.randn(rows, 4), torch.tensor([rows - 1, 0], dtype=torch.int32)
        assert same_bits(jit()(lambda i, w: ttnn.embedding(i, w))(indices, weight), weight[indices.long()])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ttnn.topk(x, 0), "k is 0"),
        (lambda x: ttnn.topk(x, 5), "dimension 1 of .3, 4. has 4 elements"),
        (lambda x: ttnn.topk(x, 2, dim=2), "there is no dimension 2"),
        (lambda x: ttnn.embedding(x, x), "`input_tensor` of `embedding` does not take FLOAT32"),
    ],
)
def test_wrong_arguments_are_refused_by_name(call, message):
    with pytest.raises(TtnnJitError, match=message):
        jit()(call)(torch.ones(3, 4))
