"""The primitive operations of vector math; a backend implements these and inherits everything else.

A value is one float32 per lane, an integer one int32 per lane (wrapping), a mask one boolean per lane; their
representation is the backend's choice. Every operation is exactly defined for every input, NaN payloads excepted, so
that backends that implement it give the same bits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from ttnn_jit.kernels.math.wide_primitives import Int, Int64, WidePrimitives
from ttnn_jit.ops.language.emit import Emit, Mask, Value
from ttnn_jit.ops.language.tile_body import ScalarFunction
from ttnn_jit.process.dataclass import dataclass

Self = TypeVar("Self", bound="Primitives")

SIGN_BIT = -0x8000_0000
EXPONENT_BITS = -0x0080_0000  # and the sign
SMALLEST_NORMAL = 2.0**-126


def float_bits(value: float) -> int:
    """The int32 with the bits of the float32 nearest to `value`."""
    return int(struct.unpack("<i", struct.pack("<f", value))[0])


@dataclass(frozen=True)
class Table:
    """A constant table of 16 or 32 entries of 32 bits, looked up by the low 4 or 5 bits of an integer.

    Attributes:
        name: Distinguishes it in generated text.
        entries: As int32; `of_floats` makes them from numbers.
    """

    name: str
    entries: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.entries) not in {16, 32}:
            raise ValueError(f"a table has 16 or 32 entries, got {len(self.entries)}")

    @staticmethod
    def of_floats(name: str, *values: float) -> Table:
        """The table of the float32 values nearest to `values`."""
        return Table(name, tuple(float_bits(value) for value in values))

    @staticmethod
    def by_degree(name: str, *coefficients: Sequence[float]) -> tuple[Table, ...]:
        """The tables of a piecewise polynomial: of each degree from 0 on, the coefficients of all pieces."""
        return tuple(Table.of_floats(f"{name}_{degree}", *values) for degree, values in enumerate(coefficients))


class Primitives(Emit, Protocol):
    """Lane-wise operations, and operations derived from them.

    The contract of `Emit` for arithmetic, comparisons and masks holds: denormals are kept, `sqrt` is correctly rounded.
    A backend implements the methods without a body, including those of `Emit` up to `select`; mypy rejects a backend
    that lacks one. `VectorMath` implements the functions from `Emit.exp` on.
    """

    def rarely(self: Self, mask: Mask, usual: Value, body: Callable[..., Value], *arguments: Value) -> Value:
        """`body(b, *arguments)` where the mask is true, else `usual`; the body runs only if a lane of the mask is true.

        Args:
            mask: Lanes that need the body. Lanes are selected one by one: their bits never depend on other lanes.
            usual: The value of the other lanes.
            body: Computes the rare value from a builder and `arguments`: a method, whose name appears in generated
                text.
            arguments: The operands of the body, all lanes of them.
        """

    # int32

    def int_const(self, value: int) -> Int: ...
    def bits(self, a: Value) -> Int:
        """The bits of a float32."""

    def from_bits(self, i: Int) -> Value:
        """The float32 with these bits."""

    def int_add(self, a: Int, b: Int) -> Int: ...
    def int_sub(self, a: Int, b: Int) -> Int: ...
    def int_and(self, a: Int, b: Int) -> Int: ...
    def int_or(self, a: Int, b: Int) -> Int: ...
    def int_xor(self, a: Int, b: Int) -> Int: ...
    def shift_left(self, i: Int, count: Int) -> Int:
        """Shift by `count` in [0, 31]."""

    def shift_right(self, i: Int, count: Int) -> Int:
        """Shift by `count` in [0, 31], filling with the sign."""

    def shift_right_zero(self, i: Int, count: Int) -> Int:
        """Shift by `count` in [0, 31], filling with zeros."""

    def int_mul(self, a: Int, b: Int) -> Int:
        """The low half of the product."""

    def multiply_wide(self, i: Int, j: Int) -> tuple[Int, Int]:
        """High and low half of the 64-bit product of two unsigned integers."""

    def int64_halves(self, wide: Int64) -> tuple[Int, Int]:
        """High and low half of a 64-bit integer."""

    def int64(self, high: Int, low: Int) -> Int64:
        """The 64-bit integer with these halves."""

    def int_eq(self, a: Int, b: Int) -> Mask: ...
    def int_lt(self, a: Int, b: Int) -> Mask:
        """Signed."""

    def unsigned_lt(self, a: Int, b: Int) -> Mask: ...

    def int_select(self, m: Mask, a: Int, b: Int) -> Int: ...
    def to_float(self, i: Int) -> Value:
        """The signed integer as float32, to nearest even."""

    def truncated(self, a: Value) -> Int:
        """The integer part, for -2**31 <= a < 2**31."""

    def lookup(self, table: Table, index: Int) -> Value:
        """The entry at the low bits of `index`, as a float32."""

    @property
    def wide(self) -> WidePrimitives:
        """The primitives on elements of 64 bits."""

    # User functions

    def call_scalar(self, function: ScalarFunction, operands: Sequence[Value]) -> Value:
        """The result of a user's Python function for each element (kernels/numba/scalar_call.py)."""

    # Derived operations. A backend overrides one if the machine has an instruction with the same results.

    def at_least(self, bound: float, a: Value) -> Value:
        """`bound` where a < bound, else `a`: NaN stays."""
        return self.select(self.lt(a, self.const(bound)), self.const(bound), a)

    def at_most(self, bound: float, a: Value) -> Value:
        """`bound` where a > bound, else `a`: NaN stays."""
        return self.select(self.gt(a, self.const(bound)), self.const(bound), a)

    def times_sign_of(self, value: Value, a: Value) -> Value:
        """`value`, negated where the sign bit of a is set."""
        sign = self.int_and(self.bits(a), self.int_const(SIGN_BIT))
        return self.from_bits(self.int_xor(self.bits(value), sign))

    def scale(self, a: Value, n: Value) -> Value:
        """A * 2**n, rounded once, for integral n with |n| <= 252; n may be NaN where a is.

        It multiplies by two factors of about 2**(n / 2). The result is rounded once if the first product does not
        round: if that is normal, or the result is far below the smallest denormal.
        """
        biased_twice = self.bits(self.add(n, self.const(ROUNDING_MAGIC + 2 * 127)))
        return self._scaled_twice(a, self.shift_left(biased_twice, self.int_const(22)))

    def _scaled_twice(self, a: Value, halved: Int) -> Value:
        """A * 2**n; `halved` has the bits of (n + 2 * bias) / 2 as an exponent, which is rounded down and up."""
        floor = self.int_and(halved, self.int_const(EXPONENT_BITS))
        ceil = self.int_and(self.int_add(halved, self.int_const(0x0040_0000)), self.int_const(EXPONENT_BITS))
        return self.mul(self.mul(a, self.from_bits(floor)), self.from_bits(ceil))

    def scale_by_sixteenths(self, a: Value, sum_: Value, n: Value) -> Value:  # noqa: ARG002 - others scale by n
        """A * 2**floor(n), as `scale`, for a multiple n of 1 / 16 and its sum with SIXTEENTHS_MAGIC."""
        halved = self.shift_left(self.bits(sum_), self.int_const(18))
        return self._scaled_twice(a, halved)

    def exp2_by(self, y: Value, coefficients: Sequence[float]) -> Value:
        """polynomial(f) * 2**n of y = n + f, n integral and f in [0, 1]; 0 and infinity at the infinities.

        The polynomial, constant term first, approximates 2**f times a constant between 2**-64 and 2**64. For y in [-1,
        0] f is rounded, down with AVX-512 and to nearest elsewhere, so this is too inaccurate for float32 results.
        """
        bounded = self.at_most(250.0, self.at_least(-250.0, y))
        n = self.floor(bounded)
        return self.scale(self.polynomial(self.sub(bounded, n), coefficients), n)

    def split(self, x: Value) -> tuple[Value, Value]:
        """(m, k) with x = m * 2**k, m in [0.75, 1.5), k integral.

        For zero of either sign k is -infinity, for infinity it is infinity, and m some number of that interval; for
        a NaN and for numbers below zero m is NaN.
        """
        zero, infinity = self.const(0.0), self.const(float("inf"))
        tiny = self.lt(x, self.const(SMALLEST_NORMAL))
        bits = self.bits(self.select(tiny, self.mul(x, self.const(2.0**24)), x))
        k = self.shift_right(self.int_sub(bits, self.int_const(float_bits(0.75))), self.int_const(23))
        m = self.from_bits(self.int_sub(bits, self.shift_left(k, self.int_const(23))))
        exponent = self.sub(self.to_float(k), self.select(tiny, self.const(24.0), zero))
        exponent = self.select(self.eq(x, zero), self.const(float("-inf")), exponent)
        exponent = self.select(self.eq(x, infinity), infinity, exponent)
        return self.select(self.ge(x, zero), m, self.const(float("nan"))), exponent

    def split_at_one(self, x: Value) -> tuple[Value, Value]:
        """`split` with m in [1, 2): cheaper, if log(m) + k log(2) may lose accuracy to cancellation."""
        zero, infinity = self.const(0.0), self.const(float("inf"))
        tiny = self.lt(x, self.const(SMALLEST_NORMAL))
        bits = self.bits(self.select(tiny, self.mul(x, self.const(2.0**24)), x))
        bias = self.select(tiny, self.const(127.0 + 24.0), self.const(127.0))
        exponent = self.sub(self.to_float(self.shift_right(bits, self.int_const(23))), bias)
        exponent = self.select(self.eq(x, zero), self.const(float("-inf")), exponent)
        exponent = self.select(self.eq(x, infinity), infinity, exponent)
        m = self.int_or(self.int_and(bits, self.int_const(0x007F_FFFF)), self.int_const(float_bits(1.0)))
        return self.select(self.ge(x, zero), self.from_bits(m), self.const(float("nan"))), exponent

    def two_sum(self, a: Value, b: Value) -> tuple[Value, Value]:
        """A + b and its rounding error (Knuth)."""
        total = self.add(a, b)
        part = self.sub(total, a)
        return total, self.add(self.sub(a, self.sub(total, part)), self.sub(b, part))

    def with_low_part(self, high: Value, low: Value) -> Value:
        """High + low; `high` where low is not finite, because the error of an infinite sum is undefined."""
        bounded = self.lt(self.abs(low), self.const(float("inf")))
        return self.select(bounded, self.add(high, low), high)

    def polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        """Horner's rule; the constant term is first in `coefficients`."""
        result = self.const(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = self.fma(result, x, self.const(coefficient))
        return result


ROUNDING_MAGIC = 12582912.0  # 1.5 * 2**23: adding it leaves an integer of up to 22 bits in the low bits of the sum
SIXTEENTHS_MAGIC = ROUNDING_MAGIC / 16 + 2 * 127
"""Around it, floats are the multiples of 1 / 16: their low bits are an integer plus twice the bias, then a fraction."""
