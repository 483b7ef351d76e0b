"""A tensor on a device, for the tests of errors."""

from __future__ import annotations

import torch

import ttnn_jit
from ttnn_jit import ttnn

X = torch.randn(64, 64)


BLOCK = ttnn.ShardStrategy.BLOCK


def tiled(device, data=X, **keywords):
    return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device, **keywords)


@ttnn_jit.jit()
def double(x):
    return ttnn.add(x, x)
