"""Polynomials with whole coefficients in atoms: symbols, quotients that are rounded down, and values of functions.

Atoms may be floats too, which functions of floats take (`Applied`). No polynomial holds one.

A polynomial is in normal form, so that two that are equal for all values of their atoms are mostly equal as objects. A
remainder is written by its quotient: ``n % 32`` is ``n - 32 * (n // 32)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.extents.divisors import FUNCTIONS
from ttnn_jit.specs.extents.float_functions import FLOAT_FUNCTIONS, OF_WHOLE_RESULTS, SIGNS, double, double_bits, takes

Monomial: TypeAlias = tuple[int, ...]
"""A product of atoms, by number, in ascending order; () is 1."""

Terms: TypeAlias = tuple[tuple[Monomial, int], ...]
"""A polynomial: monomials with their coefficients, in ascending order, without zeros."""

Bounds: TypeAlias = tuple[int | None, int | None]
"""The least and the greatest value of a number; None: unknown."""

UNBOUNDED: Bounds = (None, None)


@dataclass(frozen=True)
class Quotient:
    """An atom: the quotient of two polynomials in earlier atoms, rounded down."""

    dividend: Terms
    divisor: Terms


@dataclass(frozen=True)
class Call:
    """An atom: the value of one of `FUNCTIONS` for polynomials in earlier atoms."""

    function: str
    arguments: tuple[Terms, ...]


@dataclass(frozen=True)
class Literal:
    """A float, by its bits."""

    bits: int


Operand: TypeAlias = "Terms | int | Literal"
"""An operand of a function of floats: a polynomial, a float by the number of its atom, or a float."""


@dataclass(frozen=True)
class Applied:
    """An atom: the value of one of `FLOAT_FUNCTIONS`, a float or a natural number."""

    function: str
    operands: tuple[Operand, ...]


Derived: TypeAlias = Quotient | Call | Applied
"""An atom that follows from earlier ones."""

Atom: TypeAlias = Derived | None
"""An atom; None is a symbol, which is given."""


def constant(number: int) -> Terms:
    """The polynomial of a number."""
    return (((), number),) if number else ()


def constant_of(terms: Terms) -> int | None:
    """The number of a constant polynomial; None for any other."""
    if not terms:
        return 0
    return terms[0][1] if len(terms) == 1 and not terms[0][0] else None


def sum_of(terms: Iterable[tuple[Monomial, int]]) -> Terms:
    """The sum of terms in any order."""
    found: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        found[monomial] = found.get(monomial, 0) + coefficient
    return tuple(sorted([term for term in found.items() if term[1]]))


def plus(terms: Terms, number: int) -> Terms:
    """A polynomial plus a number."""
    if number and terms and not terms[0][0]:
        return (*constant(terms[0][1] + number), *terms[1:])
    return (*constant(number), *terms)


def scaled(terms: Terms, factor: int) -> Terms:
    """The polynomial times a number other than 0."""
    return tuple([(monomial, coefficient * factor) for monomial, coefficient in terms])


def difference(one: Terms, other: Terms) -> Terms:
    """One polynomial minus another."""
    number = constant_of(other)
    if number is not None:
        return plus(one, -number)
    if not one:
        return scaled(other, -1)
    return sum_of((*one, *scaled(other, -1)))


def product_of(one: Terms, other: Terms) -> Terms:
    """The product of two polynomials."""
    number = constant_of(other)
    if number is not None:
        return scaled(one, number) if number else ()
    found = [
        (tuple(sorted(monomial + factor)), coefficient * scale)
        for monomial, coefficient in one
        for factor, scale in other
    ]
    return tuple(found) if len(found) == 1 else sum_of(found)


def divided_exactly(terms: Terms, divisor: Terms) -> tuple[Terms, Terms]:
    """The quotient of the terms that a divisor of one term divides, and the other terms."""
    if len(divisor) != 1:
        return (constant(1), ()) if terms == divisor else ((), terms)
    ((factor, scale),) = divisor
    whole, rest = [], []
    for monomial, coefficient in terms:
        left = _without(monomial, factor) if coefficient % scale == 0 else None
        if left is None:
            rest.append((monomial, coefficient))
        else:
            whole.append((left, coefficient // scale))
    return tuple(sorted(whole)), tuple(rest)


def _without(monomial: Monomial, factor: Monomial) -> Monomial | None:
    """The monomial divided by a factor; None if that does not divide it."""
    left = list(monomial)
    for atom in factor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def in_lowest_terms(dividend: Terms, divisor: Terms) -> tuple[Terms, Terms]:
    """Dividend and divisor of the same quotient, rounded down, without a common factor of their coefficients."""
    number = dividend[0][1] if dividend and not dividend[0][0] else 0
    varying = dividend[1:] if number else dividend
    factor = math.gcd(*(coefficient for _, coefficient in (*varying, *divisor)))
    if factor == 1:
        return dividend, divisor
    quotient = tuple((monomial, coefficient // factor) for monomial, coefficient in varying)
    return (*constant(number // factor), *quotient), tuple((monomial, each // factor) for monomial, each in divisor)


def nested_quotient(quotient: Quotient, atoms: Sequence[Atom]) -> Quotient:
    """A quotient of a quotient by positive numbers as one: ``(n // 4) // 8`` is ``n // 32``."""
    outer = constant_of(quotient.divisor)
    if outer is None or outer <= 0 or len(quotient.dividend) != 1:
        return quotient
    ((monomial, coefficient),) = quotient.dividend
    inner = atoms[monomial[0]] if len(monomial) == 1 and coefficient == 1 else None
    if not isinstance(inner, Quotient):
        return quotient
    divisor = constant_of(inner.divisor)
    if divisor is None or divisor <= 0:
        return quotient
    return Quotient(inner.dividend, constant(divisor * outer))


def split(terms: Terms) -> tuple[Terms, int, int]:
    """The varying part of a polynomial in lowest terms, its factor, and the constant: ``6n + 9`` is n, 6 and 9."""
    number = terms[0][1] if terms and not terms[0][0] else 0
    varying = terms[1:] if number else terms
    if not varying:
        return (), 1, number
    factor = math.gcd(*(coefficient for _, coefficient in varying))
    factor = -factor if varying[0][1] < 0 else factor
    return tuple((monomial, coefficient // factor) for monomial, coefficient in varying), factor, number


def value_of(terms: Terms, atoms: Sequence[int]) -> int:
    """The value of a polynomial for values of its atoms."""
    value = 0
    for monomial, coefficient in terms:
        factor = coefficient
        for atom in monomial:
            factor *= atoms[atom]
        value += factor
    return value


def value_of_atom(atom: Derived, atoms: Sequence[Any]) -> Any:
    """The value of an atom for values of earlier atoms.

    Raises:
        ZeroDivisionError: Its divisor is 0.
        ArithmeticError, ValueError: A function of floats has no value there.
    """
    if isinstance(atom, Applied):
        return FLOAT_FUNCTIONS[atom.function](*[_value_of_operand(each, atoms) for each in atom.operands])
    if isinstance(atom, Call):
        return FUNCTIONS[atom.function](*[value_of(each, atoms) for each in atom.arguments])
    return value_of(atom.dividend, atoms) // value_of(atom.divisor, atoms)


def _value_of_operand(operand: Operand, atoms: Sequence[Any]) -> Any:
    match operand:
        case Literal(bits):
            return double(bits)
        case int():
            return atoms[operand]
    return value_of(operand, atoms)


def polynomials_in(atom: Atom) -> tuple[Terms, ...]:
    """The polynomials that an atom follows from."""
    match atom:
        case Quotient(dividend, divisor):
            return dividend, divisor
        case Call(_, arguments):
            return arguments
        case Applied(_, operands):
            return tuple(each for each in operands if isinstance(each, tuple))
    return ()


def floats_in(atom: Atom) -> tuple[int, ...]:
    """The numbers of the atoms that are floats and that an atom follows from."""
    return tuple(each for each in atom.operands if isinstance(each, int)) if isinstance(atom, Applied) else ()


def is_float(atom: Atom) -> bool:
    """Whether the value of an atom is a float, and not a whole number."""
    return isinstance(atom, Applied) and atom.function not in OF_WHOLE_RESULTS


def bounds_of(terms: Terms, of_atom: Callable[[int], Bounds]) -> Bounds:
    """Bounds of a polynomial by the bounds of its atoms; they need not be reached."""
    least: int | None = 0
    greatest: int | None = 0
    for monomial, coefficient in terms:
        low, high = _bounds_of_product([of_atom(atom) for atom in monomial])
        if coefficient < 0:
            low, high = high, low
        least = None if least is None or low is None else least + coefficient * low
        greatest = None if greatest is None or high is None else greatest + coefficient * high
    return least, greatest


def _bounds_of_product(factors: Iterable[Bounds]) -> Bounds:
    """The bounds of a product of factors that are not negative; unknown for others."""
    least: int = 1
    greatest: int | None = 1
    for low, high in factors:
        if low is None or low < 0:
            return UNBOUNDED
        least *= low
        greatest = None if greatest is None or high is None else greatest * high
    return least, greatest


def text_of(terms: Terms, atoms: Sequence[Atom], names: Sequence[str] = ()) -> str:
    """The text of a polynomial in Python's syntax, with `names` for the symbols; s0, s1 for those without."""
    text = ""
    for monomial, coefficient in sorted(terms, key=lambda term: (term[0] == (), term[1] < 0)):
        sign = " - " if coefficient < 0 else " + "
        text += (sign if text else sign.strip(" +")) + _term_text(monomial, abs(coefficient), atoms, names)
    return text or "0"


def _term_text(monomial: Monomial, coefficient: int, atoms: Sequence[Atom], names: Sequence[str]) -> str:
    number = [str(coefficient)] if coefficient != 1 or not monomial else []
    factors = [*number, *(_atom_text(atom, atoms, names) for atom in monomial)]
    if len(factors) > 1:
        factors = [f"({factor})" if " " in factor else factor for factor in factors]
    return " * ".join(factors)


def _atom_text(number: int, atoms: Sequence[Atom], names: Sequence[str]) -> str:
    atom = atoms[number]
    if atom is None:
        return names[number] if number < len(names) else f"s{number}"
    if isinstance(atom, Call):
        return f"{atom.function}({', '.join(text_of(each, atoms, names) for each in atom.arguments)})"
    if isinstance(atom, Applied):
        return _applied_text(atom, atoms, names)
    dividend, divisor = (_operand_text(terms, atoms, names) for terms in (atom.dividend, atom.divisor))
    return f"{dividend} // {divisor}"


def _applied_text(atom: Applied, atoms: Sequence[Atom], names: Sequence[str]) -> str:
    """The text of a function of floats; bits are shown by their number."""
    operands = [
        repr(double(each.bits))
        if isinstance(each, Literal)
        else _atom_text(each, atoms, names)
        if isinstance(each, int)
        else text_of(each, atoms, names)
        for each in atom.operands
    ]
    if atom.function in {double.__name__, double_bits.__name__}:
        return operands[0]
    if (sign := SIGNS.get(atom.function)) is not None:
        return f" {sign} ".join(f"({each})" if " " in each else each for each in operands)
    return f"{atom.function}({', '.join(operands)})"


def _operand_text(terms: Terms, atoms: Sequence[Atom], names: Sequence[str]) -> str:
    text = text_of(terms, atoms, names)
    return f"({text})" if " " in text else text


def atom_to_json(atom: Atom) -> Any:
    """An atom as JSON values: null, a pair of polynomials, or the name of a function before its operands."""
    match atom:
        case Quotient(dividend, divisor):
            return [terms_to_json(dividend), terms_to_json(divisor)]
        case Call(function, arguments):
            return [function, *map(terms_to_json, arguments)]
        case Applied(function, operands):
            return [function, *map(_operand_to_json, operands)]
    return None


def _operand_to_json(operand: Operand) -> Any:
    """A polynomial as its JSON value, an atom as its number, the bits of a float as a text."""
    match operand:
        case Literal(bits):
            return str(bits)
        case int():
            return operand
    return terms_to_json(operand)


def _operand_from_json(value: Any) -> Operand:
    if isinstance(value, str):
        bits = int(value)
        if bits not in range(1 << 64):
            raise ValueError(f"{value} are no bits of a float")
        return Literal(bits)
    return value if type(value) is int else terms_from_json(value)


def atom_from_json(value: Any) -> Atom:
    """The inverse of `atom_to_json`.

    Raises:
        TypeError, ValueError: The value describes no atom.
    """
    if value is None:
        return None
    first, *rest = value
    if not isinstance(first, str):
        return Quotient(*map(terms_from_json, value))
    if first in FLOAT_FUNCTIONS:
        operands = tuple(map(_operand_from_json, rest))
        if not takes(first, [isinstance(each, tuple) for each in operands]):
            raise ValueError(f"{first} has other operands")
        return Applied(first, operands)
    if first not in FUNCTIONS or len(rest) != FUNCTIONS[first].__code__.co_argcount:
        raise ValueError(f"there is no function {first!r} of {len(rest)} numbers")
    return Call(first, tuple(map(terms_from_json, rest)))


def terms_to_json(terms: Terms) -> list[Any]:
    """A polynomial as JSON values: per term the coefficient, then the atoms."""
    return [[coefficient, *monomial] for monomial, coefficient in terms]


def terms_from_json(value: Any) -> Terms:
    """The inverse of `terms_to_json`.

    Raises:
        TypeError: A part is no whole number.
    """
    if not all(type(number) is int for term in value for number in term):
        raise TypeError(f"expected whole numbers, got {value!r}")
    return tuple((tuple(atoms), coefficient) for coefficient, *atoms in value)
