"""Loops that unpack and pack block floats strip by strip have the bits of separate launches."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tests.unit.codegen.programs import assert_same_bits, bfloat16, host_isa, native, scheduled
from ttnn_jit.codegen.blocking import compute_at
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.codegen.schedules.kernel import LoopNest, Loops
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.isa import AVX2, NEON
from ttnn_jit.runtime.native.chunks import chunks_of
from ttnn_jit.specs.dtypes import BLOCK_FLOATS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

PACKED = sorted(BLOCK_FLOATS, key=lambda dtype: dtype.name)
TYPES = [*PACKED, DataType.FLOAT32, DataType.BFLOAT16]
SHAPES = [(32, 32), (64, 96), (32, 320), (2, 3, 32, 256), (2, 64, 288), (40, 70), (7, 600)]


def values_of(spec, rng):
    """Elements, or stored packed tiles, of any numbers except those whose sums or products are NaN."""
    if spec.dtype.is_block_float:
        stored = rng.integers(0, 256, (spec.items, spec.dtype.itemsize), dtype=np.uint8)
        stored[:, :64] = np.where(rng.random((spec.items, 64)) < 0.2, rng.integers(0, 9), rng.integers(100, 140))
        return stored.reshape(-1)
    values = (rng.standard_normal(tuple(spec.shape)) * np.exp2(rng.integers(-9, 9, tuple(spec.shape)))).astype("f4")
    return bfloat16(values) if spec.dtype.is_upper_half else values


@st.composite
def programs(draw):
    """(tensors, calls): arithmetic on earlier values, some of them cast."""
    shape = draw(st.sampled_from(SHAPES))
    specs = [TensorSpec(shape, draw(st.sampled_from(TYPES)), Layout.TILE) for _ in range(3)]
    calls = []
    for _ in range(draw(st.integers(1, 5))):
        earlier = st.integers(0, 2 + len(calls))
        match draw(st.sampled_from(["add", "multiply", "maximum", "abs", "typecast", "scale"])):
            case "abs":
                calls.append(("abs", draw(earlier)))
            case "typecast":
                calls.append(("typecast", draw(earlier), draw(st.sampled_from(TYPES))))
            case "scale":
                calls.append(("multiply", draw(earlier), 0.75))
            case name:
                calls.append((name, draw(earlier), draw(earlier)))
    return specs, calls


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@settings(max_examples=25, deadline=None)
@given(case=programs(), seed=st.integers(0, 99))
def test_arithmetic_on_block_floats_has_the_interpreters_bits(target, case, seed):
    specs, calls = case
    if target != "cpu":
        specs = [TensorSpec((64, 96), spec.dtype, Layout.TILE) for spec in specs]
    rng = np.random.default_rng(seed)
    operands = [values_of(spec, rng) for spec in specs]
    module = scheduled(specs, calls, target=target, results=(-1,))
    with np.errstate(all="ignore"):
        (wanted,) = interpret(module, operands)
    for isa in {host_isa(), AVX2} if host_isa().avx2 else {host_isa()}:
        (got,) = native(module, operands, isa)
        assert_same_bits(got, np.asarray(wanted))


def in_strips(launch):
    return isinstance(launch.bound.kernel, LoopNest) and launch.bound.kernel.loops is Loops.STRIPS


ADDED_UP = [
    TensorSpec((64, 288), DataType.BFLOAT8_B, Layout.TILE),
    TensorSpec((64, 288), DataType.BFLOAT16, Layout.TILE),
]


def test_a_loop_unpacks_its_inputs_and_packs_its_outputs():
    module = scheduled(ADDED_UP, [("add", 0, 1), ("multiply", 2, 0.5)])
    (launch,) = generate(module, host_isa()).host.launches
    assert in_strips(launch)
    at = "(typecast) in the loop of (add -> multiply) over tiles, in 4 blocks of 8 tiles"
    assert launch.remark == f"block floats unpacked and packed, {at}"
    operands = [values_of(spec, np.random.default_rng(1)) for spec in ADDED_UP]
    (wanted,), (got,) = interpret(module, operands), native(module, operands, NEON)
    np.testing.assert_array_equal(got, wanted)


def test_a_tensor_that_another_launch_reads_too_is_unpacked_for_both():
    calls = [("add", 0, 1), ("permute", 0, (1, 0)), ("permute", 3, (1, 0)), ("add", 2, 4)]
    launches = generate(
        scheduled(ADDED_UP, [*calls, ("max", 0, (0,), True)], results=(-2, -1)), host_isa()
    ).host.launches
    assert launches[0].bound.kernel.repacks
    assert not any(in_strips(launch) for launch in launches)


def test_elements_from_memory_are_traversed_in_rows(monkeypatch):
    module = scheduled(ADDED_UP, [("add", 0, 1)])
    assert len(generate(module, host_isa()).plan.launches) == 1
    monkeypatch.setattr(compute_at, "last_cache_bytes", lambda: 0)
    assert len(generate(module, host_isa()).plan.launches) == 3


@pytest.mark.parametrize(("count", "is_joined"), [(12, True), (20, False)])
def test_strips_of_more_tensors_than_fit_on_a_stack_are_not_fused(count, is_joined):
    specs = [TensorSpec((32, 64), DataType.BFLOAT8_B, Layout.TILE)] * count
    calls = [("add", 0, 1), *(("add", count + k, k + 2) for k in range(count - 2))]
    module = scheduled([*specs], calls)
    launches = generate(module, host_isa()).host.launches
    assert any(in_strips(launch) for launch in launches) is is_joined
    operands = [values_of(spec, np.random.default_rng(k)) for k, spec in enumerate(specs)]
    (wanted,), (got,) = interpret(module, operands), native(module, operands)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("shape", [(2048, 2048), (1024, 8192), (8192, 1024)])
@pytest.mark.parametrize("types", [(DataType.BFLOAT16, PACKED[0]), (PACKED[0], DataType.BFLOAT16)])
def test_threads_share_rows_of_tiles_and_cut_none(shape, types):
    source, target = types
    plan = generate(scheduled([TensorSpec(shape, source, Layout.TILE)], [("typecast", 0, target)]), host_isa()).plan
    (launch,) = plan.launches
    specs = [plan.buffers[index] for index in launch.operands]
    chunks = chunks_of(launch, [spec.dtype.stride_bytes for spec in specs], sum(spec.nbytes for spec in specs))
    assert chunks.params[:3] == launch.params[:3]
    assert chunks.params[3] < launch.params[3]
