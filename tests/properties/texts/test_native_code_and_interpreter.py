"""Native kernels of every available instruction set against the tile interpreter, bit for bit."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.codegen.programs import (
    assert_same_bits,
    bfloat16,
    built,
    host_isa,
    lowered,
    native,
    scheduled,
)
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.isa import AVX2, NEON
from ttnn_jit.ops import operations_on
from ttnn_jit.ops.language.kinds import IntKind
from ttnn_jit.ops.language.parameter import TENSOR_PER_CHANNEL
from ttnn_jit.specs.dtypes import FLOATS, INTEGERS
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

OF_FLOATS = [st.sampled_from(sorted(FLOATS, key=lambda dtype: dtype.name))]
OF_INTEGERS = [st.just(dtype) for dtype in sorted(INTEGERS, key=lambda dtype: dtype.name)]
SPECIALS = np.array(
    [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-45, -1e-39, 1.2e-38, 3.4e38, -3.4e38, 0.5, 88.8, -104.0],
    np.float32,
)
FUSED_STAGES = ("d2m-generic-fusion", "d2m-generic-tile-compute-loops", "d2m-op-scheduler")


@st.composite
def shapes(draw, target):
    """Shapes of the result: whole tiles for a chip, any for the cpu."""
    if target != "cpu":
        return tuple(32 * draw(st.integers(1, 3)) for _ in range(2))
    extents = st.one_of(st.integers(0, 5), st.sampled_from([1, 31, 32, 33, 65]))
    drawn = draw(st.lists(extents, max_size=4))
    return tuple(drawn if math.prod(drawn) < 1 << 18 else drawn[-2:])


@st.composite
def specs(draw, target, shape, dtypes):
    """An argument that broadcasts to `shape`."""
    dtype = draw(dtypes)
    if target != "cpu":
        return TensorSpec(shape, dtype, Layout.TILE)
    own = tuple(draw(st.sampled_from([extent, extent, 1])) for extent in shape)
    own = own[draw(st.integers(0, len(own))) :] if draw(st.booleans()) else own
    layout = draw(st.sampled_from(list(Layout)))
    strides = None
    if layout is Layout.ROW_MAJOR and own and draw(st.booleans()):
        by_dimension, step = {}, draw(st.integers(1, 3))
        for dimension in draw(st.permutations(range(len(own)))):
            by_dimension[dimension] = step
            step = step * max(own[dimension], 1) + draw(st.integers(0, 2))
        signs = st.sampled_from([1, 1, -1])
        strides = tuple(draw(signs) * by_dimension[dimension] for dimension in range(len(own)))
    return TensorSpec(own, dtype, layout, strides=strides)


@st.composite
def programs(draw, target, kinds=OF_FLOATS):
    """(argument specs, calls, indices of results) as `scheduled` takes them."""
    shape = draw(shapes(target))
    dtypes = draw(st.sampled_from(kinds))
    arguments = [TensorSpec(shape, draw(dtypes), draw(_layouts(target)))]
    arguments += [draw(specs(target, shape, dtypes)) for _ in range(draw(st.integers(0, 3)))]
    dtype = arguments[0].dtype
    constants = st.floats(-4, 4, width=32)
    if dtype.is_integer:
        constants = st.tuples(st.one_of(st.integers(0, 40), st.integers(dtype.values[0], dtype.values[-1])))
    calls = []
    for number in range(draw(st.integers(1, 6))):
        operation = draw(st.sampled_from(operations_on(frozenset([dtype]))).filter(_broadcasts))
        values = st.integers(0, len(arguments) + number - 1)
        operands = [draw(values)]
        for _ in range(operation.arity - 1):
            operands.append(draw(st.one_of(values, values, constants)))
        numbers = [float(draw(_numbers(attribute.kind))) for attribute in operation.attributes]
        calls.append((operation.tile_name, *operands, *numbers))
    count = len(arguments) + len(calls)
    others = draw(st.lists(st.integers(len(arguments), count - 1), max_size=1))
    return arguments, calls, (count - 1, *others)


def _numbers(kind):
    """Possible values of a numeric attribute."""
    return st.sampled_from(kind.values if isinstance(kind, IntKind) else [-2.0, 0.5, 3.0])


def _broadcasts(operation):
    """Whether operands may have any shapes that broadcast."""
    return not any(operand.kind is TENSOR_PER_CHANNEL for operand in operation.operands)


def _layouts(target):
    return st.just(Layout.TILE) if target != "cpu" else st.sampled_from(list(Layout))


def data_for(spec, seed):
    rng = np.random.default_rng(seed)
    if spec.dtype.is_integer:
        integers, edges = spec.dtype.values, [*spec.dtype.values[:3], *spec.dtype.values[-3:], 0, 1, 31, 32]
        widest = np.uint64 if integers[-1] > np.iinfo(np.int64).max else np.int64
        values = rng.integers(integers[0], integers[-1], spec.shape, widest, endpoint=True)
        picked = rng.random(spec.shape) < 0.5
        return np.where(picked, rng.choice(np.array(edges, widest), spec.shape), values).astype(spec.dtype.traits.numpy)
    values = rng.standard_normal(spec.shape).astype(np.float32) * 3
    picked = rng.random(spec.shape) < 0.3
    values = np.where(picked, rng.choice(SPECIALS, spec.shape), values).astype(np.float32)
    if spec.dtype.is_upper_half:
        return bfloat16(values)
    with np.errstate(all="ignore"):
        return values.astype(spec.dtype.traits.numpy)


def check(program, target, seed):
    arguments, calls, results = program
    inputs = [data_for(spec, seed + k) for k, spec in enumerate(arguments)]
    module = scheduled(arguments, calls, target=target, results=results)
    expected = interpret(module, inputs)
    for isa in {host_isa(), AVX2 if host_isa().avx512 else host_isa(), NEON}:
        for got, wanted in zip(native(module, inputs, isa), expected, strict=True):
            assert_same_bits(got, wanted)
    # Under IEEE numerics fusion decides where values are rounded; under device numerics every stage has the same bits.
    stages = FUSED_STAGES if target == "cpu" else ("convert-ttir-to-d2m", *FUSED_STAGES)
    earlier = lowered(built(arguments, calls, target=target, results=results), stages[seed % len(stages)])
    for got, wanted in zip(interpret(earlier, inputs), expected, strict=True):
        assert_same_bits(got, wanted)


quick = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
long = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@given(program=programs("cpu"), seed=st.integers(0, 2**20))
@quick
def test_native_kernels_have_the_interpreters_bits_under_ieee_numerics(program, seed):
    check(program, "cpu", seed)


@given(program=programs("wormhole_b0"), seed=st.integers(0, 2**20))
@quick
def test_native_kernels_have_the_interpreters_bits_under_device_numerics(program, seed):
    check(program, "wormhole_b0", seed)


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@given(data=st.data(), seed=st.integers(0, 2**20))
@quick
def test_native_kernels_have_the_interpreters_numbers_of_integers(target, data, seed):
    check(data.draw(programs(target, OF_INTEGERS)), target, seed)


@given(program=programs("wormhole_b0"), seed=st.integers(0, 2**20))
@quick
def test_native_kernels_have_the_interpreters_bits_with_float32_in_dst(program, seed):
    arguments, calls, results = program
    inputs = [data_for(spec, seed + k) for k, spec in enumerate(arguments)]
    module = lowered(built(arguments, calls, target="wormhole_b0", results=results), fp32_dest_acc=True)
    for got, wanted in zip(native(module, inputs), interpret(module, inputs), strict=True):
        assert_same_bits(got, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@given(data=st.data())
@long
def test_native_kernels_have_the_interpreters_bits_on_many_programs(target, data):
    check(data.draw(programs(target)), target, data.draw(st.integers(0, 2**20)))
