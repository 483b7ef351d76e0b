"""Between element types: what a number of one becomes in another, by the storage and the compute type of their rows.

Floats are rounded once, to nearest even. A float becomes the integer toward zero, and beyond the range of its type the
nearest that there is; NaN becomes 0. An integer keeps its low bits in a narrower type. What is not zero is true.
"""

from __future__ import annotations

from ttnn_jit.kernels.math.integer_math import IntegerMath
from ttnn_jit.kernels.math.primitives import SIGN_BIT, SMALLEST_NORMAL, Int, Int64, Primitives
from ttnn_jit.ops.language.emit import Value
from ttnn_jit.specs.dtypes import ComputeType, Storage
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType


class Conversions(Primitives):
    """Values are of the compute type of their element type."""

    def typecast(self, value: Value, source: DataType, target: DataType, numerics: Numerics) -> Value:
        """`value`, which `source` holds, as a number that `target` holds exactly."""
        if source.compute.is_int64:
            return self._of_int64(value, target, numerics)
        if target.compute.is_int64:
            return self._int64_of(value, source) if source.is_integer else self._int64_near(value)
        if target.compute.is_bool and not source.is_integer:
            return self.int_select(self.ne(value, self.const(0.0)), self.int_const(1), self.int_const(0))
        if source.is_integer and not target.is_integer:
            exact = value if target.is_compute_type else self._with_sticky_bit(value, source.compute)
            return self.round_to(self._float_of(exact, source.compute), target, numerics)
        if target.is_integer and not source.is_integer:
            return self._integer_near(value, target)
        return self.round_to(value, target, numerics)

    def round_to(self, value: Value, dtype: DataType, numerics: Numerics) -> Value:
        """`value`, of the compute type of `dtype`, as a number that `dtype` holds exactly; see `round_bfloat16`."""
        match dtype.traits.storage:
            case Storage.UPPER_HALF:
                return self.round_bfloat16(value, numerics)
            case Storage.BOOL_BYTE:
                return self.int_select(self.int_eq(value, self.int_const(0)), self.int_const(0), self.int_const(1))
            case Storage.LOW_BITS:
                return self._low_bits(value, 8 * dtype.itemsize, is_signed=dtype.compute.is_signed)
            case Storage.WHOLE:
                return value

    def _int64_of(self, word: Int, source: DataType) -> Int64:
        """An integer of `source` with 64 bits."""
        high = self.shift_right(word, self.int_const(31)) if source.compute.is_signed else self.int_const(0)
        return self.int64(high, word)

    def _int64_near(self, a: Value) -> Int64:
        """The integer of 64 bits toward zero, saturated; 0 of NaN. Both halves of the magnitude are exact."""
        zero, one = self.int_const(0), self.int_const(1)
        magnitude, is_negative = self.abs(a), self.lt(a, self.const(0.0))
        upper = self.trunc(self.mul(magnitude, self.const(2.0**-32)))
        high = self._signed_near(upper)
        low = self._unsigned_near(self.sub(magnitude, self.mul(upper, self.const(2.0**32))))
        is_beyond = self.ge(magnitude, self.const(2.0**63))
        high = self.int_select(is_beyond, self.int_const(~SIGN_BIT), high)
        low = self.int_select(is_beyond, self.int_const(-1), low)
        carried = self.int_select(self.int_eq(low, zero), one, zero)
        negated = self.int_add(self.int_xor(high, self.int_const(-1)), carried), self.int_sub(zero, low)
        least = self.int_const(SIGN_BIT), zero
        halves = [
            self.int_select(is_negative, self.int_select(is_beyond, end, other), own)
            for own, other, end in zip((high, low), negated, least, strict=True)
        ]
        return self.int64(*halves)

    def _of_int64(self, wide: Int64, target: DataType, numerics: Numerics) -> Value:
        if target.compute.is_int64:
            return wide
        high, low = self.int64_halves(wide)
        if target.is_integer:
            return self.round_to(self.int_or(high, low) if target.compute.is_bool else low, target, numerics)
        return self.round_to(self._float_of_halves(high, low, target), target, numerics)

    def _float_of_halves(self, high: Int, low: Int, target: DataType) -> Value:
        """A float32 that is rounded to `target`, a float, as the integer of 64 bits is: the nearest one to float32.

        The magnitude is shifted to the left until its first bit is among the upper 32, of which a word is made that
        has a bit for all that was cut off.
        """
        b = IntegerMath(self, is_signed=False)
        zero, is_negative = b.const(0), self.int_lt(high, self.int_const(0))
        opposite = b.sub(zero, low)
        borrowed = b.select(b.eq(low, zero), zero, b.const(1))
        upper = b.select(is_negative, b.sub(b.sub(zero, high), borrowed), high)
        lower = b.select(is_negative, opposite, low)
        scale = self.const(2.0**32)
        for count in (16, 8, 4, 2, 1, 1):
            fits = b.lt(upper, b.const(1 << 31 - count))
            moved = b.bitwise_or(b.shift_left(upper, b.const(count)), b.shift_right(lower, b.const(32 - count)))
            upper = b.select(fits, moved, upper)
            lower = b.select(fits, b.shift_left(lower, b.const(count)), lower)
            scale = self.select(fits, self.mul(scale, self.const(2.0**-count)), scale)
        sticky = b.select(b.eq(lower, zero), upper, b.bitwise_or(upper, b.const(1)))
        exact = sticky if target.is_compute_type else self._with_sticky_bit(sticky, ComputeType.U32)
        magnitude = self.mul(self._float_of(exact, ComputeType.U32), scale)
        return self.select(is_negative, self.neg(magnitude), magnitude)

    def _low_bits(self, word: Int, count: int, *, is_signed: bool) -> Int:
        """The number of `count` bits that the low bits of `word` are."""
        if not is_signed:
            return self.int_and(word, self.int_const((1 << count) - 1))
        unused = self.int_const(32 - count)
        return self.shift_right(self.shift_left(word, unused), unused)

    def round_bfloat16(self, value: Value, numerics: Numerics) -> Value:
        """`value` rounded to the nearest bfloat16, ties to even, as a float32.

        Under IEEE numerics denormals are kept and NaN stays NaN. Under device numerics a NaN becomes +infinity, and
        a magnitude below 2**-126 (before rounding) zero of its sign.
        """
        bits = self.bits(value)
        lowest = self.int_and(self.shift_right(bits, self.int_const(16)), self.int_const(1))
        carried = self.int_add(self.int_add(bits, self.int_const(0x7FFF)), lowest)
        rounded = self.from_bits(self.int_and(carried, self.int_const(-0x1_0000)))
        not_a_number = self.ne(value, value)
        if numerics is Numerics.IEEE:
            return self.select(not_a_number, self.const(float("nan")), rounded)
        zero = self.from_bits(self.int_and(bits, self.int_const(SIGN_BIT)))
        flushed = self.select(self.lt(self.abs(value), self.const(SMALLEST_NORMAL)), zero, rounded)
        return self.select(not_a_number, self.const(float("inf")), flushed)

    def _float_of(self, word: Int, compute: ComputeType) -> Value:
        """The nearest float32."""
        if compute.is_signed:
            return self.to_float(word)
        high = self.to_float(self.shift_right_zero(word, self.int_const(16)))
        low = self.to_float(self.int_and(word, self.int_const(0xFFFF)))
        return self.add(self.mul(high, self.const(2.0**16)), low)

    def _with_sticky_bit(self, word: Int, compute: ComputeType) -> Int:
        """An integer that float32 has, and that is rounded to a narrower float as `word` is.

        Of more than 24 bits, what the lowest eight hold is or-ed into the bit above.
        """
        b = IntegerMath(self, is_signed=compute.is_signed)
        upper = b.bitwise_and(word, b.const(-0x100))
        sticky = b.select(b.eq(word, upper), upper, b.bitwise_or(upper, b.const(0x100)))
        above = b.shift_right(word, b.const(24))
        return b.select(b.either(b.eq(above, b.const(0)), b.eq(above, b.const(-1))), word, sticky)

    def _integer_near(self, a: Value, target: DataType) -> Int:
        """The integer toward zero, saturated; 0 of NaN."""
        b = IntegerMath(self, is_signed=target.compute.is_signed)
        word = self._signed_near(a) if target.compute.is_signed else self._unsigned_near(a)
        if target.is_compute_type:
            return word
        return b.minimum(b.maximum(word, b.const(target.values[0])), b.const(target.values[-1]))

    def _signed_near(self, a: Value) -> Int:
        low, high = self.const(-(2.0**31)), self.const(2.0**31)
        inside = self.both(self.ge(a, low), self.lt(a, high))
        word = self.truncated(self.select(inside, a, self.const(0.0)))
        word = self.int_select(self.ge(a, high), self.int_const(~SIGN_BIT), word)
        return self.int_select(self.lt(a, low), self.int_const(SIGN_BIT), word)

    def _unsigned_near(self, a: Value) -> Int:
        zero, half = self.const(0.0), self.const(2.0**31)
        is_upper = self.ge(a, half)
        rest = self.select(is_upper, self.sub(a, half), a)
        inside = self.both(self.ge(rest, zero), self.lt(rest, half))
        word = self.truncated(self.select(inside, rest, zero))
        word = self.int_select(is_upper, self.int_xor(word, self.int_const(SIGN_BIT)), word)
        return self.int_select(self.ge(a, self.const(2.0**32)), self.int_const(-1), word)
