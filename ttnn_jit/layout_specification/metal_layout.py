"""Geometry of `#ttcore.metal_layout`: how a tensor is padded, collapsed, and split over a grid of cores.

A tensor's logical indices become indices of its physical shape: dimensions of one interval are collapsed into one, from
the innermost outwards, and after each step the extent is padded to a multiple of the dimension's alignment. The
physical shape is split evenly over the grid: device indices are those of the core, then those within its shard. A tiled
tensor's indices are those of tiles.

The definitions are those of `MetalLayoutAttr` of tt-mlir (``TTCoreOpsTypes.cpp``, ``TTCore/Utils/AffineMapUtils.cpp``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import LayoutError
from ttnn_jit.layout_specification.affine_map import AffineMap
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.access.index_expressions import Const, Dim, Expr, divided, remainder, times, total

TILE = (32, 32)
"""The extents of a tile."""

Interval = tuple[int, int]
"""The first collapsed dimension, and the one behind the last."""


@dataclass(frozen=True)
class MetalLayout:
    """Extents, alignments and intervals of a layout.

    Attributes:
        logical_shape: The extents of the tensor.
        dim_alignments: What each extent is padded to a multiple of.
        intervals: The dimensions that are collapsed into one, as the attribute says them: those behind are single.
    """

    logical_shape: tuple[int, ...]
    dim_alignments: tuple[int, ...]
    intervals: tuple[Interval, ...]

    @property
    def normalized_intervals(self) -> tuple[Interval, ...]:
        """One interval for each physical dimension; (0, 0) for the row that a tensor of one dimension gets."""
        rank = len(self.logical_shape)
        pairs = sorted((start + rank * (start < 0), end + rank * (end < 0)) for start, end in self.intervals)
        covered = max((end for _, end in pairs), default=0)
        found = [*pairs, *((dim, dim + 1) for dim in range(covered, rank))]
        return ((0, 0), *found) if rank == 1 and len(found) == 1 else tuple(found)

    def physical_shape(self, tile: Sequence[int] = ()) -> tuple[int, ...]:
        """The padded and collapsed shape, in tiles of `tile`.

        Raises:
            LayoutError: Tiles do not divide it.
        """
        found = [self._collapsed_extent(start, end) for start, end in self.normalized_intervals if end > start]
        if not self.logical_shape:
            found = [*TILE]
        if len(self.logical_shape) == 1:
            found = [TILE[0], *found]
        if tile:
            if len(found) < len(tile) or any(extent % unit for extent, unit in zip(found[-2:], tile, strict=True)):
                raise LayoutError(f"tiles of {'x'.join(map(str, tile))} do not divide the physical shape {found}")
            found[-2:] = [extent // unit for extent, unit in zip(found[-2:], tile, strict=True)]
        return tuple(found)

    def device_shape(self, grid: Sequence[int], tile: Sequence[int] = ()) -> tuple[int, ...]:
        """The grid, then the extents of a core's shard.

        Raises:
            LayoutError: The grid does not divide the physical shape.
        """
        physical = self.physical_shape(tile)
        fits = len(grid) == len(physical)
        if not fits or any(cores < 1 or extent % cores for extent, cores in zip(physical, grid, strict=True)):
            raise LayoutError(f"a grid of {[*grid]} does not divide the physical shape {[*physical]}")
        return (*grid, *(extent // cores for extent, cores in zip(physical, grid, strict=True)))

    def device_to_logical(self, grid: Sequence[int]) -> AffineMap:
        """The logical indices of elements by their device indices; those of padding are no indices of the tensor."""
        physical = self.physical_shape()
        rank = len(physical)
        shards = [extent // cores for extent, cores in zip(physical, grid, strict=True)]
        indices = [total((times(Dim(at), shards[at]), Dim(rank + at))) for at in range(rank)]
        expanded: list[Expr] = [Const(0)] * len(self.logical_shape)
        for (start, end), index in zip(self.normalized_intervals, indices, strict=True):
            for dim, each in zip(range(start, end), self._expanded(index, start, end), strict=True):
                expanded[dim] = each
        return AffineMap(2 * rank, tuple(expanded))

    def logical_to_device(self, grid: Sequence[int]) -> AffineMap:
        """The device indices of elements by their logical indices."""
        physical = self.physical_shape()
        indices = []
        for start, end in self.normalized_intervals:
            strides = self._strides(start, end)
            indices.append(
                total(times(Dim(dim), stride) for dim, stride in zip(range(start, end), strides, strict=True))
            )
        shards = [extent // cores for extent, cores in zip(physical, grid, strict=True)]
        cores = [divided(index, shard) for index, shard in zip(indices, shards, strict=True)]
        within = [remainder(index, shard) for index, shard in zip(indices, shards, strict=True)]
        return AffineMap(len(self.logical_shape), (*cores, *within))

    def _collapsed_extent(self, start: int, end: int) -> int:
        extent = 1
        for dim in reversed(range(start, end)):
            extent = _aligned(self.logical_shape[dim] * extent, self.dim_alignments[dim])
        return extent

    def _strides(self, start: int, end: int) -> list[int]:
        """How many physical indices one logical index is, for each dimension of an interval."""
        return [self._collapsed_extent(dim + 1, end) for dim in range(start, end)]

    def _expanded(self, index: Expr, start: int, end: int) -> list[Expr]:
        """The logical indices of an index of collapsed dimensions."""
        if end - start <= 1:
            return [index] * (end - start)
        strides = self._strides(start, end)
        found = [divided(index, strides[0])]
        for at in range(1, end - start - 1):
            found.append(remainder(divided(index, strides[at]), strides[at - 1] // strides[at]))
        return [*found, remainder(index, _aligned(self.logical_shape[end - 1], self.dim_alignments[end - 1]))]


def transform_map(
    source: MetalLayout, source_grid: Sequence[int], result: MetalLayout, grid: Sequence[int]
) -> AffineMap:
    """The device indices in `source` of elements by those in `result`, over the logical indices that both share.

    Raises:
        LayoutError: The layouts are those of tensors of different shapes.
    """
    if source.logical_shape != result.logical_shape:
        raise LayoutError(f"a tensor of shape {[*source.logical_shape]} has no layout of {[*result.logical_shape]}")
    return source.logical_to_device(source_grid).compose(result.device_to_logical(grid))


def reblock_map(source: Sequence[int], result: Sequence[int]) -> AffineMap:
    """The device indices in a tensor of shape `source` by those in `result`.

    Both have the same elements in row-major order of their physical indices: of a dimension of the grid the shard's.

    Raises:
        LayoutError: The shapes have other numbers of elements.
    """
    if math.prod(source) != math.prod(result):
        raise LayoutError(f"{[*result]} has not the elements of {[*source]}")
    if tuple(source) == tuple(result):
        return AffineMap.identity(len(result))
    strides = _physical_strides(result)
    terms = [times(Dim(at), strides[at]) for at in reversed(_physical_order(len(result))) if result[at] > 1]
    flat = total(terms)
    indices = []
    for at, stride in enumerate(_physical_strides(source)):
        index = divided(flat, stride)
        indices.append(index if at == 0 and source[0] != 1 else remainder(index, source[at]))
    return AffineMap(len(result), tuple(indices))


def _physical_order(rank: int) -> list[int]:
    """The device dimensions, the outermost first: that of the grid, then that of the shard, for each physical one."""
    return [at for dim in range(rank // 2) for at in (dim, rank // 2 + dim)]


def _physical_strides(shape: Sequence[int]) -> list[int]:
    """How many elements one step along each device dimension is, in row-major order of physical indices."""
    order = _physical_order(len(shape))
    return [math.prod(shape[each] for each in order[order.index(at) + 1 :]) for at in range(len(shape))]


# --- Grids that are larger than the device, or of another rank --------------------------------------------------------


def needs_virtual_grid(grid: Sequence[int], device: Sequence[int]) -> bool:
    """Whether a grid does not lie on the cores of a device as it is."""
    return len(grid) != 2 or any(cores > most for cores, most in zip(grid, device, strict=True))


def physical_grid(cores: int, device: Sequence[int]) -> tuple[int, int]:
    """The grid of so many cores on a device, as square as can be.

    Raises:
        LayoutError: The device has none.
    """
    for rows in range(math.isqrt(cores), 0, -1):
        for found in ((rows, cores // rows), (cores // rows, rows)):
            if rows * (cores // rows) == cores and found[0] <= device[0] and found[1] <= device[1]:
                return found
    raise LayoutError(f"a device of {device[0]}x{device[1]} cores has no grid of {cores} cores")


def core_maps(virtual: Sequence[int], physical: Sequence[int]) -> tuple[AffineMap, AffineMap]:
    """Device indices on the physical grid by those on the virtual one, and the virtual core of a physical one."""
    rank = len(virtual)
    forward = _expanded_core(_row_major(virtual), physical)
    inverse = _expanded_core(_row_major(physical), virtual)
    return (
        AffineMap(2 * rank, (*forward, *(Dim(rank + at) for at in range(rank)))),
        AffineMap(2, (Const(0), *inverse)),
    )


def _row_major(grid: Sequence[int]) -> Expr:
    return total(times(Dim(at), math.prod(grid[at + 1 :])) for at in reversed(range(len(grid))))


def _expanded_core(core: Expr, grid: Sequence[int]) -> list[Expr]:
    return [remainder(divided(core, math.prod(grid[at + 1 :])), extent) for at, extent in enumerate(grid)]


def _aligned(extent: int, unit: int) -> int:
    return -(-extent // unit) * unit
