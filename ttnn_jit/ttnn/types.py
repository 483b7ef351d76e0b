"""The module `ttnn.types`: the names of what tensors are made of."""

from __future__ import annotations

from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.compute_config import (
    BlackholeComputeKernelConfig,
    DeviceComputeKernelConfig,
    ThrottleLevel,
    WormholeComputeKernelConfig,
)
from ttnn_jit.specs.core_sets import corerange_to_cores
from ttnn_jit.specs.storage_type import StorageType
from ttnn_jit.specs.target import TILE_HEIGHT
from ttnn_jit.specs.tensor_spec import (
    DRAM_MEMORY_CONFIG,
    L1_BLOCK_SHARDED_MEMORY_CONFIG,
    L1_HEIGHT_SHARDED_MEMORY_CONFIG,
    L1_MEMORY_CONFIG,
    L1_WIDTH_SHARDED_MEMORY_CONFIG,
    BufferType,
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MathFidelity,
    MemoryConfig,
    NdShardSpec,
    Shape,
    ShardOrientation,
    ShardSpec,
    ShardStrategy,
    TensorMemoryLayout,
    TensorSpec,
)
from ttnn_jit.specs.tile import Tile
from ttnn_jit.specs.unary_op_type import BcastOpDim, BcastOpMath, UnaryOpType, UnaryWithParam
from ttnn_jit.ttnn.names_on_demand import names_of

__all__ = [
    "DEVICE_STORAGE_TYPE",
    "DRAM_MEMORY_CONFIG",
    "L1_BLOCK_SHARDED_MEMORY_CONFIG",
    "L1_HEIGHT_SHARDED_MEMORY_CONFIG",
    "L1_MEMORY_CONFIG",
    "L1_WIDTH_SHARDED_MEMORY_CONFIG",
    "ROW_MAJOR_LAYOUT",
    "TILE_LAYOUT",
    "TILE_SIZE",
    "BcastOpDim",
    "BcastOpMath",
    "BlackholeComputeKernelConfig",
    "BufferType",
    "CoreCoord",
    "CoreGrid",
    "CoreRange",
    "CoreRangeSet",
    "DataType",
    "DeviceComputeKernelConfig",
    "Layout",
    "MathFidelity",
    "MemoryConfig",
    "MeshShape",
    "NdShardSpec",
    "Shape",
    "ShardOrientation",
    "ShardSpec",
    "ShardStrategy",
    "StorageType",
    "Tensor",
    "TensorMemoryLayout",
    "TensorSpec",
    "ThrottleLevel",
    "Tile",
    "UnaryOpType",
    "UnaryWithParam",
    "WormholeComputeKernelConfig",
    "bfloat4_b",
    "bfloat8_b",
    "bfloat16",
    "corerange_to_cores",
    "float32",
    "int32",
    "uint8",
    "uint16",
    "uint32",
]

DEVICE_STORAGE_TYPE = StorageType.DEVICE
TILE_LAYOUT = Layout.TILE
ROW_MAJOR_LAYOUT = Layout.ROW_MAJOR
TILE_SIZE = TILE_HEIGHT
bfloat16 = DataType.BFLOAT16
bfloat8_b = DataType.BFLOAT8_B
bfloat4_b = DataType.BFLOAT4_B
float32 = DataType.FLOAT32
int32 = DataType.INT32
uint32 = DataType.UINT32
uint16 = DataType.UINT16
uint8 = DataType.UINT8


__getattr__ = names_of("types", __all__)
