"""A `TensorSpec` as JSON values and back, for programs and cache keys that outlive a process."""

from __future__ import annotations

from typing import Any

from ttnn_jit.tensor_spec import (
    BufferType,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
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
        "shard": None if config.shard_spec is None else _shard_to_json(config.shard_spec),
        "strides": None if spec.strides is None else list(spec.strides),
    }


def spec_from_json(fields: dict[str, Any]) -> TensorSpec:
    """The inverse of `spec_to_json`.

    Raises:
        KeyError, TypeError, ValueError: The fields do not describe a tensor.
    """
    shard = fields["shard"]
    config = MemoryConfig(
        TensorMemoryLayout[fields["memory_layout"]],
        BufferType[fields["buffer_type"]],
        None if shard is None else _shard_from_json(shard),
    )
    strides = fields["strides"]
    return TensorSpec(
        [int(extent) for extent in fields["shape"]],
        DataType[fields["dtype"]],
        Layout[fields["layout"]],
        config,
        strides=None if strides is None else tuple(int(stride) for stride in strides),
    )


def _shard_to_json(shard: ShardSpec) -> dict[str, Any]:
    corners = [[r.start.x, r.start.y, r.end.x, r.end.y] for r in shard.grid.ranges()]
    return {"grid": corners, "shape": list(shard.shape), "orientation": shard.orientation.name}


def _shard_from_json(fields: dict[str, Any]) -> ShardSpec:
    ranges = [CoreRange(CoreCoord(x0, y0), CoreCoord(x1, y1)) for x0, y0, x1, y1 in fields["grid"]]
    return ShardSpec(CoreRangeSet(ranges), fields["shape"], ShardOrientation[fields["orientation"]])
