"""Reductions of integers: the low bits of the exact result in every executor; and reductions built on others."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from tests.modules import scheduled_module
from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.ops import OVERLOADS

DTYPES = {torch.int32: 2**32, torch.uint8: 2**8, torch.uint16: 2**16, torch.uint32: 2**32}
OF_ONE_DIMENSION = {"sum": torch.sum, "prod": torch.prod, "max": torch.amax, "min": torch.amin}
EXTREME = st.sampled_from([0, 1, -1, 2**31 - 1, -(2**31), 255, 65535, 3, 10**9])


@st.composite
def cases(draw):
    rank = draw(st.integers(1, 3))
    shape = draw(st.lists(st.sampled_from([1, 2, 5, 33, 40]), min_size=rank, max_size=rank))
    dim = draw(st.one_of(st.none(), st.integers(-rank, rank - 1), st.sets(st.integers(0, rank - 1), min_size=1)))
    return shape, sorted(dim) if isinstance(dim, set) else dim, draw(st.booleans())


def elements(shape, dtype, seed, some):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(-(2**31), 2**31 - 1, shape, generator=generator)
    chosen = torch.tensor(some)[torch.randint(len(some), shape, generator=generator)]
    return torch.where(torch.rand(shape, generator=generator) < 0.5, x, chosen).to(dtype)


def wanted(name, x, dim, keepdim):
    x = x.to(torch.int64)
    axes = range(x.dim()) if dim is None else [dim % x.dim()] if isinstance(dim, int) else dim
    for axis in sorted(axes, reverse=True):
        x = OF_ONE_DIMENSION[name](x, axis, keepdim)
    return x


def bits(x):
    return x.to(torch.int64) % DTYPES[x.dtype]


@settings(max_examples=10, deadline=None)
@given(
    case=cases(),
    name=st.sampled_from([*OF_ONE_DIMENSION]),
    dtype=st.sampled_from([*DTYPES]),
    seed=st.integers(0, 99),
    some=st.lists(EXTREME, min_size=1, max_size=3),
    traced=st.booleans(),
)
def test_a_reduction_of_integers_is_the_low_bits_of_the_exact_one(case, name, dtype, seed, some, traced):
    shape, dim, keepdim = case
    x = elements(shape, dtype, seed, some)
    program = jit(graph_capture=traced)(lambda x: getattr(ttnn, name)(x, dim, keepdim))
    got, want = program(x), wanted(name, x, dim, keepdim)
    assert got.dtype is dtype
    assert torch.equal(bits(got), want % DTYPES[dtype])
    stored = x.numpy()
    (interpreted,) = interpret(scheduled_module(program, x), [stored])
    assert np.array_equal(
        np.asarray(interpreted).reshape(-1).view("uint8"), got.contiguous().numpy().reshape(-1).view("uint8")
    )


@pytest.mark.parametrize("name", OF_ONE_DIMENSION)
@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_eager_reductions_of_integers_never_read_the_padding_of_tiles(name, layout, device):
    x = elements((2, 3, 37), torch.int32, 1, [7])
    on_device = ttnn.from_torch(x, layout=layout, device=device)
    for dim in (None, 0, -1, (1, 2)):
        got = getattr(ttnn, name)(on_device, dim, keepdim=True)
        assert (got.dtype, got.layout) == (ttnn.int32, layout)
        assert torch.equal(bits(ttnn.to_torch(got)), wanted(name, x, dim, keepdim=True) % 2**32)


@pytest.mark.parametrize("name", OF_ONE_DIMENSION)
def test_numba_reduces_integers_and_computes_with_the_result(name):
    x = elements((2, 3, 37), torch.int32, 1, [7])
    both = jit(backend="numba")(lambda x: ttnn.add(getattr(ttnn, name)(x, -1), 1))
    assert torch.equal(bits(both(x)), (wanted(name, x, -1, keepdim=False) + 1) % 2**32)


def test_empty_reductions_of_integers_are_neutral_or_refused():
    x = torch.zeros((3, 0), dtype=torch.int32)
    assert jit()(lambda x: ttnn.sum(x, 1))(x).tolist() == [0, 0, 0]
    assert jit()(lambda x: ttnn.prod(x, 1))(x).tolist() == [1, 1, 1]
    with pytest.raises(CompileError, match="`max` of no elements"):
        jit()(lambda x: ttnn.max(x, 1))(x)


ANY_AND_ALL = [one for name in ("any", "all") for one in OVERLOADS[name]]


@pytest.mark.parametrize("operation", ANY_AND_ALL)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.uint8])
def test_predicates_return_the_dtype_of_their_operands(operation, dtype, device):
    function = getattr(ttnn, operation.name)
    for shapes, statics in operation.examples:
        for share in (0.0, 0.5, 1.0):
            x = (torch.rand(shapes[0], generator=torch.Generator().manual_seed(4)) < share).to(dtype) * 3
            want = operation.golden(torch, x, *statics)
            assert torch.equal(jit()(lambda x: function(x, *statics))(x), want)  # noqa: B023 - compiled here
            on_device = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
            assert torch.equal(ttnn.to_torch(function(on_device, *statics)), want)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
@pytest.mark.parametrize("name", ["sum", "prod", "any", "all"])
def test_empty_tensors_have_the_results_of_torch(name, dtype):
    for shape, dim in (((0, 3), 0), ((2, 0, 3), 1), ((2, 0), -1), ((0, 2), -1), ((0,), 0)):
        x = torch.zeros(shape, dtype=dtype)
        got = jit()(lambda x: getattr(ttnn, name)(x, dim))(x)  # noqa: B023 - compiled here
        assert torch.equal(got, getattr(torch, name)(x, dim).to(dtype))


def test_nan_is_not_zero():
    x = torch.tensor([0.0, torch.nan])
    assert jit()(lambda x: ttnn.any(x))(x).item() == 1.0
    assert jit()(lambda x: ttnn.all(x))(x[1:]).item() == 1.0


@settings(max_examples=4, deadline=None)
@given(k=st.integers(1, 9), dim=st.integers(0, 1), largest=st.booleans(), traced=st.booleans(), seed=st.integers(0, 9))
def test_topk_returns_the_elements_at_the_given_indices(k, dim, largest, traced, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn((9, 12), generator=generator)
    named = torch.randint(0, 1000, (9, 12), generator=generator).to(torch.int32)
    program = jit(graph_capture=traced)(lambda x, i: ttnn.topk(x, k, dim, largest, indices_tensor=i))
    values, found = program(x, named)
    want, indices = torch.topk(x, k, dim, largest)
    assert torch.equal(values, want)
    assert torch.equal(found, torch.gather(named, dim, indices))
