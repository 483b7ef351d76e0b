"""The `ttnn` host API on a CPU: devices, tensors, memory configs, and an eager function per operation.

    from ttnn_jit import ttnn

    device = ttnn.open_device(device_id=0)
    x = ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    print(ttnn.to_torch(ttnn.exp(x)))

Names and semantics are those of Tenstorrent's ttnn as far as they are here; a name that is not raises AttributeError.
Operations are attributes too (``ttnn.exp``), made from their declarations in `ttnn_jit.ops`.

An eager operation (`ttnn/calling/eager_operation.py`) binds its arguments by `ops/language/binding.py`, and its
result options (`memory_config`, `dtype`, `output_tensor` and the like) by `ops/result_options.py`, as both
frontends do: one value, `ResultOptions`, which says what the result is, reaches the key, and is written into the IR
(`frontend/tensors/requested_results.py`). The operation is a program of one op, with the same tile body, hence the same
bits, and calls like it go straight there (`ttnn/calling/eager_warm_calls.py`). A call with tensors of a mesh is that
call on each device (`ttnn/calling/mesh.py`). What runs on the host, and what prepares the arguments of operations, is a
Python function in a file of its subject: `from_torch` in `ttnn/tensors/torch_conversion.py`, `zeros` in
`ttnn/tensors/tensor_creation.py`, `to_memory_config` in `ttnn/tensors/transfers.py`, `load_tensor` in
`ttnn/tensors/tensor_files.py`, `conv2d` in `ttnn/functions/convolving.py`, `prepare_conv_weights` in
`ttnn/functions/prepared_weights.py`, and so for collectives, pools, traces, devices. Its signature is its declaration,
or the fields of a dataclass are, which related functions share (`ttnn/calling/shared_parameters.py`,
`ttnn/functions/convolution_arguments.py`), and `@host_function` says the rest (`ttnn/calling/host_function.py`): a
table of `Parameter` objects is read from the annotations (`ttnn/calling/host_parameters.py`), which binds and refuses
arguments where a look at their classes does not do (`ttnn/calling/direct_calls.py`), and of which support tables and
tests are made (docs/adding_an_operation.md). Names load when they are asked for: one table, made by `make docs`, says
which file has which function (`ttnn/namespace/host_functions.py`), one where configs and enumerations stand, and why
some have no effect (`ttnn/namespace/lazy_names.py`), another which modules of ttnn have no file here and where their
names are (`ttnn/namespace/mirrored_modules.py`); the configs among them are fields with rules
(`specs/configs/program_configs.py`, `specs/configs/compute_config.py` and `specs/configs/conv_configs.py` of `specs/`,
over its `specs/configs/hardware_config.py`), whose fields users assign: what is kept of one is a copy
(`specs/mutable_values.py`). `ttnn/namespace/stand_in.py`, once `python -m ttnn_jit`, `register_as_ttnn` or the pytest
plugin asks for it, makes `import ttnn` find us where no real one is installed, in child processes by
`ttnn/on_pythonpath/ttnn.py` (docs/from_ttnn.md). Hooks, `ttnn.tracer` and `ttnn.graph` observe
operations (`dispatch/observers.py`): classes of calls have another ``__call__``, and functions of the host API other
code, for as long as somebody does. Comparison mode is one of them (`ttnn/observing/comparison_mode.py`): what may lie
between an operation and its golden says `ttnn/observing/comparison_tolerances.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.ops.reduction.losses import LossReductionMode
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.l1 import MemoryView
from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.runtime.tensors.tensor_text import set_printoptions
from ttnn_jit.specs.cores.memory_config import (
    L1_BLOCK_SHARDED_MEMORY_CONFIG,
    L1_HEIGHT_SHARDED_MEMORY_CONFIG,
    L1_MEMORY_CONFIG,
    L1_WIDTH_SHARDED_MEMORY_CONFIG,
)
from ttnn_jit.specs.cores.sharding import create_sharded_memory_config, get_maximal_block_sharding_grid
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
)  # which a namespace of ttnn is known by; others load when asked for
from ttnn_jit.ttnn.calling.eager_operation import get_fallback_function, get_golden_function
from ttnn_jit.ttnn.namespace import lazy_names
from ttnn_jit.ttnn.namespace.names_on_demand import construct, is_newly_declared, knowing_its_name, loaded, unknown_name

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
    from ttnn_jit.ttnn.calling.eager_functions import *  # noqa: F403 - one name per operation
    from ttnn_jit.ttnn.namespace.lazy_names import *  # noqa: F403 - one name per line of the stub
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
