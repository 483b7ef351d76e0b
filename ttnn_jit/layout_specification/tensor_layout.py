"""The tensor layout of tt-mlir's specification: the address of every element of a logical tensor on a grid of cores.

A layout does not change the type of a tensor: its shape stays logical. An affine map, `linear`, collapses the logical
dimensions to the rank of the grid. The grid divides these physical extents, rounding up, into shards; tiles divide the
shards, rounding up. The rest of a core's buffer is padding, which has one value. docs/tensor_layout.md walks through
it.
"""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import LayoutError, ShapeError
from ttnn_jit.layout_specification.affine_map import AffineMap, expression_text
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.access.index_expressions import Add, Const, Dim, Expr, Mul, times, total
from ttnn_jit.specs.checks import whole_numbers
from ttnn_jit.specs.cores.sharding import dense_strides, round_up
from ttnn_jit.specs.dtypes import DataType, ElementFormat
from ttnn_jit.specs.target import FACE, TILE_HEIGHT, TILE_WIDTH

MEMORY_LAYOUTS = ("none", "interleaved", "single_bank", "height_sharded", "width_sharded", "block_sharded")
"""The last field of a layout; older texts lack it, which means none."""


class OutOfBounds(enum.Enum):
    """The value of padding (`oob_val`)."""

    UNDEF = "undef"
    ZERO = "zero"
    ONE = "one"
    INF = "inf"
    NEGINF = "neginf"

    def fill(self, element: ElementFormat) -> float:
        """The value as a number; UNDEF is one that shows in results: NaN, or the largest integer.

        Raises:
            LayoutError: The value is an infinity, and the element type is an integer.
        """
        if self in _FILL_VALUES and not (element.is_integer and math.isinf(_FILL_VALUES[self])):
            return _FILL_VALUES[self]
        if self is OutOfBounds.UNDEF:
            return element.traits.largest if element.is_integer else math.nan
        raise LayoutError(
            f"padding of {element.name} cannot hold `{self.value}`", help="integers have undef, zero and one"
        )


_FILL_VALUES = {
    OutOfBounds.ZERO: 0.0,
    OutOfBounds.ONE: 1.0,
    OutOfBounds.INF: math.inf,
    OutOfBounds.NEGINF: -math.inf,
}


class MemorySpace(enum.Enum):
    """The memory of a tensor: host memory, host memory that is mapped to devices, DRAM, or L1 of cores."""

    SYSTEM = "system"
    MMIO = "mmio"
    DRAM = "dram"
    L1 = "l1"


@dataclass(frozen=True)
class ElementAddress:
    """The address of an element; `TensorLayout.addresses` returns arrays of coordinates.

    Attributes:
        core: The coordinates of the core in the layout's virtual grid, which a device maps to physical cores.
        offset: The coordinates in the core's shard.
        tile: The coordinates of the tile in the shard; () if the layout is not tiled.
        byte: The first byte in the core's buffer; of a block float, the byte of its sign and magnitude.
    """

    core: tuple[Any, ...]
    offset: tuple[Any, ...]
    tile: tuple[Any, ...]
    byte: Any


@dataclass(frozen=True)
class TensorLayout:
    """The distribution of a tensor onto a grid of cores, and its layout in their memory.

    Attributes:
        shape: The logical extents, at least 1 each.
        linear: The map from logical to physical indices: every result is a sum of multiples of dimensions.
        grid: Cores along each physical dimension.
        element: The element type in memory, which may differ from the tensor's own.
        tile: The extents of a tile; None: elements are in row-major order.
        out_of_bounds: The value of padding.
        memory_space: The memory.
        memory_layout: One of `MEMORY_LAYOUTS`.

    Raises:
        ShapeError: An extent is no whole number of at least 1.
        LayoutError: Ranks differ, a result is no such sum, two elements have one address, a tile does not consist of
            faces, or the element type lacks the value of padding.
    """

    shape: tuple[int, ...]
    linear: AffineMap
    grid: tuple[int, ...]
    element: ElementFormat = DataType.FLOAT32
    tile: tuple[int, int] | None = None
    out_of_bounds: OutOfBounds = OutOfBounds.UNDEF
    memory_space: MemorySpace = MemorySpace.L1
    memory_layout: str = "none"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", extents_of(self.shape, "a tensor's shape"))
        object.__setattr__(self, "grid", extents_of(self.grid, "a grid"))
        self._check_ranks()
        check_addresses_differ(self.linear, self.shape)
        self._check_tile()
        self.out_of_bounds.fill(self.element)
        if self.memory_layout not in MEMORY_LAYOUTS:
            raise LayoutError(f"a memory layout is one of {', '.join(MEMORY_LAYOUTS)}, got {self.memory_layout!r}")

    def _check_ranks(self) -> None:
        if self.linear.dims != len(self.shape):
            raise LayoutError(
                f"the map `{self.linear}` has {self.linear.dims} dims, and the tensor "
                f"{extents_text(self.shape)} has rank {len(self.shape)}"
            )
        if len(self.linear.results) != len(self.grid):
            raise LayoutError(
                f"the map `{self.linear}` has {len(self.linear.results)} results, and the grid "
                f"<{extents_text(self.grid)}> has rank {len(self.grid)}"
            )

    def _check_tile(self) -> None:
        if self.tile is None:
            if self.element.is_block_float:
                raise LayoutError(
                    f"{self.element.traits.ttcore} elements share exponents and lie in tiles",
                    help="give `tile=(32, 32)`",
                )
            return
        object.__setattr__(self, "tile", two_extents(self.tile, "a tile"))
        if any(extent % min(FACE, extent) for extent in self.tile):
            raise LayoutError(f"a tile is made of faces of at most {FACE}x{FACE}, got {extents_text(self.tile)}")
        if len(self.grid) < 2:
            raise LayoutError(f"tiles divide the last two of the map's results, and `{self.linear}` has one")
        if self.element.is_block_float and self.tile != (TILE_HEIGHT, TILE_WIDTH):
            raise LayoutError(
                f"{self.element.traits.ttcore} is packed in tiles of {TILE_HEIGHT}x{TILE_WIDTH}, got "
                + extents_text(self.tile)
            )

    @property
    def physical_shape(self) -> tuple[int, ...]:
        """The extents of the map's results: one more than the index of the last element."""
        return tuple(last + 1 for last in self.linear.evaluate([extent - 1 for extent in self.shape]))

    @property
    def shard_shape(self) -> tuple[int, ...]:
        """Elements of a core along each dimension, before tiling: the physical extents by the grid, rounding up."""
        return _divided_up(self.physical_shape, self.grid)

    @property
    def memref_shape(self) -> tuple[int, ...]:
        """Extents of a core's buffer in tiles, rounding up, or in elements."""
        return _divided_up(self.shard_shape, self._tile_extents)

    @property
    def buffer_shape(self) -> tuple[int, ...]:
        """Extents of a core's buffer in elements, with padding."""
        return tuple(count * extent for count, extent in zip(self.memref_shape, self._tile_extents, strict=True))

    @property
    def buffer_bytes(self) -> int:
        """Bytes of a core's buffer."""
        return self.element.nbytes(math.prod(self.buffer_shape))

    @property
    def _tile_extents(self) -> tuple[int, ...]:
        return (1,) * (len(self.grid) - 2) + self.tile if self.tile else (1,) * len(self.grid)

    def address(self, *index: int) -> ElementAddress:
        """The address of the element at a logical index.

        Raises:
            ShapeError: The tensor has no such element.
        """
        if len(index) != len(self.shape) or not all(0 <= at < end for at, end in zip(index, self.shape, strict=True)):
            raise ShapeError(f"a tensor of shape {extents_text(self.shape)} has no element at {list(index)}")
        return self.addresses(index)

    def addresses(self, indices: Sequence[Any]) -> ElementAddress:
        """The addresses of arrays of indices, one array per logical dimension. Indices are not checked."""
        physical = self.linear.evaluate(indices)
        core = tuple(at // part for at, part in zip(physical, self.shard_shape, strict=True))
        offset = tuple(at % part for at, part in zip(physical, self.shard_shape, strict=True))
        tile = tuple(at // part for at, part in zip(offset, self._tile_extents, strict=True)) if self.tile else ()
        return ElementAddress(core, offset, tile, self._byte(self._element_number(offset, tile)))

    def _element_number(self, offset: Sequence[Any], tile: Sequence[Any]) -> Any:
        """Among the elements of a core's buffer, as they follow each other in memory."""
        if self.tile is None:
            return _dot(offset, dense_strides(self.memref_shape))
        height, width = self.tile
        rows, columns = min(FACE, height), min(FACE, width)
        row, column = offset[-2] % height, offset[-1] % width
        face = row // rows * (width // columns) + column // columns
        within = (face * rows + row % rows) * columns + column % columns
        return _dot(tile, dense_strides(self.memref_shape)) * (height * width) + within

    def _byte(self, number: Any) -> Any:
        """The byte of an element by its number; a tile of block floats begins with the exponents of its groups."""
        size, count = self.element.itemsize, self.element.traits.elements
        exponents = count // FACE if self.element.is_block_float else 0
        return number // count * size + exponents + number % count * (size - exponents) // count

    def padded_region(self) -> tuple[tuple[tuple[range, ...], ...], ...]:
        """Per physical dimension and core along it, the indices of the buffer that are no element's coordinate.

        If no logical dimension occurs in two results of the map, the padding is exactly these rows, columns and so on.
        Otherwise there is more padding: the elements of `distributed` that have the value of padding.
        """
        return tuple(map(self._padded_along, range(len(self.grid))))

    def _padded_along(self, axis: int) -> tuple[tuple[range, ...], ...]:
        part, size = self.shard_shape[axis], self.buffer_shape[axis]
        reached = _reached_indices(self.linear.results[axis], self.shape)
        firsts = range(0, self.grid[axis] * part, part)
        return tuple(_ranges(at for at in range(size) if at >= part or first + at not in reached) for first in firsts)

    def distributed(self, values: Any) -> Any:
        """The buffers of all cores: a numpy array [*grid, elements in memory order].

        Args:
            values: A numpy array of the tensor's shape; the buffers have its dtype.

        Raises:
            ShapeError: The array has another shape.
            LayoutError: The elements are block floats, which kernels/block_floats/block_floats.py packs.
        """
        import numpy as np

        if values.shape != self.shape:
            raise ShapeError(f"the layout is of a tensor of shape {extents_text(self.shape)}, got {list(values.shape)}")
        shape = (*self.grid, math.prod(self.buffer_shape))
        buffers = np.full(shape, self.out_of_bounds.fill(self.element), values.dtype)
        buffers[self._element_indices()] = values
        return buffers

    def collected(self, buffers: Any) -> Any:
        """The tensor in the buffers of all cores: the inverse of `distributed`."""
        return buffers[self._element_indices()]

    def _element_indices(self) -> tuple[Any, ...]:
        import numpy as np

        if self.element.is_block_float:
            raise LayoutError(
                f"a numpy array has no {self.element.traits.ttcore} elements", help="lay out the float32 numbers"
            )
        addresses = self.addresses(np.indices(self.shape, sparse=True))
        return (*addresses.core, addresses.byte // self.element.itemsize)


def collapsed_dims(rank: int, intervals: Iterable[tuple[int, int]] = ((0, -1),)) -> tuple[tuple[int, ...], ...]:
    """The logical dimensions that are collapsed to each physical one.

    Args:
        rank: The rank of the tensor.
        intervals: Intervals [start, end) of dimensions that are collapsed (`collapseIntervals`); ends below 0 count
            from the rank.

    Raises:
        LayoutError: An interval is out of range or reversed, or begins before the last one ends.
    """
    groups: list[tuple[int, ...]] = []
    done = 0
    for interval in intervals:
        ends = tuple(end + rank if end < 0 else end for end in whole_numbers(interval, "an interval"))
        start, end = ends if len(ends) == 2 else (-1, -1)
        if not done <= start <= end <= rank:
            raise LayoutError(
                f"{tuple(interval)} is not an interval of the dimensions {done} to {rank - 1} of a tensor of rank "
                f"{rank}",
                help="intervals are [start, end) in ascending order; ends below 0 count from the rank",
            )
        groups += [(dim,) for dim in range(done, start)]
        groups += [tuple(range(start, end))] if end > start else []
        done = end
    return (*groups, *((dim,) for dim in range(done, rank)))


def collapsed_text(rank: int, intervals: Iterable[tuple[int, int]] = ((0, -1),)) -> str:
    """The collapsed dimensions in the specification's notation: ``(d0, d1, d2) -> (d0 <> d1, d2)``."""
    results = ", ".join(" <> ".join(f"d{dim}" for dim in group) for group in collapsed_dims(rank, intervals))
    return f"({', '.join(f'd{dim}' for dim in range(rank))}) -> ({results})"


def collapsed_map(
    shape: Iterable[int], intervals: Iterable[tuple[int, int]] = ((0, -1),), *, multiple: int = 1
) -> AffineMap:
    """The map that collapses the dimensions of `intervals` in row-major order.

    Args:
        shape: The logical extents.
        intervals: See `collapsed_dims`.
        multiple: Strides use the last collapsed extent rounded up to a multiple of this: with 32, every index of the
            outer dimensions begins a tile.

    Raises:
        ShapeError: An extent is no whole number of at least 1.
        LayoutError: See `collapsed_dims`.
    """
    extents = extents_of(shape, "a tensor's shape")
    groups = collapsed_dims(len(extents), intervals)
    return AffineMap(len(extents), tuple(_collapsed_dim(group, extents, multiple) for group in groups))


def _collapsed_dim(group: tuple[int, ...], extents: tuple[int, ...], multiple: int) -> Expr:
    inner = [extents[dim] for dim in group[1:]]
    if inner:
        inner[-1] = round_up(inner[-1], multiple)
    strides = (math.prod(inner[index:]) for index in range(len(group)))
    return total(times(Dim(dim), stride) for dim, stride in zip(group, strides, strict=True))


# --- Verification ---------------------------------------------------------------------------------------------------


def extents_of(values: Iterable[object], what: str) -> tuple[int, ...]:
    """`values` as the extents of at least one dimension; errors call them `what`.

    Raises:
        ShapeError: An extent is below 1, or there is none.
        GridError: An extent is no whole number.
    """
    extents = whole_numbers(values, what)
    if not extents or min(extents) < 1:
        raise ShapeError(f"{what} has extents of at least 1, got {list(extents)}")
    return extents


def two_extents(values: Iterable[object], what: str) -> tuple[int, int]:
    """`values` as rows and columns; errors call them `what`.

    Raises:
        ShapeError: There are not two values, or one is below 1.
        GridError: A value is no whole number.
    """
    extents = extents_of(values, what)
    if len(extents) != 2:
        raise ShapeError(f"{what} has rows and columns, got {list(extents)}")
    return extents[0], extents[1]


def extents_text(extents: Iterable[int]) -> str:
    """``2x3x64``."""
    return "x".join(map(str, extents))


def check_addresses_differ(linear: AffineMap, shape: tuple[int, ...]) -> None:
    """Refuse a map that is not proven injective: the index of every dimension must be decodable from sums of multiples.

    Raises:
        LayoutError: Two elements have, or may have, one address.
    """
    sums = [_coefficients(result) for result in linear.results]
    known = {dim for dim, extent in enumerate(shape) if extent == 1}
    while new := {dim for weights in sums for dim in _decoded_dims(weights, shape, known)} - known:
        known |= new
    if lost := sorted(set(range(len(shape))) - known):
        raise LayoutError(
            f"`{linear}` puts elements of {extents_text(shape)} at one address that differ along "
            + ", ".join(f"d{dim}" for dim in lost),
            help="a stride must be at least the extent of the dimensions inside of it: `collapsed_map` makes such maps",
        )


def _coefficients(result: Expr) -> dict[int, int]:
    """The factor of every dimension in a sum of multiples.

    Raises:
        LayoutError: The expression is not such a sum.
    """
    match result:
        case Dim(position):
            return {position: 1}
        case Mul(Dim(position), factor) if factor > 0:
            return {position: factor}
        case Const(0):
            return {}
        case Add(left, right):
            one, other = _coefficients(left), _coefficients(right)
            return {dim: one.get(dim, 0) + other.get(dim, 0) for dim in {**one, **other}}
    raise LayoutError(f"`{expression_text(result)}` is not a sum of multiples of dimensions")


def _decoded_dims(weights: dict[int, int], shape: tuple[int, ...], known: set[int]) -> list[int]:
    """The dimensions whose indices can be decoded from a sum, like the digits of a number, given those of `known`."""
    unknown = sorted((factor, dim) for dim, factor in weights.items() if dim not in known)
    below = 0
    for factor, dim in unknown:
        if factor <= below:
            return []
        below += factor * (shape[dim] - 1)
    return [dim for _, dim in unknown]


def _reached_indices(result: Expr, shape: tuple[int, ...]) -> set[int]:
    reached = {0}
    for dim, factor in _coefficients(result).items():
        reached = {at + factor * index for at in reached for index in range(shape[dim])}
    return reached


def _ranges(numbers: Iterable[int]) -> tuple[range, ...]:
    """Ascending numbers as ranges of consecutive ones."""
    runs = itertools.groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    members = ([number for _, number in run] for _, run in runs)
    return tuple(range(run[0], run[-1] + 1) for run in members)


def _divided_up(extents: Sequence[int], parts: Sequence[int]) -> tuple[int, ...]:
    return tuple(-(-extent // part) for extent, part in zip(extents, parts, strict=True))


def _dot(indices: Sequence[Any], strides: Sequence[int]) -> Any:
    return sum(at * stride for at, stride in zip(indices, strides, strict=True))
