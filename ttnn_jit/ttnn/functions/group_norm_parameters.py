"""Functions that prepare arguments of `group_norm` for a chip: masks, weights and biases, and memory configs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.foreign.torch_tensor import require_torch
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.cores.sharding import create_sharded_memory_config
from ttnn_jit.specs.extents.divisors import largest_divisor
from ttnn_jit.specs.extents.extent import computed
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH
from ttnn_jit.specs.tensor_spec import (
    CoreGrid,
    DataType,
    Layout,
    MemoryConfig,
    ShardOrientation,
    ShardStrategy,
    TensorMemoryLayout,
)
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.torch_conversion import check_torch, from_torch

if TYPE_CHECKING:
    import torch


@host_function(observed=False)
def create_group_norm_input_mask(
    num_channel: int, num_groups: int, num_cores_across_channel: int, data_type: DataType = DataType.BFLOAT16
) -> Tensor:
    """A mask per group: ones in the group's columns of the tiles that it spans (ttnn.create_group_norm_input_mask).

    `group_norm` accepts the mask and does not need it, since the number of groups determines it.

    Returns:
        A host tensor [1, num_groups, 32, W] in TILE layout, where W is the width of the tiles that a group may span.

    Raises:
        ArgumentError: An argument is not an integer, or below 1.
        ShapeError: The channels are not divisible by the groups, or the groups by the cores.
    """
    return _mask(num_channel, num_groups, num_cores_across_channel, data_type, inside=1.0)


@host_function(observed=False)
def create_group_norm_input_negative_mask(
    num_channel: int, num_groups: int, num_cores_across_channel: int, data_type: DataType = DataType.BFLOAT16
) -> Tensor:
    """`create_group_norm_input_mask` with zeros and ones exchanged (ttnn.create_group_norm_input_negative_mask)."""
    return _mask(num_channel, num_groups, num_cores_across_channel, data_type, inside=0.0)


def _mask(channels: int, groups: int, cores: int, dtype: DataType, *, inside: float) -> Tensor:
    _check_counts(num_channel=channels, num_groups=groups, num_cores_across_channel=cores)
    if channels % groups or groups % cores:
        raise ShapeError(f"{channels} channels do not make {groups} equal groups on {cores} cores")
    require_torch("create_group_norm_input_mask", "leave the mask out: `group_norm` needs none")
    import torch

    size = channels // groups
    starts = [group % (groups // cores) * size % TILE_WIDTH for group in range(groups)]
    tiles = max(-(-(start + size) // TILE_WIDTH) for start in [*starts, *range(0, channels, size)][: 2 * groups])
    mask = torch.full((1, groups, TILE_HEIGHT, tiles * TILE_WIDTH), 1.0 - inside)
    for group, start in enumerate(starts):
        mask[:, group, :, start : start + size] = inside
    return from_torch(mask, dtype, layout=Layout.TILE)


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ArgumentError(f"`{name}` is {count}, and is at least 1")


@host_function(observed=False)
def create_group_norm_weight_bias_rm(input_tensor: torch.Tensor, num_channels: int, num_cores_x: int) -> torch.Tensor:
    """A weight or bias per channel as rows of 32: one chunk per core, padded with zeros to a multiple of 32.

    Source: ttnn.create_group_norm_weight_bias_rm.

    Returns:
        A torch tensor [1, 1, rows, 32], which `group_norm` takes as `weight` and `bias`.

    Raises:
        ShapeError: The number of elements is not `num_channels`, or not divisible by the cores.
        ArgumentError: `input_tensor` is not a torch tensor, or a number is not an integer, or below 1.
    """
    check_torch(input_tensor, "create_group_norm_weight_bias_rm")
    _check_counts(num_channels=num_channels, num_cores_x=num_cores_x)
    if input_tensor.numel() != num_channels or num_channels % num_cores_x:
        raise ShapeError(
            f"{input_tensor.numel()} elements are not {num_channels} channels in {num_cores_x} equal chunks"
        )
    import torch

    chunks = input_tensor.reshape(num_cores_x, -1)
    padded = torch.nn.functional.pad(chunks, (0, -chunks.shape[1] % TILE_WIDTH))
    return padded.reshape(1, 1, -1, TILE_WIDTH)


@host_function(observed=False)
def get_group_norm_cores_across_channel(
    memory_layout: TensorMemoryLayout, core_grid: CoreGrid, shard_orientation: ShardOrientation | None = None
) -> int:
    """The number of cores that share the channels of a tensor (ttnn.get_group_norm_cores_across_channel).

    Raises:
        ArgumentError: An argument has the wrong type.
    """
    match memory_layout:
        case TensorMemoryLayout.BLOCK_SHARDED:
            return core_grid.x if shard_orientation is ShardOrientation.ROW_MAJOR else core_grid.y
        case TensorMemoryLayout.HEIGHT_SHARDED:
            return 1
        case _:
            return core_grid.x * core_grid.y


@host_function(observed=False)
def determine_expected_group_norm_sharded_config_and_grid_size(
    *,
    device: Device,
    num_channels: int,
    num_groups: int,
    input_nhw: int,
    is_height_sharded: bool,
    is_row_major: bool = False,
) -> tuple[MemoryConfig, CoreGrid]:
    """A sharded memory config for the operand of `group_norm`, and its core grid.

    Rows are distributed over cores; channels are too, unless the config is height sharded.
    Source: ttnn.determine_expected_group_norm_sharded_config_and_grid_size.

    Args:
        device: The device whose cores are used.
        num_channels: A multiple of 32 and of `num_groups`.
        num_groups: Number of groups of channels; no group is split.
        input_nhw: Rows of the operand, rounded up to whole tiles on every core.
        is_height_sharded: Whether each core has all channels of its rows.
        is_row_major: Whether channels are distributed along x; otherwise along y.

    Raises:
        ShapeError: `num_channels` is not such a multiple.
        ArgumentError: A number is not an integer, or below 1.
    """
    _check_counts(num_channels=num_channels, num_groups=num_groups, input_nhw=input_nhw)
    if num_channels % num_groups or num_channels % TILE_WIDTH:
        raise ShapeError(f"{num_channels} channels are no multiple of {TILE_WIDTH} and of {num_groups} groups")
    size = device.compute_with_storage_grid_size()
    along_rows, along_channels = (size.y, size.x) if is_row_major else (size.x, size.y)
    tiles = -(-input_nhw // TILE_HEIGHT)
    row_cores = computed(largest_divisor, tiles, size.x * size.y if is_height_sharded else along_rows)
    channel_cores = 1 if is_height_sharded else _channel_cores(num_channels, num_groups, along_channels)
    shard = tiles // row_cores * TILE_HEIGHT, num_channels // channel_cores
    if is_height_sharded:
        grid = CoreGrid(x=min(along_rows, row_cores), y=math.ceil(row_cores / along_rows))
    else:
        x, y = (channel_cores, row_cores) if is_row_major else (row_cores, channel_cores)
        grid = CoreGrid(x=x, y=y)
    by_rows = is_height_sharded or is_row_major
    config = create_sharded_memory_config(
        (1, 1, *(shard if by_rows else reversed(shard))),
        grid,
        ShardStrategy.HEIGHT if is_height_sharded else ShardStrategy.BLOCK,
        ShardOrientation.ROW_MAJOR if by_rows else ShardOrientation.COL_MAJOR,
        use_height_and_width_as_shard_shape=True,
    )
    return config, grid


def _channel_cores(channels: int, groups: int, at_most: int) -> int:
    """The largest number of cores that gives each whole tiles of whole groups."""
    return max(
        cores
        for cores in range(1, at_most + 1)
        if channels % cores == 0
        and channels // cores % TILE_WIDTH == 0
        and channels // cores % (channels // groups) == 0
    )
