import pytest

from tests.unit.transforms.ttnn_modules import F32, Graph, kernels, lowered, row_major, tiled
from ttnn_jit.dialects import print_module
from ttnn_jit.transforms.kernels.blocks import block_tiles, dst_tiles
from ttnn_jit.transforms.kernels.iteration_space import TileAccess, TileBroadcast, core_grid, iteration_space


def _access(operand, result):
    return iteration_space((operand,), result).operands[0]


@pytest.mark.parametrize(
    ("shape", "tiles"),
    [
        ((), (1, 1)),
        ((5,), (1, 1)),
        ((64, 100), (2, 4)),
        ((3, 40, 32), (6, 1)),
        ((0, 7), (1, 1)),
        ((2, 3, 5, 7), (6, 1)),
    ],
)
def test_extents_are_whole_tiles_with_leading_dimensions_in_the_rows(shape, tiles):
    assert iteration_space((shape,), shape).tiles == tiles


@pytest.mark.parametrize(
    ("operand", "result", "expected"),
    [
        ((64, 64), (64, 64), TileAccess((2, 2), (True, True))),
        ((1, 64), (64, 64), TileAccess((1, 2), (False, True), TileBroadcast.ROW)),
        ((64,), (64, 64), TileAccess((1, 2), (False, True), TileBroadcast.ROW)),
        ((64, 1), (64, 64), TileAccess((2, 1), (True, False), TileBroadcast.COL)),
        ((1, 1), (64, 64), TileAccess((1, 1), (False, False), TileBroadcast.SCALAR)),
        ((), (64, 64), TileAccess((1, 1), (False, False), TileBroadcast.SCALAR)),
        ((1, 1), (1, 64), TileAccess((1, 1), (True, False), TileBroadcast.COL)),
        ((1, 1), (64, 1), TileAccess((1, 1), (False, True), TileBroadcast.ROW)),
        ((3, 64, 1), (3, 64, 64), TileAccess((6, 1), (True, False), TileBroadcast.COL)),
        ((1, 1, 64), (3, 64, 64), TileAccess((1, 2), (False, True), TileBroadcast.ROW)),
        ((1, 64), (3, 1, 64), TileAccess((1, 2), (False, True))),
    ],
)
def test_broadcast_dimensions_stay_at_index_0_and_spread_within_the_tile(operand, result, expected):
    assert _access(operand, result) == expected


@pytest.mark.parametrize(
    ("operand", "result", "expected"),
    [
        ((64, 64), (3, 64, 64), TileAccess((1, 2, 2), (False, True, True))),
        ((3, 1, 64), (3, 64, 64), TileAccess((3, 1, 2), (True, False, True), TileBroadcast.ROW)),
        ((2, 1, 8, 8), (2, 3, 8, 8), TileAccess((2, 1, 1, 1), (True, False, True, True))),
    ],
)
def test_leading_dimensions_that_differ_stay_dimensions(operand, result, expected):
    space = iteration_space((operand, result), result)
    assert space.operands[0] == expected
    assert len(space.tiles) == len(result)


def test_the_grid_divides_the_tiles_and_a_ragged_shape_has_one_core():
    assert core_grid((1024, 1024), 2, (7, 7)) == (8, 8)
    assert core_grid((96, 576), 2, (7, 7)) == (3, 6)
    assert core_grid((1024, 1024), 2, (3, 1)) == (2, 4)
    assert core_grid((100, 64), 2, (7, 7)) == (1, 1)
    assert core_grid((3, 64, 64), 3, (7, 7)) == (1, 2, 2)


@pytest.mark.parametrize(
    ("shard", "capacity", "block"),
    [((4, 4), 8, (2, 4)), ((4, 4), 4, (1, 4)), ((4, 4), 16, (4, 4)), ((3, 3), 8, (1, 3)), ((1, 9), 8, (1, 3))],
)
def test_blocks_of_a_unary_chain_are_the_largest_divisors_columns_first(shard, capacity, block):
    assert block_tiles(shard, capacity, unary_chain=True) == block
    assert dst_tiles(block, capacity, unary_chain=True) == (1, *block)


def test_other_kernels_take_one_tile_at_a_time():
    assert block_tiles((4, 4), 8, unary_chain=False) == (1, 1)
    assert dst_tiles((1, 1), 8, unary_chain=False) == (8, 1, 1)
    assert block_tiles((3, 4, 4), 8, unary_chain=True) == (1, 2, 4)


def test_a_row_is_copied_down_right_after_its_load():
    graph = Graph(tiled(64, 64), tiled(1, 64))
    text = print_module(lowered(graph.module(graph.op("add", *graph.args)), until="d2m-generic-fusion"))
    assert "#map1 = affine_map<(d0, d1) -> (0, d1)>" in text
    assert '"d2m.tile_bcast"(%in_0) <{bcast_type = #d2m<tile_bcast_type row>}>' in text


def test_batches_that_differ_become_loops():
    graph = Graph(row_major(3, 40, 50), row_major(40, 50))
    (kernel,) = kernels(lowered(graph.module(graph.op("add", *graph.args), target="cpu")))
    assert kernel.grid.data == (1, 1, 1)
    assert [argument.type.underlying.get_shape() for argument in kernel.body.block.args] == [
        (3, 2, 2),
        (1, 2, 2),
        (3, 2, 2),
    ]


def test_one_op_with_batch_loops_does_not_keep_the_others_from_fusing():
    graph = Graph(row_major(3, 40, 50), row_major(40, 50))
    value = graph.op("exp", graph.op("add", graph.op("neg", graph.args[0]), graph.args[1]))
    (kernel,) = kernels(lowered(graph.module(value, target="cpu")))
    assert len(kernel.iterator_types.data) == 3


@pytest.mark.parametrize("shape", [(), (1,), (7,), (0,), (33, 65), (2, 3, 5, 7), (0, 4)])
def test_odd_shapes_lower_on_cpu_with_one_core(shape):
    graph = Graph(row_major(*shape), row_major(*shape))
    (kernel,) = kernels(
        lowered(graph.module(graph.op("add", graph.op("exp", graph.args[0]), graph.args[1]), target="cpu"))
    )
    assert set(kernel.grid.data) == {1}


def test_strided_arguments_lower_on_cpu():
    graph = Graph(row_major(5, 7, strides=(1, 5)))
    assert len(kernels(lowered(graph.module(graph.op("exp", graph.args[0]), target="cpu")))) == 1


def test_max_grid_is_the_last_core():
    graph = Graph(tiled(1024, 1024, dtype=F32))
    module = graph.module(graph.op("exp", graph.args[0]))
    (kernel,) = kernels(lowered(module, max_grid=(3, 1)))
    assert kernel.grid.data == (2, 4)
