"""Integers and bools of torch's and numpy's that ttnn lacks, which a compiled function reads where they lie, as others.

They are those that `from_torch` makes of them: of a 64-bit integer the low 32 bits, of a bool 0 or 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import INTEGERS
from ttnn_jit.specs.tensor_spec import DataType


@dataclass(frozen=True)
class Narrowed:
    """What an element is read as.

    Attributes:
        dtype: The element type.
        factor: How many of these one element takes; the first is read, the low one on every host that this runs on.
    """

    dtype: DataType
    factor: int

    def strides(self, strides: tuple[int, ...]) -> tuple[int, ...]:
        """From strides in elements to those of what is read."""
        return tuple(self.factor * stride for stride in strides)


def _names() -> Iterator[tuple[str, DataType]]:
    """Names that torch and numpy share, and what is made of them."""
    return ((name, dtype) for dtype in INTEGERS for name in dtype.traits.torch[1:])


@cache
def narrowed_of_torch() -> Mapping[Any, Narrowed]:
    """By torch's element types."""
    import torch

    found = ((getattr(torch, name), dtype) for name, dtype in _names())
    return {element: Narrowed(dtype, element.itemsize // dtype.itemsize) for element, dtype in found}


@cache
def narrowed_of_numpy() -> Mapping[Any, Narrowed]:
    """By numpy's element types, in the host's byte order."""
    import numpy

    found = ((numpy.dtype(name), dtype) for name, dtype in _names())
    return {element: Narrowed(dtype, element.itemsize // dtype.itemsize) for element, dtype in found}


def is_narrowed(tensor: Any) -> bool:
    """Whether a tensor of torch's or numpy's is read as another element type, so that it cannot be written."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        return tensor.dtype in narrowed_of_torch()
    return tensor.dtype in narrowed_of_numpy()
