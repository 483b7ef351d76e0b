"""1 / x, sqrt(x) and 1 / sqrt(x) of bfloat16, by integers and one table of bytes.

The bits of a bfloat16 are an exponent, biased by 127, and a mantissa of seven bits below it. For a power p = sign /
root those of x**p are therefore near (sign * bits + bias) / root, where the bias keeps that of the exponent: its upper
bits are the exponent of the result for every normal x, and its lower seven (of a root eight, before it is halved) tell
the results' mantissas apart. So a result takes no division, and is the nearest bfloat16 because the table says so.
"""

from __future__ import annotations

import math
from functools import cached_property

from ttnn_jit.process.dataclass import dataclass

MANTISSA_BITS = 7
_BIAS = 127


@dataclass(frozen=True)
class Bfloat16Power:
    """x**(sign / root).

    Attributes:
        sign: 1 or -1.
        root: 1 or 2.
    """

    sign: int
    root: int

    @staticmethod
    def of(power: float) -> Bfloat16Power:
        """The form of x**power, one of -1, -1/2 and 1/2."""
        return Bfloat16Power(1 if power > 0 else -1, round(1 / abs(power)))

    @property
    def bias(self) -> int:
        """What is added to sign * bits."""
        return (self.root - self.sign) * _BIAS << MANTISSA_BITS

    @property
    def beyond(self) -> int:
        """The first bits above those of the normal numbers that have a normal result."""
        return (255 if self.root == 2 else 253) << MANTISSA_BITS

    @cached_property
    def mantissas(self) -> tuple[int, ...]:
        """The seven bits of the result by the low bits of sign * bits + bias."""
        entries = [0] * (self.root << MANTISSA_BITS)
        for bits in range(_BIAS << MANTISSA_BITS, (_BIAS + self.root) << MANTISSA_BITS):
            exponent, mantissa = divmod(bits, 1 << MANTISSA_BITS)
            x = math.ldexp((1 << MANTISSA_BITS) + mantissa, exponent - _BIAS - MANTISSA_BITS)
            # No result is so near to the middle of two bfloat16 that a double would not tell.
            nearest = round(math.frexp(x ** (self.sign / self.root))[0] * (2 << MANTISSA_BITS))
            entries[(self.sign * bits + self.bias) % len(entries)] = nearest % (1 << MANTISSA_BITS)
        return tuple(entries)
