"""Exchanges between the devices of a mesh: operands and results are lists over its devices, in row-major order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.collectives import device_exchanges as exchanges
from ttnn_jit.ops.families.collective import tree_fold
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, OnDevice, OpenResult, Role, TextCall, TextOperation, text
from ttnn_jit.ops.language.axes import axis_of
from ttnn_jit.ops.texts import exchange_goldens
from ttnn_jit.specs.dtypes import COMPUTE_TYPE

Part = Callable[[Any, int, int, int], Any]
"""``part(x, axis, begin, end)``."""
_MOVES: dict[str, Any] = {"role": Role.EXCHANGES, "moves": True}


def groups_along(mesh: Sequence[int], axis: int | None) -> list[list[int]]:
    """The devices that exchange along an axis of the mesh: those that differ in that coordinate alone.

    Raises:
        ShapeError: The mesh has no such axis.
    """
    shape = (1,) * (2 - len(mesh)) + tuple(mesh)
    if axis is None:
        return [[*range(math.prod(shape))]]
    if axis >= len(shape):
        raise ShapeError(f"cluster_axis is {axis}, and the mesh is {'x'.join(map(str, shape))}")
    step = math.prod(shape[axis + 1 :])
    starts = [at for at in range(math.prod(shape)) if at // step % shape[axis] == 0]
    return [[start + index * step for index in range(shape[axis])] for start in starts]


def by_group(found: Callable[[list[Any], list[int]], list[Any]], inputs: list[Any], groups: Any) -> list[Any]:
    """The results of every device, from a function of the tensors of a group."""
    results: list[Any] = [None] * len(inputs)
    for group in groups:
        for device, result in zip(group, found([inputs[each] for each in group], group), strict=True):
            results[device] = result
    return results


_COMBINED = {"sum": "add", "mean": "add", "max": "maximum", "min": "minimum", "prod": "multiply"}


def folded(ops: Ops, tensors: list[Value], reduction: str) -> Value:
    """The reduction of a group, in the order of the family of collectives, rounded once."""
    if reduction not in _COMBINED:
        raise ShapeError(f"`reduce_type` is {reduction}, and {', '.join(_COMBINED)} are executed")
    dtype = tensors[0].spec.dtype
    wide = [each if dtype.is_integer else ops.rounded(each, COMPUTE_TYPE) for each in tensors]
    total = tree_fold(getattr(ops, _COMBINED[reduction]), wide, (len(wide),))
    return total * (1.0 / len(wide)) if reduction == "mean" else total


def _of_group(
    names: str,
    on_group: Callable[[TextCall, list[Any], Any, Any, Part], list[Any]],
    golden: Callable[[Any, TextCall], list[Any]],
    *,
    groups: Callable[[TextCall], Any] = lambda call: groups_along(call.mesh, call.cluster_axis),
    **attributes: Any,
) -> TextOperation:
    """An exchange in groups: ``on_group(call, tensors, fold, join, part)`` gives the result of each device."""

    def write(ops: Ops, call: TextCall) -> list[Value]:
        def found(tensors: list[Any], _: list[int]) -> list[Any]:
            return on_group(call, tensors, lambda kind: folded(ops, tensors, kind), ops.concat, ops.part)

        return by_group(found, call.input, groups(call))

    return text(names, "input", write, golden, role=Role.EXCHANGES, **attributes)


def _positive(axis: int, x: Any) -> int:
    return axis_of(axis, len(x.shape))


def parts_of(x: Any, axis: int, count: int, part: Part) -> list[Any]:
    """`x` cut into `count` equal parts."""
    extent, rest = divmod(x.shape[axis], count)
    if rest:
        raise ShapeError(f"{count} devices do not divide the extent {x.shape[axis]}")
    return [part(x, axis, index * extent, (index + 1) * extent) for index in range(count)]


def _axis_of_groups(call: TextCall) -> int:
    """The axis of the mesh along which its groups lie.

    Raises:
        ShapeError: They lie along none.
    """
    groups = sorted(_listed_groups(call))
    for axis in range(max(2, len(call.mesh))):
        if groups == groups_along(call.mesh, axis):
            return axis
    raise ShapeError("its groups lie along no axis of the mesh, as those of ttnn do")


ALL_REDUCE = _of_group(
    "ttir.all_reduce ttnn.all_reduce ttir.all_reduce_async ttnn.all_reduce_async",
    lambda call, tensors, fold, *_: [fold(call.reduce_type)] * len(tensors),
    exchange_goldens.all_reduce,
    on_device=lambda exchange, call: exchange(exchanges.ALL_REDUCE, call.input, call.reduce_type, call.cluster_axis),
    reduce_type=REQUIRED,
    cluster_axis=REQUIRED,
    scatter_dim=None,
    all_gather_dim=None,
)
ALL_GATHER = _of_group(
    "ttir.all_gather ttnn.all_gather",
    lambda call, tensors, _, join, __: (
        [join(tensors, _positive(call.all_gather_dim, tensors[0]))] * len(tensors) if len(tensors) > 1 else tensors
    ),
    exchange_goldens.all_gather,
    moves=True,
    on_device=lambda exchange, call: exchange(exchanges.ALL_GATHER, call.input, call.all_gather_dim, call.cluster_axis),
    all_gather_dim=REQUIRED,
    cluster_axis=REQUIRED,
)
REDUCE_SCATTER = _of_group(
    "ttir.reduce_scatter ttnn.reduce_scatter",
    lambda call, tensors, fold, _, part: parts_of(
        fold(call.reduce_type), _positive(call.scatter_dim, tensors[0]), len(tensors), part
    ),
    exchange_goldens.reduce_scatter,
    on_device=lambda exchange, call: exchange(
        exchanges.REDUCE_SCATTER, call.input, call.scatter_dim, call.reduce_type, call.cluster_axis
    ),
    reduce_type=REQUIRED,
    scatter_dim=REQUIRED,
    cluster_axis=REQUIRED,
)
MESH_PARTITION = _of_group(
    "ttir.mesh_partition ttnn.mesh_partition",
    lambda call, tensors, _, __, part: [
        parts_of(each, _positive(call.dim, each), len(tensors), part)[index] for index, each in enumerate(tensors)
    ],
    exchange_goldens.mesh_partition,
    moves=True,
    on_device=lambda exchange, call: exchange(exchanges.MESH_PARTITION, call.input, call.dim, call.cluster_axis),
    dim=REQUIRED,
    cluster_axis=None,
)


def _listed_groups(call: TextCall) -> list[list[int]]:
    numbers = call.replica_groups
    if len(numbers.shape) != 2:
        raise ShapeError(f"`replica_groups` has the shape {list(numbers.shape)}: it lists groups of devices")
    groups, size = numbers.shape
    values = numbers.numbers * (groups * size) if numbers.splat is not None else numbers.numbers
    found = [[int(each) for each in values[at * size : (at + 1) * size]] for at in range(groups)]
    check_devices([each for group in found for each in group], math.prod(call.mesh))
    return found


def check_devices(devices: Sequence[int], count: int) -> None:
    """Refuses numbers that no device of a mesh has."""
    for device in devices:
        if not 0 <= device < count:
            raise ShapeError(f"device {device} is named, and the mesh has {count}")


BROADCAST = _of_group(
    "ttir.collective_broadcast ttnn.collective_broadcast",
    lambda _, tensors, *__: [tensors[0]] * len(tensors),
    exchange_goldens.collective_broadcast,
    groups=_listed_groups,
    moves=True,
    replica_groups=REQUIRED,
)


def _all_to_all(call: TextCall, tensors: list[Any], _: Any, join: Any, part: Part) -> list[Any]:
    axis, onto = (_positive(each, tensors[0]) for each in (call.split_dim, call.concat_dim))
    cut = [parts_of(each, axis, call.split_count, part) for each in tensors]
    return [join([parts[index] for parts in cut], onto) for index in range(len(tensors))]


ALL_TO_ALL = _of_group(
    "ttir.all_to_all ttnn.all_to_all",
    _all_to_all,
    exchange_goldens.all_to_all,
    groups=_listed_groups,
    moves=True,
    on_device=lambda exchange, call: exchange(
        exchanges.ALL_TO_ALL,
        call.input,
        call.concat_dim,
        call.split_dim,
        call.split_count,
        tuple(map(tuple, groups_along(call.mesh, _axis_of_groups(call)))),
    ),
    split_dim=REQUIRED,
    concat_dim=REQUIRED,
    split_count=REQUIRED,
    replica_groups=REQUIRED,
)


def sources(call: TextCall) -> dict[int, int]:
    """Target -> source."""
    pairs = call.source_target_pairs
    numbers = [int(each) for each in pairs.numbers * (math.prod(pairs.shape) if pairs.splat is not None else 1)]
    check_devices(numbers, math.prod(call.mesh))
    return dict(zip(numbers[1::2], numbers[::2], strict=True))


def _permuted(ops: Ops, call: TextCall) -> list[Value]:
    given = sources(call)
    nothing = ops.filled(0, call.result)
    return [call.input[given[each]] if each in given else nothing for each in range(len(call.input))]


PERMUTE = text(
    "ttir.collective_permute ttnn.collective_permute",
    "input",
    _permuted,
    lambda torch, call: exchange_goldens.permuted(torch, call.input, call.source_target_pairs),
    **_MOVES,
    source_target_pairs=REQUIRED,
)


def _sent(_: Any, call: TextCall) -> list[Any]:
    """The sender's tensor on the receiver; on other devices their output tensors, or without these their own."""
    coordinates = _coordinates(call.mesh)
    wanted = [tuple(each) for each in (call.sender_coord, call.receiver_coord)]
    if not set(wanted) <= set(coordinates):
        raise ShapeError(f"{wanted[0]} to {wanted[1]} is not on the mesh {'x'.join(map(str, call.mesh))}")
    sender, receiver = map(coordinates.index, wanted)
    kept = call.input if call.optional_output_tensor is None else call.optional_output_tensor
    return [call.input[sender] if device == receiver else each for device, each in enumerate(kept)]


def _sent_in_torch(torch: Any, call: TextCall) -> list[Any]:
    """By numbers of devices, which count the last axis of the mesh first."""
    numbers = torch.arange(math.prod(call.mesh)).reshape((1,) * (2 - len(call.mesh)) + tuple(call.mesh))
    found = [*(call.input if call.optional_output_tensor is None else call.optional_output_tensor)]
    found[int(numbers[tuple(call.receiver_coord)])] = call.input[int(numbers[tuple(call.sender_coord)])]
    return found


POINT_TO_POINT = text(
    "ttnn.point_to_point",
    "input optional_output_tensor?",
    _sent,
    _sent_in_torch,
    **_MOVES,
    sender_coord=REQUIRED,
    receiver_coord=REQUIRED,
)

# --- Shards of a mesh -------------------------------------------------------------------------------------------------


def _coordinates(mesh: Sequence[int]) -> list[tuple[int, ...]]:
    return [*itertools.product(*map(range, (1,) * (2 - len(mesh)) + tuple(mesh)))]


def _counts(call: TextCall, extents: Sequence[int]) -> list[int]:
    """Into how many parts each axis of the mesh cuts its dimension; several axes cut one along all their devices."""
    shape, dims = call.shard_shape, call.shard_dims
    counts = [int(shape[dim]) if 0 <= dim < len(shape) else 1 for dim in dims]
    shared = {dim for dim in dims if [*dims].count(dim) > 1}
    for dim in shared:
        own = [axis for axis, each in enumerate(dims) if each == dim and axis < len(extents)]
        if math.prod(extents[axis] for axis in own) == counts[own[0]]:
            for axis in own:
                counts[axis] = extents[axis]
    return counts


def _fits_mesh(call: TextCall, shape: Sequence[int], extents: Sequence[int]) -> bool:
    """Whether operand and result have the shapes of a tensor that the axes of the mesh cut, and several cut none."""
    sizes = [tuple(shape), tuple(call.result.shape)]
    whole, part = sizes if call.shard_direction == "full_to_shard" else reversed(sizes)
    axes = [(dim, extent) for dim, extent in zip(call.shard_dims, extents, strict=False) if dim >= 0]
    cuts = dict(axes)
    if len(call.shard_dims) > len(extents) or len(cuts) < len(axes) or max(cuts, default=0) >= len(part):
        return False
    return whole == tuple(extent * cuts.get(dim, 1) for dim, extent in enumerate(part))


def _checked_counts(call: TextCall, shape: Sequence[int], extents: Sequence[int]) -> list[int]:
    """The counts of a call whose operand has a shape on each device: by its axes and types, not `shard_shape`."""
    counts = _counts(call, extents)
    if not isinstance(call.result, OpenResult) and _fits_mesh(call, shape, extents):
        counts = [extents[axis] if dim >= 0 else 1 for axis, dim in enumerate(call.shard_dims)]
    for axis, count in enumerate(counts):
        if count not in {1, extents[axis]}:
            raise ShapeError(
                f"it cuts a dimension into {count}, and axis {axis} of the mesh has {extents[axis]} devices",
                help="`--mesh 2x4` names a mesh",
            )
    return counts


def _sharded(call: TextCall, join: Callable[[list[Any], int], Any], part: Part) -> list[Any]:
    inputs, dims = call.input, call.shard_dims
    if call.shard_type not in {"devices", "identity"}:
        return list(inputs)
    extents = (1,) * (2 - len(call.mesh)) + tuple(call.mesh)
    counts = _checked_counts(call, inputs[0].shape, extents)
    if call.shard_direction == "full_to_shard":
        return [_cut(x, dims, counts, place, part) for x, place in zip(inputs, _coordinates(call.mesh), strict=True)]
    return [_joined([*inputs], [*extents], [*dims], counts, join)] * len(inputs)


def _cut(x: Any, dims: Sequence[int], counts: Sequence[int], place: Sequence[int], part: Part) -> Any:
    for dim, count, index in zip(dims, counts, place, strict=False):
        if dim >= 0 and count > 1:
            extent = x.shape[dim] // count
            x = part(x, dim, index * extent, (index + 1) * extent)
    return x


def _joined(tensors: list[Any], extents: list[int], dims: list[int], counts: list[int], join: Any) -> Any:
    """The whole tensor; along axes that cut nothing, of their first device."""
    if not extents:
        return tensors[0]
    size = len(tensors) // extents[0]
    parts = [
        _joined(tensors[at : at + size], extents[1:], dims[1:], counts[1:], join) for at in range(0, len(tensors), size)
    ]
    cuts = bool(dims) and dims[0] >= 0 and counts[0] > 1
    return join(parts, dims[0]) if cuts else parts[0]


class Placement(NamedTuple):
    """How a whole tensor is cut among the devices of a mesh, or joined of their tensors.

    Attributes:
        dims: The dimension that each axis of the mesh cuts; -1 for one along which tensors are equal.
        is_cut: It is cut; else joined.
    """

    dims: tuple[int, ...]
    is_cut: bool


def placement_of(call: TextCall) -> Placement | None:
    """The placement that an op that cuts or joins tensors says; None of an op that exchanges otherwise.

    The operand of the call is the tensor of one device.

    Raises:
        ShapeError: It cuts into other parts than the mesh has devices.
    """
    given = vars(call)
    extents = (1,) * (2 - len(call.mesh)) + tuple(call.mesh)
    if "shard_dims" in given:
        if call.shard_type not in {"devices", "identity"}:
            return Placement((-1,) * len(extents), call.shard_direction == "full_to_shard")
        counts = _checked_counts(call, call.input.shape, extents)
        pairs = zip(call.shard_dims, counts, strict=True)
        dims = tuple(int(dim) if count > 1 else -1 for dim, count in pairs)
        return Placement((*dims, *(-1,) * (len(extents) - len(dims))), call.shard_direction == "full_to_shard")
    if "mapper_config" in given:
        return Placement(tuple(_placements(call)[0]), is_cut=True)
    if "composer_config" in given:
        own = _extents(call, call.composer_config)
        pairs = zip(_composed(call, own), own, strict=True)
        return Placement(tuple(int(dim) if count > 1 else -1 for dim, count in pairs), is_cut=False)
    return None


def _by_axes(exchange: OnDevice, call: TextCall) -> Value:
    """A tensor that is whole on every device cut along one axis after the other, or one that is cut joined."""
    placement = placement_of(call)
    assert placement is not None, "the op cuts or joins"
    found: Value = call.input
    axes = [*enumerate(placement.dims)]
    for axis, dim in axes if placement.is_cut else reversed(axes):
        if dim >= 0:
            found = exchange(exchanges.MESH_PARTITION if placement.is_cut else exchanges.ALL_GATHER, found, dim, axis)
    return found


def _sharded_in_torch(torch: Any, call: TextCall) -> list[Any]:
    if call.shard_type not in {"devices", "identity"}:
        return [*call.input]
    mesh = [*(1,) * (2 - len(call.mesh)), *call.mesh]
    dims = [dim if dim < len(call.shard_shape) else -1 for dim in call.shard_dims]
    shared = [dim >= 0 and dims.count(dim) > 1 for dim in dims]
    counts = [
        extent if of_several else exchange_goldens.count_of_parts(call, dim) if dim >= 0 else 1
        for dim, of_several, extent in zip(dims, shared, mesh, strict=False)
    ]
    if call.shard_direction == "full_to_shard":
        return exchange_goldens.sharded(call.input, mesh, dims, counts)
    return [exchange_goldens.assembled(torch, call.input, mesh, dims, counts)] * len(call.input)


MESH_SHARD = text(
    "ttir.mesh_shard ttnn.mesh_shard",
    "input",
    lambda ops, call: _sharded(call, ops.concat, ops.part),
    _sharded_in_torch,
    **_MOVES,
    on_device=_by_axes,
    shard_type=REQUIRED,
    shard_direction=REQUIRED,
    shard_shape=REQUIRED,
    shard_dims=REQUIRED,
)


def _extents(call: TextCall, config: Mapping[str, Any]) -> list[int]:
    """The extents of the mesh, or of the part of it that a config names."""
    own = [*(1,) * (2 - len(call.mesh)), *call.mesh]
    named = [int(each) for each in config.get("mesh_shape_override") or own]
    if math.prod(named) == math.prod(own) == 1:
        return named
    if len(named) != len(own) or any(count not in {1, extent} for count, extent in zip(named, own, strict=True)):
        raise ShapeError(f"the config names a mesh of {named}, and the mesh is {own}", help="`--mesh 2x4` names a mesh")
    return named


def _placements(call: TextCall) -> tuple[list[int], list[int]]:
    """The dimension that each axis of the mesh cuts, -1 for none, and into how many parts."""
    placements = [dict(each) for each in call.mapper_config["placements"]]
    dims = [int(each["dim"]) if each["type"] == "shard" else -1 for each in placements]
    extents = _extents(call, call.mapper_config)
    return dims, [count if dim >= 0 else 1 for dim, count in zip(dims, extents, strict=True)]


def _distributed(ops: Ops, call: TextCall) -> list[Any]:
    dims, counts = _placements(call)
    places = _coordinates(call.mesh)
    return [_cut(x, dims, counts, place, ops.part) for x, place in zip(call.input, places, strict=True)]


def _aggregated_mesh(call: TextCall) -> list[int]:
    own = [*(1,) * (2 - len(call.mesh)), *call.mesh]
    return own if len(call.input) > 1 else _extents(call, call.composer_config)


def _aggregated(ops: Ops, call: TextCall) -> list[Any]:
    mesh, counts = _aggregated_mesh(call), _extents(call, call.composer_config)
    return [_joined([*call.input], mesh, _composed(call, counts), counts, ops.concat)] * len(call.input)


def _aggregated_in_torch(torch: Any, call: TextCall) -> list[Any]:
    mesh, counts = _aggregated_mesh(call), _extents(call, call.composer_config)
    return [exchange_goldens.assembled(torch, call.input, mesh, _composed(call, counts), counts)] * len(call.input)


def _composed(call: TextCall, extents: Sequence[int]) -> list[int]:
    """The dimension that each axis of the mesh joins; a text with one for each axis of several devices names those."""
    dims = [int(each) for each in call.composer_config["dims"]]
    several = [axis for axis, extent in enumerate(extents) if extent > 1]
    if len(dims) < len(extents) and len(dims) == len(several):
        return [dims[several.index(axis)] if axis in several else -1 for axis in range(len(extents))]
    return dims


DISTRIBUTE = text(
    "ttnn.distribute_tensor",
    "input",
    _distributed,
    lambda _, call: exchange_goldens.sharded(
        call.input, [*(1,) * (2 - len(call.mesh)), *call.mesh], *_placements(call)
    ),
    **_MOVES,
    on_device=_by_axes,
    mapper_config=REQUIRED,
    cq_id=None,
)
AGGREGATE = text(
    "ttnn.aggregate_tensor",
    "input",
    _aggregated,
    _aggregated_in_torch,
    **_MOVES,
    on_device=_by_axes,
    composer_config=REQUIRED,
)

TEXTS = (
    DISTRIBUTE,
    AGGREGATE,
    ALL_REDUCE,
    ALL_GATHER,
    REDUCE_SCATTER,
    MESH_PARTITION,
    POINT_TO_POINT,
    BROADCAST,
    ALL_TO_ALL,
    PERMUTE,
    MESH_SHARD,
)
