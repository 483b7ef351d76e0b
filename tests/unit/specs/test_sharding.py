"""Shard arithmetic: every worked example of ttnn's sharding rules."""

from __future__ import annotations

import numpy as np
import pytest

from ttnn_jit.diagnostics.errors import ArgumentError, GridError
from ttnn_jit.specs.cores.cores import CoreCoord, CoreGrid, CoreRange, CoreRangeSet
from ttnn_jit.specs.cores.memory_config import (
    BufferType,
    MemoryConfig,
    NdShardSpec,
    ShardOrientation,
    ShardSpec,
    ShardStrategy,
    TensorMemoryLayout,
)
from ttnn_jit.specs.cores.shard_distribution import ShardDistributionStrategy, ShardMode
from ttnn_jit.specs.cores.sharding import (
    check_sharding,
    create_sharded_memory_config,
    get_maximal_block_sharding_grid,
    legacy_shard_spec,
    maximal_block_sharding_config,
    nd_shard_counts,
    shard_cores,
)
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

BLOCK, HEIGHT, WIDTH = ShardStrategy.BLOCK, ShardStrategy.HEIGHT, ShardStrategy.WIDTH


def rectangle(x_end, y_end):
    return CoreRangeSet([CoreRange((0, 0), (x_end, y_end))])


@pytest.mark.parametrize(
    ("strategy", "shape", "grid", "shard", "cores"),
    [
        (BLOCK, (1024, 1024), (8, 8), (128, 128), 64),
        (BLOCK, (96, 576), (6, 1), (96, 96), 6),
        (BLOCK, (4, 256, 256), (8, 8), (128, 32), 64),
        (BLOCK, (2, 4, 64, 128), (4, 1), (512, 32), 4),
        (HEIGHT, (2048, 128), (8, 8), (32, 128), 64),
        (HEIGHT, (2, 192, 32), (2, 6), (32, 32), 12),
        (HEIGHT, (256, 64), (1, 8), (32, 64), 8),
        (WIDTH, (128, 2048), (8, 8), (128, 32), 64),
        (WIDTH, (2, 32, 384), (2, 6), (64, 32), 12),
        (WIDTH, (64, 256), (8, 1), (64, 32), 8),
        (BLOCK, (1, 64), (2, 1), (1, 32), 2),
    ],
)
def test_an_even_split_gives_the_shard_of_the_worked_example(strategy, shape, grid, shard, cores):
    config = create_sharded_memory_config(shape, CoreGrid(x=grid[0], y=grid[1]), strategy)
    assert config.memory_layout is TensorMemoryLayout[f"{strategy.name}_SHARDED"]
    assert config.buffer_type is BufferType.L1
    assert config.shard_spec == ShardSpec(rectangle(grid[0] - 1, grid[1] - 1), shard, ShardOrientation.ROW_MAJOR)
    assert config.shard_spec.grid.num_cores() == cores


@pytest.mark.parametrize(("strategy", "shape"), [(BLOCK, (100, 64)), (HEIGHT, (96, 64))])
def test_a_grid_that_does_not_divide_is_refused(strategy, shape):
    with pytest.raises(RuntimeError, match=r"^Invalid sharding core_grid: .* over x=8, y=8\nhelp: rows must divide"):
        create_sharded_memory_config(shape, CoreGrid(x=8, y=8), strategy)


def test_column_major_shards_swap_the_axes_of_a_block():
    config = create_sharded_memory_config((128, 64), CoreGrid(x=4, y=2), BLOCK, ShardOrientation.COL_MAJOR)
    assert config.shard_spec.shape == (32, 32)
    assert shard_cores((128, 64), config)[:3] == (CoreCoord(0, 0), CoreCoord(0, 1), CoreCoord(1, 0))


def test_a_core_range_set_needs_the_shard_itself():
    cores = CoreRangeSet([CoreRange((0, 0), (1, 0)), CoreRange((3, 3), (3, 3))])
    config = create_sharded_memory_config((64, 32), cores, HEIGHT, use_height_and_width_as_shard_shape=True)
    assert config.shard_spec == ShardSpec(cores, (64, 32))
    swapped = create_sharded_memory_config(
        (64, 32), cores, HEIGHT, ShardOrientation.COL_MAJOR, use_height_and_width_as_shard_shape=True
    )
    assert swapped.shard_spec.shape == (32, 64)
    with pytest.raises(ArgumentError, match="CoreRangeSet as core_grid does not say"):
        create_sharded_memory_config((64, 32), cores, HEIGHT)


def test_shards_are_placed_as_ttnn_places_them():
    height = create_sharded_memory_config((2, 192, 32), CoreGrid(x=2, y=6), HEIGHT)
    assert shard_cores((2, 192, 32), height)[160 // 32] == CoreCoord(1, 2)
    block = create_sharded_memory_config((64, 128), CoreGrid(x=4, y=2), BLOCK)
    assert shard_cores((64, 128), block) == tuple(CoreCoord(j, i) for i in range(2) for j in range(4))
    width = create_sharded_memory_config((64, 256), CoreGrid(x=4, y=2), WIDTH)
    assert shard_cores((64, 256), width)[5] == CoreCoord(1, 1)


@pytest.mark.parametrize(
    ("shape", "shard", "used"),
    [
        ((256, 256), (32, 32), (8, 8)),
        ((512, 2048), (64, 256), (8, 8)),
        ((1024, 1024), (128, 128), (8, 8)),
        ((256, 512), (32, 64), (8, 8)),
        ((100, 64), (32, 32), (2, 4)),
    ],
)
def test_a_spec_sharded_over_cores_rounds_shards_up_to_tiles(shape, shard, used):
    spec = TensorSpec(shape, DataType.FLOAT32, Layout.TILE, buffer_type=BufferType.L1).block_sharded(rectangle(7, 7))
    assert spec.memory_config.memory_layout is TensorMemoryLayout.BLOCK_SHARDED
    assert spec.memory_config.shard_spec == ShardSpec(rectangle(used[0] - 1, used[1] - 1), shard)
    check_sharding(spec.padded_shape, spec.memory_config, tiled=True)


def test_a_spec_sharded_by_height_or_width_uses_the_cores_it_needs():
    spec = TensorSpec((96, 64), DataType.FLOAT32, Layout.TILE, buffer_type=BufferType.L1)
    tall, wide = spec.height_sharded(rectangle(1, 1)), spec.width_sharded(CoreRange((0, 0), (1, 0)))
    assert (tall.memory_config.shard_spec.shape, tall.memory_config.shard_spec.grid.num_cores()) == ((32, 64), 3)
    assert (wide.memory_config.shard_spec.shape, wide.memory_config.shard_spec.grid.num_cores()) == ((96, 32), 2)


@pytest.mark.parametrize(
    ("shape", "grid", "shard"),
    [
        ((32, 32), [0, 0], (32, 32)),
        ((96, 576), [5, 2], (32, 96)),
        ((320, 320), [4, 4], (64, 64)),
        ((2, 512, 2048), [7, 7], (128, 256)),
        ((4, 8, 32, 32), [0, 7], (128, 32)),
        ((2, 32, 384), [5, 1], (32, 64)),
        ((1216, 64), [1, 1], (608, 32)),
    ],
)
def test_the_maximal_block_sharding_grid_of_the_worked_example(shape, grid, shard):
    assert get_maximal_block_sharding_grid(shape, (7, 7)) == grid
    config = maximal_block_sharding_config(shape, (7, 7))
    assert config == create_sharded_memory_config(shape, CoreGrid(x=grid[0] + 1, y=grid[1] + 1), BLOCK)
    assert config.shard_spec.shape == shard


def test_the_maximal_grid_of_shapes_that_are_no_whole_tiles():
    assert get_maximal_block_sharding_grid((1, 64), (7, 7)) == [1, 0]
    assert get_maximal_block_sharding_grid((33, 65), (7, 7)) == [2, 1]
    assert get_maximal_block_sharding_grid((), (7, 7)) == [0, 0]
    assert get_maximal_block_sharding_grid((64,), (7, 7)) == [1, 0]
    assert maximal_block_sharding_config((33, 65), (7, 7)) is None


@pytest.mark.parametrize(
    ("shape", "shard", "end", "counts", "cores", "example"),
    [
        ((4, 64, 64), (2, 32, 32), (1, 3), (2, 2, 2), 8, (5, CoreCoord(1, 2))),
        ((8, 64, 64), (2, 32, 32), (3, 3), (4, 2, 2), 16, (6, CoreCoord(2, 1))),
        ((1, 4, 64, 64), (1, 2, 32, 32), (1, 3), (1, 2, 2, 2), 8, (7, CoreCoord(1, 3))),
        ((2, 2, 64, 64), (1, 1, 32, 32), (3, 3), (2, 2, 2, 2), 16, (15, CoreCoord(3, 3))),
        ((4, 64, 64), (1, 32, 32), (1, 3), (4, 2, 2), 8, (13, CoreCoord(1, 2))),
    ],
)
def test_nd_shards_are_distributed_round_robin(shape, shard, end, counts, cores, example):
    spec = NdShardSpec(shard, rectangle(*end))
    config = MemoryConfig(buffer_type=BufferType.L1, nd_shard_spec=spec)
    core_of_shard = shard_cores(shape, config)
    assert nd_shard_counts(shape, spec) == counts
    assert len(set(core_of_shard)) == cores
    assert core_of_shard[example[0]] == example[1]
    check_sharding(shape, config, tiled=True)


@pytest.mark.parametrize(
    ("shape", "shard", "end", "legacy"),
    [
        ((64, 64), (64, 32), (1, 0), (64, 32)),  # as high as the tensor
        ((4, 64, 64), (1, 64, 64), (3, 0), (64, 64)),  # as wide
        ((4, 64, 64), (2, 64, 32), (1, 1), (128, 32)),  # blocks, as many along W as grid columns
        ((4, 64, 64), (2, 64, 32), (3, 0), None),  # four grid columns for two blocks
        ((4, 64, 64), (2, 32, 32), (1, 3), None),  # rows that are not adjacent
        ((4, 64, 64), (1, 32, 32), (1, 3), None),  # two shards on a core
    ],
)
def test_an_nd_spec_has_a_legacy_spec_where_its_shards_are_blocks(shape, shard, end, legacy):
    spec = NdShardSpec(shard, rectangle(*end))
    expected = None if legacy is None else ShardSpec(rectangle(*end), legacy)
    assert legacy_shard_spec(shape, spec) == expected
    config = MemoryConfig(buffer_type=BufferType.L1, nd_shard_spec=spec)
    tensor = TensorSpec(shape, DataType.BFLOAT16, Layout.TILE, config)
    assert tensor.memory_config.shard_spec == expected
    assert tensor.memory_config == config


REFUSED = [
    (HEIGHT, (64, 64), (16, 64), rectangle(3, 0), True, "a shard of 16x64 is not made of whole 32x32 tiles"),
    (HEIGHT, (64, 64), (32, 32), rectangle(3, 0), True, "HEIGHT_SHARDED shards of 32x32 on 4 cores .* 64x64"),
    (HEIGHT, (96, 64), (32, 64), rectangle(1, 0), True, "do not hold a tensor of 96x64"),
    (WIDTH, (64, 96), (64, 32), rectangle(1, 0), True, "WIDTH_SHARDED .* do not hold"),
    (WIDTH, (64, 64), (32, 32), rectangle(1, 0), True, "WIDTH_SHARDED .* do not hold"),
    (BLOCK, (128, 64), (32, 32), rectangle(3, 1), True, r"BLOCK_SHARDED .*x=4, y=2.* do not hold"),
]


@pytest.mark.parametrize(("strategy", "shape", "shard", "cores", "tiled", "text"), REFUSED)
def test_shards_that_do_not_hold_the_tensor_are_refused(strategy, shape, shard, cores, tiled, text):
    layout = TensorMemoryLayout[f"{strategy.name}_SHARDED"]
    with pytest.raises(GridError, match=text):
        check_sharding(shape, MemoryConfig(layout, BufferType.L1, ShardSpec(cores, shard)), tiled=tiled)


def test_row_major_shards_need_no_whole_tiles():
    config = create_sharded_memory_config((1, 64), CoreGrid(x=2, y=1), BLOCK)
    check_sharding((1, 64), config, tiled=False)
    with pytest.raises(GridError, match="1x32"):
        check_sharding((32, 64), config, tiled=True)


def test_a_sharded_config_without_a_spec_is_refused():
    with pytest.raises(RuntimeError, match="has no shard spec"):
        check_sharding((32, 32), MemoryConfig(TensorMemoryLayout.BLOCK_SHARDED, BufferType.L1), tiled=True)


def test_configs_compare_and_hash_by_value():
    grid = CoreGrid(x=2, y=2)
    first, second = (create_sharded_memory_config((64, 64), grid, BLOCK) for _ in range(2))
    assert first == second
    assert len({first, second, MemoryConfig(), MemoryConfig()}) == 2
    assert first.shard_spec == second.shard_spec
    assert MemoryConfig().shard_spec is None
    assert MemoryConfig() == MemoryConfig(TensorMemoryLayout.INTERLEAVED, BufferType.DRAM)
    a, b = CoreRange((0, 0), (1, 0)), CoreRange((0, 1), (1, 1))
    assert CoreRangeSet([a, b]) == CoreRangeSet({b, a})
    assert CoreRangeSet([a]).bounding_box().grid_size() == CoreCoord(2, 1)


def test_numbers_of_numpy_are_whole_numbers_too():
    two, tile = np.int64(2), np.int32(32)
    cores = CoreRangeSet(CoreRange((np.int64(0), 0), (np.int64(1), 1)))
    assert cores == CoreRangeSet(CoreRange((0, 0), (1, 1)))
    assert CoreGrid(x=two, y=two) == CoreGrid(x=2, y=2)
    assert ShardSpec(cores, (tile, tile)) == ShardSpec(cores, (32, 32))
    assert type(cores.bounding_box().end.x) is type(ShardSpec(cores, (tile, tile)).shape[0]) is int


def test_enums_print_their_class_and_member():
    for member in (DataType.BFLOAT16, Layout.TILE, *TensorMemoryLayout, *BufferType, *ShardStrategy, *ShardOrientation):
        assert str(member) == f"{type(member).__name__}.{member.name}"


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        (
            DataType,
            {
                "BFLOAT16": 0,
                "FLOAT32": 1,
                "UINT32": 2,
                "BFLOAT8_B": 3,
                "BFLOAT4_B": 4,
                "UINT8": 5,
                "UINT16": 6,
                "INT32": 7,
            },
        ),
        (Layout, {"ROW_MAJOR": 0, "TILE": 1}),
        (
            TensorMemoryLayout,
            {"INTERLEAVED": 0, "HEIGHT_SHARDED": 2, "WIDTH_SHARDED": 3, "BLOCK_SHARDED": 4, "ND_SHARDED": 5},
        ),
        (BufferType, {"DRAM": 0, "L1": 1, "SYSTEM_MEMORY": 2, "L1_SMALL": 3, "TRACE": 4}),
        (ShardOrientation, {"ROW_MAJOR": 0, "COL_MAJOR": 1}),
        (ShardStrategy, {"HEIGHT": 1, "WIDTH": 2, "BLOCK": 3}),
    ],
)
def test_the_numbers_of_enums_are_those_of_ttnn(kind, numbers):
    assert {member.name: member.value for member in kind} == numbers


def test_shards_are_distributed_in_turn_and_other_strategies_are_refused():
    cores = CoreRangeSet({CoreRange(CoreCoord(0, 0), CoreCoord(1, 1))})
    in_turn = ShardDistributionStrategy.ROUND_ROBIN_1D
    spec = NdShardSpec([1, 32, 32], cores, ShardOrientation.ROW_MAJOR, in_turn)
    assert spec.shard_distribution_strategy is in_turn
    assert spec == NdShardSpec([1, 32, 32], cores)
    with pytest.raises(GridError, match=r"not by ShardDistributionStrategy.GRID_2D\nhelp: leave"):
        NdShardSpec([1, 32, 32], cores, shard_distribution_strategy=ShardDistributionStrategy.GRID_2D)
    with pytest.raises(ArgumentError, match=r"`shard_distribution_strategy` must be a ttnn.ShardDistributionStrategy"):
        NdShardSpec([1, 32, 32], cores, shard_distribution_strategy="in turn")


def test_shards_that_are_not_parts_of_the_stored_tensor_are_refused():
    cores = CoreRangeSet({CoreRange(CoreCoord(0, 0), CoreCoord(1, 1))})
    spec = ShardSpec(cores, [32, 64], ShardOrientation.ROW_MAJOR, ShardMode.PHYSICAL)
    assert spec.mode is ShardMode.PHYSICAL
    assert spec == ShardSpec(cores, [32, 64])
    with pytest.raises(GridError, match=r"and not ShardMode.LOGICAL\nhelp: leave `shard_mode` out"):
        ShardSpec(cores, [10, 64], shard_mode=ShardMode.LOGICAL)
    with pytest.raises(ArgumentError, match=r"`shard_mode` must be a ttnn.ShardMode"):
        ShardSpec(cores, [32, 64], shard_mode="physical")
