"""Tensors with partial tiles are packed in place, and read through movements, with exact bytes."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from tests.properties.texts.test_backends_agree import by_numba
from tests.unit.codegen.programs import assert_same_bits, bfloat16, host_isa, native, scheduled
from ttnn_jit.codegen.fusion.copy_folding import only_copies
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.codegen.schedules.kernel import LoopNest
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.isa import AVX2, NEON
from ttnn_jit.specs.dtypes import BLOCK_FLOATS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

PACKED = sorted(BLOCK_FLOATS, key=lambda dtype: dtype.name)
EXTENTS = st.sampled_from([1, 2, 5, 16, 31, 32, 33, 64, 70])


@st.composite
def moved(draw):
    """(tensor, calls): a tensor that is moved, packed, and unpacked again."""
    shape = tuple(draw(st.lists(EXTENTS, min_size=1, max_size=4)))
    dtype = draw(st.sampled_from([DataType.FLOAT32, DataType.BFLOAT16]))
    calls, own = [], shape
    for _ in range(draw(st.integers(0, 2))):
        match draw(st.sampled_from(["permute", "reshape", "abs"])):
            case "permute":
                order = tuple(draw(st.permutations(range(len(own)))))
                calls.append(("permute", len(calls), order))
                own = tuple(own[axis] for axis in order)
            case "reshape":
                wide = draw(st.sampled_from([each for each in (1, 2, 5, 16, 32) if own[-1] % each == 0]))
                own = (*own[:-1], own[-1] // wide, wide)
                calls.append(("reshape", len(calls), own))
            case "abs":
                calls.append(("abs", len(calls)))
    calls.append(("typecast", len(calls), draw(st.sampled_from(PACKED))))
    return TensorSpec(shape, dtype, Layout.TILE), calls


def values_of(spec, seed):
    rng = np.random.default_rng(seed)
    values = (rng.standard_normal(tuple(spec.shape)) * np.exp2(rng.integers(-9, 9, tuple(spec.shape)))).astype("f4")
    values[rng.random(tuple(spec.shape)) < 0.02] = rng.choice([np.inf, -np.inf, 1e-42, -0.0])
    return bfloat16(values) if spec.dtype.is_upper_half else values


@settings(max_examples=15, deadline=None)
@given(case=moved(), seed=st.integers(0, 99))
def test_packed_windows_have_zeros_around_their_elements(case, seed):
    spec, calls = case
    module = scheduled([spec], calls)
    operand = values_of(spec, seed)
    (wanted,) = interpret(module, [operand])
    for isa in {host_isa(), AVX2} if host_isa().avx2 else {host_isa()}:
        (got,) = native(module, [operand], isa)
        assert_same_bits(got, np.asarray(wanted))


@pytest.mark.parametrize("shape", [(2, 37, 70), (5, 3)])
def test_borders_have_the_same_bits_on_other_hosts_and_in_numba(shape):
    spec = TensorSpec(shape, DataType.FLOAT32, Layout.TILE)
    module = scheduled([spec], [("abs", 0), ("typecast", 1, DataType.BFLOAT8_B)])
    operand = values_of(spec, 1)
    (wanted,) = interpret(module, [operand])
    for got in (native(module, [operand], NEON), by_numba(module, [operand])):
        assert_same_bits(got[0], np.asarray(wanted))


def test_any_number_of_reduced_rows_is_one_launch_before_they_are_packed():
    spec = TensorSpec((8, 197, 197), DataType.FLOAT32, Layout.TILE)
    calls = [("softmax", 0, -1, True), ("typecast", 1, DataType.BFLOAT8_B)]
    softmax, *packing = generate(scheduled([spec], calls), host_isa()).host.launches
    assert isinstance(softmax.bound.kernel, LoopNest)
    assert [launch.bound.kernel.repacks for launch in packing] == [True] * 4


def test_heads_are_packed_as_they_are_split():
    spec = TensorSpec((2, 37, 6 * 64), DataType.FLOAT32, Layout.TILE)
    calls = [("reshape", 0, (2, 37, 6, 64)), ("permute", 1, (0, 2, 1, 3)), ("typecast", 2, DataType.BFLOAT8_B)]
    launches = generate(scheduled([spec], calls), host_isa()).host.launches
    assert not any(only_copies(launch.bound) for launch in launches)
