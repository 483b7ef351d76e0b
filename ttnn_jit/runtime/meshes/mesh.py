"""Meshes of devices: every device of a mesh is a `Device`."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.host_ops import interpreted_in_programs
from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.meshes.mesh_shape import MeshDeviceView, MeshShape

if TYPE_CHECKING:
    from ttnn_jit.runtime.memory.buffer import Buffer
    from ttnn_jit.runtime.memory.l1 import MemoryView
    from ttnn_jit.runtime.ranks.mesh_ranks import MeshRanks
    from ttnn_jit.specs.tensor_spec import TensorSpec


class HostMesh:
    """The mesh of host tensors that were assembled without a device.

    Attributes:
        shape: The shape of the meshes that the tensors can be moved to.
        devices: None for every device.
        ranks: None: all devices are of this process.
    """

    __slots__ = ("devices", "ranks", "shape")

    def __init__(self, shape: MeshShape) -> None:
        self.shape = shape.with_rows
        self.devices: tuple[None, ...] = (None,) * shape.mesh_size()
        self.ranks = None

    def own(self, numbers: Sequence[int]) -> Sequence[int]:
        """All devices are of this process."""
        return numbers

    def __repr__(self) -> str:
        return f"a mesh of shape {tuple(self.shape)}"


class MeshDevice(Device):
    """Several devices of one target, along up to three axes; tensors are allocated on the devices, not on the mesh.

    The devices have one order of replays and one record of captured memory: a trace is of all of them.

    Args:
        shape: Extents along each axis.
        devices: The devices in row-major order.
        ranks: The ranks that share the mesh; None if all devices are of this process.

    Attributes:
        shape: Extents along each axis.
        devices: The devices in row-major order; those of other ranks refuse every use.
        ranks: The ranks that share the mesh; None if all devices are of this process.
        call_on_every_device: `mesh_tensor.on_every_device`, which that module attaches.
    """

    call_on_every_device: ClassVar[Callable[..., Any]]

    def __init__(self, shape: MeshShape, devices: Sequence[Device], ranks: MeshRanks | None = None) -> None:
        first = devices[0]
        super().__init__(first.target, queues=first.queues, trace_region_size=first.trace_region_size)
        self.shape = shape.with_rows
        self.devices = tuple(devices)
        self.ranks = ranks
        own = self.devices if ranks is None else tuple(self.devices[number] for number in ranks.own)
        self._members = own or (Device(first.target, queues=first.queues, trace_region_size=first.trace_region_size),)
        for device in (self, *devices, *self._members):
            device.order, device.captured = first.order, first.captured
        _MESHES.append(weakref.ref(self, _MESHES.remove))
        self._submeshes: list[Device] = []

    def get_submeshes(self) -> list[Device]:
        """The submeshes of this mesh."""
        return list(self._submeshes)

    def create_submesh(self, submesh_shape: MeshShape | Sequence[int], offset: Sequence[int] | None = None) -> Device:
        """The submesh of this shape whose first device is at `offset`; a submesh of one device is that device.

        Tensors of the submesh and of the mesh cannot be operands of one call.

        Raises:
            ArgumentError: The submesh exceeds the mesh.
        """
        shape = MeshShape(submesh_shape).with_rows
        first = tuple(offset or (0,) * len(shape))
        if not len(first) == len(shape) == len(self.shape) or any(
            start < 0 or start + extent > own for start, extent, own in zip(first, shape, self.shape, strict=True)
        ):
            raise ArgumentError(f"{self} has no part of shape {tuple(shape)} at {first}")
        coordinates = (map(sum, zip(first, each, strict=True)) for each in shape.coordinates())
        numbers = [self.shape.number((*coordinate,)) for coordinate in coordinates]
        devices = [self.devices[number] for number in numbers]
        ranks = None if self.ranks is None else self.ranks.part(numbers)
        part = devices[0] if len(devices) == 1 else MeshDevice(shape, devices, ranks)
        self._submeshes.append(part)
        return part

    def reshape(self, new_shape: MeshShape | Sequence[int]) -> None:
        """Arrange the devices in another shape; their order does not change (ttnn.MeshDevice.reshape).

        Raises:
            ArgumentError: The shape has another number of devices.
        """
        shape = MeshShape(new_shape).with_rows
        if math.prod(shape) != len(self.devices):
            raise ArgumentError(f"{self} has {len(self.devices)} devices, and {shape} has {math.prod(shape)}")
        self.shape = shape

    def get_device_id(self, coord: Sequence[int]) -> int:
        """The number of the device at a coordinate.

        Raises:
            ArgumentError: There is no such device.
        """
        return self.devices[self.shape.number(coord)].device_id

    @interpreted_in_programs
    def get_num_devices(self) -> int:
        """The number of devices in the mesh."""
        return len(self.devices)

    def members(self) -> tuple[Device, ...]:
        """The devices of this process in row-major order; without any, one that stands in for those of other ranks."""
        return self._members

    def own(self, numbers: Sequence[int]) -> Sequence[int]:
        """Those of some devices, by number, that are of this process."""
        if self.ranks is None:
            return numbers
        return tuple(number for number in numbers if number in self.ranks.own)

    def get_view(self) -> MeshDeviceView:
        """The coordinates of the mesh, and which devices are of this process."""
        return MeshDeviceView(self.shape, None if self.ranks is None else self.ranks.own)

    def require_host_access(self, operation: str) -> None:
        """Refuse `operation` if one of the devices refuses it."""
        for device in self._members:
            device.require_host_access(operation)

    def get_device_ids(self) -> list[int]:
        """The numbers of the devices in row-major order."""
        return [device.device_id for device in self.devices]

    def num_program_cache_entries(self) -> int:
        """The number of cached programs per device."""
        return self._members[0].num_program_cache_entries()

    def memory_view(self) -> MemoryView:
        """The L1 usage of the first device, which is that of every device."""
        return self._members[0].memory_view()

    def enable_program_cache(self) -> None:
        """Start or resume counting programs."""
        for device in self._members:
            device.enable_program_cache()

    def clear_program_cache(self) -> None:
        """Reset the count of programs to zero."""
        for device in self._members:
            device.clear_program_cache()

    def disable_and_clear_program_cache(self) -> None:
        """Stop counting programs."""
        for device in self._members:
            device.disable_and_clear_program_cache()

    def allocate_tensor(self, spec: TensorSpec, *, reuse_captured: bool = False) -> Buffer:  # noqa: ARG002 - as in `Device`
        """Refuse the allocation: each device allocates its own tensor."""
        raise ArgumentError(
            f"a tensor of one device cannot be on {self}",
            help="use `ttnn.to_device(tensor, mesh)`, which copies to all",
        )

    def map_devices(self, make: Callable[[Device], Any]) -> Any:
        """The results of `make` on each device, as one tensor of the mesh."""
        return type(self).call_on_every_device(self, make, (self,), {}, share=True)

    def close(self) -> None:
        """Close every device; a second close does nothing."""
        super().close()
        for device in self._members:
            device.close()

    def __repr__(self) -> str:
        return f"MeshDevice({'x'.join(map(str, self.shape))} {self.devices[0].rules})"


_MESHES: list[weakref.ref[MeshDevice]] = []
"""The meshes of the process, in the order in which they were opened."""


def mesh_of_devices(devices: Collection[Device]) -> MeshDevice | None:
    """The mesh that was opened last with all of these devices; None if there is none."""
    meshes = [mesh for ref in reversed(_MESHES) if (mesh := ref()) is not None and not mesh.closed]
    return next((mesh for mesh in meshes if all(device in mesh.devices for device in devices)), None)
