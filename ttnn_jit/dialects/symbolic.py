"""Attributes of numbers that may belong to a trace (specs/extents/trace.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import BytesAttr, DenseArrayBase, FloatAttr, IntegerType, f32

from ttnn_jit.process.memoized import KEYS
from ttnn_jit.specs.extents.extent import is_symbolic


def number_array(element: Any, numbers: Sequence[Any]) -> DenseArrayBase[Any]:
    """``array<i64: 1, 2>``, or one of floats."""
    if not is_symbolic(numbers):
        made: DenseArrayBase[Any] = DenseArrayBase.from_list(element, numbers)
        return made
    made = DenseArrayBase.__new__(DenseArrayBase)
    for name, value in (("elt_type", element), ("data", _bytes(UnpackedNumbers(element, tuple(numbers))))):
        object.__setattr__(made, name, value)
    return made


def numbers_of(array: DenseArrayBase[Any]) -> tuple[Any, ...]:
    """The numbers of an array."""
    data: object = array.data.data
    return data.numbers if isinstance(data, UnpackedNumbers) else array.get_values()


class UnpackedNumbers:
    """The data of an array with extents, which have no bytes."""

    __slots__ = ("element", "numbers")

    def __init__(self, element: IntegerType, numbers: tuple[int, ...]) -> None:
        self.element = element
        self.numbers = numbers

    def __eq__(self, other: object) -> bool:
        if isinstance(other, UnpackedNumbers):
            return self.numbers == other.numbers
        if not isinstance(other, bytes):
            return NotImplemented
        count = len(other) // self.element.size
        return count == len(self.numbers) and self.numbers == self.element.unpack(other, count)

    def __hash__(self) -> int:
        return hash(self.numbers)


class SymbolicFloatData:
    """The data of an attribute that is a float of a trace, equal to one of the same expression."""

    __slots__ = ("data",)

    def __init__(self, data: float) -> None:
        self.data = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicFloatData) and other.expression == self.expression

    def __hash__(self) -> int:
        KEYS.have_extents = True
        return hash((SymbolicFloatData, self.expression))

    @property
    def expression(self) -> int:
        """The atom of the float."""
        number: Any = self.data
        atom: int = number.atom
        return atom


def symbolic_float_attr(value: float) -> FloatAttr[Any]:
    """``value : f32`` of a float of a trace that is a float32."""
    made = FloatAttr.__new__(FloatAttr)
    for name, own in (("value", SymbolicFloatData(value)), ("type", f32)):
        object.__setattr__(made, name, own)
    return made


def _bytes(data: Any) -> BytesAttr:
    made = BytesAttr.__new__(BytesAttr)
    object.__setattr__(made, "data", data)
    return made
