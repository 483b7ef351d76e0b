"""Types of tensors as descriptions in binaries, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute

from ttnn_jit.binaries.attribute_trees import DATA_TYPES, case_of, fitted, tree_of
from ttnn_jit.diagnostics.errors import DTypeError, ShapeError
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.ttnn_attributes import TTNNLayoutAttr
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed, parsed_type
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import collapsed, ttnn_layout
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.schemas.schema import Record, Schema

Tree = Mapping[str, Any]
_KEYWORDS = {case: keyword for keyword, case in DATA_TYPES.items()}
_ELEMENTS = {
    "f32": "f32", "f16": "f16", "bf16": "bf16", "u32": "ui32", "u16": "ui16", "u8": "ui8", "si32": "si32", "f64": "f64",
    "si64": "si64", "u64": "ui64", "si16": "si16", "si8": "si8", "i1": "i1",
}  # fmt: skip
"""Keyword of a data type -> element type; the other ones are block floats, which lie in tiles."""
_SIGNLESS = {f"i{bits}": f"si{bits}" for bits in (8, 16, 32, 64)}
_MEMORIES = {
    "dram": "DRAM", "l1": "L1", "system_memory": "SystemMemory", "l1_small": "L1Small", "trace": "Trace",
}  # fmt: skip


@dataclass(frozen=True)
class TensorLayout:
    """What the layout of a tensor type says.

    Attributes:
        data_type: Keyword of the data type.
        tile: Rows and columns of a tile; None of rows.
        memory: Keyword of the buffer type.
        sharding: Keyword of the memory layout.
        shard: The shape of a shard in elements; empty if it is not sharded.
        core_ranges: The cores of the shards, as a tree.
        on_mesh: Whether every device of the mesh has a part.
    """

    data_type: str
    tile: tuple[int, int] | None
    memory: str
    sharding: str
    shard: tuple[int, ...]
    core_ranges: Any
    on_mesh: bool


def data_type_of(element: Attribute) -> str:
    """The keyword of an element type.

    Raises:
        DTypeError: No binary has such elements.
    """
    text = str(element)
    if isinstance(element, TileType) or text.startswith("!ttcore.tile"):
        return text.rpartition(", ")[2].rstrip(">")
    if text.startswith("!quant"):
        text = text.partition("<")[2].partition(":")[0]
    text = _SIGNLESS.get(text, text)
    found = next((keyword for keyword, spelled in _ELEMENTS.items() if spelled == text), None)
    if found is None:
        raise DTypeError(f"a binary has no tensors of {element}")
    return found


def layout_of(type_: TensorType[Any]) -> TensorLayout:
    """The layout of a tensor type; one that says none is in tiles in DRAM."""
    encoding = type_.encoding
    if isinstance(encoding, TTNNLayoutAttr):
        ranges = encoding.core_ranges
        cores = tree_of(ranges) if ranges is not None else None
        return _layout(encoding.memref, encoding.memory_layout.data, encoding.grid.data, cores)
    if isinstance(encoding, TableAttribute) and encoding.value("memref") is not None:
        sharding = encoding.value("mem_layout")
        cores = encoding.value("core_range_set")
        grid = encoding.value("grid_shape") or tree_of(encoding.value("grid"))
        grid = grid["shape"] if isinstance(grid, Mapping) else grid
        found = None if cores is None else tree_of(cores).get("core_ranges", [])
        keyword = "interleaved" if sharding is None else str(tree_of(sharding))
        on_mesh = encoding.value("tensor_mesh") is not None
        return _layout(encoding.value("memref"), keyword, grid, found, on_mesh=on_mesh)
    if encoding == _OF_TRACE:
        return TensorLayout("u32", None, "system_memory", "interleaved", (), None, False)
    return TensorLayout(data_type_of(type_.get_element_type()), (32, 32), "dram", "interleaved", (), None, False)


def _layout(
    memref: MemRefType[Any], sharding: str, grid: Sequence[int], cores: Any, *, on_mesh: bool = False
) -> TensorLayout:
    element = memref.element_type
    tile = None
    if "!ttcore.tile<" in str(element):
        rows, _, columns = str(element).partition("<")[2].partition(",")[0].partition("x")
        tile = int(rows), int(columns)
    memory = str(tree_of(memref.memory_space))
    shard: tuple[int, ...] = ()
    if sharding != "interleaved":
        extents = [*memref.get_shape()]
        steps = [1] * (len(extents) - 2) + [*(tile or (1, 1))]
        shard = tuple(extent * step for extent, step in zip(extents, steps, strict=True))
        if cores is None:
            cores = _cores(sharding, grid)
    return TensorLayout(data_type_of(element), tile, memory, sharding, shard, cores, on_mesh)


def _cores(sharding: str, grid: Sequence[int]) -> list[Any]:
    """The cores of a grid from the first on; shards of rows or of columns fill rows of eight cores."""
    rows, columns = ([1, 1, *grid])[-2:]
    count = rows * columns
    if sharding != "block_sharded" and count > 8:
        columns, rows = 8, -(-count // 8)
    elif sharding != "block_sharded":
        columns, rows = count, 1
    return [{"start_coord": {"x": 0, "y": 0}, "end_coord": {"x": columns - 1, "y": rows - 1}}]


def memory_config_tree(schema: Schema, layout: TensorLayout) -> Tree | None:
    """The memory config of a layout; None on the host."""
    if layout.memory == "system_memory":
        return None
    record = schema.record("ttnn.MemoryConfig")
    tree: dict[str, Any] = {
        "tensor_memory_layout": case_of(record.fields["tensor_memory_layout"].type, layout.sharding),
        "buffer_type": _MEMORIES[layout.memory],
    }
    if layout.shard:
        spec = {"core_range_set": {"core_ranges": layout.core_ranges}, "shape": [*layout.shard]}
        tree["shard_spec"] = spec | {"orientation": "RowMajor"}
    found: Tree = fitted(schema, record, tree)
    return found


def description(
    schema: Schema, type_: Attribute, mesh: Sequence[int], status: str = "Unsharded", local: Sequence[int] | None = None
) -> dict[str, Any]:
    """The description of a tensor type.

    Args:
        schema: The schema.
        type_: The type.
        mesh: The extents of the mesh.
        status: Whether the tensor has a part per device: Presharded or Unsharded.
        local: The shape of a part.

    Raises:
        ShapeError: It is no tensor of known extents.
        DTypeError: No binary has such elements.
    """
    if not isinstance(type_, TensorType) or any(extent < 0 for extent in type_.get_shape()):
        raise ShapeError(f"a binary has no values of {type_}")
    layout = layout_of(type_)
    rows, columns = layout.tile or (1, 1)
    on_host = layout.memory == "system_memory" and not layout.on_mesh
    memory: dict[str, Any] = {
        "storage_type": "Host" if on_host else "Device",
        "tile_shape": {"y": rows, "x": columns},
        "data_type": DATA_TYPES[layout.data_type],
    }
    config = memory_config_tree(schema, layout)
    if config is not None:
        memory["memory_config"] = config
    tree = {
        "shape": [*type_.get_shape()],
        "mesh_shape": [*mesh] if layout.on_mesh else [1, 1],
        "layout": {"oob_val": "Undef", "memory_desc": memory},
        "shard_status": status,
        "local_shape": [*(type_.get_shape() if local is None else local)],
    }
    return known_fields(schema.record("ttnn.TensorDesc"), tree)


def known_fields(record: Record, tree: Tree) -> dict[str, Any]:
    """The fields of a tree that the table of the schema's version has."""
    return {name: value for name, value in tree.items() if name in record.fields}


_OF_TRACE = parsed("#ttnn.trace_id")
TRACE_NUMBER = parsed_type("tensor<ui32, #ttnn.trace_id>")
"""The type of the number of a trace, which a binary has as a tensor on the host."""


def tensor_type(tree: Tree) -> TensorType[Any]:
    """The type of a description; one without a layout has none.

    Raises:
        ShapeError: An extent is negative.
        DTypeError: No tensor has such elements.
    """
    shape = tree.get("shape", [])
    if any(extent < 0 for extent in shape):
        raise ShapeError(f"a tensor of {len(shape)} dimensions has the extent {min(shape)}")
    if len(shape) > _MAX_RANK or math.prod(max(1, extent) for extent in shape) > _MAX_ELEMENTS:
        raise ShapeError(f"a tensor has {len(shape)} dimensions, and extents up to {max(shape)}: none is so large")
    memory = tree.get("layout", {}).get("memory_desc")
    if memory is None:
        raise DTypeError("a tensor has no layout, and so no data type")
    keyword = _KEYWORDS[memory["data_type"]]
    tile = memory.get("tile_shape", {"y": 1, "x": 1})
    rows, columns = tile["y"], tile["x"]
    element = parsed_type(_ELEMENTS.get(keyword) or f"!ttcore.tile<32x32, {keyword}>")
    layout = _layout_attribute(tuple(shape), keyword, (rows, columns), memory)
    return TensorType(element, shape, layout)


_MAX_RANK, _MAX_ELEMENTS = 64, 2**48
"""Larger tensors are those of damaged files: torch has no more dimensions, and no machine as much memory."""


def _layout_attribute(shape: tuple[int, ...], keyword: str, tile: tuple[int, int], memory: Tree) -> Attribute:
    tiled = tile != (1, 1)
    element = keyword if tiled else _ELEMENTS.get(keyword, keyword)
    config = memory.get("memory_config")
    if config is None:
        return ttnn_layout(shape, element, tiled=tiled, memory="system_memory")
    space = next(name for name, case in _MEMORIES.items() if case == config["buffer_type"])
    spec = config.get("shard_spec")
    if spec is None or tile not in {(1, 1), (32, 32)}:
        return ttnn_layout(shape, element, tiled=tiled, memory=space)
    return _sharded_layout(shape, element, tile, space, config)


def _sharded_layout(shape: tuple[int, ...], element: str, tile: tuple[int, int], space: str, config: Tree) -> Attribute:
    tiled = tile != (1, 1)
    shard = config["shard_spec"].get("shape", [])
    if len(shard) != 2 or min(shard) < 1:
        raise ShapeError(f"a shard has {len(shard)} extents, the least {min(shard, default=None)}")
    rows, columns, linear = collapsed(shape, tile[0])
    extents = [math.ceil(extent / step) for extent, step in zip(shard, tile, strict=True)]
    grid = [max(1, math.ceil(whole / part)) for whole, part in zip((rows, columns), shard, strict=True)]
    held = f"{extents[0]}x{extents[1]}x" + (f"!ttcore.tile<{tile[0]}x{tile[1]}, {element}>" if tiled else element)
    sharding = {"HeightSharded": "height_sharded", "WidthSharded": "width_sharded", "BlockSharded": "block_sharded"}
    keyword = sharding.get(config["tensor_memory_layout"], "interleaved")
    cores = config["shard_spec"].get("core_range_set", {}).get("core_ranges", [])
    ranges = ", ".join(
        f"#ttnn.core_range<({each['start_coord']['x']},{each['start_coord']['y']}), "
        f"({each['end_coord']['x']},{each['end_coord']['y']})>"
        for each in cores
    )
    listed = f", core_ranges = <[{ranges}]>" if ranges else ""
    return parsed(
        f"#ttnn.ttnn_layout<{linear}, <{grid[0]}x{grid[1]}>, memref<{held}, #ttnn.buffer_type<{space}>>, "
        f"<{keyword}>{listed}>"
    )


def element_of(case: str) -> str:
    """The element type of a data type.

    Raises:
        DTypeError: It is a block float, of which no element is alone.
    """
    found = _ELEMENTS.get(_KEYWORDS[case])
    if found is None:
        raise DTypeError(f"a constant has no elements of {case}")
    return found
