"""Storage-only formats: bytes, conversions, names, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from tests.unit.kernels import block_float_codec as codec
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError
from ttnn_jit.dialects.ttcore import DataTypeAttr, TileType, TTCore
from ttnn_jit.kernels.block_floats.stored_elements import decoded, encoded
from ttnn_jit.layout_specification.layout_text import layout_text, parse_layout
from ttnn_jit.layout_specification.tensor_layout import TensorLayout, collapsed_map
from ttnn_jit.specs.dtypes import ALL_DTYPES, DataType
from ttnn_jit.specs.stored_formats import FORMATS, StoredFormat
from ttnn_jit.tools.cli import main

BLOCKS = [stored for stored in StoredFormat if stored.is_block_float]
FORMAT = pytest.mark.parametrize("stored", BLOCKS, ids=lambda stored: stored.value)
TILE_BYTES = {"bfp_f8": 1088, "bfp_f4": 576, "bfp_f2": 320, "bfp_bf2": 320}


def random_values(seed, shape=(64, 64)):
    """Numbers of every exponent and neighbouring ones, denormals, zeros of both signs, infinities and NaN."""
    generator = np.random.default_rng(seed)
    patterns = generator.integers(0, 2**32, shape, np.uint64).astype(np.uint32).view(np.float32)
    near = np.float32(generator.standard_normal(shape) * 2.0 ** generator.integers(-20, 20, (*shape[:-1], 1)))
    values = np.where(generator.random(shape) < 0.1, patterns, near)
    special = np.float32([0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 2**-15, 2**-16, 131008, 131072, 65519, 65520])
    return np.where(generator.random(shape) < 0.05, generator.choice(special, shape), values).astype(np.float32)


def test_every_name_of_the_table_of_formats_has_its_bytes():
    assert set(FORMATS) == set(
        "f32 f16 bf16 bfp_f8 bfp_bf8 bfp_f4 bfp_bf4 bfp_f2 bfp_bf2 u32 u16 u8 si32".split()  # noqa: SIM905 - as a table
    ) | {dtype.traits.ttcore for dtype in ALL_DTYPES if dtype.is_foreign}
    assert {stored.value: stored.nbytes(1024) for stored in StoredFormat} == TILE_BYTES


@FORMAT
@given(st.integers(0, 2**32))
@settings(max_examples=8, deadline=None)
def test_packing_tiles_equals_packing_single_elements(stored, seed):
    values = random_values(seed)
    assert encoded(values, stored).tobytes() == codec.packed(values, stored)


@FORMAT
@given(st.integers(0, 2**32))
@settings(max_examples=8, deadline=None)
def test_packed_tiles_unpack_to_numbers_of_the_format(stored, seed):
    patterns = np.random.default_rng(seed).integers(0, 256, 2 * stored.itemsize, np.uint8)
    tiles = patterns.reshape(2, -1)
    tiles[:, :64] %= 32 if stored.traits.exponent_bits == 5 else 255
    np.testing.assert_array_equal(
        decoded(patterns, (32, 64), stored), codec.unpacked(patterns.tobytes(), (32, 64), stored)
    )


@FORMAT
@given(st.integers(0, 2**32))
@settings(max_examples=8, deadline=None)
def test_representable_numbers_round_trip(stored, seed):
    generator = np.random.default_rng(seed)
    bits = stored.traits.magnitude_bits
    exponents = generator.integers(-15, 18 - bits, (64, 4, 1))  # of a unit: five bits, at least -15
    magnitudes = generator.integers(-(2**bits) + 1, 2**bits, (64, 4, 16))
    values = np.float32(magnitudes * 2.0**exponents).reshape(64, 64)
    assert np.abs(values).max() <= stored.traits.largest
    np.testing.assert_array_equal(decoded(encoded(values, stored), values.shape, stored), values)


@FORMAT
def test_the_largest_number_of_a_format_round_trips_and_larger_ones_saturate(stored):
    largest = np.float32(stored.traits.largest)
    values = np.zeros((32, 32), np.float32)
    values[0, :2] = [largest, -largest]
    np.testing.assert_array_equal(decoded(encoded(values, stored), (32, 32), stored), values)
    if stored.traits.exponent_bits == 5:
        values[0, :2] = [np.inf, -3e38]
        assert decoded(encoded(values, stored), (32, 32), stored)[0, :2].tolist() == [largest, -largest]


def test_numbers_below_the_range_of_five_exponent_bits_become_the_smallest():
    """The result of tt-metal's packing: the implicit bit of the significand is kept."""
    values = np.zeros((32, 32), np.float32)
    values[0, :3] = [2.0**-20, -(2.0**-100), 1e-40]
    assert decoded(encoded(values, StoredFormat.BFP_FLOAT8), (32, 32), StoredFormat.BFP_FLOAT8)[0, :3].tolist() == [
        2.0**-15,
        -(2.0**-15),
        0,
    ]


# --- Names --------------------------------------------------------------------------------------------------------


def attribute(text):
    context = Context()
    for dialect in (Builtin, TTCore):
        context.load_dialect(dialect)
    return Parser(context, text).parse_attribute()


@pytest.mark.parametrize("name", FORMATS)
def test_ttcore_prints_and_parses_every_format_and_knows_its_tiles(name):
    data_type, tile = attribute(f"#ttcore.supportedDataTypes<{name}>"), attribute(f"!ttcore.tile<32x32, {name}>")
    assert isinstance(data_type, DataTypeAttr)
    assert isinstance(tile, TileType)
    assert (str(data_type), str(tile)) == (f"#ttcore.supportedDataTypes<{name}>", f"!ttcore.tile<32x32, {name}>")
    assert tile.nbytes == FORMATS[name].nbytes(1024)
    if isinstance(FORMATS[name], DataType):
        assert tile.dtype is FORMATS[name]
    else:
        with pytest.raises(DTypeError, match=f"{name} is a format of memory: nothing computes with it"):
            _ = tile.dtype


@pytest.mark.parametrize("stored", StoredFormat, ids=lambda stored: stored.value)
def test_layouts_accept_every_format_and_operations_refuse_it_by_name(stored):
    layout = TensorLayout((64, 96), collapsed_map((64, 96)), (2, 1), stored, (32, 32))
    assert layout.buffer_bytes == 3 * TILE_BYTES[stored.value]
    assert parse_layout(layout_text(layout), layout.shape) == layout
    with pytest.raises(ArgumentError, match=rf"must be a ttnn\.DataType, got <?StoredFormat\.{stored.name}"):
        ttnn.zeros((32, 32), dtype=stored)
    with pytest.raises(AttributeError, match="DataType has no member"):
        getattr(ttnn.DataType, stored.name)


REFUSALS = {"!ttcore.tile<32x32, bfp_f8>": "bfp_f8 is a format of memory"}


@pytest.mark.parametrize("element", REFUSALS)
def test_a_program_on_such_tensors_is_refused_at_its_line(tmp_path, capsys, element):
    tile = element if element.startswith("!") else f"!ttcore.tile<32x32, {element}>"
    file = tmp_path / "program.mlir"
    file.write_text(
        "#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
        f"memref<2x2x{tile}, #ttnn.buffer_type<dram>>, <interleaved>>\n"
        f"func.func @f(%0: tensor<64x64x{element}, #layout>) -> tensor<64x64x{element}, #layout> {{\n"
        f"  return %0 : tensor<64x64x{element}, #layout>\n}}\n"
    )
    assert main(["run", str(file)]) != 0
    assert f"program.mlir:2:1: {REFUSALS[element]}" in capsys.readouterr().err
