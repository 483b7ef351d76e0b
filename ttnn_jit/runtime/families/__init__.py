"""The kinds of tensors that calls may have: one file each, and one description that all callers read."""

from __future__ import annotations

from typing import Final

from ttnn_jit.runtime.families.family import Family, WarmCall
from ttnn_jit.runtime.families.numpy_arrays import NumpyArrays
from ttnn_jit.runtime.families.torch_tensors import TorchTensors
from ttnn_jit.runtime.families.ttnn_tensors import TtnnTensors

__all__ = ["FAMILIES", "NUMPY", "TORCH", "TTNN", "Family", "WarmCall", "family_of"]

TTNN: Final = TtnnTensors()
TORCH: Final = TorchTensors()
NUMPY: Final = NumpyArrays()
FAMILIES: Final[tuple[Family, ...]] = (TTNN, TORCH, NUMPY)


def family_of(value: object) -> Family | None:
    """The family of a tensor; None for everything that is no tensor."""
    for family in FAMILIES:
        if family.holds(value):
            return family
    return None
