"""Conversions of one slice of rows at a time between an interleaved tensor and a sharded one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.cores.core_sets import shards_in_l1
from ttnn_jit.specs.tensor_spec import (
    CoreCoord,
    CoreRangeSet,
    DataType,
    MemoryConfig,
    ShardOrientation,
    TensorMemoryLayout,
)
from ttnn_jit.ttnn.calling import eager_functions as ttnn
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.transfers import to_memory_config, typecast


@host_function()
def interleaved_to_sharded_partial(
    input_tensor: Tensor,
    grid: CoreCoord | Sequence[int] | CoreRangeSet,
    shard_shape: Sequence[int],
    num_slices: int,
    slice_index: int,
    shard_scheme: TensorMemoryLayout,
    shard_orientation: ShardOrientation,
    output_dtype: DataType | None = None,
) -> Tensor:
    """One of `num_slices` equal slices of the rows of a tensor, sharded (ttnn.interleaved_to_sharded_partial).

    Args:
        input_tensor: The tensor; all dimensions but the last one are merged into rows.
        grid: The core grid, as (columns, rows) or a set of cores.
        shard_shape: Rows and columns of a shard.
        num_slices: Number of slices.
        slice_index: Index of the slice, from 0.
        shard_scheme: Sharding strategy of the result.
        shard_orientation: Order of the shards on the cores.
        output_dtype: Element type of the result; that of the tensor when omitted.

    Returns:
        A tensor [1, 1, rows / num_slices, columns] in L1.

    Raises:
        ShapeError: There is no such slice.
        ArgumentError: An argument has the wrong type.
        GridError, L1CapacityError: The shards do not hold the slice, or a shard does not fit into L1.
    """
    rows, columns = _slice_of(input_tensor, num_slices, slice_index, "interleaved_to_sharded_partial")
    shards = shards_in_l1(grid, shard_shape, shard_scheme, shard_orientation)
    flat = ttnn.reshape(input_tensor, (1, 1, rows * num_slices, columns))
    first = rows * slice_index
    part = ttnn.slice(flat, (0, 0, first, 0), (1, 1, first + rows, columns))
    return to_memory_config(part, shards, output_dtype)


@host_function(without_effect={"the cache keeps its memory config and dtype": "memory_config output_dtype"})
def sharded_to_interleaved_partial(
    input_tensor: Tensor,
    cache_tensor: Tensor,
    num_slices: int,
    slice_index: int,
    *,
    memory_config: MemoryConfig | None = None,
    output_dtype: DataType | None = None,
) -> Tensor:
    """Write a slice of rows into `cache_tensor`, and return that (ttnn.sharded_to_interleaved_partial).

    Args:
        input_tensor: The slice.
        cache_tensor: A tensor of `num_slices` such slices.
        num_slices: Number of slices.
        slice_index: Index of the slice, from 0.
        memory_config: Ignored: `cache_tensor` keeps its memory config.
        output_dtype: Ignored: `cache_tensor` keeps its dtype.

    Raises:
        ShapeError: There is no such slice, or the slice has another shape.
    """
    rows, columns = _slice_of(cache_tensor, num_slices, slice_index, "sharded_to_interleaved_partial")
    if math.prod(input_tensor.shape) != rows * columns or tuple(input_tensor.shape)[-1] != columns:
        raise ShapeError(
            f"sharded_to_interleaved_partial: a slice of {list(cache_tensor.shape)} has {rows} rows of {columns}, and "
            f"the tensor has shape {list(input_tensor.shape)}"
        )
    whole = ttnn.reshape(cache_tensor, (1, 1, rows * num_slices, columns))
    first = rows * slice_index
    part = ttnn.reshape(input_tensor, (1, 1, rows, columns))
    part = part if part.dtype is whole.dtype else typecast(part, whole.dtype)
    written = ttnn.slice_write(whole, part, (0, 0, first, 0), (1, 1, first + rows, columns))
    return ttnn.identity(ttnn.reshape(written, tuple(cache_tensor.shape)), output_tensor=cache_tensor)


def _slice_of(tensor: Tensor, count: int, index: int, name: str) -> tuple[int, int]:
    """The numbers of rows and columns of a slice."""
    shape = tuple(tensor.shape)
    rows = math.prod(shape[:-1])
    if not shape or count < 1 or rows % count or not 0 <= index < count:
        raise ShapeError(f"{name}: the rows of {list(shape)} have no slice {index} of {count} equal ones")
    return rows // count, shape[-1]
