"""Detection of NaN in the result alone: where it is legal, and equal bits after late replacement."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.unit.codegen.programs import assert_same_bits, bfloat16, host_isa, kernel_of, native, scheduled
from ttnn_jit.codegen.bodies.body_analysis import propagates_nan
from ttnn_jit.codegen.reading.kernel_reader import read_kernels
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.isa import AVX512
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.ops import ELEMENTWISE
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

F32, BF16 = DataType.FLOAT32, DataType.BFLOAT16
CHAIN = [("add", 0, 1), ("multiply", 4, 2), ("neg", 5), ("subtract", 6, 3), ("multiply", 7, 0.5)]
SPECIALS = np.array([0.0, -0.0, 1.0, -3.0, np.inf, -np.inf, np.nan, 1e-39, 3e38], np.float32)


def chain(*, calls=CHAIN, dtype=BF16, target="wormhole_b0", **fields):
    return scheduled([TensorSpec((128, 64), dtype, Layout.TILE)] * 4, calls, target=target, **fields)


def puts_off(**fields):
    (body,) = read_kernels(chain(**fields))
    return propagates_nan(body)


@pytest.mark.parametrize("operation", [op for op in ELEMENTWISE if op.algebra.propagates_nan], ids=str)
def test_an_operation_that_declares_it_returns_nan_for_nan(operation):
    with NumpyVector.quiet():
        for position, others in product(range(operation.arity), product(SPECIALS, repeat=operation.arity - 1)):
            operands = [*others[:position], np.float32(np.nan), *others[position:]]
            found = operation.emit(NumpyVector(), *(np.full(4, operand, np.float32) for operand in operands))
            assert np.isnan(found).all()


def test_nan_are_detected_at_the_end_of_bfloat16_arithmetic_of_a_chip():
    assert puts_off()
    assert not puts_off(dtype=F32)
    assert not puts_off(target="cpu")


def test_nan_are_replaced_at_once_if_an_operation_may_drop_them():
    assert not puts_off(calls=[*CHAIN, ("relu", 8)])


def test_nan_are_replaced_at_once_if_roundings_are_few():
    assert not puts_off(calls=CHAIN[:2])


def test_one_test_replaces_every_minimum_on_the_common_path():
    (body,) = read_kernels(chain())
    text = kernel_of(body, replace(AVX512, avx512_bf16=True)).text
    straight, _, rare = text.partition("\nrare:")
    assert "min.ps" not in straight
    assert rare.count("= call <16 x float> @llvm.x86.avx512.min.ps.512") == 2 * 4


@pytest.mark.parametrize("share", [0.0, 0.001, 1.0], ids=["none", "few", "all"])
def test_the_bits_are_those_of_replacing_every_nan_where_it_is_computed(share):
    rng = np.random.default_rng(7)
    numbers = rng.normal(size=(4, 128, 64)).astype(np.float32)
    special = rng.random(numbers.shape) < share
    numbers[special] = rng.choice(SPECIALS, int(special.sum()))
    inputs, module = [bfloat16(values) for values in numbers], chain()
    (expected,), (got,) = interpret(module, inputs), native(module, inputs, host_isa())
    assert_same_bits(got, expected)
