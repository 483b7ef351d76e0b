"""Arithmetic of integers and of truths for tile bodies, exact modulo 2**32 or 2**64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.kernels.math.primitives import Primitives
from ttnn_jit.kernels.math.wide_primitives import Int, Int64, WidePrimitives
from ttnn_jit.ops.language.emit import EmitIntegers, EmitTruths, EmitWideIntegers, Mask


def _is(primitive: str) -> Callable[..., Any]:
    """A method that calls a primitive of the backend."""
    return lambda self, *operands: getattr(self._primitives, primitive)(*operands)


class WordMath:
    """The common operations of integers and truths over the primitives of a backend, and comparisons.

    Args:
        primitives: The backend.
        is_signed: Whether the integers are two's complement; they are unsigned otherwise.
        bits: The bits of an integer, as `primitives` has them.
    """

    def __init__(self, primitives: Primitives | WidePrimitives, *, is_signed: bool, bits: int = 32) -> None:
        self._primitives = primitives
        self._is_signed = is_signed
        self._bits = bits

    def const(self, value: float) -> Int:
        number = int(value) % (1 << self._bits)
        return self._primitives.int_const(number - (number >> self._bits - 1 << self._bits))

    bitwise_and = _is("int_and")
    bitwise_or = _is("int_or")
    bitwise_xor = _is("int_xor")
    eq = _is("int_eq")
    both = _is("both")
    either = _is("either")
    invert = _is("invert")
    select = _is("int_select")

    def lt(self, a: Int, b: Int) -> Mask:
        return self._primitives.int_lt(a, b) if self._is_signed else self._primitives.unsigned_lt(a, b)

    def le(self, a: Int, b: Int) -> Mask:
        return self.invert(self.lt(b, a))

    def gt(self, a: Int, b: Int) -> Mask:
        return self.lt(b, a)

    def ge(self, a: Int, b: Int) -> Mask:
        return self.invert(self.lt(a, b))

    def ne(self, a: Int, b: Int) -> Mask:
        return self.invert(self.eq(a, b))


class IntegerMath(WordMath, EmitIntegers):
    """`EmitIntegers` over the primitives of a backend."""

    add = _is("int_add")
    sub = _is("int_sub")
    mul = _is("int_mul")

    def neg(self, a: Int) -> Int:
        return self.sub(self.const(0), a)

    def abs(self, a: Int) -> Int:
        return self.select(self.lt(a, self.const(0)), self.neg(a), a) if self._is_signed else a

    def minimum(self, a: Int, b: Int) -> Int:
        return self.select(self.lt(b, a), b, a)

    def maximum(self, a: Int, b: Int) -> Int:
        return self.select(self.lt(a, b), b, a)

    def bitwise_not(self, a: Int) -> Int:
        return self.bitwise_xor(a, self.const(-1))

    def shift_left(self, a: Int, count: Int) -> Int:
        return self.select(self._is_beyond(count), self.const(0), self._primitives.shift_left(a, self._within(count)))

    def shift_right(self, a: Int, count: Int) -> Int:
        if not self._is_signed:
            return self.shift_right_zero(a, count)
        most = self.const(self._bits - 1)
        return self._primitives.shift_right(a, self.select(self._is_beyond(count), most, self._within(count)))

    def shift_right_zero(self, a: Int, count: Int) -> Int:
        return self.select(
            self._is_beyond(count), self.const(0), self._primitives.shift_right_zero(a, self._within(count))
        )

    def _is_beyond(self, count: Int) -> Mask:
        """Whether a shift count is not below the bits; a negative one is a large unsigned one."""
        return self._primitives.unsigned_lt(self.const(self._bits - 1), count)

    def _within(self, count: Int) -> Int:
        return self._primitives.int_and(count, self.const(self._bits - 1))


class WideIntegerMath(IntegerMath, EmitWideIntegers):
    """`EmitWideIntegers` over the primitives of a backend.

    Args:
        wide: The backend.
        is_signed: Whether the integers are two's complement.
    """

    def __init__(self, wide: WidePrimitives, *, is_signed: bool) -> None:
        super().__init__(wide, is_signed=is_signed, bits=64)
        self._wide = wide

    def divide_trunc(self, a: Int64, b: Int64) -> Int64:
        zero, one = self.const(0), self.const(1)
        by_zero = self.eq(b, zero)
        if not self._is_signed:
            return self.select(by_zero, zero, self._wide.unsigned_quotient(a, self.select(by_zero, one, b)))
        negates = self.eq(b, self.const(-1))  # the least integer by -1 is no quotient of a processor
        found = self._wide.quotient(a, self.select(self.either(by_zero, negates), one, b))
        return self.select(by_zero, zero, self.select(negates, self.neg(a), found))

    def fmod(self, a: Int64, b: Int64) -> Int64:
        left = self.sub(a, self.mul(self.divide_trunc(a, b), b))
        return self.select(self.eq(b, self.const(0)), self.const(0), left)

    def remainder(self, a: Int64, b: Int64) -> Int64:
        left = self.fmod(a, b)
        return self.select(self._is_below(left, b), self.add(left, b), left) if self._is_signed else left

    def floor_divide(self, a: Int64, b: Int64) -> Int64:
        quotient = self.divide_trunc(a, b)
        if not self._is_signed:
            return quotient
        return self.select(self._is_below(self.fmod(a, b), b), self.sub(quotient, self.const(1)), quotient)

    def _is_below(self, left: Int64, b: Int64) -> Mask:
        """Whether a remainder of truncation has not the sign of the divisor."""
        zero = self.const(0)
        differs = self.lt(self.bitwise_xor(left, b), zero)
        return self.both(differs, self.ne(left, zero))


class TruthMath(WordMath, EmitTruths):
    """`EmitTruths` over the primitives of a backend: integers 0 and 1, with torch's semantics of bools.

    Args:
        primitives: The backend.
    """

    add = maximum = WordMath.bitwise_or
    mul = minimum = WordMath.bitwise_and

    def __init__(self, primitives: Primitives) -> None:
        super().__init__(primitives, is_signed=False)

    def const(self, value: float) -> Int:
        return super().const(value != 0)

    def bitwise_not(self, a: Int) -> Int:
        return self.bitwise_xor(a, self.const(1))
