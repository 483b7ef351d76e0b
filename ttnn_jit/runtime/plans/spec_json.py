"""A `TensorSpec` as JSON values and back, for programs and cache keys that outlive a process."""

from __future__ import annotations

import marshal
from functools import lru_cache
from typing import Any

from ttnn_jit.specs.meshes.tensor_topology import REPLICATE, PlacementShard, TensorTopology
from ttnn_jit.specs.tensor_spec import (
    BufferType,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
    NdShardSpec,
    ShardOrientation,
    ShardSpec,
    TensorMemoryLayout,
    TensorSpec,
)


def spec_to_json(spec: TensorSpec) -> dict[str, Any]:
    """The fields of `spec` as JSON values; equal specs give equal text."""
    config = spec.memory_config
    return {
        "shape": list(spec.shape),
        "dtype": spec.dtype.name,
        "layout": spec.layout.name,
        "memory_layout": config.memory_layout.name,
        "buffer_type": config.buffer_type.name,
        "shard": _shard_to_json(config.shard_spec),
        "nd_shard": _shard_to_json(config.nd_shard_spec),
        "strides": None if spec.strides is None else list(spec.strides),
    }


def spec_from_json(fields: dict[str, Any]) -> TensorSpec:
    """The inverse of `spec_to_json`.

    Raises:
        KeyError, TypeError, ValueError: The fields do not describe a tensor.
    """
    return _spec_of(marshal.dumps(fields, 2))


@lru_cache(maxsize=1024)
def _spec_of(marshalled: bytes) -> TensorSpec:
    """The spec of marshalled fields; the bytes distinguish 1, 1.0 and True. Few distinct specs recur often."""
    fields = marshal.loads(marshalled)
    shard, nd_shard = fields["shard"], fields["nd_shard"]
    config = MemoryConfig(
        TensorMemoryLayout[fields["memory_layout"]],
        BufferType[fields["buffer_type"]],
        None if shard is None else ShardSpec(**_shard_fields(shard, "shard_orientation")),
        None if nd_shard is None else NdShardSpec(**_shard_fields(nd_shard, "orientation")),
    )
    strides = fields["strides"]
    return TensorSpec(
        numbers(fields["shape"]),
        DataType[fields["dtype"]],
        Layout[fields["layout"]],
        config,
        strides=None if strides is None else numbers(strides),
    )


def numbers(values: Any) -> tuple[int, ...]:
    """The whole numbers of a JSON list.

    Raises:
        TypeError: It is not a list of integers.
    """
    if not isinstance(values, list) or not _INT.issuperset(map(type, values)):
        raise TypeError(f"expected whole numbers, got {values!r}")
    return tuple(values)


def topology_to_json(topology: TensorTopology) -> dict[str, Any]:
    """A topology as JSON values; a placement is the dimension that it splits, or None."""
    placements = (each.dim if isinstance(each, PlacementShard) else None for each in topology.placements())
    return {
        "shape": [*topology.distribution_shape()],
        "placements": [*placements],
        "coords": [[*each] for each in topology.mesh_coords()],
    }


def topology_from_json(fields: dict[str, Any]) -> TensorTopology:
    """The inverse of `topology_to_json`.

    Raises:
        KeyError, TypeError, ValueError: The values describe no topology.
    """
    placements = [REPLICATE if each is None else PlacementShard(numbers([each])[0]) for each in fields["placements"]]
    return TensorTopology(numbers(fields["shape"]), placements, map(numbers, fields["coords"]))


def text_of(value: Any) -> str:
    """A JSON string.

    Raises:
        TypeError: It is not a string.
    """
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r}")
    return value


_INT = frozenset({int})  # not bool or float


def _shard_to_json(shard: ShardSpec | NdShardSpec | None) -> dict[str, Any] | None:
    if shard is None:
        return None
    return {
        "grid": [[r.start.x, r.start.y, r.end.x, r.end.y] for r in shard.grid.ranges()],
        "shape": list(shard.shape if isinstance(shard, ShardSpec) else shard.shard_shape),
        "orientation": shard.orientation.name,
    }


def _shard_fields(fields: dict[str, Any], orientation: str) -> dict[str, Any]:
    """The constructor arguments of a shard spec; `orientation` is its parameter's name."""
    value = ShardOrientation[fields["orientation"]]
    grid = CoreRangeSet(CoreRange((x0, y0), (x1, y1)) for x0, y0, x1, y1 in map(numbers, fields["grid"]))
    return {"grid": grid, "shard_shape": numbers(fields["shape"]), orientation: value}
