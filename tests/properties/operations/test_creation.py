"""Tensors that a jitted function creates, of one number or a sequence, in both frontends and every executor."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.operations.test_movement import assert_bits
from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects import parse_module, verify
from ttnn_jit.interpreters.tile_interpreter import interpret

F32 = {"dtype": ttnn.float32}


def alone(x):
    return ttnn.zeros(x.shape, **F32), ttnn.full((3,), 7, dtype=ttnn.int32), ttnn.empty((0, 4), **F32)


def like(x):
    return ttnn.ones_like(x), ttnn.zeros_like(x, dtype=ttnn.bfloat16), ttnn.full_like(x, fill_value=-2.5)


def read(x):
    row = ttnn.full((1, x.shape[1]), 2.5, **F32)
    return x + ttnn.ones_like(x), ttnn.concat([x, row], dim=0), ttnn.exp(row), x[:1] + ttnn.ones(x.shape, **F32)


def moved(x):
    halves = ttnn.permute(ttnn.full((2, 3), 0.5), (1, 0))
    return halves, ttnn.sum(ttnn.ones_like(x), dim=0), ttnn.add(ttnn.ones_like(x), ttnn.ones_like(x))


def sequences(x):
    column = ttnn.reshape(ttnn.arange(x.shape[0], **F32), (x.shape[0], 1))
    return x * column, ttnn.arange(300), ttnn.arange(10, -10, -3, dtype=ttnn.int32), ttnn.arange(3, 3)


def diagonals(x):
    return (
        ttnn.eye(5, **F32),
        ttnn.eye(3, 40, dtype=ttnn.bfloat16),
        ttnn.eye(7, 2, dtype=ttnn.int32),
        x + ttnn.eye(*x.shape, **F32),
    )


IN_TORCH = {
    diagonals: lambda x: (
        torch.eye(5),
        torch.eye(3, 40).bfloat16(),
        torch.eye(7, 2, dtype=torch.int32),
        x + torch.eye(*x.shape),
    ),
    alone: lambda x: (torch.zeros_like(x), torch.full((3,), 7, dtype=torch.int32), torch.empty(0, 4)),
    like: lambda x: (torch.ones_like(x), torch.zeros_like(x).bfloat16(), torch.full_like(x, -2.5)),
    read: lambda x: (
        x + 1.0,
        torch.cat([x, torch.full((1, x.shape[1]), 2.5)]),
        torch.full((1, x.shape[1]), 2.5).double().exp().float(),
        x[:1] + torch.ones_like(x),
    ),
    moved: lambda x: (
        torch.full((3, 2), 0.5).bfloat16(),
        torch.full((x.shape[1],), float(x.shape[0])),
        torch.full_like(x, 2.0),
    ),
    sequences: lambda x: (
        x * torch.arange(x.shape[0])[:, None],
        torch.arange(300).bfloat16(),
        torch.arange(10, -10, -3, dtype=torch.int32),
        torch.empty(0).bfloat16(),
    ),
}


def array_of(x):
    return x.view(torch.int16).numpy().view("uint16") if x.dtype is torch.bfloat16 else x.numpy()


@pytest.mark.parametrize("program", IN_TORCH, ids=lambda program: program.__name__)
def test_tensors_created_in_a_function_equal_torchs(program):
    x = torch.randn(6, 40, generator=torch.Generator().manual_seed(1))
    want = IN_TORCH[program](x)
    for options in ({}, {"graph_capture": True}, {"backend": "numba"}):
        for got, expected in zip(jit(**options)(program)(x), want, strict=True):
            assert got.dtype is expected.dtype
            torch.testing.assert_close(got, expected, rtol=3e-7, atol=0.0)
    text = jit()(program).ir(x)
    assert text == jit(graph_capture=True)(program).ir(x)
    verify(parse_module(text))
    native = jit()(program)(x)
    for got, expected in zip(
        interpret(parse_module(jit()(program).ir(x, stage="d2m-insert-dst-register-access")), [x.numpy()]),
        native,
        strict=True,
    ):
        assert np.array_equal(got, array_of(expected))


@pytest.mark.parametrize("graph_capture", [False, True])
def test_tile_layout_among_torch_tensors_means_row_major(graph_capture):
    program = jit(graph_capture=graph_capture)(
        lambda x: (ttnn.full((3, 5), 2.0, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT), ttnn.exp(x))
    )
    made, _ = program(torch.ones(3, 5))
    assert torch.equal(made, torch.full((3, 5), 2.0))
    assert "!ttcore.tile" not in program.ir(torch.ones(3, 5))


@pytest.mark.parametrize("graph_capture", [False, True])
def test_on_a_chip_tensors_are_created_in_device_memory_by_the_host_program(graph_capture, device):
    x = torch.randn(64, 64)

    def program(x):
        zeros = ttnn.zeros((64, 64), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
        eye = ttnn.eye(64, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
        return x + zeros, ttnn.ones_like(x), ttnn.exp(ttnn.zeros_like(x)), x + eye

    function = jit(graph_capture=graph_capture)(program)
    tensor = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    wanted = x, torch.ones(64, 64), torch.ones(64, 64), x + torch.eye(64)
    for result, want in zip(function(tensor), wanted, strict=True):
        assert result.memory_config() == ttnn.DRAM_MEMORY_CONFIG
        assert_bits(ttnn.to_torch(result), want)
    assert '"ttnn.full"' in function.ir(tensor, stage="convert-d2m-to-ttnn")


KINDS = {torch.float32: ttnn.float32, torch.bfloat16: ttnn.bfloat16, torch.int32: ttnn.int32}


@settings(max_examples=8, deadline=None)
@given(
    st.sampled_from([-(2**25), -40, 0, 7, 2**24]), st.integers(-40, 40), st.integers(-9, 9).filter(bool),
    st.sampled_from([*KINDS]),
)  # fmt: skip
def test_sequences_of_any_ends_and_steps_are_pythons(start, extent, step, dtype):
    function = jit()(lambda _: ttnn.arange(start, start + extent, step, dtype=KINDS[dtype]))
    x = torch.ones(1)
    found, wanted = function(x), torch.tensor([*range(start, start + extent, step)]).to(dtype)
    assert found.dtype is dtype
    assert torch.equal(found, wanted)
    assert "compiled by numba" not in function.ir(x, stage="host")


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda _: ttnn.zeros((2, -1)), "the extents of a tensor are ints of at least 0"),
        (lambda _: ttnn.full((2, 2)), "missing 1 required positional argument: 'fill_value'"),
        (lambda _: ttnn.full((2, 2), 1.5, dtype=ttnn.int32), "`fill_value` is 1.5, and INT32 holds integers"),
        (lambda _: ttnn.ones_like(3), "the tensor that the result is like is a int"),
        (lambda x: ttnn.full((2, 2), x), "`fill_value` must be a number"),
        (lambda _: ttnn.eye(-1), "the extents of a tensor are ints of at least 0"),
        (lambda _: ttnn.arange(0, 5, 0), "`step` of arange is 0"),
        (lambda _: ttnn.arange(0, 300, dtype=ttnn.uint8), "a number of arange is 299, and UINT8 holds 0 to 255"),
    ],
)
def test_invalid_creations_are_refused_at_their_location(made, message, graph_capture):
    with pytest.raises(TtnnJitError, match=message) as raised:
        jit(graph_capture=graph_capture)(made)(torch.ones(2, 2))
    assert "^" in str(raised.value)
