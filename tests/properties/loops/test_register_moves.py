"""Copies that permute elements in registers have the bits of numpy's."""

from __future__ import annotations

import itertools
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings

from tests.unit.codegen.programs import host_isa, native, scheduled
from ttnn_jit.codegen.fusion import register_moves
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.codegen.schedules import bound_kernel
from ttnn_jit.codegen.schedules.kernel import Transposed
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.kernels.isa import AVX2, NEON
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

BIT_TYPES = {
    DataType.FLOAT32: np.float32,
    DataType.BFLOAT16: np.uint16,
    DataType.INT32: np.int32,
    DataType.UINT16: np.uint16,
    DataType.UINT8: np.uint8,
}
ORDERS = {rank: sorted(itertools.permutations(range(rank)))[1:] for rank in (2, 3, 4)}
EXTENTS = st.one_of(st.sampled_from([32, 64, 96, 544]), st.integers(1, 70), st.sampled_from([100, 131, 509]))


def numbers(spec):
    """All elements are different, as far as there are enough bit patterns."""
    return np.arange(spec.volume, dtype=np.uint32).astype(BIT_TYPES[spec.dtype]).reshape(tuple(spec.shape))


@settings(max_examples=40, deadline=None)
@given(
    dtype=st.sampled_from(sorted(BIT_TYPES, key=str)),
    shape=st.one_of(
        st.tuples(EXTENTS, EXTENTS),
        st.tuples(st.integers(1, 9), EXTENTS, EXTENTS),
        st.tuples(EXTENTS, st.integers(1, 9), EXTENTS),
        st.tuples(*[st.integers(1, 40)] * 3, st.integers(1, 5)),
        st.tuples(st.sampled_from([4, 8, 16, 32]), st.integers(1, 20), st.integers(1, 5), EXTENTS),
    ),
    order=st.integers(0, 22),
    far=st.booleans(),
)
@example(dtype=DataType.FLOAT32, shape=(544, 1024), order=0, far=False)
@example(dtype=DataType.BFLOAT16, shape=(3, 544, 544), order=0, far=True)
@example(dtype=DataType.FLOAT32, shape=(64, 48, 1), order=0, far=True)
@example(dtype=DataType.BFLOAT16, shape=(4, 9, 5, 37), order=22, far=False)
@example(dtype=DataType.UINT8, shape=(4, 3, 2, 70), order=22, far=True)
@example(dtype=DataType.FLOAT32, shape=(4, 2, 1, 64), order=22, far=False)
def test_a_transpose_has_the_bits_of_numpys_under_every_instruction_set(dtype, shape, order, far):
    spec = TensorSpec(shape, dtype)
    axes = ORDERS[len(shape)][order % len(ORDERS[len(shape)])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bound_kernel, "SHARE_OF_TRANSPOSES", 0 if far else 1e9)
        patch.setattr(register_moves, "POOLED_RESULT_BYTES", 0)
        module, x = scheduled([spec], [("permute", 0, axes)]), numbers(spec)
        for isa in [host_isa(), NEON, *([AVX2] if host_isa().avx2 else [])]:
            (got,) = native(module, [x], isa)
            np.testing.assert_array_equal(got, x.transpose(axes))


@settings(max_examples=20, deadline=None)
@given(
    dtype=st.sampled_from(sorted(BIT_TYPES, key=str)),
    rows=st.integers(1, 5),
    columns=st.one_of(st.integers(2, 140), st.sampled_from([256, 1024])),
    begin=st.integers(0, 3),
    far=st.booleans(),
)
def test_reversed_rows_and_every_second_element_have_the_bits_of_numpys(dtype, rows, columns, begin, far):
    spec = TensorSpec((rows, columns), dtype)
    begin = min(begin, columns - 1)
    x = numbers(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bound_kernel, "SHARE_OF_LAST_CACHE", 0 if far else 1e9)
        patch.setattr(register_moves, "POOLED_RESULT_BYTES", 0)
        for call, golden in (
            (("flip", 0, (1,)), x[:, ::-1]),
            (("flip", 0, (0, 1)), x[::-1, ::-1]),
            (("slice", 0, (0, begin), (rows, columns), (1, 2)), x[:, begin::2]),
        ):
            module = scheduled([spec], [call])
            for isa in [host_isa(), NEON, *([AVX2] if host_isa().avx2 else [])]:
                (got,) = native(module, [x], isa)
                np.testing.assert_array_equal(got, golden)


@settings(max_examples=15, deadline=None)
@given(
    dtype=st.sampled_from(sorted(BIT_TYPES, key=str)),
    rows=st.integers(1, 5),
    columns=st.one_of(st.integers(1, 140), st.sampled_from([256, 2048])),
    times=st.integers(2, 9),
    axis=st.integers(0, 1),
)
def test_repeated_elements_have_the_bits_of_numpys(dtype, rows, columns, times, axis):
    spec = TensorSpec((rows, columns), dtype)
    module, x = scheduled([spec], [("repeat_interleave", 0, times, axis)]), numbers(spec)
    for isa in [host_isa(), NEON, *([AVX2] if host_isa().avx2 else [])]:
        (got,) = native(module, [x], isa)
        np.testing.assert_array_equal(got, x.repeat(times, axis))


def test_elements_are_repeated_in_registers():
    module = scheduled([TensorSpec((512, 512), DataType.BFLOAT16)], [("repeat_interleave", 0, 2, 1)])
    (launch,) = generate(module, host_isa()).host.launches
    assert launch.remark == "repeated in registers"


def test_a_flip_and_a_step_of_two_run_in_vectors():
    spec = TensorSpec((8, 100), DataType.BFLOAT16)
    for call, remark in (
        (("flip", 0, (1,)), "reversed in registers"),
        (("slice", 0, (0, 1), (8, 100), (1, 2)), "every second element, in registers"),
    ):
        (launch,) = generate(scheduled([spec], [call]), host_isa()).host.launches
        assert launch.remark == remark


@pytest.mark.parametrize("dtype", sorted(BIT_TYPES, key=str), ids=lambda dtype: dtype.name)
def test_rows_of_any_number_are_transposed_in_registers(dtype):
    for shape, axes in (((3, 544, 1024), (0, 2, 1)), ((2, 37, 61), (0, 2, 1)), ((4, 100, 7), (2, 1, 0))):
        (launch,) = generate(scheduled([TensorSpec(shape, dtype)], [("permute", 0, axes)]), host_isa()).host.launches
        assert isinstance(launch.bound.kernel.move, Transposed)
        assert launch.remark == "transposed in registers"


@pytest.mark.parametrize("dtype", sorted(BIT_TYPES, key=str), ids=lambda dtype: dtype.name)
def test_short_adjacent_rows_are_written_in_whole_vectors(dtype):
    module = scheduled([TensorSpec((4, 32, 32, 64), dtype)], [("permute", 0, (3, 2, 1, 0))])
    (launch,) = generate(module, host_isa()).host.launches
    move = launch.bound.kernel.move
    assert move.lanes == 4 * move.rows_per_vector == min(4 * 32, 4 * host_isa().lanes // dtype.itemsize)


def test_a_transpose_stores_complete_cache_lines_non_temporally(monkeypatch):
    def passes_caches(*shape):
        module = scheduled([TensorSpec(shape, DataType.FLOAT32)], [("permute", 0, (1, 0))])
        (launch,) = generate(module, host_isa()).host.launches
        return launch.bound.kernel.streams[1].nontemporal

    assert not passes_caches(1024, 512)
    monkeypatch.setattr(bound_kernel, "SHARE_OF_TRANSPOSES", 0)
    assert host_isa().lanes < 16 or passes_caches(1024, 512)
    assert not passes_caches(1000, 1000)
    assert not passes_caches(64, 64)


def test_a_launch_that_would_leave_blocks_is_refused():
    plan = generate(scheduled([TensorSpec((64, 1024), DataType.FLOAT32)], [("permute", 0, (1, 0))]), host_isa()).plan
    (launch,) = plan.launches
    assert (launch.reduced, launch.whole) == ((), (0, 1))
    for index, _ in enumerate(launch.params):
        params = (*launch.params[:index], 2 * launch.params[index] + 1, *launch.params[index + 1 :])
        with pytest.raises(InternalError):
            replace(plan, launches=(replace(launch, params=params),))
