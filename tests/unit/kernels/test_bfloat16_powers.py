"""Powers of bfloat16 have the bits of float32 arithmetic beside any other elements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.codegen.programs import assert_same_bits, kernel_of, native, scheduled
from tests.unit.kernels.test_bits_agree import runnable_isas
from ttnn_jit.codegen.reading.kernel_reader import read_kernels
from ttnn_jit.kernels.isa import AVX512, HostIsa
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.ops import ELEMENTWISE, Operation
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

BF16 = DataType.BFLOAT16
POWERS = [operation for operation in ELEMENTWISE if operation.implementations.power is not None]
EVERY_BFLOAT16 = np.arange(2**16, dtype=np.uint16)
NUMBERS_AND_ZEROS = EVERY_BFLOAT16.copy()
NUMBERS_AND_ZEROS[::3] = 0  # beside numbers of one sign and exponent
TARGETS = ["cpu", "wormhole_b0"]


def expected_bits(operation: Operation, patterns: np.ndarray, target: str) -> np.ndarray:
    b = NumpyVector()
    with NumpyVector.quiet():
        return b.store_bf16(operation.emit(b, b.load_bf16(patterns)), resolve_target(target).numerics)


def test_roots_and_quotients_of_one_are_powers() -> None:
    assert [(operation.name, operation.implementations.power) for operation in POWERS] == [
        ("sqrt", 0.5), ("rsqrt", -0.5), ("reciprocal", -1.0)
    ]  # fmt: skip


@pytest.mark.parametrize("isa", runnable_isas(), ids=lambda isa: isa.name)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("operation", POWERS, ids=lambda operation: operation.name)
def test_every_bfloat16_has_the_power_that_float32_gives(operation: Operation, target: str, isa: HostIsa) -> None:
    shuffled = np.random.default_rng(3).permutation(EVERY_BFLOAT16)
    module = scheduled([TensorSpec((1, 65_536), BF16)], [(operation.name, 0)], target=target)
    for patterns in (EVERY_BFLOAT16, NUMBERS_AND_ZEROS, shuffled):
        (got,) = native(module, [patterns.reshape(1, -1)], isa)
        assert_same_bits(got, expected_bits(operation, patterns.reshape(1, -1), target))


@pytest.mark.parametrize("isa", runnable_isas(), ids=lambda isa: isa.name)
@pytest.mark.parametrize("operation", POWERS, ids=lambda operation: operation.name)
def test_a_power_among_other_ops_has_the_bits_that_it_has_alone(operation: Operation, isa: HostIsa) -> None:
    """Short chains process two vectors of bfloat16 at a time, long ones one; the tail is shorter than that."""
    spec, target = TensorSpec((1, 1003), BF16), "wormhole_b0"
    patterns = np.random.default_rng(4).integers(0x3000, 0x4800, (1, 1003)).astype(np.uint16)
    for before, after in (([("abs", 0)], [("abs", 2)]), ([("tanh", 0), ("sin", 1)], [("gelu", 3), ("tanh", 4)])):
        calls = [*before, (operation.name, len(before)), *after]
        (fused,) = native(scheduled([spec], calls, target=target), [patterns], isa)
        unfused = patterns
        for name, _ in calls:
            (unfused,) = native(scheduled([spec], [(name, 0)], target=target), [unfused], isa)
        assert_same_bits(fused, unfused)


@pytest.mark.parametrize("operation", POWERS, ids=lambda operation: operation.name)
def test_byte_permutations_replace_division(operation: Operation) -> None:
    (body,) = read_kernels(scheduled([TensorSpec((32, 32), BF16, Layout.TILE)], [(operation.name, 0)]))
    isa = replace(AVX512, avx512_vbmi=True, features="+avx512vbmi")
    loop = kernel_of(body, isa).text.partition("\nat.loop:")[2].partition("\nat.loop.done:")[0]
    assert "vpermi2var.qi" in loop
    assert not [line for line in loop.splitlines() if "fdiv" in line or "llvm.sqrt" in line]
