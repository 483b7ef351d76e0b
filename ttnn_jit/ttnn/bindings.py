"""Names that exist only in modules of ttnn's native extension: `ttnn._ttnn.device`, `ttnn._ttnn.multi_device`."""

from __future__ import annotations

from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.meshes.mesh_shape import MeshCoordinate, MeshShape
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.ttnn.devices.devices import get_num_devices

DEFAULT_L1_SMALL_SIZE = 0
"""Bytes of each core's L1 that are reserved for small tensors."""
DEFAULT_TRACE_REGION_SIZE = 0
"""Bytes of DRAM that are reserved for traces."""
DEFAULT_WORKER_L1_SIZE = 0
"""Bytes of each core's L1 that tensors may use; 0: all of L1."""


class SystemMeshDescriptor:
    """The mesh of all devices of the host."""

    def shape(self) -> MeshShape:
        """The shape of the mesh: that of the system that `SYSTEM_DESC_PATH` describes, or two rows of four devices."""
        described = MeshShape(resolve_target(None).mesh)
        return described if described.mesh_size() > 1 else MeshShape(2, get_num_devices() // 2)

    def local_shape(self) -> MeshShape:
        """The shape of the devices of this host: all of them."""
        return self.shape()

    def all_local(self) -> bool:
        """Whether every device belongs to this host: True."""
        return True

    def is_local(self, coord: MeshCoordinate) -> bool:
        """Whether the device at a coordinate belongs to this host: always True."""
        check_kind(coord, MeshCoordinate, "`coord`")
        return True

    def get_device_id(self, coord: MeshCoordinate) -> int:
        """The number of the device at a coordinate, in row-major order."""
        check_kind(coord, MeshCoordinate, "`coord`")
        return self.shape().number(coord)
