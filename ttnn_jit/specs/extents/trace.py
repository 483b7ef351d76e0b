"""The record of a compile for many sizes and numbers: its symbols, what follows from them, and its guards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import KEYS
from ttnn_jit.specs.extents.extent import Extent
from ttnn_jit.specs.extents.float_functions import double_bits
from ttnn_jit.specs.extents.formulas import Formulas, Guard
from ttnn_jit.specs.extents.polynomials import (
    Applied,
    Atom,
    Bounds,
    Call,
    Derived,
    Literal,
    Operand,
    Quotient,
    Terms,
    bounds_of,
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
    value_of_atom,
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


@dataclass
class _Interval:
    least: int | None = None
    greatest: int | None = None
    excluded: frozenset[int] = frozenset()


class Trace:
    """The record of a compile that holds for many sizes.

    Args:
        located: Adds the location of a specializing use to its description.

    Attributes:
        specialized: The uses that fixed an extent, in order.
        located: Adds the location of a specializing use to its description.
    """

    def __init__(self, located: Callable[[str], str] = str) -> None:
        self.specialized: list[Specialization] = []
        self.located = located
        self._atoms: list[Atom] = []
        self._hints: list[Any] = []
        self._numbers: dict[Derived, int] = {}
        self._intervals: dict[Terms, _Interval] = {}
        self._quotients: dict[tuple[Terms, Terms], Any] = {}
        self._are_zero: dict[Terms, bool] = {}
        self._are_at_least_zero: dict[Terms, bool] = {}

    def symbol(self, hint: int) -> Any:
        """A new symbol, whose value in this compile is `hint`, of a magnitude of at least `LEAST_SYMBOL`."""
        terms = (((self._add(None, hint),), 1),)
        ends = (LEAST_SYMBOL, GREATEST_SYMBOL) if hint > 0 else (-GREATEST_SYMBOL, -LEAST_SYMBOL)
        self._intervals[terms] = _Interval(*ends)
        return Extent(self, terms, hint)

    def float_symbol(self, bits: int) -> Any:
        """A new symbol, whose value in this compile is the float of these bits; formulas take the bits."""
        return self.applied("double", Extent(self, (((self._add(None, bits),), 1),), bits))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """A block in which this thread's extents are those of this trace."""
        around, KEYS.memos = KEYS.memos, {}
        try:
            yield
        finally:
            KEYS.memos = around

    @property
    def formulas(self) -> Formulas:
        """The atoms, and the conditions under which every comparison has the result that it had here."""
        guards = (
            Guard(terms, own.least, own.greatest, tuple(sorted(own.excluded))) for terms, own in self._intervals.items()
        )
        return Formulas(tuple(self._atoms), tuple(guards))

    def extent(self, terms: Terms) -> Any:
        """The number of a polynomial: an int if it is constant."""
        number = constant_of(terms)
        return Extent(self, terms, value_of(terms, self._hints)) if number is None else number

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

    def _number_of(self, atom: Derived) -> int:
        found = self._numbers.get(atom)
        if found is None:
            found = self._numbers[atom] = self._add(atom, value_of_atom(atom, self._hints))
        return found

    def _add(self, atom: Atom, hint: float) -> int:
        self._atoms.append(atom)
        self._hints.append(hint)
        return len(self._atoms) - 1

    # --- Guards -------------------------------------------------------------------------------------------------------

    def is_at_least_zero(self, terms: Terms) -> bool:
        """Whether a polynomial is at least 0, recorded."""
        if terms not in self._are_at_least_zero:
            self._are_at_least_zero[terms] = self._is_at_least_zero(terms)
        return self._are_at_least_zero[terms]

    def _is_at_least_zero(self, terms: Terms) -> bool:
        varying, factor, number = split(self._without_positive_factors(terms))
        if not varying:
            return number >= 0
        if factor > 0:
            return self._is_at_least(varying, -(number // factor))
        return not self._is_at_least(varying, number // -factor + 1)

    def _without_positive_factors(self, terms: Terms) -> Terms:
        """A polynomial of the same sign, without common atoms that are known to be positive."""
        if not terms or not terms[0][0]:
            return terms
        for atom in terms[0][0]:
            if (self._bounds_of_atom(atom)[0] or 0) >= 1 and all(atom in monomial for monomial, _ in terms):
                return self._without_positive_factors(divided_exactly(terms, (((atom,), 1),))[0])
        return terms

    def _is_at_least(self, varying: Terms, bound: int) -> bool:
        least, greatest = self._bounds(varying)
        if least is not None and least >= bound:
            return True
        if greatest is not None and greatest < bound:
            return False
        own = self._intervals.setdefault(varying, _Interval())
        if value_of(varying, self._hints) >= bound:
            own.least = bound
            return True
        own.greatest = bound - 1
        return False

    def is_zero(self, terms: Terms) -> bool:
        """Whether a polynomial is 0, recorded."""
        if terms not in self._are_zero:
            self._are_zero[terms] = self._is_zero(terms)
        return self._are_zero[terms]

    def _is_zero(self, terms: Terms) -> bool:
        varying, factor, number = split(self._without_positive_factors(terms))
        if not varying or number % factor:
            return not varying and number == 0
        wanted = -number // factor
        if (known := self._is_known_to_be(varying, wanted)) is not None:
            return known
        own = self._intervals.setdefault(varying, _Interval())
        if value_of(varying, self._hints) == wanted:
            own.least = own.greatest = wanted
            return True
        least, greatest = self._bounds(varying)
        if wanted == least:
            own.least = wanted + 1
        elif wanted == greatest:
            own.greatest = wanted - 1
        else:
            own.excluded |= {wanted}
        return False

    def _is_known_to_be(self, varying: Terms, number: int) -> bool | None:
        """Whether the guards say that a polynomial is a number, or that it is not; None if they do not say."""
        least, greatest = self._bounds(varying)
        if (least is not None and number < least) or (greatest is not None and number > greatest):
            return False
        if least == greatest == number:
            return True
        own = self._intervals.get(varying)
        return False if own is not None and number in own.excluded else None

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

    def _bounds(self, terms: Terms) -> Bounds:
        """The least and the greatest value that the guards leave, as far as is simply known."""
        least, greatest = bounds_of(terms, self._bounds_of_atom)
        own = self._intervals.get(terms)
        return (least, greatest) if own is None else (_max(least, own.least), _min(greatest, own.greatest))

    def _bounds_of_atom(self, number: int) -> Bounds:
        own = self._intervals.get((((number,), 1),))
        least, greatest = (None, None) if own is None else (own.least, own.greatest)
        atom = self._atoms[number]
        if isinstance(atom, Call | Applied):
            return _max(least, 0), greatest
        divisor = None if atom is None else constant_of(atom.divisor)
        if atom is None or divisor is None or divisor < 0:
            return least, greatest
        low, high = bounds_of(atom.dividend, self._bounds_of_atom)
        low, high = low if low is None else low // divisor, high if high is None else high // divisor
        return _max(least, low), _min(greatest, high)


def _max(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)


def _min(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _operand_of(value: Any) -> Operand:
    if type(value) is SymbolicFloat:
        return value.atom
    if type(value) is Extent:
        return value.terms
    return constant(int(value)) if isinstance(value, int) else Literal(double_bits(value))
