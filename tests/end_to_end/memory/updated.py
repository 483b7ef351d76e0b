"""Shared helpers of the tests of updates."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import ttnn

BOTH = pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])


_generator = torch.Generator().manual_seed(0)


def whole(*shape: int) -> torch.Tensor:
    """Small whole numbers, so that results are exact."""
    return torch.randint(-4, 5, shape or (32, 32), generator=_generator).float()


LIBRARIES = {
    "torch": (lambda _, tensor: tensor.clone(), lambda tensor: tensor),
    "numpy": (lambda _, tensor: tensor.numpy().copy(), torch.as_tensor),
    "ttnn": (lambda device, tensor: ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device), ttnn.to_torch),
}


EVERY_LIBRARY = pytest.mark.parametrize("library", LIBRARIES)


def added(x, y):
    return ttnn.add_(x, y)
