"""Bodies of activations whose implementation differs from their definition."""

from __future__ import annotations

import numpy as np

from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.ops.elementwise.activations import hardsigmoid


def test_hardsigmoid_has_the_bits_of_the_quotient() -> None:
    # One binade, with every mantissa; the other binades are this one times a power of two.
    shifted = np.arange(0x3F80_0000, 0x4000_0000, 61, dtype=np.uint32).view(np.float32)
    edges = np.float32([-np.inf, -4, -3, np.nextafter(np.float32(-3), np.float32(0)), -0.0, 0, 3, 4, np.inf, np.nan])
    x = np.concatenate([shifted - np.float32(3), edges])
    with NumpyVector.quiet():
        got = hardsigmoid(NumpyVector(), x)
    np.testing.assert_array_equal(got, np.clip(x + np.float32(3), np.float32(0), np.float32(6)) / np.float32(6))
