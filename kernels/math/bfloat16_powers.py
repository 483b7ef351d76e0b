"""1 / x, sqrt(x) and 1 / sqrt(x) of bfloat16, by integer arithmetic and one table of bytes.

The bits of a bfloat16 are an exponent with bias 127 above a mantissa of seven bits. For a power p = sign / root the
bits of x**p are close to (sign * bits + bias) / root, where `bias` restores the bias of the exponent. For every normal
x the upper bits of that number are the exponent of the result. Its lower seven bits (for a root, the lower eight before
halving) determine the mantissa of the result, which a table gives. So no division is needed, and the table makes the
result the nearest bfloat16.
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
        """The summand of sign * bits."""
        return (self.root - self.sign) * _BIAS << MANTISSA_BITS

    @property
    def normal_end(self) -> int:
        """The least bits above those of all normal numbers with normal results."""
        return (255 if self.root == 2 else 253) << MANTISSA_BITS

    @cached_property
    def mantissas(self) -> tuple[int, ...]:
        """The mantissa bits of the result, by the low bits of sign * bits + bias."""
        entries = [0] * (self.root << MANTISSA_BITS)
        for bits in range(_BIAS << MANTISSA_BITS, (_BIAS + self.root) << MANTISSA_BITS):
            exponent, mantissa = divmod(bits, 1 << MANTISSA_BITS)
            x = math.ldexp((1 << MANTISSA_BITS) + mantissa, exponent - _BIAS - MANTISSA_BITS)
            # No result is so close to the midpoint of two bfloat16 that double precision would not decide.
            nearest = round(math.frexp(x ** (self.sign / self.root))[0] * (2 << MANTISSA_BITS))
            entries[(self.sign * bits + self.bias) % len(entries)] = nearest % (1 << MANTISSA_BITS)
        return tuple(entries)
