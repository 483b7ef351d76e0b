"""The record of a compile for many sizes and numbers: its symbols, what follows from them, and its guards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import KEYS
from ttnn_jit.specs.extents.comparisons import Comparisons
from ttnn_jit.specs.extents.extent import Extent
from ttnn_jit.specs.extents.float_functions import double_bits
from ttnn_jit.specs.extents.polynomials import (
    Applied,
    Call,
    Literal,
    Operand,
    Quotient,
    Terms,
    constant,
    constant_of,
    difference,
    divided_exactly,
    in_lowest_terms,
    nested_quotient,
    plus,
    scaled,
    split,
    sum_of,
    text_of,
    value_of,
)
from ttnn_jit.specs.extents.symbolic_float import SymbolicFloat

LEAST_SYMBOL = 2
"""Extents of 0 and 1 are no symbols: they broadcast, or leave nothing to compute."""
GREATEST_SYMBOL = 2**32 - 1
"""The extents of ttnn are 32-bit numbers."""


_ROUNDING = {"float", "float32"}


class ServesOneCallError(Exception):
    """The program of a trace would serve one call only, so that it is compiled for the sizes of that call."""


@dataclass(frozen=True)
class Specialization:
    """A use that fixed an extent.

    Attributes:
        expression: The extent, or the float.
        value: The value to which it is fixed.
        use: The use.
    """

    expression: str
    value: float
    use: str


class Trace(Comparisons):
    """The record of a compile that holds for many sizes.

    Args:
        located: Adds the location of a specializing use to its description.

    Attributes:
        specialized: The uses that fixed an extent, in order.
        located: Adds the location of a specializing use to its description.
    """

    def __init__(self, located: Callable[[str], str] = str) -> None:
        super().__init__()
        self.specialized: list[Specialization] = []
        self.located = located
        self._extents: dict[Terms, Any] = {}
        self._quotients: dict[tuple[Terms, Terms], Any] = {}

    def symbol(self, hint: int) -> Any:
        """A new symbol, whose value in this compile is `hint`, of a magnitude of at least `LEAST_SYMBOL`."""
        ends = (LEAST_SYMBOL, GREATEST_SYMBOL) if hint > 0 else (-GREATEST_SYMBOL, -LEAST_SYMBOL)
        return self.extent(self._new_symbol(hint, *ends))

    def float_symbol(self, bits: int) -> Any:
        """A new symbol, whose value in this compile is the float of these bits; formulas take the bits."""
        return self.applied("double", self.extent((((self._add(None, bits),), 1),)))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """A block in which this thread's extents are those of this trace."""
        around, KEYS.memos = KEYS.memos, {}
        try:
            yield
        finally:
            KEYS.memos = around

    def extent(self, terms: Terms) -> Any:
        """The number of a polynomial: an int if it is constant."""
        found = self._extents.get(terms)
        if found is None:
            number = constant_of(terms)
            found = Extent(self, terms, value_of(terms, self._hints)) if number is None else number
            self._extents[terms] = found
        return found

    def quotient(self, dividend: Terms, divisor: Terms) -> Any:
        """The quotient of two numbers, rounded down."""
        key = dividend, divisor
        if key not in self._quotients:
            self._quotients[key] = self._quotient(dividend, divisor)
        return self._quotients[key]

    def _quotient(self, dividend: Terms, divisor: Terms) -> Any:
        whole, rest = divided_exactly(dividend, divisor)
        if not rest:
            return self.extent(whole)
        rest, divisor = in_lowest_terms(rest, divisor)
        by = constant_of(divisor)
        low, high = self._bounds(rest)
        if low is not None and low >= 0 and (self._bounds(difference(divisor, rest))[0] or 0) >= 1:
            return self.extent(whole)
        if high is not None and high < 0 and (self._bounds(plus(sum_of((*divisor, *rest)), 1))[0] or 0) >= 1:
            return self.extent(plus(whole, -1))
        if by is not None and by > 0 and rest[-1][1] < 0:  # a quotient rounded up: its bounds are known
            return self.extent(whole) - self.quotient(plus(scaled(rest, -1), by - 1), divisor)
        if by is not None and low is not None and high is not None and low // by == high // by:
            return self.extent(plus(whole, low // by))
        atom = self._number_of(nested_quotient(Quotient(rest, divisor), self._atoms))
        return self.extent(sum_of((*whole, ((atom,), 1))))

    def call(self, function: str, arguments: tuple[Terms, ...]) -> Any:
        """The value of one of `FUNCTIONS`."""
        return self.extent((((self._number_of(Call(function, arguments)),), 1),))

    def applied(self, function: str, *values: Any) -> Any:
        """The value of one of `FLOAT_FUNCTIONS` for numbers of the trace, ints and floats.

        Raises:
            ArithmeticError, ValueError: It has none for the hints.
        """
        if function in _ROUNDING and self._is_rounded(values[0], function):
            return values[0]
        number = self._number_of(Applied(function, tuple(map(_operand_of, values))))
        hint = self._hints[number]
        return SymbolicFloat(self, number, hint) if isinstance(hint, float) else self.extent((((number,), 1),))

    def _is_rounded(self, value: Any, function: str) -> bool:
        """Whether a float is a result of a function that rounds its own results to themselves."""
        if type(value) is not SymbolicFloat or function == "float":
            return type(value) is SymbolicFloat
        atom = self._atoms[value.atom]
        return isinstance(atom, Applied) and atom.function == function

    def specialize(self, extent: Extent, use: str) -> int:
        """The hint of an extent, to which a guard fixes it from now on."""
        self._specialize(extent, extent.hint, use)
        return extent.hint

    def specialize_float(self, number: SymbolicFloat, use: str) -> float:
        """The hint of a float, to whose bits a guard fixes it from now on."""
        match self._atoms[number.atom]:
            case Applied("double", (tuple() as bits,)):
                self._specialize(self.extent(bits), number.hint, use)
            case _:
                self._specialize(self.applied("double_bits", number), number.hint, use)
        return number.hint

    def _specialize(self, extent: Extent, shown: float, use: str) -> None:
        varying, _, _ = split(extent.terms)
        if self._is_known_to_be(varying, value_of(varying, self._hints)) is not True:
            self.is_zero(difference(extent.terms, constant(extent.hint)))
            text = text_of(extent.terms, self._atoms)
            self.specialized.append(Specialization(text, shown, self.located(use)))


def _operand_of(value: Any) -> Operand:
    if type(value) is SymbolicFloat:
        return value.atom
    if type(value) is Extent:
        return value.terms
    return constant(int(value)) if isinstance(value, int) else Literal(double_bits(value))
