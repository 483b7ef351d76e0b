"""Loops of a launch: dimensions that collapse into one run, and those that do not."""

import itertools

import pytest

from ttnn_jit.codegen.schedules.launch import (
    BLOCK,
    LEAST_BLOCKED_STRIDE,
    MAX_REPEAT_DEPTH,
    MOST_APART,
    MOST_STEPS,
    LaunchLoops,
    View,
    blocked,
    interchanged,
    launch_loops_of,
)
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec


def spec(*shape, layout=Layout.ROW_MAJOR, strides=None):
    return TensorSpec(shape, DataType.FLOAT32, layout, strides=strides)


def walked(inputs, outputs):
    return launch_loops_of(tuple(map(View, inputs)), tuple(map(View, outputs)))


def at_start(extents, strides):
    return LaunchLoops(extents, strides, (0,) * len(strides))


def tiled(*shape):
    return spec(*shape, layout=Layout.TILE)


def test_dense_tensors_of_one_shape_are_one_run():
    assert walked((spec(4, 5, 6),), (spec(4, 5, 6),)) == at_start((120,), ((1,), (1,)))


def test_whole_tiles_are_one_run():
    assert walked((tiled(64, 96),), (tiled(64, 96),)) == at_start((64 * 96,), ((1,), (1,)))


def test_tensors_padded_alike_are_traversed_with_their_padding():
    assert walked((tiled(33, 65), tiled(1, 1)), (tiled(33, 65),)) == at_start((64 * 96,), ((1,), (0,), (1,)))


def test_one_padded_row_is_traversed_without_its_padding():
    assert walked((tiled(1, 50),), (tiled(1, 50),)).extents == (50,)


def test_tensors_padded_differently_are_traversed_by_rows():
    assert walked((spec(33, 65),), (tiled(33, 65),)) == at_start((33, 65), ((65, 1), (96, 1)))


def test_a_row_is_repeated_and_a_column_is_one_scalar_per_row():
    nest = walked((spec(5, 7), spec(1, 7), spec(5, 1)), (spec(5, 7),))
    assert nest == at_start((5, 7), ((7, 1), (0, 1), (1, 0), (7, 1)))
    assert nest.accesses == (InnerAccess.CONTIGUOUS, InnerAccess.CONTIGUOUS, InnerAccess.SCALAR, InnerAccess.CONTIGUOUS)


def test_neighbouring_dimensions_merge_where_every_operand_allows_it():
    nest = walked((spec(2, 3, 4, 5), spec(3, 4, 5)), (spec(2, 3, 4, 5),))
    assert nest == at_start((2, 60), ((60, 1), (0, 1), (60, 1)))


def test_a_transposed_input_is_strided():
    nest = walked((spec(5, 7, strides=(1, 5)),), (spec(5, 7),))
    assert nest.accesses == (InnerAccess.STRIDED, InnerAccess.CONTIGUOUS)


def test_the_params_run_from_the_inside_out():
    nest = walked((spec(2, 3, 4), spec(2, 1, 4)), (spec(2, 3, 4),))
    assert nest.params == (4, 3, 2, 1, 4, 12, 1, 0, 4, 1, 4, 12)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4, 5)])
def test_an_empty_tensor_has_no_loops(shape):
    assert walked((spec(*shape),), (spec(*shape),)).params[0] == 0


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_a_single_element_is_one_step(shape):
    assert walked((spec(*shape),), (spec(*shape),)).params == (1, 1, 1)


def test_shapes_that_do_not_broadcast_are_an_internal_error():
    with pytest.raises(InternalError, match="cannot be broadcast"):
        walked((spec(2, 3),), (spec(4, 3),))


def addresses(nest):
    """The address of every operand, for all indices of the loops."""
    for index in itertools.product(*map(range, nest.extents)):
        yield tuple(
            offset + sum(i * stride for i, stride in zip(index, own, strict=True))
            for offset, own in zip(nest.offsets, nest.strides, strict=True)
        )


@pytest.mark.parametrize("extents", [(64, 512), (512, 96), (3, 32, 1024), (2, 33, 64)])
def test_loops_in_blocks_visit_the_same_elements(extents):
    *outer, rows, columns = extents
    strides = [rows * columns] * len(outer)
    nest = LaunchLoops(extents, ((*strides, 1, max(rows, LEAST_BLOCKED_STRIDE)), (*strides, columns, 1)), (7, 0))
    in_blocks = blocked(nest)
    assert (in_blocks is not nest) == (rows % BLOCK == 0)
    assert sorted(addresses(in_blocks)) == sorted(addresses(nest))


@pytest.mark.parametrize("extents", [(224, 3), (5, 224, 3), (2500, 2), (7, 17, 7), (1031, 3), (15, 3), (64, 8)])
@pytest.mark.parametrize("distance", [4, 1, 100, 0])
def test_a_short_loop_is_interchanged_where_operands_are_near(extents, distance):
    *outer, across, short = extents
    strides = [across * distance] * len(outer)
    nest = LaunchLoops(extents, ((*strides, distance, 1), (*strides, short, 1)), (7, 0))
    found = interchanged(nest)
    trades = short < MOST_STEPS and 0 < distance <= MOST_APART and across in {224, 2500, 17}
    assert (found.extents[-1] != short) == trades
    assert found.extents[-1] <= max(MAX_REPEAT_DEPTH, short)
    assert sorted(addresses(found)) == sorted(addresses(nest))
