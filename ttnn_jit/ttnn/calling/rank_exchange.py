"""Exchanges of tensors between the ranks that share a mesh: what is sent, where it lies, and the hash of the call."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from ttnn_jit.ops.collectives.rank_partition import RankPart
from ttnn_jit.ops.collectives.rank_stages import Gather, stages_of
from ttnn_jit.ops.families.collective import Collective, Extents, Received
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.runtime.memory.replicas import own_memory
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.ranks.headers import KEY_BYTES, Call, Data
from ttnn_jit.runtime.ranks.transport import Region
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.tensor_spec import MemoryConfig, TensorSpec


class Plan(NamedTuple):
    """What a rank does in a collective.

    Attributes:
        call: What is called, and the hash of it.
        part: The values that the rank sends, and the results on its devices.
        received: The values that it receives in order, and their specs.
        gathers: The joins that are received in place.
        first: The stage before, whose result on a device is another operand of this one; None if there is none.
        operand: The extents of this operand.
    """

    call: Call
    part: RankPart
    received: tuple[tuple[Received, TensorSpec], ...]
    gathers: tuple[Gather, ...]
    first: Plan | None = None
    operand: Extents = ()


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
    digest = blake2b(digest_size=KEY_BYTES)
    for each in (name, tuple(mesh), owners, cluster_axis, statics, specs, memory_config, expansion):
        digest.update(repr(each).encode())
    attributes = [f"{each.name}={value!r}" for each, value in zip(collective.attributes, statics, strict=False)]
    arguments = ", ".join([*attributes, f"cluster_axis={cluster_axis}"])
    operand = f"[{', '.join(map(str, shapes[0]))}] {specs[0].dtype.name} {specs[0].layout.name}"
    text, plan = f"`{name}` ({arguments}) of {operand}", None
    for stage in stages_of(expansion, specs[0], shapes, owners, rank):
        call = Call(text, digest.digest())
        plan = Plan(call, stage.part, stage.received, stage.gathers, plan, stage.shapes[-1])
        text = f"{text}, second stage"
        digest.update(b"second stage")
    assert plan is not None, "there is a stage"
    return plan


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
    shards = {number: tensor.on(number) for number in tensor.numbers}
    ranks = tensor.mesh.ranks
    if ranks is None:
        return shards
    others = [rank for rank in ranks.channel.ranks if rank != ranks.rank]
    sent = [Data(rank, region_of(shard)) for rank in others for shard in shards.values()]
    received = []
    for number in tensor.placed:
        if number not in shards:
            shards[number] = shard = allocated(tensor.spec, None)
            received.append(Data(ranks.owners[number], region_of(shard)))
    ranks.channel.exchange(_gathering(tensor.spec, tuple(tensor.placed), ranks.owners), sent, received)
    return {number: shards[number] for number in tensor.placed}


@lru_cache(maxsize=256)
def _gathering(spec: TensorSpec, placed: Extents, owners: Extents) -> Call:
    """The call that reads a tensor of a mesh on the host; where it lies on the devices makes no difference."""
    operand = f"[{', '.join(map(str, spec.shape))}] {spec.dtype.name} {spec.layout.name}"
    key = blake2b(repr(("to_torch", operand, placed, owners)).encode(), digest_size=KEY_BYTES).digest()
    return Call(f"`to_torch` of {operand}", key)
