"""Tensor types print with tt-mlir's `#ttnn.ttnn_layout`, and round trip to their spec."""

import pytest
from xdsl.dialects.builtin import Float80Type, TensorType, f32

from ttnn_jit.diagnostics.errors import LayoutError
from ttnn_jit.dialects import parse_module
from ttnn_jit.dialects.layout import dtype_of, layout_attribute, spec_of, tensor_type
from ttnn_jit.dialects.ttcore import tile_type
from ttnn_jit.specs.cores.memory_config import L1_MEMORY_CONFIG
from ttnn_jit.specs.cores.sharding import create_sharded_memory_config
from ttnn_jit.specs.tensor_spec import (
    HOST_MEMORY_CONFIG,
    BufferType,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
    NdShardSpec,
    ShardOrientation,
    ShardSpec,
    ShardStrategy,
    TensorMemoryLayout,
    TensorSpec,
)

BF16, F32 = DataType.BFLOAT16, DataType.FLOAT32
DRAM = "#ttnn.buffer_type<dram>"
L1 = "#ttnn.buffer_type<l1>"
HOST = "#ttnn.buffer_type<system_memory>"


def sharded(shape: tuple[int, ...], x: int, y: int, strategy: ShardStrategy, **fields: ShardOrientation) -> TensorSpec:
    config = create_sharded_memory_config(shape, CoreGrid(x=x, y=y), strategy, **fields)
    return TensorSpec(shape, BF16, Layout.TILE, config)


CASES = [
    (
        TensorSpec((32, 64), BF16, Layout.TILE),
        f"(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, {DRAM}>, <interleaved>",
    ),
    (
        TensorSpec((2, 3, 33, 65), F32, Layout.TILE, L1_MEMORY_CONFIG),
        f"(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3), <1x1>, "
        f"memref<12x3x!ttcore.tile<32x32, f32>, {L1}>, <interleaved>",
    ),
    (
        TensorSpec((4, 32, 32), BF16, Layout.TILE),
        f"(d0, d1, d2) -> (d0 * 32 + d1, d2), <1x1>, memref<4x1x!ttcore.tile<32x32, bf16>, {DRAM}>, <interleaved>",
    ),
    (
        TensorSpec((40,), F32, Layout.TILE),
        f"(d0) -> (0, d0), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, {DRAM}>, <interleaved>",
    ),
    (
        TensorSpec((), F32, Layout.TILE),
        f"() -> (0, 0), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, {DRAM}>, <interleaved>",
    ),
    (
        TensorSpec((), F32, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG),
        f"() -> (), <1x1>, memref<f32, {HOST}>, <interleaved>",
    ),
    (
        TensorSpec((7,), F32, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG),
        f"(d0) -> (0, d0), <1x1>, memref<1x7xf32, {HOST}>, <interleaved>",
    ),
    (
        TensorSpec((5, 7), F32, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG),
        f"(d0, d1) -> (d0, d1), <1x1>, memref<5x7xf32, {HOST}>, <interleaved>",
    ),
    (
        TensorSpec((2, 0, 7), F32, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG),
        f"(d0, d1, d2) -> (d1, d2), <1x1>, memref<0x7xf32, {HOST}>, <interleaved>",
    ),
    (
        TensorSpec((5, 7), F32, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG, strides=(1, 5)),
        f"(d0, d1) -> (d0, d1), <1x1>, memref<5x7xf32, strided<[1, 5]>, {HOST}>, <interleaved>",
    ),
    (
        TensorSpec((5, 7), BF16, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG, strides=(0, -1)),
        f"(d0, d1) -> (d0, d1), <1x1>, memref<5x7xbf16, strided<[0, -1]>, {HOST}>, <interleaved>",
    ),
    (
        sharded((64, 128), 4, 2, ShardStrategy.BLOCK),
        f"(d0, d1) -> (d0, d1), <2x4>, memref<1x1x!ttcore.tile<32x32, bf16>, {L1}>, <block_sharded>",
    ),
    (
        sharded((128, 64), 4, 2, ShardStrategy.BLOCK, orientation=ShardOrientation.COL_MAJOR),
        f"(d0, d1) -> (d0, d1), <4x2, (d0, d1) -> (0, d1, d0)>, "
        f"memref<1x1x!ttcore.tile<32x32, bf16>, {L1}>, <block_sharded>",
    ),
    (
        sharded((2048, 128), 8, 8, ShardStrategy.HEIGHT),
        f"(d0, d1) -> (d0, d1), <64x1>, memref<1x4x!ttcore.tile<32x32, bf16>, {L1}>, <height_sharded>, "
        "core_ranges = <[#ttnn.core_range<(0,0), (7,7)>]>",
    ),
    (
        sharded((64, 256), 8, 1, ShardStrategy.WIDTH),
        f"(d0, d1) -> (d0, d1), <1x8>, memref<2x1x!ttcore.tile<32x32, bf16>, {L1}>, <width_sharded>, "
        "core_ranges = <[#ttnn.core_range<(0,0), (7,0)>]>",
    ),
    (
        TensorSpec(
            (96, 32),
            BF16,
            Layout.TILE,
            MemoryConfig(
                TensorMemoryLayout.HEIGHT_SHARDED,
                BufferType.L1,
                ShardSpec(CoreRangeSet([CoreRange((0, 0), (1, 0)), CoreRange((0, 1), (0, 1))]), (32, 32)),
            ),
        ),
        f"(d0, d1) -> (d0, d1), <3x1>, memref<1x1x!ttcore.tile<32x32, bf16>, {L1}>, <height_sharded>, "
        "core_ranges = <[#ttnn.core_range<(0,0), (1,0)>, #ttnn.core_range<(0,1), (0,1)>]>",
    ),
    (
        TensorSpec(
            (2, 96, 64),
            BF16,
            Layout.TILE,
            MemoryConfig(
                buffer_type=BufferType.L1,
                nd_shard_spec=NdShardSpec((1, 32, 64), CoreRangeSet(CoreRange((0, 0), (3, 0)))),
            ),
        ),
        f"(d0, d1, d2) -> (d0 * 96 + d1, d2), <1x1>, memref<6x2x!ttcore.tile<32x32, bf16>, {L1}>, <nd_sharded>, "
        "core_ranges = <[#ttnn.core_range<(0,0), (3,0)>]>, nd_shard = <1x32x64>",
    ),
]


@pytest.mark.parametrize(("spec", "text"), CASES, ids=[repr(spec) for spec, _ in CASES])
def test_a_layout_prints_its_rule(spec: TensorSpec, text: str) -> None:
    assert str(layout_attribute(spec)) == f"#ttnn.ttnn_layout<{text}>"


@pytest.mark.parametrize("spec", [spec for spec, _ in CASES], ids=repr)
def test_a_tensor_type_and_its_text_give_the_spec_back(spec: TensorSpec) -> None:
    assert spec_of(tensor_type(spec)) is spec
    module = parse_module(f"func.func @f(%a: {tensor_type(spec)}) {{\n  return\n}}")
    (function,) = module.body.block.ops
    (parsed,) = function.regions[0].block.args
    assert spec_of(parsed.type) is spec


def test_the_type_of_a_spec_is_made_once() -> None:
    spec = TensorSpec((32, 32), BF16, Layout.TILE)
    assert tensor_type(spec) is tensor_type(spec)


def test_a_tensor_without_a_layout_has_no_spec() -> None:
    with pytest.raises(LayoutError, match="is no tensor with a") as raised:
        spec_of(TensorType(f32, [3]))
    assert "write the layout into the type" in raised.value.help


def test_a_dtype_is_read_from_tiles_and_containers() -> None:
    assert dtype_of(tile_type(BF16)) is BF16
    assert dtype_of(tensor_type(TensorSpec((3,), F32))) is F32
    assert dtype_of(layout_attribute(TensorSpec((32, 32), BF16, Layout.TILE)).memref) is BF16
    with pytest.raises(LayoutError, match="f80 has no element type known here"):
        dtype_of(Float80Type())
