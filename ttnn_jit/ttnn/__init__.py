"""The `ttnn` host API on a CPU: devices, tensors, memory configs, and an eager function per operation.

    from ttnn_jit import ttnn

    device = ttnn.open_device(device_id=0)
    x = ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    print(ttnn.to_torch(ttnn.exp(x)))

Names and semantics are those of Tenstorrent's ttnn as far as they are here; a name that is not raises AttributeError.
Operations are attributes too (``ttnn.exp``), made from their declarations in `ttnn_jit.ops`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.ops.losses import LossReductionMode
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.l1 import MemoryView
from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.runtime.tensor_text import set_printoptions
from ttnn_jit.specs.memory_config import (
    L1_BLOCK_SHARDED_MEMORY_CONFIG,
    L1_HEIGHT_SHARDED_MEMORY_CONFIG,
    L1_MEMORY_CONFIG,
    L1_WIDTH_SHARDED_MEMORY_CONFIG,
)
from ttnn_jit.specs.sharding import create_sharded_memory_config, get_maximal_block_sharding_grid
from ttnn_jit.specs.target import TILE_HEIGHT
from ttnn_jit.specs.tensor_spec import (
    DRAM_MEMORY_CONFIG,
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
from ttnn_jit.ttnn import _ttnn, cluster, device, eager_functions, lazy_names
from ttnn_jit.ttnn.eager_functions import (
    add as add,
)  # which a namespace of ttnn is known by; others load when asked for
from ttnn_jit.ttnn.eager_operation import get_fallback_function, get_golden_function
from ttnn_jit.ttnn.names_on_demand import construct, is_newly_declared, knowing_its_name, loaded, unknown_name

__all__ = [
    "DRAM_MEMORY_CONFIG",
    "L1_BLOCK_SHARDED_MEMORY_CONFIG",
    "L1_HEIGHT_SHARDED_MEMORY_CONFIG",
    "L1_MEMORY_CONFIG",
    "L1_WIDTH_SHARDED_MEMORY_CONFIG",
    "ROW_MAJOR_LAYOUT",
    "TILE_LAYOUT",
    "TILE_SIZE",
    "BufferType",
    "CoreCoord",
    "CoreGrid",
    "CoreRange",
    "CoreRangeSet",
    "DataType",
    "Device",
    "Layout",
    "LossReductionMode",
    "MathFidelity",
    "MemoryConfig",
    "MemoryView",
    "MeshDevice",
    "MeshShape",
    "NdShardSpec",
    "Shape",
    "ShardOrientation",
    "ShardSpec",
    "ShardStrategy",
    "Tensor",
    "TensorMemoryLayout",
    "TensorSpec",
    "Tile",
    "_ttnn",
    "bfloat4_b",
    "bfloat8_b",
    "bfloat16",
    "cluster",
    "create_sharded_memory_config",
    "device",
    "float32",
    "get_fallback_function",
    "get_golden_function",
    "get_maximal_block_sharding_grid",
    "int32",
    "set_printoptions",
    "uint8",
    "uint16",
    "uint32",
]

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
MeshDevice = Device
"""A single device is a mesh of one in current ttnn."""

Tensor.parts_of = staticmethod(construct)
for _name in __all__:
    knowing_its_name(_name, globals()[_name])
__all__ += eager_functions.__all__
__all__ += lazy_names.__all__

if TYPE_CHECKING:  # a type checker reads the stubs, and says itself which names are missing
    from ttnn_jit.ttnn.eager_functions import *  # noqa: F403 - one name per operation
    from ttnn_jit.ttnn.lazy_names import *  # noqa: F403 - one name per line of the stub
else:

    def __getattr__(name: str) -> Any:
        if name in eager_functions.__all__:
            value = getattr(eager_functions, name)
        elif name in lazy_names.__all__ or is_newly_declared(name):
            value = loaded(name)
        else:
            raise unknown_name(name, __all__)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
