"""Tensors of a device, as they lie on its cores: padded, collapsed and split, in calls of operations.

Such a tensor has the dimensions of the grid, then those of a core's shard; of a tensor of tiles also the two within a
tile. Padding is zeros where a tensor comes from the host; a copy of other padding has any of its elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir.affine import AffineMap

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.frontend.ir.ops_of_text import OpsOfText
from ttnn_jit.layout_specification.metal_layout import TILE, MetalLayout
from ttnn_jit.ops.families.decomposition import Value
from ttnn_jit.ops.families.text_operation import DenseNumbers
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.tensor_spec import TensorSpec

_FACE = 16
"""Rows and columns of a face: a tile is stored as four of them, each in row-major order."""


def to_physical(ops: OpsOfText, x: Value, layout: MetalLayout) -> Value:
    """A tensor padded and collapsed as its layout says; the padding is zeros."""
    padded = layout.physical_shape()
    if not x.shape:
        x = ops.reshaped(x, (1,) * len(padded))
        return _padded_to(ops, x, padded)
    for start, end in reversed([each for each in layout.normalized_intervals if each[1] > each[0]]):
        for dim in reversed(range(start, end)):
            x = _padded_along(ops, x, dim, _aligned(x.shape[dim], layout.dim_alignments[dim]))
            if dim > start:
                x = ops.reshaped(x, (*x.shape[: dim - 1], x.shape[dim - 1] * x.shape[dim], *x.shape[dim + 1 :]))
    if len(layout.logical_shape) == 1:
        x = ops.reshaped(x, (1, *x.shape))
    return _padded_to(ops, x, padded)


def to_logical(ops: OpsOfText, x: Value, layout: MetalLayout) -> Value:
    """The tensor whose padded and collapsed elements `x` has."""
    shape = layout.logical_shape
    if len(shape) < 2:
        for dim, extent in enumerate(x.shape):
            x = ops.part(x, dim, 0, shape[0] if shape and dim == len(x.shape) - 1 else min(extent, 1))
        return ops.reshaped(x, shape)
    intervals = [each for each in layout.normalized_intervals if each[1] > each[0]]
    for start, end in intervals:  # dimensions before `start` are logical ones by now
        for dim in range(start, end):
            inner = math.prod(_collapsed(layout, dim + 1, end))
            if dim + 1 < end:
                x = ops.part(x, dim, 0, shape[dim] * inner)
                x = ops.reshaped(x, (*x.shape[:dim], shape[dim], inner, *x.shape[dim + 1 :]))
            else:
                x = ops.part(x, dim, 0, shape[dim])
    return x


def _collapsed(layout: MetalLayout, start: int, end: int) -> tuple[int, ...]:
    """The physical extent of dimensions of one interval; () of none."""
    if start >= end:
        return ()
    part = MetalLayout(layout.logical_shape[start:end], layout.dim_alignments[start:end], ((0, end - start),))
    return part.physical_shape()[-1:]


def split(ops: OpsOfText, x: Value, grid: Sequence[int]) -> Value:
    """A physical tensor split over a grid."""
    rank = len(grid)
    inner = x.shape[rank:]
    shape = [each for extent, cores in zip(x.shape, grid, strict=False) for each in (cores, extent // cores)]
    x = ops.reshaped(x, (*shape, *inner))
    return permuted(ops, x, (*range(0, 2 * rank, 2), *range(1, 2 * rank, 2), *range(2 * rank, len(x.shape))))


def joined(ops: OpsOfText, x: Value, rank: int) -> Value:
    """The physical tensor of one that is split over a grid of `rank` dimensions."""
    order = [each for dim in range(rank) for each in (dim, rank + dim)]
    shape = [x.shape[dim] * x.shape[rank + dim] for dim in range(rank)]
    inner = x.shape[2 * rank :]
    return ops.reshaped(permuted(ops, x, (*order, *range(2 * rank, len(x.shape)))), (*shape, *inner))


def tilized(ops: OpsOfText, x: Value, dtype: DataType) -> Value:
    """The tiles of the last two dimensions, rounded as tiles of a type are."""
    *outer, rows, columns = x.shape
    if rows % TILE[0] or columns % TILE[1]:
        raise ShapeError(f"a block of {rows}x{columns} elements has no whole tiles")
    count = len(outer)
    x = ops.reshaped(x, (*outer, rows // TILE[0], TILE[0], columns // TILE[1], TILE[1]))
    x = permuted(ops, x, (*range(count), count, count + 2, count + 1, count + 3))
    return in_tiles(ops, x, dtype)


def in_tiles(ops: OpsOfText, x: Value, dtype: DataType) -> Value:
    """Tiles with elements of a type; those of block floats are held as the numbers of their compute type."""
    if not dtype.is_block_float:
        return ops.rounded(x, dtype)
    return ops.rounded(ops.rounded(x, dtype), dtype.unpacked)


def untilized(ops: OpsOfText, x: Value) -> Value:
    """The elements of tiles, which have the last four dimensions."""
    *outer, rows, columns, height, width = x.shape
    count = len(outer)
    x = permuted(ops, x, (*range(count), count, count + 2, count + 1, count + 3))
    return ops.reshaped(x, (*outer, rows * height, columns * width))


def stored_order(ops: OpsOfText, x: Value) -> Value:
    """Tiles whose elements are in the order in which a tile is stored: face by face."""
    count = len(x.shape) - 2
    x = ops.reshaped(x, (*x.shape[:-2], TILE[0] // _FACE, _FACE, TILE[1] // _FACE, _FACE))
    x = permuted(ops, x, (*range(count), count, count + 2, count + 1, count + 3))
    return ops.reshaped(x, (*x.shape[:count], *TILE))


def row_order(ops: OpsOfText, x: Value) -> Value:
    """The inverse of `stored_order`."""
    count = len(x.shape) - 2
    x = ops.reshaped(x, (*x.shape[:-2], TILE[0] // _FACE, TILE[1] // _FACE, _FACE, _FACE))
    x = permuted(ops, x, (*range(count), count, count + 2, count + 1, count + 3))
    return ops.reshaped(x, (*x.shape[:count], *TILE))


def seen_by(ops: OpsOfText, x: Value, remapping: AffineMap, shape: Sequence[int], inner: int) -> Value:
    """A tensor seen by a map from the indices of the view to its own.

    Args:
        ops: Makes the calls.
        x: The tensor.
        remapping: The map; an index that the tensor does not have, which padding may have, is the nearest one.
        shape: The extents of the view, without those of a tile.
        inner: How many dimensions are within a tile.
    """
    own, rest = x.shape[: len(x.shape) - inner], x.shape[len(x.shape) - inner :]
    indices = np.indices(tuple(shape), dtype=np.int64)
    found = [np.broadcast_to(each.eval([*indices], []), shape) for each in remapping.results]
    clipped = [np.clip(each, 0, extent - 1) for each, extent in zip(found, own, strict=True)]
    flat = np.ravel_multi_index(clipped, own)
    if np.array_equal(flat.ravel(), np.arange(math.prod(own))):
        return ops.reshaped(x, (*shape, *rest))
    if math.prod(own) == math.prod(shape) and np.array_equal(_physical(flat), _physical_numbers(own)):
        whole = joined(ops, x, len(own) // 2)
        rank = len(shape) // 2
        extents = [shape[dim] * shape[rank + dim] for dim in range(rank)]
        return split(ops, ops.reshaped(whole, (*extents, *rest)), tuple(shape)[:rank])
    rows = ops.reshaped(x, (math.prod(own), math.prod(rest)))
    numbers = DenseNumbers((flat.size,), tuple(flat.ravel().tolist()))
    spec = TensorSpec((flat.size,), DataType.INT32, x.spec.layout, x.spec.memory_config)
    return ops.reshaped(ops.embedding(ops.constant(numbers, spec), rows), (*shape, *rest))


def _physical(
    device: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The elements of a tensor of a device in row-major order of physical indices."""
    rank = device.ndim // 2
    return device.transpose([each for dim in range(rank) for each in (dim, rank + dim)]).ravel()


def _physical_numbers(shape: Sequence[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The row-major numbers of a tensor's elements in row-major order of physical indices."""
    return _physical(np.arange(math.prod(shape), dtype=np.int64).reshape(tuple(shape)))


def permuted(ops: OpsOfText, x: Value, order: Sequence[int]) -> Value:
    """A tensor with its dimensions in another order; itself if that is theirs."""
    return x if [*order] == [*range(len(order))] else ops.permute(x, tuple(order))


def _padded_to(ops: OpsOfText, x: Value, shape: Sequence[int]) -> Value:
    for dim, extent in enumerate(shape):
        x = _padded_along(ops, x, dim, extent)
    return x


def _padded_along(ops: OpsOfText, x: Value, dim: int, extent: int) -> Value:
    if x.shape[dim] == extent:
        return x
    padding = [(0, 0)] * len(x.shape)
    padding[dim] = (0, extent - x.shape[dim])
    return ops.pad(x, tuple(padding), 0.0)


def _aligned(extent: int, unit: int) -> int:
    return -(-extent // unit) * unit
