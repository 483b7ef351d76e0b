"""Conversion between TensorSpec and tensor type: the `#ttnn.ttnn_layout` that tt-mlir gives a tensor of that spec."""

from __future__ import annotations

import math
import operator
from functools import reduce

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ttnn_jit.diagnostics.errors import LayoutError
from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.dialects.ttcore import ELEMENT_TYPES, GridAttr, TileType, grid_attr, tile_type
from ttnn_jit.dialects.ttnn_attributes import CoreRangeAttr, ShapeAttr, TTNNLayoutAttr, buffer_type_attr, shape_attr
from ttnn_jit.dialects.writing.quick_attributes import memref_type, strided_layout, tensor_of
from ttnn_jit.process.memoized import KEYS, memoized
from ttnn_jit.specs.cores.sharding import folded_2d
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH
from ttnn_jit.specs.tensor_spec import (
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
    NdShardSpec,
    ShardOrientation,
    ShardSpec,
    SymbolicTensorSpec,
    TensorMemoryLayout,
    TensorSpec,
)

_DTYPES = {element: dtype for dtype, element in ELEMENT_TYPES.items()}


@memoized
def tensor_type(spec: TensorSpec) -> TensorType[Attribute]:
    """``tensor<32x32xbf16, #ttnn_layout>`` of `spec`."""
    type_ = tensor_of(ELEMENT_TYPES[spec.dtype], spec.shape, layout_attribute(spec))
    in_trace = KEYS.memos is not None and isinstance(spec, SymbolicTensorSpec)
    table = KEYS.memos.setdefault(spec_of, {}) if KEYS.memos is not None and in_trace else _KNOWN
    # Reading it gives the spec. A trace records what that needs of sizes, and a layout without its cores is refused.
    known = _spec_of(type_) if in_trace or spec.memory_config.lacks_shard_spec else spec
    table[id(type_)] = type_, known
    return type_


def dense_type(type_: TensorType[Attribute]) -> TensorType[Attribute]:
    """The type of the same tensors without explicit strides.

    Raises:
        LayoutError: As `spec_of`.
    """
    spec = spec_of(type_)
    return type_ if spec.strides is None else tensor_type(spec.with_())


_KNOWN: dict[int, tuple[TensorType[Attribute], TensorSpec]] = {}
"""id of a type that `tensor_type` made -> that type, which is kept alive, and its spec. Types are slow to hash. Those
with extents of a trace are in a table of the trace."""


@memoized
def layout_attribute(spec: TensorSpec) -> TTNNLayoutAttr:
    """The encoding of the tensor type of `spec`."""
    config = spec.memory_config
    orientation = config.orientation or ShardOrientation.ROW_MAJOR
    grid = _grid(config)
    nd = config.nd_shard_spec if config.is_nd_sharded() else None
    return TTNNLayoutAttr(
        AffineMapAttr(_linear_map(spec)),
        grid,
        StringAttr(orientation.name.lower()),
        _memref(spec),
        StringAttr(config.memory_layout.name.lower()),
        _core_ranges(config, grid),
        NoneAttr() if nd is None else shape_attr(*nd.shard_shape),
    )


def spec_of(type_: Attribute) -> TensorSpec:
    """The inverse of `tensor_type`.

    Raises:
        LayoutError: The type is no tensor with a `#ttnn.ttnn_layout`, its element type is unknown, or no tensor has
            that layout.
    """
    known = _KNOWN.get(id(type_))
    if known is None and KEYS.memos is not None:
        known = KEYS.memos.get(spec_of, _KNOWN).get(id(type_))
    if known is not None:
        return known[1]
    if not isinstance(type_, TensorType) or not isinstance(type_.encoding, TTNNLayoutAttr):
        raise LayoutError(
            f"{type_} is no tensor with a #ttnn.ttnn_layout",
            help="write the layout into the type: `tensor<4x8xf32, #layout>`; "
            "`ttnn_jit.jit()(f).ir(x)` prints a module whose layouts can be copied",
        )
    return _spec_of(type_)


@memoized
def _spec_of(type_: TensorType[Attribute]) -> TensorSpec:
    layout = type_.encoding
    assert isinstance(layout, TTNNLayoutAttr)
    element = type_.get_element_type()
    if element not in _DTYPES:
        raise LayoutError(f"no tensor has elements of type {element}")
    tiled = isinstance(layout.memref.element_type, TileType)
    strided = layout.memref.layout
    strides = None
    if isinstance(strided, StridedLayoutAttr):
        strides = tuple(step or 0 for step in strided.get_strides())
    _require_ranks(layout, type_.get_num_dims())
    spec = TensorSpec(
        type_.get_shape(),
        _DTYPES[element],
        Layout.TILE if tiled else Layout.ROW_MAJOR,
        _memory_config(layout, tiled=tiled),
        strides=strides,
    )
    _require_layout_of(spec, layout)
    return spec


def _require_ranks(layout: TTNNLayoutAttr, rank: int) -> None:
    linear, memref_rank = layout.linear.data, layout.memref.get_num_dims()
    if linear.num_dims != rank or linear.num_symbols:
        raise LayoutError(f"the map of a layout takes the tensor's {rank} dimensions, got {affine_map_text(linear)}")
    if len(linear.results) != memref_rank:
        raise LayoutError(
            f"the map of a layout gives the memref's {memref_rank} dimensions, got {affine_map_text(linear)}"
        )


def _require_layout_of(spec: TensorSpec, layout: TTNNLayoutAttr) -> None:
    """Requires the layout to be that of the spec, so that no edited parameter is ignored."""
    wanted = layout_attribute(spec)
    if wanted == layout:
        return
    for part, own, right in zip(_PARTS, layout.parameters, wanted.parameters, strict=True):
        if own != right:
            raise LayoutError(f"the {part} of the layout of a tensor of shape {spec.shape} is {right}, got {own}")


_PARTS = ("map", "grid", "shard orientation", "memref", "memory layout", "core ranges", "ND shard")
"""The names of the parameters of a `TTNNLayoutAttr` in messages."""


def _memory_config(layout: TTNNLayoutAttr, *, tiled: bool) -> MemoryConfig:
    if isinstance(layout.nd_shard, ShapeAttr):
        assert isinstance(layout.core_ranges, ArrayAttr)
        nd = NdShardSpec(layout.nd_shard.data, _core_range_set(layout.core_ranges), layout.shard_orientation)
        return MemoryConfig(buffer_type=layout.buffer_type, nd_shard_spec=nd)
    return MemoryConfig(layout.tensor_memory_layout, layout.buffer_type, _shard_spec(layout, tiled=tiled))


def _core_range_set(ranges: ArrayAttr[CoreRangeAttr]) -> CoreRangeSet:
    return CoreRangeSet(CoreRange(item.data[:2], item.data[2:]) for item in ranges)


def _two_dimensional(config: MemoryConfig) -> ShardSpec | None:
    """The shard spec that the grid and the memref encode; they show an ND sharded tensor unsharded."""
    return None if config.is_nd_sharded() else config.shard_spec


def _grid(config: MemoryConfig) -> GridAttr:
    shard = _two_dimensional(config)
    if shard is None:
        return grid_attr(1, 1)
    if config.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
        return grid_attr(shard.grid.num_cores(), 1)
    if config.memory_layout is TensorMemoryLayout.WIDTH_SHARDED:
        return grid_attr(1, shard.grid.num_cores())
    size = shard.grid.bounding_box().grid_size()
    if shard.orientation is ShardOrientation.COL_MAJOR:
        return grid_attr(size.x, size.y)
    return grid_attr(size.y, size.x)


def _implied_ranges(layout: TensorMemoryLayout, orientation: ShardOrientation, grid: GridAttr) -> CoreRangeSet | None:
    """The cores of a block sharded tensor; for other kinds the grid does not determine the core ranges."""
    if layout is not TensorMemoryLayout.BLOCK_SHARDED:
        return None
    rows, columns = grid.data if orientation is ShardOrientation.ROW_MAJOR else reversed(grid.data)
    return CoreRangeSet([CoreRange((0, 0), (columns - 1, rows - 1))])


def _core_ranges(config: MemoryConfig, grid: GridAttr) -> ArrayAttr[CoreRangeAttr] | NoneAttr:
    shard = config.nd_shard_spec if config.is_nd_sharded() else config.shard_spec
    if shard is None or shard.grid == _implied_ranges(config.memory_layout, shard.orientation, grid):
        return NoneAttr()
    return ArrayAttr([CoreRangeAttr((r.start.x, r.start.y, r.end.x, r.end.y)) for r in shard.grid.ranges()])


def _shard_spec(layout: TTNNLayoutAttr, *, tiled: bool) -> ShardSpec | None:
    if not layout.is_sharded:
        return None
    orientation = layout.shard_orientation
    if isinstance(layout.core_ranges, NoneAttr):
        cores = _implied_ranges(layout.tensor_memory_layout, orientation, layout.grid)
        if cores is None:
            raise LayoutError(f"a {layout.memory_layout.data} layout needs its core_ranges")
    else:
        cores = _core_range_set(layout.core_ranges)
    height, width = layout.memref.get_shape()
    if tiled:
        height, width = height * TILE_HEIGHT, width * TILE_WIDTH
    return ShardSpec(cores, (height, width), orientation)


def _is_strided(spec: TensorSpec) -> bool:
    return spec.strides is not None


def _linear_map(spec: TensorSpec) -> AffineMap:
    """The map from logical indices to the folded 2-D tensor; the identity for a strided tensor."""
    rank = len(spec.shape)
    if _is_strided(spec) or (rank == 0 and spec.layout is Layout.ROW_MAJOR):
        return AffineMap.identity(rank)
    dims = [AffineDimExpr(index) for index in range(rank)]
    column: AffineExpr = dims[-1] if dims else AffineConstantExpr(0)
    row_extents = spec.padded_shape[-rank:-1] if rank else ()
    # A step is 0 if a dimension further in has extent 0: the term vanishes.
    steps = [math.prod(row_extents[index + 1 :]) for index in range(len(row_extents))]
    terms: list[AffineExpr] = [dim if step == 1 else dim * step for dim, step in zip(dims, steps, strict=False) if step]
    row = reduce(operator.add, terms) if terms else AffineConstantExpr(0)
    return AffineMap(rank, 0, (row, column))


def _memref(spec: TensorSpec) -> MemRefType[Attribute]:
    space = buffer_type_attr(spec.memory_config.buffer_type)
    element = ELEMENT_TYPES[spec.dtype]
    if spec.strides is not None:
        return memref_type(element, spec.shape, strided_layout(spec.strides, 0), space)
    shard = _two_dimensional(spec.memory_config)
    if spec.layout is Layout.TILE:
        height, width = shard.shape if shard else folded_2d(spec.padded_shape)
        tiles = -(-height // TILE_HEIGHT), -(-width // TILE_WIDTH)
        return memref_type(tile_type(spec.dtype), tiles, None, space)
    if not spec.shape:
        return memref_type(element, (), None, space)
    return memref_type(element, shard.shape if shard else folded_2d(spec.shape), None, space)


def dtype_of(type_: Attribute) -> DataType:
    """The DataType of a tile, a tensor or a memref of either.

    Raises:
        LayoutError: The element type is unknown.
    """
    if isinstance(type_, TileType):
        return type_.dtype
    if isinstance(type_, TensorType | MemRefType):
        return dtype_of(type_.get_element_type())
    if type_ in _DTYPES:
        return _DTYPES[type_]
    raise LayoutError(f"{type_} has no element type known here")


def is_packed(value: SSAValue) -> bool:
    """Whether it is a tensor of block floats: only their element type is a tile."""
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, TileType)
