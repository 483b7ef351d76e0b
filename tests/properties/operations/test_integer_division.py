"""Quotients, remainders, divisors and multiples of integers, and bitwise operators: exact in every executor."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from tests.modules import scheduled_module
from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.interpreters.tile_interpreter import interpret

DTYPES = {torch.int32: (-(2**31), 2**31), torch.uint32: (0, 2**32), torch.uint8: (0, 256)}
EXTREME = (0, 1, -1, 2, -3, 7, 2**31 - 1, -(2**31), 2**32 - 1, 255)


def quotient(x, y):
    return 0 if y == 0 else x // y


def to_zero(x, y):
    return 0 if y == 0 else (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)


FUNCTIONS = {
    "floor_divide": (ttnn.floor_divide, quotient),
    "divide, floor": (lambda x, y: ttnn.divide(x, y, rounding_mode="floor"), quotient),
    "divide, trunc": (lambda x, y: ttnn.divide(x, y, rounding_mode="trunc"), to_zero),
    "remainder": (ttnn.remainder, lambda x, y: 0 if y == 0 else x - y * quotient(x, y)),
    "fmod": (ttnn.fmod, lambda x, y: 0 if y == 0 else x - y * to_zero(x, y)),
    "gcd": (ttnn.gcd, math.gcd),
    "lcm": (ttnn.lcm, math.lcm),
}


def elements(dtype, shape, seed):
    first, beyond = DTYPES[dtype]
    generator = torch.Generator().manual_seed(seed)
    some = torch.tensor([each for each in EXTREME if first <= each < beyond])
    x = torch.randint(first, beyond, shape, generator=generator)
    small = torch.randint(max(first, -9), 9, shape, generator=generator)
    chosen = some[torch.randint(len(some), shape, generator=generator)]
    return torch.stack([x, small, chosen])[
        torch.randint(3, shape, generator=generator), *torch.meshgrid(*map(torch.arange, shape), indexing="ij")
    ]


def wanted(golden, dtype, a, b):
    first, beyond = DTYPES[dtype]
    a, b = torch.broadcast_tensors(a, b)
    found = [golden(int(x), int(y)) for x, y in zip(a.reshape(-1), b.reshape(-1), strict=True)]
    return torch.tensor([(each - first) % (beyond - first) + first for each in found]).reshape(a.shape)


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=3, deadline=None)
@given(
    dtype=st.sampled_from([*DTYPES]),
    shapes=st.sampled_from([((3, 40), (3, 40)), ((2, 5, 1), (33,)), ((7,), (1,)), ((1, 4), (6, 1))]),
    seed=st.integers(0, 99),
    traced=st.booleans(),
)
def test_a_quotient_is_exact_and_0_where_the_divisor_is_0(name, dtype, shapes, seed, traced):
    function, golden = FUNCTIONS[name]
    a, b = elements(dtype, shapes[0], seed), elements(dtype, shapes[1], seed + 1)
    want = wanted(golden, dtype, a, b)
    program = jit(graph_capture=traced)(lambda a, b: function(a, b))
    got = program(a.to(dtype), b.to(dtype))
    assert got.dtype is dtype
    assert torch.equal(got.to(torch.int64), want)
    module = scheduled_module(program, a.to(dtype), b.to(dtype))
    (interpreted,) = interpret(module, [a.to(dtype).numpy(), b.to(dtype).numpy()])
    assert np.array_equal(np.asarray(interpreted).reshape(-1).view("uint8"), got.numpy().reshape(-1).view("uint8"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_number_may_be_on_either_side_eagerly_too(name, device):
    function, golden = FUNCTIONS[name]
    x = elements(torch.int32, (3, 37), 5)
    on_device = ttnn.from_torch(x.to(torch.int32), layout=ttnn.TILE_LAYOUT, device=device)
    seven = torch.full_like(x, 7)
    for got, want in ((function(on_device, 7), (x, seven)), (function(7, on_device), (seven, x))):
        assert got.dtype is ttnn.int32
        assert torch.equal(ttnn.to_torch(got).to(torch.int64), wanted(golden, torch.int32, *want))


def test_a_quotient_without_rounding_is_in_float32():
    x, y = torch.tensor([7, -7, 5, 0, 2**31 - 1]), torch.tensor([2, 2, 0, 0, 3])
    x, y = x.to(torch.int32), y.to(torch.int32)
    for program in (lambda x, y: ttnn.divide(x, y), lambda x, y: x / y):
        got = jit()(program)(x, y)
        assert got.dtype is torch.float32
        torch.testing.assert_close(got, x / y, rtol=0, atol=0, equal_nan=True)


def test_numbers_without_dimensions_are_divided():
    x, y = torch.tensor(7, dtype=torch.int32), torch.tensor(-2, dtype=torch.int32)
    assert jit()(lambda x, y: ttnn.floor_divide(x, y))(x, y).item() == -4


@pytest.mark.parametrize("mode", ["eager", "interpreted", "traced"])
def test_pythons_operators_on_bits_are_those_of_integers(mode, device):
    def function(x, y):
        z = (~x & y | 3 ^ (x << 2)) >> 1
        z &= 0xFFFF
        z |= x
        z ^= y
        z <<= 1
        z >>= 2
        return z

    x, y = (elements(torch.int32, (3, 37), seed).to(torch.int32) for seed in (1, 2))
    if mode == "eager":
        got = ttnn.to_torch(
            function(*(ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in (x, y)))
        )
    else:
        got = jit(graph_capture=mode == "traced")(function)(x, y)
    assert torch.equal(got, function(x, y))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: x & x, "`bitwise_and` does not take FLOAT32"),
        (lambda x: ~x, "`bitwise_not` does not take FLOAT32"),
        (lambda x: ttnn.gcd(x, x), "`gcd` does not take FLOAT32"),
        (
            lambda x: ttnn.gcd(ttnn.typecast(x, ttnn.int32), ttnn.typecast(x[:, :3], ttnn.int32)),
            "shapes that do not broadcast",
        ),
        (lambda x: ttnn.gcd(ttnn.typecast(x, ttnn.int32), ttnn.typecast(x, ttnn.uint8)), "different element types"),
        (lambda x: ttnn.gcd(ttnn.typecast(x, ttnn.int32), 1.5), "1.5"),
        (lambda x: ttnn.l1_loss(x, x[:1]), "and the prediction"),
        (lambda x: ttnn.l1_loss(x, x, 3), "must be a LossReductionMode, got int"),
        (lambda x: ttnn.glu(x[:, :5]), "has no equal halves"),
    ],
)
@pytest.mark.parametrize("graph_capture", [False, True])
def test_unsupported_integer_operands_are_refused_at_their_location(program, message, graph_capture):
    with pytest.raises(CompileError, match=message) as caught:
        jit(graph_capture=graph_capture)(program)(torch.rand(4, 40))
    assert caught.value.location.file == __file__
