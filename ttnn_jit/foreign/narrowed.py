"""Element types of torch's and numpy's that ttnn lacks, which a compiled function reads where they lie, as others.

They are those that `from_torch` makes of them: of a 64-bit integer the low 32 bits, of a bool 0 or 1.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import SCALARS, DataType


@dataclass(frozen=True)
class Narrowed:
    """What an element is read as.

    Attributes:
        dtype: The element type.
        factor: How many of these one element takes; the first is read.
    """

    dtype: DataType
    factor: int

    def strides(self, strides: tuple[int, ...]) -> tuple[int, ...]:
        """From strides in elements to those of what is read."""
        return tuple(self.factor * stride for stride in strides)


_ITEMSIZES = {"int64": 8, "bool": 1}
"""By name, their bytes. The low word comes first on every host that this runs on."""


def _by_name() -> Mapping[str, Narrowed]:
    made = {name: dtype for dtype in SCALARS for name in dtype.traits.torch}
    return {name: Narrowed(made[name], itemsize // made[name].itemsize) for name, itemsize in _ITEMSIZES.items()}


@cache
def narrowed_of_torch() -> Mapping[Any, Narrowed]:
    """By torch's element types."""
    import torch

    return {getattr(torch, name): narrowed for name, narrowed in _by_name().items()}


@cache
def narrowed_of_numpy() -> Mapping[Any, Narrowed]:
    """By numpy's element types, in the host's byte order."""
    import numpy

    return {numpy.dtype(name): narrowed for name, narrowed in _by_name().items()}


def is_narrowed(tensor: Any) -> bool:
    """Whether a tensor of torch's or numpy's is read as another element type, so that it cannot be written."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        return tensor.dtype in narrowed_of_torch()
    return tensor.dtype in narrowed_of_numpy()
