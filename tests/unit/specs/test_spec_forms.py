"""Forms and sizes of specs: together they are the spec."""

import pytest

from ttnn_jit.specs.cores.cores import CoreRange, CoreRangeSet
from ttnn_jit.specs.cores.memory_config import (
    L1_MEMORY_CONFIG,
    BufferType,
    MemoryConfig,
    NdShardSpec,
    ShardOrientation,
    ShardSpec,
    TensorMemoryLayout,
)
from ttnn_jit.specs.spec_forms import form_of, names_of_sizes_in, sizes_in, with_sizes, without_sizes
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

CORES, FEWER = (CoreRangeSet(CoreRange((0, 0), (last, 0))) for last in (7, 3))


def block(shape, shard, cores=CORES, orientation=ShardOrientation.ROW_MAJOR):
    config = MemoryConfig(TensorMemoryLayout.BLOCK_SHARDED, BufferType.L1, ShardSpec(cores, shard, orientation))
    return TensorSpec(shape, DataType.BFLOAT16, Layout.TILE, config)


def nd(shape, shard):
    config = MemoryConfig(buffer_type=BufferType.L1, nd_shard_spec=NdShardSpec(shard, CORES))
    return TensorSpec(shape, DataType.BFLOAT16, Layout.TILE, config)


PAIRS = {
    "dense": (TensorSpec((3, 4), DataType.FLOAT32), TensorSpec((7, 9), DataType.FLOAT32)),
    "in L1": tuple(TensorSpec((rows, 4), DataType.FLOAT32, memory_config=L1_MEMORY_CONFIG) for rows in (3, 40)),
    "strided": tuple(TensorSpec((3, 4), DataType.FLOAT32, strides=strides) for strides in ((1, 3), (-8, 2))),
    "blocks": (block((64, 256), (64, 32)), block((32, 512), (32, 64))),
    "columns of blocks": (
        block((64, 256), (64, 32), orientation=ShardOrientation.COL_MAJOR),
        block((32, 512), (32, 64), orientation=ShardOrientation.COL_MAJOR),
    ),
    "blocks over fewer cores": (block((64, 256), (64, 64), FEWER), block((32, 256), (32, 64), FEWER)),
    "ND shards": (nd((2, 64, 64), (1, 32, 32)), nd((4, 64, 64), (2, 64, 64))),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_specs_of_one_form_differ_in_their_sizes(kind):
    one, other = PAIRS[kind]
    assert form_of(one) is form_of(other) is form_of(without_sizes(one))
    assert with_sizes(one, sizes_in(other)) is other
    assert without_sizes(one) is without_sizes(other)
    assert len(names_of_sizes_in(one, "x")) == len(sizes_in(one))


def test_other_specs_have_other_forms():
    forms = [form_of(one) for one, _ in PAIRS.values()]
    assert len({*forms}) == len(forms)


def test_sizes_have_names():
    assert names_of_sizes_in(PAIRS["strided"][0], "x") == ["x.shape[0]", "x.shape[1]", "x.strides[0]", "x.strides[1]"]
    assert names_of_sizes_in(PAIRS["blocks"][0], "y")[2:] == ["y.shard_shape[0]", "y.shard_shape[1]"]
