"""Meshes of devices: a call with tensors of a mesh is repeated on each device with the tensors of that device.

Every device of a mesh is a `Device`. A `MeshTensor` has one tensor on each device, all with the same spec, which is
also its own. Devices exchange no data.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.foreign.pytrees import leaves, map_leaves
from ttnn_jit.ops.host_ops import interpreted_in_programs
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.runtime.tensors.tensor import Tensor

if TYPE_CHECKING:
    import torch

    from ttnn_jit.runtime.memory.buffer import Buffer
    from ttnn_jit.runtime.memory.l1 import MemoryView
    from ttnn_jit.specs.tensor_spec import TensorSpec


P = ParamSpec("P")
T = TypeVar("T")


class MeshDevice(Device):
    """Several devices of one target, in rows and columns; tensors are allocated on the devices, not on the mesh.

    Attributes:
        shape: Rows and columns.
        devices: The devices in row-major order.
    """

    def __init__(self, shape: MeshShape, devices: Sequence[Device]) -> None:
        first = devices[0]
        super().__init__(first.target, queues=first.queues, trace_region_size=first.trace_region_size)
        self.shape = MeshShape(shape.rows_and_columns)
        self.devices = tuple(devices)
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
        shape, first = MeshShape(submesh_shape).rows_and_columns, tuple(offset or (0, 0))
        ranges = [range(start, start + extent) for start, extent in zip(first, shape, strict=True)]
        if any(each.start < 0 or each.stop > extent for each, extent in zip(ranges, self.shape, strict=True)):
            raise ArgumentError(f"{self} has no part of shape {shape} at {first}")
        devices = [self.devices[row * self.shape[1] + column] for row in ranges[0] for column in ranges[1]]
        part = devices[0] if len(devices) == 1 else MeshDevice(MeshShape(shape), devices)
        self._submeshes.append(part)
        return part

    @interpreted_in_programs
    def get_num_devices(self) -> int:
        """The number of devices in the mesh."""
        return len(self.devices)

    def members(self) -> tuple[Device, ...]:
        """The devices in row-major order."""
        return self.devices

    def require_host_access(self, operation: str) -> None:
        """Refuse `operation` if one of the devices refuses it."""
        for device in self.devices:
            device.require_host_access(operation)

    def get_device_ids(self) -> list[int]:
        """The numbers of the devices in row-major order."""
        return [device.device_id for device in self.devices]

    def num_program_cache_entries(self) -> int:
        """The number of cached programs per device."""
        return self.devices[0].num_program_cache_entries()

    def memory_view(self) -> MemoryView:
        """The L1 usage of the first device, which is that of every device."""
        return self.devices[0].memory_view()

    def enable_program_cache(self) -> None:
        """Start or resume counting programs."""
        for device in self.devices:
            device.enable_program_cache()

    def clear_program_cache(self) -> None:
        """Reset the count of programs to zero."""
        for device in self.devices:
            device.clear_program_cache()

    def disable_and_clear_program_cache(self) -> None:
        """Stop counting programs."""
        for device in self.devices:
            device.disable_and_clear_program_cache()

    def allocate_tensor(self, spec: TensorSpec, *, again: bool = False) -> Buffer:  # noqa: ARG002 - as a device has it
        """Refuse the allocation: each device allocates its own tensor."""
        raise ArgumentError(
            f"a tensor of one device cannot lie on {self}",
            help="use `ttnn.to_device(tensor, mesh)`, which copies to all",
        )

    def everywhere(self, make: Callable[[Device], Any]) -> Any:
        """The results of `make` on each device, as one tensor of the mesh."""
        return on_every_device(self, make, (self,), {})

    def close(self) -> None:
        """Close every device; a second close does nothing."""
        super().close()
        for device in self.devices:
            device.close()

    def __repr__(self) -> str:
        return f"MeshDevice({'x'.join(map(str, self.shape))} {self.devices[0].rules})"


class MeshTensor(Tensor):
    """One tensor for each device of a mesh, on the devices or on the host; the metadata are those of one tensor."""

    __slots__ = ("mesh", "tensors")

    def __init__(self, mesh: MeshDevice, tensors: Sequence[Tensor]) -> None:
        self.mesh = mesh
        self.tensors = tuple(tensors)
        self.spec = self.tensors[0].spec

    def __ttnn_call__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Repeat the call on every device; `TtnnOperation` calls this hook."""
        return on_every_device(self.mesh, function, args, kwargs)

    def device(self) -> Any:
        """The mesh; None on the host."""
        return None if self.tensors[0].device() is None else self.mesh

    def memory(self, operation: str) -> Buffer:
        """Refuse the access: each device has its own buffer."""
        raise ArgumentError(
            f"{operation}: the tensor lies on the {len(self.tensors)} devices of a mesh",
            help="take one of `ttnn.get_device_tensors(tensor)`, or pass `mesh_composer=` to `ttnn.to_torch`",
        )

    def is_allocated(self) -> bool:
        """Whether the tensors are allocated."""
        return self.tensors[0].is_allocated()

    def deallocate(self, force: bool = True) -> None:  # noqa: ARG002 - as ttnn has it
        """Free the memory on every device."""
        for tensor in self.tensors:
            tensor.deallocate()

    def cpu(self, blocking: bool = True, cq_id: int | None = None) -> MeshTensor:  # noqa: ARG002 - as ttnn has it
        """A copy on the host."""
        return MeshTensor(self.mesh, [tensor.cpu() for tensor in self.tensors])

    def to(self, device_or_layout: Any, memory_config: Any = None, cq_id: Any = None, *, mem_config: Any = None) -> Any:
        """A copy on the devices of a mesh, or in another layout."""
        return on_every_device(
            self.mesh, Tensor.to, (self, device_or_layout, memory_config, cq_id), {"mem_config": mem_config}
        )

    def __copy__(self) -> MeshTensor:
        """Another tensor with the same memory."""
        return MeshTensor(self.mesh, [copy.copy(tensor) for tensor in self.tensors])

    def __deepcopy__(self, _: object) -> MeshTensor:
        """A copy in new memory, on the same devices."""
        return MeshTensor(self.mesh, [copy.deepcopy(tensor) for tensor in self.tensors])

    def to_torch(self) -> torch.Tensor:
        """Refuse the conversion: a composer must define how the tensors of the devices are joined."""
        self.memory("to_torch")
        raise AssertionError

    def _repr_html_(self) -> str:
        """The representation in notebooks: that of the first tensor."""
        return f"<div>{len(self.tensors)} tensors, of which the first is{self.tensors[0]._repr_html_()}</div>"

    def __repr__(self) -> str:
        return f"MeshTensor({len(self.tensors)} x {self.tensors[0]!r})"


def on_every_device(
    mesh: MeshDevice, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """The results of `function` on every device, joined into `MeshTensor` objects.

    Raises:
        ArgumentError: Another mesh or a single device, or a tensor on one, is among the arguments.
    """
    every = leaves([*args, *kwargs.values()])
    given = [leaf for leaf in every if isinstance(leaf, MeshTensor)]
    if any(tensor.mesh is not mesh for tensor in given):
        raise ArgumentError("the tensors lie on different meshes")
    if given and (others := {repr(device) for device in map(_device_of, every) if device not in {None, mesh}}):
        raise ArgumentError(
            f"a call mixes a tensor of {mesh} with {' and '.join(sorted(others))}",
            help="copy the other to the mesh with `ttnn.to_device`, or take `ttnn.get_device_tensors` of the mesh's",
        )

    def on(number: int) -> Any:
        def own(leaf: Any) -> Any:
            if isinstance(leaf, MeshTensor):
                return leaf.tensors[number]
            return mesh.devices[number] if leaf is mesh else leaf

        return function(
            *(map_leaves(value, own) for value in args),
            **{name: map_leaves(value, own) for name, value in kwargs.items()},
        )

    results = [on(number) for number in range(len(mesh.devices))]
    gathered = iter([_joined(mesh, same, given) for same in zip(*map(leaves, results), strict=True)])
    return map_leaves(results[0], lambda _: next(gathered))


def _device_of(leaf: Any) -> Device | None:
    return leaf.device() if isinstance(leaf, Tensor) else leaf if isinstance(leaf, Device) else None


def _joined(mesh: MeshDevice, same: tuple[Any, ...], given: Sequence[MeshTensor]) -> Any:
    if not isinstance(same[0], Tensor):
        return same[0]
    known = next((tensor for tensor in given if all(map(lambda a, b: a is b, tensor.tensors, same))), None)
    return MeshTensor(mesh, same) if known is None else known


def mesh_of_arguments(values: Iterable[Any]) -> MeshDevice | None:
    """The first mesh among the arguments, or the mesh of the first `MeshTensor`; None if there is neither."""
    for value in values:
        if isinstance(value, MeshDevice):
            return value
        if isinstance(value, MeshTensor):
            return value.mesh
    return None


def over_meshes(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, called on every device of a mesh if an argument is a mesh or a tensor of one."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        mesh = mesh_of_arguments((*args, *kwargs.values()))
        if mesh is None:
            return function(*args, **kwargs)
        everywhere: T = on_every_device(mesh, function, args, kwargs)
        return everywhere

    return call
