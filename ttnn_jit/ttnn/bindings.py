"""Names that ttnn has in the modules of its extension alone: `ttnn._ttnn.device`, `ttnn._ttnn.multi_device`."""

from __future__ import annotations

from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.ttnn.devices.devices import get_num_devices
from ttnn_jit.ttnn.meshes.host_shards import MeshCoordinate

DEFAULT_L1_SMALL_SIZE = 0
"""Bytes of each core's L1 that are set apart for small tensors."""
DEFAULT_TRACE_REGION_SIZE = 0
"""Bytes of DRAM that are set apart for traces."""
DEFAULT_WORKER_L1_SIZE = 0
"""Bytes of each core's L1 that tensors have; 0: all that there are."""


class SystemMeshDescriptor:
    """The mesh that all devices of the host make up."""

    def shape(self) -> MeshShape:
        """Its rows and columns."""
        return MeshShape(2, get_num_devices() // 2)

    def is_local(self, coordinate: MeshCoordinate) -> bool:
        """Whether the device at a coordinate belongs to this host: every one does."""
        check_kind(coordinate, MeshCoordinate, "`coordinate`")
        return True

    def get_device_id(self, coordinate: MeshCoordinate) -> int:
        """The number of the device at a coordinate, counted row by row."""
        check_kind(coordinate, MeshCoordinate, "`coordinate`")
        row, column = coordinate
        return int(row * self.shape()[1] + column)
