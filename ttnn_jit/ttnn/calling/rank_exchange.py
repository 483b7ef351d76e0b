"""Exchanges of tensors between the ranks that share a mesh: what is sent, where it lies, and the hash of the call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from ttnn_jit.ops.collectives.device_exchanges import ALL_BROADCAST
from ttnn_jit.ops.collectives.rank_partition import RankPart, has_partial_sums, part_of_rank
from ttnn_jit.ops.families.collective import Collective, Extents, Received, Shard, Source, shape_of
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.runtime.memory.replicas import own_memory
from ttnn_jit.runtime.meshes.mesh import MeshTensor
from ttnn_jit.runtime.ranks.headers import KEY_BYTES, Call, Data
from ttnn_jit.runtime.ranks.transport import Region
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig, TensorSpec


class Plan(NamedTuple):
    """What a rank does in a collective.

    Attributes:
        call: What is called, and the hash of it.
        part: The values that the rank sends, and the results on its devices.
        received: The values that it receives in order, and their specs.
    """

    call: Call
    part: RankPart
    received: tuple[tuple[Received, TensorSpec], ...]


@lru_cache(maxsize=512)
def planned(  # noqa: PLR0913, PLR0917 - everything that ranks agree on
    name: str,
    collective: Collective,
    mesh: MeshShape,
    placed: Extents,
    cluster_axis: int | None,
    statics: tuple[Any, ...],
    specs: tuple[TensorSpec, ...],
    memory_config: MemoryConfig | None,
    owners: Extents,
    rank: int,
) -> Plan:
    """What a rank does in a call of a collective.

    Args:
        name: The name of the called function.
        collective: The declaration.
        mesh: The shape of the mesh.
        placed: The devices that have operands.
        cluster_axis: The axis along which devices exchange; None for all devices.
        statics: The attributes.
        specs: The specs of the operands.
        memory_config: The memory config that the call requests.
        owners: The rank of each device.
        rank: The rank.

    Raises:
        ArgumentError, ShapeError: As `Collective.expansion` does.
    """
    shapes = [tuple(spec.shape) for spec in specs]
    expansion = collective.expansion(mesh, placed, cluster_axis, shapes[0], statics)
    part = part_of_rank(expansion, shapes, owners, rank)
    received = [(source, _spec_of(source, specs[0], shapes)) for source in part.receives]
    digest = blake2b(digest_size=KEY_BYTES)
    for each in (name, tuple(mesh), owners, cluster_axis, statics, specs, memory_config, expansion):
        digest.update(repr(each).encode())
    parameters = [parameter.name for parameter in collective.parameters[-len(statics) or len(collective.parameters) :]]
    attributes = [f"{parameter}={value!r}" for parameter, value in zip(parameters, statics, strict=True)]
    arguments = ", ".join([*attributes, f"cluster_axis={cluster_axis}"])
    operand = f"[{', '.join(map(str, shapes[0]))}] {specs[0].dtype.name} {specs[0].layout.name}"
    return Plan(Call(f"`{name}` ({arguments}) of {operand}", digest.digest()), part, tuple(received))


def _spec_of(source: Received, operand: TensorSpec, shapes: Sequence[Extents]) -> TensorSpec:
    dtype = partial_dtype(operand.dtype) if has_partial_sums(source) else operand.dtype
    return operand.interleaved.with_(shape=shape_of(source, shapes), dtype=dtype)


def partial_dtype(dtype: DataType) -> DataType:
    """The element type of partial sums: integers keep their low bits, floats are added in float32."""
    return dtype if dtype.is_integer else COMPUTE_TYPE


def region_of(tensor: Tensor) -> Region:
    """The memory of a tensor."""
    return Region(tensor.memory("collective").address, tensor.spec.nbytes)


def writable_region_of(tensor: Tensor) -> Region:
    """The memory of a tensor, of its own, to receive into."""
    memory = tensor.memory("collective")
    own_memory(memory)
    return Region(memory.address, tensor.spec.nbytes)


def allocated(spec: TensorSpec, device: Device | None) -> Tensor:
    """A tensor with unspecified elements."""
    return Tensor(spec, device, HOST_POOL.allocate(spec.nbytes) if device is None else device.memory_for(spec))


def gathered_shards(tensor: MeshTensor) -> dict[int, Tensor]:
    """The tensor of every device that has a part, by the device's number; those of other ranks are received.

    Every rank that shares the mesh calls this.

    Raises:
        DistributedError: One of them does not.
    """
    shards = dict(zip(tensor.numbers, tensor.tensors, strict=True))
    ranks = tensor.mesh.ranks
    if ranks is None:
        return shards
    plan = planned(
        "to_torch", ALL_BROADCAST, tensor.mesh.shape, tuple(tensor.placed), None, (), (tensor.spec,), None,
        ranks.owners, ranks.rank,
    )  # fmt: skip
    sent = [Data(rank, region_of(shards[_device_of(value)])) for rank, value in plan.part.sends]
    received = []
    for source, spec in plan.received:
        shards[_device_of(source.of)] = shard = allocated(spec, None)
        received.append(Data(source.rank, region_of(shard)))
    ranks.channel.exchange(plan.call, sent, received)
    return {number: shards[number] for number in tensor.placed}


def _device_of(source: Source) -> int:
    assert isinstance(source, Shard), "a broadcast moves whole shards"
    return source.device
