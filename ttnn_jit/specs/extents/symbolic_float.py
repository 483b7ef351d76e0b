"""Floats of a trace: numbers with an expression and a value, as extents are (extent.py).

Arithmetic with extents, ints and floats gives floats of the trace. The hint decides comparisons, which are recorded as
guards. Every other use *specializes* the number: a guard then requires the bits of its hint.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ttnn_jit.process.memoized import KEYS
from ttnn_jit.specs.extents.recording import Recording


class SymbolicFloat:
    """A float of a trace. Its class is `float` for `isinstance` and in patterns, but not for C code.

    Attributes:
        trace: The trace.
        atom: The number of its atom.
        hint: Its value in this compile.
    """

    __slots__ = ("atom", "hint", "trace")
    __class__ = float  # type: ignore[assignment]

    def __init__(self, trace: Recording, atom: int, hint: float) -> None:
        self.trace = trace
        self.atom = atom
        self.hint = hint

    # --- Arithmetic ---------------------------------------------------------------------------------------------------

    def __neg__(self) -> Any:
        return self.trace.applied(operator.neg.__name__, self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.trace.applied(operator.abs.__name__, self)

    def __pow__(self, power: Any, modulus: Any = None) -> Any:
        if _is_real(power) and modulus is None and type(_hint(self) ** _hint(power)) is float:
            return self.trace.applied("real_power", self, power)
        return pow(self._specialized("**"), power, modulus)

    def __rpow__(self, base: Any) -> Any:
        if _is_real(base) and type(_hint(base) ** _hint(self)) is float:
            return self.trace.applied("real_power", base, self)
        return base ** self._specialized("**")

    # --- Comparisons --------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if KEYS.as_expressions:
            return type(other) is SymbolicFloat and other.atom == self.atom
        equal: bool = self._compared("equal", self, other)
        return equal

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __lt__(self, other: Any) -> Any:
        return self._compared("less", self, other)

    def __le__(self, other: Any) -> Any:
        return self._compared("at_most", self, other)

    def __gt__(self, other: Any) -> Any:
        return self._compared("less", other, self)

    def __ge__(self, other: Any) -> Any:
        return self._compared("at_most", other, self)

    def _compared(self, function: str, one: Any, other: Any) -> Any:
        both_real = _is_real(one) and _is_real(other)
        return bool(self.trace.applied(function, one, other) != 0) if both_real else NotImplemented

    def __bool__(self) -> bool:
        return self != 0.0

    # --- Uses that specialize -----------------------------------------------------------------------------------------

    def _specialized(self, use: str) -> float:
        fixed: float = self.trace.specialize_float(self, use)
        return fixed

    def __float__(self) -> float:
        return self._specialized("a float of C")

    def __int__(self) -> int:
        return int(self._specialized("int()"))

    def __trunc__(self) -> int:
        return int(self._specialized("math.trunc()"))

    def __floor__(self) -> int:
        return self._specialized("math.floor()").__floor__()

    def __ceil__(self) -> int:
        return self._specialized("math.ceil()").__ceil__()

    def __round__(self, digits: Any = None) -> Any:
        return round(self._specialized("round()"), digits)

    def __hash__(self) -> int:
        if KEYS.as_expressions:
            KEYS.have_extents = True
            return hash((SymbolicFloat, self.atom))
        return hash(self._specialized("a key"))

    def __format__(self, spec: str) -> str:
        return format(self._specialized("a text"), spec)

    def __repr__(self) -> str:
        return repr(self._specialized("a text"))

    def __reduce__(self) -> Any:
        return float, (self._specialized("a copy"),)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(float, name):
            raise AttributeError(name)
        return getattr(self._specialized(f"float.{name}"), name)


SymbolicFloat.__name__ = "float"  # the name in Python's own errors


def _is_real(value: object) -> bool:
    """Whether a value is a number of Python's, or one of a trace; numpy's scalars have rules of their own."""
    return type(value) in _REALS or hasattr(type(value), "trace")


_REALS = {int, float, bool}


def _hint(value: Any) -> Any:
    return getattr(value, "hint", value)


def _operator(name: str, *, reflected: bool = False) -> Callable[[SymbolicFloat, Any], Any]:
    """The method of an arithmetic operator."""

    def method(self: SymbolicFloat, other: Any) -> Any:
        if not _is_real(other):
            return NotImplemented
        operands = (other, self) if reflected else (self, other)
        return self.trace.applied(name, *operands)

    return method


def _specializing(function: Callable[..., Any], *, reflected: bool = False) -> Callable[[SymbolicFloat, Any], Any]:
    def method(self: SymbolicFloat, other: Any) -> Any:
        operands = self._specialized(function.__name__), other
        return function(*(reversed(operands) if reflected else operands))

    return method


_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod)
for _name in (each.__name__ for each in _ARITHMETIC):
    setattr(SymbolicFloat, f"__{_name}__", _operator(_name))
    setattr(SymbolicFloat, f"__r{_name}__", _operator(_name, reflected=True))
setattr(SymbolicFloat, "__divmod__", _specializing(divmod))  # noqa: B010 - no method of the class
setattr(SymbolicFloat, "__rdivmod__", _specializing(divmod, reflected=True))  # noqa: B010
