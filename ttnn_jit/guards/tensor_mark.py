"""The value of a read of a tensor: its metadata, without a reference to the tensor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class TensorMark(ABC):
    """The metadata of a tensor that a compile read. The tensor is a hidden input, fetched by its path at each call."""

    @abstractmethod
    def holds(self, value: Any) -> bool:
        """Whether `value` is a tensor with this metadata, on which the program may run."""
