"""Kernels that pack and unpack block floats produce the bytes of the format for all vector widths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.properties.texts.test_backends_agree import by_numba
from tests.unit.codegen.programs import bfloat16, native, scheduled
from tests.unit.kernels import block_float_codec as codec
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.isa import AVX2, AVX512, NEON
from ttnn_jit.ops import OVERLOADS
from ttnn_jit.specs.dtypes import BLOCK_FLOATS
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
from ttnn_jit.transforms import pipeline

PACKED = pytest.mark.parametrize(
    "packed", sorted(BLOCK_FLOATS, key=lambda dtype: dtype.name), ids=lambda dtype: dtype.name
)
ISAS = pytest.mark.parametrize("isa", [AVX512, AVX2, NEON], ids=lambda isa: isa.name)
SHAPE = (2, 40, 600)  # more than a strip of tiles


def any_numbers():
    """Random bits, and numbers of similar size."""
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
    for dtype, array in ((DataType.FLOAT32, values), (DataType.BFLOAT16, bfloat16(values))):
        exact = values if dtype is DataType.FLOAT32 else (array.astype(np.uint32) << 16).view(np.float32)
        (got,) = native(casts(dtype, packed), [array], isa)
        assert got.tobytes() == codec.packed(exact, packed)


@st.composite
def programs(draw):
    """(shapes of two arguments, calls): movements, arithmetic and sums, on earlier values of one shape."""
    calls, shapes = [], [(40, 48)] * 2
    for _ in range(draw(st.integers(2, 6))):
        first = draw(st.integers(0, len(shapes) - 1))
        height, width = shape = shapes[first]
        alike = st.sampled_from([index for index, other in enumerate(shapes) if other == shape])
        match draw(st.sampled_from(["permute", "reshape", "concat", "add", "abs", "max", "tril"])):
            case "permute":
                calls.append(("permute", first, (1, 0)))
                shapes.append((width, height))
            case "reshape":
                calls.append(("reshape", first, (height * 2, width // 2) if width % 2 == 0 else (1, height * width)))
                shapes.append(calls[-1][-1])
            case "concat":
                calls.append(("concat", first, draw(alike), 0))
                shapes.append((2 * height, width))
            case "add":
                calls.append(("add", first, draw(alike)))
                shapes.append(shape)
            case "abs":
                calls.append(("abs", first))
                shapes.append(shape)
            case "max":
                calls.append(("max", first, (1,), True))
                shapes.append((height, 1))
            case "tril":
                calls.append(("tril", first, 0))
                shapes.append(shape)
    return calls


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@PACKED
@given(calls=programs())
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
def test_movements_among_arithmetic_have_one_result_in_every_executor(target, packed, calls):
    rng = np.random.default_rng(len(calls))
    stored = [
        np.frombuffer(codec.packed(rng.standard_normal((40, 48)).astype(np.float32), packed), np.uint8)
        for _ in range(2)
    ]
    builder = ModuleBuilder("program", resolve_target(target), None)
    spec = TensorSpec((40, 48), packed, Layout.TILE)
    values = [(builder.argument(spec), spec) for _ in range(2)]
    for name, *operands in calls:
        operation = OVERLOADS[name][0]
        count = 2 if name in {"add", "concat"} else 1
        values.append(
            builder.operation(operation, [values[index] for index in operands[:count]], operands[count:], None)
        )
    module = builder.finish([values[-1][0]])
    pipeline.run(module, CompileOptions(), until=pipeline.SCHEDULED, verify_each=True)
    (wanted,) = interpret(module, stored)
    for (got,) in (native(module, stored), by_numba(module, stored)):
        np.testing.assert_array_equal(got, wanted)


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
