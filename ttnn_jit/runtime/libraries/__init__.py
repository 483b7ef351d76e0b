"""The libraries whose tensors may be arguments of calls: one file for each, behind one interface."""

from __future__ import annotations

import types
from typing import Any, Final

from ttnn_jit.diagnostics.origin import is_of_this_package
from ttnn_jit.runtime.libraries.marks import FormMark, LibraryMark
from ttnn_jit.runtime.libraries.mesh_tensors import MeshTensors
from ttnn_jit.runtime.libraries.numpy_arrays import NumpyArrays
from ttnn_jit.runtime.libraries.tensor_library import TensorLibrary, WarmCall
from ttnn_jit.runtime.libraries.torch_tensors import TorchTensors
from ttnn_jit.runtime.libraries.ttnn_tensors import TtnnTensors

__all__ = [
    "LIBRARIES",
    "MESH",
    "NUMPY",
    "TORCH",
    "TTNN",
    "FormMark",
    "LibraryMark",
    "TensorLibrary",
    "WarmCall",
    "is_library_tensor",
    "mark_of",
    "tensor_library_of",
]

TTNN: Final = TtnnTensors()
MESH: Final = MeshTensors()
TORCH: Final = TorchTensors()
NUMPY: Final = NumpyArrays()
LIBRARIES: Final[tuple[TensorLibrary, ...]] = (MESH, TTNN, TORCH, NUMPY)


def tensor_library_of(value: object) -> TensorLibrary | None:
    """The library of a tensor; None if `value` is not a tensor."""
    for library in LIBRARIES:
        if library.holds(value):
            return library
    return None


def is_library_tensor(value: object) -> bool:
    """Whether `value` is a tensor of any library."""
    kind = type(value)
    if kind in _NO_TENSORS:
        return False
    found = tensor_library_of(value) is not None
    if not found and is_of_this_package(kind):
        _NO_TENSORS.add(kind)
    return found


_NO_TENSORS: set[type] = {
    bool, int, float, str, type(None), list, tuple, dict, range, type(iter(range(0))), object, type,
    types.FunctionType, types.ModuleType,
}  # fmt: skip
"""Classes whose instances are never tensors; this package's classes are added on first sight."""


def mark_of(tensor: Any) -> LibraryMark:
    """The metadata of a tensor that a guard compares.

    Raises:
        DTypeError, LayoutError, ArgumentError: No compiled function accepts the tensor.
    """
    library = tensor_library_of(tensor)
    assert library is not None
    return LibraryMark(library.title, library.spec_of(tensor), library, library.placement_of(tensor))
