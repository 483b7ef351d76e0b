"""Products that unpack block floats while reading have the bits of unpacking first."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import example, given, settings

import ttnn_jit
from tests.products import assert_bits
from tests.unit.codegen.programs import bfloat16, host_isa, lowered, native, scheduled
from tests.unit.kernels import block_float_codec as codec
from ttnn_jit import ttnn
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.codegen.schedules.kernel import Contract
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.isa import AVX2, NEON
from ttnn_jit.ops import OVERLOADS
from ttnn_jit.specs.dtypes import BLOCK_FLOATS
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

PACKED = sorted(BLOCK_FLOATS, key=lambda dtype: dtype.name)
FLOATS = [DataType.BFLOAT16, DataType.FLOAT32]


def product(left, right, is_transposed):
    """The scheduled module of a product."""
    builder = ModuleBuilder("program", resolve_target("cpu"), None)
    values = [(builder.argument(spec), spec) for spec in (left, right)]
    values.append(builder.operation(OVERLOADS["matmul"][0], values, (False, is_transposed, None), None))
    return lowered(builder.finish([values[-1][0]]))


def tiles(spec, seed, *, wild):
    """Packed tiles: of any bytes, or of numbers near 1 with some groups of zeros."""
    rng = np.random.default_rng(seed)
    stored = rng.integers(0, 256, (spec.items, spec.dtype.itemsize), dtype=np.uint8)
    if not wild:
        stored[:, :64] = rng.integers(120, 134, (spec.items, 64)) * (rng.random((spec.items, 64)) < 0.9)
    return stored.reshape(-1)


def launched_once(module):
    (launch,) = generate(module, host_isa()).plan.launches
    return launch


@st.composite
def products(draw):
    """(rows, terms and columns; batch; whether columns are rows of tiles; element types; seed; any bytes or not)."""
    rows = draw(st.sampled_from([1, 2, 3, 8, 9, 40]))
    terms = 2 * draw(st.sampled_from([1, 15, 16, 17, 32, 70, 140]))
    columns = draw(st.sampled_from([1, 16, 33, 64, 65, 130, 300]))
    batch = draw(st.sampled_from([(), (), (2,)]))
    types = draw(st.sampled_from(FLOATS)), draw(st.sampled_from(PACKED))
    return (rows, terms, columns), batch, draw(st.booleans()), types, draw(st.integers(0, 99)), draw(st.booleans())


@settings(max_examples=25, deadline=None)
@given(case=products())
@example(case=((1, 2050, 64), (), False, (DataType.BFLOAT16, DataType.BFLOAT8_B), 1, False))
@example(case=((2, 2050, 96), (), True, (DataType.FLOAT32, DataType.BFLOAT4_B), 2, False))
@example(case=((9, 300, 300), (), True, (DataType.BFLOAT16, DataType.BFLOAT4_B), 3, True))
def test_a_product_by_packed_tiles_of_any_bytes_equals_one_by_the_unpacked_values(case):
    (rows, terms, columns), batch, is_transposed, (dtype, packed), seed, wild = case
    right = TensorSpec((*batch, columns, terms) if is_transposed else (*batch, terms, columns), packed, Layout.TILE)
    left = TensorSpec((*batch, rows, terms), dtype, Layout.TILE)
    values = np.random.default_rng(seed).standard_normal(tuple(left.shape)).astype(np.float32)
    operands = [bfloat16(values) if dtype is DataType.BFLOAT16 else values, tiles(right, seed, wild=wild)]
    module = product(left, right, is_transposed)
    with np.errstate(all="ignore"):
        (wanted,) = interpret(module, operands)
    for isa in {host_isa(), AVX2} if host_isa().avx2 else {host_isa()}:
        (got,) = native(module, operands, isa)
        assert_same_numbers(got, wanted)


def assert_same_numbers(got, wanted):
    """Equal bits, any NaN equal to any NaN."""
    patterns = np.asarray(got), np.asarray(wanted)
    if patterns[0].dtype == np.uint16:
        patterns = tuple((each.astype(np.uint32) << 16).view(np.float32) for each in patterns)
    a, b = patterns
    assert ((a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))).all()


def factors(rows, terms, columns, batches, is_transposed, types):
    """The specs of two tiled factors, with these dimensions before their last two."""
    shapes = (rows, terms), (columns, terms) if is_transposed else (terms, columns)
    return [
        TensorSpec((*batch, *shape), dtype, Layout.TILE)
        for batch, shape, dtype in zip(batches, shapes, types, strict=True)
    ]


def values_of(spec, seed):
    """Elements, or packed tiles with ordinary exponents in all groups, or with denormal elements in some."""
    if not spec.dtype.is_block_float:
        values = np.random.default_rng(seed).standard_normal(tuple(spec.shape)).astype(np.float32)
        return bfloat16(values) if spec.dtype is DataType.BFLOAT16 else values
    packed = tiles(spec, seed, wild=False).reshape(spec.items, -1)
    rng = np.random.default_rng(seed + 1)
    packed[:: 1 + seed % 3, :64] = rng.choice([0, 1, 5, 100, 125, 140], packed[:: 1 + seed % 3, :64].shape)
    return packed.reshape(-1)


@st.composite
def packed_rows(draw):
    """(specs of both factors, the left one packed; whether columns are rows of tiles; seed)."""
    batches = draw(st.sampled_from([((), ()), ((2,), (2,)), ((3,), ())]))
    types = draw(st.sampled_from(PACKED)), draw(st.sampled_from([*FLOATS, *PACKED]))
    rows, columns = draw(st.sampled_from([1, 2, 3, 8, 9, 32, 40, 96])), draw(st.sampled_from([1, 16, 65, 130, 300]))
    terms, is_transposed = 2 * draw(st.sampled_from([1, 15, 16, 17, 32, 70, 140])), draw(st.booleans())
    return factors(rows, terms, columns, batches, is_transposed, types), is_transposed, draw(st.integers(0, 99))


@settings(max_examples=15, deadline=None)
@given(case=packed_rows())
@example(case=(factors(514, 66, 258, ((), ()), False, (PACKED[0], DataType.BFLOAT16)), False, 1))
@example(case=(factors(5, 8230, 40, ((), ()), True, (PACKED[1], PACKED[0])), True, 2))
@example(case=(factors(64, 64, 70, ((2, 3), ()), False, (PACKED[0], DataType.FLOAT32)), False, 3))
def test_a_product_of_packed_rows_equals_one_of_the_unpacked_values(case):
    specs, is_transposed, seed = case
    operands = [values_of(each, seed + k) for k, each in enumerate(specs)]
    module = product(*specs, is_transposed)
    with np.errstate(all="ignore"):
        (wanted,) = interpret(module, operands)
    for isa in {host_isa(), AVX2} if host_isa().avx2 else {host_isa()}:
        (got,) = native(module, operands, isa)
        np.testing.assert_array_equal(got, wanted)


UNPACKED_WITH_ROWS = [((1,), ()), ((5,), ()), ((40,), ()), ((2, 64), ()), ((2, 40), (2,)), ((2, 3, 7), (2, 3))]


@pytest.mark.parametrize("columns_are_packed", [False, True])
@pytest.mark.parametrize(("rows", "batch"), UNPACKED_WITH_ROWS)
def test_packed_rows_are_unpacked_in_the_launch_that_multiplies_them(rows, batch, columns_are_packed):
    types = DataType.BFLOAT8_B, DataType.BFLOAT4_B if columns_are_packed else DataType.BFLOAT16
    specs = factors(rows[-1], 64, 96, (rows[:-1], batch), False, types)
    program = generate(product(*specs, False), host_isa())
    reading = [launch for launch in program.plan.launches if 0 in launch.operands]
    assert [(launch.operands[:2], launch.reduced) for launch in reading] == [((0, 1), (1,))]
    remarks = [launch.remark for launch in program.host.launches if isinstance(launch.bound.kernel, Contract)]
    assert all("(typecast) in the loop of (matmul" in remark and ") over panels" in remark for remark in remarks)


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("packed", PACKED, ids=lambda dtype: dtype.name)
def test_narrow_vectors_unpack_the_same_bits(packed, is_transposed):
    left = TensorSpec((9, 34), DataType.BFLOAT16, Layout.TILE)
    right = TensorSpec((40, 34) if is_transposed else (34, 40), packed, Layout.TILE)
    values = bfloat16(np.random.default_rng(7).standard_normal((9, 34)).astype(np.float32))
    operands = [values, tiles(right, 8, wild=False)]
    module = product(left, right, is_transposed)
    (wanted,) = interpret(module, operands)
    (got,) = native(module, operands, NEON)
    assert_same_numbers(got, wanted)


@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("packed", PACKED, ids=lambda dtype: dtype.name)
def test_a_product_by_packed_tiles_is_near_the_product_in_float64(packed, rows):
    values = np.random.default_rng(rows).standard_normal((96, 70)).astype(np.float32)
    right = TensorSpec((96, 70), packed, Layout.TILE)
    stored = np.frombuffer(codec.packed(values, packed), np.uint8)
    x = np.random.default_rng(9).standard_normal((rows, 96)).astype(np.float32)
    (got,) = native(product(TensorSpec((rows, 96), DataType.FLOAT32, Layout.TILE), right, False), [x, stored])
    exact = x.astype(np.float64) @ codec.unpacked(stored.tobytes(), (96, 70), packed).astype(np.float64)
    np.testing.assert_allclose(got, exact, rtol=0, atol=1e-5 * np.abs(exact).max())


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("rows", [1, 8, 64])
def test_packed_weights_are_unpacked_in_the_launch_that_multiplies_by_them(rows, is_transposed):
    left = TensorSpec((rows, 64), DataType.BFLOAT16, Layout.TILE)
    right = TensorSpec((96, 64) if is_transposed else (64, 96), DataType.BFLOAT8_B, Layout.TILE)
    assert launched_once(product(left, right, is_transposed)).operands[:2] == (0, 1)


@settings(max_examples=12, deadline=None)
@given(
    heads=st.integers(2, 5),
    size=st.sampled_from([32, 40, 64, 96]),
    rows=st.sampled_from([1, 7, 40]),
    columns=st.sampled_from([64, 70, 200]),
    is_transposed=st.booleans(),
    packed=st.sampled_from(PACKED),
)
def test_a_product_of_concatenated_heads_multiplies_by_packed_tiles(heads, size, rows, columns, is_transposed, packed):
    """The terms are two loops in this case, and the inner one must cover whole tiles."""
    left = TensorSpec((heads, rows, size), DataType.BFLOAT16)
    right = TensorSpec((columns, heads * size) if is_transposed else (heads * size, columns), packed, Layout.TILE)
    calls = [
        ("permute", 0, (1, 0, 2)),
        ("reshape", 2, (rows, heads * size)),
        ("matmul", 3, 1, False, is_transposed, None),
    ]
    module = scheduled([left, right], calls)
    values = bfloat16(np.random.default_rng(size).standard_normal((heads, rows, size)).astype(np.float32))
    operands = [values, tiles(right, rows, wild=False)]
    (wanted,) = interpret(module, operands)
    (got,) = native(module, operands)
    assert_same_numbers(got, wanted)
    if rows > 1 and size % 32 == 0:
        assert launched_once(module).reduced == (1, 2)


def test_a_packed_bias_is_added_in_the_launch_of_the_product():
    specs = [
        TensorSpec((40, 64), DataType.BFLOAT16, Layout.TILE),
        TensorSpec((64, 96), DataType.BFLOAT8_B, Layout.TILE),
        TensorSpec((1, 96), DataType.BFLOAT8_B, Layout.TILE),
    ]
    module = scheduled(specs, [("matmul", 0, 1, False, False, None), ("add", 3, 2), ("gelu", 4)])
    launches = generate(module, host_isa()).plan.launches
    assert [len(launch.operands) for launch in launches] == [2, 4]
    assert launches[1].reduced == (1,)


def test_a_packed_tensor_with_other_readers_is_unpacked_once_for_all():
    x, w = TensorSpec((64, 64), DataType.BFLOAT16, Layout.TILE), TensorSpec((64, 64), DataType.BFLOAT8_B, Layout.TILE)
    module = scheduled([x, w], [("matmul", 0, 1, False, False, None), ("abs", 1), ("add", 2, 3)])
    plan = generate(module, host_isa()).plan
    assert [1 in launch.operands for launch in plan.launches] == [True, False]


def test_a_launch_that_would_read_beyond_packed_tiles_is_refused():
    left = TensorSpec((3, 64), DataType.BFLOAT16, Layout.TILE)
    plan = generate(product(left, TensorSpec((64, 96), DataType.BFLOAT8_B, Layout.TILE), False), host_isa()).plan
    (launch,) = plan.launches
    loops, index = launch.loops, launch.loops * 2
    for changed in (
        replace(launch, params=(*launch.params[:index], 2, *launch.params[index + 1 :])),
        replace(launch, params=(*launch.params[: index + 1], 4, *launch.params[index + 2 :])),
        replace(launch, offsets=(launch.offsets[0], 32, *launch.offsets[2:])),
        replace(launch, offsets=(launch.offsets[0], -32, *launch.offsets[2:])),
    ):
        assert len(changed.params) == len(launch.params) == loops * 4
        with pytest.raises(InternalError, match="leaves the memory of operand 1"):
            replace(plan, launches=(changed,))


@pytest.mark.parametrize("rows", [3, 64])
def test_a_launch_that_would_read_beyond_packed_rows_is_refused(rows):
    specs = factors(rows, 64, 96, ((2,), (2,)), False, (DataType.BFLOAT8_B, DataType.BFLOAT16))
    plan = generate(product(*specs, False), host_isa()).plan
    launch = next(each for each in plan.launches if 0 in each.operands)
    strides = range(launch.loops, 2 * launch.loops)
    assert [launch.params[k] for k in strides] == [0, 1, 2, 128 if rows == 64 else 64]
    for index, stride in zip(strides, (None, 33, 4 if rows == 64 else None, 160), strict=True):
        if stride is not None:
            params = (*launch.params[:index], stride, *launch.params[index + 1 :])
            with pytest.raises(InternalError, match="leaves the memory of operand 0"):
                replace(
                    plan,
                    launches=tuple(replace(each, params=params) if each is launch else each for each in plan.launches),
                )


@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b])
@pytest.mark.parametrize("is_transposed", [False, True])
def test_calls_eager_calls_and_traces_multiply_by_packed_tensors_with_the_same_bits(dtype, is_transposed):
    device = ttnn.open_device(device_id=0, target="cpu")
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(2, 5, 96, generator=generator).bfloat16()
    weight = torch.randn(*((200, 96) if is_transposed else (96, 200)), generator=generator)
    bias = torch.randn(200, generator=generator).bfloat16()
    a, b = (ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in (x, bias))
    packed = ttnn.from_torch(weight, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)

    def layer(a, w, b):
        return ttnn.linear(a, w, bias=b, transpose_b=is_transposed, activation="gelu")

    whole = ttnn.typecast(packed, ttnn.bfloat16)
    wanted = ttnn.to_torch(ttnn_jit.jit()(layer)(a, whole, b))
    assert_bits(ttnn.to_torch(ttnn_jit.jit()(layer)(a, packed, b)), wanted)
    assert_bits(ttnn.to_torch(ttnn_jit.jit(backend="numba")(layer)(a, packed, b)), wanted)
    eager = ttnn.to_torch(layer(a, packed, b))
    assert_bits(eager, ttnn.to_torch(layer(a, whole, b)))
    identifier = ttnn.begin_trace_capture(device, cq_id=0)
    traced = layer(a, packed, b)
    ttnn.end_trace_capture(device, identifier, cq_id=0)
    ttnn.execute_trace(device, identifier, cq_id=0, blocking=True)
    assert_bits(ttnn.to_torch(traced), eager)
