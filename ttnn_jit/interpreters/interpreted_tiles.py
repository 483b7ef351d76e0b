"""Memory of the tile interpreter: windows on tiles, and tensors cut into tiles and put together again."""

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
    """A window on tiles.

    Attributes:
        tiles: It has two more dimensions than the memref.
        written: Which were ever stored.
        running: The accumulator that stands for each tile, if one does.
    """

    tiles: Array
    written: Array
    running: Array

    @staticmethod
    def of(tiles: Array, written: Array) -> Memref:
        """One in which nothing accumulates yet."""
        return Memref(tiles, written, np.full(written.shape, None, object))

    def window(self, slices: tuple[slice, ...]) -> Memref:
        """A part of it."""
        return Memref(self.tiles[slices], self.written[slices], self.running[slices])

    def put(self, at: tuple[int, ...], value: Array | Accumulator) -> None:
        """Stores a tile, or an accumulator."""
        running = isinstance(value, Accumulator)
        self.running[at] = value if running else None
        if not running:
            self.tiles[at] = value
        self.written[at] = True

    def settle(self) -> None:
        """Puts the tile of every accumulator in its place."""
        for at in zip(*np.nonzero(self.running), strict=True):
            self.put(at, self.running[at].tile())


@dataclass(frozen=True)
class InPlace:
    """A tile where it lies, read when it is used; that of an output is anew for every reduction."""

    where: Memref
    at: tuple[int, ...]
    is_output: bool = False

    def tile(self) -> Array:
        """What lies there now."""
        running = self.where.running[self.at]
        tile: Array = self.where.tiles[self.at].copy() if running is None else running.tile()
        return tile


def tiles_of(tensor: Tensor, extents: tuple[int, ...]) -> Array:
    """The tensor as `extents` tiles; beyond its own elements what a mask put there, or zeros."""
    tiles = _split(tensor.values, len(extents), tensor.fill or 0.0)
    held = np.full((*extents, TILE_HEIGHT, TILE_WIDTH), tensor.fill or 0.0, tiles.dtype)
    held[tuple(slice(0, extent) for extent in tiles.shape[:-2])] = tiles
    return held


def untiled(tiles: Array, tensor: Tensor) -> Array:
    """The logical elements of `tensor` out of `tiles`."""
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
    """Logical elements -> tiles of an iteration space of `rank` dimensions, the rest of them filled."""
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
