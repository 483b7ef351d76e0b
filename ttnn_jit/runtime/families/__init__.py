"""The kinds of tensors that calls may have: one file each, and one description that all callers read."""

from __future__ import annotations

import types
from typing import Any, Final

from ttnn_jit.diagnostics.origin import is_of_this_package
from ttnn_jit.runtime.families.family import Family, WarmCall
from ttnn_jit.runtime.families.marks import FamilyMark
from ttnn_jit.runtime.families.numpy_arrays import NumpyArrays
from ttnn_jit.runtime.families.torch_tensors import TorchTensors
from ttnn_jit.runtime.families.ttnn_tensors import TtnnTensors

__all__ = [
    "FAMILIES",
    "NUMPY",
    "TORCH",
    "TTNN",
    "Family",
    "FamilyMark",
    "WarmCall",
    "family_of",
    "has_family",
    "mark_of",
]

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


def has_family(value: object) -> bool:
    """Whether `value` is a tensor of any family."""
    kind = type(value)
    if kind in _NO_TENSORS:
        return False
    found = family_of(value) is not None
    if not found and is_of_this_package(kind):
        _NO_TENSORS.add(kind)
    return found


_NO_TENSORS: set[type] = {
    bool, int, float, str, type(None), list, tuple, dict, range, type(iter(range(0))), object, type,
    types.FunctionType, types.ModuleType,
}  # fmt: skip
"""Classes of which no instance is a tensor; this package's own are added when they are met."""


def mark_of(tensor: Any) -> FamilyMark:
    """What a guard knows of a tensor.

    Raises:
        DTypeError, LayoutError, ArgumentError: It is one that no compiled function takes.
    """
    family = family_of(tensor)
    assert family is not None
    return FamilyMark(family.title, family.spec_of(tensor), family)
