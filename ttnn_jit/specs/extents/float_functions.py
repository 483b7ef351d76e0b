"""Functions of floats whose values a template computes anew for every number: `Trace.applied` (extent.py) records them.

They compute what Python computes, and what a compile computes of a number on the way to a constant of a kernel.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def double(bits: int) -> float:
    """The float that has these 64 bits."""
    number: float = struct.unpack("<d", struct.pack("<Q", bits % (1 << 64)))[0]
    return number


def double_bits(value: float) -> int:
    """The bits of a float: 0.0 and -0.0 differ, and NaN equals itself."""
    bits: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return bits


def float32(value: float) -> float:
    """`value` rounded to float32; an infinity of its sign beyond the range of float32."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def float32_bits(value: float) -> int:
    """The bits of the float32 nearest to `value`."""
    return int.from_bytes(struct.pack("<f", float32(value)), "little")


def int32_bits(value: int) -> int:
    """The low 32 bits of an int."""
    return value % (1 << 32)


def short_float(value: float, lost: int, is_block_float: int) -> float:
    """A float32 without its `lost` lowest bits, rounded to nearest, ties to even; NaN and infinities stay as they are.

    For block floats, the value in a group of equal elements: never infinite, and zero if it is denormal.
    """
    if not math.isfinite(value):
        return value
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    nearest = (bits + (1 << lost - 1) - 1 + (bits >> lost & 1)) >> lost << lost
    if is_block_float:
        has_carried = nearest >> 23 != bits >> 23
        nearest = 0 if not bits >> 23 & 0xFF else nearest - (1 << lost) if has_carried else nearest
    return float(struct.unpack("<f", struct.pack("<I", nearest))[0])


def half_float(value: float) -> float:
    """A float32 rounded to IEEE's binary16, to nearest, ties to even; infinite beyond its range."""
    try:
        return float(struct.unpack("<e", struct.pack("<e", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def real_power(base: float, exponent: float) -> float:
    """A power that is a float.

    Raises:
        ArithmeticError: It is a complex number.
    """
    power: Any = base**exponent
    if type(power) is not float:
        raise ArithmeticError(f"{power} is no float")
    return power


def power_above(value: float) -> float:
    """The least power of two above the magnitude of a finite number; 1 of zero.

    Raises:
        ArithmeticError: It is no float.
    """
    return 2.0 ** math.frexp(value)[1]


def less(one: float, other: float) -> int:
    """Whether a number is less than another, as 1 or 0."""
    return int(one < other)


def at_most(one: float, other: float) -> int:
    """Whether a number is less than another or equal to it, as 1 or 0; both are 0 beside NaN."""
    return int(one <= other)


def equal(one: float, other: float) -> int:
    """Whether two numbers are equal, as 1 or 0."""
    return int(one == other)


SIGNS: Mapping[str, str] = {
    function.__name__: sign
    for function, sign in (
        (operator.add, "+"),
        (operator.sub, "-"),
        (operator.mul, "*"),
        (operator.truediv, "/"),
        (operator.floordiv, "//"),
        (operator.mod, "%"),
        (real_power, "**"),
        (less, "<"),
        (at_most, "<="),
        (equal, "=="),
    )
}
"""The functions that are operators in Python's syntax."""

MATH_FUNCTIONS = (math.sqrt, math.exp, math.log, math.log2, math.log10, math.sin, math.cos, math.tan, math.tanh)
"""Functions of one number that users call."""

_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod)
_OTHERS = (
    double,
    double_bits,
    float32,
    float32_bits,
    int32_bits,
    short_float,
    real_power,
    power_above,
    less,
    at_most,
    equal,
)

_BITS = (double_bits, float32_bits, int32_bits)
COMPARISONS = frozenset(each.__name__ for each in (less, at_most, equal))
OF_WHOLE_RESULTS = COMPARISONS.union(each.__name__ for each in _BITS)
"""The functions whose results are natural numbers."""

FLOAT_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    each.__name__: each for each in (*_ARITHMETIC, operator.neg, operator.abs, float, *_OTHERS, *MATH_FUNCTIONS)
}
"""The functions by their names, which templates on disk hold."""

_BINARY = frozenset(SIGNS)
_WHOLE_OPERANDS = {double.__name__: (0,), int32_bits.__name__: (0,), short_float.__name__: (1, 2)}


def takes(function: str, are_whole: Sequence[bool]) -> bool:
    """Whether a function takes such operands: per operand, whether it is a whole number."""
    count = 3 if function == short_float.__name__ else 2 if function in _BINARY else 1
    return len(are_whole) == count and all(are_whole[place] for place in _WHOLE_OPERANDS.get(function, ()))
