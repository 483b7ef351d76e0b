"""Tensors of a mesh: a call with them is repeated on each device with the tensors of that device.

A `MeshTensor` has one tensor on each device, or on some of them, all with the same spec, which is also its own.
Collectives exchange data between devices (`ttnn_jit/ttnn/meshes/`).
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from operator import is_
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.foreign.pytrees import leaves, map_leaves
from ttnn_jit.foreign.values import own_attribute
from ttnn_jit.ops.host_ops import EXCHANGES
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.buffer import address_of
from ttnn_jit.runtime.memory.random_words import continue_from, next_draw
from ttnn_jit.runtime.memory.replicas import replica_in
from ttnn_jit.runtime.meshes.device_numbers import coordinates_of, numbers_of
from ttnn_jit.runtime.meshes.mesh import HostMesh, MeshDevice
from ttnn_jit.runtime.tensors.tensor import Tensor, replicas_share_memory
from ttnn_jit.runtime.tensors.tensors_from_host import filled
from ttnn_jit.specs.meshes.mesh_devices import MeshPlacement
from ttnn_jit.specs.meshes.tensor_topology import TensorTopology, replicated_on, topology_of_result

if TYPE_CHECKING:
    import torch

    from ttnn_jit.runtime.memory.buffer import Buffer

P = ParamSpec("P")
T = TypeVar("T")


class MeshTensor(Tensor):
    """A tensor on each device of a mesh, or on some; the metadata are those of one tensor.

    Args:
        mesh: The mesh; a `HostMesh` if the tensors are on the host and of no device.
        tensors: The tensors of the devices of this process, in row-major order; if none of them has a part, one
            tensor that stands in for the parts of other ranks: it has their spec, and is on the first own device.
        topology: The placement; None if every device has the same tensor.

    Attributes:
        placed: The numbers of the devices that have a part, in row-major order; those of other ranks too.
        numbers: The number of each tensor's device; none for a stand-in.
    """

    __slots__ = ("mesh", "numbers", "placed", "tensors", "topology")

    def __init__(
        self, mesh: MeshDevice | HostMesh, tensors: Sequence[Tensor], topology: TensorTopology | None = None
    ) -> None:
        self.mesh = mesh
        self.tensors = tuple(tensors)
        self.spec = self.tensors[0].spec
        self.topology = replicated_on(mesh.shape) if topology is None else topology
        if len(self.tensors) == len(mesh.devices):
            self.placed: Sequence[int] = range(len(mesh.devices))
            self.numbers: Sequence[int] = self.placed
        else:
            self.placed = numbers_of(mesh.shape, self.topology)
            self.numbers = mesh.own(self.placed)

    def tensor_topology(self) -> TensorTopology:
        """How the tensor was split, and which device has which shard (ttnn.Tensor.tensor_topology)."""
        return self.topology

    @property
    def placement(self) -> MeshPlacement:
        """The placement, as a part of keys of programs."""
        own = None if self.mesh.ranks is None else tuple(self.numbers)
        return MeshPlacement(self.mesh.shape, self.topology, own, self._blocks())

    def _blocks(self) -> tuple[int, ...]:
        """Per part, the first one that has the same block of memory; () if each has its own."""
        buffers: list[Any] = [tensor._buffer for tensor in self.tensors]
        if not any(map(replica_in, buffers)):
            return ()
        blocks = [address_of(each) if replica_in(each) else index for index, each in enumerate(buffers)]
        found = tuple(map(blocks.index, blocks))
        return () if found == tuple(range(len(blocks))) else found

    def on(self, number: int) -> Tensor:
        """The tensor on a device, by its number in the mesh."""
        return self.tensors[number if type(self.numbers) is range else self.numbers.index(number)]

    def of(self, tensors: Sequence[Tensor]) -> MeshTensor:
        """Other tensors, placed as these are."""
        return MeshTensor(self.mesh, tensors, self.topology)

    def __ttnn_call__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Repeat the call on every device; `TtnnOperation` calls this hook. Collectives take the whole tensor."""
        if own_attribute(function, EXCHANGES) is True:
            return NotImplemented
        found = self.mesh if isinstance(self.mesh, MeshDevice) else None
        mesh = found or mesh_of_arguments(leaves([*args, *kwargs.values()])) or self.mesh
        declared = getattr(function, "__ttnn_host_function__", None)
        return on_every_device(mesh, function, args, kwargs, share=getattr(declared, "shares_memory", False))

    def device(self) -> Any:
        """The mesh; None on the host."""
        return None if self.tensors[0].device() is None else self.mesh

    def memory(self, operation: str) -> Buffer:
        """Refuse the access: each device has its own buffer."""
        raise ArgumentError(
            f"{operation}: the tensor is on the {len(self.tensors)} devices of a mesh",
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
        with replicas_share_memory():
            return self.of([tensor.cpu() for tensor in self.tensors])

    def to(self, device_or_layout: Any, memory_config: Any = None, cq_id: Any = None, *, mem_config: Any = None) -> Any:
        """A copy on the devices of a mesh, or in another layout."""
        mesh = device_or_layout if isinstance(device_or_layout, MeshDevice) else self.mesh
        return on_every_device(
            mesh, Tensor.to, (self, device_or_layout, memory_config, cq_id), {"mem_config": mem_config}, share=True
        )

    def __copy__(self) -> MeshTensor:
        """Another tensor with the same memory."""
        return self.of([copy.copy(tensor) for tensor in self.tensors])

    def __deepcopy__(self, _: object) -> MeshTensor:
        """A copy in new memory, on the same devices."""
        return self.of([copy.deepcopy(tensor) for tensor in self.tensors])

    def to_torch(self) -> torch.Tensor:
        """The tensor of the one device that has a part; of several a composer must define how they are joined."""
        return self.only("to_torch").to_torch()

    def only(self, what: str) -> Tensor:
        """The tensor of the one device that has a part.

        Raises:
            ArgumentError: Several devices have one; `what` is refused.
        """
        if len(self.tensors) == len(self.placed) == 1:
            return self.tensors[0]
        self.memory(what)
        raise AssertionError

    def _repr_html_(self) -> str:
        """The representation in notebooks: that of the first tensor."""
        return f"<div>{len(self.tensors)} tensors; the first is{self.tensors[0]._repr_html_()}</div>"

    def __repr__(self) -> str:
        return f"MeshTensor({len(self.tensors)} x {self.tensors[0]!r})"


def on_every_device(
    mesh: MeshDevice | HostMesh,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    share: bool = False,
) -> Any:
    """The results of `function` on every device that has all operands, joined into `MeshTensor` objects.

    With `share`, results that are made of one object or one memory share memory; `function` writes into no tensor that
    it makes.

    Raises:
        ArgumentError: Another mesh or a single device, or a tensor on one, is among the arguments; or no device has
            all operands.
    """
    if mesh.ranks is not None:
        mesh.ranks.world.check_termination()
    given = check_one_mesh(mesh, leaves([*args, *kwargs.values()]))
    placed = common_numbers(mesh, given)
    numbers = mesh.own(placed)
    if not numbers:
        return _called_elsewhere(mesh, placed, function, args, kwargs)
    is_whole = type(numbers) is range

    def on(number: int) -> Any:
        def own(leaf: Any) -> Any:
            if isinstance(leaf, MeshTensor):
                return leaf.tensors[number] if is_whole else leaf.on(number)
            return mesh.devices[number] if leaf is mesh else leaf

        return function(
            *(map_leaves(value, own) for value in args),
            **{name: map_leaves(value, own) for name, value in kwargs.items()},
        )

    with replicas_share_memory() if share else nullcontext():
        results = [on(number) for number in numbers] if mesh.ranks is None else _drawn_in_order(on, placed, numbers)
    gathered = iter([_joined(mesh, placed, same, given) for same in zip(*map(leaves, results), strict=True)])
    return map_leaves(results[0], lambda _: next(gathered))


MeshDevice.call_on_every_device = on_every_device


def _drawn_in_order(on: Callable[[int], Any], placed: Sequence[int], numbers: Sequence[int]) -> list[Any]:
    """The results on the devices of this rank, with the random numbers of one process: devices draw in their order.

    How often the call draws is known after it has run once; then it runs again, unless it is of the first device.
    """
    first, draws, results = next_draw(), 0, list[Any]()
    for position, number in enumerate(placed):
        if number not in numbers:
            continue
        continue_from(first + position * draws)
        result = on(number)
        if not results:
            draws = next_draw() - first
            if draws and position:
                continue_from(first + position * draws)
                result = on(number)
        results.append(result)
    continue_from(first + len(placed) * draws)
    return results


def _called_elsewhere(
    mesh: MeshDevice | HostMesh,
    placed: Sequence[int],
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """The results of a call that only devices of other ranks make: tensors that stand in for theirs.

    The function runs on zeros, which shows what it returns.
    """
    assert isinstance(mesh, MeshDevice), "it has ranks"
    device = mesh.members()[0]
    given: dict[int, MeshTensor] = {}

    def stand_in(leaf: Any) -> Any:
        if not isinstance(leaf, MeshTensor):
            return device if leaf is mesh else leaf
        zeros = filled(0.0, leaf.spec, None if leaf.device() is None else device)
        given[id(zeros)] = leaf
        return zeros

    values = [map_leaves(value, stand_in) for value in args]
    first = next_draw()
    result = function(*values, **{name: map_leaves(value, stand_in) for name, value in kwargs.items()})
    continue_from(first + len(placed) * (next_draw() - first))
    coordinates = coordinates_of(mesh, placed)
    topologies = tuple(each.topology for each in given.values())
    topology = topology_of_result(topologies, coordinates) if topologies else None

    def placed_elsewhere(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        return given[id(leaf)] if id(leaf) in given else MeshTensor(mesh, (leaf,), topology)

    return map_leaves(result, placed_elsewhere)


def check_one_mesh(mesh: MeshDevice | HostMesh, values: Sequence[Any]) -> list[MeshTensor]:
    """The tensors of a mesh among the values of a call.

    Raises:
        ArgumentError: Another mesh or a single device, or a tensor on one, is among the values.
    """
    given = [value for value in values if isinstance(value, MeshTensor)]
    if any(not _belongs_to(tensor, mesh) for tensor in given):
        raise ArgumentError("the tensors are on different meshes")
    if given and (others := {repr(device) for device in map(_device_of, values) if device not in {None, mesh}}):
        raise ArgumentError(
            f"a call mixes a tensor of {mesh} with {' and '.join(sorted(others))}",
            help="copy the other to the mesh with `ttnn.to_device`, or take `ttnn.get_device_tensors` of the mesh's",
        )
    return given


def _belongs_to(tensor: MeshTensor, mesh: MeshDevice | HostMesh) -> bool:
    """Whether a tensor is of this mesh, or is on the host and of no mesh."""
    return tensor.mesh is mesh or (isinstance(tensor.mesh, HostMesh) and len(tensor.mesh.devices) == len(mesh.devices))


def common_numbers(mesh: MeshDevice | HostMesh, given: Sequence[MeshTensor]) -> Sequence[int]:
    """The numbers of the devices that have a tensor of each of `given`, in row-major order; of other ranks too.

    Raises:
        ArgumentError: There is no such device.
    """
    numbers = range(len(mesh.devices))
    if all(type(tensor.placed) is range for tensor in given):
        return numbers
    common = [number for number in numbers if all(number in tensor.placed for tensor in given)]
    if not common:
        raise ArgumentError(f"no device of {mesh} has all the tensors of the call")
    return common


def _device_of(leaf: Any) -> Device | None:
    return leaf.device() if isinstance(leaf, Tensor) else leaf if isinstance(leaf, Device) else None


def _joined(
    mesh: MeshDevice | HostMesh, placed: Sequence[int], same: tuple[Any, ...], given: Sequence[MeshTensor]
) -> Any:
    if not isinstance(same[0], Tensor):
        return same[0]
    first = same[0]
    for tensor in given:
        if tensor.tensors[0] is first and len(tensor.tensors) == len(same) and all(map(is_, tensor.tensors, same)):
            return tensor
    if not given:
        return MeshTensor(mesh, same)
    coordinates = coordinates_of(mesh, placed)
    return MeshTensor(mesh, same, topology_of_result(tuple(tensor.topology for tensor in given), coordinates))


def placed_on(mesh: MeshDevice, tensors: Sequence[Tensor], topology: TensorTopology | None) -> MeshTensor:
    """The tensor of a mesh with these host tensors for the devices of a topology, of which ranks keep their own."""
    numbers = [*range(len(tensors))] if topology is None else [*numbers_of(mesh.shape, topology)]
    own = {*mesh.own(numbers)}
    kept = [tensor for number, tensor in zip(numbers, tensors, strict=True) if number in own]
    return MeshTensor(mesh, kept or tensors[:1], topology)


def mesh_of_arguments(values: Iterable[Any]) -> MeshDevice | HostMesh | None:
    """The first mesh among the arguments, or the mesh of the first `MeshTensor`; None if there is neither."""
    found: HostMesh | None = None
    for value in values:
        if isinstance(value, MeshDevice):
            return value
        if isinstance(value, MeshTensor):
            if isinstance(value.mesh, MeshDevice):
                return value.mesh
            found = value.mesh
    return found


def over_meshes(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, called on every device of a mesh if an argument is a mesh or a tensor of one."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        mesh = mesh_of_arguments((*args, *kwargs.values()))
        if mesh is None:
            return function(*args, **kwargs)
        map_devices: T = on_every_device(mesh, function, args, kwargs)
        return map_devices

    return call
