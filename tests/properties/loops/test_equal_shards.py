"""Operands with equal shards on equal cores are accepted together, whatever their kind of sharding."""

from __future__ import annotations

import itertools
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests.unit.frontend.stand_in import lowered
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError, GridError
from ttnn_jit.dialects import print_module
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

KINDS = tuple(ttnn.ShardStrategy)
EXTENTS = (1, 2, 3, 4, 6, 8)
SHAPES = st.builds(
    lambda batch, rows, columns: (*batch, 32 * rows, 32 * columns),
    st.lists(st.sampled_from([1, 2, 3]), max_size=2).map(tuple),
    st.sampled_from(EXTENTS),
    st.sampled_from(EXTENTS),
)


def spec_of(shape, kind, x, y):
    """A spec of whole tiles per core, or None."""
    try:
        config = ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(x=x, y=y), kind)
    except GridError:
        return None
    if any(extent % 32 for extent in config.shard_spec.shape):
        return None
    return TensorSpec(shape, DataType.BFLOAT16, Layout.TILE, config)


@cache
def shardings(shape):
    """Every (kind, cores across, cores down) whose cores hold whole tiles of the shape."""
    return [each for each in itertools.product(KINDS, EXTENTS, EXTENTS) if spec_of(shape, *each) is not None]


def tile_cores(spec, kind, x):
    """The core of every tile, according to ttnn's documentation of each kind."""
    height, width = torch.Size(spec.shape[:-1]).numel() // 32, spec.shape[-1] // 32
    down, across = (extent // 32 for extent in spec.memory_config.shard_spec.shape)
    return {
        (row, column): {
            ttnn.ShardStrategy.BLOCK: (column // across, row // down),
            ttnn.ShardStrategy.HEIGHT: (row // down % x, row // down // x),
            ttnn.ShardStrategy.WIDTH: (column // across % x, column // across // x),
        }[kind]
        for row, column in itertools.product(range(height), range(width))
    }


@settings(deadline=None, max_examples=150)
@given(shape=SHAPES, data=st.data())
def test_jitted_operands_of_two_shardings_are_accepted_exactly_if_every_tile_is_on_the_same_core(shape, data):
    first = data.draw(st.sampled_from(shardings(shape)))
    on_the_same_grid = [each for each in shardings(shape) if each[1:] == first[1:]]
    second = data.draw(st.one_of(st.sampled_from(on_the_same_grid), st.sampled_from(shardings(shape))))
    a, b = spec_of(shape, *first), spec_of(shape, *second)
    if tile_cores(a, first[0], first[1]) == tile_cores(b, second[0], second[1]):
        module = print_module(lowered(lambda x, y: x + y, a, b).module)
        assert first[0].name.lower() + "_sharded" in module
    else:
        with pytest.raises(CompileError, match="sharded differently"):
            lowered(lambda x, y: x + y, a, b)


ALIKE = [
    ((256, 64), 1, 8, ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.BLOCK),
    ((2, 128, 96), 1, 4, ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.BLOCK),
    ((64, 256), 8, 1, ttnn.ShardStrategy.WIDTH, ttnn.ShardStrategy.BLOCK),
    ((2, 32, 64), 1, 1, ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.WIDTH),
    ((32, 32), 1, 1, ttnn.ShardStrategy.BLOCK, ttnn.ShardStrategy.WIDTH),
]


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize(("shape", "x", "y", "one", "other"), ALIKE)
def test_results_of_operands_with_equal_layouts_have_the_layout_of_the_first_eagerly_and_jitted(
    device, shape, x, y, one, other, graph_capture, swap
):
    kinds = (other, one) if swap else (one, other)
    values = [torch.randn(shape, dtype=torch.bfloat16) for _ in kinds]
    tensors = [
        ttnn.from_torch(value, spec=spec_of(shape, kind, x, y), device=device)
        for value, kind in zip(values, kinds, strict=True)
    ]

    @ttnn_jit.jit(graph_capture=graph_capture)
    def f(a, b):
        return ttnn.multiply(ttnn.exp(ttnn.add(a, b)), b)

    eager = ttnn.multiply(ttnn.exp(ttnn.add(*tensors)), tensors[1])
    jitted = f(*tensors)
    assert jitted.memory_config() == eager.memory_config() == tensors[0].memory_config()
    assert torch.equal(jitted.to_torch(), eager.to_torch())
    assert torch.equal(ttnn.add(*tensors).to_torch(), values[0] + values[1])
    assert len(f.explain(*tensors).kernels) == 1


def test_equal_sets_of_cores_in_different_ranges_are_the_same_cores(device):
    whole = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 3))])
    halves = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 1)), ttnn.CoreRange((0, 2), (0, 3))])
    layout = ttnn.TensorMemoryLayout.HEIGHT_SHARDED
    a, b = (
        ttnn.from_torch(
            torch.ones(128, 32),
            layout=ttnn.TILE_LAYOUT,
            device=device,
            memory_config=ttnn.MemoryConfig(layout, ttnn.BufferType.L1, ttnn.ShardSpec(cores, (32, 32))),
        )
        for cores in (whole, halves)
    )
    assert torch.equal(ttnn_jit.jit()(lambda x, y: x + y)(a, b).to_torch(), torch.full((128, 32), 2.0))
