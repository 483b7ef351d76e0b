"""Where the tiles of a kernel's operand are: which of a tensor's pages a core's block holds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.d2m import EmptyOp, GenericOp, MaskOp, ViewLayoutOp
from ttnn_jit.dialects.layout import dtype_of, spec_of
from ttnn_jit.dialects.region_loops import mapped_dims, memref_shape, refusal
from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.ttnn_attributes import TTNNLayoutAttr
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH
from ttnn_jit.specs.tensor_spec import BufferType
from ttnn_jit.specs.tiles import tile_extents

_SPACES = {BufferType.DRAM: "dram", BufferType.L1: "l1"}


@dataclass(frozen=True)
class TensorPages:
    """The pages of a tensor, one tile each.

    Attributes:
        grid: The cores that hold it, as rows and columns of shards; one for a tensor that is interleaved.
        shard: The rows and columns of tiles of each.
        element: The text of the type of its tiles.
        page_bytes: The size of a tile.
        space: ``dram`` or ``l1``.
        is_sharded: Whether each core of `grid` holds a shard.
    """

    grid: tuple[int, int]
    shard: tuple[int, int]
    element: str
    page_bytes: int
    space: str
    is_sharded: bool

    @property
    def width(self) -> int:
        """The tiles of a row."""
        return self.grid[1] * self.shard[1]

    @property
    def memref(self) -> str:
        """The text of the memref's type that upstream's host programs use for it."""
        row = self.shard[1] * self.page_bytes
        strides = f"{row}x{self.page_bytes}"
        layout = f"#ttcore.shard<{strides}, 1>" if self.is_sharded else f"#ttcore.interleaved<{strides}>"
        shape = "x".join(map(str, (*self.grid, *self.shard)))
        return f"memref<{shape}x{self.element}, {layout}, #ttcore.memory_space<{self.space}>>"

    @property
    def bytes_of_core(self) -> int:
        """The memory that it takes in one bank or core, at most."""
        return math.prod(self.shard) * self.page_bytes


def pages_of(type_: Attribute, op: Operation) -> TensorPages:
    """The pages of a tensor of this type.

    Raises:
        CompileError: It is not in tiles, or lies where kernels of a core do not read.
    """
    spec = spec_of(type_)
    layout = type_.encoding  # type: ignore[attr-defined]  # it has a spec
    assert isinstance(layout, TTNNLayoutAttr)
    element = layout.memref.element_type
    if not isinstance(element, TileType):
        raise refusal(op, "it takes a tensor that is not in tiles")
    if spec.memory_config.buffer_type not in _SPACES:
        raise refusal(op, f"it takes a tensor in {spec.memory_config.buffer_type.name.lower()}, which no core reads")
    if spec.memory_config.is_nd_sharded():
        raise refusal(op, "it takes an ND sharded tensor")
    rows, columns = memref_shape(layout.memref)
    space = _SPACES[spec.memory_config.buffer_type]
    grid = (layout.grid.data[0], layout.grid.data[1])
    return TensorPages(grid, (rows, columns), element_text(element), tile_bytes(element), space, layout.is_sharded)


def element_text(tile: TileType) -> str:
    """The text of the type of a tile."""
    return f"!ttcore.tile<{TILE_HEIGHT}x{TILE_WIDTH}, {tile.dtype.mlir}>"


def tile_bytes(tile: TileType) -> int:
    """The size of a tile."""
    return bytes_of_tile(tile.dtype)


def bytes_of_tile(dtype: DataType) -> int:
    """The size of a tile of elements of `dtype`."""
    return dtype.nbytes(TILE_HEIGHT * TILE_WIDTH)


@dataclass(frozen=True)
class Operand:
    """An operand of a kernel.

    Attributes:
        number: Its index among the operands.
        value: The tensor.
        pages: Its pages.
        tile: The type of its tiles.
        shard: The extents of the part that one core reads or writes, in tiles.
        cuts: Per dimension: the dimension of the kernel's grid that divides it, or None.
        tiles: The extents of the tensor, in tiles.
        grid: The kernel's grid.
    """

    number: int
    value: SSAValue
    pages: TensorPages
    tile: TileType
    shard: tuple[int, ...]
    cuts: tuple[int | None, ...]
    tiles: tuple[int, ...]
    grid: tuple[int, ...]

    @property
    def page_extents(self) -> tuple[int, ...]:
        """The extents in which pages are counted: shards at the edge are padded."""
        return (*self.tiles[:-1], self.pages.width)

    def may_leave(self, dimension: int) -> bool:
        """Whether a core's part may reach past the tensor along a dimension."""
        cut = self.cuts[dimension]
        cores = 1 if cut is None else self.grid[cut]
        return cores * self.shard[dimension] > self.tiles[dimension]


def operands_of(op: GenericOp) -> list[Operand]:
    """The operands of a kernel, inputs then output.

    Raises:
        CompileError: One is a view or masked, or lies where kernels of a core do not read.
    """
    maps = [indexing_map.data for indexing_map in op.indexing_maps]
    cores = {dim: cut for cut, dim in enumerate(mapped_dims(maps[-1])) if dim is not None}
    found = []
    for number, (value, own, argument) in enumerate(zip(op.operands, maps, op.body.block.args, strict=True)):
        if isinstance(value.owner, ViewLayoutOp | MaskOp):
            raise refusal(
                op,
                f"operand {number} is a `{value.owner.name}`, {affine_map_text(own)}, and a reader moves whole tiles",
                "on chips movements are launches of their own: use a chip's target",
            )
        cuts = tuple(None if dim is None else cores.get(dim) for dim in mapped_dims(own))
        buffer: MemRefType[Attribute] = argument.type.underlying  # type: ignore[attr-defined]  # the verifier checks it
        tile = buffer.element_type
        assert isinstance(tile, TileType)
        dtype_of(tile)
        tiles = tile_extents(spec_of(value.type).shape, len(cuts))
        pages = pages_of(value.type, op)
        found.append(Operand(number, value, pages, tile, memref_shape(buffer), cuts, tiles, tuple(op.grid.data)))
    return found


def is_fresh(value: SSAValue) -> bool:
    """Whether a tensor is one that a `d2m.empty` makes for a kernel to write."""
    return isinstance(value.owner, EmptyOp)


def core_place(grid: Sequence[int], workers: tuple[int, int]) -> tuple[int, int] | None:
    """The rows and columns of cores on which a grid lies; None if there are none of so many."""
    rows, columns = workers
    if len(grid) == 2 and grid[0] <= rows and grid[1] <= columns:
        return grid[0], grid[1]
    count = math.prod(grid)
    fitting = [wide for wide in range(columns, 0, -1) if count % wide == 0 and count // wide <= rows]
    return (count // fitting[0], fitting[0]) if fitting else None
