"""Functions by piecewise polynomials whose pieces widen with the argument."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.primitives import Primitives, Table
from ttnn_jit.ops.emit import Value


class Piecewise(Primitives):
    """Polynomials on 16 intervals of [0, 15]: four to an octave of x + 1.

    The intervals [0, 1], [1, 3], [3, 7] and [7, 15] have four equal pieces each. Wide where the function is flat, a
    piece needs the same degree everywhere, and its coefficients are 16-entry lookups without a gather.

    Tables begin with the piece at x = 1, since the exponent of x + 1 counts on from there; those of [0, 1] come last.
    """

    def piecewise(self, x: Value, tables: Sequence[Table], *, odd: bool = False, slope: float | None = None) -> Value:
        """Entry i of `tables[d]` is the coefficient of (x - centre)**d in piece i; x in [0, 15].

        Args:
            x: The argument.
            tables: Coefficients, the constant terms first.
            odd: The first piece is centred at 0 rather than in its middle, so that an odd function keeps its digits.
            slope: Of an odd function, a power of two near its slope at 0: the first piece holds what that leaves, so
                that its coefficients' rounding counts less.
        """
        shifted = self.add(x, self.const(1.0))
        position = self.bits(shifted)
        index = self.shift_right(position, self.int_const(21))
        lower = self.int_and(position, self.int_const(-0x20_0000))
        middle = self.from_bits(self.int_or(lower, self.int_const(0x10_0000)))
        centre = self.sub(middle, self.const(1.0))
        first = self.lt(shifted, self.const(1.25))  # not x < 1/4: that sum rounds, and the index comes from it
        if odd:
            centre = self.select(first, self.const(0.0), centre)
        r = self.sub(x, centre)
        result = self.lookup(tables[-1], index)
        for table in reversed(tables[1:-1]):
            result = self.fma(result, r, self.lookup(table, index))
        constant = self.lookup(tables[0], index)
        if slope is not None:
            constant = self.select(first, self.mul(x, self.const(slope)), constant)
        return self.fma(result, r, constant)
