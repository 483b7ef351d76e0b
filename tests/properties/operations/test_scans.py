"""Running sums and products, and the index of the largest element, as in torch, for any values."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.modules import scheduled_module
from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.interpreters.tile_interpreter import interpret

VALUES = st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0, 3e38, -3e38, 1e-40, torch.inf, -torch.inf, torch.nan])


def cumsum(x, dim):
    return ttnn.cumsum(x, dim)


def cumprod(x, dim):
    return ttnn.cumprod(x, dim)


SCANS = {cumsum: torch.cumsum, cumprod: torch.cumprod}


@pytest.mark.parametrize("function", SCANS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_scan_is_rounded_once_an_element_in_every_executor_frontend_and_memory(function, dtype, device):
    x = (1 + torch.randn(6, 37, 5, generator=torch.Generator().manual_seed(2)) / 4).to(dtype)
    for dim in (0, 1, -1):
        program = jit()(lambda x: function(x, dim))  # noqa: B023 - compiled here
        got = program(x)
        assert torch.equal(got, SCANS[function](x.double(), dim).float().to(dtype))
        assert torch.equal(jit(graph_capture=True)(program.func)(x), got)
        assert torch.equal(jit(backend="numba")(program.func)(x), got)
        patterns = x.view(torch.int16).numpy().view("uint16") if dtype is torch.bfloat16 else x.numpy()
        (interpreted,) = interpret(scheduled_module(program, x), [patterns])
        assert (interpreted.reshape(-1).view("uint8") == got.contiguous().view(torch.uint8).numpy().reshape(-1)).all()
        on_device = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
        assert torch.equal(ttnn.to_torch(function(on_device, dim)), got)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.lists(VALUES, min_size=9, max_size=9), min_size=1, max_size=5),
    dim=st.integers(0, 1),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    backend=st.sampled_from(["ttnn", "numba"]),
)
def test_a_scan_over_infinities_and_nan_is_torchs_in_float64(rows, dim, dtype, backend):
    x = torch.tensor(rows).to(dtype)
    for function, expected in SCANS.items():
        got = jit(backend=backend)(lambda x: function(x, dim))(x)  # noqa: B023 - compiled here
        want = expected(x.double(), dim).float().to(dtype)
        assert torch.equal(got.isnan(), want.isnan())
        assert torch.equal(got.nan_to_num(nan=0.0), want.nan_to_num(nan=0.0))


@settings(max_examples=40, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 3), st.sampled_from([1, 33, 64, 130, 1100]), st.sampled_from([1, 15, 33, 64, 130])),
    dim=st.integers(-3, 2),
    dtype=st.sampled_from([torch.float32, torch.bfloat16, torch.int32, torch.uint8, torch.uint16, torch.uint32]),
    values=st.lists(VALUES, min_size=1, max_size=4),
    data=st.data(),
)
def test_the_first_of_the_largest_or_smallest_elements_is_found_and_nan_counts_as_both(shape, dim, dtype, values, data):
    """Everywhere else there are few different numbers, each of them repeated."""
    rare = data.draw(st.sampled_from([0.0, 0.001, 0.3]))
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 99)))
    x = torch.randint(-3, 4, shape, generator=generator)
    chosen = torch.rand(shape, generator=generator) < rare
    if dtype.is_floating_point:
        x = x.to(dtype)
        x[chosen] = torch.tensor(values).to(dtype)[torch.randint(len(values), shape, generator=generator)][chosen]
    else:
        x = torch.where(chosen, x - 2**30, x).to(dtype)
    exact = x.double() if dtype.is_floating_point else x.long()
    for function, farthest in ((ttnn.argmax, exact.amax(dim, True)), (ttnn.argmin, exact.amin(dim, True))):
        found = jit()(lambda x: function(x, dim=dim))(x).long()  # noqa: B023 - compiled here
        same = (exact == farthest) | (exact.isnan() & farthest.isnan())
        assert torch.equal(found, same.float().argmax(dim))


@settings(max_examples=15, deadline=None)
@given(
    shape=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    keepdim=st.booleans(),
    traced=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.int32]),
)
def test_without_a_dimension_the_index_is_that_in_the_flattened_tensor(shape, keepdim, traced, dtype):
    x = (torch.randn(shape) * 1e6).to(dtype)
    for function, golden in ((ttnn.argmax, torch.argmax), (ttnn.argmin, torch.argmin)):
        got = jit(graph_capture=traced)(lambda x: function(x, keepdim=keepdim))(x)  # noqa: B023 - compiled here
        assert torch.equal(got.long(), golden(x, None, keepdim))


@pytest.mark.parametrize("function", SCANS)
@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8])
def test_a_scan_of_integers_keeps_their_low_bits(function, dtype, device):
    x = torch.randint(-(2**31), 2**31 - 1, (5, 37), generator=torch.Generator().manual_seed(2)).to(dtype)
    want = SCANS[function](x.long(), 1).to(dtype)
    program = jit()(lambda x: function(x, 1))
    assert torch.equal(program(x), want)
    (interpreted,) = interpret(scheduled_module(program, x), [x.numpy()])
    assert torch.equal(torch.from_numpy(interpreted).view(dtype).reshape(x.shape), want)
    assert torch.equal(ttnn.to_torch(function(ttnn.from_torch(x, device=device), 1)), want)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: ttnn.argmax(x, (0, 1)), r"`dim` must be one dimension, got \[0, 1\]"),
        (lambda x: ttnn.argmax(x[:, :0], 1), "has no elements there, and so no argmax"),
        (lambda x: ttnn.argmin(x[:0]), "has no elements there, and so no argmin"),
        (lambda x: ttnn.cumsum(x, 2), "there is no dimension 2"),
    ],
)
def test_invalid_scan_dimensions_are_refused_by_name(program, message):
    with pytest.raises(CompileError, match=message) as caught:
        jit()(program)(torch.rand(3, 4))
    assert caught.value.location.file == __file__
