"""Extents of a trace: numbers with an expression and a value, whose uses are recorded.

A `Trace` is a compile that holds for many sizes. It has a symbol for every extent that may change. An `Extent` is a
polynomial in symbols, together with its value in this compile, the *hint*. Arithmetic gives extents. The hint decides
every comparison, and the trace records the result as a *guard*: the compile holds for all sizes for which every
comparison has that result. Every other use of the number, as an index, a float, a key or a text, *specializes* it: the
guard is then that the number equals its hint.

An extent is no int, so that no use bypasses the guards: C code asks for ``__index__``, which specializes.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import KEYS
from ttnn_jit.specs.extents.divisors import LEAST, WITHIN_LAST
from ttnn_jit.specs.extents.formulas import Formulas, Guard
from ttnn_jit.specs.extents.polynomials import (
    Atom,
    Bounds,
    Call,
    Derived,
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
    product_of,
    scaled,
    split,
    sum_of,
    text_of,
    value_of,
    value_of_atom,
)

LEAST_SYMBOL = 2
"""Extents of 0 and 1 are no symbols: they broadcast, or leave nothing to compute."""
GREATEST_SYMBOL = 2**32 - 1
"""The extents of ttnn are 32-bit numbers."""
MOST_FACTORS = 8
"""The largest power of an extent that is multiplied out."""


class ServesOneCallError(Exception):
    """The program of a trace would serve one call only, so that it is compiled for the sizes of that call."""


@dataclass(frozen=True)
class Specialization:
    """A use that fixed an extent.

    Attributes:
        expression: The extent.
        value: The value to which it is fixed.
        use: The use.
    """

    expression: str
    value: int
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
        self._hints: list[int] = []
        self._numbers: dict[Derived, int] = {}
        self._intervals: dict[Terms, _Interval] = {}
        self._quotients: dict[tuple[Terms, Terms], Any] = {}
        self._are_zero: dict[Terms, bool] = {}
        self._are_at_least_zero: dict[Terms, bool] = {}

    def symbol(self, hint: int) -> Any:
        """A new symbol, whose value in this compile is `hint`, at least `LEAST_SYMBOL`."""
        terms = (((self._add(None, hint),), 1),)
        self._intervals[terms] = _Interval(LEAST_SYMBOL, GREATEST_SYMBOL)
        return Extent(self, terms, hint)

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

    def _number_of(self, atom: Derived) -> int:
        found = self._numbers.get(atom)
        if found is None:
            found = self._numbers[atom] = self._add(atom, value_of_atom(atom, self._hints))
        return found

    def _add(self, atom: Atom, hint: int) -> int:
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
        varying, _, _ = split(extent.terms)
        if self._is_known_to_be(varying, value_of(varying, self._hints)) is not True:
            self.is_zero(difference(extent.terms, constant(extent.hint)))
            text = text_of(extent.terms, self._atoms)
            self.specialized.append(Specialization(text, extent.hint, self.located(use)))
        return extent.hint

    def _bounds(self, terms: Terms) -> Bounds:
        """The least and the greatest value that the guards leave, as far as is simply known."""
        least, greatest = bounds_of(terms, self._bounds_of_atom)
        own = self._intervals.get(terms)
        return (least, greatest) if own is None else (_max(least, own.least), _min(greatest, own.greatest))

    def _bounds_of_atom(self, number: int) -> Bounds:
        own = self._intervals.get((((number,), 1),))
        least, greatest = (None, None) if own is None else (own.least, own.greatest)
        atom = self._atoms[number]
        if isinstance(atom, Call):
            bound = constant_of(atom.arguments[-1]) if atom.function in WITHIN_LAST else None
            return _max(least, LEAST[atom.function]), _min(greatest, bound)
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


class Extent:
    """A number of a trace. Its class is `int` for `isinstance` and in patterns, but not for C code."""

    __slots__ = ("hint", "terms", "trace")

    def __init__(self, trace: Trace, terms: Terms, hint: int) -> None:
        self.trace = trace
        self.terms = terms
        self.hint = hint

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class for `isinstance`."""
        return int

    # --- Arithmetic ---------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        if type(other) is int:
            return Extent(self.trace, plus(self.terms, other), self.hint + other)
        terms = _terms_of(other)
        return NotImplemented if terms is None else self.trace.extent(sum_of((*self.terms, *terms)))

    def __sub__(self, other: Any) -> Any:
        if type(other) is int:
            return Extent(self.trace, plus(self.terms, -other), self.hint - other)
        terms = _terms_of(other)
        return NotImplemented if terms is None else self.trace.extent(difference(self.terms, terms))

    def __mul__(self, other: Any) -> Any:
        if type(other) is int:
            return Extent(self.trace, scaled(self.terms, other), self.hint * other) if other else 0
        terms = _terms_of(other)
        return NotImplemented if terms is None else self.trace.extent(product_of(self.terms, terms))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> Any:
        return Extent(self.trace, scaled(self.terms, -1), -self.hint)

    def __pos__(self) -> Any:
        return self

    def __floordiv__(self, other: Any) -> Any:
        return _quotient(self.trace, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _quotient(self.trace, other, self)

    def __divmod__(self, other: Any) -> Any:
        quotient = _quotient(self.trace, self, other)
        return quotient if quotient is NotImplemented else (quotient, self - other * quotient)

    def __rdivmod__(self, other: Any) -> Any:
        quotient = _quotient(self.trace, other, self)
        return quotient if quotient is NotImplemented else (quotient, other - self * quotient)

    def __mod__(self, other: Any) -> Any:
        both = self.__divmod__(other)
        return both if both is NotImplemented else both[1]

    def __rmod__(self, other: Any) -> Any:
        both = self.__rdivmod__(other)
        return both if both is NotImplemented else both[1]

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __pow__(self, power: Any, modulus: Any = None) -> Any:
        if type(power) is int and 0 <= power <= MOST_FACTORS and modulus is None:
            return math.prod([self] * power)
        return pow(operator.index(self), power, modulus)

    def __round__(self, digits: Any = None) -> Any:
        return self if digits is None else round(operator.index(self), digits)

    def __trunc__(self) -> Any:
        return self

    __floor__ = __ceil__ = __trunc__

    # --- Comparisons --------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if type(other) is int and not KEYS.as_expressions:
            return self.trace.is_zero(plus(self.terms, -other))
        terms = _terms_of(other)
        if KEYS.as_expressions:
            return self.terms == terms
        if terms is not None:
            return self.trace.is_zero(difference(self.terms, terms))
        return other.is_integer() and self == int(other) if isinstance(other, float) else NotImplemented

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __ge__(self, other: Any) -> bool:
        if isinstance(other, float):
            return self >= math.ceil(other) if math.isfinite(other) else other == -math.inf
        if type(other) is int:
            return self.trace.is_at_least_zero(plus(self.terms, -other))
        terms = _terms_of(other)
        return NotImplemented if terms is None else self.trace.is_at_least_zero(difference(self.terms, terms))

    def __le__(self, other: Any) -> bool:
        if isinstance(other, float):
            return self <= math.floor(other) if math.isfinite(other) else other == math.inf
        if type(other) is int:
            return self.trace.is_at_least_zero(plus(scaled(self.terms, -1), other))
        terms = _terms_of(other)
        return NotImplemented if terms is None else self.trace.is_at_least_zero(difference(terms, self.terms))

    def __gt__(self, other: Any) -> bool:
        if isinstance(other, float):
            return not (self <= other or math.isnan(other))
        less = self.__le__(other)
        return less if less is NotImplemented else not less

    def __lt__(self, other: Any) -> bool:
        if isinstance(other, float):
            return not (self >= other or math.isnan(other))
        more = self.__ge__(other)
        return more if more is NotImplemented else not more

    def __bool__(self) -> bool:
        return self != 0

    # --- Uses that specialize -----------------------------------------------------------------------------------------

    def __index__(self) -> int:
        return self.trace.specialize(self, "an index")

    def __int__(self) -> int:
        return self.trace.specialize(self, "int()")

    def __float__(self) -> float:
        return float(self.trace.specialize(self, "a float"))

    def __hash__(self) -> int:
        if KEYS.as_expressions:
            KEYS.have_extents = True
            return hash(self.terms)
        return hash(self.trace.specialize(self, "a key"))

    def __format__(self, spec: str) -> str:
        return format(self.trace.specialize(self, "a text"), spec)

    def __repr__(self) -> str:
        return repr(self.trace.specialize(self, "a text"))

    def __reduce__(self) -> Any:
        return int, (self.trace.specialize(self, "a copy"),)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(int, name):
            raise AttributeError(name)
        return getattr(self.trace.specialize(self, f"int.{name}"), name)


def _specializing(function: Callable[..., Any], *, reflected: bool = False) -> Callable[..., Any]:
    """The method of an operator that is computed on ints."""

    def method(self: Extent, *others: Any) -> Any:
        operands = [operator.index(self), *map(specialized, others)]
        return function(*(reversed(operands) if reflected else operands))

    return method


_OPERATORS = (operator.truediv, operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)
Extent.__name__ = "int"  # the name in Python's own errors
for _operator in _OPERATORS:
    _name = _operator.__name__.strip("_")
    setattr(Extent, f"__{_name}__", _specializing(_operator))
    setattr(Extent, f"__r{_name}__", _specializing(_operator, reflected=True))
setattr(Extent, "__invert__", _specializing(operator.invert))  # noqa: B010 - no method of the class
setattr(Extent, "__rpow__", _specializing(operator.pow, reflected=True))  # noqa: B010


def _specializing_for_floats(
    method: Callable[..., Any], function: Callable[..., Any], *, reflected: bool = False
) -> Callable[..., Any]:
    """The method of an operator that is computed on extents and ints, and on ints for floats and complex numbers."""
    on_ints = _specializing(function, reflected=reflected)

    def own(self: Extent, other: Any) -> Any:
        return (on_ints if isinstance(other, (float, complex)) else method)(self, other)

    return own


for _operator in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, divmod):
    for _way in ("", "r"):
        _name = f"__{_way}{_operator.__name__}__"
        setattr(Extent, _name, _specializing_for_floats(getattr(Extent, _name), _operator, reflected=bool(_way)))


def _terms_of(number: object) -> Terms | None:
    """The polynomial of an extent or of a whole number; None for anything else."""
    if type(number) is Extent:
        return number.terms
    return constant(int(number)) if isinstance(number, int) else None


def _quotient(trace: Trace, dividend: Any, divisor: Any) -> Any:
    own, by = _terms_of(dividend), _terms_of(divisor)
    if own is None or by is None:
        return NotImplemented
    if divisor == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return trace.quotient(own, by)


def computed(function: Callable[..., int], *arguments: Any) -> Any:
    """The value of one of `FUNCTIONS`: for extents of a trace a number that is computed anew for every size."""
    trace = next((each.trace for each in arguments if type(each) is Extent), None)
    if trace is None:
        return function(*arguments)
    return trace.call(function.__name__, tuple(map(terms_of, arguments)))


def terms_of(number: Any) -> Terms:
    """The polynomial of a whole number, or of an extent."""
    return number.terms if type(number) is Extent else constant(number)


def is_extent(value: object) -> bool:
    """Whether a value is an extent of a trace."""
    return type(value) is Extent


def is_symbolic(numbers: Iterable[object]) -> bool:
    """Whether one of the numbers is an extent of a trace."""
    return any(map(is_extent, numbers))


def specialized(value: Any) -> Any:
    """An extent as the int to which this use fixes it; any other value unchanged."""
    return operator.index(value) if is_extent(value) else value
