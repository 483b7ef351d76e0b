"""The module `ttnn._ttnn`, ttnn's native extension, as far as test fixtures reach into it."""

from __future__ import annotations

from types import SimpleNamespace

from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.ttnn.devices import get_num_devices


class SystemMeshDescriptor:
    """The mesh that all devices of the host make up."""

    def shape(self) -> MeshShape:
        """Its rows and columns."""
        return MeshShape(2, get_num_devices() // 2)


multi_device = SimpleNamespace(SystemMeshDescriptor=SystemMeshDescriptor)
