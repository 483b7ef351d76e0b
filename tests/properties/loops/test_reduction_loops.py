"""Kernels with a reduction loop in every stage's text: the interpreter has native bits, torch the values."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import torch
from hypothesis import given, settings

from ttnn_jit import jit, ttnn
from ttnn_jit.dialects import parse_module, verify
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.ops.reduction import reductions

STAGES = ("convert-ttir-to-d2m", "d2m-generic-tile-compute-loops", "d2m-insert-dst-register-access")
BIT_TYPES = {torch.float32: torch.int32, torch.bfloat16: torch.int16}
DTYPES = st.sampled_from([*BIT_TYPES])
EXTENTS = st.sampled_from([1, 2, 5, 31, 32, 33, 64, 65])
SCALES = st.sampled_from([1.0, 1e-25])
"""Numbers whose products underflow, so that sums are zeros of either sign."""


def for_interpreter(x):
    return x.view(torch.int16).numpy().view("uint16") if x.dtype is torch.bfloat16 else x.numpy()


def normal(shape, dtype, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def assert_interpreted_alike(program, inputs):
    """The module in every stage, and the native results."""
    function = jit()(program)
    got = function(*inputs)
    for stage in STAGES:
        module = parse_module(function.ir(*inputs, stage=stage))
        verify(module)
        (interpreted,) = interpret(module, [for_interpreter(x) for x in inputs])
        again = torch.from_numpy(np.array(interpreted)).view(got.dtype)
        assert torch.equal(again.view(BIT_TYPES[got.dtype]), got.view(BIT_TYPES[got.dtype])), stage
    return got


@st.composite
def shapes(draw):
    batches = draw(st.lists(st.integers(1, 3), max_size=2))
    return (*batches, *draw(st.lists(EXTENTS, min_size=1, max_size=2)))


@settings(max_examples=8, deadline=None)
@given(shapes(), st.sampled_from(reductions.OPERATIONS), st.integers(0, 3), st.booleans(), DTYPES, st.integers(0, 99))
def test_reductions_along_any_dimension(shape, operation, dim, keepdim, dtype, seed):
    x, dim = normal(shape, dtype, seed), dim % len(shape)
    reduce = getattr(ttnn, operation.name)
    got = assert_interpreted_alike(lambda x: reduce(x, dim=dim, keepdim=keepdim), (x,))
    want = operation.golden(torch, x.double(), (dim,), keepdim)
    torch.testing.assert_close(got, want.to(dtype), rtol=1e-2, atol=1e-3)


@settings(max_examples=8, deadline=None)
@given(
    extents=st.tuples(EXTENTS, EXTENTS, EXTENTS),
    batches=st.sampled_from([((), ()), ((2,), ()), ((), (3,)), ((2, 1), (3,)), ((1,), (2,))]),
    transposed=st.tuples(st.booleans(), st.booleans()),
    dtypes=st.tuples(DTYPES, DTYPES),
    scale=SCALES,
    seed=st.integers(0, 99),
)
def test_products_of_matrices(extents, batches, transposed, dtypes, scale, seed):
    rows, inner, columns = extents
    a, b = normal((*batches[0], rows, inner), dtypes[0], seed), normal((*batches[1], inner, columns), dtypes[1], seed)
    a, b = a * scale, b * scale
    inputs = [x.mT.contiguous() if is_transposed else x for x, is_transposed in zip((a, b), transposed, strict=True)]
    got = assert_interpreted_alike(lambda a, b: ttnn.matmul(a, b, *transposed), inputs)
    torch.testing.assert_close(got, (a.double() @ b.double()).to(dtypes[0]), rtol=2e-2, atol=2e-2 * scale**2)
