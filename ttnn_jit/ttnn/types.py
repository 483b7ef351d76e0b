"""The module `ttnn.types`: the types of tensors' metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_jit.specs.storage_type import StorageType
from ttnn_jit.ttnn.namespace.names_on_demand import submodule_getattr

if TYPE_CHECKING:
    from ttnn_jit.ttnn import *  # noqa: F403 - all names but one

_REEXPORTED = (
    "DRAM_MEMORY_CONFIG L1_BLOCK_SHARDED_MEMORY_CONFIG L1_HEIGHT_SHARDED_MEMORY_CONFIG L1_MEMORY_CONFIG "
    "L1_WIDTH_SHARDED_MEMORY_CONFIG ROW_MAJOR_LAYOUT TILE_LAYOUT TILE_SIZE BcastOpDim BcastOpMath "
    "BlackholeComputeKernelConfig BufferType CoreCoord CoreGrid CoreRange CoreRangeSet DataType "
    "DeviceComputeKernelConfig Layout MathFidelity MemoryConfig MeshShape NdShardSpec Shape ShardOrientation "
    "ShardSpec ShardStrategy StorageType Tensor TensorMemoryLayout TensorSpec ThrottleLevel Tile UnaryOpType "
    "UnaryWithParam WormholeComputeKernelConfig bfloat4_b bfloat8_b bfloat16 corerange_to_cores float32 int32 uint8 "
    "uint16 uint32"
)
"""Names that the module re-exports from `ttnn`."""

__all__ = ["DEVICE_STORAGE_TYPE", *_REEXPORTED.split()]  # noqa: PLE0604 - the names are the table's

DEVICE_STORAGE_TYPE = StorageType.DEVICE

__getattr__ = submodule_getattr("types", __all__)
