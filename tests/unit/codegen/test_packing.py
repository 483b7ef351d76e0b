"""Kernels that pack and unpack block floats: the bytes of the format, whatever the host's vectors."""

from __future__ import annotations

import numpy as np
import pytest

from tests.properties.test_backends_agree import by_numba
from tests.unit.codegen.programs import bfloat16, native, scheduled
from tests.unit.kernels import block_float_codec as codec
from ttnn_jit.codegen.tile_interpreter import interpret
from ttnn_jit.kernels.isa import AVX2, AVX512, NEON
from ttnn_jit.specs.dtypes import BLOCK_FLOATS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

PACKED = pytest.mark.parametrize(
    "packed", sorted(BLOCK_FLOATS, key=lambda dtype: dtype.name), ids=lambda dtype: dtype.name
)
ISAS = pytest.mark.parametrize("isa", [AVX512, AVX2, NEON], ids=lambda isa: isa.name)
SHAPE = (2, 40, 600)  # more than a strip of tiles


def any_numbers():
    """Random bits, and numbers that are near each other."""
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**32, SHAPE, dtype=np.uint32).view(np.float32)
    moderate = (rng.standard_normal(SHAPE) * np.exp2(rng.integers(-6, 7, SHAPE))).astype(np.float32)
    return np.where(rng.random(SHAPE) < 0.01, bits, moderate)


def casts(source, target):
    return scheduled([TensorSpec(SHAPE, source, Layout.TILE)], [("typecast", 0, target)])


@ISAS
@PACKED
def test_tiles_are_packed_as_the_format_says_by_every_instruction_set(isa, packed):
    values = any_numbers()
    for dtype, given in ((DataType.FLOAT32, values), (DataType.BFLOAT16, bfloat16(values))):
        exact = values if dtype is DataType.FLOAT32 else (given.astype(np.uint32) << 16).view(np.float32)
        (got,) = native(casts(dtype, packed), [given], isa)
        assert got.tobytes() == codec.packed(exact, packed)


@ISAS
@PACKED
def test_any_bytes_are_unpacked_as_the_format_says_by_every_instruction_set(isa, packed):
    spec = TensorSpec(SHAPE, packed, Layout.TILE)
    stored = np.random.default_rng(6).integers(0, 256, spec.nbytes, dtype=np.uint8)
    wanted = codec.unpacked(stored.tobytes(), SHAPE, packed)
    module = casts(packed, DataType.FLOAT32)
    for (got,) in (native(module, [stored], isa), by_numba(module, [stored]), interpret(module, [stored])):
        assert got.view(np.uint32).tobytes() == np.ascontiguousarray(wanted).view(np.uint32).tobytes()
    (got,) = native(casts(packed, DataType.BFLOAT16), [stored], isa)
    assert got.tobytes() == bfloat16(wanted).tobytes()
