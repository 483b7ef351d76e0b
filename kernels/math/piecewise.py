"""Functions by piecewise polynomials whose pieces widen with the argument."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.math.primitives import Primitives, Table
from ttnn_jit.ops.language.emit import Value

# In the order of tables: [1, 3], [3, 7], [7, 15], [0, 1]. For odd functions the first piece is centred at 0.
_FROM_ONE = (1.25, 1.75, 2.25, 2.75, 3.5, 4.5, 5.5, 6.5, 8.0, 10.0, 12.0, 14.0)
CENTRES = Table.of_floats("piece_centres", *_FROM_ONE, 0.125, 0.375, 0.625, 0.875)
ODD_CENTRES = Table.of_floats("odd_piece_centres", *_FROM_ONE, 0.0, 0.375, 0.625, 0.875)
_FIRST = 12  # the index of [0, 1/4]


class Piecewise(Primitives):
    """Polynomials on 16 intervals of [0, 15]: four to an octave of x + 1.

    The intervals [0, 1], [1, 3], [3, 7] and [7, 15] have four equal pieces each. Wide where the function is flat, a
    piece needs the same degree everywhere, and its coefficients are 16-entry lookups without a gather.

    Tables begin with the piece at x = 1, since the exponent of x + 1 counts on from there; those of [0, 1] come last.
    """

    def piecewise(self, x: Value, tables: Sequence[Table], *, odd: bool = False, slope: float = 0.0) -> Value:
        """Entry i of `tables[d]` is the coefficient of (x - centre)**d in piece i; x in [0, 15].

        Args:
            x: The argument.
            tables: Coefficients, the constant terms first.
            odd: The first piece is centred at 0 rather than in its middle, so that an odd function keeps its digits.
            slope: Of an odd function, a power of two near its slope at 0: the first piece holds what that leaves, so
                that its coefficients' rounding counts less.
        """
        index = self.shift_right(self.bits(self.add(x, self.const(1.0))), self.int_const(21))
        r = self.sub(x, self.lookup(ODD_CENTRES if odd else CENTRES, index))
        result = self.lookup(tables[-1], index)
        for table in reversed(tables[1:-1]):
            result = self.fma(result, r, self.lookup(table, index))
        constant = self.lookup(tables[0], index)
        if slope:
            slopes = Table.of_floats(f"slope_{slope}", *(slope if entry == _FIRST else 0.0 for entry in range(16)))
            constant = self.fma(x, self.lookup(slopes, index), constant)
        return self.fma(result, r, constant)
