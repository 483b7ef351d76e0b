"""Memory as bytes: tiles in four faces, tensors as pages, and the address space of a core's L1."""

from __future__ import annotations

import bisect
import math
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from ttnn_jit.dialects.layout import dtype_of
from ttnn_jit.interpreters.tensor_interpreter import packed_array, unpacked_array
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

Array = np.ndarray[Any, Any]

FACE = 16
"""Rows and columns of a face; a tile in memory is four of them, row by row."""


class TileFormat:
    """The bytes of tiles of one element type.

    Args:
        dtype: The element type.
    """

    def __init__(self, dtype: DataType) -> None:
        self.dtype = dtype
        self.nbytes = dtype.nbytes(TILE_HEIGHT * TILE_WIDTH)

    def decoded(self, data: Array, math_: NumpyVector) -> Array:
        """The elements of a tile, in their compute type."""
        if self.dtype.is_block_float:
            return unpacked_array(data, (TILE_HEIGHT, TILE_WIDTH), self.dtype)
        stored = data.view(self.dtype.traits.numpy).reshape(2, 2, FACE, FACE)
        return math_.loaded(stored.transpose(0, 2, 1, 3).reshape(TILE_HEIGHT, TILE_WIDTH), self.dtype)

    def encoded(self, tile: Array, math_: NumpyVector) -> Array:
        """The bytes of a tile of elements that the type represents."""
        if self.dtype.is_block_float:
            return packed_array(tile, self.dtype).view(np.uint8)
        stored = math_.stored(tile, self.dtype).reshape(2, FACE, 2, FACE)
        return np.ascontiguousarray(stored.transpose(0, 2, 1, 3)).reshape(-1).view(np.uint8)


@dataclass(frozen=True, eq=False)
class Pages:
    """The memory of a tensor on the device.

    Attributes:
        data: The bytes: rows of shards, columns of shards, pages of a shard, bytes of a page.
        address: Where it lies, in each core or in the banks of DRAM.
        shard: The rows and columns of pages of a shard.
        dtype: The element type.
        space: ``dram`` or ``l1``.
    """

    data: Array
    address: int
    shard: tuple[int, int]
    dtype: DataType
    space: str

    @property
    def count(self) -> int:
        """The number of pages."""
        return math.prod(self.data.shape[:3])

    def page(self, number: int) -> Array:
        """The bytes of a page; pages are counted row by row of the tensor."""
        rows, columns = self.shard
        row, column = divmod(number, columns * self.data.shape[1])
        inside = row % rows * columns + column % columns
        found: Array = self.data[row // rows, column // columns, inside]
        return found

    def bank(self, number: int, banks: int) -> Array:
        """The pages of a bank of DRAM, which lie after each other there."""
        flat = self.data.reshape(-1, self.data.shape[-1])
        found: Array = flat[number::banks]
        return found


def pages_of_memref(type_: Attribute, address: int) -> Pages:
    """The memory of a tensor of this type, filled with NaN or -1."""
    assert isinstance(type_, MemRefType)
    *grid, rows, columns = (*_two(type_.get_shape()),)
    dtype = dtype_of(type_)
    size = TileFormat(dtype).nbytes
    data = np.full((*grid, rows * columns, size), 255, np.uint8)
    return Pages(data, address, (rows, columns), dtype, space_of(type_))


def _two(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a memref as two dimensions of the grid and two of the shard."""
    half = len(shape) // 2
    grid, shard = shape[:half], shape[half:]
    return math.prod(grid[:-1]), (*grid, 1)[-1] if not grid else grid[-1], math.prod(shard[:-1]), shard[-1]


def space_of(type_: Attribute) -> str:
    """``dram``, ``l1`` or ``system``: the memory space of a memref."""
    text = str(getattr(type_, "memory_space", ""))
    return next((name for name in ("dram", "l1", "system") if name in text), "system")


@dataclass(frozen=True)
class Region:
    """A part of a core's L1.

    Attributes:
        start: Its address.
        data: Its bytes.
        owner: What lies there: a circular buffer, a semaphore, or the pages of a tensor.
    """

    start: int
    data: Array
    owner: object


class AddressSpace:
    """The regions of a core's L1, by address."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._regions: list[Region] = []

    def add(self, start: int, data: Array, owner: object) -> Region | None:
        """Adds a region; the region that it overlaps, if there is one."""
        at = bisect.bisect(self._starts, start)
        for other in self._regions[max(at - 1, 0) : at + 1]:
            if other.start < start + len(data) and start < other.start + len(other.data):
                return other
        self._starts.insert(at, start)
        self._regions.insert(at, Region(start, data, owner))
        return None

    def find(self, address: int, size: int) -> tuple[Region, int] | None:
        """The region that holds so many bytes at an address, and where they begin in it; None if none holds them."""
        at = bisect.bisect(self._starts, address) - 1
        if at < 0:
            return None
        region = self._regions[at]
        offset = address - region.start
        return (region, offset) if offset + size <= len(region.data) else None
