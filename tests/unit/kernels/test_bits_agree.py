"""One algorithm, one result: numpy, AVX-512, AVX2, NEON, every optimisation level, every neighbour."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.unit.kernels.native_loop import assembly, host_isa, loop_text, native, native_function
from ttnn_jit.kernels.isa import AVX2, AVX512, NEON, HostIsa
from ttnn_jit.kernels.math.vector_math import VectorMath
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.ops import Operation, operations_on
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType

UNARY = ["exp", "log", "sin", "cos", "tanh", "sigmoid", "silu", "erfc", "gelu", "rsqrt", "sqrt", "abs", "neg",
         "round_even", "floor", "ceil", "trunc"]  # fmt: skip
BINARY = ["pow", "minimum", "maximum", "copysign", "add", "sub", "mul", "div"]
EDGES = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        np.inf,
        -np.inf,
        np.nan,
        1e-45,
        -1e-45,
        1e-38,
        3.4e38,
        -3.4e38,
        131072.0,
        131073.0,
    ],
    np.float32,
)


def runnable_isas() -> list[HostIsa]:
    """The host's own instruction set, lesser ones of its kind, and NEON, if necessary in the emulator."""
    host = host_isa()
    lesser = [
        preset for preset in (AVX512, AVX2) if (host.avx512 or not preset.avx512) and (host.avx2 or not preset.avx2)
    ]
    return list(dict.fromkeys([host, *lesser, NEON]))


@cache
def arguments(seed: int, count: int = 20_000) -> np.ndarray:
    rng = np.random.default_rng(seed)
    random_bits = rng.integers(0, 2**32, count, dtype=np.uint64).astype(np.uint32).view(np.float32)
    moderate = (rng.normal(size=count) * 10).astype(np.float32)
    return rng.permutation(np.concatenate([random_bits, moderate, np.repeat(EDGES, 8)]))


def assert_same_bits(got: np.ndarray, expected: np.ndarray, where: np.ndarray) -> None:
    """Bits equal, any NaN equal to any NaN."""
    same = (got.view(np.int32) == expected.view(np.int32)) | (np.isnan(got) & np.isnan(expected))
    assert same.all(), (where[~same][:5], got[~same][:5], expected[~same][:5])


@pytest.mark.parametrize("isa", runnable_isas(), ids=lambda isa: isa.name)
@pytest.mark.parametrize("name", UNARY)
def test_numpy_and_native_code_give_the_same_bits(name: str, isa: HostIsa) -> None:
    x = arguments(1)
    with NumpyVector.quiet():
        expected = np.asarray(getattr(NumpyVector(), name)(x))
    assert_same_bits(native_function(name, 1, isa)(x), expected, x)


@pytest.mark.parametrize("isa", runnable_isas(), ids=lambda isa: isa.name)
@pytest.mark.parametrize("name", BINARY)
def test_numpy_and_native_code_give_the_same_bits_for_two_operands(name: str, isa: HostIsa) -> None:
    x, y = arguments(2), arguments(3)
    with NumpyVector.quiet():
        expected = np.asarray(getattr(NumpyVector(), name)(x, y))
    assert_same_bits(native_function(name, 2, isa)(x, y), expected, x)


@cache
def numpy_result(operation: Operation) -> tuple[list[np.ndarray], np.ndarray]:
    """Operands of a tile body, and its results in numpy."""
    inputs = [arguments(10 + k, 2_000) for k in range(operation.arity)]
    with NumpyVector.quiet():
        found = operation.emit(NumpyVector(), *inputs, *operation.tested_attributes)
    return inputs, np.asarray(found, np.float32)


@pytest.mark.parametrize("isa", runnable_isas(), ids=lambda isa: isa.name)
@pytest.mark.parametrize("operation", operations_on(FLOATS), ids=lambda operation: operation.ttnn_name)
def test_every_tile_body_gives_the_same_bits_everywhere(operation: Operation, isa: HostIsa) -> None:
    body, numbers = operation.emit, operation.tested_attributes
    inputs, expected = numpy_result(operation)
    call = native(lambda b, x: body(b, *x, *numbers), operation.arity, isa)
    assert_same_bits(call(*inputs), expected, inputs[0])


@pytest.mark.parametrize("isa", runnable_isas(), ids=lambda isa: isa.name)
def test_numpy_fuses_multiply_and_add_as_hardware_does(isa: HostIsa) -> None:
    x, y, z = arguments(4), arguments(5), arguments(6).copy()
    with np.errstate(all="ignore"):
        z[::2] = -(x * y.astype(np.float64))[::2].astype(np.float32)  # cancels all but what the product's rounding lost
    with NumpyVector.quiet():
        expected = NumpyVector().fma(x, y, z)
    assert_same_bits(native_function("fma", 3, isa)(x, y, z), expected, x)


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("name", ["exp", "log", "sin", "gelu"])
def test_the_code_generator_s_level_changes_no_bit(name: str, level: int) -> None:
    x = arguments(7, 2_000)
    call = native(lambda b, x: getattr(b, name)(*x), 1, host_isa(), level=level)
    with NumpyVector.quiet():
        assert_same_bits(call(x), getattr(NumpyVector(), name)(x), x)


@pytest.mark.parametrize("name", ["sin", "cos", "rsqrt"])
def test_a_lane_does_not_depend_on_its_neighbours(name: str) -> None:
    call = native_function(name, 1, host_isa())
    calm = np.full(64, 1.25, np.float32)
    for intruder in (1e30, np.inf, np.nan, 0.0, 1e-45):
        mixed = calm.copy()
        mixed[::3] = intruder
        alone = call(np.full(64, intruder, np.float32))
        assert_same_bits(call(mixed)[1::3], call(calm)[1::3], mixed[1::3])
        assert_same_bits(call(mixed)[::3], alone[::3], mixed[::3])


@pytest.mark.parametrize("numerics", list(Numerics))
@pytest.mark.parametrize("isa", runnable_isas(), ids=lambda isa: isa.name)
def test_rounding_to_bfloat16_is_the_same_everywhere(numerics: Numerics, isa: HostIsa) -> None:
    x = np.concatenate([arguments(8), np.arange(0, 2**23 + 2**18, 97, dtype=np.uint32).view(np.float32)])
    b = NumpyVector()
    with NumpyVector.quiet():
        expected = np.asarray(b.round_to(x, DataType.BFLOAT16, numerics), np.float32)
        patterns = b.store_bf16(x, numerics)
    rounded = native(lambda b, x: b.round_to(x[0], DataType.BFLOAT16, numerics), 1, isa)
    stored = native(lambda b, x: b.store_bf16(x[0], numerics), 1, isa, output="i16")
    assert_same_bits(rounded(x), expected, x)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(stored(x)[numbers], patterns[numbers])
    assert_same_bits((stored(x).astype(np.uint32) << 16).view(np.float32), expected, x)


def test_device_rounding_turns_nan_into_infinity_and_flushes_denormals() -> None:
    x = np.array([np.nan, -np.nan, 1e-40, -1e-40, 2.0**-126, 1.00390625, 1.01171875, 3.4e38, -np.inf], np.float32)
    got = NumpyVector().round_to(x, DataType.BFLOAT16, Numerics.DEVICE)
    expected = np.array([np.inf, np.inf, 0.0, -0.0, 2.0**-126, 1.0, 1.015625, np.inf, -np.inf], np.float32)
    assert got.view(np.int32).tolist() == expected.view(np.int32).tolist()


def test_ieee_rounding_keeps_nan_and_denormals() -> None:
    x = np.array([np.nan, 2.0**-133, -(2.0**-133), 1.5 * 2.0**-133, 2.0**-149], np.float32)
    got = NumpyVector().round_to(x, DataType.BFLOAT16, Numerics.IEEE)
    expected = np.array([np.nan, 2.0**-133, -(2.0**-133), 2.0**-132, 0.0], np.float32)
    assert np.isnan(got[0])
    assert got[1:].view(np.int32).tolist() == expected[1:].view(np.int32).tolist()


def test_bfloat16_bits_pass_through_loads_and_stores() -> None:
    patterns = np.arange(2**16, dtype=np.uint16)
    b = NumpyVector()
    values = b.load_bf16(patterns)
    numbers = ~np.isnan(values)
    np.testing.assert_array_equal(b.store_bf16(values, Numerics.IEEE)[numbers], patterns[numbers])


@pytest.mark.parametrize("isa", [AVX512, AVX2, NEON], ids=lambda isa: isa.name)
def test_code_for_every_instruction_set_calls_no_library(isa: HostIsa) -> None:
    for operation in operations_on(FLOATS):
        body, numbers = operation.emit, operation.tested_attributes
        build = lambda b, x: body(b, *x, *numbers)  # noqa: B023, E731 - called before the next round
        text = assembly(loop_text(build, operation.arity, isa), isa, 0)
        called = set(re.findall(r"^\s+(?:callq?|bl|jmp|b)\s+([A-Za-z_][\w.]*)", text, re.MULTILINE))
        assert {name for name in called if not name.startswith("ttnn_jit.")} == set(), operation


def test_two_copies_of_a_function_share_the_rare_path() -> None:
    text = loop_text(lambda b, x: b.sin(b.sin(x[0])), 1, host_isa(), unroll=2)
    assert text.count("define internal") == 1


def test_the_bf16_instruction_changes_no_bit() -> None:
    host = host_isa()
    if not host.avx512_bf16:
        return  # nothing to compare: the host has no such instruction
    x = arguments(9)
    build = lambda b, x: b.store_bf16(x[0], Numerics.DEVICE)  # noqa: E731 - used twice below
    with_it = native(build, 1, host, output="i16")(x)
    without = native(build, 1, replace(host, avx512_bf16=False), output="i16")(x)
    np.testing.assert_array_equal(with_it, without)


@pytest.mark.parametrize(("count", "number"), [(1, 0), (2, 0), (2, 1)])
def test_the_bf16_instructions_round_one_or_two_vectors_to_nearest_even(count: int, number: int) -> None:
    host = host_isa()
    if not host.avx512_bf16:
        return  # nothing to compare: the host has no such instruction
    x, y = (
        np.where(np.abs(each) < np.finfo(np.float32).tiny, np.float32(-0.0), each) for each in map(arguments, (9, 10))
    )
    found = native(lambda b, values: b.rounded_normals(values[:count])[number], 2, host)(x, y)
    assert_same_bits(found, NumpyVector().round_bfloat16((x, y)[number], Numerics.IEEE), x)


def test_no_mixin_overrides_another_s_functions() -> None:
    mixins = [mixin for mixin in VectorMath.__mro__ if mixin.__module__.startswith("ttnn_jit.kernels.")]
    defined = Counter(name for mixin in mixins for name in vars(mixin) if not name.startswith("__"))
    assert [name for name, count in defined.items() if count > 1 and name not in {"_abc_impl", "_is_protocol"}] == []
