"""Comparisons of numbers of a trace, which are polynomials, and the guards under which their results hold."""

from __future__ import annotations

from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.extents.divisors import LEAST, WITHIN_LAST
from ttnn_jit.specs.extents.formulas import Formulas, Guard
from ttnn_jit.specs.extents.polynomials import (
    Applied,
    Atom,
    Bounds,
    Call,
    Derived,
    Terms,
    bounds_of,
    constant_of,
    divided_exactly,
    split,
    value_of,
    value_of_atom,
)


@dataclass
class _Interval:
    least: int | None = None
    greatest: int | None = None
    excluded: frozenset[int] = frozenset()


class Comparisons:
    """The atoms of a trace, and its record of comparisons."""

    def __init__(self) -> None:
        self._atoms: list[Atom] = []
        self._hints: list[Any] = []
        self._numbers: dict[Derived, int] = {}
        self._intervals: dict[Terms, _Interval] = {}
        self._are_zero: dict[Terms, bool] = {}
        self._are_at_least_zero: dict[Terms, bool] = {}
        self._known_bounds: dict[int, Bounds] = {}  # of atoms, by the guards so far

    @property
    def formulas(self) -> Formulas:
        """The atoms, and the conditions under which every comparison has the result that it had here."""
        guards = (
            Guard(terms, own.least, own.greatest, tuple(sorted(own.excluded))) for terms, own in self._intervals.items()
        )
        return Formulas(tuple(self._atoms), tuple(guards))

    def _new_symbol(self, hint: int, least: int, greatest: int) -> Terms:
        """A new symbol between two bounds, whose value in this compile is `hint`."""
        terms = (((self._add(None, hint),), 1),)
        self._intervals[terms] = _Interval(least, greatest)
        return terms

    def _number_of(self, atom: Derived) -> int:
        found = self._numbers.get(atom)
        if found is None:
            found = self._numbers[atom] = self._add(atom, value_of_atom(atom, self._hints))
        return found

    def _add(self, atom: Atom, hint: float) -> int:
        self._atoms.append(atom)
        self._hints.append(hint)
        return len(self._atoms) - 1

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
        own = self._interval_to_change(varying)
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
        own = self._interval_to_change(varying)
        if value_of(varying, self._hints) == wanted:
            own.least = own.greatest = wanted
            return True
        least, greatest = self._bounds(varying)
        self._known_bounds.clear()
        if wanted == least:
            own.least = wanted + 1
        elif wanted == greatest:
            own.greatest = wanted - 1
        else:
            own.excluded |= {wanted}
        return False

    def _interval_to_change(self, varying: Terms) -> _Interval:
        """The interval of a polynomial, which its caller changes."""
        self._known_bounds.clear()
        return self._intervals.setdefault(varying, _Interval())

    def is_known_to_be_zero(self, terms: Terms) -> bool:
        """Whether a polynomial is 0 wherever the guards so far hold."""
        varying, factor, number = split(terms)
        if not varying or number % factor:
            return not varying and number == 0
        return self._is_known_to_be(varying, -number // factor) is True

    def _is_known_to_be(self, varying: Terms, number: int) -> bool | None:
        """Whether the guards say that a polynomial is a number, or that it is not; None if they do not say."""
        least, greatest = self._bounds(varying)
        if (least is not None and number < least) or (greatest is not None and number > greatest):
            return False
        if least == greatest == number:
            return True
        own = self._intervals.get(varying)
        return False if own is not None and number in own.excluded else None

    def _bounds(self, terms: Terms) -> Bounds:
        """The least and the greatest value that the guards leave, as far as is simply known."""
        least, greatest = bounds_of(terms, self._bounds_of_atom)
        own = self._intervals.get(terms)
        return (least, greatest) if own is None else (_max(least, own.least), _min(greatest, own.greatest))

    def _bounds_of_atom(self, number: int) -> Bounds:
        found = self._known_bounds.get(number)
        if found is None:
            found = self._known_bounds[number] = self._found_bounds_of_atom(number)
        return found

    def _found_bounds_of_atom(self, number: int) -> Bounds:
        own = self._intervals.get((((number,), 1),))
        least, greatest = (None, None) if own is None else (own.least, own.greatest)
        atom = self._atoms[number]
        if isinstance(atom, Call):
            bound = constant_of(atom.arguments[-1]) if atom.function in WITHIN_LAST else None
            return _max(least, LEAST[atom.function]), _min(greatest, bound)
        if isinstance(atom, Applied):
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
