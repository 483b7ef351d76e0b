"""Elements of 64 bits in tile bodies as Python source for numba."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from ttnn_jit.kernels.math.wide_primitives import Double, Int, Int64
from ttnn_jit.ops.language.emit import Mask, Value


class Statements(Protocol):
    """Statements of Python under construction, and what they use (kernels/numba/python_scalar.py)."""

    imported: set[str]
    limits: set[str]

    def assign(self, text: str) -> str:
        """A new variable that holds the value of an expression."""

    def call(self, function: str, *operands: str) -> str:
        """A new variable that holds the result of a function of scalar_math."""


def _infix(operator: str) -> Callable[..., Any]:
    """A method that writes an operator between its operands."""
    return lambda self, a, b: self._host.assign(f"{a} {operator} {b}")


def _integer_infix(operator: str) -> Callable[..., Any]:
    """A method that writes an operator between integers, whose result has 64 bits."""
    return lambda self, a, b: self._cast("i64", f"{a} {operator} {b}")


def _calls(function: str) -> Callable[..., Any]:
    """A method that writes a call of a function of scalar_math."""
    return lambda self, *operands: self._host.call(function, *operands)


class PythonWide:
    """`WidePrimitives`, written as statements."""

    def __init__(self, host: Statements) -> None:
        self._host = host

    def _cast(self, kind: str, text: str) -> str:
        self._host.imported.add(kind)
        return self._host.assign(f"{kind}({text})")

    def int_const(self, value: int) -> Int64:
        return self._cast("i64", str(value))

    int_add = _integer_infix("+")
    int_sub = _integer_infix("-")
    int_mul = _integer_infix("*")
    quotient = _calls("wide_quotient")

    def unsigned_quotient(self, a: Int64, b: Int64) -> Int64:
        return self._cast("i64", f"{self._cast('u64', a)} // {self._cast('u64', b)}")

    int_and = _integer_infix("&")
    int_or = _integer_infix("|")
    int_xor = _integer_infix("^")
    shift_left = _integer_infix("<<")
    shift_right = _integer_infix(">>")

    def shift_right_zero(self, i: Int64, count: Int64) -> Int64:
        return self._cast("i64", f"{self._cast('u64', i)} >> {self._cast('u64', count)}")

    int_eq = _infix("==")
    int_lt = _infix("<")

    def unsigned_lt(self, a: Int64, b: Int64) -> Mask:
        return self._host.assign(f"{self._cast('u64', a)} < {self._cast('u64', b)}")

    int_select = _calls("select")
    both = _infix("&")
    either = _infix("|")

    def invert(self, m: Mask) -> Mask:
        return self._host.assign(f"not {m}")

    def const(self, value: float) -> Double:
        if not math.isfinite(value):
            self._host.limits.add(repr(value).removeprefix("-"))
        return self._cast("f64", repr(float(value)))

    add = _infix("+")
    sub = _infix("-")
    mul = _infix("*")
    div = _infix("/")

    def neg(self, a: Double) -> Double:
        return self._host.assign(f"-{a}")

    def abs(self, a: Double) -> Double:
        return self._host.assign(f"abs({a})")

    fma = _calls("wide_fma")
    copysign = _calls("wide_copysign")
    sqrt = _calls("wide_sqrt")
    minimum = _calls("wide_minimum")
    maximum = _calls("wide_maximum")
    round_even = _calls("wide_round_even")
    floor = _calls("wide_floor")
    ceil = _calls("wide_ceil")
    trunc = _calls("wide_trunc")
    lt = _infix("<")
    le = _infix("<=")
    gt = _infix(">")
    ge = _infix(">=")
    eq = _infix("==")
    ne = _infix("!=")
    select = _calls("select")

    def library(self, name: str, *operands: Double) -> Double:
        return self._host.call(f"wide_{name}", *operands)

    def widened(self, a: Value) -> Double:
        return self._cast("f64", a)

    def nearest(self, a: Double) -> Value:
        return self._cast("f32", a)

    def to_float(self, i: Int64) -> Double:
        return self._cast("f64", i)

    def truncated(self, a: Double) -> Int64:
        return self._cast("i64", a)

    def low(self, i: Int64) -> Int:
        return self._cast("i32", i)
