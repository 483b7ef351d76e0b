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
from ttnn_jit.specs.extents.polynomials import Terms, constant, difference, plus, product_of, scaled, sum_of
from ttnn_jit.specs.extents.recording import Recording
from ttnn_jit.specs.extents.symbolic_float import SymbolicFloat

MOST_FACTORS = 8
"""The largest power of an extent that is multiplied out."""


class Extent:
    """A number of a trace. Its class is `int` for `isinstance` and in patterns, but not for C code."""

    __slots__ = ("hint", "terms", "trace")

    def __init__(self, trace: Recording, terms: Terms, hint: int) -> None:
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
        if _is_symbolic_float(other) or not isinstance(other, float):
            return NotImplemented
        return other.is_integer() and self == int(other)

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __ge__(self, other: Any) -> Any:
        if _is_plain_float(other):
            return self >= math.ceil(other) if math.isfinite(other) else other == -math.inf
        if type(other) is int:
            return self.trace.is_at_least_zero(plus(self.terms, -other))
        terms = _terms_of(other)
        return NotImplemented if terms is None else self.trace.is_at_least_zero(difference(self.terms, terms))

    def __le__(self, other: Any) -> Any:
        if _is_plain_float(other):
            return self <= math.floor(other) if math.isfinite(other) else other == math.inf
        if type(other) is int:
            return self.trace.is_at_least_zero(plus(scaled(self.terms, -1), other))
        terms = _terms_of(other)
        return NotImplemented if terms is None else self.trace.is_at_least_zero(difference(terms, self.terms))

    def __gt__(self, other: Any) -> bool:
        if _is_plain_float(other):
            return not (self <= other or math.isnan(other))
        less = self.__le__(other)
        return less if less is NotImplemented else not less

    def __lt__(self, other: Any) -> bool:
        if _is_plain_float(other):
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
        return float(self.trace.specialize(self, "a float of C"))

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


_OPERATORS = (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)
Extent.__name__ = "int"  # the name in Python's own errors
for _operator in _OPERATORS:
    _name = _operator.__name__.strip("_")
    setattr(Extent, f"__{_name}__", _specializing(_operator))
    setattr(Extent, f"__r{_name}__", _specializing(_operator, reflected=True))
setattr(Extent, "__invert__", _specializing(operator.invert))  # noqa: B010 - no method of the class
setattr(Extent, "__rpow__", _specializing(operator.pow, reflected=True))  # noqa: B010


def _with_floats(method: Callable[..., Any], function: Callable[..., Any], *, reflected: bool) -> Callable[..., Any]:
    """The method of an operator that gives floats of the trace for floats; it is computed on ints for other numbers."""
    on_ints = _specializing(function, reflected=reflected)
    name = function.__name__

    def own(self: Extent, other: Any) -> Any:
        if _is_float(other):
            if name not in FLOAT_FUNCTIONS:
                return on_ints(self, other)
            return self.trace.applied(name, *((other, self) if reflected else (self, other)))
        return (on_ints if isinstance(other, (float, complex)) else method)(self, other)

    return own


def _quotient_of(*, reflected: bool) -> Callable[..., Any]:
    """The method of the division of two whole numbers, which is a float."""

    def method(self: Extent, other: Any) -> Any:
        if _terms_of(other) is None:
            return NotImplemented
        return self.trace.applied("truediv", *((other, self) if reflected else (self, other)))

    return method


for _reflected in (False, True):
    setattr(Extent, "__rtruediv__" if _reflected else "__truediv__", _quotient_of(reflected=_reflected))
_WITH_FLOATS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, divmod)
for _operator in _WITH_FLOATS:
    for _reflected in (False, True):
        _name = f"__{'r' * _reflected}{_operator.__name__}__"
        setattr(Extent, _name, _with_floats(getattr(Extent, _name), _operator, reflected=_reflected))


def _is_float(value: object) -> bool:
    """Whether a value is a float of Python's or of a trace; numpy's have rules of their own."""
    return type(value) in _FLOATS


_FLOATS: set[type] = {float, SymbolicFloat}


def _is_plain_float(value: object) -> bool:
    return isinstance(value, float) and not _is_symbolic_float(value)


def _is_symbolic_float(value: object) -> bool:
    return type(value) is SymbolicFloat


def _terms_of(number: object) -> Terms | None:
    """The polynomial of an extent or of a whole number; None for anything else."""
    if type(number) is Extent:
        return number.terms
    return constant(int(number)) if isinstance(number, int) else None


def _quotient(trace: Recording, dividend: Any, divisor: Any) -> Any:
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
    return trace.call(
        function.__name__, tuple(each.terms if type(each) is Extent else constant(each) for each in arguments)
    )


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
