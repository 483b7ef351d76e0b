"""Conversions between element types, by their storage and compute types.

Floats are rounded once, to nearest even. Floats converted to integers are truncated and saturated; NaN becomes 0. An
integer keeps its low bits in a narrower type. Nonzero numbers are true.
"""

from __future__ import annotations

from ttnn_jit.kernels.math.integer_math import IntegerMath
from ttnn_jit.kernels.math.primitives import SIGN_BIT, SMALLEST_NORMAL, Primitives
from ttnn_jit.kernels.math.wide_primitives import Double, Int, Int64
from ttnn_jit.ops.language.emit import Value
from ttnn_jit.specs.dtype_traits import ComputeType, Storage
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType


class Conversions(Primitives):
    """Values are of the compute type of their element type."""

    def typecast(self, value: Value, source: DataType, target: DataType, numerics: Numerics) -> Value:
        """Convert `value` of dtype `source` to a number that `target` represents exactly."""
        if source.compute.is_wide or target.compute.is_wide:
            return self._wide_cast(value, source, target, numerics)
        if target.compute.is_bool and not source.is_integer:
            return self.int_select(self.ne(value, self.const(0.0)), self.int_const(1), self.int_const(0))
        if source.is_integer and not target.is_integer:
            exact = value if target.is_compute_type else self._with_sticky_bit(value, source.compute)
            return self.round_to(self._float_of(exact, source.compute), target, numerics)
        if target.is_integer and not source.is_integer:
            return self._integer_near(value, target)
        return self.round_to(value, target, numerics)

    def _wide_cast(self, value: Value, source: DataType, target: DataType, numerics: Numerics) -> Value:
        """`typecast` from or to a type of 64 bits."""
        if not source.compute.is_wide:
            return self._wide_of(value, source, target)
        if source.is_integer:
            return self._of_int64(value, source, target, numerics)
        return self._of_double(value, target, numerics)

    def round_to(self, value: Value, dtype: DataType, numerics: Numerics) -> Value:
        """Round `value`, of the compute type of `dtype`, to a number that `dtype` represents; see `round_bfloat16`."""
        match dtype.traits.storage:
            case Storage.UPPER_HALF:
                return self.round_bfloat16(value, numerics)
            case Storage.IEEE_HALF:
                return self.round_half(value)
            case Storage.BOOL_BYTE:
                return self.int_select(self.int_eq(value, self.int_const(0)), self.int_const(0), self.int_const(1))
            case Storage.LOW_BITS:
                return self._low_bits(value, 8 * dtype.itemsize, is_signed=dtype.compute.is_signed)
            case Storage.WHOLE:
                return value

    def _int64_of(self, word: Int, source: DataType) -> Int64:
        """Extend an integer of `source` to 64 bits."""
        high = self.shift_right(word, self.int_const(31)) if source.compute.is_signed else self.int_const(0)
        return self.int64(high, word)

    def _wide_of(self, value: Value, source: DataType, target: DataType) -> Int64:
        """An element of 32 bits as one of 64."""
        if not source.is_integer:
            exact = self.wide.widened(value)
            return self._int64_near(exact, target.compute) if target.is_integer else exact
        wide = self._int64_of(value, source)
        return wide if target.is_integer else self.wide.to_float(wide)

    def _int64_near(self, a: Double, compute: ComputeType) -> Int64:
        """The truncated, saturated integer of 64 bits; 0 for NaN."""
        w = self.wide
        zero, half, least = w.const(0.0), w.const(2.0**63), w.int_const(-(1 << 63))
        if compute.is_signed:
            inside = w.both(w.ge(a, w.neg(half)), w.lt(a, half))
            word = w.truncated(w.select(inside, a, zero))
            word = w.int_select(w.ge(a, half), w.int_const((1 << 63) - 1), word)
            return w.int_select(w.lt(a, w.neg(half)), least, word)
        is_upper = w.ge(a, half)
        rest = w.select(is_upper, w.sub(a, half), a)
        inside = w.both(w.ge(rest, zero), w.lt(rest, half))
        word = w.truncated(w.select(inside, rest, zero))
        word = w.int_select(is_upper, w.int_xor(word, least), word)
        return w.int_select(w.ge(a, w.const(2.0**64)), w.int_const(-1), word)

    def _of_double(self, a: Double, target: DataType, numerics: Numerics) -> Value:
        """A float64 rounded once, or its truncated and saturated integer."""
        w, compute = self.wide, target.compute
        if compute.is_bool:
            return self.int_select(w.ne(a, w.const(0.0)), self.int_const(1), self.int_const(0))
        if compute.is_wide:
            return self._int64_near(a, compute) if target.is_integer else a
        if target.is_integer:
            least, largest = w.const(float(target.values[0])), w.const(float(target.values[-1]))
            number = w.select(w.eq(a, a), a, w.const(0.0))
            number = w.select(w.lt(number, least), least, w.select(w.gt(number, largest), largest, number))
            return w.low(w.truncated(number))
        nearest = w.nearest(a)
        return nearest if target.is_compute_type else self.round_to(self._to_odd(a, nearest), target, numerics)

    def _to_odd(self, a: Double, nearest: Value) -> Value:
        """A float32 that rounds to a narrower float as the float64 `a` does: truncated, with a sticky last bit."""
        w = self.wide
        back = w.widened(nearest)
        one, zero = self.int_const(1), self.int_const(0)
        bits = self.bits(nearest)
        bits = self.int_sub(bits, self.int_select(w.gt(w.abs(back), w.abs(a)), one, zero))
        inexact = w.both(w.ne(back, a), w.eq(a, a))
        return self.from_bits(self.int_or(bits, self.int_select(inexact, one, zero)))

    def _of_int64(self, wide: Int64, source: DataType, target: DataType, numerics: Numerics) -> Value:
        if target.compute.is_wide:
            return wide if target.is_integer else self._double_of(wide, source)
        high, low = self.int64_halves(wide)
        if target.is_integer:
            return self.round_to(self.int_or(high, low) if target.compute.is_bool else low, target, numerics)
        return self.round_to(self._float_of_halves(high, low, source, target), target, numerics)

    def _double_of(self, wide: Int64, source: DataType) -> Double:
        """The nearest float64: of an unsigned integer the exact sum of two, rounded once."""
        w = self.wide
        if source.compute.is_signed:
            return w.to_float(wide)
        high = w.to_float(w.shift_right_zero(wide, w.int_const(32)))
        low = w.to_float(w.int_and(wide, w.int_const(0xFFFF_FFFF)))
        return w.add(w.mul(high, w.const(2.0**32)), low)

    def _float_of_halves(self, high: Int, low: Int, source: DataType, target: DataType) -> Value:
        """A float32 that rounds to the float type `target` as the 64-bit integer does; for float32, the nearest one.

        The magnitude is normalized to the left into its upper 32 bits, with a sticky bit for the lower ones.
        """
        b = IntegerMath(self, is_signed=False)
        zero, upper, lower = b.const(0), high, low
        is_negative = self.int_lt(high, self.int_const(0))
        if source.compute.is_signed:
            borrowed = b.select(b.eq(low, zero), zero, b.const(1))
            upper = b.select(is_negative, b.sub(b.sub(zero, high), borrowed), high)
            lower = b.select(is_negative, b.sub(zero, low), low)
        scale = self.const(2.0**32)
        for count in (16, 8, 4, 2, 1, 1):
            fits = b.lt(upper, b.const(1 << 32 - count))
            moved = b.bitwise_or(b.shift_left(upper, b.const(count)), b.shift_right(lower, b.const(32 - count)))
            upper = b.select(fits, moved, upper)
            lower = b.select(fits, b.shift_left(lower, b.const(count)), lower)
            scale = self.select(fits, self.mul(scale, self.const(2.0**-count)), scale)
        sticky = b.select(b.eq(lower, zero), upper, b.bitwise_or(upper, b.const(1)))
        exact = sticky if target.is_compute_type else self._with_sticky_bit(sticky, ComputeType.U32)
        magnitude = self.mul(self._float_of(exact, ComputeType.U32), scale)
        return self.select(is_negative, self.neg(magnitude), magnitude) if source.compute.is_signed else magnitude

    def _low_bits(self, word: Int, count: int, *, is_signed: bool) -> Int:
        """The low `count` bits of `word`, sign- or zero-extended."""
        if not is_signed:
            return self.int_and(word, self.int_const((1 << count) - 1))
        unused = self.int_const(32 - count)
        return self.shift_right(self.shift_left(word, unused), unused)

    def round_bfloat16(self, value: Value, numerics: Numerics) -> Value:
        """`value` rounded to the nearest bfloat16, ties to even, as a float32.

        Under IEEE numerics denormals are kept and NaN stays NaN. Under device numerics a NaN becomes +infinity, and
        a magnitude below 2**-126 (before rounding) becomes zero of its sign.
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

    def round_half(self, value: Value) -> Value:
        """`value` rounded to the nearest IEEE half, ties to even, as a float32; infinite from 65520 on, NaN stays NaN.

        Below 2**-14 halves have the spacing of the float32 numbers from 0.5 on.
        """
        bits = self.bits(value)
        lowest = self.int_and(self.shift_right(bits, self.int_const(13)), self.int_const(1))
        carried = self.int_add(self.int_add(bits, self.int_const(0xFFF)), lowest)
        rounded = self.from_bits(self.int_and(carried, self.int_const(-0x2000)))
        magnitude = self.abs(value)
        half, infinity = self.const(0.5), self.const(float("inf"))
        small = self.copysign(self.sub(self.add(magnitude, half), half), value)
        rounded = self.select(self.lt(magnitude, self.const(2.0**-14)), small, rounded)
        rounded = self.select(self.ge(magnitude, self.const(65520.0)), self.copysign(infinity, value), rounded)
        return self.select(self.ne(value, value), self.const(float("nan")), rounded)

    def _float_of(self, word: Int, compute: ComputeType) -> Value:
        """The nearest float32."""
        if compute.is_signed:
            return self.to_float(word)
        high = self.to_float(self.shift_right_zero(word, self.int_const(16)))
        low = self.to_float(self.int_and(word, self.int_const(0xFFFF)))
        return self.add(self.mul(high, self.const(2.0**16)), low)

    def _with_sticky_bit(self, word: Int, compute: ComputeType) -> Int:
        """An integer that float32 represents and that rounds to a narrower float as `word` does.

        If it has more than 24 bits, the lowest eight are replaced by a sticky bit above them.
        """
        b = IntegerMath(self, is_signed=compute.is_signed)
        upper = b.bitwise_and(word, b.const(-0x100))
        sticky = b.select(b.eq(word, upper), upper, b.bitwise_or(upper, b.const(0x100)))
        above = b.shift_right(word, b.const(24))
        return b.select(b.either(b.eq(above, b.const(0)), b.eq(above, b.const(-1))), word, sticky)

    def _integer_near(self, a: Value, target: DataType) -> Int:
        """The truncated, saturated integer; 0 for NaN."""
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
