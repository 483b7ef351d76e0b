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

from ttnn_jit.ops import ALIASES, OVERLOADS
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.tensor_spec import (
    DRAM_MEMORY_CONFIG,
    L1_MEMORY_CONFIG,
    BufferType,
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MathFidelity,
    MemoryConfig,
    Shape,
    ShardOrientation,
    ShardSpec,
    ShardStrategy,
    TensorMemoryLayout,
    TensorSpec,
    create_sharded_memory_config,
)
from ttnn_jit.ttnn.creation import close_device, deallocate, from_torch, open_device, to_torch
from ttnn_jit.ttnn.operation import TtnnOperation, unknown_name
from ttnn_jit.ttnn.operators import attach_operators

if TYPE_CHECKING:
    from ttnn_jit.runtime.device import Device

__all__ = [
    "DRAM_MEMORY_CONFIG",
    "L1_MEMORY_CONFIG",
    "ROW_MAJOR_LAYOUT",
    "TILE_LAYOUT",
    "BufferType",
    "CoreCoord",
    "CoreGrid",
    "CoreRange",
    "CoreRangeSet",
    "DataType",
    "Device",
    "Layout",
    "MathFidelity",
    "MemoryConfig",
    "Shape",
    "ShardOrientation",
    "ShardSpec",
    "ShardStrategy",
    "Tensor",
    "TensorMemoryLayout",
    "TensorSpec",
    "bfloat16",
    "close_device",
    "create_sharded_memory_config",
    "deallocate",
    "float32",
    "from_torch",
    "open_device",
    "to_torch",
]

TILE_LAYOUT = Layout.TILE
ROW_MAJOR_LAYOUT = Layout.ROW_MAJOR
bfloat16 = DataType.BFLOAT16
float32 = DataType.FLOAT32

_OPERATIONS = {name: TtnnOperation(name, overloads) for name, overloads in OVERLOADS.items()}
__all__ += [*_OPERATIONS, *ALIASES]  # noqa: PLE0604 - the names are the declarations'
globals().update(_OPERATIONS)
globals().update({alias: TtnnOperation(alias, OVERLOADS[name]) for alias, name in ALIASES.items()})
attach_operators(Tensor, _OPERATIONS)


def __getattr__(name: str) -> Any:
    raise unknown_name(name)


def __dir__() -> list[str]:
    return sorted(__all__)
