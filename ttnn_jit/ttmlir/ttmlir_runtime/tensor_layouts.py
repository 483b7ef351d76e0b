"""Layouts of the runtime's tensors: where a program wants its inputs, and where it leaves its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.ttmlir.ttmlir_runtime.data_types import DataType

HOST = "SystemMemory"


@dataclass(frozen=True)
class Layout:
    """The layout of a tensor. No number depends on it here: every tensor is dense rows of the host.

    Attributes:
        dtype: Its data type.
        tile: Rows and columns of a tile; (1, 1) of rows.
        buffer_type: DRAM, L1, SystemMemory ...
        memory_layout: Interleaved, HeightSharded ...; "" on the host.
        shard: The shape of a shard; empty if it is not sharded.
    """

    dtype: DataType
    tile: tuple[int, int] = (1, 1)
    buffer_type: str = HOST
    memory_layout: str = ""
    shard: tuple[int, ...] = ()


def layout_of_reference(tree: Mapping[str, Any]) -> Layout:
    """The layout of an input or output of a binary, as `Binary.inputs` gives it."""
    memory = tree["desc"]["layout"]["memory_desc"]
    tile = memory.get("tile_shape", {"y": 1, "x": 1})
    config = memory.get("memory_config")
    held = DataType[memory["data_type"]], (tile["y"], tile["x"])
    if config is None:
        return Layout(*held)
    shard = tuple(config.get("shard_spec", {}).get("shape", ()))
    return Layout(*held, config["buffer_type"], config["tensor_memory_layout"], shard)


class Conversions:
    """Counts the conversions of layouts in this process.

    Attributes:
        count: How many there were.
    """

    count = 0


def get_num_layout_conversions() -> int:
    """How many tensors `to_layout` and `submit` have converted in this process."""
    return Conversions.count
