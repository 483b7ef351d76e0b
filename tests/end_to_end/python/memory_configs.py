"""A tensor of 64x64 elements, and its possible memory configs."""

from __future__ import annotations

import torch

from ttnn_jit import ttnn

X = torch.randn(64, 64)
BLOCK = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
HEIGHT = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=1), ttnn.ShardStrategy.HEIGHT)
WIDTH = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=1, y=2), ttnn.ShardStrategy.WIDTH)
CONFIGS = {"dram": ttnn.DRAM_MEMORY_CONFIG, "block": BLOCK, "height": HEIGHT, "width": WIDTH}


def tiled(device, data=X, **keywords):
    return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device, **keywords)
