"""The module `ttnn._ttnn`, ttnn's native extension, as far as test fixtures reach into it."""

from __future__ import annotations

from types import SimpleNamespace

from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.tensor_spec import (
    DataType,
    Layout,
    MathFidelity,
    MemoryConfig,
    ShardSpec,
    TensorMemoryLayout,
    TensorSpec,
)
from ttnn_jit.ttnn.devices import get_num_devices


class SystemMeshDescriptor:
    """The mesh that all devices of the host make up."""

    def shape(self) -> MeshShape:
        """Its rows and columns."""
        return MeshShape(2, get_num_devices() // 2)


multi_device = SimpleNamespace(SystemMeshDescriptor=SystemMeshDescriptor, MeshDevice=Device)
tensor = SimpleNamespace(
    DataType=DataType,
    Layout=Layout,
    MathFidelity=MathFidelity,
    MemoryConfig=MemoryConfig,
    ShardSpec=ShardSpec,
    Tensor=Tensor,
    TensorMemoryLayout=TensorMemoryLayout,
    TensorSpec=TensorSpec,
)
