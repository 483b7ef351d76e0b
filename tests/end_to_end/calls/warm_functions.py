"""Shared helpers of the tests of warm calls."""

from __future__ import annotations

import torch

from ttnn_jit import jit, ttnn


def on(device, *shape):
    return ttnn.from_torch(torch.randn(*shape), layout=ttnn.TILE_LAYOUT, device=device)


def warmed(function, *tensors):
    """`function` compiled, and called with these tensors until it uses the fast path."""
    compiled = jit(function)
    for _ in range(3):
        compiled(*tensors)
    return compiled
