"""Names that exist only in modules of ttnn's native extension: `ttnn._ttnn.device`, `ttnn._ttnn.multi_device`."""

from __future__ import annotations

from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.ttnn.devices.devices import get_num_devices
from ttnn_jit.ttnn.meshes.host_shards import MeshCoordinate

DEFAULT_L1_SMALL_SIZE = 0
"""Bytes of each core's L1 that are reserved for small tensors."""
DEFAULT_TRACE_REGION_SIZE = 0
"""Bytes of DRAM that are reserved for traces."""
DEFAULT_WORKER_L1_SIZE = 0
"""Bytes of each core's L1 that tensors may use; 0: all of L1."""


class SystemMeshDescriptor:
    """The mesh of all devices of the host."""

    def shape(self) -> MeshShape:
        """Rows and columns of the mesh."""
        return MeshShape(2, get_num_devices() // 2)

    def is_local(self, coordinate: MeshCoordinate) -> bool:
        """Whether the device at a coordinate belongs to this host: always True."""
        check_kind(coordinate, MeshCoordinate, "`coordinate`")
        return True

    def get_device_id(self, coordinate: MeshCoordinate) -> int:
        """The number of the device at a coordinate, in row-major order."""
        check_kind(coordinate, MeshCoordinate, "`coordinate`")
        row, column = coordinate
        return int(row * self.shape()[1] + column)
