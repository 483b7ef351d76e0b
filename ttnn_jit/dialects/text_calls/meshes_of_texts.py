"""The mesh for which a text was written."""

from __future__ import annotations

import math
import re

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.dialects.text_calls.index_limits import assignment_of
from ttnn_jit.dialects.text_calls.text_attributes import attributes_of, value_of
from ttnn_jit.ops.families.text_operation import DenseNumbers

MAX_DEVICES = 2**16
"""A larger mesh is refused: tables of its devices would be large."""


def mesh_of_text(module: ModuleOp) -> tuple[int, ...]:
    """The extents that a module's `sdy.mesh` says, its shardings or its partitions, or which its ops need; else 1x1.

    Raises:
        ShapeError: The mesh has more than `MAX_DEVICES` devices.
    """
    found = _of_axes(module) or _of_shardings(module) or _of_exchanges(module)
    if math.prod(found) > MAX_DEVICES:
        raise ShapeError(f"the text names a mesh of {math.prod(found):,} devices, and at most {MAX_DEVICES:,} are read")
    return found


def _of_axes(module: ModuleOp) -> tuple[int, ...]:
    """The extents of the largest `sdy.mesh`; none without one."""
    found = []
    for op in module.walk():
        if "mesh" in op.properties:
            axes = attributes_of(op)["mesh"].get("axes", ())
            found.append(tuple(int(each["size"]) for each in axes))
    return max(found, key=math.prod, default=())


def _of_groups(op: Operation) -> list[tuple[int, int]]:
    """The extents of which replica groups are the rows or the columns."""
    groups = value_of(op.properties["replica_groups"]) if "replica_groups" in op.properties else None
    if not isinstance(groups, DenseNumbers) or len(groups.shape) != 2 or groups.splat is not None:
        return []
    count, size = groups.shape
    return [(count, size) if [*groups.numbers] == sorted(groups.numbers) else (size, count)]


_TILES = re.compile(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\])?")


def _of_shardings(module: ModuleOp) -> tuple[int, ...]:
    """Two extents where a sharding cuts two dimensions, or counts devices by two; else a row of all devices."""
    counts = (module.attributes.get(f"mhlo.num_{name}") for name in ("partitions", "replicas"))
    partitions, replicas = (1 if each is None else int(value_of(each)) for each in counts)
    found = [(1, partitions * replicas)]
    for op in module.walk():
        found += _of_groups(op)
        for match in _TILES.finditer(str(op.attributes.get("mhlo.sharding", ""))):
            for numbers in (match[2], match[1]):
                extents = tuple(int(each) for each in (numbers or "").split(",") if each not in {"", "1"})
                found.append(extents if len(extents) == 2 else (1, math.prod(extents)))
    best = max(found, key=lambda each: (math.prod(each), min(each)))
    return best if math.prod(best) > 1 else ()


def _of_exchanges(module: ModuleOp) -> tuple[int, int]:
    """The largest extents of devices that ops ask for, of shards that they cut, and of groups that exchange.

    A tensor that is gathered, scattered or partitioned along an axis grows or shrinks by its extent. An assignment of
    experts has a column for each device, and pairs that exchange name devices.
    """
    extents, devices = [1, 1], 1
    for op in module.walk():
        _, columns = assignment_of(op) or (0, 0)
        devices = max(devices, columns, _named_devices(op))
        if not {"shard_dims", "cluster_axis", "mesh_shape"} & {*op.properties, *op.attributes}:
            continue
        given = attributes_of(op)
        needed = [*given.get("mesh_shape", ())][:2] if isinstance(given.get("mesh_shape"), tuple) else []
        for axis, dim in enumerate(given.get("shard_dims", ())[:2]):
            needed += [1] * (axis + 1 - len(needed))
            if 0 <= dim < len(shape := given.get("shard_shape", ())):
                needed[axis] = shape[dim]
        cluster = given.get("cluster_axis")
        if cluster in {0, 1}:
            needed = [1] * int(cluster) + [max(_growth(op), int(given.get("num_devices", 1)))]
        for axis, extent in enumerate(needed):
            extents[axis] = max(extents[axis], int(extent))
    first, second = extents
    if first == 1 < second:
        return max(devices // second, 1), second
    return first, max(devices // first, second)


def _named_devices(op: Operation) -> int:
    """One more than the largest number of a device that an op sends to or receives from; 0 if it names none."""
    pairs = op.properties.get("source_target_pairs", op.attributes.get("source_target_pairs"))
    numbers = value_of(pairs) if pairs is not None else None
    return 1 + max(map(int, numbers.numbers), default=-1) if isinstance(numbers, DenseNumbers) else 0


def _growth(op: Operation) -> int:
    """How many times as large the result is as the first operand, or the operand as the result; 1 if neither is."""
    if not op.operands or not op.results:
        return 1
    volumes = sorted(
        math.prod(each.get_shape())
        for each in (op.operands[0].type, op.results[0].type)
        if isinstance(each, TensorType)
    )
    whole = len(volumes) == 2 and volumes[0] > 0 and volumes[1] % volumes[0] == 0
    return volumes[1] // volumes[0] if whole else 1
