"""Running sums and products, and the place of the largest element: as torch has them, whatever is there."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.codegen.tile_interpreter import interpret
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import parse_module

VALUES = st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0, 3e38, -3e38, 1e-40, torch.inf, -torch.inf, torch.nan])


def cumsum(x, dim):
    return ttnn.cumsum(x, dim)


def cumprod(x, dim):
    return ttnn.cumprod(x, dim)


SCANS = {cumsum: torch.cumsum, cumprod: torch.cumprod}


@pytest.mark.parametrize("function", SCANS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_scan_is_rounded_once_an_element_in_every_executor_frontend_and_place(function, dtype, device):
    x = (1 + torch.randn(6, 37, 5, generator=torch.Generator().manual_seed(2)) / 4).to(dtype)
    for dim in (0, 1, -1):
        program = jit()(lambda x: function(x, dim))  # noqa: B023 - compiled here
        got = program(x)
        assert torch.equal(got, SCANS[function](x.double(), dim).float().to(dtype))
        assert torch.equal(jit(graph_capture=True)(program.func)(x), got)
        assert torch.equal(jit(backend="numba")(program.func)(x), got)
        words = x.view(torch.int16).numpy().view("uint16") if dtype is torch.bfloat16 else x.numpy()
        (interpreted,) = interpret(parse_module(program.ir(x, stage="d2m-insert-dst-register-access")), [words])
        assert (interpreted.reshape(-1).view("uint8") == got.contiguous().view(torch.uint8).numpy().reshape(-1)).all()
        placed = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
        assert torch.equal(ttnn.to_torch(function(placed, dim)), got)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(VALUES, min_size=5, max_size=5), min_size=1, max_size=40))
def test_the_first_of_the_largest_elements_is_found_and_nan_is_the_largest(rows):
    x = torch.tensor(rows)
    found = jit()(lambda x: ttnn.argmax(x, dim=0))(x).long()
    largest = x.amax(0)
    same = (x == largest) | (x.isnan() & largest.isnan())
    assert torch.equal(found, same.float().argmax(0))


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (lambda x: ttnn.argmax(x), "one dimension is gone along, and not all dimensions"),
        (lambda x: ttnn.argmax(x, (0, 1)), r"one dimension is gone along, and not the dimensions \[0, 1\]"),
        (lambda x: ttnn.argmax(x[:, :0], 1), "has no elements, and so no largest one"),
        (lambda x: ttnn.cumsum(x, 2), "there is no dimension 2"),
        (lambda x: ttnn.cumprod(ttnn.typecast(x, ttnn.int32), 0), "does not take INT32 tensors"),
    ],
)
def test_what_cannot_be_gone_along_is_refused_by_name(program, said):
    with pytest.raises(CompileError, match=said) as caught:
        jit()(program)(torch.rand(3, 4))
    assert caught.value.location.file == __file__
