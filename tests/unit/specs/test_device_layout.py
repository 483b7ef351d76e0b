"""The device specification: its nine maps, meshes that give them, tensors on them, what is refused."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit.diagnostics.errors import ArgumentError, GridError
from ttnn_jit.layout_specification.affine_map import AffineMap
from ttnn_jit.layout_specification.device_layout import DeviceLayout, PhysicalCore, distribution, locate
from ttnn_jit.layout_specification.layout_text import device_text, parse_device, parse_layout
from ttnn_jit.layout_specification.tensor_layout import TensorLayout, collapsed_map
from ttnn_jit.specs.dtypes import DataType

TILE = (32, 32)
TWO_BY_TWO = "(d0, d1, d2) -> (d0 * 2 + (d1 floordiv 8) * 2 + d2 floordiv 8, d1, d2 mod 8)"
ONE = DeviceLayout.of_mesh((1,))


def device(grid, mapping, mesh, chips):
    return f"#tt.device<\n workerGrid = #tt.grid<{grid}, {mapping}>,\n meshShape = {mesh},\n chipIds = {chips}\n>"


EXAMPLES = {
    "one chip": (device("8x8", "(d0, d1) -> (0, d0, d1)", "1", [0]), ONE),
    "batch": (device("2x8x8", "(d0, d1, d2) -> (d0, d1, d2)", "2x1x1", [0, 1]), DeviceLayout.of_mesh((2, 1, 1))),
    "2d": (
        device("8x16", "(d0, d1) -> ((d0 floordiv 8) * 2 + d1 floordiv 8, d0, d1 mod 8)", "1x2", [0, 1]),
        DeviceLayout.of_mesh((1, 2)),
    ),
    "2d and batch": (device("2x8x16", TWO_BY_TWO, "2x1x2", [0, 1, 2, 3]), DeviceLayout.of_mesh((2, 1, 2))),
    "pipeline": (
        device("16x16", "(d0, d1) -> ((d0 floordiv 8) * 2 + d1 floordiv 8, d0 mod 8, d1 mod 8)", "2x2", [4, 5, 6, 7]),
        DeviceLayout.of_mesh((2, 2), (4, 5, 6, 7)),
    ),
    "transposed": (device("8x8", "(d0, d1) -> (0, d1, d0)", "1", [0]), ONE.transposed()),
    "wide": (device("1x64", "(d0, d1) -> (0, d0 * 8 + d1 floordiv 8, d1 mod 8)", "1", [0]), ONE.as_row()),
    "tall": (device("64x1", "(d0, d1) -> (0, d1 * 8 + d0 floordiv 8, d0 mod 8)", "1", [0]), ONE.as_column()),
    "staircase": (device("8x8", "(d0, d1) -> (0, d0, (d0 + d1) mod 8)", "1", [0]), ONE.skewed()),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_device_of_the_specification_is_read_derived_and_reaches_every_core_once(name):
    text, derived = EXAMPLES[name]
    read = parse_device(text)
    assert parse_device(device_text(read)) == read
    assert device_text(read) == "".join(text.replace("tt.", "ttcore.").splitlines()).replace("< ", "<").replace(
        " workerGrid", "workerGrid"
    )
    assert (read.grid, read.mesh_shape, read.chip_ids) == (derived.grid, derived.mesh_shape, derived.chip_ids)
    cores = [read.core(*point) for point in read.points()]
    assert cores == [derived.core(*point) for point in derived.points()]
    assert set(cores) == {PhysicalCore(*at) for at in itertools.product(read.chip_ids, range(8), range(8))}
    assert len(cores) == len(set(cores))


def test_two_dimensions_over_two_chips_wrap_to_the_next_chip_at_column_eight():
    wide = DeviceLayout.of_mesh((1, 2))
    assert {wide.core(row, column).chip for row in range(8) for column in range(8)} == {0}
    assert wide.core(3, 8) == PhysicalCore(1, 3, 0)


def test_results_of_a_map_are_indices_in_the_list_of_chips_and_no_ids():
    """N19d: the specification calls them chip indices; a device over chips 4 to 7 has a map that leads to 0 to 3."""
    later = DeviceLayout.of_mesh((2, 2), (4, 5, 6, 7))
    assert later.mapping.evaluate((8, 8)) == (3, 0, 0)
    assert later.core(8, 8) == PhysicalCore(7, 0, 0)
    first = DeviceLayout.of_mesh((2, 1, 2))
    assert not {first.core(*at) for at in first.points()} & {later.core(*at) for at in later.points()}


def test_the_tall_grid_has_the_cores_of_the_wide_one_in_the_same_order():
    """The specification calls it transposed as well: it is only the wide one, its coordinates swapped."""
    assert [ONE.as_column().core(at, 0) for at in range(64)] == [ONE.as_row().core(0, at) for at in range(64)]
    assert ONE.as_row().core(0, 9) == PhysicalCore(0, 1, 1)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_meshes_make_grids_whose_cores_follow_the_chips(mesh, rows, columns):
    made = DeviceLayout.of_mesh(mesh, range(10, 10 + math.prod(mesh)), (rows, columns))
    padded = [1] * (2 - len(mesh)) + mesh
    expected = {}
    for number, chip in enumerate(itertools.product(*map(range, padded))):
        for row, column in itertools.product(range(rows), range(columns)):
            point = (*chip[:-2], chip[-2] * rows + row, chip[-1] * columns + column)
            expected[point] = PhysicalCore(10 + number, row, column)
    assert {point: made.core(*point) for point in made.points()} == expected
    assert parse_device(device_text(made), (rows, columns)) == made


# --- Tensors on devices ---------------------------------------------------------------------------------------------


def on(shape, grid, intervals=((0, -1),), dtype=DataType.BFLOAT8_B):
    return TensorLayout(shape, collapsed_map(shape, intervals), grid, dtype, TILE)


def test_tensors_of_the_specification_span_the_chips_that_it_says():
    batch, batch_device = on((16, 3, 64, 128), (2, 2, 4), [(1, -1)]), DeviceLayout.of_mesh((2, 1, 1))
    assert [locate(batch, batch_device, (at, 0, 0, 0)).core for at in (7, 8)] == [
        PhysicalCore(0, 0, 0),
        PhysicalCore(1, 0, 0),
    ]
    assert locate(batch, batch_device, (15, 2, 63, 127)).core == PhysicalCore(1, 1, 3)
    wide = on((256, 1024), (4, 16))
    assert locate(wide, DeviceLayout.of_mesh((1, 2)), (255, 1023)).core == PhysicalCore(1, 3, 7)
    assert locate(on((64, 256, 1024), (2, 4, 16), []), DeviceLayout.of_mesh((2, 1, 2)), (32, 0, 512)).core == (
        PhysicalCore(3, 0, 0)
    )


def test_a_grid_of_sixty_four_in_a_row_lies_on_a_chip_of_eight_by_eight():
    sharded = on((32, 2048), (1, 64), dtype=DataType.BFLOAT16)
    with pytest.raises(GridError, match=r"<1x64> is larger than the device's, <8x8>"):
        locate(sharded, ONE, (0, 0))
    found = locate(sharded, ONE.as_row(), (17, 32 * 11 + 3))
    assert (found.core, found.tile, found.byte) == (PhysicalCore(0, 1, 3), (0, 0), 2 * (2 * 256 + 16 + 3))


def test_a_transposed_tensor_on_the_transposed_grid_moves_no_element_to_another_core():
    shape = (96, 160)
    first = on(shape, (3, 5), dtype=DataType.FLOAT32)
    second = on(shape[::-1], (5, 3), dtype=DataType.FLOAT32)
    moved = dict.fromkeys(("transposed", "as it was"), 0)
    for row, column in itertools.product(range(0, 96, 7), range(0, 160, 9)):
        before = locate(first, ONE, (row, column)).core
        moved["transposed"] += before != locate(second, ONE.transposed(), (column, row)).core
        moved["as it was"] += before != locate(second, ONE, (column, row)).core
    assert moved["transposed"] == 0 < moved["as it was"]


def test_a_tensor_is_sharded_over_the_chips_that_its_grid_spans_and_replicated_over_others():
    mesh = DeviceLayout.of_mesh((2, 1, 2))
    assert distribution(on((16, 3, 64, 128), (2, 2, 4), [(1, -1)]), mesh) == ("sharded", "one chip", "sharded")
    assert distribution(on((16, 3, 64, 128), (1, 2, 4), [(1, -1)]), mesh) == ("replicated", "one chip", "sharded")


def test_ttnn_opens_meshes_as_they_are_and_refuses_reinterpreted_grids():
    assert DeviceLayout.of_mesh((1, 2)).ttnn_mesh_shape() == (1, 2)
    assert parse_device(EXAMPLES["2d"][0]).ttnn_mesh_shape() == (1, 2)
    assert ONE.ttnn_mesh_shape() == (1, 1)
    for view in (ONE.as_row(), ONE.as_column(), ONE.skewed(), ONE.transposed()):
        with pytest.raises(GridError, match="does not reinterpret grids"):
            view.ttnn_mesh_shape()
    with pytest.raises(GridError, match="no grid 2x8x8"):
        DeviceLayout.of_mesh((2, 1, 1)).ttnn_mesh_shape()


def test_a_device_of_five_fields_keeps_its_maps_of_memory():
    """N19e: the specification has devices of five fields, and of three."""
    text = (
        "#tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1) -> (0, d0, d1, 0), "
        "dramMap = (d0, d1) -> (0, 0, d0 * 8 + d1), meshShape = 1, chipIds = [0]>"
    )
    read = parse_device(text)
    assert device_text(read) == text.replace("tt.", "ttcore.")
    assert (str(read.l1_map), str(read.dram_map)) == ("(d0, d1) -> (0, d0, d1, 0)", "(d0, d1) -> (0, 0, d0 * 8 + d1)")


IDENTITY = AffineMap.parse("(d0, d1) -> (0, d0, d1)")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: DeviceLayout.of_mesh((1, 2), [0]), "a mesh of 1x2 has 2 chips, got 1 chip_ids"),
        (lambda: DeviceLayout.of_mesh((1, 2), [3, 3]), r"different numbers of at least 0, got \[3, 3\]"),
        (lambda: DeviceLayout.of_mesh((1, 0)), "extents of at least 1"),
        (lambda: DeviceLayout.of_mesh((1, 1), chip_grid=(8,)), "`chip_grid` has rows and columns"),
        (lambda: DeviceLayout((8, 8, 8), IDENTITY), "has 2 dims, and the grid <8x8x8> has rank 3"),
        (lambda: DeviceLayout((8, 8), AffineMap.identity(2)), "has 2 results"),
        (lambda: DeviceLayout((8, 9), IDENTITY), "leads to column 8, and there are 8 of them"),
        (lambda: DeviceLayout((8, 8), AffineMap.parse("(d0, d1) -> (1, d0, d1)")), "leads to chip 1"),
        (
            lambda: DeviceLayout((8, 8), AffineMap.parse("(d0, d1) -> (0, d0, d1 mod 4)")),
            r"makes one core of \[0, 0\] and \[0, 4\]",
        ),
        (lambda: ONE.core(8, 0), r"a grid of 8x8 has no core \[8, 0\]"),
        (lambda: DeviceLayout.of_mesh((2, 1, 1)).as_row(), "only a grid of rows and columns"),
        (lambda: ONE.reinterpreted((8,), AffineMap.identity(1)), "takes 2 coordinates"),
        (lambda: locate(on((16, 3, 64, 128), (2, 2, 4), [(1, -1)]), ONE, (0, 0, 0, 0)), "has rank 3"),
        (lambda: parse_device("#tt.device<8x8>"), "is not a device"),
    ],
)
def test_bad_devices_are_refused_by_name(made, message):
    with pytest.raises(ArgumentError, match=message):
        made()


def test_a_layout_of_a_text_lies_on_a_device_of_a_text():
    layout = parse_layout(
        "#tt.layout<(d0, d1) -> (d0, d1), undef, <8x8>, memref<2x2x!tt.tile<32x32, bf16>, #tt.memory_space<l1>>>",
        (512, 512),
    )
    found = locate(layout, parse_device(EXAMPLES["staircase"][0]), (64 * 3 + 33, 64 * 7 + 34))
    assert (found.core, found.tile, found.byte) == (PhysicalCore(0, 3, 2), (1, 1), 2 * (3 * 1024 + 16 + 2))
