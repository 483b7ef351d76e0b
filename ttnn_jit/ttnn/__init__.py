"""The `ttnn` host API on a CPU: devices, tensors, memory configs, and an eager function per operation.

    from ttnn_jit import ttnn

    device = ttnn.open_device(device_id=0)
    x = ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    print(ttnn.to_torch(ttnn.exp(x)))

Names and semantics are those of Tenstorrent's ttnn; a name that ttnn_jit lacks raises AttributeError. Operations are
attributes (``ttnn.exp``), which are derived from their declarations in `ttnn_jit.ops`.

*Eager operations* (`ttnn/calling/eager_operation.py`). `ops/language/binding.py` binds the arguments, and
`ops/result_options.py` the result options (`memory_config`, `dtype`, `output_tensor` and the like), as in both
frontends. The options are one value, `ResultOptions`. It is part of the key, and is written into the IR
(`frontend/tensors/requested_results.py`). An eager operation is a program of one op with the same tile body, hence the
same bits. Later calls with the same metadata call that program directly (`ttnn/calling/eager_warm_calls.py`). A call
with tensors of a mesh is repeated on each device (`runtime/meshes/mesh_tensor.py`).

*Host functions* run on the host, or prepare the arguments of operations. Each is a Python function in a file of its
subject: `from_torch` in `ttnn/tensors/torch_conversion.py`, `zeros` in `ttnn/tensors/tensor_creation.py`,
`to_memory_config` in `ttnn/tensors/transfers.py`, `load_tensor` in `ttnn/tensors/tensor_files.py`, `conv2d` in
`ttnn/functions/convolution_calls.py`, `prepare_conv_weights` in `ttnn/functions/prepared_weights.py`; likewise
collectives, pools, traces and devices. The signature of a host function is its declaration. Related functions share the
fields of a dataclass instead (`ttnn/calling/shared_parameters.py`, `ttnn/functions/convolution_arguments.py`).
`@host_function` declares the rest (`ttnn/calling/host_function.py`). The annotations give a table of `Parameter`
objects (`ttnn/calling/host_parameters.py`), which binds and checks arguments that the fast path does not accept by
their classes (`ttnn/calling/direct_calls.py`). Support tables and tests are derived from the same table
(docs/adding_an_operation.md).

*Names* load on first access. One table, made by `make docs`, maps each function to its file
(`ttnn/namespace/host_functions.py`). A second one maps configs and enumerations to their modules, and says why some
have no effect (`ttnn/namespace/lazy_names.py`). A third one lists the modules of ttnn that have no file here
(`ttnn/namespace/mirrored_modules.py`). Configs are dataclasses with checked fields (`specs/configs/`), which users
assign to; ttnn_jit keeps copies of them (`specs/mutable_values.py`). `ttnn/namespace/stand_in.py` makes `import ttnn`
find this package where no real ttnn is installed, on request of `python -m ttnn_jit`, `register_as_ttnn` or the pytest
plugin; `ttnn/on_pythonpath/ttnn.py` does so in child processes (docs/from_ttnn.md).

*Observers*: hooks, `ttnn.tracer` and `ttnn.graph` observe operations (`dispatch/observers.py`). While an observer is
active, the classes of callables have another ``__call__``, and host functions another code object. Comparison mode is
an observer (`ttnn/observing/comparison_mode.py`); `ttnn/observing/comparison_tolerances.py` bounds the distance of a
result from its golden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.ops.reduction.losses import LossReductionMode
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.l1 import MemoryView
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.runtime.tensors.tensor_text import set_printoptions
from ttnn_jit.specs.cores.memory_config import (
    L1_BLOCK_SHARDED_MEMORY_CONFIG,
    L1_HEIGHT_SHARDED_MEMORY_CONFIG,
    L1_MEMORY_CONFIG,
    L1_WIDTH_SHARDED_MEMORY_CONFIG,
)
from ttnn_jit.specs.cores.sharding import create_sharded_memory_config, get_maximal_block_sharding_grid
from ttnn_jit.specs.meshes.mesh_shape import MeshCoordinate, MeshCoordinateRange, MeshShape
from ttnn_jit.specs.meshes.tensor_topology import PlacementReplicate, PlacementShard, TensorTopology
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
from ttnn_jit.ttnn import _ttnn, cluster, device
from ttnn_jit.ttnn.calling import eager_functions
from ttnn_jit.ttnn.calling.eager_functions import (
    add as add,
)  # a marker by which programs recognize ttnn; other functions load on first access
from ttnn_jit.ttnn.calling.eager_operation import get_fallback_function, get_golden_function
from ttnn_jit.ttnn.namespace import lazy_names
from ttnn_jit.ttnn.namespace.names_on_demand import (
    construct,
    is_declared_in_source,
    loaded,
    unknown_name,
    with_qualified_name,
)

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
    "MeshCoordinate",
    "MeshCoordinateRange",
    "MeshDevice",
    "MeshShape",
    "NdShardSpec",
    "PlacementReplicate",
    "PlacementShard",
    "Shape",
    "ShardOrientation",
    "ShardSpec",
    "ShardStrategy",
    "Tensor",
    "TensorMemoryLayout",
    "TensorSpec",
    "TensorTopology",
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
    with_qualified_name(_name, globals()[_name])
__all__ += eager_functions.__all__
__all__ += lazy_names.__all__

if TYPE_CHECKING:  # a type checker reads the stubs, and reports missing names itself
    from ttnn_jit.ttnn.calling.eager_functions import *  # noqa: F403 - one name per operation
    from ttnn_jit.ttnn.namespace.lazy_names import *  # noqa: F403 - one name per line of the stub
else:

    def __getattr__(name: str) -> Any:
        if name in eager_functions.__all__:
            value = getattr(eager_functions, name)
        elif name in lazy_names.__all__ or is_declared_in_source(name):
            value = loaded(name)
        else:
            raise unknown_name(name, __all__)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
