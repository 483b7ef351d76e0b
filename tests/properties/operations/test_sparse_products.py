"""`sparse_matmul`: the selected products only, with the bits of `matmul`, against torch in float64."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.ops.contraction.sparse_products import SPARSE_MATMUL

MODES = {"b": (False, True), "a": (True, False), "both": (True, True)}


@st.composite
def cases(draw):
    """Shapes of both operands and of the sparsity, the sparse operand, whether the count is given, and a seed."""
    first, second, experts = (draw(st.integers(1, 4)) for _ in range(3))
    rows, inner, columns = (draw(st.integers(1, 40)) for _ in range(3))
    mode = draw(st.sampled_from([*MODES]))
    left = {
        "b": (first, second),
        "a": (first, experts),
        "both": draw(st.sampled_from([(1, experts), (first, experts)])),
    }
    right = (left[mode][0], experts) if mode == "both" else (1, experts)
    groups = (1, *left[mode], experts) if mode == "b" else (1, 1, *left[mode])
    shapes = (*left[mode], rows, inner), (*right, inner, columns), groups
    return shapes, MODES[mode], draw(st.booleans()), draw(st.integers(0, 2**31))


def tensors_of(shapes, seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    a, b, sparsity = (torch.randn(shape, generator=generator).to(dtype) for shape in shapes)
    sparsity[torch.rand(shapes[-1], generator=generator) < 0.6] = 0.0
    sparsity[sparsity == 0] = -0.0
    sparsity.view(-1)[0] = 0.5
    return a, b, sparsity


@settings(max_examples=3, deadline=None)
@given(case=cases(), dtype=st.sampled_from([torch.float32, torch.bfloat16]), graph_capture=st.booleans())
def test_selected_products_are_torchs_and_others_zeros_with_or_without_a_count(case, dtype, graph_capture):
    shapes, (a_is_sparse, b_is_sparse), counted, seed = case
    a, b, sparsity = tensors_of(shapes, seed, dtype)
    wanted = int((sparsity != 0).sum())
    sparse = {"is_input_a_sparse": a_is_sparse, "is_input_b_sparse": b_is_sparse}
    nnz = wanted if counted else None

    def program(a, b, sparsity):
        return ttnn.sparse_matmul(a, b, sparsity=sparsity, nnz=nnz, **sparse)

    got = jit(graph_capture=graph_capture)(program)(a, b, sparsity)
    golden = SPARSE_MATMUL.golden(torch, a.double(), b.double(), sparsity, None, nnz, a_is_sparse, b_is_sparse)
    bound = 2e-6 if dtype is torch.float32 else 2.0**-8
    torch.testing.assert_close(got.double(), golden, rtol=bound, atol=16 * bound)
    left = a if a_is_sparse else a[:, :, None, None]
    every = jit()(lambda a, b: ttnn.matmul(a, b))(left.contiguous(), b)
    mask = (sparsity != 0).reshape(*every.shape[:-2], 1, 1)
    assert torch.equal(got, torch.where(mask, every, torch.zeros((), dtype=dtype)))


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_unselected_matrices_are_never_read_and_eager_calls_have_the_bits_of_jitted_ones(target):
    device = ttnn.open_device(device_id=0, target=target)
    a, b, sparsity = tensors_of([(1, 4, 32, 64), (1, 8, 64, 96), (1, 1, 4, 8)], 3, torch.bfloat16)
    unwanted = ~(sparsity != 0).reshape(4, 8).any(0)
    unwanted[5] = True
    sparsity[..., 5] = 0
    b[0, unwanted] = torch.nan
    tensors = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in (a, b)]
    tensors.append(ttnn.from_torch(sparsity, device=device))
    golden = SPARSE_MATMUL.golden(torch, a.double(), b.double(), sparsity, None, None, False, True)
    tile = ttnn.Tile((32, 32))
    for nnz in (None, int((sparsity != 0).sum())):

        def program(a, b, sparsity, nnz=nnz):
            return ttnn.sparse_matmul(a, b, sparsity=sparsity, nnz=nnz, output_tile=tile)

        eager, jitted = ttnn.to_torch(program(*tensors)), ttnn.to_torch(jit()(program)(*tensors))
        assert eager.isfinite().all()
        assert eager.shape == (1, 4, 1, 8, 32, 96)
        torch.testing.assert_close(eager.double(), golden, rtol=2.0**-7, atol=0.2 if target == "wormhole_b0" else 0.05)
        if target == "cpu":  # on chips eager products use fewer bits
            assert torch.equal(eager, jitted)
    ttnn.close_device(device)


@pytest.mark.parametrize("a_is_sparse", [False, True])
def test_indices_select_the_matrices_in_their_order(a_is_sparse, cpu_device):
    generator = torch.Generator().manual_seed(1)
    a, b = torch.randn(1, 3 if a_is_sparse else 1, 5, 33, generator=generator), torch.randn(1, 7, 33, 9)
    chosen = [6, 0, 3]
    indices = torch.tensor(chosen).reshape(1, 1, 1, 3)
    want = torch.matmul(a.double(), b.double()[:, chosen])
    chosen_indices = ttnn.from_torch(indices, dtype=ttnn.uint16, device=cpu_device)
    tensors = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=cpu_device) for each in (a, b)]
    sparsity = ttnn.zeros((1, 1, 1, 7), device=cpu_device)

    def program(a, b, sparsity, indices):
        return ttnn.sparse_matmul(a, b, sparsity=sparsity, indices=indices, is_input_a_sparse=a_is_sparse)

    for call in (program, jit()(program)):
        got = ttnn.to_torch(call(*tensors, sparsity, chosen_indices)).double()
        torch.testing.assert_close(got.reshape(want.shape), want, rtol=2e-6, atol=4e-5)


A, B = torch.ones(1, 2, 4, 8), torch.ones(1, 3, 8, 5)


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((A, B, torch.ones(1, 1, 2, 4)), {}, r"a sparsity of shape \[1, 1, 2, 4\] has no element for each of 6"),
        ((A, B.mT.contiguous(), torch.ones(6)), {}, "have no product"),
        ((A, B, torch.ones(6)), {"nnz": 7}, "`nnz` is 7, and there are 6 products"),
        ((A, B, torch.ones(6)), {"nnz": 0}, "`nnz` is 0"),
        ((A, B, torch.ones(6)), {"is_input_b_sparse": False}, "neither operand is sparse"),
        ((A, B, torch.ones(6)), {"is_input_a_sparse": True}, "do not broadcast"),
        ((A, B, torch.ones(6, dtype=torch.int32)), {}, "`sparsity` of `sparse_matmul` does not take INT32"),
    ],
)
def test_a_mismatched_call_is_refused_at_its_location(arguments, keywords, message, graph_capture):
    with pytest.raises(TtnnJitError, match=message) as raised:
        jit(graph_capture=graph_capture)(lambda a, b, s: ttnn.sparse_matmul(a, b, sparsity=s, **keywords))(*arguments)
    assert "^" in str(raised.value)


def test_a_count_that_is_not_that_of_the_sparsity_is_refused_eagerly(cpu_device):
    sparsity = torch.tensor([1.0, 0.0, -0.0, 2.0, 0.0, 0.0]).bfloat16()
    a, b, sparsity = (ttnn.from_torch(each, device=cpu_device) for each in (A, B, sparsity))
    assert math.prod(ttnn.sparse_matmul(a, b, sparsity=sparsity, nnz=2).shape) == 6 * 20
    with pytest.raises(TtnnJitError, match="`nnz` is 3, and 2 elements of the sparsity are not zero"):
        ttnn.sparse_matmul(a, b, sparsity=sparsity, nnz=3)
