"""Memory of the tile interpreter: views of tiles, and the conversion of tensors to tiles and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttnn_jit.interpreters.accumulator import Accumulator
from ttnn_jit.interpreters.tensor_interpreter import Tensor
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.cores.sharding import round_up
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH
from ttnn_jit.specs.tiles import tile_extents

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Memref:
    """A view of tiles.

    Attributes:
        tiles: The elements, with two more dimensions than the memref.
        written: Whether each tile was ever stored.
        accumulators: The accumulator whose tile is not materialized yet, or None, per tile.
    """

    tiles: Array
    written: Array
    accumulators: Array

    @staticmethod
    def of(tiles: Array, written: Array) -> Memref:
        """A memref without accumulators."""
        return Memref(tiles, written, np.full(written.shape, None, object))

    def window(self, slices: tuple[slice, ...]) -> Memref:
        """A subview, which shares the memory."""
        return Memref(self.tiles[slices], self.written[slices], self.accumulators[slices])

    def store(self, index: tuple[int, ...], value: Array | Accumulator) -> None:
        """Stores a tile, or an accumulator."""
        is_accumulator = isinstance(value, Accumulator)
        self.accumulators[index] = value if is_accumulator else None
        if not is_accumulator:
            self.tiles[index] = value
        self.written[index] = True

    def materialize(self) -> None:
        """Stores the tile of every accumulator."""
        for index in zip(*np.nonzero(self.accumulators), strict=True):
            self.store(index, self.accumulators[index].tile())


@dataclass(frozen=True)
class TileReference:
    """A tile in memory, which is read at its use; `is_output`: every reduction starts from its identity."""

    memref: Memref
    index: tuple[int, ...]
    is_output: bool = False

    def tile(self) -> Array:
        """The current value."""
        accumulator = self.memref.accumulators[self.index]
        tile: Array = self.memref.tiles[self.index].copy() if accumulator is None else accumulator.tile()
        return tile


def tiles_of(tensor: Tensor, extents: tuple[int, ...]) -> Array:
    """The tensor as `extents` tiles; the padding is the fill value of a mask, or zeros."""
    tiles = _split(tensor.values, len(extents), tensor.fill or 0.0)
    held = np.full((*extents, TILE_HEIGHT, TILE_WIDTH), tensor.fill or 0.0, tiles.dtype)
    held[tuple(slice(0, extent) for extent in tiles.shape[:-2])] = tiles
    return held


def elements_of(tiles: Array, tensor: Tensor) -> Array:
    """The logical elements of `tensor` in `tiles`."""
    shape = tensor.values.shape
    if not tensor.values.size:
        return np.zeros(shape, tiles.dtype)
    height, width = (1, 1, *shape)[-2:]
    rows, columns = -(-height // TILE_HEIGHT), -(-width // TILE_WIDTH)
    kept = tiles[tuple(map(slice, tile_extents(shape, tiles.ndim - 2)))]
    batched = kept.reshape(-1, rows, columns, TILE_HEIGHT, TILE_WIDTH)
    padded = batched.swapaxes(2, 3).reshape(-1, rows * TILE_HEIGHT, columns * TILE_WIDTH)
    return padded[:, :height, :width].reshape(shape)


def _split(values: Array, rank: int, fill: float) -> Array:
    """The tiles of logical elements, with `rank` tile dimensions; the padding is `fill`."""
    shape = (1,) * (2 - values.ndim) + values.shape
    height, width = shape[-2:]
    rows, columns = round_up(height, TILE_HEIGHT), round_up(width, TILE_WIDTH)
    extents = tile_extents(values.shape, rank)
    if not values.size:
        return np.full((*extents, TILE_HEIGHT, TILE_WIDTH), fill, values.dtype)
    padded = np.full((int(np.prod(shape[:-2])), rows, columns), fill, values.dtype)
    padded[:, :height, :width] = values.reshape(-1, height, width)
    split = padded.reshape(-1, rows // TILE_HEIGHT, TILE_HEIGHT, columns // TILE_WIDTH, TILE_WIDTH).swapaxes(2, 3)
    return split.reshape(*extents, TILE_HEIGHT, TILE_WIDTH)
