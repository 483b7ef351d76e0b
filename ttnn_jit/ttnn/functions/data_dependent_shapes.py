"""Functions with data-dependent result shapes, `nonzero` and `unique`; they run on the host, between programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.foreign.torch_tensor import require_torch
from ttnn_jit.runtime.tensors import tensors_from_host
from ttnn_jit.runtime.tensors.tensor import Tensor, torch_copy
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig
from ttnn_jit.ttnn.calling.host_function import host_function

if TYPE_CHECKING:
    import torch


@host_function(over_meshes=True)
def nonzero(input_tensor: Tensor, *, memory_config: MemoryConfig | None = None) -> list[Tensor]:
    """The number of nonzero elements, and their indices (ttnn.nonzero).

    Args:
        input_tensor: A tensor in which all extents but the last one are 1.
        memory_config: Memory config of the results; that of the tensor when omitted.

    Returns:
        The number, UINT32 of shape [1, 1, 1, 1]; and the indices, UINT32 of the operand's shape, followed by zeros.
        Both are ROW_MAJOR.

    Raises:
        ShapeError: Another extent is not 1.
        DeallocatedError: The tensor was deallocated.
    """
    shape = tuple(input_tensor.shape)
    if not shape or any(extent != 1 for extent in shape[:-1]):
        raise ShapeError(
            f"nonzero: the tensor has shape {list(shape)}", help="all extents but the last one are 1: reshape it first"
        )
    require_torch("nonzero", "give `numpy.nonzero` to a jitted function")
    import torch

    indices = torch.nonzero(_elements(input_tensor).reshape(-1)).reshape(-1)
    padded = torch.zeros(shape, dtype=torch.int64)
    padded.view(-1)[: len(indices)] = indices
    spec = input_tensor.spec.with_(dtype=DataType.UINT32, layout=Layout.ROW_MAJOR, memory_config=memory_config)
    counted = torch.full((1, 1, 1, 1), len(indices))
    return [
        tensors_from_host.from_torch(counted, spec.with_(shape=(1, 1, 1, 1)), input_tensor.device()),
        tensors_from_host.from_torch(padded, spec, input_tensor.device()),
    ]


@host_function(over_meshes=True)
def unique(input_tensor: Tensor) -> Tensor:
    """The distinct elements in ascending order, in one dimension, ROW_MAJOR; every NaN is distinct (ttnn.unique).

    Raises:
        DeallocatedError: The tensor was deallocated.
    """
    require_torch("unique", "give `numpy.unique` to a jitted function")
    import torch

    found: torch.Tensor = torch.unique(_elements(input_tensor))
    spec = input_tensor.spec.with_(shape=tuple(found.shape), layout=Layout.ROW_MAJOR)
    return tensors_from_host.from_torch(found, spec, input_tensor.device())


def _elements(tensor: Tensor) -> torch.Tensor:
    """The elements of a tensor, integers as int64, since torch has few functions of unsigned types."""
    elements = torch_copy(tensor)
    return elements.long() if tensor.dtype.is_integer else elements
