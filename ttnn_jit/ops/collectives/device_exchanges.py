"""The collectives: what each device of a group gets of the tensors of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.families.collective import (
    AXIS,
    FULL_TO_SHARD,
    GROUPS,
    Call,
    Collective,
    Extents,
    Fill,
    Fold,
    Group,
    Join,
    Results,
    Shard,
    Slice,
    Source,
    checked_reduction,
    equal_part,
)
from ttnn_jit.ops.language.axes import axis_of
from ttnn_jit.ops.language.parameter import (
    DIMENSION,
    DIMENSIONS,
    NAME,
    REDUCE_TYPE,
    REPLICA_GROUPS,
    SHARD_DIRECTION,
    SHARD_TYPE,
    TENSOR,
    Parameter,
)
from ttnn_jit.specs.meshes.mesh_shape import MeshShape

_X = Parameter("input_tensor", TENSOR)
_DIM = Parameter("dim", DIMENSION)
_REDUCTION = Parameter("reduce_type", REDUCE_TYPE, "sum")


def _to_all(group: Group, *results: Source) -> list[Results]:
    return [results] * len(group.devices)


def _shards(group: Group) -> tuple[Shard, ...]:
    return tuple(map(Shard, group.devices))


def _parts(of: Source, axis: int, part: int, count: int) -> list[Results]:
    return [(Slice(of, axis, index * part, (index + 1) * part),) for index in range(count)]


# --- Gathers ----------------------------------------------------------------------------------------------------------


_GATHERED_DIM = Parameter("dim", DIMENSION, ir_name="all_gather_dim")

ALL_GATHER = Collective(
    name="all_gather",
    parameters=(_X, _GATHERED_DIM, AXIS),
    summary="The tensors of the devices along an axis, concatenated along `dim` in the order of the devices.",
    expand=lambda group, shape, dim: _to_all(group, Join(axis_of(dim, len(shape)), _shards(group))),
    golden=lambda torch, shards, dim: [torch.cat([*shards], dim)] * len(shards),
    replicates=0,
)

ALL_GATHER_REVERSED = Collective(
    name="all_gather_reversed",
    parameters=(_X, _GATHERED_DIM, AXIS),
    summary="The tensors of the devices along an axis, concatenated along `dim` in the reversed order of the devices.",
    source="ttnn.experimental.all_gather_async_reversed",
    expand=lambda group, shape, dim: _to_all(group, Join(axis_of(dim, len(shape)), _shards(group)[::-1])),
    golden=lambda torch, shards, dim: [torch.cat(shards[::-1], dim)] * len(shards),
    replicates=0,
)


def _gathered_from_others(group: Group, shape: Extents, dim: int) -> list[Results]:
    axis, extent = axis_of(dim, len(shape)), shape[axis_of(dim, len(shape))]
    shards = _shards(group)
    kept = [
        Slice(Shard(device, 1), axis, index * extent, (index + 1) * extent)
        for index, device in enumerate(group.devices)
    ]
    return [(Join(axis, (*shards[:index], kept[index], *shards[index + 1 :])),) for index in range(len(group.devices))]


def _gathered_from_others_in_torch(torch: Any, shards: Sequence[Any], buffers: Sequence[Any], dim: int) -> list[Any]:
    found = []
    for index, buffer in enumerate(buffers):
        own = buffer.chunk(len(shards), dim)[index]
        found.append(torch.cat([*shards[:index], own, *shards[index + 1 :]], dim))
    return found


GATHER_FROM_OTHERS = Collective(
    name="gather_from_others",
    parameters=(_X, Parameter("buffer", TENSOR), _DIM, AXIS),
    summary="The tensors of the other devices, concatenated along `dim`, in a buffer whose own part stays as it is.",
    source="ttnn.experimental.ring_attention_all_gather_async",
    expand=_gathered_from_others,
    golden=_gathered_from_others_in_torch,
    replicates=0,
)

ALL_BROADCAST = Collective(
    name="all_broadcast",
    parameters=(_X, AXIS),
    summary="A list of the tensors of the devices along an axis, each on every device.",
    expand=lambda group, _: _to_all(group, *_shards(group)),
    golden=lambda _, shards: [[*shards]] * len(shards),
)


# --- Reductions -------------------------------------------------------------------------------------------------------


def _fold(group: Group, reduction: str) -> Fold:
    return Fold(checked_reduction(reduction), _shards(group), group.levels)


def _reduced_in_torch(torch: Any, shards: Sequence[Any], reduction: str) -> Any:
    stacked = torch.stack([*shards]).double()
    return ({"max": torch.amax, "min": torch.amin}.get(reduction) or getattr(torch, reduction))(stacked, 0)


ALL_REDUCE = Collective(
    name="all_reduce",
    parameters=(_X, _REDUCTION, AXIS),
    summary="The sum of the tensors of the devices along an axis; of several axes one after the other.",
    expand=lambda group, _, reduction: _to_all(group, _fold(group, reduction)),
    golden=lambda torch, shards, reduction: [_reduced_in_torch(torch, shards, reduction)] * len(shards),
    axis_by_axis=True,
)


def _reduced_and_scattered(group: Group, shape: Extents, dim: int, reduction: str) -> list[Results]:
    axis, count = axis_of(dim, len(shape)), len(group.devices)
    return _parts(_fold(group, reduction), axis, equal_part(shape, axis, count), count)


REDUCE_SCATTER = Collective(
    name="reduce_scatter",
    parameters=(_X, Parameter("dim", DIMENSION, ir_name="scatter_dim"), _REDUCTION, AXIS),
    summary="The sum of the tensors of the devices along an axis, of which device i gets part i along `dim`.",
    expand=_reduced_and_scattered,
    golden=lambda torch, shards, dim, reduction: [*_reduced_in_torch(torch, shards, reduction).chunk(len(shards), dim)],
)


# --- Parts and copies -------------------------------------------------------------------------------------------------


def _partitioned(group: Group, shape: Extents, dim: int) -> list[Results]:
    axis, count = axis_of(dim, len(shape)), len(group.devices)
    part = equal_part(shape, axis, count)
    return [(Slice(shard, axis, index * part, (index + 1) * part),) for index, shard in enumerate(_shards(group))]


MESH_PARTITION = Collective(
    name="mesh_partition",
    parameters=(_X, _DIM, AXIS),
    summary="Part i along `dim` of the tensor of device i along an axis.",
    expand=_partitioned,
    golden=lambda _, shards, dim: [shard.chunk(len(shards), dim)[index] for index, shard in enumerate(shards)],
)

_SENDER = Parameter("sender", DIMENSION)


def _of_device(group: Group, device: int) -> Shard:
    if device not in group.devices:
        raise ArgumentError(f"device {device} has no tensor to send")
    return Shard(device)


COLLECTIVE_BROADCAST = Collective(
    name="collective_broadcast",
    parameters=(_X, GROUPS),
    summary="The tensor of the first device of each group, on every device of the group.",
    source="ttir.collective_broadcast",
    expand=lambda group, _: _to_all(group, _shards(group)[0]),
    golden=lambda _, shards: [shards[0]] * len(shards),
)


def _from_first(groups: Sequence[Extents], sender: int) -> Call:
    """The broadcast of the devices at a position of their groups, which come first in theirs."""
    return COLLECTIVE_BROADCAST, (tuple((group[sender], *group[:sender], *group[sender + 1 :]) for group in groups),)


BROADCAST = Collective(
    name="broadcast",
    parameters=(_X, _SENDER),
    summary="The tensor of the sender, on every device of its group; `sender` is a position in the group.",
    expand=lambda group, _, sender: _to_all(group, _shards(group)[sender]),
    golden=lambda _, shards, sender: [shards[sender]] * len(shards),
    written_as=_from_first,
)


def _permuted(group: Group, shape: Extents, pairs: Sequence[Extents]) -> list[Results]:
    senders = {receiver: sender for sender, receiver in pairs}
    if len(senders) < len(pairs) or not {each for pair in pairs for each in pair} <= {*group.devices}:
        raise ArgumentError(f"the pairs {pairs} do not send one tensor to each receiver among {group.devices}")
    nothing = Fill(Shard(group.devices[0]), 0, shape[0])
    return [(Shard(senders[device]) if device in senders else nothing,) for device in group.devices]


PART_OF_DEVICE = Collective(
    name="part_of_device",
    parameters=(_X, _DIM, AXIS),
    summary="The element along `dim` of a device's own tensor that has the number of the device in the mesh.",
    source="the column of a device in the map of experts, ttnn.all_to_all_dispatch",
    expand=lambda group, shape, dim: [
        (Slice(shard, axis_of(dim, len(shape)), shard.device, shard.device + 1),) for shard in _shards(group)
    ],
    golden=lambda _, shards, dim: [shard.narrow(dim, index, 1) for index, shard in enumerate(shards)],
)

COLLECTIVE_PERMUTE = Collective(
    name="collective_permute",
    parameters=(_X, Parameter("source_target_pairs", REPLICA_GROUPS), AXIS),
    summary="The tensor of the source on each target of a pair, and zeros on other devices.",
    source="ttir.collective_permute",
    expand=_permuted,
    golden=lambda torch, shards, pairs: [
        next((shards[sender] for sender, receiver in pairs if receiver == index), torch.zeros_like(shards[0]))
        for index in range(len(shards))
    ],
)


def _sent(group: Group, _: Extents, sender: int, receiver: int) -> list[Results]:
    source = _of_device(group, sender)
    _of_device(group, receiver)
    return [(source if device == receiver else Shard(device),) for device in group.devices]


def _as_permutation(groups: Sequence[Extents], sender: int, receiver: int) -> Call:
    """The permutation in which the receiver gets the sender's tensor, and other devices their own."""
    devices = (device for group in groups for device in group)
    pairs = tuple((sender if device == receiver else device, device) for device in devices)
    return COLLECTIVE_PERMUTE, (pairs, None)


POINT_TO_POINT = Collective(
    name="point_to_point",
    parameters=(_X, _SENDER, Parameter("receiver", DIMENSION)),
    summary="The sender's tensor on the receiver, and their own on the other devices.",
    expand=_sent,
    golden=lambda _, shards, sender, receiver: [
        shards[sender] if index == receiver else shard for index, shard in enumerate(shards)
    ],
    written_as=_as_permutation,
)


def _received(group: Group, _: Extents, sender: int, receiver: int) -> list[Results]:
    source = _of_device(group, sender)
    return [(source if device == receiver else Shard(device, 1),) for device in group.devices]


RECEIVE = Collective(
    name="receive",
    parameters=(_X, Parameter("buffer", TENSOR), _SENDER, Parameter("receiver", DIMENSION), AXIS),
    summary="The sender's tensor on the receiver, and their own buffers on the other devices.",
    source="ttnn.point_to_point with an output tensor",
    expand=_received,
    golden=lambda _, shards, buffers, sender, receiver: [
        shards[sender] if index == receiver else buffer for index, buffer in enumerate(buffers)
    ],
)


def _exchanged(group: Group, shape: Extents, in_dim: int, out_dim: int, count: int | None = None) -> list[Results]:
    joined, split = axis_of(in_dim, len(shape)), axis_of(out_dim, len(shape))
    if joined == split:
        raise ShapeError(f"`in_dim` and `out_dim` are both dimension {joined}")
    if count not in {None, len(group.devices)}:
        raise ShapeError(f"{count} parts are not one for each of {len(group.devices)} devices")
    part = equal_part(shape, split, len(group.devices))
    return [
        (Join(joined, tuple(Slice(each, split, index * part, (index + 1) * part) for each in _shards(group))),)
        for index in range(len(group.devices))
    ]


def _with_groups(groups: Sequence[Extents], in_dim: int, out_dim: int) -> Call:
    return ALL_TO_ALL, (in_dim, out_dim, len(groups[0]), tuple(groups))


ALL_TO_ALL = Collective(
    name="all_to_all",
    parameters=(
        _X,
        Parameter("in_dim", DIMENSION, ir_name="concat_dim"),
        Parameter("out_dim", DIMENSION, ir_name="split_dim"),
        Parameter("split_count", DIMENSION),
        GROUPS,
    ),
    summary="A tensor split along `in_dim`, split along `out_dim` instead: device i gets part i of each shard.",
    source="ttnn.experimental.all_to_all_async_generic",
    expand=_exchanged,
    golden=lambda torch, shards, in_dim, out_dim: [*torch.cat([*shards], in_dim).chunk(len(shards), out_dim)],
    written_as=_with_groups,
    asked=("in_dim", "out_dim"),
)


# --- Neighbours -------------------------------------------------------------------------------------------------------


def _halo(group: Group, shape: Extents, dim: int, left: int, right: int, mode: str) -> list[Results]:
    axis = axis_of(dim, len(shape))
    extent, shards = shape[axis], _shards(group)
    if max(left, right) > extent and len(shards) > 1:
        raise ShapeError(f"a padding of {max(left, right)} is more than the {extent} elements of a neighbour")

    def end(shard: Shard, at: int, count: int) -> Source:
        if mode == "zeros":
            return Fill(shard, axis, count)
        return Join(axis, (Slice(shard, axis, at, at + 1),) * count)

    found: list[Results] = []
    for index, shard in enumerate(shards):
        before = Slice(shards[index - 1], axis, extent - left, extent) if index else end(shard, 0, left)
        is_last = index == len(shards) - 1
        behind = end(shard, extent - 1, right) if is_last else Slice(shards[index + 1], axis, 0, right)
        found.append((Join(axis, (*((before,) if left else ()), shard, *((behind,) if right else ()))),))
    return found


def _halo_in_torch(torch: Any, shards: Sequence[Any], dim: int, left: int, right: int, mode: str) -> list[Any]:
    whole, extent = torch.cat([*shards], dim), shards[0].shape[dim]
    edges = [whole.narrow(dim, at, 1) * (mode != "zeros") for at in (0, whole.shape[dim] - 1)]
    padded = torch.cat([*[edges[0]] * left, whole, *[edges[1]] * right], dim)
    return [padded.narrow(dim, index * extent, left + extent + right) for index in range(len(shards))]


NEIGHBOR_PAD = Collective(
    name="neighbor_pad",
    parameters=(
        _X,
        _DIM,
        Parameter("padding_left", DIMENSION),
        Parameter("padding_right", DIMENSION),
        Parameter("padding_mode", NAME, "zeros"),
        AXIS,
    ),
    summary="A tensor padded with the last elements of the device before and the first of the next along an axis.",
    source="ttnn.experimental.neighbor_pad_async",
    expand=_halo,
    golden=_halo_in_torch,
)


def _resharded(group: Group, shape: Extents, dim: int, offset: int, extent: int) -> list[Results]:
    axis, count = axis_of(dim, len(shape)), len(group.devices)
    if extent % count:
        raise ShapeError(f"{extent} elements along dimension {axis} have no {count} equal parts")
    part = extent // count
    return [
        (_interval(group, shape, axis, offset + index * part, offset + (index + 1) * part),) for index in range(count)
    ]


def _interval(group: Group, shape: Extents, axis: int, begin: int, end: int) -> Source:
    """The elements [begin, end) of all shards together, with zeros behind the last."""
    own, found = shape[axis], []
    for index, shard in enumerate(_shards(group)):
        low, high = max(begin, index * own), min(end, (index + 1) * own)
        if low < high:
            found.append(Slice(shard, axis, low - index * own, high - index * own))
    behind = end - max(begin, len(group.devices) * own)
    return Join(axis, (*found, *([Fill(_shards(group)[0], axis, behind)] if behind > 0 else ())))


def _resharded_in_torch(torch: Any, shards: Sequence[Any], dim: int, offset: int, extent: int) -> list[Any]:
    whole = torch.cat([*shards], dim)
    padded = torch.cat([whole, *[torch.zeros_like(whole.narrow(dim, 0, 1))] * (offset + extent)], dim)
    return [*padded.narrow(dim, offset, extent).chunk(len(shards), dim)]


SLICE_RESHARD = Collective(
    name="slice_reshard",
    parameters=(_X, _DIM, Parameter("output_dim_offset", DIMENSION), Parameter("output_dim_shape", DIMENSION), AXIS),
    summary="A slice along `dim` of the concatenated shards, zeros behind their end, split over the devices again.",
    source="ttnn.experimental.slice_reshard_async",
    expand=_resharded,
    golden=_resharded_in_torch,
)

DEVICE_POSITION = Collective(
    name="device_position",
    parameters=(_X, Parameter("step", DIMENSION), AXIS),
    summary="The position of the device along an axis times `step`, in every element of a tensor like its own.",
    source="the numbers of random draws: each device of a mesh draws another tensor",
    expand=lambda group, shape, step: [
        (Fill(shard, 0, shape[0], position * step),) for position, shard in enumerate(_shards(group))
    ],
    golden=lambda torch, shards, step: [torch.full_like(each, at * step) for at, each in enumerate(shards)],
)


def _resharded_by_mesh(
    group: Group, shape: Extents, kind: str, direction: str, _: Extents, dims: Extents
) -> list[Results]:
    coordinates = [*MeshShape(group.mesh).coordinates()]
    if len(group.devices) != len(coordinates):
        raise ArgumentError(f"`mesh_shard` is of all {len(coordinates)} devices of the mesh")
    if kind in {"identity", "replicate"}:
        return [(Shard(device),) for device in group.devices]
    if kind == "maximal" or len(dims) != len(group.mesh) or any(dim >= len(shape) for dim in dims):
        raise ArgumentError(f"`mesh_shard` of kind {kind} along {dims} is not one of a tensor of rank {len(shape)}")
    split = [(axis, dim) for axis, dim in enumerate(dims) if dim >= 0]
    if direction == FULL_TO_SHARD:
        return [(_part_at(Shard(device), shape, group.mesh, split, coordinates[device]),) for device in group.devices]
    return _to_all(group, _joined(group.mesh, split, {}))


def _part_at(
    source: Source, shape: Extents, mesh: Extents, split: Sequence[tuple[int, int]], at: Sequence[int]
) -> Source:
    """The part of a whole tensor at a coordinate of the mesh, which splits a dimension along each of some axes."""
    for axis, dim in split:
        part = equal_part(shape, dim, mesh[axis])
        source = Slice(source, dim, at[axis] * part, (at[axis] + 1) * part)
    return source


def _joined(mesh: Extents, split: Sequence[tuple[int, int]], at: Mapping[int, int]) -> Source:
    """The whole tensor of the parts of the first devices along the axes that split nothing."""
    if not split:
        return Shard(MeshShape(mesh).number([at.get(axis, 0) for axis in range(len(mesh))]))
    (axis, dim), *others = split
    return Join(dim, tuple(_joined(mesh, others, {**at, axis: index}) for index in range(mesh[axis])))


MESH_SHARD = Collective(
    name="mesh_shard",
    parameters=(
        _X,
        Parameter("shard_type", SHARD_TYPE),
        Parameter("shard_direction", SHARD_DIRECTION),
        Parameter("shard_shape", DIMENSIONS),
        Parameter("shard_dims", DIMENSIONS),
    ),
    summary="The part of a whole tensor on each device, or the whole tensor of the parts, on every device.",
    source="ttir.mesh_shard",
    expand=_resharded_by_mesh,
    golden=lambda _, shards, *__: [*shards],
    depends_on_mesh=True,
)

COLLECTIVES = (
    ALL_GATHER,
    ALL_GATHER_REVERSED,
    GATHER_FROM_OTHERS,
    ALL_BROADCAST,
    ALL_REDUCE,
    REDUCE_SCATTER,
    MESH_PARTITION,
    BROADCAST,
    COLLECTIVE_BROADCAST,
    POINT_TO_POINT,
    RECEIVE,
    COLLECTIVE_PERMUTE,
    ALL_TO_ALL,
    NEIGHBOR_PAD,
    SLICE_RESHARD,
    PART_OF_DEVICE,
    DEVICE_POSITION,
    MESH_SHARD,
)

OPERATIONS = tuple(each for each in COLLECTIVES if each.written_as is None or each is ALL_TO_ALL)
"""The collectives that programs contain."""
