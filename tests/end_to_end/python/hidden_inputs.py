"""Shared helpers of the tests of hidden inputs."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ttnn_jit

BOTH = pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])


SHAPE = (32, 32)


_generator = torch.Generator().manual_seed(0)


def whole(*shape: int) -> torch.Tensor:
    """A torch tensor of small whole numbers, so that results are exact."""
    return torch.randint(-4, 5, shape or SHAPE, generator=_generator).float()


def compiles() -> int:
    return ttnn_jit.cache_info().compiles


class Layer:
    def __init__(self, weight: Any) -> None:
        self.weight = weight


WEIGHT = whole()
