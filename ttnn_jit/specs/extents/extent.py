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
from collections.abc import Callable, Iterable
from typing import Any

from ttnn_jit.process.memoized import KEYS
from ttnn_jit.specs.extents.float_functions import FLOAT_FUNCTIONS
from ttnn_jit.specs.extents.polynomials import Terms, constant, difference, product_of, sum_of
from ttnn_jit.specs.extents.recording import Recording
from ttnn_jit.specs.extents.symbolic_float import SymbolicFloat

MOST_FACTORS = 8
"""The largest power of an extent that is multiplied out."""


class Extent:
    """A number of a trace. Its class is `int` for `isinstance` and in patterns, but not for C code.

    A trace has one object for each polynomial, with the results of the operators that were applied to it.
    """

    __slots__ = ("hash", "hint", "key", "results", "terms", "trace")
    __class__ = int  # type: ignore[assignment]

    def __init__(self, trace: Recording, terms: Terms, hint: int) -> None:
        self.trace = trace
        self.terms = terms
        self.hint = hint
        self.hash = hash(terms)
        self.key = object()  # stands for the extent in `results`, for its own hash specializes
        self.results: dict[tuple[Any, object], Any] = {}

    # --- Operators; the others are set below --------------------------------------------------------------------------

    def __neg__(self) -> Any:
        return self * -1  # type: ignore[operator]

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self if operator.ge(self, 0) else -self

    def __pow__(self, power: Any, modulus: Any = None) -> Any:
        if type(power) is int and 0 <= power <= MOST_FACTORS and modulus is None:
            return math.prod([self] * power)
        return pow(operator.index(self), power, modulus)

    def __round__(self, digits: Any = None) -> Any:
        return self if digits is None else round(operator.index(self), digits)

    def __trunc__(self) -> Any:
        return self

    __floor__ = __ceil__ = __trunc__

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        if KEYS.as_expressions:
            return type(other) is Extent and self.terms == other.terms
        return _equal(self, other)

    def __ne__(self, other: object) -> Any:
        return not self == other if KEYS.as_expressions else _differ(self, other)

    def __bool__(self) -> bool:
        return True if KEYS.as_expressions else _differ(self, 0)

    # --- Uses that specialize -----------------------------------------------------------------------------------------

    def __index__(self) -> int:
        return self.trace.specialize(self, "an index")

    def __int__(self) -> int:
        return self.trace.specialize(self, "int()")

    def __float__(self) -> float:
        return float(self.trace.specialize(self, "a float of C"))

    def __hash__(self) -> int:
        if KEYS.as_expressions:
            KEYS.have_extents = True
            return self.hash
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


def _symbolic(
    function: Callable[[Extent, Any], Any], with_float: Callable[[Extent, Any], Any]
) -> Callable[[Extent, object], Any]:
    """The method of an operator that is computed once for each extent or int that is its other operand.

    Args:
        function: The operator on an extent, and an extent or int.
        with_float: The operator on an extent, and a float or complex number.
    """

    def method(self: Extent, other: object) -> Any:
        if type(other) is int:
            key: tuple[object, object] = function, other
        elif type(other) is Extent:
            key = function, other.key
        elif isinstance(other, int):  # a bool, or a member of an IntEnum
            return method(self, int(other))
        else:
            return with_float(self, other) if isinstance(other, (float, complex)) else NotImplemented
        found = self.results.get(key)
        if found is None:
            found = self.results[key] = function(self, other)
        return found

    return method


# --- Arithmetic -------------------------------------------------------------------------------------------------------


def _sum(one: Extent, other: Any) -> Any:
    return one.trace.extent(sum_of((*one.terms, *terms_of(other))))


def _difference(one: Extent, other: Any) -> Any:
    return one.trace.extent(difference(one.terms, terms_of(other)))


def _reflected_difference(one: Extent, other: Any) -> Any:
    return one.trace.extent(difference(terms_of(other), one.terms))


def _product(one: Extent, other: Any) -> Any:
    return one.trace.extent(product_of(one.terms, terms_of(other)))


def _quotient(one: Extent, other: Any) -> Any:
    if other == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return one.trace.quotient(one.terms, terms_of(other))


def _reflected_quotient(one: Extent, other: Any) -> Any:
    if one == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return one.trace.quotient(terms_of(other), one.terms)


def _remainder(one: Extent, other: Any) -> Any:
    return one - other * (one // other)


def _reflected_remainder(one: Extent, other: Any) -> Any:
    return other - one * (other // one)


def _quotient_and_remainder(one: Extent, other: Any) -> Any:
    return one // other, one % other


def _reflected_quotient_and_remainder(one: Extent, other: Any) -> Any:
    return other // one, other % one


def _fraction(one: Extent, other: Any) -> Any:
    return one.trace.applied(operator.truediv.__name__, one, other)


def _reflected_fraction(one: Extent, other: Any) -> Any:
    return one.trace.applied(operator.truediv.__name__, other, one)


def _with_float(function: Callable[..., Any], *, reflected: bool = False) -> Callable[[Extent, Any], Any]:
    """An operator on an extent and a float, which is a float of the trace; it is computed on ints for other numbers."""
    on_ints, name = _specializing(function, reflected=reflected), function.__name__

    def computed(one: Extent, other: Any) -> Any:
        if type(other) not in _FLOATS or name not in FLOAT_FUNCTIONS:
            return on_ints(one, other)
        return one.trace.applied(name, *((other, one) if reflected else (one, other)))

    return computed


_FLOATS: set[type] = {float, SymbolicFloat}
"""numpy's floats have rules of their own."""

_ARITHMETIC: dict[Callable[..., Any], tuple[Callable[[Extent, Any], Any], Callable[[Extent, Any], Any]]] = {
    operator.add: (_sum, _sum),
    operator.sub: (_difference, _reflected_difference),
    operator.mul: (_product, _product),
    operator.floordiv: (_quotient, _reflected_quotient),
    operator.mod: (_remainder, _reflected_remainder),
    divmod: (_quotient_and_remainder, _reflected_quotient_and_remainder),
    operator.truediv: (_fraction, _reflected_fraction),
}
"""Operators on extents and ints, plain and reflected."""

for _operator, (_plain, _reflected) in _ARITHMETIC.items():
    _name = _operator.__name__
    setattr(Extent, f"__{_name}__", _symbolic(_plain, _with_float(_operator)))
    setattr(Extent, f"__r{_name}__", _symbolic(_reflected, _with_float(_operator, reflected=True)))

for _operator in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
    _name = _operator.__name__.strip("_")
    setattr(Extent, f"__{_name}__", _specializing(_operator))
    setattr(Extent, f"__r{_name}__", _specializing(_operator, reflected=True))
setattr(Extent, "__invert__", _specializing(operator.invert))  # noqa: B010 - no method of the class
setattr(Extent, "__rpow__", _specializing(operator.pow, reflected=True))  # noqa: B010
Extent.__name__ = "int"  # the name in Python's own errors


# --- Comparisons ------------------------------------------------------------------------------------------------------


def _is_equal(one: Extent, other: Any) -> bool:
    return one.trace.is_zero(difference(one.terms, terms_of(other)))


def _is_unequal(one: Extent, other: Any) -> bool:
    return not one.trace.is_zero(difference(one.terms, terms_of(other)))


def _is_at_least(one: Extent, other: Any) -> bool:
    return one.trace.is_at_least_zero(difference(one.terms, terms_of(other)))


def _is_at_most(one: Extent, other: Any) -> bool:
    return one.trace.is_at_least_zero(difference(terms_of(other), one.terms))


def _is_above(one: Extent, other: Any) -> bool:
    return not one <= other


def _is_below(one: Extent, other: Any) -> bool:
    return not one >= other


def _equals_float(one: Extent, other: float) -> Any:
    return (other.is_integer() and one == int(other)) if _is_plain_float(other) else NotImplemented


def _is_plain_float(value: object) -> bool:
    """Whether a value is a float, and none of a trace, which compares itself with extents."""
    return issubclass(type(value), float)


def _compared_with_float(function: Callable[[Any, Any], bool]) -> Callable[[Extent, Any], Any]:
    """The comparison of an extent with a float, by the int next to it."""
    rounded = math.ceil if function in {operator.ge, operator.lt} else math.floor

    def compared(one: Extent, other: Any) -> Any:
        if not _is_plain_float(other):
            return NotImplemented
        return function(one, rounded(other)) if math.isfinite(other) else function(0, other)

    return compared


def _differs_from_float(one: Extent, other: float) -> Any:
    equal = _equals_float(one, other)
    return equal if equal is NotImplemented else not equal


_equal = _symbolic(_is_equal, _equals_float)
_differ = _symbolic(_is_unequal, _differs_from_float)

_COMPARISONS: dict[Callable[..., bool], Callable[[Extent, Any], bool]] = {
    operator.ge: _is_at_least,
    operator.le: _is_at_most,
    operator.gt: _is_above,
    operator.lt: _is_below,
}

for _comparison, _compared in _COMPARISONS.items():
    setattr(Extent, f"__{_comparison.__name__}__", _symbolic(_compared, _compared_with_float(_comparison)))


def computed(function: Callable[..., int], *arguments: Any) -> Any:
    """The value of one of `FUNCTIONS`: for extents of a trace a number that is computed anew for every size."""
    trace = next((each.trace for each in arguments if type(each) is Extent), None)
    if trace is None:
        return function(*arguments)
    return trace.call(function.__name__, tuple(map(terms_of, arguments)))


def terms_of(number: Any) -> Terms:
    """The polynomial of a whole number, or of an extent."""
    return number.terms if type(number) is Extent else constant(number)


def applied(function: Callable[..., float], *values: Any) -> Any:
    """The value of one of `FLOAT_FUNCTIONS`: for numbers of a trace a number that is computed anew for every call."""
    trace = next((each.trace for each in values if type(each) in _OF_TRACES), None)
    return function(*values) if trace is None else trace.applied(function.__name__, *values)


_OF_TRACES: set[type] = {Extent, SymbolicFloat}


def is_of_trace(value: object) -> bool:
    """Whether a value is an extent or a float of a trace."""
    return type(value) in _OF_TRACES


def is_extent(value: object) -> bool:
    """Whether a value is an extent of a trace."""
    return type(value) is Extent


def is_symbolic(numbers: Iterable[object]) -> bool:
    """Whether one of the numbers is an extent of a trace."""
    return any(map(is_extent, numbers))


def specialized(value: Any) -> Any:
    """A number of a trace as the int or float to which this use fixes it; any other value unchanged."""
    if type(value) is SymbolicFloat:
        return float(value)
    return operator.index(value) if is_extent(value) else value
