"""The module `ttnn.core`: integer rounding, and queries of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.storage_type import StorageType
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.names_on_demand import submodule_getattr

if TYPE_CHECKING:
    from ttnn_jit.ttnn import *  # noqa: F403 - the names that are not defined here

_REEXPORTED = (
    "create_sharded_memory_config create_sharded_memory_config_ get_memory_config grid_to_cores is_sharded "
    "is_tensor_storage_on_device num_cores_to_corerangeset num_cores_to_corerangeset_in_subcoregrids "
    "set_printoptions split_work_to_cores"
)
"""Names that the module re-exports from `ttnn`."""

__all__ = [  # noqa: PLE0604 - the names are the table's
    "divup",
    "element_size",
    "has_storage_type_of",
    "has_tile_padding",
    "roundup",
    "tile_size",
    *_REEXPORTED.split(),
]


@host_function(name="core.divup", observed=False)
def divup(a: int, b: int) -> int:
    """The quotient of integers, rounded up (ttnn.core.divup).

    Raises:
        ArgumentError: An argument is not an integer, or `b` is below 1.
    """
    if b < 1:
        raise ArgumentError(f"`b` of divup must be at least 1, got {b}")
    return -(-a // b)


@host_function(name="core.roundup", observed=False)
def roundup(a: int, b: int) -> int:
    """`a` rounded up to a multiple of `b` (ttnn.core.roundup); raises the errors of `divup`."""
    return divup(a, b) * b


@host_function(observed=False)
def has_storage_type_of(tensor: Tensor, storage_type: StorageType) -> bool:
    """Whether a tensor has this storage type (ttnn.has_storage_type_of)."""
    return tensor.storage_type() is storage_type


@host_function(observed=False)
def has_tile_padding(tensor: Tensor, *, dim: int | None = None) -> bool:
    """Whether a tensor is stored with padding, along `dim` if that is given (ttnn.has_tile_padding).

    Raises:
        ArgumentError: There is no such dimension.
    """
    shape, stored = tensor.shape, tensor.padded_shape
    if dim is None:
        return len(shape) > 1 and shape[-2:] != stored[-2:]
    if not -len(shape) <= dim < len(shape):
        raise ArgumentError(f"a tensor of shape {shape} has no dimension {dim}")
    return shape[dim] != stored[dim - len(shape) if dim >= 0 else dim]


@host_function(observed=False)
def element_size(dtype: DataType) -> int:
    """Size of an element in bytes (ttnn.element_size); 1 for block floats."""
    return dtype.element_bytes


@host_function(observed=False)
def tile_size(dtype: DataType) -> int:
    """Size of a tile of 32x32 elements in bytes (ttnn.tile_size)."""
    return dtype.nbytes(32 * 32)


__getattr__ = submodule_getattr("core", __all__)
