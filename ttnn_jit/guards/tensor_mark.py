"""What stands in a guard for a tensor of the user's world: its metadata, and never the tensor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class TensorMark(ABC):
    """What a compile read of a tensor, which itself is an input of the program: fetched by its path at each call."""

    @abstractmethod
    def holds(self, value: Any) -> bool:
        """Whether `value` is a tensor of these metadata that the program may run on."""
