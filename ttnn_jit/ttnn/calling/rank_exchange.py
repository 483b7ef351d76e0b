"""Exchanges of tensors between the ranks that share a mesh: what is sent, where it lies, and the hash of the call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import accumulate
from typing import Any, NamedTuple

from ttnn_jit.ops.collectives.rank_partition import RankPart, has_partial_sums, in_two_stages, part_of_rank
from ttnn_jit.ops.families.collective import Collective, Extents, Join, Received, Results, shape_of
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.runtime.memory.replicas import own_memory
from ttnn_jit.runtime.meshes.mesh import MeshTensor
from ttnn_jit.runtime.ranks.headers import KEY_BYTES, Call, Data
from ttnn_jit.runtime.ranks.transport import Region
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.target import TILE_HEIGHT
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorSpec


class Gather(NamedTuple):
    """A join whose parts lie one after the other in its memory: they are received, or copied, where they belong.

    Attributes:
        join: The expression.
        number: The device whose result it is.
        spec: The spec of the result, interleaved.
        offsets: The first byte of each part, and the end of the last.
    """

    join: Join
    number: int
    spec: TensorSpec
    offsets: tuple[int, ...]


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


STAGED_BYTES = 1 << 20
"""The bytes of partial sums that each of more than two ranks would receive, from which on a reduction has two stages.

Two ranks receive as many bytes in one stage as in two."""


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
    text, ranks = f"`{name}` ({arguments}) of {operand}", len({owners[number] for number in placed})
    stages = None
    if ranks > 2 and specs[0].nbytes * (ranks - 1) >= STAGED_BYTES:
        stages = in_two_stages(expansion, owners, len(shapes), partial(_equal_parts, specs[0]))
    if stages is None:
        return _stage(Call(text, digest.digest()), expansion, specs[0], shapes, (owners, rank))
    ((piece, *_), *_) = stages.first.values()
    first = _stage(Call(text, digest.digest()), stages.first, specs[0], shapes, (owners, rank))
    digest.update(b"second stage")
    second = Call(f"{text}, second stage", digest.digest())
    shapes.append(shape_of(piece, shapes))
    return _stage(second, stages.second, specs[0], shapes, (owners, rank))._replace(first=first, operand=shapes[-1])


def _stage(
    call: Call,
    expansion: Mapping[int, Results],
    operand: TensorSpec,
    shapes: Sequence[Extents],
    ranks: tuple[Extents, int],
) -> Plan:
    part = part_of_rank(expansion, shapes, *ranks)
    received = [(source, _spec_of(source, operand, shapes)) for source in part.receives]
    return Plan(call, part, tuple(received), tuple(_gathers(part, operand, shapes)))


def _equal_parts(spec: TensorSpec, count: int) -> tuple[int, int] | None:
    """The outermost dimension of a tensor and the extent of `count` equal parts of its memory; None without such."""
    shape = tuple(spec.shape)
    dim = next((dim for dim, extent in enumerate(shape) if extent > 1), None)
    if dim is None or shape[dim] % count:
        return None
    part = spec.with_(shape=(*shape[:dim], shape[dim] // count, *shape[dim + 1 :]))
    return (dim, shape[dim] // count) if is_contiguous(dim, [part]) else None


def _gathers(part: RankPart, operand: TensorSpec, shapes: Sequence[Extents]) -> Iterator[Gather]:
    """The joins with received parts that lie one after the other, each once, of values that no other join has."""
    found = dict[int, tuple[int, Join]]()
    for number, results in part.results.items():
        for result in results:
            if isinstance(result, Join):
                found.setdefault(id(result), (number, result))
    uses = Counter(each for _, join in found.values() for each in join.parts if isinstance(each, Received))
    for number, join in found.values():
        received = [each for each in join.parts if isinstance(each, Received)]
        if not received or any(uses[each] > 1 or has_partial_sums(each) for each in received):
            continue
        whole = operand.interleaved.with_(shape=shape_of(join, shapes))
        parts = [whole.with_(shape=shape_of(each, shapes)) for each in join.parts]
        if is_contiguous(join.dim, parts):
            yield Gather(join, number, whole, tuple(accumulate((each.nbytes for each in parts), initial=0)))


def is_contiguous(dim: int, parts: Sequence[TensorSpec]) -> bool:
    """Whether a join along a dimension is its parts in memory, one after the other."""
    shape = tuple(parts[0].shape)
    if any(extent != 1 for extent in shape[:dim]):
        return False
    if parts[0].layout is Layout.ROW_MAJOR or dim < len(shape) - 2:
        return True
    return dim == len(shape) - 2 and not any(tuple(part.shape)[dim] % TILE_HEIGHT for part in parts)


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
