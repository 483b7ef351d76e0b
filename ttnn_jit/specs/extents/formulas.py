"""The formulas of a trace: what its numbers are, and when they hold, for given symbols."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.extents.polynomials import (
    Applied,
    Atom,
    Quotient,
    Terms,
    atom_from_json,
    atom_to_json,
    constant,
    floats_in,
    is_float,
    polynomials_in,
    terms_from_json,
    terms_to_json,
    text_of,
    value_of,
    value_of_atom,
)


@dataclass(frozen=True)
class Guard:
    """A condition on the symbols: the values that a polynomial may have.

    Attributes:
        terms: The polynomial.
        least: Its least value; None if there is none.
        greatest: Its greatest value; None if there is none.
        excluded: Values between these that it may not have.
    """

    terms: Terms
    least: int | None
    greatest: int | None
    excluded: tuple[int, ...] = ()

    def holds(self, atoms: Sequence[int]) -> bool:
        """Whether it holds for these values of the atoms."""
        value = value_of(self.terms, atoms)
        if self.least is not None and value < self.least:
            return False
        return (self.greatest is None or value <= self.greatest) and value not in self.excluded

    def text(self, atoms: Sequence[Atom], names: Sequence[str] = ()) -> str:
        """The condition, for messages, with `names` for the symbols."""
        name = text_of(self.terms, atoms, names)
        if self.least == self.greatest is not None:
            return f"{name} == {self.least}"
        low = "" if self.least is None else f"{self.least} <= "
        high = "" if self.greatest is None else f" <= {self.greatest}"
        others = "".join(f", not {number}" for number in self.excluded)
        return f"{low}{name}{high}{others}"


@dataclass(frozen=True)
class Formulas:
    """The atoms of a finished trace, and its guards.

    Attributes:
        atoms: The symbols, and what follows from earlier atoms.
        guards: The conditions under which the trace's results hold.
    """

    atoms: tuple[Atom, ...]
    guards: tuple[Guard, ...]

    def values(self, symbols: Sequence[int]) -> list[int] | None:
        """The values of the atoms for values of the symbols; None if a guard does not hold."""
        values = self.atom_values(symbols)
        if values is None:
            return None
        for guard in self.guards:
            if not guard.holds(values):
                return None
        return values

    def atom_values(self, symbols: Sequence[int]) -> list[int] | None:
        """The values of the atoms for values of the symbols; None if one has no value, as a quotient by 0."""
        given = iter(symbols)
        values: list[int] = []
        try:
            for atom in self.atoms:
                values.append(next(given) if atom is None else 0 if atom is UNUSED else value_of_atom(atom, values))
        except (ArithmeticError, ValueError):
            return None
        return values

    def without_unused(self, used: Iterable[Terms]) -> Formulas:
        """The formulas with `UNUSED` for atoms that neither a guard nor a polynomial of `used` depends on.

        Functions of floats are kept, for a compile would refuse the numbers for which they have no value.
        """
        found: set[int] = set()
        left = [number for number, atom in enumerate(self.atoms) if isinstance(atom, Applied)]
        left += _atoms_in([*used, *(guard.terms for guard in self.guards)])
        while left:
            number = left.pop()
            if number not in found:
                found.add(number)
                atom = self.atoms[number]
                left += (*_atoms_in(polynomials_in(atom)), *floats_in(atom))
        atoms = (atom if atom is None or number in found else UNUSED for number, atom in enumerate(self.atoms))
        return Formulas(tuple(atoms), self.guards)

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        atoms = [*map(atom_to_json, self.atoms)]
        guards = [[terms_to_json(each.terms), each.least, each.greatest, [*each.excluded]] for each in self.guards]
        return {"atoms": atoms, "guards": guards}

    @staticmethod
    def from_json(fields: Any) -> Formulas:
        """The inverse of `to_json`.

        Raises:
            KeyError, TypeError, ValueError: The fields do not describe formulas.
        """
        atoms = tuple(map(atom_from_json, fields["atoms"]))
        guards = tuple(
            Guard(terms_from_json(terms), _bound(low), _bound(high), tuple(map(_whole, others)))
            for terms, low, high, others in fields["guards"]
        )
        found = Formulas(atoms, guards)
        for number, atom in enumerate(atoms):
            whole = {each for each in found.whole_atoms if each < number}
            if any(each not in range(number) or each in whole for each in floats_in(atom)):
                raise ValueError("a function has an operand that is no float")
            _check_whole(polynomials_in(atom), whole)
        _check_whole([guard.terms for guard in guards], found.whole_atoms)
        return found

    @cached_property
    def whole_atoms(self) -> frozenset[int]:
        """The numbers of the atoms that are whole numbers, of which polynomials consist."""
        return frozenset(number for number, atom in enumerate(self.atoms) if not is_float(atom))


UNUSED = Quotient((), constant(1))
"""Stands for an atom whose value nothing needs."""


def _atoms_in(polynomials: Iterable[Terms]) -> list[int]:
    return [atom for terms in polynomials for monomial, _ in terms for atom in monomial]


def _check_whole(polynomials: Iterable[Terms], atoms: Container[int]) -> None:
    if any(atom not in atoms for terms in polynomials for monomial, _ in terms for atom in monomial):
        raise ValueError("a term has an atom that does not exist, or is no whole number")


def _bound(value: Any) -> int | None:
    return None if value is None else _whole(value)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"expected a whole number, got {value!r}")
    return value
