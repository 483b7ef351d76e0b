"""Short bfloat16 functions equal the rounded float32 functions for every argument."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.unit.kernels.native_loop import host_isa, native
from tests.unit.kernels.test_bits_agree import runnable_isas
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.ops import ELEMENTWISE, Operation
from ttnn_jit.specs.target import Numerics

SHORTER = [operation for operation in ELEMENTWISE if operation.implementations.bfloat16 is not None]
EVERY_BFLOAT16 = (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32)


def same_bits(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Any NaN equal to any NaN."""
    magnitudes = [patterns & 0x7FFF for patterns in (got, expected)]
    return (got == expected) | ((magnitudes[0] > 0x7F80) & (magnitudes[1] > 0x7F80))


def defaults(operation: Operation) -> tuple[float, ...]:
    return tuple(attribute.default for attribute in operation.attributes)


@cache
def float32_of(operation: Operation, given: tuple[float, ...]) -> np.ndarray:
    with NumpyVector.quiet():
        return np.asarray(operation.emit(NumpyVector(), EVERY_BFLOAT16, *given), np.float32)


def expected_bits(operation: Operation, numerics: Numerics, given: tuple[float, ...]) -> np.ndarray:
    with NumpyVector.quiet():
        return NumpyVector().store_bf16(float32_of(operation, given), numerics)


def check(patterns: np.ndarray, expected: np.ndarray) -> None:
    same = same_bits(patterns, expected)
    assert same.all(), (EVERY_BFLOAT16[~same][:8], patterns[~same][:8], expected[~same][:8])


@pytest.mark.parametrize("numerics", list(Numerics))
@pytest.mark.parametrize("operation", SHORTER, ids=lambda operation: operation.ttnn_name)
def test_every_bfloat16_rounds_alike(operation: Operation, numerics: Numerics) -> None:
    b = NumpyVector()
    with NumpyVector.quiet():
        for given in dict.fromkeys((defaults(operation), tuple(operation.tested_attributes))):
            found = operation.implementations.bfloat16(b, EVERY_BFLOAT16, *given)
            check(b.store_bf16(np.asarray(found, np.float32), numerics), expected_bits(operation, numerics, given))


@pytest.mark.parametrize("numerics", list(Numerics))
@pytest.mark.parametrize("isa", runnable_isas(), ids=lambda isa: isa.name)
@pytest.mark.parametrize("operation", SHORTER, ids=lambda operation: operation.ttnn_name)
def test_native_code_rounds_every_bfloat16_alike(operation: Operation, isa: HostIsa, numerics: Numerics) -> None:
    def build(b, x):
        return b.store_bf16(operation.implementations.bfloat16(b, *x, *defaults(operation)), numerics)

    check(native(build, 1, isa, output="i16")(EVERY_BFLOAT16), expected_bits(operation, numerics, defaults(operation)))


def test_no_neighbour_changes_the_result_of_a_lane() -> None:
    for operation in SHORTER:
        call = native(lambda b, x: operation.implementations.bfloat16(b, *x, *defaults(operation)), 1, host_isa())  # noqa: B023
        calm = np.full(64, 1.25, np.float32)
        for intruder in (1e30, np.inf, np.nan, 0.0, 1e-40):
            mixed = calm.copy()
            mixed[::3] = intruder
            np.testing.assert_array_equal(call(mixed)[1::3], call(calm)[1::3])
