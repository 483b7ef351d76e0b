"""The vectors of a chunk are rounded together: every lane has the result of a separate rounding."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.codegen.programs import assert_same_bits, native, scheduled
from tests.unit.kernels.test_bits_agree import runnable_isas
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

BF16 = DataType.BFLOAT16
EVERY_BFLOAT16 = np.arange(2**16, dtype=np.uint16).reshape(64, 1024)


@pytest.mark.parametrize("isa", runnable_isas(), ids=lambda isa: isa.name)
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_products_and_sums_of_every_bfloat16_round_as_they_do_alone(target: str, isa: HostIsa) -> None:
    """Normal numbers, denormals, infinities and NaN are next to each other, in even and in odd lanes."""
    numerics, b = resolve_target(target).numerics, NumpyVector()
    shuffled = np.random.default_rng(5).permutation(EVERY_BFLOAT16.ravel()).reshape(EVERY_BFLOAT16.shape)
    specs = [TensorSpec(EVERY_BFLOAT16.shape, BF16)] * 2
    for name, function in (("multiply", b.mul), ("add", b.add)):
        with NumpyVector.quiet():
            expected = b.store_bf16(function(b.load_bf16(EVERY_BFLOAT16), b.load_bf16(shuffled)), numerics)
        (got,) = native(scheduled(specs, [(name, 0, 1)], target=target), [EVERY_BFLOAT16, shuffled], isa)
        assert_same_bits(got, expected)


@pytest.mark.parametrize("isa", runnable_isas(), ids=lambda isa: isa.name)
def test_a_value_that_is_rounded_between_two_ops_is_the_stored_one(isa: HostIsa) -> None:
    specs = [TensorSpec(EVERY_BFLOAT16.shape, BF16)] * 3
    inputs = [
        np.random.default_rng(k).permutation(EVERY_BFLOAT16.ravel()).reshape(EVERY_BFLOAT16.shape) for k in range(3)
    ]
    (fused,) = native(scheduled(specs, [("multiply", 0, 1), ("add", 3, 2)], target="wormhole_b0"), inputs, isa)
    (product,) = native(scheduled(specs[:2], [("multiply", 0, 1)], target="wormhole_b0"), inputs[:2], isa)
    (unfused,) = native(scheduled(specs[:2], [("add", 0, 1)], target="wormhole_b0"), [product, inputs[2]], isa)
    assert_same_bits(fused, unfused)


@pytest.mark.parametrize("isa", runnable_isas(), ids=lambda isa: isa.name)
def test_a_chip_replaces_nan_and_denormals_of_ops_that_return_their_operand(isa: HostIsa) -> None:
    spec, device, b = TensorSpec(EVERY_BFLOAT16.shape, BF16), resolve_target("wormhole_b0").numerics, NumpyVector()
    other = np.random.default_rng(7).permutation(EVERY_BFLOAT16.ravel()).reshape(EVERY_BFLOAT16.shape)
    x, y = b.load_bf16(EVERY_BFLOAT16), b.load_bf16(other)
    cases = [(("neg", 0), b.neg(x)), (("abs", 0), b.abs(x)), (("maximum", 0, 1), b.maximum(x, y))]
    for call, expected in cases:
        (got,) = native(scheduled([spec] * 2, [call], target="wormhole_b0"), [EVERY_BFLOAT16, other], isa)
        assert_same_bits(got, b.store_bf16(expected, device))
    (got,) = native(
        scheduled([spec] * 2, [("abs", 0), ("add", 2, 1)], target="wormhole_b0"), [EVERY_BFLOAT16, other], isa
    )
    with NumpyVector.quiet():
        rounded = b.load_bf16(b.store_bf16(b.abs(x), device))
        assert_same_bits(got, b.store_bf16(b.add(rounded, y), device))
