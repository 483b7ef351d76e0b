"""Iteration spaces of elementwise kernels: the tile of each operand for each tile of the result.

Tensors are matrices of 32x32 tiles. If all leading dimensions agree, they are folded into the rows, and the space is
two-dimensional. Otherwise each stays a dimension, before tile rows and tile columns.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.cores.sharding import folded_2d
from ttnn_jit.specs.extents.divisors import cores_along
from ttnn_jit.specs.extents.extent import computed
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH


class TileBroadcast(enum.Enum):
    """The part of an operand's tile that is broadcast over a tile: its first row, first column or first element."""

    ROW = "row"
    COL = "col"
    SCALAR = "scalar"


@dataclass(frozen=True, slots=True)
class TileAccess:
    """The access of an operand.

    Attributes:
        tiles: Its extents in tiles, one per dimension of the space.
        varies: Per dimension, whether the loop's index is its index; otherwise its index is 0.
        broadcast: Broadcast within a tile, or None.
    """

    tiles: tuple[int, ...]
    varies: tuple[bool, ...]
    broadcast: TileBroadcast | None = None


@dataclass(frozen=True, slots=True)
class IterationSpace:
    """The loops of a kernel over whole tensors: extents of the result in tiles, and the access of each operand."""

    tiles: tuple[int, ...]
    operands: tuple[TileAccess, ...]


@memoized
def iteration_space(
    operand_shapes: tuple[tuple[int, ...], ...], result_shape: tuple[int, ...], *, fold: bool = True
) -> IterationSpace:
    """The space of an elementwise op.

    Args:
        operand_shapes: Logical extents in elements of each operand, which is broadcast to the result.
        result_shape: Logical extents in elements of the result.
        fold: Whether leading dimensions are folded into the rows if all operands allow it.
    """
    rank = max(2, len(result_shape))
    result = padded(result_shape, rank)
    operands = [padded(shape, rank) for shape in operand_shapes]
    if fold and all(_folds(operand, result) for operand in operands):
        accesses = (_folded_access(operand, result) for operand in operands)
        return IterationSpace(_folded_tiles(result), tuple(accesses))
    return IterationSpace(tiles_of(result), tuple(_access(operand, result) for operand in operands))


def core_grid(result_shape: tuple[int, ...], dimensions: int, last_core: tuple[int, int]) -> tuple[int, ...]:
    """The maximal grid of a kernel whose operands are not sharded, one extent per dimension of its space.

    A shape that is not made of whole tiles has one core. Leading batch dimensions are not distributed.

    Args:
        result_shape: Logical extents of the result.
        dimensions: Rank of the space.
        last_core: Coordinate (x, y) of the last core that may be used.
    """
    shape = padded(result_shape, 2)
    padding = shape[-2] % TILE_HEIGHT + shape[-1] % TILE_WIDTH
    height, width = folded_2d(shape if dimensions == 2 else shape[-2:])
    rows = computed(cores_along, height // TILE_HEIGHT, padding, last_core[1] + 1)
    columns = computed(cores_along, width // TILE_WIDTH, padding, last_core[0] + 1)
    return (*(1 for _ in range(dimensions - 2)), rows, columns)


def padded(shape: Sequence[int], rank: int) -> tuple[int, ...]:
    """`shape` with extents of 1 in front, up to `rank`."""
    return (1,) * (rank - len(shape)) + tuple(shape)


def tiles_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The extents in tiles of a tensor of matrices."""
    # An empty dimension counts as one tile, so that every loop and buffer has a size.
    tiles = (*shape[:-2], -(-shape[-2] // TILE_HEIGHT), -(-shape[-1] // TILE_WIDTH))
    return tuple(max(extent, 1) for extent in tiles)


def _folded_tiles(shape: tuple[int, ...]) -> tuple[int, int]:
    tiles = tiles_of(shape)
    return math.prod(tiles[:-1]), tiles[-1]


def _folds(operand: tuple[int, ...], result: tuple[int, ...]) -> bool:
    """Whether the operand's rows can be counted along the result's folded rows."""
    if operand[:-1] == result[:-1]:
        return True
    return math.prod(operand[:-1]) == 1


def _folded_access(operand: tuple[int, ...], result: tuple[int, ...]) -> TileAccess:
    varies = (operand[:-1] == result[:-1], operand[-1] == result[-1])
    return TileAccess(_folded_tiles(operand), varies, _tile_broadcast(operand, result))


def _access(operand: tuple[int, ...], result: tuple[int, ...]) -> TileAccess:
    varies = tuple(own == full for own, full in zip(operand, result, strict=True))
    return TileAccess(tiles_of(operand), varies, _tile_broadcast(operand, result))


def _tile_broadcast(operand: tuple[int, ...], result: tuple[int, ...]) -> TileBroadcast | None:
    rows = operand[-2] != result[-2]
    columns = operand[-1] != result[-1]
    if rows and columns:
        return TileBroadcast.SCALAR
    if rows:
        return TileBroadcast.ROW
    return TileBroadcast.COL if columns else None
