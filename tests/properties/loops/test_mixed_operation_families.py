"""Random programs of elementwise operations, reductions, softmax and movements: against torch, numba, interpreter."""

from __future__ import annotations

import linecache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.dialects import parse_module
from ttnn_jit.interpreters.tile_interpreter import interpret

ELEMENTWISE = ("ttnn.tanh({})", "ttnn.abs({})", "ttnn.neg({})", "ttnn.sigmoid({})", "{} * 0.5", "{} + 1.0")
EXTENTS = st.sampled_from([1, 2, 3, 5, 16, 17, 32, 33, 40])


class InTorch:
    """The functions that the programs call, in torch."""

    tanh, abs, neg, sigmoid = torch.tanh, torch.abs, torch.neg, torch.sigmoid
    sum, mean, max, min = torch.sum, torch.mean, torch.amax, torch.amin
    softmax, permute = torch.softmax, torch.permute


@st.composite
def programs(draw):
    """The source of a function of two tensors of one shape, and the shape."""
    shape = tuple(draw(EXTENTS) for _ in range(draw(st.integers(1, 3))))
    values = [("x", shape), ("y", shape)]
    lines = []
    for number in range(draw(st.integers(2, 7))):
        name, own = draw(st.sampled_from(values[-4:]))
        kind = draw(st.sampled_from(["elementwise", "binary", "reduction", "softmax", "permute"]))
        if kind == "binary":
            fitting = [(other, its) for other, its in values if fits(own, its)]
            other, its = draw(st.sampled_from(fitting))
            text, made = f"{name} {draw(st.sampled_from('+-*'))} {other}", tuple(map(max, own, its))
        elif kind == "reduction" and own:
            dim, keepdim = draw(st.integers(0, len(own) - 1)), draw(st.booleans())
            text = f"ttnn.{draw(st.sampled_from(['sum', 'mean', 'max', 'min']))}({name}, {dim}, {keepdim})"
            made = (*own[:dim], *((1,) if keepdim else ()), *own[dim + 1 :])
        elif kind == "softmax" and own:
            text, made = f"ttnn.softmax({name}, {draw(st.integers(0, len(own) - 1))})", own
        elif kind == "permute" and own:
            order = tuple(draw(st.permutations(range(len(own)))))
            text, made = f"ttnn.permute({name}, {order})", tuple(own[dim] for dim in order)
        else:
            text, made = draw(st.sampled_from(ELEMENTWISE)).format(name), own
        lines.append(f"    v{number} = {text}")
        values.append((f"v{number}", made))
    returned = [name for name, _ in values[2:-1] if draw(st.integers(0, 6)) == 0]
    return "\n".join(["def program(x, y):", *lines, f"    return {', '.join([*returned, values[-1][0]])},"]), shape


def fits(own, other):
    return len(own) == len(other) and all(a == b or 1 in {a, b} for a, b in zip(own, other, strict=True))


def function_of(source, namespace):
    file = f"<program {abs(hash(source))}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    scope = {"ttnn": namespace}
    exec(compile(source, file, "exec"), scope)
    return scope["program"]


def inputs(shape, seed, *, transposed):
    generator = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(shape, generator=generator) for _ in range(2))
    return (x.transpose(0, -1).contiguous().transpose(0, -1) if transposed else x), y


@settings(max_examples=40, deadline=None)
@given(program=programs(), seed=st.integers(0, 99), transposed=st.booleans())
def test_random_programs_agree_with_torch_and_the_interpreter(program, seed, transposed):
    source, shape = program
    x, y = inputs(shape, seed, transposed=transposed)
    function = jit()(function_of(source, ttnn))
    got = function(x, y)
    for found, want in zip(got, function_of(source, InTorch)(x.double(), y.double()), strict=True):
        torch.testing.assert_close(found.double(), want, rtol=1e-4, atol=1e-4)
    module = parse_module(function.ir(x, y, stage="d2m-insert-dst-register-access"))
    for found, array in zip(got, interpret(module, [x.numpy(), y.numpy()]), strict=True):
        interpreted = torch.as_tensor(array).reshape(found.shape)
        assert torch.equal(found.contiguous().view(torch.int32), interpreted.contiguous().view(torch.int32))


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(program=programs(), seed=st.integers(0, 99))
def test_random_programs_agree_with_numba(program, seed):
    source, shape = program
    x, y = inputs(shape, seed, transposed=False)
    function = function_of(source, ttnn)
    for found, other in zip(jit()(function)(x, y), jit(backend="numba")(function)(x, y), strict=True):
        torch.testing.assert_close(found, other, rtol=1e-5, atol=1e-5)
