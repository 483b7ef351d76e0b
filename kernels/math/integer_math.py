"""Arithmetic of 32-bit integers and of truths for tile bodies, exact modulo 2**32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.kernels.math.primitives import Int, Int64, Primitives
from ttnn_jit.ops.language.emit import EmitIntegers, EmitTruths, Mask

BITS = 32


def _is(primitive: str) -> Callable[..., Any]:
    """A method that calls a primitive of the backend."""
    return lambda self, *operands: getattr(self._primitives, primitive)(*operands)


class Int32Math:
    """The common operations of integers and truths: 32 bits over the primitives of a backend, and comparisons.

    Args:
        primitives: The backend.
        is_signed: Whether the integers are two's complement; they are unsigned otherwise.
    """

    def __init__(self, primitives: Primitives, *, is_signed: bool) -> None:
        self._primitives = primitives
        self._is_signed = is_signed

    def const(self, value: float) -> Int:
        number = int(value) % (1 << BITS)
        return self._primitives.int_const(number - (number >> BITS - 1 << BITS))

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


class IntegerMath(Int32Math, EmitIntegers):
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
        most = self.const(BITS - 1)
        return self._primitives.shift_right(a, self.select(self._is_beyond(count), most, self._within(count)))

    def shift_right_zero(self, a: Int, count: Int) -> Int:
        return self.select(
            self._is_beyond(count), self.const(0), self._primitives.shift_right_zero(a, self._within(count))
        )

    def _is_beyond(self, count: Int) -> Mask:
        """Whether a shift count is not below 32; a negative one is a large unsigned one."""
        return self._primitives.unsigned_lt(self.const(BITS - 1), count)

    def _within(self, count: Int) -> Int:
        return self._primitives.int_and(count, self.const(BITS - 1))


class TruthMath(Int32Math, EmitTruths):
    """`EmitTruths` over the primitives of a backend: integers 0 and 1, with torch's semantics of bools.

    Args:
        primitives: The backend.
    """

    add = maximum = Int32Math.bitwise_or
    mul = minimum = Int32Math.bitwise_and

    def __init__(self, primitives: Primitives) -> None:
        super().__init__(primitives, is_signed=False)

    def const(self, value: float) -> Int:
        return super().const(value != 0)

    def bitwise_not(self, a: Int) -> Int:
        return self.bitwise_xor(a, self.const(1))


class Int64Math:
    """64-bit integers, which tile bodies only move and cast; they have no arithmetic.

    Args:
        primitives: The backend.
    """

    def __init__(self, primitives: Primitives) -> None:
        self._primitives = primitives

    def const(self, value: float) -> Int64:
        """`value`, a 32-bit integer, in every lane."""
        low = int(value)
        return self._primitives.int64(self._primitives.int_const(-1 if low < 0 else 0), self._primitives.int_const(low))
