"""Properties of the numpy primitives, the reference of the native code."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit.kernels.math.primitives import Table
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector

FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
INT32S = st.integers(-(2**31), 2**31 - 1)


def nearest_float32(value: Fraction) -> float:
    """`value` rounded once to float32, ties to even."""
    if value == 0:
        return 0.0
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    step = Fraction(2) ** (max(exponent, -126) - 23)
    rounded = round(value / step) * step
    return float(rounded) if abs(rounded) < Fraction(2) ** 128 else float("inf") * (1 if value > 0 else -1)


@given(FINITE, FINITE, FINITE)
def test_fma_rounds_the_exact_result_once(a: float, b: float, c: float) -> None:
    with NumpyVector.quiet():
        got = float(NumpyVector().fma(np.float32(a), np.float32(b), np.float32(c)))
    assert got == nearest_float32(Fraction(a) * Fraction(b) + Fraction(c))


@given(st.floats(1.0, 1.9999998807907104, width=32), st.integers(-250, 250))
def test_scale_rounds_once_into_the_denormals(a: float, n: int) -> None:
    with NumpyVector.quiet():
        got = float(NumpyVector().scale(np.float32(a), np.float32(n)))
    assert got == nearest_float32(Fraction(a) * Fraction(2) ** n)


@given(st.floats(2.0**-149, width=32, allow_infinity=False))
def test_split_is_exact(x: float) -> None:
    b = NumpyVector()
    for split, low in ((b.split, 0.75), (b.split_at_one, 1.0)):
        with NumpyVector.quiet():
            m, k = split(np.float32(x))
        assert low <= float(m) < 2 * low
        assert Fraction(float(m)) * Fraction(2) ** int(k) == Fraction(x)


@given(INT32S, INT32S)
def test_wide_products_hold_all_bits(i: int, j: int) -> None:
    high, low = NumpyVector().multiply_wide(np.int32(i), np.int32(j))
    product = (i & 0xFFFF_FFFF) * (j & 0xFFFF_FFFF)
    assert (int(high) & 0xFFFF_FFFF, int(low) & 0xFFFF_FFFF) == divmod(product, 2**32)


@given(INT32S, st.sampled_from([16, 32]))
def test_lookups_read_the_low_bits_of_the_index(index: int, size: int) -> None:
    entry = NumpyVector().lookup(Table.of_floats("t", *range(size)), np.array([index], np.int32))
    assert float(entry[0]) == index % size


@given(FINITE, FINITE)
def test_minimum_and_maximum_order_zeros_by_sign(a: float, b: float) -> None:
    # As integers in sign and magnitude form, floats are ordered, -0 below +0.
    def rank(value: float) -> int:
        bits = int(struct.unpack("<i", struct.pack("<f", value))[0])
        return bits if bits >= 0 else -(bits & 0x7FFF_FFFF) - 1

    vector = NumpyVector()
    low, high = vector.minimum(np.float32(a), np.float32(b)), vector.maximum(np.float32(a), np.float32(b))
    assert [rank(float(low)), rank(float(high))] == sorted([rank(a), rank(b)])


@settings(max_examples=12)
@given(st.lists(st.floats(width=32), min_size=2, max_size=8))
def test_the_result_for_an_element_does_not_depend_on_its_neighbours(values: list[float]) -> None:
    b = NumpyVector()
    x = np.array(values, np.float32)
    with NumpyVector.quiet():
        for name in ("sin", "cos", "rsqrt", "exp", "log", "gelu"):
            of_vector = np.asarray(getattr(b, name)(x))
            of_elements = np.array([np.asarray(getattr(b, name)(x[i : i + 1]))[0] for i in range(len(x))], np.float32)
            np.testing.assert_array_equal(of_vector, of_elements)
