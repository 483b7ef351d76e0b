"""The shards of a convolution's result, computed as in ttnn."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.configs.conv_shards import ConvolutionShards, max_parts
from ttnn_jit.specs.cores.sharding import check_sharding, round_up, shard_cores

HEIGHT, WIDTH, BLOCK = (
    ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
    ttnn.TensorMemoryLayout.WIDTH_SHARDED,
    ttnn.TensorMemoryLayout.BLOCK_SHARDED,
)


def shards(rows, channels, *, grid=(8, 8), is_product=False, tiled=True):
    return ConvolutionShards(rows, channels, is_product, tiled, grid)


def result_config(own, layout, given_config=ttnn.DRAM_MEMORY_CONFIG, **fields):
    return own.config(ttnn.Conv2dConfig(shard_layout=layout, **fields), given_config)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 60000),
    channels=st.integers(1, 2100),
    layout=st.sampled_from([HEIGHT, WIDTH, BLOCK]),
    grid=st.tuples(st.integers(1, 10), st.integers(1, 12)),
    is_product=st.booleans(),
    tiled=st.booleans(),
    transpose_shards=st.booleans(),
    block=st.sampled_from([0, 32, 64, 96]),
)
def test_shards_cover_the_result_and_no_core_is_empty(
    rows, channels, layout, grid, is_product, tiled, transpose_shards, block
):
    own = shards(rows, channels, grid=grid, is_product=is_product, tiled=tiled)
    config = result_config(own, layout, transpose_shards=transpose_shards, act_block_h_override=block)
    stored = (round_up(rows, 32), round_up(channels, 32)) if tiled else (rows, channels)
    check_sharding((1, 1, *stored), config, tiled=tiled)
    cores = shard_cores((1, 1, *stored), config)
    assert len(set(cores)) == len(cores) == config.shard_spec.num_cores() <= grid[0] * grid[1]
    assert config.buffer_type is ttnn.BufferType.L1
    assert layout is WIDTH or config.shard_spec.shape[0] % 32 == 0


@given(count=st.integers(1, 3000), most=st.integers(1, 130), multiple=st.integers(1, 4))
def test_the_number_of_parts_leaves_none_empty(count, most, multiple):
    def is_full(parts):
        size = -(-count // (parts * multiple)) * multiple
        return size * (parts - 1) < count

    assert max_parts(count, most, multiple) == max(
        parts for parts in range(1, most + 1) if parts == 1 or is_full(parts)
    )


@pytest.mark.parametrize(
    ("own", "layout", "cores", "shape"),
    [
        # The first stage of ResNet-50: images of 56 x 56, eight on 12 x 9 cores, sixteen on 8 x 8.
        (shards(8 * 56 * 56, 64, grid=(9, 12)), HEIGHT, 98, [256, 64]),
        (shards(16 * 56 * 56, 64), HEIGHT, 63, [800, 64]),
        (shards(8 * 14 * 14, 1024, is_product=True), BLOCK, 56, [224, 128]),
        (shards(7 * 7, 2048), WIDTH, 64, [64, 32]),
        (shards(14 * 14, 72, tiled=False), HEIGHT, 7, [32, 72]),
        (shards(96, 160, is_product=True), BLOCK, 15, [32, 32]),
        (shards(96, 352, is_product=True), BLOCK, 3, [32, 352]),  # eleven tiles are divisible among one core or eleven
        (shards(96, 352), BLOCK, 18, [32, 64]),
    ],
)
def test_shards_of_known_convolutions(own, layout, cores, shape):
    spec = result_config(own, layout).shard_spec
    assert (spec.num_cores(), list(spec.shape)) == (cores, shape)


def test_a_sharded_input_keeps_its_cores_by_default():
    four = ttnn.create_sharded_memory_config((1, 1, 256, 32), ttnn.CoreGrid(x=4, y=1), ttnn.ShardStrategy.HEIGHT)
    own = shards(196, 64)
    assert result_config(own, None, four).shard_spec == ttnn.ShardSpec(
        four.shard_spec.grid, (64, 64), ttnn.ShardOrientation.ROW_MAJOR
    )
    assert result_config(own, HEIGHT, four, reshard_if_not_optimal=True).shard_spec.num_cores() == 7
    two = ttnn.CoreRangeSet({ttnn.CoreRange((0, 0), (1, 0))})
    assert result_config(own, HEIGHT, override_sharding_config=True, core_grid=two).shard_spec.grid == two
    assert result_config(own, None) is None


def test_an_impossible_layout_of_a_convolution_is_refused():
    with pytest.raises(ArgumentError, match="by height, width or block"):
        result_config(shards(32, 32), ttnn.TensorMemoryLayout.INTERLEAVED)
