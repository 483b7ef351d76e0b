"""Two code generators, LLVM vectors with own functions and numba with libm, on the same inputs.

Exact operations have equal bits. Functions differ by no more than the bounds that each side states.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.codegen.programs import assert_same_bits, bfloat16, host_isa, native, run_plan, scheduled
from ttnn_jit.codegen.images.assemble import assemble
from ttnn_jit.codegen.numba_kernel import numba_program
from ttnn_jit.codegen.writing.numba_module import numba_module
from ttnn_jit.kernels.numba.scalar_math import LIBM_ULP
from ttnn_jit.ops import operations_on
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

SPECIALS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, math.inf, -math.inf, math.nan, 1e-45, -1e-40, 1.2e-38, 3.3e38, -3.3e38]
FLOAT32, BFLOAT16 = DataType.FLOAT32, DataType.BFLOAT16
SIZE = 1024  # whole tiles, so that every target accepts it


def by_numba(module, inputs):
    _, plan, sources = numba_program(module)
    objects = {name: assemble(numba_module(name, source), host_isa()) for name, source in sources.items()}
    return run_plan(plan, objects, inputs)


def one_op(operation, dtype, target, shape=(32, SIZE // 32)):
    spec = TensorSpec(shape, dtype, Layout.TILE)
    call = (operation.tile_name, *range(operation.arity), *operation.tested_attributes)
    return scheduled([spec] * operation.arity, [call], target=target)


def as_float32(array):
    return array if array.dtype == np.float32 else (array.astype(np.uint32) << 16).view(np.float32)


def ordered(array):
    """Every number's index among the ordered numbers of its type; zeros share one."""
    bits = array.view(np.int32 if array.dtype == np.float32 else np.int16).astype(np.int64)
    lowest = -(2**31) if array.dtype == np.float32 else -(2**15)
    return np.where(bits < 0, lowest - bits, bits)


def assert_agree(operation, dtype, ours, theirs):
    probe = operation.probe
    bound = probe.max_ulp if dtype is FLOAT32 else probe.max_ulp_bf16
    if bound == 0:
        assert_same_bits(theirs, ours)
        return
    nan = np.isnan(as_float32(ours))
    assert (nan == np.isnan(as_float32(theirs))).all()
    with np.errstate(invalid="ignore"):
        distance = np.abs(as_float32(ours).astype(np.float64) - as_float32(theirs))[~nan]
    apart = np.where(distance <= probe.max_absolute, 0, np.abs(ordered(ours) - ordered(theirs))[~nan])
    assert apart.max(initial=0) <= bound + LIBM_ULP


def stored(values, dtype):
    values = np.asarray(values, np.float32).reshape(32, SIZE // 32)
    return values if dtype is FLOAT32 else bfloat16(values)


def arguments(operation, dtype):
    """Every bfloat16 for a unary operation; else special values against each other, then the declared domain."""
    if dtype is BFLOAT16 and operation.arity == 1:
        yield np.arange(2**16, dtype=np.uint16).reshape(256, 256)
        return
    rng = np.random.default_rng(len(operation.name))
    grids = np.meshgrid(*[np.array(SPECIALS, np.float32)] * operation.arity)
    low, high = operation.probe.domain
    for grid in grids:
        random = rng.uniform(low, high, SIZE).astype(np.float32)
        few = grid.ravel()[:: max(1, grid.size // 400)][:400]
        random[: few.size] = few
        yield stored(random, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [BFLOAT16, FLOAT32], ids=lambda dtype: dtype.mlir)
@pytest.mark.parametrize("operation", operations_on(FLOATS), ids=lambda operation: operation.ttnn_name)
def test_an_operation_agrees_with_its_libm_twin(operation, dtype):
    """Under device numerics only the rounding differs, which the fused programs below cover."""
    inputs = list(arguments(operation, dtype))
    module = one_op(operation, dtype, "cpu", inputs[0].shape)
    (ours,), (theirs,) = native(module, inputs), by_numba(module, inputs)
    assert_agree(operation, dtype, ours, theirs)


@st.composite
def trees(draw):
    """Calls ``(operation, operands)`` on two arguments and earlier results."""
    calls = []
    for number in range(draw(st.integers(2, 6))):
        operation = draw(st.sampled_from(operations_on(FLOATS)))
        calls.append((operation, [draw(st.integers(0, 1 + number)) for _ in range(operation.arity)]))
    return calls


@pytest.mark.slow
@given(calls=trees(), dtype=st.sampled_from([FLOAT32, BFLOAT16]), target=st.sampled_from(["cpu", "wormhole_b0"]))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_op_of_an_expression_tree_agrees_on_the_values_that_reach_it(calls, dtype, target):
    rng = np.random.default_rng(len(calls))
    values = []
    for _ in range(2):
        numbers = (rng.standard_normal(SIZE) * 3).astype(np.float32)
        numbers[: len(SPECIALS)] = rng.permutation(SPECIALS)
        values.append(stored(numbers, dtype))
    for operation, operands in calls:
        module = one_op(operation, dtype, target)
        inputs = [values[k] for k in operands]
        (ours,), (theirs,) = native(module, inputs), by_numba(module, inputs)
        assert_agree(operation, dtype, ours, theirs)
        values.append(ours)


EXACT = [o for o in operations_on(FLOATS) if o.probe.max_ulp == o.probe.max_ulp_bf16 == 0]


@pytest.mark.slow
@given(data=st.data(), target=st.sampled_from(["cpu", "wormhole_b0"]))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_fused_program_of_exact_operations_has_equal_bits(data, target):
    shape = (32, 64)
    specs = [TensorSpec(shape, data.draw(st.sampled_from([FLOAT32, BFLOAT16])), Layout.TILE) for _ in range(2)]
    if target == "cpu":
        specs.append(TensorSpec((1, 64), FLOAT32, Layout.ROW_MAJOR))
    calls = []
    for number in range(data.draw(st.integers(1, 5))):
        operation = data.draw(st.sampled_from(EXACT))
        indices = st.integers(0, len(specs) + number - 1)
        others = st.one_of(indices, st.just(0.3))
        operands = [data.draw(indices), *(data.draw(others) for _ in range(operation.arity - 1))]
        calls.append((operation.tile_name, *operands, *operation.tested_attributes))
    module = scheduled(specs, calls, target=target)
    rng = np.random.default_rng(1)
    inputs = [(rng.standard_normal(spec.shape) * 3).astype(np.float32) for spec in specs]
    inputs = [v if spec.dtype is FLOAT32 else bfloat16(v) for v, spec in zip(inputs, specs, strict=True)]
    for ours, theirs in zip(native(module, inputs), by_numba(module, inputs), strict=True):
        assert_same_bits(theirs, ours)
