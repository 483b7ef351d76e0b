"""The work of a compile for a long program, in counted function calls."""

from __future__ import annotations

import sys

import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.codegen.host import host_program
from ttnn_jit.codegen.host.host_steps import HOST_STEPS


def layers(x, mask, weights):
    """The parts of transformers: products, heads that are split and concatenated, softmax, norms, residuals."""
    for first, second in weights:
        heads = ttnn.permute(ttnn.reshape(ttnn.matmul(x, first), (1, 64, 3, 32)), (0, 2, 1, 3))
        scores = ttnn.matmul(heads, ttnn.transpose(heads, -2, -1)) * 0.25 + mask
        parts = ttnn.matmul(ttnn.softmax(scores, -1), heads)
        merged = ttnn.reshape(ttnn.permute(parts, (0, 2, 1, 3)), (1, 64, 96))
        x = ttnn.layer_norm(x + ttnn.gelu(merged[:, :, 0:64] @ second))
    return x


def calls_of_steps(depth, device, monkeypatch):
    """The number of function calls in the compile for the host of this many layers."""
    calls = 0

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event in {"call", "c_call"}

    def counted(step):
        def run(plan):
            sys.setprofile(count)
            try:
                return step(plan)
            finally:
                sys.setprofile(None)

        return run

    def made(*shape):
        return ttnn.from_torch(torch.zeros(shape), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

    arguments = made(1, 64, 96), made(1, 1, 64, 64), [(made(96, 96), made(64, 96))] * depth
    with monkeypatch.context() as patched:
        patched.setattr(host_program, "HOST_STEPS", tuple(map(counted, HOST_STEPS)))
        ttnn_jit.jit(enable_cache=False)(layers)(*arguments)
    return calls


def test_the_work_of_the_host_compile_grows_linearly_with_the_layers(cpu_device, monkeypatch):
    calls_of_steps(1, cpu_device, monkeypatch)
    few, more, most = (calls_of_steps(depth, cpu_device, monkeypatch) for depth in (6, 12, 18))
    assert most - more < 1.02 * (more - few)
