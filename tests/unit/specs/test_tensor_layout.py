"""The tensor layout specification: its worked examples, random layouts against a naive model, what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit.diagnostics.errors import ArgumentError, LayoutError, ShapeError
from ttnn_jit.dialects.access_maps import map_of
from ttnn_jit.dialects.layout import layout_attribute
from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.layout_specification.affine_map import AffineMap
from ttnn_jit.layout_specification.layout_text import layout_text, parse_layout, parse_tensor, tensor_text
from ttnn_jit.layout_specification.tensor_layout import (
    MemorySpace,
    OutOfBounds,
    TensorLayout,
    collapsed_map,
    collapsed_text,
)
from ttnn_jit.layout_specification.ttnn_terms import TTNNTensorSpec, mesh_slices, ttnn_spec
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.dtypes import BLOCK_FLOATS, SCALARS, DataType
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

TILE = (32, 32)


def bfp(extents):
    return f"{extents}x!tt.tile<32 x 32, bfp_bf8>"


FOUR = "(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3)"
BATCHED = "(d0, d1, d2, d3) -> (d0, d1 * 64 + d2, d3)"
SEVEN = "(d0, d1, d2, d3, d4, d5, d6)\n  -> (d0 * 2688 + d1 * 896 + d2 * 448 + d3 * 224 + d4 * 32 + d5, d4, d5, d6)"
EXAMPLES = [
    ("2x3x64x128", FOUR, "1x1", "384x128xf32"),
    ("2x3x64x128", FOUR, "2x4", "192x32xf32"),
    ("8x300", "(d0, d1) -> (d0, d1)", "1x2", "8x150xf32"),
    ("8x96x32", "(d0, d1, d2) -> (d0 * 96 + d1, d2)", "2x1", "384x32xf32"),
    ("8x96x32", "(d0, d1, d2) -> (d0 * 96 + d1, d1, d2)", "2x1x2", "384x96x16xf32"),
    ("5x3x2x2x7x32x32", SEVEN, "3x2x2x2", "4480x4x16x16xf32"),
    ("3x64x128", "(d0, d1, d2) -> (d0 * 64 + d1, d2)", "3x2", "64x64xf32"),
    ("3x64x128", "(d0, d1, d2) -> (d0 * 64 + d1, d2)", "3x2", bfp("2x2")),
    ("53x63", "(d0, d1) -> (d0, d1)", "3x2", "18x32xf32"),
    ("53x63", "(d0, d1) -> (d0, d1)", "3x2", bfp("1x1")),
    ("2x8x32", "(d0, d1, d2) -> (d0 * 8 + d1, d2)", "1x2", "16x16xf32"),
    ("2x8x32", "(d0, d1, d2) -> (d0 * 8 + d1, d2)", "1x2", bfp("1x1")),
    ("2x3x64x128", BATCHED, "2x2x4", bfp("1x3x1")),
    ("16x3x64x128", BATCHED, "2x2x4", bfp("8x3x1")),
    ("256x1024", "(d0, d1) -> (d0, d1)", "4x16", bfp("2x2")),
    ("64x256x1024", "(d0, d1, d2) -> (d0, d1, d2)", "2x4x16", bfp("32x2x2")),
    ("64x128", "(d0, d1) -> (d0, d1)", "1x1", "2x4x!tt.tile<32x32, bf16>"),
]


def tensor(shape, linear, grid, memref, rest=""):
    layout = f"{linear},\n undef,\n <{grid}>,\n memref<{memref}, #tt.memory_space<l1>>{rest}"
    return f"tensor<{shape}xf32,\n #tt.layout<{layout}>\n>"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example[0]} on {example[2]}: {example[3]}")
def test_every_shard_of_the_specification_is_recomputed_and_printed_as_ttcore(example):
    element, layout = parse_tensor(tensor(*example))
    shape, linear, grid, memref = example
    printed = memref.replace("!tt.tile", "!ttcore.tile").replace("32 x 32", "32x32")
    assert element == "f32"
    assert tensor_text(element, layout) == (
        f"tensor<{shape}xf32, #ttcore.layout<{' '.join(linear.split())}, undef, <{grid}>, "
        f"memref<{printed}, #ttcore.memory_space<l1>>>>"
    )
    assert parse_tensor(tensor_text(element, layout)) == (element, layout)


def test_an_index_is_mapped_as_in_the_walkthrough():
    linear = collapsed_map((2, 3, 64, 128))
    assert str(linear) == FOUR
    assert linear.evaluate((1, 1, 6, 100)) == (262, 100)
    assert linear.evaluate((1, 2, 63, 127)) == (383, 127)
    assert TensorLayout((2, 3, 64, 128), linear, (1, 1)).physical_shape == (384, 128)


@pytest.mark.parametrize(
    ("rank", "intervals", "text"),
    [
        (3, [(0, -1)], "(d0, d1, d2) -> (d0 <> d1, d2)"),
        (4, [(1, -1)], "(d0, d1, d2, d3) -> (d0, d1 <> d2, d3)"),
        (4, [(0, 2)], "(d0, d1, d2, d3) -> (d0 <> d1, d2, d3)"),
        (7, [(0, 3), (-3, -1)], "(d0, d1, d2, d3, d4, d5, d6) -> (d0 <> d1 <> d2, d3, d4 <> d5, d6)"),
        (1, [(0, -1)], "(d0) -> (d0)"),
        (2, [(0, -1)], "(d0, d1) -> (d0, d1)"),
        (3, [], "(d0, d1, d2) -> (d0, d1, d2)"),
    ],
)
def test_intervals_join_the_dimensions_that_the_specification_says(rank, intervals, text):
    assert collapsed_text(rank, intervals) == text


def padded_counts(layout):
    return [[sum(map(len, ranges)) for ranges in cores] for cores in layout.padded_region()]


def test_padding_is_that_of_the_specification():
    shape = (53, 63)
    scalars = TensorLayout(shape, collapsed_map(shape), (3, 2))
    assert padded_counts(scalars) == [[0, 0, 1], [0, 1]]
    tiles = TensorLayout(shape, collapsed_map(shape), (3, 2), DataType.BFLOAT8_B, TILE)
    assert tiles.shard_shape == (18, 32)
    assert padded_counts(tiles) == [[14, 14, 15], [0, 1]]
    assert tiles.padded_region()[0][2] == (range(17, 32),)


def test_strides_bumped_to_a_tile_leave_a_gap_and_no_padding_behind_the_last_batch():
    linear = collapsed_map((2, 8, 32), multiple=32)
    assert str(linear) == "(d0, d1, d2) -> (d0 * 32 + d1, d2)"
    scalars = TensorLayout((2, 8, 32), linear, (1, 2))
    assert (scalars.physical_shape, scalars.shard_shape) == ((40, 32), (40, 16))
    assert scalars.padded_region()[0] == ((range(8, 32),),)
    tiles = TensorLayout((2, 8, 32), linear, (1, 2), tile=TILE)
    assert tiles.memref_shape == (2, 1)
    assert tiles.padded_region() == (((range(8, 32), range(40, 64)),), ((range(16, 32),),) * 2)
    assert [tiles.address(batch, 0, 0).tile for batch in (0, 1)] == [(0, 0), (1, 0)]


def test_a_map_of_two_dims_is_refused_for_the_three_of_tensor_and_grid():
    """N19a: the specification's example of four chips has it; its memref is that of the identity of three."""
    text = tensor("64x256x1024", "(d0, d1) -> (d0, d1)", "2x4x16", bfp("32x2x2"))
    with pytest.raises(LayoutError, match=r"has 2 dims, and the tensor 64x256x1024 has rank 3"):
        parse_tensor(text)


def test_strides_in_place_of_a_map_are_refused_with_the_way_out():
    """N19b: the specification's `to_layout` has them, three of them for a tensor of two dimensions."""
    text = "tensor<64x128xf32, #tt.layout<8192x128x1, undef, <1x1>, memref<64x128xf32, #system>>>"
    with pytest.raises(LayoutError, match="strides where a layout has an affine map") as raised:
        parse_tensor(text)
    assert "old syntax" in str(raised.value)


def test_a_layout_of_five_fields_and_one_of_four_are_read():
    """N19e: the specification has both."""
    four = tensor(*EXAMPLES[-1])
    five = tensor(*EXAMPLES[-1], rest=", interleaved")
    layout = parse_tensor(five)[1]
    assert (parse_tensor(four)[1].memory_layout, layout.memory_layout) == ("none", "interleaved")
    assert parse_layout(layout_text(layout), layout.shape) == layout
    assert parse_layout(
        layout_text(layout).replace("#ttcore.memory_space<l1>", "#dram"), layout.shape
    ).memory_space is (MemorySpace.DRAM)


# --- TTNN's terms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "shard", "printed", "grid"),
    [
        ((64, 128), (32, 32), (1, 4), (2, 4)),
        ((2, 3, 64, 128), (96, 32), (2, 2), (4, 4)),
        ((100,), (1, 32), None, (1, 4)),
    ],
)
def test_ttnn_terms_have_the_grid_that_shards_need_and_not_the_printed_formula(shape, shard, printed, grid):
    """N19c: the formula lacks the number of rows in one term, and has a shard's rows for its columns in the other."""
    spec = TTNNTensorSpec(shape, shard)
    if printed:
        rows = spec.stride[0] // spec.stride[-2]
        assert (-(-rows // shard[0]), -(-spec.stride[-2] // shard[0])) == printed
    assert spec.grid_shape == grid


def test_the_six_terms_of_ttnn():
    spec = ttnn_spec(TensorLayout((2, 3, 50, 63), collapsed_map((2, 3, 50, 63)), (4, 2), tile=TILE))
    assert (spec.shape, spec.stride) == ((2, 3, 50, 63), (9450, 3150, 63, 1))
    assert (spec.shard_shape, spec.physical_shard_shape) == ((75, 32), (96, 32))
    assert (spec.tile_shape, spec.grid_shape) == (TILE, (4, 2))


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_ttnn_grids_are_those_that_the_shards_of_a_layout_came_from(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 20), min_size=2, max_size=3)))
    grid = data.draw(st.tuples(st.integers(1, 8), st.integers(1, 8)))
    layout = TensorLayout(shape, collapsed_map(shape), grid)
    cores = np.unique(np.stack(np.broadcast_arrays(*layout.addresses(np.indices(shape)).core)).reshape(2, -1), axis=1)
    assert ttnn_spec(layout).grid_shape == tuple(cores.max(axis=1) + 1)


def test_what_ttnn_cannot_join_is_refused_and_becomes_slices_on_a_mesh():
    shape = (16, 3, 64, 128)
    layout = TensorLayout(shape, collapsed_map(shape, [(1, -1)]), (2, 2, 4), tile=TILE)
    with pytest.raises(LayoutError, match=r"cannot express `\(d0, d1, d2, d3\) -> \(d0, d1 \* 64 \+ d2, d3\)`"):
        ttnn_spec(layout)
    mesh, each = mesh_slices(layout)
    assert (mesh, each.shape, each.grid) == ((2,), (8, 3, 64, 128), (2, 4))
    assert str(each.linear) == "(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3)"
    assert ttnn_spec(each).grid_shape == (2, 4)
    for intervals, grid, why in [
        ([(0, 2)], (2, 2, 4), "does not keep d0 separate"),
        ([(1, -1)], (3, 2, 4), "3 devices cannot take equal slices of d0, which has 16"),
        ([], (2, 1, 2, 4), None),
    ]:
        refused = TensorLayout(shape, collapsed_map(shape, intervals), grid)
        if why:
            with pytest.raises(LayoutError, match=why):
                mesh_slices(refused)
        else:
            assert mesh_slices(refused)[0] == (2, 1)
    with pytest.raises(LayoutError, match="without gaps"):
        ttnn_spec(TensorLayout((2, 8, 32), collapsed_map((2, 8, 32), multiple=32), (1, 2)))
    with pytest.raises(LayoutError, match="rank 2 has no dimensions for a mesh"):
        mesh_slices(each)


@given(
    st.lists(st.integers(1, 70), min_size=2, max_size=4).map(tuple),
    st.sampled_from(sorted(SCALARS | BLOCK_FLOATS, key=lambda dtype: dtype.value)),
)
@settings(max_examples=30, deadline=None)
def test_interleaved_tensors_lie_in_the_memref_of_their_ttnn_layout(shape, dtype):
    """Tiled tensors of TTNN are layouts whose rows are bumped to tiles, and the compiler's attribute says the same."""
    attribute = layout_attribute(TensorSpec(shape, dtype, Layout.TILE))
    layout = TensorLayout(shape, collapsed_map(shape, multiple=32), (1, 1), dtype, TILE)
    assert attribute.memref.get_shape() == layout.memref_shape
    assert TensorSpec(shape, dtype, Layout.TILE).nbytes == layout.buffer_bytes


# --- Random layouts -------------------------------------------------------------------------------------------------


@st.composite
def layouts(draw, elements=SCALARS):
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)))
    rank = len(shape)
    start = draw(st.integers(0, rank - 1))
    intervals = draw(st.sampled_from([[], [(0, -1)], [(start, rank)], [(start, -1)] if start < rank - 1 else []]))
    linear = collapsed_map(shape, intervals, multiple=draw(st.sampled_from([1, 4, 32])))
    grid = tuple(draw(st.integers(1, 3 if axis < 2 else 1)) for axis, _ in enumerate(linear.results))
    tile = draw(st.sampled_from([None, TILE, (16, 32), (4, 16), (2, 2)])) if len(grid) > 1 else None
    element = draw(st.sampled_from(sorted(elements, key=lambda dtype: dtype.value)))
    value = draw(st.sampled_from([OutOfBounds.UNDEF, OutOfBounds.ZERO, OutOfBounds.ONE]))
    return TensorLayout(shape, linear, grid, element, tile, value)


def naive_memory(layout):
    """By core, logical index or None of every element in memory: shards, tiles, faces and rows, walked in loops."""
    logical = {layout.linear.evaluate(index): index for index in itertools.product(*map(range, layout.shape))}
    assert len(logical) == math.prod(layout.shape)
    rows, columns = layout.tile or (1, 1)
    ones = (1,) * (len(layout.grid) - 2)
    extents = (*ones, rows, columns) if layout.tile else (1,) * len(layout.grid)
    memory = {}
    for core in itertools.product(*map(range, layout.grid)):
        elements = []
        for tile in itertools.product(*map(range, layout.memref_shape)):
            for face_row, face_column, row, column in itertools.product(
                range(0, rows, 16), range(0, columns, 16), range(min(16, rows)), range(min(16, columns))
            ):
                last_two = (face_row + row, face_column + column)
                inside = (0,) * len(ones) + last_two if layout.tile else (0,) * len(layout.grid)
                offset = [t * e + i for t, e, i in zip(tile, extents, inside, strict=True)]
                within = all(at < part for at, part in zip(offset, layout.shard_shape, strict=True))
                position = tuple(c * p + o for c, p, o in zip(core, layout.shard_shape, offset, strict=True))
                elements.append((logical.get(position) if within else None, tile, tuple(offset)))
        memory[core] = elements
    return memory


@given(layouts())
@settings(max_examples=25, deadline=None)
def test_elements_lie_where_a_walk_over_shards_tiles_and_faces_finds_them(layout):
    values = np.arange(1.0, math.prod(layout.shape) + 1, dtype=np.float32).reshape(layout.shape)
    buffers = layout.distributed(values)
    np.testing.assert_array_equal(layout.collected(buffers), values)
    fill = layout.out_of_bounds.fill(layout.element)
    for core, elements in naive_memory(layout).items():
        expected = [fill if index is None else values[index] for index, _, _ in elements]
        np.testing.assert_array_equal(buffers[core], np.float32(expected))
        for number, (index, tile, offset) in enumerate(elements):
            if index is not None:
                address = layout.address(*index)
                assert (address.core, address.offset) == (core, offset)
                assert address.tile == (tile if layout.tile else ())
                assert address.byte == number * layout.element.itemsize


@given(layouts())
@settings(max_examples=25, deadline=None)
def test_the_padded_region_is_what_no_element_lies_in(layout):
    region = layout.padded_region()
    for core, elements in naive_memory(layout).items():
        for index, _, offset in elements:
            at = zip(region, core, offset, strict=True)
            assert (index is None) == any(any(o in run for run in cores[c]) for cores, c, o in at)


@given(layouts())
@settings(max_examples=25, deadline=None)
def test_text_that_is_printed_is_read_as_the_same_layout_in_the_spelling_of_mlir(layout):
    assert parse_layout(layout_text(layout), layout.shape) == layout
    as_mlir = affine_map_text(map_of(Access(layout.shape, layout.linear.results)))
    assert str(layout.linear) == as_mlir


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_map_that_is_accepted_puts_no_two_elements_at_one_address(data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple))
    term = st.integers(0, 9).map(lambda factor: factor)
    results = [[data.draw(term) for _ in shape] for _ in range(data.draw(st.integers(1, 3)))]
    text = ", ".join(" + ".join(f"d{i} * {f}" for i, f in enumerate(row) if f) or "0" for row in results)
    linear = AffineMap.parse(f"({', '.join(f'd{i}' for i in range(len(shape)))}) -> ({text})")
    positions = [linear.evaluate(index) for index in itertools.product(*map(range, shape))]
    try:
        TensorLayout(shape, linear, (1,) * len(results))
    except LayoutError:
        return
    assert len(set(positions)) == len(positions)


@pytest.mark.parametrize("dtype", sorted(BLOCK_FLOATS, key=lambda dtype: dtype.name), ids=lambda dtype: dtype.name)
def test_bytes_of_block_floats_are_those_of_their_packed_tiles(dtype):
    layout = TensorLayout((64, 64), collapsed_map((64, 64)), (1, 1), dtype, TILE)
    in_tile = {(0, 0): (64, 64), (0, 16): (320, 192), (16, 0): (576, 320), (5, 7): (151, 107), (31, 31): (1087, 575)}
    for (row, column), bytes_ in in_tile.items():
        byte = bytes_[dtype is DataType.BFLOAT4_B]
        assert layout.address(row, column).byte == byte
        assert layout.address(row + 32, column).byte == 2 * dtype.itemsize + byte
    assert layout.buffer_bytes == 4 * dtype.itemsize
    with pytest.raises(LayoutError, match="lay out the float32 numbers"):
        layout.distributed(np.zeros((64, 64), np.float32))


# --- What is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: TensorLayout((2, 0), collapsed_map((2, 1)), (1, 1)), "extents of at least 1"),
        (lambda: TensorLayout((), AffineMap.identity(0), ()), "extents of at least 1"),
        (lambda: TensorLayout((2, 3), AffineMap.identity(2), (1,)), "has 2 results, and the grid <1> has rank 1"),
        (lambda: TensorLayout((2, 3), AffineMap.identity(2), (1, 0)), "a grid has extents of at least 1"),
        (lambda: TensorLayout((2, 3.5), AffineMap.identity(2), (1, 1)), "whole numbers"),
        (lambda: TensorLayout((9, 8), AffineMap.parse("(d0, d1) -> (d0 * 4 + d1, 0)"), (1, 1)), "differ along d0, d1"),
        (
            lambda: TensorLayout((9, 8), AffineMap.parse("(d0, d1) -> (d0 floordiv 2, d1)"), (1, 1)),
            "not a sum of multiples",
        ),
        (lambda: TensorLayout((9, 8), AffineMap.identity(2), (1, 1), DataType.BFLOAT8_B), "share exponents"),
        (lambda: TensorLayout((9, 8), AffineMap.identity(2), (1, 1), DataType.BFLOAT8_B, (16, 32)), "packed in tiles"),
        (lambda: TensorLayout((9, 8), AffineMap.identity(2), (1, 1), tile=(24, 32)), "faces of at most 16x16"),
        (lambda: TensorLayout((9,), AffineMap.identity(1), (1,), tile=(32, 32)), "tiles divide the last two"),
        (lambda: TensorLayout((9, 8), AffineMap.identity(2), (1, 1), memory_layout="striped"), "memory layout is one"),
        (
            lambda: TensorLayout((9, 8), AffineMap.identity(2), (1, 1), DataType.UINT8, out_of_bounds=OutOfBounds.INF),
            "padding of UINT8 cannot hold `inf`",
        ),
        (lambda: collapsed_map((2, 3), [(1, 0)]), "not an interval"),
        (lambda: collapsed_map((2, 3), [(0, 3)]), "not an interval"),
        (lambda: collapsed_map((2, 3), [(0, 1, 2)]), "not an interval"),
        (lambda: collapsed_map((2, 3, 4), [(0, 2), (1, 3)]), "not an interval of the dimensions 2 to 2"),
        (lambda: TensorLayout((2, 3), AffineMap.identity(2), (1, 1)).address(2, 0), r"no element at \[2, 0\]"),
        (lambda: TensorLayout((2, 3), AffineMap.identity(2), (1, 1)).distributed(np.zeros((3, 2))), "got \\[3, 2\\]"),
        (lambda: AffineMap.parse("(d0) -> (d1)"), "names d1, and the map has 1 dims"),
        (lambda: AffineMap.parse("(d0, d1) -> (d0 - d1)"), "not an affine map"),
        (lambda: AffineMap.parse("(d0, d1) -> (d0 * d1)"), "not an affine map"),
        (lambda: AffineMap.parse("(d0) -> (d0 floordiv 0)"), "not an affine map"),
        (lambda: AffineMap.parse("(d0) -> (d0 // 2)"), "not an affine map"),
        (lambda: AffineMap.parse("(d0) -> (d0 +)"), "not an affine map"),
        (lambda: AffineMap.parse("(x) -> (x)"), "not an affine map"),
        (lambda: AffineMap.parse("d0"), "not an affine map"),
        (lambda: AffineMap.identity(2).compose(AffineMap.identity(3)), "takes 2 coordinates"),
        (lambda: parse_tensor("tensor<2x2xf32>"), "not a tensor with a layout"),
        (lambda: parse_tensor(tensor("8x300", "(d0, d1) -> (d0, d1)", "1x2", "8x151xf32")), "gives 8x150"),
        (
            lambda: parse_tensor(tensor("8x300", "(d0, d1) -> (d0, d1)", "1x2", "8x150xf31")),
            "an element type is one of",
        ),
        (lambda: parse_layout("#tt.layout<>", (2,)), "is not a layout"),
        (lambda: TTNNTensorSpec((2, 3), (1, 2, 3)), "rows and columns"),
    ],
)
def test_bad_layouts_are_refused_by_name(made, message):
    with pytest.raises(ArgumentError, match=message):
        made()


def test_infinities_fill_the_padding_of_floats():
    layout = TensorLayout((1, 3), collapsed_map((1, 3)), (1, 2), out_of_bounds=OutOfBounds.NEGINF)
    assert layout.distributed(np.ones((1, 3), np.float32)).tolist() == [[[1.0, 1.0], [1.0, -math.inf]]]
    with pytest.raises(ShapeError):
        layout.address(0)
