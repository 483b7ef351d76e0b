"""The functions of `ttnn.operations.moreh`, and sums along first dimensions, against torch in float64."""

from __future__ import annotations

import math

import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError

moreh, f = ttnn.operations.moreh, torch.nn.functional

CASES = {
    "sum": (lambda x: moreh.sum(x, (0, 2)), lambda x: x.sum((0, 2))),
    "sum of all": (lambda x: moreh.sum(x), lambda x: x.sum()),
    "mean": (lambda x: moreh.mean(x, 1, keepdim=True), lambda x: x.mean(1, True)),
    "mean by another number": (lambda x: moreh.mean(x, -1, divisor=8), lambda x: x.sum(-1) / 8),
    "cumsum": (lambda x: ttnn.moreh_cumsum(x, dim=1), lambda x: x.cumsum(1)),
    "norm": (lambda x: moreh.norm(x, 3.0, 1, True), lambda x: torch.linalg.vector_norm(x, 3.0, 1, True)),
    "norm of all": (lambda x: moreh.norm(x, math.inf), lambda x: x.abs().max()),
    "abs_pow": (lambda x: moreh.abs_pow(x, 1.5), lambda x: x.abs().pow(1.5)),
    "softmax": (lambda x: moreh.softmax(x, 1), lambda x: torch.softmax(x, 1)),
    "softmin": (lambda x: moreh.softmin(x, -1), lambda x: f.softmin(x, -1)),
    "logsoftmax": (lambda x: moreh.logsoftmax(x, 0), lambda x: torch.log_softmax(x, 0)),
    "layer_norm": (lambda x: moreh.layer_norm(x, 2)[0], lambda x: f.layer_norm(x, x.shape[1:])),
    "means of layer_norm": (lambda x: moreh.layer_norm(x, 2)[1], lambda x: x.mean((1, 2))),
    "deviations of layer_norm": (
        lambda x: moreh.layer_norm(x, 1, 0.25)[2],
        lambda x: 1 / (x.var(-1, correction=0) + 0.25).sqrt(),
    ),
    "fast_reduce_nc": (
        lambda x: ttnn.experimental.fast_reduce_nc(x, dims=[0, 1]),
        lambda x: x.sum((0, 1), keepdim=True),
    ),
}
BOUND = {torch.float32: 1e-5, torch.bfloat16: 2.0**-7}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", BOUND)
def test_a_function_is_torchs_in_float64_eagerly_and_in_both_frontends(name, dtype, device):
    function, golden = CASES[name]
    x = torch.randn((3, 5, 37), generator=torch.Generator().manual_seed(1)).to(dtype)
    want = golden(x.double())
    on_device = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    found = [jit(graph_capture=traced)(function)(x) for traced in (False, True)]
    for got in (*found, ttnn.to_torch(function(on_device))):
        assert got.dtype is dtype
        torch.testing.assert_close(got.double(), want, rtol=BOUND[dtype], atol=BOUND[dtype])


def test_a_result_is_written_into_the_output_that_is_given(device):
    x = ttnn.from_torch(torch.randn(2, 3, 32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    for call, shape in (
        (lambda out: ttnn.experimental.fast_reduce_nc(x, dims=[0, 1], output=out), (1, 1, 32, 32)),
        (lambda out: moreh.sum(x, 1, output=out), (2, 32, 32)),
        (lambda out: ttnn.cumsum(x, 1, out=out), (2, 3, 32, 32)),
        (lambda out: moreh.logsoftmax(x, 1, output=out), (2, 3, 32, 32)),
    ):
        out = ttnn.zeros(shape, layout=ttnn.TILE_LAYOUT, dtype=ttnn.float32, device=device)
        assert call(out) is out
        assert ttnn.to_torch(out).abs().sum() > 0


def test_missing_dimensions_are_refused():
    with pytest.raises(TtnnJitError, match="there is no dimension -4"):
        jit()(lambda x: moreh.layer_norm(x, 4)[0])(torch.randn(3, 4, 5))
