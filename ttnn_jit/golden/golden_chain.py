"""The goldens of tensors that exist: where a chain of goldens goes on."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


class GoldenChain:
    """Goldens by the identity of the tensors that they belong to, which are not kept alive."""

    def __init__(self) -> None:
        self._goldens: dict[int, tuple[weakref.ref[Any], torch.Tensor]] = {}

    def get(self, tensor: Any) -> torch.Tensor | None:
        """The golden of a tensor; None if it has none, and a chain begins with it."""
        reference, golden = self._goldens.get(id(tensor), (None, None))
        return golden if reference is not None and reference() is tensor else None

    def set(self, tensor: Any, golden: torch.Tensor) -> None:
        """Make `golden` the golden of a tensor."""
        number, goldens = id(tensor), self._goldens

        def forget(reference: weakref.ref[Any]) -> None:
            if number in goldens and goldens[number][0] is reference:  # else another tensor has the number by now
                del goldens[number]

        goldens[number] = weakref.ref(tensor, forget), golden

    def drop(self, tensors: Iterable[Any]) -> None:
        """Forget the goldens of tensors, which were written to."""
        for tensor in tensors:
            self._goldens.pop(id(tensor), None)

    def __len__(self) -> int:
        return len(self._goldens)
