"""Texts of kernels that tests execute and damage."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.dialects.upstream.reading import read_upstream
from ttnn_jit.interpreters.kernel_level.host_machine import interpret_kernels


def on_one_core(*shape: int) -> Any:
    """The memory config of a tensor in the L1 of one core, so that a kernel runs there alone."""
    grid = ttnn.CoreGrid(x=1, y=1)
    return ttnn.create_sharded_memory_config(shape, core_grid=grid, strategy=ttnn.ShardStrategy.BLOCK)


def tensor(device: Any, values: Any, memory_config: Any = None) -> Any:
    """A tensor in tiles."""
    return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory_config)


def arrays(tensors: Any) -> list[np.ndarray]:
    """What the interpreters take and return for tensors: bfloat16 as its bits."""
    values = [ttnn.to_torch(each) for each in tensors]
    return [(each.view(torch.uint16) if each.dtype is torch.bfloat16 else each).numpy() for each in values]


def results_and_text(function: Any, tensors: Any, stage: str = "ttmetal") -> tuple[list[np.ndarray], str]:
    """The results of a function by native code, and the text of its kernels."""
    jitted = jit()(function)
    results = jitted(*tensors)
    return arrays(results if isinstance(results, tuple) else (results,)), jitted.ir(*tensors, stage=stage)


def executed(text: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The results of the kernels in a text."""
    return interpret_kernels(read_upstream(text, "kernels.mlir").module, inputs)
